/* Workloads of ASTRA-sim and tables of the tuner plug-in, read back by this program. */
#include <stdlib.h>

#include "ar_arena.h"
#include "test_cli.h"

static struct ar_arena arena; /* of a test, which is a process */

TestSuite(written, .init = cli_enter, .fini = cli_leave);

/* Layers are larger than the buckets of gradients, a share of which is not in the text. */
#define GPT                                                                                        \
    "--cluster dgx-a100 --workload gpt --layers 4 --hidden 8192 --heads 64 --seq 512 --vocab "     \
    "8000 "

/* The work of a step in order: times, and collectives with their bytes. */
static void list_half(FILE *list, char *const *cells, int at)
{
    if (strcmp(cells[at], "0") != 0) {
        fprintf(list, "%s ", cells[at]);
    }
    if (strcmp(cells[at + 1], "NONE") != 0) {
        fprintf(list, "%s:%s ", cells[at + 1], cells[at + 2]);
    }
}

static const char *list_tasks(const char *workload)
{
    enum { LINES_MAX = 400 };
    static char *cells[LINES_MAX][12];
    char *list = NULL, *line;
    size_t bytes = 0, lines = 0, update_ns = 0;
    FILE *file = open_memstream(&list, &bytes);
    bool is_data = strncmp(workload, "DATA", 4) == 0;
    for (char *rest = ar_arena_text(&arena, workload); (line = strsep(&rest, "\n")) != NULL;) {
        if (strncmp(line, "layer", 5) != 0) {
            continue;
        }
        for (int i = 0; i < 12; i++) {
            cells[lines][i] = strsep(&line, "\t");
        }
        lines++;
    }
    for (size_t i = 0; i < lines; i++) {
        list_half(file, cells[i], 2);
        update_ns += strtoul(cells[i][11], NULL, 10);
    }
    for (size_t i = lines; i > 0; i--) {
        list_half(file, cells[i - 1], is_data ? 8 : 5);
        list_half(file, cells[i - 1], is_data ? 5 : 8);
    }
    fprintf(file, "%zu", update_ns);
    fclose(file);
    return ar_arena_own(&arena, list, free);
}

/* The text is read to the same tasks, which are written again, and take the same time but for
 * nanoseconds. */
