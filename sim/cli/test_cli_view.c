/* How results are shown: widths, columns, marks, help. */
#include <criterion/criterion.h>
#include <string.h>

#include "test_cli.h"

TestSuite(cli_view, .init = cli_enter_measured, .fini = cli_leave);

#define STEP "--cluster cluster.topo --trace resnet50-v1.5"

/* The first line of a text that is wider than 80 characters; NULL if there is none. */
static const char *too_wide(const char *text)
{
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t width = 0;
        for (size_t i = 0; i < strcspn(at, "\n"); i++) {
            width += ((unsigned char)at[i] & 0xc0) != 0x80; /* characters, not bytes */
        }
        if (width > 80) {
            return at;
        }
    }
    return NULL;
}

Test(cli_view, tables_fit_80_characters)
{
    static const char *const lines[] = {
        "predict " STEP " --gpus 128 --algorithm hierarchical --check",
        "sweep " STEP " --gpus 16,32 --batch 16,32 --set hca.bandwidth=10GB/s,12GB/s --payload 1MB",
        "sweep " STEP " --gpus 16 --engine closed,recurrence --best",
        "allreduce --cluster cluster.topo --gpus 64 --algorithm torus2d --payload 1KiB:1GiB:x8",
        "allreduce --cluster abci-v100-nccl2.8 --gpus 64 --algorithm auto --engine library "
        "--payload 1MiB",
        "train example sony-v2-3456",
        "links --cluster cluster.topo --gpus 16 --algorithm torus2d --payload 1MiB --check | sed "
        "1,/^$/d; true",
        "compare abci.csv --cluster abci-v100-nccl2.8",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *wide = too_wide(cli_good("$AR %s", lines[i]).out);
        cr_expect_null(wide, "%s: %.200s", lines[i], wide);
    }
}

Test(cli_view, help_fits_80_characters)
{
    const char *all =
        cli_good("$AR --help; for command in $($AR --help | sed -n 's/^  \\([a-z]*\\) .*/\\1/p'); "
                 "do $AR $command --help; done")
            .out;
    const char *wide = too_wide(all);
    cr_expect_null(wide, "%.100s", wide);
    cr_expect_eq(cli_lines_with(all, "usage: allreckon "), 27);
    cr_expect_str_eq(cli_good("$AR -V").out, cli_good("$AR --version").out);
}

Test(cli_view, a_wide_terminal_shows_more)
{
    static const char line[] = "$AR predict " STEP " --gpus 128 --algorithm tree --quiet";
    const char *narrow = cli_good("COLUMNS=80 %s", line).out;
    const char *wide = cli_good("COLUMNS=132 %s", line).out;
    CLI_LACKS(narrow, "of one");
    CLI_HAS(wide, "of one");
    cr_expect_str_eq(cli_good("COLUMNS=20 %s", line).out, narrow);
    cr_expect_str_eq(cli_good("COLUMNS=wide %s", line).out, narrow);
}

Test(cli_view, columns_are_those_that_were_asked_for)
{
    cr_expect_str_eq(cli_good("$AR sweep " STEP " --gpus 4 --algorithms ring --engine closed "
                              "--format csv --columns gpus,exact,algorithm")
                         .out,
                     "gpus,exact,algorithm\n4,yes,ring\n");
    struct cli_run run = cli_good("$AR predict " STEP " --gpus 4 --algorithm ring --columns "
                                  "nodes,iteration_s");
    CLI_HAS(run.out, "nodes");
    CLI_LACKS(run.out, "efficiency");
    run = cli_good("$AR predict " STEP " --gpus 4 --algorithm ring --columns all");
    CLI_HAS(run.out, "efficiency");
    CLI_HAS(run.out, "buckets_count");
    cli_fails(64, "--columns: unknown column \"node\"; did you mean",
              "$AR predict " STEP " --gpus 4 --algorithm ring --columns node");
}

Test(cli_view, estimates_are_marked_and_explained)
{
    const char *out = cli_good("$AR sweep " STEP " --gpus 16,8 --quiet").out;
    cr_expect_eq(cli_lines_with(out, "~ an estimate: "), 2, "of all, of the best: %s", out);
    const char *torus = strstr(out, "2x8");
    const char *ring = strstr(out, "ring");
    cr_assert(torus != NULL && ring != NULL);
    cr_expect_lt(strcspn(torus, "~"), strcspn(torus, "\n"), "%s", out);
    cr_expect_gt(strcspn(ring, "~"), strcspn(ring, "\n"), "%s", out);
    out = cli_good("$AR sweep " STEP " --gpus 16 --algorithms ring --quiet").out;
    cr_expect_eq(cli_lines_with(out, "~"), 0);
}

Test(cli_view, notes_do_not_cut_into_rows)
{
    static const char line[] = "$AR sweep " STEP " --gpus 8:1024:x2 --engine closed --format json "
                               "--columns gpus,algorithm,shape,iteration_s";
    const char *rows = cli_good("%s", line).out;
    cr_expect_str_eq(cli_good("%s 2>&1 | grep -v '^allreckon: note: '", line).out, rows);
}

Test(cli_view, no_note_comes_before_an_error_that_ends_the_command)
{
    static const char *const lines[] = {
        "sweep " STEP " --gpus 4 --batch 0",
        "compare abci.csv --cluster abci-v100-nccl2.8 --set net.bandwidth=-1GB/s",
        "predict " STEP " --gpus 12 --algorithm torus2d --framework no.csv",
        "predict " STEP " --gpus 12 --algorithm torus2d --engine library",
        "explain " STEP " --gpus 12 --algorithm torus2d --shape 5x5"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct cli_run run = cli_run("$AR %s", lines[i]);
        cr_expect_neq(run.code, 0, "%s", lines[i]);
        cr_expect_eq(cli_lines_with(run.err, ""), 1, "%s: %s", lines[i], run.err);
    }
    cli_run("trap '' XFSZ; (ulimit -f 8; $AR sweep " STEP " --gpus 8:64:x2 --engine closed --out "
            "stopped 2>/dev/null)");
    cli_fails(64, "of a sweep that did not finish",
              "$AR sweep " STEP " --gpus 8:64:x2 --engine closed --out stopped");
}

Test(cli_view, a_sweep_ends_with_the_best_of_each_gpu_count)
{
    const char *out = cli_good("$AR sweep " STEP " --gpus 8,16 --quiet --engine closed").out;
    const char *best =
        cli_good("$AR sweep " STEP " --gpus 8,16 --quiet --engine closed --best").out;
    const char *end = strstr(out, "\nthe best for each GPU count:\n");
    cr_assert_not_null(end, "%s", out);
    cr_expect_str_eq(strchr(end + 1, '\n') + 1, best);
}
