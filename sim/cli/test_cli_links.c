/* links: loads and words; --slow-link. */
#include "test_cli.h"

TestSuite(cli_load, .init = cli_enter, .fini = cli_leave);

#define ABCI "--cluster abci-v100 --quiet "

Test(cli_load, busy_is_bytes_over_bandwidth_over_the_time_of_the_engine)
{
    static const char *const engines[] = {"recurrence", "simgrid"};
    struct cli_table *links[2];
    for (size_t e = 0; e < 2; e++) {
        char options[128];
        snprintf(options, sizeof options,
                 ABCI "--gpus 8 --algorithm torus2d --payload 3MB --engine %s", engines[e]);
        links[e] = cli_rows("links %s", options);
        struct cli_table *rows = cli_rows("allreduce %s", options);
        double time_s = cli_number(rows, 1, "allreduce_s");
        cr_assert_eq(links[e]->rows_count, links[0]->rows_count);
        for (size_t i = 1; i < links[e]->rows_count; i++) {
            double busy_s =
                cli_number(links[e], i, "bytes") / cli_number(links[e], i, "bandwidth_Bps");
            double frac = cli_number(links[e], i, "busy_frac");
            CLI_CELL(links[e], i, "engine", engines[e]);
            CLI_SAME(links[e], i, rows, 1, "allreduce_s");
            cr_expect_float_eq(frac, busy_s / time_s, 1e-8);
            CLI_SAME(links[e], i, links[0], i, "bytes"); /* engines move none */
            cr_expect(i == 1 || frac <= cli_number(links[e], i - 1, "busy_frac"));
        }
    }
}

/* A message to another node leaves by one HCA, a message within a node takes one NVLink; each rank
 * of a ring sends 2 (N-1)/N of every bucket. */
Test(cli_load, of_a_step_carry_every_message_and_byte_once)
{
    const char *options = ABCI "--gpus 16 --algorithm ring --trace resnet50-v1.5 --format csv";
    struct cli_table *links = cli_table(cli_good("$AR links %s", options).out);
    struct cli_table *row = cli_table(cli_good("$AR predict %s", options).out);
    double messages = 0, bytes = 0;
    for (size_t i = 1; i < links->rows_count; i++) {
        const char *link = cli_cell(links, i, "link");
        if (strstr(link, ".out") != NULL || strstr(link, "nvlink") != NULL) {
            messages += cli_number(links, i, "messages_count");
            bytes += cli_number(links, i, "bytes");
        }
    }
    cr_expect_eq(messages, cli_number(row, 1, "messages_count"));
    cr_expect_eq(bytes, 2 * 15 * cli_number(row, 1, "payload_bytes"));
    CLI_SAME(links, 1, row, 1, "allreduce_s");
}

Test(cli_load, name_the_bottleneck_or_say_that_there_is_none, CLI_NO_NEW_CODE)
{
    static const struct cli_saying rows[] = {
        {"1GiB", "Busiest link: node-0.hca-0.out, ", 1},
        {"1GiB", " % of the time: the bottleneck;", 1},
        {"4KiB", "bottleneck", 0},
        /* One NVLink at a thousandth of its rate beats all HCAs. */
        {"1GiB --set nvlink.bandwidth=25MB/s", "Busiest link: node-0.nvlink", 1},
    };
    CLI_SAYS("links " ABCI "--gpus 64 --algorithm ring --payload", rows);
}

Test(cli_load, of_the_table_are_as_many_as_asked_for, CLI_NO_NEW_CODE)
{
    const char *options = ABCI "--gpus 64 --algorithm ring --payload 1MB --engine closed";
    CLI_LINES(cli_good("$AR links %s", options).out, "node-", 1 + 20);
    CLI_LINES(cli_good("$AR links %s --top 3", options).out, "node-", 1 + 3);
}

Test(cli_load, of_one_gpu_are_none)
{
    const char *options = ABCI "--gpus 1 --algorithm ring --payload 1MB";
    CLI_HAS(cli_good("$AR links %s", options).out, "There are no messages");
    cr_expect_eq(cli_rows("links %s", options)->rows_count, 1);
}

/* --- links ------------------------------------------------------------------------------------ */

TestSuite(cli_links, .init = cli_enter, .fini = cli_leave);

#define RING  "--cluster abci-v100 --gpus 16 --algorithm ring"
#define LINKS "--slow-link node-3.hca-0:4 --set net.latency=9us"

Test(cli_links, rows_record_the_changed_links)
{
    static const char *const commands[] = {
        "allreduce " RING " --payload 1MB " LINKS,
        "predict " RING " --trace trace.csv " LINKS,
        "sweep --cluster abci-v100 --gpus 16 --algorithms ring --trace trace.csv " LINKS,
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        CLI_CELL(cli_rows("%s", commands[i]), 1, "settings",
                 "net.latency=9us slow-link=node-3.hca-0:4");
    }
}

Test(cli_links, explain_names_the_slow_link_and_where_it_comes_from)
{
    struct cli_run run = cli_good("$AR explain " RING " --trace trace.csv " LINKS);
    CLI_COUNTS(run.out, {"  node-3.hca-0.", 1}, {", 1 flow: 2.557 GB/s", 1},
               {"slow-link                node-3.hca-0:4     --slow-link", 1});
}

Test(cli_links, wrong_links_are_refused_by_every_command_that_takes_them)
{
    static const char *const bases[] = {
        "allreduce --cluster abci-v100 --gpus 160 --algorithm ring --payload 1MB",
        "predict --cluster abci-v100 --gpus 160 --algorithm ring --trace trace.csv",
        "explain --cluster abci-v100 --gpus 160 --algorithm ring --trace trace.csv",
        "export --cluster abci-v100 --gpus 160 --format simgrid-xml --out x.xml",
    };
    static const char *const rows[][2] = {
        {"--slow-link node-3.hca-0", "--slow-link: found \"node-3.hca-0\"; expected LINK:FACTOR"},
        {"--slow-link node-3.hac-0:2", "unknown link \"node-3.hac-0\"; expected one such as"},
    };
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        CLI_REFUSE(64, bases[i], rows);
    }
}
