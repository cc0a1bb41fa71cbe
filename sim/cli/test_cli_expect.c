/* expect: what a machine should give, and what is most likely wrong with it. */
#include <math.h>

#include "test_cli.h"

#define SETS    AR_TEST_SOURCE_DIR "/validate/data/collectives/"
#define FIXTURE AR_TEST_SOURCE_DIR "/traces/logs/fixtures/"
#define FITTED  " --cluster abci-v100-nccl2.8"

/* Writes measured times that an action of awk changes. */
static void write_changed(const char *path, const char *action)
{
    cli_good("awk -F, 'BEGIN {OFS = \",\"} %s {print}' %s >%s", action, CLI_MEASURED, path);
}

/* slow.csv: the times of several nodes are up to doubled, half of it at 1 MiB. */
static void enter_expect(void)
{
    cli_enter_measured();
    write_changed("slow.csv", "/^[248]/ {f = 1 + $3 / ($3 + 1048576); $4 *= f; $5 *= f}");
}

TestSuite(cli_expect, .init = enter_expect, .fini = cli_leave);

Test(cli_expect, a_machine_that_is_as_it_should_be_has_nothing_wrong, CLI_NO_NEW_CODE)
{
    struct cli_table *rows = cli_rows("expect abci.csv" FITTED);
    struct cli_table *compared = cli_rows("compare abci.csv" FITTED);
    size_t as_expected = 0;
    cr_assert_eq(rows->rows_count, 1 + 96);
    for (size_t i = 1; i < rows->rows_count; i++) {
        double ratio = cli_number(rows, i, "expected_s") / cli_number(rows, i, "measured_s");
        CLI_CELL(rows, i, "expected_s", cli_cell(compared, i, "predicted_s"));
        CLI_NEAR(rows, i, "ratio_frac", ratio, 1e-7);
        as_expected += strcmp(cli_cell(rows, i, "verdict"), "as expected") == 0;
    }
    cr_expect_geq(as_expected, 80);
    CLI_SHOWS("expect abci.csv" FITTED, "of 96 rows are as fast as this machine should be",
              "fitted to measured rows; 96 rows\n");
    CLI_SHOWS("expect h100_1n_nccl2.27 --cluster dgx-h100", "251 of 252 rows are as fast",
              "If anything, NVLS is off");
}

Test(cli_expect, rows_of_half_the_rate_across_nodes_suspect_the_network, CLI_NO_NEW_CODE)
{
    struct cli_table *rows = cli_rows("expect slow.csv" FITTED);
    for (size_t i = 1; i < rows->rows_count; i++) {
        bool is_slow =
            cli_number(rows, i, "nodes") > 1 && cli_number(rows, i, "payload_bytes") >= 1048576;
        if (is_slow) {
            CLI_CELL(rows, i, "verdict", "slow");
        }
    }
    cli_good("$AR expect slow.csv" FITTED " --out out");
    struct cli_table *suspects = cli_table(cli_read("out/suspects.csv"));
    const char *first = cli_cell(suspects, 1, "suspect");
    /* A slow cable, another job and slow HCAs slow rings across nodes alike. */
    cr_expect(strstr("hca shared slow-cable", first) != NULL, "%s", first);
    cr_expect_geq(cli_lines_with(cli_read("out/suspects.csv"), ",yes,"), 2);
    cr_expect_gt(cli_number(suspects, 1, "explained_frac"), 0.5);
    double sum = 0;
    for (size_t i = 1; i < suspects->rows_count; i++) {
        sum += cli_number(suspects, i, "likely_frac");
    }
    /* They explain most, though rows below 1 MiB do not feel the part that they should. */
    CLI_CELL(suspects, cli_row(suspects, "suspect", "hca"), "is_equal", "yes");
    cr_expect_float_eq(sum, 1, 1e-6);
    cr_expect_eq(cli_table(cli_read("out/expect.csv"))->rows_count, 1 + 96);
    cr_expect_eq(cli_table(cli_read("out/compare.csv"))->rows_count, 1 + 96);
}

