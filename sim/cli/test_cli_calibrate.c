/* calibrate: what it writes and says; the engine that uses it; messages between two processes. */

#include "test_cli.h"

#define LOGS        AR_TEST_SOURCE_DIR "/traces/logs/fixtures/"
#define PUBLISHED   CLI_MEASURED
#define BY_LIBRARY  "--algorithm auto --engine library"
#define COLLECTIVES AR_TEST_SOURCE_DIR "/validate/data/collectives/"
#define PICO        COLLECTIVES "pico_mpi_collectives.csv"

TestSuite(cli_calibrate, .init = cli_enter_measured, .fini = cli_leave);

/* The row of a set and a node count ("" for all). */
static size_t find_row(const struct cli_table *table, const char *set, const char *nodes)
{
    for (size_t i = 1; i < table->rows_count; i++) {
        if (strcmp(cli_cell(table, i, "set"), set) == 0 &&
            strcmp(cli_cell(table, i, "nodes"), nodes) == 0) {
            return i;
        }
    }
    cr_assert_fail("no row of %s, nodes \"%s\"", set, nodes);
    return 0;
}

/* The shipped cluster is what the command makes of the shipped measurements; other releases of GSL
 * may end a fit some digits elsewhere. */
Test(cli_calibrate, the_shipped_cluster_comes_from_the_shipped_measurements, CLI_NO_NEW_CODE)
{
    cli_good("$AR calibrate " PUBLISHED " --cluster abci-v100 --hold-out none --folds --out "
             "abci-v100-nccl2.8.topo");
    static const char *const clusters[] = {"abci-v100-nccl2.8", "./abci-v100-nccl2.8.topo"};
    struct cli_table *tables[2];
    for (size_t i = 0; i < 2; i++) {
        tables[i] = cli_rows(
            "allreduce --cluster %s " BY_LIBRARY " --gpus 256 --payload 4B:1GiB:x4", clusters[i]);
    }
    cr_assert_eq(tables[0]->rows_count, tables[1]->rows_count);
    cr_assert_gt(tables[0]->rows_count, 14);
    for (size_t i = 1; i < tables[0]->rows_count; i++) {
        static const char *const columns[] = {"allreduce_s", "low_s", "high_s"};
        for (size_t j = 0; j < 3; j++) {
            cr_expect_float_eq(cli_number(tables[0], i, columns[j]) /
                                   cli_number(tables[1], i, columns[j]),
                               1, 1e-3, "row %zu, %s", i, columns[j]);
        }
    }
    cli_good("grep -v '^#' abci-v100-nccl2.8.topo > mine");
    cli_good("grep -v '^#' '" AR_TEST_SOURCE_DIR
             "/topologies/machines/abci-v100-nccl2.8.topo' > shipped");
    cr_expect_str_eq(cli_read("mine"), cli_read("shipped"));
}

/* Rows that are held out have no part in the fit: other times there change only their own error. */
Test(cli_calibrate, held_out_rows_do_not_touch_the_fit)
{
    cli_good("awk -F, '/^8,/ {$4 *= 2; $5 *= 2} {print}' OFS=, " PUBLISHED " > slower.csv");
    struct cli_run a = cli_good("$AR calibrate " PUBLISHED " --cluster abci-v100 --format csv");
    struct cli_run b = cli_good("$AR calibrate slower.csv --cluster abci-v100 --format csv");
    CLI_LINES(a.out, "parameter,", 32);   /* and the header */
    CLI_LINES(a.out, ",,,,,,,,,,,,", 31); /* a parameter has no errors of rows */
    struct cli_table *as_measured = cli_table(a.out);
    struct cli_table *slower = cli_table(b.out);
    for (const char *x = a.out, *y = b.out; strncmp(x, "accuracy", 8) != 0; x++, y++) {
        cr_assert_eq(*x, *y, "parameters differ at \"%.40s\" and \"%.40s\"", x, y);
    }
    cli_expect_same_row(as_measured, find_row(as_measured, "fitted", ""), slower,
                        find_row(slower, "fitted", ""));
    size_t row = find_row(slower, "held-out", "8");
    cr_expect_gt(cli_number(slower, row, "median_frac"), 0.4, "half the measured time is -50 %%");
    cr_expect_lt(cli_number(as_measured, find_row(as_measured, "held-out", "8"), "median_frac"),
                 0.1);
    cr_expect_eq(cli_number(slower, row, "rows"), 24);
}

