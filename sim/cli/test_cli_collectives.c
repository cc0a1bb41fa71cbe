/* One collective, whatever its operation: a row that counts as nccl-tests does, groups of a mesh,
 * roots; sweeps of collectives; what is refused. */

#include "test_cli.h"

TestSuite(cli_collectives, .init = cli_enter, .fini = cli_leave);

Test(cli_collectives, rows_count_as_nccl_tests_does)
{
    static const struct {
        const char *command;
        double factor; /* busbw over algbw on 6 ranks */
        bool has_root;
    } kinds[] = {
        {"allreduce", 10.0 / 6, false},
        {"allgather", 5.0 / 6, false},
        {"reducescatter", 5.0 / 6, false},
        {"broadcast", 1, true},
        {"reduce", 1, true},
        {"gather", 5.0 / 6, true},
        {"scatter", 5.0 / 6, true},
        {"alltoall", 5.0 / 6, false},
        {"send", 1, true},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct cli_run run =
            cli_good("$AR %s --cluster flat --gpus 6 --payload 6MB --format csv", kinds[i].command);
        struct cli_table *table = cli_table(run.out);
        double algbw_Bps = 6e6 / cli_number(table, 1, "allreduce_s");
        CLI_CELL(table, 1, "operation", kinds[i].command, "payload_bytes", "6000000");
        CLI_NEAR(table, 1, "algbw_Bps", algbw_Bps, 1e-7 * algbw_Bps);
        CLI_NEAR(table, 1, "busbw_Bps", kinds[i].factor * algbw_Bps, 1e-7 * algbw_Bps, "%s",
                 kinds[i].command);
        CLI_CELL(table, 1, "root", kinds[i].has_root ? "0" : "");
        cr_expect_eq(strstr(run.err, "is rank 0 (--root)") != NULL, kinds[i].has_root);
        cr_expect_eq(strstr(run.err, "is the fastest of") == NULL,
                     strcmp(kinds[i].command, "send") == 0, "%s", run.err);
        CLI_CELL(table, 1, "mesh", "", "groups", "");
    }
}

Test(cli_collectives, another_root_of_the_same_machine_takes_the_same_time)
{
    static const char line[] =
        "broadcast --cluster flat --gpus 6 --algorithm chain --payload 6MB --root %d";
    struct cli_table *last = cli_rows(line, 5);
    CLI_CELL(last, 1, "root", "5");
    cr_expect_eq(cli_number(last, 1, "allreduce_s"), cli_value("allreduce_s", line, 0));
}

/* --- groups ------------------------------------------------------------------------------- */

#define GATHER                                                                                     \
    "allgather --cluster cluster.topo --set hca.bandwidth=10GB/s --algorithm ring --payload 8MiB "

Test(cli_collectives, groups_of_a_mesh_share_the_links)
{
    struct cli_table *both = cli_rows(GATHER "--mesh dp=8,tp=4 --along dp");
    cli_expect_same_table(both, cli_rows(GATHER "--mesh dp=8,tp=4 --gpus 32 --along dp"));
    CLI_CELL(both, 1, "gpus", "32", "nodes", "8", "along", "dp", "groups", "4");
    /* 7/8 of four payloads leave each node by two HCAs of 10 GB/s */
    cr_expect_geq(cli_number(both, 1, "allreduce_s"), 4 * 7 * 1048576 / 20e9);
    /* busbw is that of a group */
    CLI_NEAR(both, 1, "busbw_Bps", 7.0 / 8 * cli_number(both, 1, "algbw_Bps"), 10);
}

Test(cli_collectives, a_mesh_of_one_axis_is_no_mesh)
{
    struct cli_run run = cli_good("$AR " GATHER "--mesh dp=32 --format csv");
    struct cli_table *mesh = cli_table(run.out);
    struct cli_table *plain = cli_rows(GATHER "--gpus 32");
    CLI_HAS(run.err, "dp=32 along dp, the only axis: 1 group of 32 GPUs");
    CLI_CELL(mesh, 1, "allreduce_s", cli_cell(plain, 1, "allreduce_s"), "groups", "1");
}

