/* The command line as a user sees it. Worked examples run with small numbers of GPUs. */

#include "test_cli.h"

TestSuite(cli, .init = cli_enter, .fini = cli_leave);

#define STEP "--cluster abci-v100 --trace resnet50-v1.5"
#define COLUMNS                                                                                    \
    "cluster,trace,batch_per_gpu,precision,gpus,nodes,algorithm,runnable_by,shape,channels,"       \
    "engine,"                                                                                      \
    "payload_bytes,iteration_s,compute_s,allreduce_s,exposed_s,samples_per_s,efficiency_frac,"     \
    "baseline,messages_count,wall_s,version,"

/* The commands that the help of the program lists: two spaces, then the name. */
Test(cli, every_command_has_help_with_an_example)
{
    struct cli_run all = cli_good("$AR --help");
    const char *line = strstr(all.out, "\ncommands:\n");
    size_t count = 0;
    cr_assert_not_null(line);
    for (line += strlen("\ncommands:\n"); strncmp(line, "  ", 2) == 0; line++) {
        char command[24], example[64];
        cr_assert_eq(sscanf(line, "%23s", command), 1);
        struct cli_run run = cli_good("$AR %s --help", command);
        snprintf(example, sizeof example, "\n  allreckon %s ", command);
        CLI_HAS(run.out, "example", example, "Units:");
        cr_expect_str_empty(run.err);
        cr_expect_str_eq(cli_good("$AR %s -h", command).out, run.out);
        count++;
        line += strcspn(line, "\n");
    }
    cr_expect_geq(count, 13);
    struct cli_run none = cli_run("$AR");
    cr_expect_eq(none.code, 64);
    cr_expect_str_empty(none.out);
    cr_expect_str_eq(none.err, all.out);
}

Test(cli, lists_show_what_the_other_commands_take)
{
    CLI_SHOWS("list", "ring", "torus2d", "tree", "abci-v100", "flat", "simgrid", "resnet50-v1.5");
    CLI_SHOWS("list columns", "iteration_s ");
    CLI_SHOWS("list frameworks", "none", "horovod", "horovod-mpi", "mxnet-horovod",
              "mxnet-horovod-v0.5", "nnl", "pytorch-ddp", "typical", "cycle.time", "gpu.sms",
              "wire.precision");
    CLI_SHOWS("list runs", "sony-v1-2176 ", "3456 V100");
    CLI_SHOWS("list published", "sony-v1-1088", " (not predicted)");
    cli_good("! for topic in '' columns frameworks runs published; do $AR list $topic; done | "
             "grep 'cannot be read'");
}

Test(cli, csv_has_the_columns_of_the_contract_in_order)
{
    struct cli_run step = cli_good("$AR predict " STEP " --gpus 8 --algorithm ring --format csv");
    cr_expect_eq(strncmp(step.out, COLUMNS, strlen(COLUMNS)), 0, "%s", step.out);
    struct cli_run bare = cli_good(
        "$AR allreduce --cluster flat --gpus 8 --algorithm ring --payload 1MB --format csv");
    cr_expect_eq(strcspn(bare.out, "\n"), strcspn(step.out, "\n"));
    cli_good("$AR predict " STEP " --gpus 8 --algorithm ring --format csv | head -1 | tr , '\\n' "
             ">header && $AR list columns | sed 's/ .*//' | head -$(wc -l <header) | cmp - header");
}

Test(cli, lists_show_what_has_a_pattern_and_come_as_json)
{
    CLI_LINES(cli_good("$AR list workloads LLAMA3-?0b").out, "", 1);
    CLI_LINES(cli_good("$AR list clusters gb300").out, "GB300", 1);
    CLI_LINES(cli_good("$AR list workloads deepseek").out, "deepseek-v3        671 billion", 1);
    CLI_LINES(cli_good("$AR list gpus mi300x").out, "1307 Tflop/s in bf16, memory 4.29 TB/s", 1);
    CLI_LINES(cli_good("$AR list pictures --format csv").out, "pictures,", 18);
    cli_good("! $AR list pictures --format csv | tail -n +2 | grep -v '[.]\"*$'");
    cli_fails(64, "list: found none of clusters with \"vax\"", "$AR list clusters vax");
    const char *json = cli_good("$AR list strategies 1f1b --format json").out;
    CLI_COUNTS(json, {"\"topic\": \"strategies\"", 1}, {"\"of\": \"schedules of a pipeline:\"", 1},
               {"\"name\": \"1f1b\"", 1});
    json = cli_good("$AR list systems 'sony 2d torus' --format json").out;
    CLI_LINES(json, "\"name\": \"Sony 2D torus\"", 1);
    CLI_LINES(json, "; published: 84.75 % of one node's rate (abstract); ours: ", 1);
}