Test(cli_calibrate, a_fold_is_the_error_of_a_fit_without_its_nodes)
{
    struct cli_table *folds =
        cli_rows("calibrate " PUBLISHED " --cluster abci-v100 --folds --hold-out none");
    static const char *const nodes[] = {"2", "8"};
    for (size_t i = 0; i < 2; i++) {
        struct cli_table *held =
            cli_rows("calibrate " PUBLISHED " --cluster abci-v100 --hold-out %s", nodes[i]);
        size_t a = find_row(folds, "fold", nodes[i]);
        size_t b = find_row(held, "held-out", nodes[i]);
        CLI_SAME(folds, a, held, b, "mean_frac", "tuning_p95_frac");
    }
    cr_expect_eq(cli_number(folds, find_row(folds, "fold", ""), "rows"), 96);
}

/* nccl-tests counts the elements of one part of those collectives whose ranks have parts. */
#define STEP                                                                                       \
    "predict --cluster abci-v100-nccl2.8 --workload megatron-1.7b --attention unfused "            \
    "--global-batch 32 --mesh pp=4,dp=2,tp=4 --columns engine,engine_options,exposed_tp_s"

Test(cli_calibrate, a_fit_times_what_it_covers_of_a_step_on_a_mesh)
{
    struct cli_table *fitted = cli_rows(STEP " --engine library");
    struct cli_table *links = cli_rows(STEP);
    CLI_CELL(fitted, 1, "engine_options", "library: allreduce, allgather; recurrence: send");
    CLI_CELL(links, 1, "engine_options", "");
    cr_expect_neq(cli_number(fitted, 1, "exposed_tp_s"), cli_number(links, 1, "exposed_tp_s"));
    struct cli_run run = cli_good("$AR " STEP);
    CLI_LINES(run.err, "which engine recurrence does not use: --engine library does", 1);
    /* four groups share the HCAs of each node: as long as a quarter of the rate makes it */
    static const char call[] = "allreduce --cluster abci-v100-nccl2.8 --engine library --algorithm "
                               "auto --payload 256MiB --columns allreduce_s %s";
    double shared_s = cli_value("allreduce_s", call, "--mesh dp=8,tp=4 --along dp");
    double alone_s = cli_value("allreduce_s", call, "--gpus 32");
    cr_expect(shared_s > 3 * alone_s && shared_s < 4.5 * alone_s, "%g and %g s", shared_s, alone_s);
    cr_expect_eq(cli_value("allreduce_s", "alltoall --cluster dgx-h100 --engine library --payload "
                                          "1MiB --mesh dp=2,tp=1 --along tp"),
                 0);
    /* experts of a node exchange tokens by calls, of two nodes by messages */
    static const char moe[] = "predict --cluster dgx-h100 --workload mixtral-8x7b --global-batch "
                              "16 --engine library --columns engine_options --mesh %s";
    CLI_CELL(cli_rows(moe, "ep=4"), 1, "engine_options", "library: alltoall, allreduce");
    CLI_CELL(cli_rows(moe, "ep=4,tp=4"), 1, "engine_options",
             "library: allreduce; recurrence: alltoall");
}

Test(cli_calibrate, folds_of_one_node_count_are_none)
{
    struct cli_run run = cli_good("$AR calibrate " LOGS "nccl-13-reduce-scatter.txt " LOGS
                                  "nccl-13-alltoall.txt --cluster abci-a100 --folds");
    CLI_LINES(run.err, "--folds: no fit without the rows of 2 nodes: they are all there are", 1);
    CLI_LINES(run.err, "do not say of which collective they are", 1);
    run = cli_good("$AR calibrate xxrjun_h100_10n"); /* its all-to-alls across nodes are held out */
    CLI_LINES(run.err, "messages are not fitted: fit: found no messages of at most", 1);
}

Test(cli_calibrate, a_calibrated_cluster_says_what_it_is_and_keeps_what_was_set)
{
    cli_good("$AR calibrate " PUBLISHED " --cluster abci-v100 --out first.topo --set "
             "net.latency=2us");
    cli_good("$AR calibrate " PUBLISHED " --cluster ./first.topo --out second.topo");
    const char *text = cli_read("second.topo");
    CLI_COUNTS(text, {"# --- calibrated by", 1}, {"# --- end of", 1}, {"# nodes held out: 8", 1},
               {"# error, 8 nodes held out, 24 rows: median", 1}, {"# cluster: ./first.topo", 1},
               {"net.latency = 2us ; --set of", 1}, {"name = second", 1},
               {"library.cost_table = second", 1}, {"library.cost_table = first", 0});
    CLI_LINES(cli_read("second.library.csv"), "# fitted_nodes: 1 2 4", 1);
    /* From another directory, too. */
    cli_good("mkdir below && cd below && $AR allreduce --cluster ../second.topo " BY_LIBRARY
             " --gpus 8 --payload 1MiB");
}

/* --- the engine --------------------------------------------------------------------------- */

