/* The engine nccl, grids by calls of the library, and releases on the command line. */
#include "test_cli.h"

#define PUBLISHED CLI_MEASURED
#define CALL      "--cluster abci-v100 --engine nccl --payload 1MiB "

TestSuite(cli_nccl, .init = cli_enter_measured, .fini = cli_leave);

/* 8 GPUs on 2 nodes, 16 KiB: hops, and 7/8 of the payload twice over 24 GB/s. */
Test(cli_nccl, the_release_of_the_cluster_decides)
{
    static const struct {
        const char *options;
        double expected_us;
    } rows[] = {
        {"--algorithm auto --gpus 8 --payload 2MiB --set library.release=2.3.7",
         8.4 + 14 * 6.6 + 2097152 * 1.75 / 24e3},
        {"--algorithm ring --gpus 4 --payload 1MiB --set nvlink.pairs=none", /* PCIe */
         8.4 + 6 * 5.7 + 1048576 * 1.5 / 132e3},
        /* Other generations, vendors and releases; a row holds for its minor version. */
        {"--algorithm auto --gpus 4 --payload 4MiB --set library.release=2.21.5 --set "
         "gpu.generation=hopper --set nvlink.pairs=switch",
         25 + 4194304 / (132e3 * 5 / 6)},
        {"--algorithm ring --gpus 8 --payload 1KiB --set library.release=2.18.5 --set "
         "cpu.vendor=amd",
         6.6 + 10 * 2.0 + 4 * 2.7 + 1024 * 1.75 / 6e3},
        {"--algorithm auto --gpus 64 --payload 4MiB --set library.release=2.19.4 --set "
         "library.collnet=yes",
         2 * 3 * 2.8 + 30 + 2 * 4194304 / 24e3},
        /* Rows in a node: 3 hops each way, 3/4 of the payload; columns of two, four at once. */
        {"--algorithm torus2d --shape 4x2 --gpus 8 --payload 64MiB --set library.release=2.5.6",
         2 * (8.4 + 3 * 5.7 + 67108864 * 0.75 / 132e3) + 8.4 + 2 * 6.6 + 16777216 * 4 / 24e3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cli_table *table =
            cli_rows("allreduce --cluster abci-v100 --engine nccl %s", rows[i].options);
        double found_us = cli_number(table, 1, "allreduce_s") * 1e6;
        CLI_CELL(table, 1, "low_s", "", "high_s", "", "messages_count", "");
        cr_expect_float_eq(found_us / rows[i].expected_us, 1, 1e-7, "%s: %g, not %g us",
                           rows[i].options, found_us, rows[i].expected_us);
    }
}

Test(cli_nccl, a_step_a_sweep_and_an_explanation_have_it)
{
    struct cli_table *step = cli_rows("predict --cluster abci-v100 --engine nccl --algorithm auto "
                                      "--gpus 64 --trace trace.csv");
    cr_expect_gt(cli_number(step, 1, "iteration_s"), cli_number(step, 1, "compute_s"));
    CLI_CELL(step, 1, "low_s", "");
    struct cli_run sweep =
        cli_good("$AR sweep --cluster abci-v100 --set library.release=2.3.7,2.8.4 --trace "
                 "trace.csv --gpus 64 --algorithms ring,hierarchical,torus2d,tree,auto --shapes "
                 "8x8 --engine nccl --format csv");
    CLI_LINES(sweep.out, ",ok", 9);
    CLI_HAS(sweep.err, "1 of 10 points left out, which cannot run; for example: engine nccl: "
                       "found algorithm tree, which nccl-2.3.7 does not have");
    const char *text = cli_good("$AR explain --cluster abci-v100 --engine nccl --algorithm torus2d "
                                "--shape 8x8 --gpus 64 --trace trace.csv")
                           .out;
    CLI_COUNTS(text, {"All-reduce by calls of nccl-2.8.4", 1},
               {"  reduce-scatter          8        2        1  ring/", 1},
               {"  all-reduce              8        8        4  ", 1},
               {"  all-gather              8        2        1  ring/", 1});
}

/* --- compare and calibrate ---------------------------------------------------------------- */

/* Its yardstick is itself; of another release it is not. */
Test(cli_nccl, compare_takes_another_release_as_the_model_and_as_the_yardstick, CLI_NO_NEW_CODE)
{
    struct cli_table *own = cli_rows("compare " PUBLISHED " --cluster abci-v100 --engine nccl");
    struct cli_table *old = cli_rows("compare " PUBLISHED " --cluster abci-v100 --engine nccl "
                                     "--tuning 2.5.6");
    struct cli_table *fitted = cli_rows("compare " PUBLISHED " --cluster abci-v100-nccl2.8 "
                                        "--tuning 2.5.6");
    cr_assert_eq(own->rows_count, 1 + 96);
    size_t differ = 0;
    for (size_t i = 1; i < own->rows_count; i++) {
        CLI_CELL(own, i, "predicted_s", cli_cell(own, i, "tuning_s"), "low_s", "", "set",
                 "held-out");
        CLI_CELL(fitted, i, "tuning_s", cli_cell(old, i, "predicted_s"));
        differ += strcmp(cli_cell(own, i, "predicted_s"), cli_cell(old, i, "predicted_s")) != 0;
    }
    cr_expect_gt(differ, 48);
}

Test(cli_nccl, a_calibration_keeps_its_release)
{
    CLI_SHOWS("calibrate " PUBLISHED " --cluster abci-v100 --tuning 2.5.6 "
              "--hold-out none --out old.topo",
              "nccl-2.5.6");
    CLI_LINES(cli_read("old.topo"), "library.release = 2.5.6 ; --tuning of", 1);
    CLI_LINES(cli_read("old.library.csv"), "# tuning: nccl-2.5.6", 1);
    CLI_SHOWS("allreduce --cluster old.topo --engine library --algorithm auto --gpus 32 "
              "--payload 1MiB --format json",
              "library nccl-2.5.6, fitted to 96 rows:");
}

/* A torus by fitted calls: its band is that of errors that go together, so it is about as wide as
 * that of its widest call, and holds its time. */
Test(cli_nccl, grids_by_a_fitted_library_have_a_band)
{
    struct cli_table *table =
        cli_rows("allreduce --cluster abci-v100-nccl2.8 --engine library --algorithm torus2d "
                 "--shape 4x8 --gpus 32 --payload 1MiB:64MiB:x8");
    cr_assert_eq(table->rows_count, 1 + 3);
    for (size_t i = 1; i < table->rows_count; i++) {
        double time_s = cli_number(table, i, "allreduce_s");
        cr_expect_lt(cli_number(table, i, "low_s"), time_s);
        cr_expect_gt(cli_number(table, i, "high_s"), time_s);
        cr_expect_lt(cli_number(table, i, "high_s"), 2 * time_s);
    }
}

Test(cli_nccl, bad_input_is_one_line)
{
    static const struct cli_case rows[] = {
        {"allreduce --cluster flat --engine nccl --algorithm auto --gpus 8 --payload 1MiB", 64,
         "engine nccl: cluster flat has no library.node_bus; expected the bandwidth of the rings"},
        {"allreduce --cluster flat --set library.node_bus=132GB/s --engine nccl --algorithm ring "
         "--gpus 8 --payload 1MiB",
         64, "cluster flat has no library.net_bus"},
        {"allreduce " CALL "--gpus 8 --set gpu.generation=pascal", 64, "gpu.generation"},
        {"allreduce " CALL "--gpus 4 --algorithm tree", 64,
         "engine nccl: found algorithm tree on one node"},
        {"alltoall " CALL "--gpus 8", 64,
         "engine nccl: found all-to-all, which NCCL sends as messages and has no price of"},
        {"allreduce " CALL "--gpus 8 --shape best", 64,
         "--shape: found best with the algorithm that engine nccl chooses"},
        {"allgather " CALL "--gpus 8 --algorithm bruck", 64,
         "found algorithm bruck, which it has no formula for; expected one of auto, ring"},
        {"calibrate " PUBLISHED " --cluster abci-v100 --tuning none --out x.topo", 64,
         "--tuning: unknown NCCL release \"none\""},
        {"links " CALL "--gpus 8 --algorithm auto", 64,
         "links: --engine: found nccl, which times whole calls and no messages"},
    };
    CLI_FAIL_ALL("", rows);
}

Test(cli_nccl, hosts_of_an_nvlink_domain_are_one_node)
{
    static const struct cli_saying rows[] = {{"72", "nvls/simple", 1},
                                             {"144", "nvls-tree/simple", 1}};
    CLI_SAYS("allreduce --cluster gb200-nvl72 --engine nccl --payload 1GiB --format csv --gpus",
             rows);
}

Test(cli_nccl, a_sweep_of_a_library_has_what_it_runs_there)
{
    static const char line[] = "$AR sweep --cluster dgx-a100 --gpus 8 --payload 1MiB --quiet "
                               "--format csv --algorithms ";
    CLI_LINES(cli_good("%sring,collnet-direct", line).out, "collnet-direct,", 1);
    const char *nccl = cli_good("%snccl", line).out;
    CLI_LINES(nccl, "ring,", 1);
    CLI_LINES(nccl, "collnet-direct,", 0);
}
