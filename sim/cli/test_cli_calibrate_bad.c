/* calibrate, compare and the engine library on bad input: one line, and no file. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "test_cli.h"

static void enter(void)
{
    char path[1024];
    cli_enter_measured();
    cli_good("cp '%s'/nccl-*.txt '%s'/osu-*.txt '%s'/harness*.csv .",
             cli_source("traces/logs/fixtures", path, sizeof path), path, path);
    cli_good("$AR calibrate abci.csv --cluster abci-v100 --out fitted.topo");
    /* Damaged copies of the measurements. */
    cli_good("sed 's/^8,32,4,41.36/8,32,4,0/' abci.csv > zero.csv");
    cli_good("sed 's/^8,32,4,41.36/8,32,4,-41.36/' abci.csv > negative.csv");
    cli_good("head -c 1000 abci.csv > cut.csv");
    cli_good("grep -E '^[#n]|^1,4,4,|^1,4,8,' abci.csv > few.csv");
    cli_good("grep -E '^[#n]|^[1248],[0-9]*,1024,' abci.csv > size.csv && grep '^8,32,1024,' "
             "size.csv > more && for i in 1 2 3 4 5 6; do cat more; done >> size.csv");
    cli_good("sed 's/^8,32,/8,33,/' abci.csv > ranks.csv");
    cli_good("sed 's/^8,32,/8,64,/' abci.csv > dense.csv");
    cli_good("sed 's/^8,32,/2000,8000,/' abci.csv > many.csv");
    cli_good("grep -v '^8' abci.csv | cut -d, -f1-4 > out-of-place.csv");
    cli_good("grep -v ^library cluster.topo > bare.topo");
    cli_good("awk -F, '/^[0-9]/ {$4 = 1e6 / (1 + $3)} {print}' OFS=, abci.csv > garbage.csv");
    cli_good("head -14 nccl-13-root.txt > truncated.txt");
    cli_good("sed 's/A100/H100/' nccl-13-root.txt > other-gpu.txt");
}

TestSuite(cli_calibrate_bad, .init = enter, .fini = cli_leave);

#define FIT "--cluster abci-v100 --out x.topo"

Test(cli_calibrate_bad, logs)
{
    static const struct cli_case rows[] = {
        {"calibrate " FIT, 64, "calibrate: no log; expected files"},
        {"calibrate nowhere.log " FIT, 66, "nowhere.log: No such file"},
        {"calibrate nowhere.log", 66, "nowhere.log: No such file"},
        {"compare nowhere.csv", 66, "nowhere.csv: No such file"},
        {"compare nccl-12-all-to-all.txt --cluster abci-v100 --engine closed --algorithm ring", 65,
         "found rows of alltoall, which has no algorithm \"ring\""},
        {"calibrate cluster.topo " FIT, 65, "cluster.topo:"},
        {"calibrate abci.csv abci.csv " FIT, 64, "found log \"abci.csv\" twice; expected once"},
        {"calibrate nccl-13-sendrecv.txt " FIT, 65, ":1: a run of send-receive; expected"},
        {"calibrate nccl-17-alltoall.txt --cluster dgx-h100 --out x.topo", 65,
         "found 8 ranks on 2 nodes of 8 GPUs; expected full nodes (--set gpus_per_node=4 --set "
         "pcie.switches=4 --set hcas=4?)"},
        {"calibrate nccl-three-runs.txt " FIT, 65, ":61: found GPU \"Tesla V100"},
        {"calibrate osu-latency-bw.txt " FIT, 64, "--pair: found none; expected nvlink, pcie or"},
        {"calibrate osu-allreduce.txt " FIT, 65, "does not say how many ranks"},
        {"calibrate nccl-failed-then-good.txt " FIT, 65, "a run without rows"},
        {"calibrate truncated.txt " FIT, 65, "truncated.txt"},
        {"calibrate cut.csv " FIT, 65, "cut.csv:"},
        {"calibrate zero.csv " FIT, 65, "\"time_out_of_place_us\" is \"0\"; expected a time"},
        {"calibrate negative.csv " FIT, 65, "is \"-41.36\"; expected a time above zero"},
        {"calibrate few.csv " FIT, 65, "found 2 rows to fit; expected at least 3"},
        {"calibrate size.csv " FIT " --hold-out none", 65, "found one size, 1024 bytes"},
        {"calibrate ranks.csv " FIT, 65, "found 33 ranks on 8 nodes; expected equally many"},
        {"calibrate dense.csv " FIT, 65, "found 64 ranks on 8 nodes; expected equally many"},
        {"calibrate many.csv " FIT, 65, "found 2000 nodes; expected at most 1088"},
        {"calibrate garbage.csv " FIT, 65, "fit: found a residual of"},
        {"calibrate harness.csv " FIT, 65, "found 8 ranks on 1 node; expected equally many"},
        {"calibrate harness-other-order.csv " FIT " --quiet", 65,
         "found no collective in the logs that is modelled"},
        {"calibrate nccl-13-root.txt other-gpu.txt " FIT, 65, "as in the runs before"},
        {"calibrate out-of-place.csv " FIT " --time in-place", 65,
         "found no time for --time in-place; expected one in every row"},
    };
    CLI_FAIL_ALL("", rows);
}