Test(cli_calibrate, the_engine_predicts_steps_in_bands)
{
    struct cli_table *step = cli_rows("predict --cluster abci-v100-nccl2.8 " BY_LIBRARY
                                      " --gpus 64 --trace resnet50-v1.5");
    cr_expect_lt(cli_number(step, 1, "low_s"), cli_number(step, 1, "iteration_s"));
    cr_expect_gt(cli_number(step, 1, "high_s"), cli_number(step, 1, "iteration_s"));
    cr_expect_gt(cli_number(step, 1, "low_s"), cli_number(step, 1, "compute_s"));
    cli_good("$AR allreduce --cluster abci-v100-nccl2.8 " BY_LIBRARY " --gpus 1 --payload 4B");
}

/* A ring can only be slower than the choice by the library's own account; trees are its choice for
 * small messages on many nodes. */
Test(cli_calibrate, an_algorithm_limits_the_choice)
{
    static const struct cli_saying rows[] = {{"ring --engine library", " ring/ll\"", 1},
                                             {"auto --engine library", " tree/ll\"", 1}};
    CLI_SAYS("allreduce --cluster abci-v100-nccl2.8 --gpus 256 --payload 4B --format json "
             "--algorithm",
             rows);
}

Test(cli_calibrate, a_sweep_leaves_out_what_an_engine_does_not_have)
{
    struct cli_run run =
        cli_good("$AR sweep --cluster abci-v100-nccl2.8 --trace trace.csv --gpus 4,64 --algorithms "
                 "auto,ring,tree --engine library,closed --format csv");
    CLI_HAS(run.err, "3 of 12 points left out, which cannot run; ");
    CLI_COUNTS(run.out, {",auto,", 2}, {",ring,", 4}, {",tree,", 3}, {",ok", 9});
    /* all-to-alls are known in a node alone, where the library's own choice is the only one */
    const char *both = "$AR sweep --cluster dgx-h100 --operation alltoall,allgather --gpus 8,16 "
                       "--payload 1MiB --engine library --format csv --algorithms";
    CLI_COUNTS(cli_good("%s all", both).out, {",auto,", 1}, {",ring,", 2}, {",ok", 3});
    CLI_COUNTS(cli_good("%s auto", both).out, {",auto,", 3}, {",ok", 3});
}

/* Rings of Fugaku as MPI calls them, an algorithm that nobody models, and a row of another
 * machine, of the shipped table. */
static void write_mpi(void)
{
    cli_good("sed -n '/^#/p; /^system/p; /^fugaku,all[a-z]*,2x2x2,1,default-ring,/p; "
             "/^fugaku,allgather,2x2x2,1,BINE-VEC_DOUBLING_BLOCKS-UTOFU-0-1,/p; "
             "/^leonardo,allgather,512,1,ring_ompi,2048,/p' '" PICO "' > mpi.csv");
}

/* A cluster that is shipped, or a set, takes the rows of its machine; they are predicted by what
 * was saved as by the fit. */
Test(cli_calibrate, tables_of_mpi_are_fitted_by_the_names_of_the_library)
{
    write_mpi();
    struct cli_run run = cli_good("$AR calibrate mpi.csv --cluster fugaku --hold-out none --out "
                                  "fitted.topo --format csv");
    CLI_HAS(run.err, "9 rows not used (first mpi.csv:5, all-gather BINE-VEC",
            "1 rows not used (first mpi.csv:33, all-gather ring_ompi on 512 ranks): of "
            "other machines");
    struct cli_table *fitted = cli_table(run.out);
    size_t row = fitted->rows_count - 2; /* all, before those of 8 GPUs */
    cr_expect_eq(cli_number(fitted, row, "rows"), 19);
    cli_good("grep '^collective.setup = .*us ; fitted, .*1us$' fitted.topo"); /* 0 in the file */
    cli_good("grep -v ^leonardo mpi.csv > one.csv");
    cli_fails(65, "mpi.csv:33: found system \"leonardo\" behind \"fugaku\"; expected one",
              "$AR compare mpi.csv --cluster ./fitted.topo --engine closed");
    cli_good("$AR compare one.csv --cluster ./fitted.topo --engine closed --out compared");
    struct cli_table *saved = cli_table(cli_read("compared/accuracy.csv"));
    CLI_CELL(saved, 1, "set", "fitted");
    CLI_NEAR(saved, 1, "median_frac", cli_number(fitted, row, "median_frac"), 1e-3);
}

/* A set by its name, whose files are shipped. A directory of that name is not meant, a file is. */
Test(cli_calibrate, a_set_is_found_by_its_name_alone)
{
    static const char *const commands[][2] = {
        {"calibrate", "--quiet --format csv"},
        {"compare", "--cluster dgx-h100 --engine closed --algorithm ring --quiet --format csv"}};
    cli_good("mkdir h100_ndr_2n_ring");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *command = commands[i][0], *options = commands[i][1];
        struct cli_run by_name = cli_good("$AR %s h100_ndr_2n_ring %s", command, options);
        cr_expect_str_not_empty(by_name.out);
        cr_expect_str_eq(
            by_name.out,
            cli_good("$AR %s '" COLLECTIVES "h100_ndr_2n_ring.csv' %s", command, options).out);
    }
    cli_good("rmdir h100_ndr_2n_ring; echo nothing > h100_ndr_2n_ring");
    cli_fails(65, "h100_ndr_2n_ring: unknown format", "$AR calibrate h100_ndr_2n_ring");
}

