/* calibrate with messages between two processes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

/* Logs of a known pair, 1 B to 4 MiB: 2.4 us, 10.2 GB/s and 0.8 us per message in flight, where the
 * sizes from 16 to 64 KiB take half as long again, and every row is off by up to 2 %. */
static void enter(void)
{
    cli_enter();
    cli_good("echo '# OSU MPI-CUDA Latency Test v7.2' > lat.log");
    cli_good("echo '# Size          Latency (us)' >> lat.log");
    cli_good("echo '# OSU MPI-CUDA Bandwidth Test v7.2' > bw.log");
    cli_good("echo '# Size      Bandwidth (MB/s)' >> bw.log");
    cli_good("for i in $(seq 0 22); do awk -v i=$i 'BEGIN {b = 2^i; off = 1 + 0.02 * sin(7 * i); "
             "if (i >= 14 && i <= 16) off *= 1.5; printf \"%%d %%.4f\\n"
             "\", b, off * (2.4 + b / 10200) >> \"lat.log\"; printf \"%%d %%.4f\\n"
             "\", b, b / (off * (0.8 + b / 10200)) >> \"bw.log\"}'; done");
}

TestSuite(cli_pair, .init = enter, .fini = cli_leave);

static double value(const struct cli_table *table, const char *parameter, const char *column)
{
    for (size_t i = 1; i < table->rows_count; i++) {
        if (strcmp(cli_cell(table, i, "parameter"), parameter) == 0) {
            return cli_number(table, i, column);
        }
    }
    cr_assert_fail("no %s", parameter);
    return 0;
}

Test(cli_pair, gives_back_the_pair_that_the_logs_are_of)
{
    static const struct {
        const char *pair, *latency, *bandwidth;
    } rows[] = {{"network", "net.latency", "hca.bandwidth"},
                {"nvlink", "nvlink.latency", "nvlink.bandwidth"},
                {"pcie", "pcie.latency", "pcie.bandwidth"}};
    for (size_t i = 0; i < 3; i++) {
        struct cli_table *table = cli_rows("calibrate lat.log bw.log --cluster abci-v100 --pair "
                                           "%s",
                                           rows[i].pair);
        double latency_s = value(table, rows[i].latency, "value");
        double bandwidth_Bps = value(table, rows[i].bandwidth, "value");
        cr_expect_float_eq(latency_s / 2.4e-6, 1, 0.03, "%s: %g s", rows[i].pair, latency_s);
        cr_expect_float_eq(bandwidth_Bps / 10.2e9, 1, 0.03, "%s: %g B/s", rows[i].pair,
                           bandwidth_Bps);
        cr_expect_float_eq(value(table, "gpu.reduce_cost", "value"), 3.846e-12, 1e-18);
    }
}

Test(cli_pair, the_cluster_file_has_the_link_and_nothing_else_is_changed)
{
    struct cli_run run =
        cli_good("$AR calibrate lat.log bw.log --cluster abci-v100 --pair network --out mine.topo");
    cr_expect_eq(cli_lines_with(run.err, "lat.log:1: 23 sizes of 2 GPUs on 2 nodes used"), 1);
    cr_expect_eq(cli_lines_with(run.err, "net.latency is that of a message between two"), 1);
    const char *text = cli_read("mine.topo");
    cr_expect_eq(cli_lines_with(text, "; fitted, +-"), 2);
    cr_expect_eq(cli_lines_with(text, "net.latency = 2."), 1);
    cr_expect_eq(cli_lines_with(text, "hca.bandwidth = 10."), 1);
    cr_expect_eq(cli_lines_with(text, "nvlink.latency = 3.4us ; NVIDIA"), 1);
    cr_expect_eq(cli_lines_with(text, "links.fitted"), 0);
    cli_good("$AR allreduce --cluster mine.topo --algorithm ring --gpus 8 --payload 1MiB");
}

Test(cli_pair, without_osu_latency_the_latency_stays)
{
    cli_good("$AR calibrate bw.log --cluster abci-v100 --pair network --format csv > one.csv");
    struct cli_table *table = cli_table(cli_read("one.csv"));
    cr_expect_float_eq(value(table, "net.latency", "value"), 9.6e-6, 1e-15);
    cr_expect_float_eq(value(table, "hca.bandwidth", "value") / 10.2e9, 1, 0.03);
    cr_expect_eq(cli_lines_with(cli_read("one.csv"), "parameter,net.latency,9.6e-06,s,,no"), 1);
}

Test(cli_pair, bad_input_is_one_line)
{
    static const struct cli_case rows[] = {
        {"lat.log --cluster abci-v100", 64, "--pair: found none; expected nvlink, pcie or network"},
        {"lat.log --cluster abci-v100 --pair rope", 64, "--pair: found \"rope\"; expected nvlink"},
        {"lat.log --cluster flat --pair nvlink", 65,
         "found no nvlink.latency and nvlink.bandwidth above zero"},
        {"lat.log --cluster abci-v100 --pair network --folds", 64,
         "--folds: found messages between two processes"},
        {"lat.log short.log abci.csv --cluster abci-v100 --pair network", 65,
         "a run of all-reduce; expected latency"},
        {"short.log --cluster abci-v100 --pair network", 65,
         "found 2 rows to fit; expected at least 3"},
        {"--cluster abci-v100 --pair network", 64, "no log; expected files"},
        {"abci.csv lat.log --cluster abci-v100", 65, "a run of latency; expected"},
    };
    char path[1024];
    cli_good("head -n 4 lat.log > short.log");
    cli_good("cp '%s' abci.csv",
             cli_source("validate/data/abci_v100_nccl2.8.4_allreduce.csv", path, sizeof path));
    CLI_FAIL_ALL("calibrate", rows);
}
