/* Every shipped machine, as a user runs it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test_cli.h"

TestSuite(cli_machines, .init = cli_enter, .fini = cli_leave);

/* The count that a cluster file gives a key, or 0. */
static unsigned long count_of(const char *topo, const char *key)
{
    char line[64];
    snprintf(line, sizeof line, "\n%s = ", key);
    const char *at = strstr(topo, line);
    return at != NULL ? strtoul(at + strlen(line), NULL, 10) : 0;
}

/* The next name of a list, one a line, or NULL. */
static const char *next_name(const char **list, char name[64])
{
    bool is_found = sscanf(*list, "%63s", name) == 1;
    const char *end = strchr(*list, '\n');
    *list = end != NULL ? end + 1 : "";
    return is_found ? name : NULL;
}

Test(cli_machines, two_nodes_of_each_sum_by_messages_by_nccl_where_it_says_how_and_show_their_links)
{
    const char *list = cli_good("$AR list clusters").out;
    size_t machines = 0;
    size_t libraries = 0;
    char name[64];
    while (next_name(&list, name) != NULL) {
        char path[100];
        char source[600];
        snprintf(path, sizeof path, "topologies/machines/%s.topo", name);
        const char *topo = cli_read(cli_source(path, source, sizeof source));
        const char *const engines[] = {"recurrence", "nccl"};
        bool has_library = strstr(topo, "\nlibrary.net_bus = ") != NULL;
        unsigned long nodes = count_of(topo, "nodes") == 1 ? 1 : 2;
        for (size_t e = 0; e < (has_library ? 2 : 1); e++) {
            struct cli_run run =
                cli_good("$AR allreduce --cluster %s --gpus %lu --payload 8MiB --engine %s "
                         "--format csv",
                         name, nodes * count_of(topo, "gpus_per_node"), engines[e]);
            struct cli_table *table = cli_table(run.out);
            double time_s = cli_number(table, 1, "allreduce_s");
            cr_expect(time_s > 20e-6 && time_s < 0.1, "%s, %s: %g s", name, engines[e], time_s);
        }
        struct cli_run links =
            cli_good("$AR links --cluster %s --gpus %lu --payload 8MiB --algorithm ring", name,
                     nodes * count_of(topo, "gpus_per_node"));
        CLI_HAS(links.out, "node-0.");
        machines++;
        libraries += has_library;
    }
    cr_expect(machines >= 30 && libraries >= 20, "%zu, %zu", machines, libraries);
}

Test(cli_machines, a_job_of_fugaku_has_a_torus_of_its_own)
{
    static const char line[] = "$AR allreduce --cluster fugaku --gpus 64 --algorithm ring "
                               "--payload 64KiB --format csv %s";
    struct cli_table *lengths = cli_table(cli_good(line, "--set torus.lengths=4x4x4").out);
    struct cli_table *nodes =
        cli_table(cli_good(line, "--set torus.lengths=4x4x4 --set nodes=64").out);
    struct cli_table *closed =
        cli_table(cli_good(line, "--set torus.wraps=1x1x1 --set torus.lengths=4x4x4").out);
    struct cli_table *open =
        cli_table(cli_good(line, "--set torus.wraps=0x0x0 --set torus.lengths=4x4x4").out);
    double time_s = cli_number(lengths, 1, "allreduce_s");
    cr_expect_eq(time_s, cli_number(nodes, 1, "allreduce_s"));
    cr_expect_eq(time_s, cli_number(closed, 1, "allreduce_s"));
    cr_expect_lt(time_s, cli_number(open, 1, "allreduce_s"));
    cli_fails(64, "expected lengths whose product times router.nodes (1) is", line,
              "--set torus.lengths=4x4x5 --set nodes=64");
    cli_fails(64, "expected fewer, for at most 1048576 nodes", line,
              "--set torus.lengths=2000x2000x2000");
}

/* Two GPUs in eight of each node, and their HCAs: a quarter of the rate of the network, which is
 * all that a GiB takes there. */
Test(cli_machines, gpus_of_nodes_that_are_filled_in_part_have_their_own_hcas_only)
{
    cli_write("part.csv", "# source: test\n"
                          "collective,gpus,nodes,payload_bytes,time_us\n"
                          "all_reduce,20,10,1073741824,20000\n"
                          "all_reduce,80,10,1073741824,6000\n"
                          "alltoall,20,10,1073741824,20000\n"
                          "alltoall,80,10,1073741824,20000\n");
    struct cli_table *rows = cli_rows("compare part.csv --cluster dgx-h100 --engine nccl");
    double part_s = cli_number(rows, 1, "predicted_s");
    double full_s = cli_number(rows, 2, "predicted_s");
    cr_assert_eq(rows->rows_count, 1 + 4);
    cr_expect_str_eq(cli_cell(rows, 1, "payload_bytes"), "1073741824", "all digits");
    cr_expect(part_s > 3 * full_s && part_s < 4.2 * full_s, "%g s, %g s", part_s, full_s);
}