Test(cli_calibrate_bad, options)
{
    static const struct cli_case rows[] = {
        {"calibrate abci.csv", 64, "option --cluster is missing"},
        {"calibrate abci.csv --cluster ./bare.topo", 65,
         "key \"library.node_bus\": found nowhere; expected the bandwidth of the rings"},
        {"calibrate abci.csv --cluster ./bare.topo --set library.node_bus=132GB/s", 65,
         "key \"library.net_bus\": found nowhere"},
        {"calibrate abci.csv --cluster flat", 65, "found 4 ranks on 1 node; expected"},
        {"calibrate abci.csv --cluster abci-v100 --set library.node_bus=0GB/s", 64,
         "library.node_bus"},
        {"calibrate abci.csv " FIT " --hold-out 3", 64, "found 3 nodes, which no log has"},
        {"calibrate abci.csv " FIT " --hold-out x", 64, "--hold-out: found \"x\""},
        {"calibrate abci.csv " FIT " --hold-out 1,2,4,8", 64, "expected some left to fit"},
        {"calibrate abci.csv " FIT " --time best", 64, "expected out-of-place, in-place or mean"},
        {"calibrate abci.csv " FIT " --format xml", 64, "expected table, csv or json"},
        {"calibrate abci.csv " FIT " --engine closed", 64, "unknown option \"--engine\""},
        {"calibrate abci.csv --cluster abci-v100 --out x", 64, "\"x\"; expected NAME.topo"},
        {"calibrate abci.csv --cluster abci-v100 --out .topo", 64, "expected NAME.topo"},
        {"calibrate abci.csv --cluster abci-v100 --out 'a b.topo'", 64, "expected NAME.topo"},
        {"calibrate abci.csv --cluster abci-v100 --out no/where.topo", 74,
         "no/where.topo: cannot write"},
        {"calibrate abci.csv --cluster ./cluster.topo --out ./cluster.topo", 64,
         "the cluster that is calibrated; expected another file"},
    };
    CLI_FAIL_ALL("", rows);
    cli_good("grep -v '^[248],' abci.csv > one.csv");
    cli_fails(65, "--folds: without 1 nodes: fit: found 0 rows",
              "$AR calibrate one.csv " FIT " --folds --quiet");
}

/* Neither file is there alone. */
Test(cli_calibrate_bad, one_of_the_two_files_cannot_be_written)
{
    cli_good("mkdir -p a/x.library.csv b/x.topo");
    cli_fails(74, "a/x.library.csv: cannot write",
              "$AR calibrate abci.csv --cluster abci-v100 --out a/x.topo");
    cli_fails(74, "b/x.topo: cannot write",
              "$AR calibrate abci.csv --cluster abci-v100 --out b/x.topo");
    cr_expect_str_eq(cli_good("find a b -type f").out, "");
}

