/* `allreckon discover` and what is done with the cluster. */
#include <criterion/criterion.h>

#include "test_cli.h"

TestSuite(cli_discover, .init = cli_enter, .fini = cli_leave);

#define MACHINES AR_TEST_SOURCE_DIR "/topologies/readers/fixtures/"

Test(cli_discover, a_discovered_cluster_goes_into_a_prediction)
{
    struct cli_run run = cli_good("$AR discover " MACHINES "switch.xml --nodes 4 --fabric rails "
                                  "--out mine.topo");
    cr_expect_eq(cli_lines_with(run.err, "note: said nowhere: collective.setup 8.4us"), 1, "%s",
                 run.err);
    cr_expect_eq(cli_lines_with(cli_read("mine.topo"), "switch.xml:19: mlx5_0 200 Gb/s"), 1);
    cli_good("$AR allreduce --cluster ./mine.topo --gpus 16 --payload 64MiB --quiet");
    cli_good("$AR allreduce --cluster ./mine.topo --gpus 16 --payload 64MiB --engine nccl "
             "--algorithm auto --quiet --set library.channels=4 --set library.node_bus=48GB/s "
             "--set library.net_bus=44GB/s");
    cli_good("$AR discover " MACHINES "switch.xml --nodes 4 --fabric rails --out mine.topo");
}

Test(cli_discover, wrong_use_and_wrong_files_leave_nothing)
{
    static const struct {
        const char *command, *error;
        int status;
    } rows[] = {
        {"$AR discover", "discover: found no file; expected what a machine says of itself", 64},
        {"$AR discover missing.xml", "missing.xml", 66},
        {"$AR discover " MACHINES "static.xml --out mine.topo",
         "discover: the files do not say all; expected also --nodes N --fabric non-blocking|rails",
         64},
        {"$AR discover " MACHINES "switch.xml --nodes 4 --fabric rail --out mine.topo",
         "--fabric: found \"rail\"; expected non-blocking, rails, fat-tree, torus, mesh, dragonfly "
         "or dragonfly+",
         64},
        {"$AR discover " MACHINES "switch.xml --nodes x --fabric rails --out mine.topo",
         "--nodes: key \"nodes\": found \"x\"", 64},
        {"$AR discover " MACHINES "mesh.xml " MACHINES
         "switch.xml --nodes 1 --set cpu.vendor=amd --set gpu.generation=ampere --out mine.topo",
         "switch.xml:11: found gpus_per_node 4 (GPUs from here on); expected 3, as ", 65},
        {"$AR discover " MACHINES "fixture.xml --out mine.topo", "fixture.xml", 66},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_fails(rows[i].status, rows[i].error, "%s", rows[i].command);
    }
}