Test(cli_collectives, explain_and_links_say_who_shares_the_busiest_link)
{
    static const char scene[] = "--cluster cluster.topo --set hca.bandwidth=10GB/s --operation "
                                "allgather --algorithm ring --payload 8MiB --mesh dp=8,tp=4 "
                                "--along dp";
    const char *text = cli_good("$AR explain %s", scene).out;
    const char *links = cli_good("$AR links %s", scene).out;
    CLI_HAS(text, "all-gather of 8.389 MB, fp16, on 32 GPUs",
            "mesh dp=8,tp=4 along dp: 4 groups of 8 GPUs at once");
    CLI_LINES(text, "  ring all-gather ", 1);
    CLI_HAS(text, "Busiest link: node-", "up to 4 flows at once on it, of 2 groups");
    CLI_HAS(links, "up to 4 flows at once on it, of 2 groups");
    /* 7/8 of four payloads leave each node by two HCAs */
    CLI_HAS(links, " 14680064 ");
}

/* --- sweeps ------------------------------------------------------------------------------- */

#define SWEEP                                                                                      \
    "$AR sweep --cluster cluster.topo --gpus 8,32 --payload 4KiB,4MiB --operation "                \
    "allgather,broadcast --out %s --format csv"

Test(cli_collectives, a_sweep_has_each_operation_count_payload_and_algorithm)
{
    struct cli_table *all = cli_table(cli_good(SWEEP, "all").out);
    cli_expect_same_table(all, cli_table(cli_read("all/sweep.csv")));
    for (size_t i = 1; i < all->rows_count; i++) {
        cli_expect_same_row(
            cli_rows("%s --cluster cluster.topo --gpus %s --algorithm %s --payload %sB",
                     cli_cell(all, i, "operation"), cli_cell(all, i, "gpus"),
                     cli_cell(all, i, "algorithm"), cli_cell(all, i, "payload_bytes")),
            1, all, i);
    }
    cr_expect_eq(all->rows_count % 8, 1, "%zu", all->rows_count);
    cr_expect_geq(all->rows_count, 1 + 2 * 2 * (2 + 2));
}

Test(cli_collectives, the_best_of_a_sweep_is_that_of_each_operation_count_and_payload)
{
    static const char columns[] = " --columns operation,gpus,payload_bytes,allreduce_s";
    const char *least =
        cli_good(SWEEP "%s | sort -t, -k4g | awk -F, '!seen[$1, $2, $3]++' | sort", "all", columns)
            .out;
    CLI_LINES(least, "", 1 + 2 * 2 * 2);
    cr_expect_str_eq(cli_good(SWEEP " --best%s | sort", "best", columns).out, least);
}

Test(cli_collectives, a_sweep_goes_on_only_with_the_same_operation_mesh_and_root)
{
    static const char line[] = "$AR sweep --cluster cluster.topo --payload 4KiB --out here %s";
    static const char *const others[] = {
        "--resume --operation reduce --mesh dp=8,tp=4 --along dp",
        "--resume --operation broadcast --mesh dp=8,tp=4 --along tp",
        "--resume --operation broadcast --mesh dp=8,tp=4 --along dp --root 1",
    };
    cli_good(line, "--operation broadcast --mesh dp=8,tp=4 --along dp");
    CLI_HAS(cli_good(line, "--resume --operation broadcast --mesh dp=8,tp=4 --along dp").err,
            "nothing to compute");
    for (size_t i = 0; i < 3; i++) {
        struct cli_run run = cli_run(line, others[i]);
        CLI_LACKS(run.err, "nothing to compute");
    }
}

Test(cli_collectives, pictures_are_of_one_operation_and_say_which)
{
    cli_need_gnuplot();
    cli_good(SWEEP, "all");
    cli_good("$AR plot all --quiet && grep -q broadcast all/best-broadcast.svg");
    struct cli_run one = cli_good("$AR plot all --where operation=allgather");
    CLI_LACKS(one.err, "efficiency");
    CLI_COUNTS(one.out, {"all/payload.svg", 1}, {"all/busbw.svg", 1}, {"all/best.svg", 1});
    cli_good("! grep -L all-gather all/payload.svg all/busbw.svg all/best.svg | grep .");
    cr_expect_eq(cli_table(cli_read("all/best.csv"))->rows_count, 1 + 2 * 2);
}

/* --- what is refused ---------------------------------------------------------------------- */