Test(cli_expect, a_requirement_that_is_not_met_ends_with_exit_code_1)
{
    cli_good("$AR expect abci.csv" FITTED " --require 0.6");
    cli_good("$AR expect slow.csv" FITTED " --require 0.3");
    struct cli_run run =
        cli_run("$AR expect slow.csv" FITTED " --quiet --require 0.9 --format csv");
    cr_expect_eq(run.code, 1, "%d", run.code);
    CLI_HAS(run.err, "allreckon: --require: ");
    CLI_HAS(run.err, "below 0.9 of what is expected; the worst, allreduce of ");
    CLI_LINES(run.out, "allreduce,", 96); /* rows are there nevertheless */
    cli_good("grep -E '^#|^nodes|^8,32,(4|8|16|1024),' abci.csv >small.csv");
    cli_fails(65, "--require: found no row from 1 MiB on; expected some",
              "$AR expect small.csv" FITTED " --require 0.9 >/dev/null");
}

/* Without NVLinks small calls in a node take longer, too: hops by PCIe do. */
Test(cli_expect, missing_nvlinks_slow_small_calls_of_a_node_too, CLI_NO_NEW_CODE)
{
    write_changed("pcie.csv", "/^1,/ {f = $3 < 131072 ? 1.7 : 4; $4 *= f; $5 *= f}");
    cli_good("$AR expect pcie.csv" FITTED " --out out");
    struct cli_table *suspects = cli_table(cli_read("out/suspects.csv"));
    struct cli_table *rows = cli_table(cli_read("out/expect.csv"));
    CLI_CELL(suspects, 1, "suspect", "p2p-off");
    cr_expect_gt(cli_number(rows, 1, "suspect_s"), 1.2 * cli_number(rows, 1, "expected_s"));
}

Test(cli_expect, suspects_that_rows_cannot_show_are_named, CLI_NO_NEW_CODE)
{
    CLI_SHOWS("expect abci.csv" FITTED, "these rows cannot show: uplinks, nvls-off, sharp-off");
    cli_good("grep -E '^#|^nodes|^1,' abci.csv >node.csv");
    cli_good("$AR expect node.csv" FITTED " --out out");
    const char *unseen = cli_cell(cli_table(cli_read("out/answer.csv")), 1, "unseen");
    CLI_HAS(unseen, "hca", "net-latency");
    cr_expect(strstr(unseen, "nvlink") == NULL, "%s", unseen);
}

/* Calls that begin later make small sizes slow, also where nothing is fitted. */
Test(cli_expect, late_calls_are_found_on_a_machine_that_nobody_fitted)
{
    cli_good(
        "awk -F, 'BEGIN {OFS = \",\"} /^#|^coll/ {print; next} $4 >= 1024 {$5 += 20; print}' " SETS
        "dgx_h100_1n.csv >late.csv");
    cli_good("$AR expect late.csv --cluster dgx-h100 --out out");
    /* protocol LL alone makes small sizes as slow */
    CLI_COUNTS(cli_read("out/suspects.csv"), {"setup,4,0", 1}, {",yes,", 2});
    /* but, half of its lines being flags, cannot be as fast as rings of 350 GB/s */
    cli_good("(head -2 late.csv | grep coll; for i in 1 4 16 64 256 1024; do echo "
             "allreduce,8,1,$((i * 1048576)),$((25 + i * 5)); done) >rings.csv");
    cli_good("$AR expect rings.csv --cluster dgx-h100 --out out --force");
    CLI_LINES(cli_read("out/suspects.csv"), "ll-only,2", 0);
    cli_good("awk -F, -v OFS=, 'NR > 1 {$5 *= 9} {print}' rings.csv >host.csv");
    cli_good("$AR expect host.csv --cluster dgx-h100 --out out --force");
    CLI_CELL(cli_table(cli_read("out/suspects.csv")), 1, "suspect", "p2p-off");
}

/* The library went by sockets on the same machine later. The rows that the fit was made of tell
 * what the fit errs by; without them unused HCAs are as good. */