Test(written, workloads_of_astra_sim_are_read_back)
{
    static const struct {
        const char *step, *again;
    } cases[] = {
        {"--cluster abci-v100 --gpus 8 --algorithm ring --trace resnet50-v1.5",
         "--cluster abci-v100 --gpus 8 --algorithm ring --precision fp16"},
        {GPT "--mesh dp=4 --global-batch 4", "--cluster dgx-a100 --mesh dp=4"},
        {GPT "--mesh dp=2,tp=4 --global-batch 4 --micro-batch 1 --schedule gpipe",
         "--cluster dgx-a100 --gpus 8"},
        {GPT "--mesh dp=2,tp=4 --global-batch 4 --micro-batch 2 --sequence-parallel yes "
             "--recompute full",
         "--cluster dgx-a100 --mesh dp=2,tp=4"},
        {GPT "--experts 8 --top-k 2 --mesh dp=2,ep=4,tp=2 --global-batch 8", "--cluster dgx-a100"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cli_good("$AR export --format astra-sim %s --force --out w.txt", cases[i].step);
        const char *text = cli_read("w.txt"), *tasks = list_tasks(text);
        const char *again = list_tasks(
            cli_good("$AR export --format astra-sim %s --workload ./w.txt", cases[i].again).out);
        cr_expect_str_eq(again, tasks, "%s", cases[i].step);
        double step_s = cli_value("iteration_s", "predict %s --jitter 0", cases[i].step);
        double again_s = cli_value("iteration_s", "predict %s --workload ./w.txt", cases[i].again);
        cr_expect_float_eq(again_s, step_s, 1e-9 * (double)cli_lines_with(text, "layer"), "%s",
                           cases[i].step);
    }
}

/* ASTRA-sim 1.0 has no collective of 2^31 bytes, and takes one word and number behind its own. */
Test(written, astra_sim_gets_collectives_that_it_can_hold)
{
    unsigned long long sum = 0;
    const char *text = cli_good("$AR export --format astra-sim --cluster dgx-h100 --workload "
                                "gpt3-175b --gpus 8 --global-batch 8 --quiet")
                           .out;
    CLI_HAS(text, "DATA\n");
    for (const char *at = text; (at = strstr(at, "ALLREDUCE\t")) != NULL; at++) {
        unsigned long long bytes = strtoull(at + 10, NULL, 10);
        cr_expect_lt(bytes, 1ull << 31);
        sum += bytes;
    }
    cr_expect_float_eq((double)sum / (2 * 174.6e9), 1, 1e-3, "gradients of 2 bytes each: %llu",
                       sum);
    CLI_SHOWS("export --format astra-sim " GPT "--mesh dp=2,tp=4 --global-batch 4 --schedule gpipe",
              "HYBRID_TRANSFORMER model_parallel_NPU_group: 4\n");
}

/* The line of a table that holds a size; lines follow each other without a gap. */
static void find_choice(const char *table, const char *command, double bytes, char choice[64])
{
    unsigned long long next = 0;
    choice[0] = '\0';
    for (const char *line = table; *line != '\0'; line = strchr(line, '\n') + 1) {
        char name[24], algorithm[24], protocol[24];
        unsigned long long first, last;
        int nodes, ranks;
        if (line[0] == '#') {
            continue;
        }
        cr_assert_eq(sscanf(line, "%23[^,],%llu,%llu,%23[^,],%23[^,],-1,%d,%d,-1,-1\n", name,
                            &first, &last, algorithm, protocol, &nodes, &ranks),
                     7, "%s", line);
        if (strcmp(name, command) != 0) {
            continue;
        }
        cr_assert_eq(first, next);
        cr_assert(last > first && nodes == 4 && ranks == 16);
        next = last + 1;
        if (bytes >= (double)first && bytes <= (double)last) {
            for (char *at = algorithm; (at = strchr(at, '_')) != NULL;) {
                *at = '-';
            }
            snprintf(choice, 64, "%s/%s", algorithm, protocol);
        }
    }
    cr_assert_eq(next, 0, "the last line has no end");
}

/* By NCCL's own constants a table has the choices that the engine makes. */
Test(written, tables_of_the_tuner_have_the_choices_of_the_engine)
{
    static const char *const commands[] = {"allreduce", "allgather", "reducescatter", "broadcast"};
    const char *table =
        cli_good("$AR export --format tuner --cluster abci-v100-nccl2.8 --gpus 16 --engine nccl")
            .out;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        for (double bytes = 1024; bytes < 1e9; bytes *= 16) {
            char choice[64];
            find_choice(table, commands[i], bytes, choice);
            const char *made =
                cli_good("$AR %s --cluster abci-v100-nccl2.8 --gpus 16 --engine nccl --payload "
                         "%.0fB --format csv --columns engine_options",
                         commands[i], bytes)
                    .out;
            cr_expect(choice[0] != '\0' && strstr(made, choice) != NULL, "%s of %g B: %s, not %s",
                      commands[i], bytes, choice, made);
        }
    }
}

/* By a fitted table it has the fastest: that of rings or trees, as they are when forced. */
Test(written, tables_of_a_calibrated_cluster_have_the_fastest_choice)
{
    struct cli_run run =
        cli_run("$AR export --format tuner --cluster abci-v100-nccl2.8 --gpus 16 --operation "
                "allreduce");
    cr_expect_eq(run.code, 0, "%s", run.err);
    CLI_HAS(run.err, "2.8.4 loads no tuner plug-in");
    CLI_LACKS(run.err, "not measured");
    CLI_NOTES("export --format tuner --cluster dgx-h100 --gpus 16", "nothing is fitted: these are");
    CLI_LINES(run.out, "broadcast", 0);
    for (double bytes = 4096; bytes < 1e9; bytes *= 64) {
        char choice[64];
        double time_s[2];
        find_choice(run.out, "allreduce", bytes, choice);
        for (int i = 0; i < 2; i++) {
            time_s[i] = cli_value("allreduce_s",
                                  "allreduce --cluster abci-v100-nccl2.8 --gpus 16 --engine "
                                  "library --payload %.0fB --algorithm %s",
                                  bytes, i == 0 ? "ring" : "tree");
        }
        cr_expect(strncmp(choice, time_s[0] < time_s[1] ? "ring" : "tree", 4) == 0,
                  "%g B: %s; ring %g s, tree %g s", bytes, choice, time_s[0], time_s[1]);
    }
}