Test(cli_collectives, what_cannot_be_is_one_line)
{
    static const char *const rows[][2] = {
        {"--gpus 32 --mesh dp=4,tp=4 --along dp", "--mesh: dp=4,tp=4 has 16 places; expected 32"},
        {"--mesh dp=4,tp=4", "--mesh: found dp=4,tp=4 without --along; expected the axes"},
        {"--mesh dp=4,tp=4 --along ep", "--along: found \"ep\"; expected axes of the mesh"},
        {"--gpus 16 --along dp", "--along: found \"dp\" without a mesh, such as"},
        {"--mesh dp=4,dp=4 --along dp", "--mesh: found \"dp=4,dp=4\"; expected up to"},
        {"--mesh dp=9999,tp=4 --along dp", "expected a whole number from 1 to 4352"},
        {"--mesh dp=8,tp=4 --along dp --root 8", "a whole number from 0 to 7, below"},
        {"--gpus 16 --algorithm torus2d",
         "--algorithm: found \"torus2d\" of all-reduce; expected one of broadcast"},
        {"--gpus 16 --operation reduce", "unknown option \"--operation\""},
        {"--mesh dp=8,tp=4 --along dp --algorithm tree --shape 4x8", "--shape: 4x8 has 32 places"},
    };
    CLI_REFUSE(64, "broadcast --cluster abci-v100 --payload 1MB", rows);
}

/* The engine of a library predicts a machine without a fit by what others tell, and says so. */
Test(cli_collectives, other_machines_tell_of_one_that_nobody_measured)
{
    struct cli_run run = cli_good("$AR allreduce --cluster dgx-h100 --gpus 128 --engine library "
                                  "--payload 64MiB --format csv");
    struct cli_table *row = cli_table(run.out);
    double time_s = cli_number(row, 1, "allreduce_s");
    CLI_HAS(run.err, "nothing is fitted to cluster dgx-h100: calls are what ", "of other machines");
    CLI_HAS(cli_cell(row, 1, "engine_options"),
            "library nccl-2.21.5, by 37 sets of other machines");
    cr_expect_lt(1.5 * cli_number(row, 1, "low_s"), time_s);
    cr_expect_gt(cli_number(row, 1, "high_s"), 1.5 * time_s);
    row = cli_rows("allreduce --cluster dgx-h100 --gpus 8 --engine library --payload 1GiB");
    CLI_NEAR(row, 1, "allreduce_s", 4029.4e-6, 0.1 * 4029.4e-6,
             "measured: validate/data/collectives/dgx_h100_1n.csv");
    CLI_NOTES("allreduce --cluster abci-v100 --set library.release=2.8.4 --gpus 8 "
              "--engine library --payload 1MiB",
              "nccl-2.8.4 tell");
}

Test(cli_collectives, the_fastest_algorithm_says_what_a_library_can_run)
{
    struct cli_run run = cli_good("$AR allreduce --cluster dgx-h100 --gpus 64 --algorithm auto "
                                  "--payload 256KiB,120MiB,128MiB --format csv");
    CLI_SAME(cli_table(run.out), 3,
             cli_rows("allreduce --cluster dgx-h100 --gpus 64 --payload 128MiB"), 1,
             "allreduce_s"); /* flows of the row before change nothing */
    CLI_COUNTS(run.err, {"direct is the fastest of 16 by engine recurrence (", 1},
               {"which NCCL and RCCL have no call for; of those that they have", 3});
    CLI_LINES(cli_good("$AR list algorithms").out, "(run by nccl-", 12);
    run = cli_good("$AR predict --cluster dgx-h100 --gpus 64 --trace resnet50-v1.5");
    CLI_HAS(run.err, "is the fastest of 16 by engine recurrence", "--runnable-by nccl");
    static const char jittery[] = "%s --cluster abci-v100 --gpus 128 --trace resnet50-v1.5 %s";
    CLI_SAME(cli_rows(jittery, "predict", "--jitter 0.03"), 1,
             cli_rows(jittery, "sweep", "--jitter 0.03 --algorithms all --shapes all --best"), 1,
             "iteration_s"); /* what cannot be faster is not run with its jitter */
}

