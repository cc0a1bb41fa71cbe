/* The table of links: its numbers against the predictions, its words against its numbers. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

TestSuite(cli_load, .init = cli_enter, .fini = cli_leave);

#define ABCI "--cluster abci-v100 --quiet "

Test(cli_load, busy_is_bytes_over_bandwidth_over_the_time_of_the_engine)
{
    const char *options = ABCI "--gpus 8 --algorithm torus2d --payload 3MB --format csv";
    struct cli_table *links = cli_table(cli_good("$AR links %s --check", options).out);
    struct cli_table *rows = cli_table(cli_good("$AR allreduce %s --check", options).out);
    size_t half = (links->rows_count - 1) / 2;
    cr_assert_eq(links->rows_count, 1 + 2 * half);
    for (size_t i = 1; i < links->rows_count; i++) {
        size_t row = i <= half ? 1 : 2;
        double busy_s = cli_number(links, i, "bytes") / cli_number(links, i, "bandwidth_Bps");
        double frac = busy_s / cli_number(rows, row, "allreduce_s");
        cr_expect_str_eq(cli_cell(links, i, "engine"), cli_cell(rows, row, "engine"));
        cr_expect_str_eq(cli_cell(links, i, "allreduce_s"), cli_cell(rows, row, "allreduce_s"));
        cr_expect_float_eq(cli_number(links, i, "busy_frac"), frac, 1e-8);
        cr_expect_str_eq(cli_cell(links, i, "bytes"), cli_cell(links, (i - 1) % half + 1, "bytes"),
                         "engines move no bytes");
        if ((i - 1) % half > 0) {
            cr_expect_leq(cli_number(links, i, "busy_frac"), cli_number(links, i - 1, "busy_frac"));
        }
    }
}

/* On these the estimates were up to 9 % below what the busiest link needs. */
Test(cli_load, no_link_is_busy_for_longer_than_the_all_reduce_takes)
{
    static const char *const lines[] = {
        "--cluster abci-v100 --gpus 16 --shape 8x2 --payload 64MiB",
        "--cluster abci-v100 --gpus 64 --payload 64MiB --channels 4",
        "--cluster abci-v100 --gpus 64 --shape 16x4 --payload 64MiB",
        "--cluster dgx1-v100 --gpus 64 --shape 16x4 --payload 64MiB",
        "--cluster abci-v100 --gpus 48 --payload 256MiB --slow-link node-0.hca-0:7",
        "--cluster dgx2-v100 --gpus 48 --trace resnet50-v1.5 --channels 3",
        "--cluster dgx2-v100 --gpus 48 --trace resnet50-v1.5 --framework horovod",
    };
    static const char *const engines[] = {"recurrence", "closed"};
    for (size_t i = 0; i < 2 * sizeof lines / sizeof lines[0]; i++) {
        struct cli_table *links =
            cli_table(cli_good("$AR links %s --algorithm torus2d --engine %s --quiet --format csv "
                               "| head -2",
                               lines[i / 2], engines[i % 2])
                          .out);
        cr_expect_leq(cli_number(links, 1, "busy_frac"), 1 + 1e-9, "%s, %s: %s", lines[i / 2],
                      engines[i % 2], cli_cell(links, 1, "busy_frac"));
        cr_expect_gt(cli_number(links, 1, "busy_frac"), 0.3);
    }
}

/* A message to another node leaves by one HCA, a message within a node takes one NVLink; each rank
 * of a ring sends 2 (N-1)/N of every bucket. */
Test(cli_load, of_a_step_carry_every_message_and_byte_once)
{
    const char *options = ABCI "--gpus 16 --algorithm ring --trace resnet50-v1.5 --format csv";
    struct cli_table *links = cli_table(cli_good("$AR links %s", options).out);
    struct cli_table *row = cli_table(cli_good("$AR predict %s", options).out);
    double messages = 0;
    double bytes = 0;
    for (size_t i = 1; i < links->rows_count; i++) {
        const char *link = cli_cell(links, i, "link");
        if (strstr(link, ".out") != NULL || strstr(link, "nvlink") != NULL) {
            messages += cli_number(links, i, "messages_count");
            bytes += cli_number(links, i, "bytes");
        }
    }
    cr_expect_eq(messages, cli_number(row, 1, "messages_count"));
    cr_expect_eq(bytes, 2 * 15 * cli_number(row, 1, "payload_bytes"));
    cr_expect_str_eq(cli_cell(links, 1, "allreduce_s"), cli_cell(row, 1, "allreduce_s"));
}

Test(cli_load, name_the_bottleneck_or_say_that_there_is_none)
{
    const char *options = ABCI "--gpus 64 --algorithm ring";
    struct cli_run large = cli_good("$AR links %s --payload 1GiB", options);
    struct cli_run small = cli_good("$AR links %s --payload 4KiB", options);
    CLI_HAS(large.out, "node-0.hca-0.out is the bottleneck: busy");
    CLI_HAS(small.out, "No link is the bottleneck: the busiest, node-0.hca-0");
    CLI_HAS(small.out, "99 % latency");
    /* A ring uses every HCA, each in and out: 16 nodes, two HCAs. */
    CLI_HAS(large.out, "63 more are as busy");
    /* One NVLink at a thousandth of its rate beats all HCAs. */
    struct cli_run slow =
        cli_good("$AR links %s --payload 1GiB --set nvlink.bandwidth=25MB/s", options);
    CLI_HAS(slow.out, "nvlink");
    cr_expect_lt(strcspn(slow.out, "."), (size_t)(strstr(slow.out, "bottleneck") - slow.out));
    cr_expect(strncmp(strchr(slow.out, '.') + 1, "nvlink", 6) == 0, "%s", slow.out);
}

Test(cli_load, of_the_table_are_as_many_as_asked_for)
{
    const char *options = ABCI "--gpus 64 --algorithm ring --payload 1MB --engine closed";
    cr_expect_eq(cli_lines_with(cli_good("$AR links %s", options).out, "node-"), 1 + 20);
    cr_expect_eq(cli_lines_with(cli_good("$AR links %s --top 3", options).out, "node-"), 1 + 3);
    struct cli_run all = cli_good("$AR links %s --top 1000", options);
    cr_expect_eq(cli_lines_with(all.out, "node-"), 1 + 16 * 2 * 2 * 2 + 16 * 6,
                 "in and out of HCAs and PCIe switches, NVLinks both ways");
    CLI_LACKS(all.out, " more (--top");
}

Test(cli_load, of_one_gpu_are_none)
{
    const char *options = ABCI "--gpus 1 --algorithm ring --payload 1MB";
    CLI_HAS(cli_good("$AR links %s", options).out, "There are no messages");
    cr_expect_eq(cli_rows("links %s", options)->rows_count, 1);
}
