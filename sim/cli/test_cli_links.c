/* --slow-link and --down-link on the command line. */
#include <criterion/criterion.h>

#include "test_cli.h"

TestSuite(cli_links, .init = cli_enter, .fini = cli_leave);

#define RING  "--cluster abci-v100 --gpus 16 --algorithm ring"
#define LINKS "--slow-link node-3.hca-0:4 --down-link node-1.hca-1 --set net.latency=9us"

Test(cli_links, rows_record_the_changed_links)
{
    static const char *const commands[] = {
        "allreduce " RING " --payload 1MB " LINKS " --format csv",
        "predict " RING " --trace trace.csv " LINKS " --format csv",
        "sweep --cluster abci-v100 --gpus 16 --algorithms ring --trace trace.csv " LINKS
        " --format csv",
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct cli_table *table = cli_table(cli_good("$AR %s", commands[i]).out);
        cr_expect_str_eq(cli_cell(table, 1, "settings"),
                         "net.latency=9us slow-link=node-3.hca-0:4 down-link=node-1.hca-1");
    }
}

Test(cli_links, explain_names_the_slow_link_and_where_it_comes_from)
{
    struct cli_run run = cli_good("$AR explain " RING " --trace trace.csv " LINKS);
    cr_expect_eq(cli_lines_with(run.out, "  node-3.hca-0."), 1, "%s", run.out);
    cr_expect_eq(cli_lines_with(run.out, ", 1 flow: 2.557 GB/s"), 1, "%s", run.out);
    cr_expect_eq(cli_lines_with(run.out, "slow-link                node-3.hca-0:4     --slow-link"),
                 1);
    cr_expect_eq(cli_lines_with(run.out, "down-link                node-1.hca-1       --down-link"),
                 1);
}

Test(cli_links, export_writes_the_changed_links)
{
    struct cli_run run = cli_good("$AR export --format simgrid-xml --cluster abci-v100 --gpus 16 "
                                  "--slow-link node-3.hca-0.in:4 --down-link node-1.hca-1");
    cr_expect_eq(cli_lines_with(run.out, "\"node-3.hca-0.in\" bandwidth=\"2556750000Bps\""), 1);
    cr_expect_eq(cli_lines_with(run.out, "<link_ctn id=\"node-1.hca-1"), 0);
}

Test(cli_links, wrong_links_are_refused_by_every_command_that_takes_them)
{
    static const char *const bases[] = {
        "allreduce --cluster abci-v100 --gpus 160 --algorithm ring --payload 1MB",
        "predict --cluster abci-v100 --gpus 160 --algorithm ring --trace trace.csv",
        "explain --cluster abci-v100 --gpus 160 --algorithm ring --trace trace.csv",
        "export --cluster abci-v100 --gpus 160 --format simgrid-xml --out x.xml",
    };
    static const struct {
        const char *line;
        const char *fragment;
    } rows[] = {
        {"--slow-link", "needs a value"},
        {"--slow-link node-3.hca-0", "--slow-link: found \"node-3.hca-0\"; expected LINK:FACTOR"},
        {"--slow-link node-3.hca-0:0", ":0\"; expected LINK:FACTOR"},
        {"--slow-link node-3.hca-0:-1", ":-1\"; expected LINK:FACTOR"},
        {"--slow-link node-3.hca-0:nan", ":nan\"; expected LINK:FACTOR"},
        {"--slow-link node-3.hca-0:slow", ":slow\"; expected LINK:FACTOR"},
        {"--slow-link node-3.hac-0:2", "did you mean \"node-3.hca-0\"?"},
        {"--down-link node-1088.hca-0", "did you mean \"node-1087.hca-0\""},
        {"--down-link rack-32", "did you mean \"rack-31\""},
        {"--down-link rack-1 --down-link rack-1.up", "found link \"rack-1.up\" a second time"},
        {"--down-link rack-1.up", "GPUs 0 and 136 cannot reach each other: rack-1.up is down"},
        {"--down-link node-7.hca-0 --down-link node-7.hca-1",
         "GPUs 0 and 28 cannot reach each other: node-7.hca-0.out is down, and the node has no"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t j = 0; j < sizeof bases / sizeof bases[0]; j++) {
            cli_fails(64, rows[i].fragment, "$AR %s %s", bases[j], rows[i].line);
        }
    }
}