Test(cli_collectives, what_does_not_belong_together_is_one_line)
{
    static const char *const rows[][2] = {
        {"allreduce --cluster flat --gpus 4 --payload 1MB --root 0", "unknown option \"--root\""},
        {"allreduce --cluster abci-v100-nccl2.8 --mesh dp=8,tp=4 --along dp --engine library "
         "--algorithm torus2d --payload 1MB",
         "engine library: found torus2d in 4 groups at once; expected auto, ring or tree there"},
        {"predict --cluster flat --gpus 4 --algorithm ring --trace trace.csv --mesh dp=4",
         "--mesh: found with a trace; expected none there"},
        {"explain --cluster flat --gpus 4", "found neither --payload nor --trace"},
        {"explain --cluster flat --gpus 4 --payload 1MB --batch 3", "found --batch"},
        {"sweep --cluster flat --gpus 4 --trace trace.csv --operation allgather",
         "--operation: found with a trace"},
        {"sweep --cluster flat --gpus 4 --operation allgather",
         "--trace is missing, and --payload"},
        {"sweep --cluster flat --gpus 4 --operation allgather --payload 1MB --root 1",
         "--root: found with allgather; expected none there"},
        {"sweep --cluster flat --gpus 4 --payload 1MB --bucket one",
         "--bucket; expected none with"},
        {"allreduce --cluster flat --gpus 8 --payload 1MB --algorithm in-network",
         "found no switch of the network that sums; expected fabric = fat-tree and fabric.sums"},
        {"allgather --cluster flat --gpus 8 --payload 1MB --algorithm in-network --set "
         "fabric.sums=yes --set rack.nodes=4 --set rack.uplinks=4 --set "
         "rack.uplink_bandwidth=1GB/s",
         "GPUs 3 and 4 of a row: found several switches between them; expected one"},
        {"allreduce --cluster flat --gpus 4 --payload 1MB --algorithm ring --set nvlink.sums=yes",
         "key \"nvlink.sums\": found \"yes\"; expected no, or nvlink.pairs = switch"},
        {"allreduce --cluster flat --gpus 4 --payload 1MB --algorithm ring --set fabric.sums=yes "
         "--set fabric=torus --set torus.lengths=4 --set nodes=4 --set torus.link_bandwidth=1GB/s",
         "key \"fabric.sums\": found \"yes\"; expected no, or fabric = fat-tree"},
    };
    CLI_REFUSE(64, "", rows);
}

/* NCCL 2.3 has rings alone; the answer says who runs the winner. */
Test(cli_collectives, a_library_and_its_release_limit_the_choice)
{
    static const char line[] = "allreduce --cluster dgx-h100 --gpus 64 --payload 1MiB --quiet "
                               "--runnable-by %s";
    static const struct {
        const char *library, *algorithm, *runnable_by;
    } rows[] = {{"nccl-2.23", "tree", "nccl-2.4 rccl-2.4"},
                {"nccl-2.3", "ring", "nccl-2.3 rccl-2.3 openmpi-4.1"},
                {"mpich", "recursive-doubling", "openmpi-4.1 mpich-4.1"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cli_table *table = cli_rows(line, rows[i].library);
        CLI_CELL(table, 1, "algorithm", rows[i].algorithm, "runnable_by", rows[i].runnable_by);
    }
    static const char *const refused[][2] = {
        {"alltoall --cluster dgx-h100 --gpus 16 --payload 1MiB --runnable-by nccl-2.23",
         "found nccl-2.23, which by itself runs no algorithm of alltoall"},
        {"allreduce --cluster dgx-h100 --gpus 16 --payload 1MiB --runnable-by mpich --algorithm "
         "ring",
         "which does not run ring of allreduce by itself, unlike nccl-2.3 rccl-2.3 openmpi-4.1"},
    };
    CLI_REFUSE(64, "", refused);
    struct cli_table *sweep = cli_rows("sweep --cluster dgx-h100 --operation allgather,allreduce "
                                       "--gpus 16 --payload 1MiB --runnable-by nccl-2.13 --quiet");
    cr_expect_eq(sweep->rows_count, 4, "two rings and a tree");
}

Test(cli_collectives, pairs_without_an_algorithm_are_noted)
{
    CLI_NOTES("sweep --cluster flat --operation gather,allreduce,allgather "
              "--algorithms ring,binomial --gpus 4 --payload 1MiB",
              "left out, since there is no such algorithm: ring of gather, binomial of "
              "allreduce, binomial of allgather\n");
    CLI_LACKS(cli_good("$AR sweep --cluster flat --operation gather,allreduce --gpus 4 --payload "
                       "1MiB")
                  .err,
              "no such algorithm");
}