Test(cli_calibrate_bad, the_engine)
{
    static const struct cli_case rows[] = {
        {"allreduce --cluster abci-v100 --algorithm auto --engine library --gpus 8 --payload 1MiB",
         64, "has no library.cost_table; expected a cluster from 'allreckon calibrate"},
        {"allreduce --cluster fitted.topo --algorithm auto --engine library --check --gpus 8 "
         "--payload 1MiB",
         64, "engine simgrid makes no choice"},
        {"allreduce --cluster fitted.topo --set library.release=2.5.6 --algorithm auto --engine "
         "library --gpus 8 --payload 1MiB",
         65, "library.release: found 2.5.6; expected 2.8.4, with which the table fitted"},
        {"allreduce --cluster fitted.topo --algorithm auto --shape 2x4 --engine library --gpus 8 "
         "--payload 1MiB",
         64, "expected Nx1"},
        {"links --cluster fitted.topo --algorithm ring --engine library --gpus 8 --payload 1MiB",
         64, "links: --engine: found library"},
        {"export --format chrome-trace --cluster fitted.topo --algorithm ring --engine library "
         "--gpus 8 --trace trace.csv",
         64, "export: --engine: found library"},
        {"verify --algorithms auto --gpus 4", 64, "unknown algorithm \"auto\""},
        {"allreduce --cluster fitted.topo --set library.net_bus=50GB/s --algorithm auto --engine "
         "library --gpus 8 --payload 1MiB",
         65, "library.net_bus: found 50 GB/s; expected 24 GB/s, with which the table fitted"},
        {"allreduce --cluster fitted.topo --set library.cost_table=nowhere --algorithm auto "
         "--engine library --gpus 8 --payload 1MiB",
         66, ": library.cost_table: unknown library cost table \"nowhere\""},
    };
    CLI_FAIL_ALL("", rows);
    cli_good("sed -i 's/^ll.base,/ll.bass,/' fitted.library.csv");
    cli_fails(65, "column \"parameter\" is \"ll.bass\"; expected ll.base",
              "$AR allreduce --cluster fitted.topo --algorithm auto --engine library --gpus 8 "
              "--payload 1MiB");
}

Test(cli_calibrate_bad, compare)
{
    static const struct cli_case rows[] = {
        {"compare --cluster fitted.topo", 64, "compare: no log; expected files"},
        {"compare abci.csv --cluster leonardo-cpu --set gpus_per_node=4", 64,
         "has no library.cost_table"},
        {"compare zero.csv --cluster fitted.topo --out o", 65, "expected a time above zero"},
        {"compare nccl-13-sendrecv.txt --cluster fitted.topo --out o", 65, "a run of send-receive"},
        {"compare abci.csv", 64, "option --cluster is missing (abci.csv is no measured set"},
        {"compare abci_v100_nccl2.8.4_allreduce.csv --engine nccl", 64,
         "found --engine without --cluster"},
        {"accuracy nowhere", 66, "unknown set \"nowhere\""},
        {"compare abci.csv --cluster fitted.topo --algorithm torus3d", 64,
         "unknown algorithm \"torus3d\""},
        {"compare abci.csv --cluster fitted.topo --engine fast", 64, "unknown engine \"fast\""},
        {"compare abci.csv --cluster fitted.topo --engine closed --algorithm auto", 64,
         "engine closed makes no choice"},
        {"compare abci.csv --cluster fitted.topo --out abci.csv", 74,
         "abci.csv: found a file; expected a directory"},
    };
    CLI_FAIL_ALL("", rows);
}