Test(cli, table_explain_and_csv_agree)
{
    const char *options = STEP " --gpus 8 --algorithm torus2d";
    struct cli_table *csv = cli_rows("predict %s", options);
    const char *table = cli_good("COLUMNS=132 $AR predict %s", options).out;
    const char *explain = cli_good("$AR explain %s", options).out;
    char text[64];
    static const char *const columns[] = {"iteration_s", "allreduce_s", "exposed_s"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%.3f", cli_number(csv, 1, columns[i]) * 1e3);
        CLI_HAS(table, text);
        CLI_HAS(explain, text);
    }
    snprintf(text, sizeof text, "efficiency %.2f %%, where 100 %% is one node",
             cli_number(csv, 1, "efficiency_frac") * 100);
    CLI_HAS(explain, text);
    CLI_HAS(table, " of one\n", " node\n");
}

Test(cli, the_baseline_is_an_option_and_is_printed)
{
    struct cli_run node = cli_good("$AR predict " STEP " --gpus 8 --algorithm ring --format csv");
    struct cli_run gpu =
        cli_good("$AR predict " STEP " --gpus 8 --algorithm ring --format csv --baseline gpu");
    CLI_CELL(cli_table(node.out), 1, "baseline", "node");
    CLI_CELL(cli_table(gpu.out), 1, "baseline", "gpu");
    cr_expect_lt(cli_number(cli_table(gpu.out), 1, "efficiency_frac"),
                 cli_number(cli_table(node.out), 1, "efficiency_frac"));
    CLI_HAS(node.err, "100 % is one full node");
    CLI_HAS(gpu.err, "100 % is one GPU that computes alone");
}

Test(cli, quiet_leaves_stderr_empty_and_changes_no_data)
{
    const char *line = "$AR allreduce --cluster abci-v100 --gpus 97 --algorithm torus2d --engine "
                       "closed --payload 1MB --format csv --columns allreduce_s";
    struct cli_run loud = cli_good("%s", line);
    struct cli_run quiet = cli_good("%s --quiet", line);
    cr_expect_str_eq(loud.out, quiet.out);
    CLI_HAS(loud.err, "torus2d on 97 GPUs is 1x97, a ring");
    cr_expect_str_empty(quiet.err);
}

Test(cli, files_of_any_name_are_taken_by_path)
{
    cli_good("mkdir \"a b\"; cp cluster.topo \"a b/it's.topo\"; cp trace.csv 'a b/\"q\", x.csv'; "
             "cp trace.csv \"$(printf 'a b/\\377.csv')\"");
    CLI_SHOWS("predict --cluster \"a b/it's.topo\" --trace 'a b/\"q\", "
              "x.csv' --gpus 4 --algorithm ring --format csv",
              "\nabci-v100,\"\"\"q\"\", x\",32,fp16,4,1,ring,");
    CLI_SHOWS("predict --cluster flat --trace \"$(printf 'a b/\\377.csv')\" --gpus 4 --format json",
              "\"trace\": \"\\ufffd\"");
}

Test(cli, shipped_files_beside_the_program_come_first)
{
    cli_good(
        "mkdir -p in/bin in/share/allreckon/topologies/machines && cp \"$AR\" in/bin/allreckon && "
        "cp cluster.topo in/share/allreckon/topologies/machines/only-here.topo && ln -s "
        "in/bin/allreckon link");
    CLI_COUNTS(cli_good("env -i ./link list clusters").out, {"only-here", 1}, {"flat", 0});
}

Test(cli, verify_proves_the_algorithms)
{
    struct cli_run all = cli_good("$AR verify --gpus 1:6:+1");
    struct cli_run one = cli_good("$AR verify --gpus 1:6:+1 --operation allgather");
    cr_expect_geq(cli_lines_with(one.out, "all-gather "), 2);
    CLI_LINES(one.out, "each contribution exactly once", cli_lines_with(all.out, "all-gather "));
    CLI_LINES(all.out, "each contribution exactly once",
              cli_lines_with(cli_good("$AR list algorithms").out, "      source: "));
}

Test(cli, check_prints_the_simulation_beside_the_recurrence)
{
    for (size_t i = 0; i < 2; i++) {
        struct cli_table *table = cli_rows("allreduce --cluster abci-v100 --gpus 32 --algorithm "
                                           "ring --payload 1MB --check --engine %s",
                                           i == 0 ? "simgrid" : "recurrence");
        cr_assert_eq(table->rows_count, 3);
        CLI_CELL(table, 1 + i, "engine", "simgrid");
        CLI_CELL(table, 2 - i, "engine", "recurrence");
        CLI_SAME(table, 1, table, 2, "allreduce_s");
    }
}