/* The set fits up to 64 nodes: 256 and 512 are held out, though the largest is by default. */
Test(cli_calibrate, a_set_holds_all_counts_out_above_those_that_it_fits)
{
    cli_good("awk -F, -v OFS=, '/^#/ || /^system/ {print} "
             "/^fugaku,allgather,[248]x[248]x[248],1,default-recursive-doubling,/ {print; if "
             "(sub(/8x8x8/, \"4x8x8\")) print}' '" PICO "' > fugaku_mpi.csv");
    struct cli_table *table = cli_rows("calibrate fugaku_mpi.csv");
    find_row(table, "fitted", "8");
    find_row(table, "fitted", "64");
    find_row(table, "held-out", "256");
    find_row(table, "held-out", "512");
}

/* A 0 of the file is a number that predictions have; one that is set no fit opens. What the index
 * of sets gives, no --set gave. */
Test(cli_calibrate, priors_are_from_where_they_were_given)
{
    write_mpi();
    CLI_LACKS(cli_good("$AR allreduce --cluster fugaku --gpus 8 --payload 1MiB").err,
              "collective.setup");
    CLI_SHOWS("calibrate mpi.csv --cluster fugaku --hold-out none --quiet --format csv "
              "--set collective.setup=0s | grep collective.setup",
              "collective.setup,0,s,,no,0,--set,");
    const char *set = cli_good("$AR calibrate alcf_polaris_a100_tcp --algorithm ring --hold-out "
                               "none --quiet --format csv")
                          .out;
    CLI_HAS(set, ",5.25e+09,measured set,");
    CLI_LACKS(set, "--set");
    CLI_HAS(cli_good("$AR calibrate a100_1n_stas00").out, "times a factor of measured machines");
    CLI_LACKS(cli_good("$AR calibrate dgx_h100_1n").out, "measured machines"); /* 32 rows */
    /* Messages across nodes beside the calls change nothing of that. */
    CLI_HAS(cli_good("sed 's/^all_reduce,16.*[37]6,/all_to_all,16,2,65536,/' " COLLECTIVES
                     "h100_ndr_2n_4n_8n.csv >x.csv && $AR calibrate x.csv --cluster dgx-h100")
                .err,
            "calls are fewer than the 31 parameters: the fit starts from what");
    CLI_NOTES("calibrate x.csv --cluster dgx-h100 --set links.fitted=2",
              "constants alone, as on a cluster with links.fitted");
}

/* Rows of no machine of a set are noted with the command, and not used. */
Test(cli_calibrate, rows_of_other_machines_beside_a_set_are_noted)
{
    cli_good("sed -n '/^#/p; /^system/p; /^mare_nostrum,allreduce,32,1,ring_ompi,/p; "
             "/^fugaku,allgather,2x2x2,1,default-ring,131072,/p' '" PICO
             "' > mare_nostrum_mpi.csv");
    struct cli_run run = cli_good("$AR compare mare_nostrum_mpi.csv --format csv");
    CLI_HAS(run.err, "note: mare_nostrum_mpi: 1 rows not used (first mare_nostrum_mpi.csv:");
    CLI_HAS(run.err, " on 8 ranks): of other machines, or ranks per node\n");
}

/* Without a cluster the name of a file is that of a set, which has settings, too. */
Test(cli_calibrate, a_set_has_its_cluster_and_its_rows)
{
    static const char command[] = "$AR calibrate %s --quiet --format csv";
    write_mpi();
    cli_good("cp mpi.csv fugaku_mpi.csv");
    const char *by_name = cli_good(command, "fugaku_mpi.csv").out;
    const char *by_cluster =
        cli_good(command, "mpi.csv --cluster fugaku --set torus.links_at_once=1").out;
    cr_expect_str_eq(by_name, by_cluster);
    cli_good("cp mpi.csv pico_mpi_collectives.csv");
    cli_fails(64, "is a file of 9 measured sets", "$AR calibrate pico_mpi_collectives.csv");
    cli_good("sed -i '/^leonardo/d; s/^fugaku/frontier/; s/,2x2x2,/,8,/' pico_mpi_collectives.csv");
    cli_fails(64, "is a file of 9 measured sets", "$AR compare pico_mpi_collectives.csv");
    cli_fails(65, "found other machines, or ranks per node; expected calls of a library",
              "$AR calibrate pico_mpi_collectives.csv --cluster fugaku");
}