/* Rows of our own rings: sizes in KiB, ranks, and an awk expression of the time in seconds. */
static void write_own(const char *sizes, const char *ranks, const char *time)
{
    cli_good("{ echo "
             "backend,algorithm,shape,channels,ranks,nodes,datatype,element_bytes,payload_bytes,"
             "repetitions,time_median_s,time_min_s,time_p10_s,time_p90_s,wrong,tier; "
             "for ranks in %s; do for kib in %s; do echo $kib $ranks; done; done | awk '{k = $1; t "
             "= sprintf(\"%%.17g\", %s); print \"host,ring,\" $2 \"x1,1,\" $2 \",1,fp32,4,\" k * "
             "1024 \",20,\" t \",\" t \",\" t \",\" t \",0,\"}'; } > own.csv",
             ranks, sizes, time);
}

#define SIZES "4 32 256 2048"

Test(cli_calibrate_bad, degenerate_rows_are_refused_in_one_line_and_leave_no_file)
{
    static const struct {
        const char *sizes, *ranks, *time, *fragment;
    } rows[] = {
        {SIZES, "2 3 4", "k * 1e-302", "fit: no start of 8 converged on 8 rows"},
        {"4", "2", "1e-5", "expected at least 3"},
        {"4 4 4 4 4", "2 3 4", "1e-5", "fit: found one size, 4096 bytes, in all rows"},
        {SIZES, "2 3 4", "0", "is \"0\"; expected a time above zero"},
        {SIZES, "2 3 4", "-k", "expected a time above zero"},
        {SIZES, "2 3 4", "1e300", "fit: "},
        {SIZES, "2 3 4", "NR % 2 ? 1e-300 : 1e300", "fit: "},
        {SIZES, "2 3 4", "NR % 2 ? 1e-9 : 1e6", "fit: "},
        {SIZES, "2 3 4", "1e15", "fit: no start of 8 converged on 8 rows"},
        {SIZES, "2 3 4", "2e3 + k", "own.topo: not written, no machine is so: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_own(rows[i].sizes, rows[i].ranks, rows[i].time);
        cli_fails(65, rows[i].fragment, "$AR calibrate own.csv --cluster host --out own.topo");
        cr_expect_neq(access("own.topo", F_OK), 0, "%s", rows[i].time);
    }
}

/* What no attempt ends on is no fit, whatever is written, by few rows for the numbers or more. */
Test(cli_calibrate_bad, a_log_that_does_not_say_its_ranks_is_no_messages_either)
{
    static const char line[] =
        "compare own.log --cluster abci-v100 --engine closed --algorithm ring";
    cli_write("own.log", "# size count type redop time algbw busbw\n"
                         "2048 512 float none 24.14 0.08 0.16\n");
    cli_fails(65, "own.log:1: the log does not say how many ranks took part", "$AR %s", line);
}

Test(cli_calibrate_bad, rows_of_a_constant_that_no_machine_has_are_no_fit)
{
    static const char *const held_out[] = {"", " --hold-out none"};
    write_own(SIZES, "2 3 4", "1e15");
    for (size_t i = 0; i < sizeof held_out / sizeof held_out[0]; i++) {
        cli_fails(65, "fit: no start of 8 converged on", "$AR calibrate own.csv --cluster host%s",
                  held_out[i]);
    }
}

/* The same of rows of NCCL: columns 3 and 4 are payload and time. */
Test(cli_calibrate_bad, degenerate_rows_of_the_library)
{
    static const struct {
        const char *change, *fragment;
    } rows[] = {
        {"NR > 4 {next}", "expected at least 3"},
        {"NR > 3 {$3 = 1024}", "fit: found one size, 1024 bytes, in all rows"},
        {"NR > 3 {$4 = 1e300}", "fit: no start of 4 converged"},
        {"NR > 3 {$4 = NR % 2 ? 1e-9 : 1e9}", "fit: found a residual of"},
        {"NR > 3 {$3 = NR % 2 ? \"18446744073709551615\" : $3}", "fit: found a residual of"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_good("awk -F, -v OFS=, '%s {print}' abci.csv > changed.csv", rows[i].change);
        cli_fails(65, rows[i].fragment,
                  "$AR calibrate changed.csv --cluster abci-v100 --out own.topo");
        cr_expect_neq(access("own.topo", F_OK), 0, "%s", rows[i].change);
    }
}