Test(cli_expect, rows_of_a_sound_machine_in_its_table_tell_suspects_apart)
{
    static const char *const first[] = {"sockets", "hca"};
    cli_good("$AR calibrate " SETS "alcf_polaris_a100_nccl218.csv --cluster polaris --hold-out "
             "none --out sound.topo --quiet");
    for (size_t i = 0; i < 2; i++) {
        cli_good("$AR expect " SETS
                 "alcf_polaris_a100_tcp.csv --cluster sound.topo --out out --force");
        CLI_CELL(cli_table(cli_read("out/suspects.csv")), 1, "suspect", first[i]);
        cli_good("sed -i '/^# row: /d' sound.library.csv");
    }
}

/* A cable of the first node: rings take four times as long, trees, which send less by it, 2.2
 * times. If trees waited as rings do, the cable would be a tenth as likely. */
Test(cli_expect, trees_may_wait_less_for_a_slow_cable_than_rings, CLI_NO_NEW_CODE)
{
    cli_good("$AR calibrate " SETS "mn5_h100_nccl_auto.csv --cluster mn5 --hold-out none --out "
             "sound.topo --quiet");
    cli_good("$AR expect " SETS "mn5_h100_nccl_auto.csv --cluster sound.topo --out out");
    cli_good("awk -F, 'NR == 1 {print \"nodes,gpus,payload_bytes,time_out_of_place_us,"
             "time_in_place_us\"} NR > 1 {f = $4 < 1048576 ? 1 : $5 ~ /tree/ ? 2.2 : 4; print "
             "$2 \",\" $3 \",\" $4 \",\" $6 * 1e6 * f \",\"}' out/expect.csv >slow.csv");
    cli_good("$AR expect slow.csv --cluster sound.topo --out out --force");
    struct cli_table *suspects = cli_table(cli_read("out/suspects.csv"));
    size_t cable = cli_row(suspects, "suspect", "slow-cable");
    cr_expect_gt(cli_number(suspects, cable, "likely_frac"), 0.001);
}

/* Times of ABCI that are changed as a cause changes them, and sets with a cause that is known:
 * racks of two nodes whose uplinks have half of the rate; a job that takes another share of the
 * network from row to row, and is not a slow HCA; NCCL
 * that was forced to rings, to trees and to nothing in the same allocation of MareNostrum 5;
 * machines that nothing was fitted to, where a suspect that explains next to nothing is none. Only
 * switches of InfiniBand sum. Sanitizers take every eighth. */
