/* A SimGrid platform file as --cluster on the command line. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

static void enter_with_platform(void)
{
    cli_enter();
    cli_good("$AR export --format simgrid-xml --cluster abci-v100 --gpus 16 --out abci.xml");
}

TestSuite(cli_platform, .init = enter_with_platform, .fini = cli_leave);

#define OWN                                                                                        \
    "--cluster abci.xml --set gpus_per_node=4 --set gpu.reduce_cost=3.846ps/B "                    \
    "--set collective.setup=8.4us --set hcas=2 --set gpu.cost_table=v100-sxm2"
#define TOPO "--cluster abci-v100"

static double column(const char *line, const char *cluster, const char *name)
{
    struct cli_run run = cli_good("$AR %s %s --quiet --format csv", line, cluster);
    return strtod(cli_cell(cli_table(run.out), 1, name), NULL);
}

Test(cli_platform, predictions_are_those_of_the_cluster_it_was_exported_from)
{
    static const char *const algorithms[] = {"ring", "torus2d"};
    static const char *const engines[] = {"simgrid", "recurrence"};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 2; j++) {
            char line[256];
            snprintf(line, sizeof line,
                     "predict --gpus 16 --algorithm %s --engine %s --trace resnet50-v1.5",
                     algorithms[i], engines[j]);
            double topo_s = column(line, TOPO, "iteration_s");
            double own_s = column(line, OWN, "iteration_s");
            cr_expect(j == 0 ? own_s == topo_s
                             : own_s / topo_s - 1 < 1e-6 && topo_s / own_s - 1 < 1e-6,
                      "%s: %.17g s and %.17g s", line, own_s, topo_s);
            cr_expect_eq(column(line, OWN, "nodes"), 4);
        }
    }
}

Test(cli_platform, a_note_says_what_was_assumed_and_rows_what_was_set)
{
    struct cli_run run = cli_run(
        "$AR allreduce --cluster ./abci.xml --set gpus_per_node=4 --gpus 8 --algorithm ring "
        "--payload 1MB --format csv");
    cr_assert_eq(run.code, 0);
    cr_expect_not_null(strstr(run.err, "GPUs 0 to 15 are the hosts of ./abci.xml by name, gpu-0 to "
                                       "gpu-15; assumed, to be changed by --set: "
                                       "gpu.reduce_cost=0s/B, collective.setup=0s, hcas=1\n"),
                       "%s", run.err);
    struct cli_table *table = cli_table(run.out);
    cr_expect_str_eq(cli_cell(table, 1, "cluster"), "abci");
    cr_expect_str_eq(cli_cell(table, 1, "settings"), "gpus_per_node=4");
    cr_expect_str_eq(cli_cell(table, 1, "channels"), "1");
}

Test(cli_platform, sweep_and_explain_work)
{
    struct cli_run sweep = cli_good("$AR sweep " OWN " --gpus 4,16 --trace trace.csv --engine "
                                    "recurrence --jobs 2 --format csv");
    struct cli_table *own = cli_table(sweep.out);
    sweep = cli_good("$AR sweep " TOPO " --gpus 4,16 --trace trace.csv --engine recurrence "
                     "--format csv");
    struct cli_table *topo = cli_table(sweep.out);
    cr_assert_eq(own->rows_count, topo->rows_count);
    for (size_t row = 1; row < own->rows_count; row++) {
        double own_s = strtod(cli_cell(own, row, "iteration_s"), NULL);
        double topo_s = strtod(cli_cell(topo, row, "iteration_s"), NULL);
        cr_expect(own_s / topo_s - 1 < 1e-6 && topo_s / own_s - 1 < 1e-6, "row %zu: %.17g, %.17g",
                  row, own_s, topo_s);
    }
    struct cli_run explain =
        cli_good("$AR explain " OWN " --gpus 16 --algorithm ring --trace trace.csv "
                 "--slow-link node-2.hca-0.out:9");
    cr_expect_eq(cli_lines_with(explain.out, "node-2.hca-0.out, 1 flow: 1.136 GB/s"), 1, "%s",
                 explain.out);
    cr_expect_eq(cli_lines_with(explain.out, "             route   reduce  slowest hop"), 1);
    cr_expect_eq(cli_lines_with(explain.out, "nvlink"), 0);
}

Test(cli_platform, bad_platforms_and_what_does_not_go_with_them)
{
    static const struct {
        const char *line;
        int code;
        const char *fragment;
    } rows[] = {
        {"--cluster no.xml --gpus 4", 66, "no.xml: cannot read: No such file"},
        {"--cluster . --gpus 4", 66, "unknown cluster \".\""},
        {"--cluster bad.xml --gpus 4", 65, "bad.xml:1: Invalid XML"},
        {"--cluster mark.xml --gpus 4", 65, "mark.xml:1: begins with a byte-order mark"},
        {"--cluster abci.xml --gpus 17", 64, "expected a whole number from 1 to 16, the GPUs of"},
        {"--cluster abci.xml --gpus 4 --set gpus_per_node=32", 64,
         "expected at most 16, the hosts"},
        {"--cluster abci.xml --gpus 4 --set gpus_per_nodes=4", 64,
         "did you mean \"gpus_per_node\""},
        {"--cluster abci.xml --gpus 4 --set hca.bandwidth=1GB/s", 64,
         "the platform file says itself"},
        {"--cluster abci.xml --gpus 4 --slow-link node-0.hca-9:2", 64,
         "did you mean \"node-0.hca-"},
        {"--cluster abci.xml --gpus 4 --slow-link node-0.hca-0:0", 64,
         ":0\"; expected LINK:FACTOR"},
        {"--cluster abci.xml --gpus 4 --down-link node-0.hca-0", 64, "whose routes are its own"},
    };
    cli_run("echo hello > bad.xml; (printf '\\357\\273\\277'; cat abci.xml) > mark.xml");
    size_t files = cli_files_count();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cli_run run =
            cli_run("$AR allreduce --quiet --algorithm ring --payload 1MB %s", rows[i].line);
        cli_expect_error(&run, rows[i].line, rows[i].code, rows[i].fragment);
    }
    struct cli_run run =
        cli_run("$AR export --format simgrid-xml --cluster abci.xml --gpus 4 --out x.xml");
    cli_expect_error(&run, "export", 64, "abci.xml, a SimGrid platform already");
    cr_expect_eq(cli_files_count(), files);
}