Test(cli_expect, the_first_suspect_is_what_was_changed)
{
    static const struct {
        const char *change, *what, *first; /* of each line, by awk; arguments; NULL: any */
    } cases[] = {
        {"/^[48],/ && $3 >= 1048576 {$4 *= 2; $5 *= 2}",
         "changed.csv" FITTED " --set rack.nodes=2 --set rack.uplinks=4 --set "
         "rack.uplink_bandwidth=10.227GB/s",
         "uplinks"},
        {"/^[248],/ && $3 >= 1048576 {f = 1 + (NR * 7 % 10) / 7; $4 *= f; $5 *= f}",
         "changed.csv" FITTED, "shared"},
        {NULL, "mn5_h100_nccl_ring", "ring-only"},
        {NULL, "mn5_h100_nccl_tree", "tree-only"},
        {NULL, "mn5_h100_nccl_auto", "nothing"},
        {NULL, SETS "aws_p6_b200_1n_4n_stas00.csv --cluster aws-p6-b200", "nothing"},
        {NULL, SETS "oci_a100_2n.csv --cluster oci-a100", "nothing"},
        {NULL, SETS "aws_p4de_a100_2n.csv --cluster aws-p4de", NULL},
        {NULL, SETS "alcf_polaris_a100_tcp.csv --cluster polaris", "sockets"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i += AR_TEST_STRIDE) {
        if (cases[i].change != NULL) {
            write_changed("changed.csv", cases[i].change);
        }
        cli_good("$AR expect %s --out out --force", cases[i].what);
        struct cli_table *suspects = cli_table(cli_read("out/suspects.csv"));
        CLI_CELL(suspects, 1, "suspect",
                 cases[i].first != NULL ? cases[i].first : cli_cell(suspects, 1, "suspect"));
        for (size_t k = 1; k < suspects->rows_count; k++) {
            const char *name = cli_cell(suspects, k, "suspect");
            double explained_frac = cli_number(suspects, k, "explained_frac");
            cr_expect(cases[i].change != NULL || strcmp(name, "nothing") == 0 ||
                          explained_frac > 0.2,
                      "%s: %s", cases[i].what, name);
            cr_expect(strcmp(name, "hca") != 0 || cli_number(suspects, k, "factor") != 0.875);
            cr_expect(cases[i].first != NULL || strcmp(name, "sharp-on") != 0, "on EFA");
        }
    }
}

/* Rows alone suspect NVLS, and the log says that it is connected. Lines of another job and one that
 * is cut say nothing; sockets explain too little; one run without messages rules nothing out. HCAs
 * explain little of such rows: they are also tried with slower ones of middling size. */
Test(cli_expect, messages_of_nccl_name_suspects_or_rule_them_out, CLI_NO_NEW_CODE)
{
    static const char slower[] =
        "NF > 12 && $1 > 4e6 && $1 < 1e8 {for (k = 6; k < 13; k++) $k *= k % 4 == 2 ? 1.6 : 0.625}";
    static const char *const cases[][4] = {
        /* what sed makes of it, the first suspect, the log, what awk makes of it */
        {"/NCCL INFO/d", "nvls-off", ""},
        {"", "tree-only",
         "(info.log:29), not sockets (info.log:29), not p2p-off (info.log:36), not nvls-off"},
        {"s:IB/1/GDRDMA:IB/1:", "gpudirect-off",
         "gpudirect-off (info.log:31: Channel 01/0 : 8[0] -> 0[0] [receive] via NET/IB/1)", slower},
        {"s/ .4.mlx5_4.*IB .RO/ [RO/", "hca",
         "hca (info.log:24: NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB "
         "[3]mlx5_3:1/IB [RO]; OOB eth0:10.0.0.1<0>)",
         slower},
        {"s/ .4.mlx5_4.*IB .RO/ [RO/;s/node\\(. device  [4-7]\\)/more\\1/", "nothing",
         "not gpudirect-off (info.log:29), not sockets", slower}, /* on half of four nodes' GPUs */
        {"s:IB/[01]/GDRDMA:Socket/0:", "tree-only", "sockets (info.log:29: Channel 00/0"},
        {"s/Using non-.*/NCCL_ALGO set by environment to Ring,Tree/", "nvls-off",
         ", nvls-off (info.log:25: NCCL_ALGO set by environment to Ring,Tree)"},
        {"/NCCL INFO/d;$r " FIXTURE "nccl-info.txt", "nvls-off", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cli_good("sed '%s' " FIXTURE
                 "nccl-info.txt | awk '%s 1' >new.log && mv new.log info.log && "
                 "$AR expect info.log --cluster dgx-h100 --out out --force",
                 cases[i][0], cases[i][3] != NULL ? cases[i][3] : "");
        const char *log = cli_cell(cli_table(cli_read("out/answer.csv")), 1, "log");
        struct cli_table *suspects = cli_table(cli_read("out/suspects.csv"));
        CLI_CELL(suspects, 1, "suspect", cases[i][1]);
        cr_expect_geq(cli_number(suspects, 1, "likely_frac"),
                      cli_number(suspects, 2, "likely_frac"));
        cr_expect(cases[i][2][0] != '\0' ? strstr(log, cases[i][2]) != NULL : log[0] == '\0', "%s",
                  log);
    }
}

/* Also of all-to-alls in a node, which are calls. */
Test(cli_expect, what_is_expected_without_a_fit_is_what_is_predicted)
{
    struct cli_table *rows = cli_rows("expect h100_1n_nccl2.27");
    struct cli_table *compared = cli_rows("compare " SETS "h100_1n_nccl2.27.csv --cluster dgx-h100 "
                                          "--set library.release=2.27.3");
    struct cli_table *by_nccl =
        cli_rows("compare " SETS "h100_1n_nccl2.27.csv --cluster dgx-h100 --engine nccl");
    size_t alike = 0;
    cr_assert_eq(rows->rows_count, compared->rows_count);
    for (size_t i = 1; i < rows->rows_count; i++) {
        double payload = cli_number(rows, i, "payload_bytes");
        double expected_s = cli_number(rows, i, "expected_s");
        cr_expect_float_eq(expected_s, cli_number(compared, i, "predicted_s"), 1e-9 * expected_s);
        cr_expect_gt(cli_number(by_nccl, i, "predicted_s"), 0);
        if (strcmp(cli_cell(rows, i, "operation"), "alltoall") != 0 ||
            cli_number(rows, i, "gpus") != 8 || (payload != 65536 && payload != 16777216)) {
            continue;
        }
        static const char line[] = "alltoall --cluster dgx-h100 --gpus 8 --precision fp32 --engine "
                                   "library --set library.release=2.27.3 --payload %.0fB";
        alike += fabs(expected_s / cli_value("allreduce_s", line, payload) - 1) < 1e-6;
    }
    cr_expect_eq(alike, 2);
}

Test(cli_expect, a_cluster_may_be_an_argument_and_a_log_of_one_size_rests_on_little)
{
    cli_good("grep -E '^#|^nodes|^8,32,1048576,' abci.csv >one.csv");
    struct cli_run run = cli_good("$AR expect one.csv ./cluster.topo");
    CLI_HAS(run.out, "1 row of one size: suspects cannot be told apart\n");
    CLI_LINES(run.out, "allreduce", 1);
}

/* Every second row is in milliseconds. */
Test(cli_expect, rows_of_other_units_are_not_called_slow_alone)
{
    write_changed("mixed.csv", "/^8,32,(1048576|4194304),/ {$4 *= 1000; $5 *= 1000}");
    CLI_SHOWS("expect mixed.csv" FITTED, "(check the units of these rows)");
    cli_write("few.csv", "collective,gpus,nodes,payload_bytes,time_us\n"
                         "allreduce,256,32,1048576,14700\n");
    CLI_SHOWS("expect few.csv --cluster dgx-h100", "a wrong expectation");
    CLI_SHOWS("expect gcp_a3high_h100_2n_allgather", "% likely none of the suspects, else ");
}

Test(cli_expect, what_is_assumed_of_logs_and_machines_is_said)
{
    static const struct cli_saying rows[] = {
        {"mn5_h100_mpi_hier_bw --quiet",
         "expected: engine recurrence, cluster mn5, messages on its links", 1},
        {"abci.csv --cluster abci-v100 --engine nccl",
         "expected: engine nccl, cluster abci-v100, nothing fitted: constants of nccl-2.8.4", 1},
        {"mn5_h100_nccl_auto",
         "nothing fitted here: what 37 sets of other machines tell, constants of nccl-2.19.4", 1},
        {"mn5_h100_nccl_auto", "its machine tells what is expected", 1},
        {FIXTURE "osu-allreduce-full.txt --cluster abci-v100 --nodes 2",
         "are of OSU's test of MPI-CUDA, not of NCCL: they are priced as calls of NCCL", 1},
        {"osu.txt --cluster abci-v100 --nodes 2 --format csv", "allgather,2,8,2097152,", 1},
        {FIXTURE "nccl-12-all-to-all.txt --cluster dgx2-v100",
         "do not say of which collective they are: these are taken for all-to-all", 1},
        {"alltoall_perf.log --cluster dgx2-v100", "are taken for all-to-all", 1},
        {"graph.log --cluster leonardo", "calls in a CUDA graph (-G): small ones", 1},
        {"graph.log --cluster leonardo", "closing lines (cut off, or copied in part); rows", 1},
        {FIXTURE "nccl-13-all-gather.txt --cluster leonardo", "CUDA graph", 0},
        {"sent.csv --cluster dgx-a100", "1024      56.6      69.5", 1},  /* alone as */
        {SETS "alcf_sophia_dgxa100.csv", "1024      56.6      69.5", 1}, /* beside calls */
        {"sent.csv --cluster dgx-a100", "nothing fitted here: what 37 sets of other machines", 1},
        {"abci.csv" FITTED, "they are", 0},
        {FIXTURE "nccl-json-3.json --cluster dgx-h100", "constants of nccl-2.28.9", 1},
        {FIXTURE "nccl-json-3.json --cluster dgx-h100 --tuning 2.19.4", "constants of nccl-2.19.4",
         1},
        {"new.json --cluster dgx-h100",
         "release 9.99.1 of the log is not known; constants are those of 2.21.5", 1},
    };
    cli_good("sed 's/22809/99901/' " FIXTURE "nccl-json-3.json >new.json"); /* 2.28.9 */
    cli_good("grep -E '^coll|^alltoall,16' " SETS "alcf_sophia_dgxa100.csv >sent.csv");
    cli_good("sed 1d " FIXTURE "nccl-12-all-to-all.txt >alltoall_perf.log");
    cli_good("sed 's/ph: 0/ph: 2/; /^# [OA]/d' " FIXTURE "nccl-13-all-gather.txt >graph.log");
    cli_good("sed 's/Allreduce/Allgather/' " FIXTURE "osu-allreduce-full.txt >osu.txt");
    CLI_SAYS("expect", rows);
    cli_fails(65, "found GPU \"Tesla V100-SXM2-16GB\"; expected \"NVIDIA A100-SXM4-80GB\"",
              "$AR expect %s --cluster dgx-a100", FIXTURE "nccl-three-runs.txt");
}

/* `discover` writes all that `expect` needs to know of a cluster. */
Test(cli_expect, a_discovered_cluster_has_what_the_library_needs)
{
    cli_good("$AR discover " AR_TEST_SOURCE_DIR "/topologies/readers/fixtures/switch.xml --nodes 2 "
             "--fabric non-blocking --out found.topo --quiet");
    cli_good("sed 's/Tesla V100-SXM2-16GB/NVIDIA A100-SXM4-80GB/' " FIXTURE "nccl-three-runs.txt "
             ">log.txt");
    CLI_SHOWS("expect log.txt found.topo", "cluster found, nothing fitted");
    cli_fails(65,
              "is of GPU \"NVIDIA A100-SXM4-80GB\" and cluster mi300x of \"AMD Instinct MI300X\"",
              "$AR expect log.txt --cluster mi300x");
    cli_good("$AR expect log.txt --cluster dgx-h100 --set gpu.model=A100");
    cli_good("sed s/SXM4-80GB/PCIE-40GB/ log.txt >pcie.txt && "
             "sed 's/A100-SXM4-80GB/GeForce RTX 4090/' log.txt >4090.txt");
    cli_fails(65, "A100-PCIE-40GB\" and cluster dgx-a100 of",
              "$AR expect pcie.txt --cluster dgx-a100");
    cli_fails(65, "4090\" and cluster dgx-h100 of", "$AR expect 4090.txt --cluster dgx-h100");
}

Test(cli_expect, operations_that_nobody_models_are_left_out_and_messages_are_timed)
{
    struct cli_run run =
        cli_good("$AR expect %s --cluster dgx2-v100 --out out", FIXTURE "nccl-12-all-to-all.txt");
    CLI_HAS(run.err, "engine recurrence times messages");
    CLI_HAS(cli_read("out/answer.csv"), "All 4 rows are as fast as this machine should be");
    cli_good("$AR report out");
    CLI_HAS(cli_read("out/report.html"), "As fast as it should be?");
    cli_good("cat %s %s >both.txt", FIXTURE "nccl-13-sendrecv.txt", FIXTURE "nccl-13-reduce.txt");
    CLI_NOTES("expect both.txt --cluster dgx-a100", "send-receive on ",
              "of operations that are not modelled");
}

/* Routes across 32 x 512 routers are longer than a path may be. */
Test(cli_expect, a_shape_that_cannot_be_routed_is_left_out_alone)
{
    cli_good("printf '%%s\\n' system,collective,nodes,tasks_per_node,algorithm,payload_bytes,"
             "median_us fugaku,allgather,4x4x4,1,default-ring,65536,400 "
             "fugaku,allgather,32x512,1,default-ring,65536,500 >torus.csv");
    struct cli_run run =
        cli_good("$AR expect torus.csv --cluster fugaku --set torus.lengths=4x4x4 --format csv");
    CLI_LINES(run.out, "allgather,64,64,", 1);
    CLI_HAS(run.err, "1 rows not used (first torus.csv:3, all-gather default-ring on 16384 ranks): "
                     "of shapes of nodes that no cluster here can have");
    CLI_HAS(run.err, "found \"32x512\"; expected lengths with routes of at most");
    cli_good("sed -i 2d torus.csv");
    cli_fails(65, "found shapes of nodes that no cluster here can have",
              "$AR expect torus.csv --cluster fugaku --set torus.lengths=4x4x4");
}

/* The rate of the second row is inside its band, but above that of the HCAs of its nodes. */
Test(cli_expect, rates_that_hcas_cannot_carry_are_not_as_expected)
{
    cli_good("printf 'collective,gpus,nodes,payload_bytes,time_us\\nallgather,64,16,1073741824,%%s"
             "\\n' 11000 >good.csv && sed s/11000/6000/ good.csv >above.csv");
    CLI_LINES(cli_good("$AR expect good.csv --cluster mn5 --format csv").out, ",as expected,", 1);
    struct cli_run run = cli_good("$AR expect above.csv --cluster mn5 --format csv");
    CLI_LINES(run.out, ",fast: check units,", 1);
    CLI_HAS(run.err, "1 of 1 row is faster than this machine should be");
    cli_good(
        "for i in 2 4 8 16 32; do echo allgather,64,16,$((1073741824 / i)),$((11000 / i)); done "
        ">>above.csv");
    CLI_SHOWS("expect above.csv --cluster mn5 --quiet",
              "1 of 6 rows is faster than this machine should be: check units");
}

Test(cli_expect, each_log_may_have_its_own_number_of_nodes)
{
    cli_good("cp %s one.txt && cp one.txt other.txt", FIXTURE "osu-allreduce-full.txt");
    const char *rows =
        cli_good("$AR expect one.txt other.txt --cluster abci-v100 --nodes 4,2 --format csv").out;
    CLI_COUNTS(rows, {"allreduce,4,16,", 5}, {"allreduce,2,8,", 5});
    cli_fails(64, "--nodes: found 3 counts and 2 logs; expected one count, or one for each log",
              "$AR expect one.txt other.txt --cluster abci-v100 --nodes 2,4,8");
}

/* The document has the sentence, what it cannot tell apart, all rows and all suspects. */
Test(cli_expect, json_and_the_picture_have_the_answer)
{
    const char *json = cli_good("$AR expect slow.csv" FITTED " --format json --out out").out;
    cr_expect_eq(strncmp(json, "{\"answer\": \"All-reduce on ", 26), 0);
    CLI_COUNTS(json, {"  {\"operation\": ", 96},
               {"  {\"suspect\": ", cli_table(cli_read("out/suspects.csv"))->rows_count - 1});
    CLI_HAS(json, "\n\"alike\": \"", "\n\"unseen\": \"");
    CLI_HAS(cli_read("out/answer.csv"), "answer,alike,unseen,log,basis");
    struct cli_table *suspects = cli_table(cli_read("out/suspects.csv"));
    char dots[80];
    snprintf(dots, sizeof dots, "dots: if it is %s", cli_cell(suspects, 1, "suspect"));
    CLI_HAS(cli_read("out/expect_time.svg"), dots);
}

Test(cli_expect, wrong_input_is_one_line)
{
    static const char *const usage[][2] = {
        {"--cluster abci-v100 --require 0", "--require: found \"0\""},
        {"--cluster abci-v100 --engine simgrid",
         "--engine: found simgrid; expected library or nccl"}};
    CLI_REFUSE(64, "expect slow.csv", usage);
    cli_fails(64, "expect: found no log; expected one beside ./cluster.topo",
              "$AR expect ./cluster.topo");
    cli_fails(66, "none.log", "$AR expect none.log --cluster abci-v100");
}
