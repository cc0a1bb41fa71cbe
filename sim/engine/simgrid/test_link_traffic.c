/* The load of every link against SimGrid's own count: the messages of an all-reduce run on the
 * exported platform while SimGrid's link_load plugin adds up the bytes. */
#include <criterion/criterion.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/plugins/load.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_link_load.h"
#include "ar_simgrid_xml.h"
#include "test_cluster_load.h"
#include "test_machines.h"
#include "test_support.h"

enum { NAME_SIZE = 64 };

/* Work of the child. */
static struct {
    const struct ar_collective *collective;
    uint64_t elements;
    double *bytes; /* [link], shared with the parent */
} job;

static sg_host_t host_at(uint32_t channel, uint32_t position)
{
    struct ar_order order = ar_collective_order(job.collective);
    char name[NAME_SIZE];
    uint32_t rank = ar_order_rank(&order, channel, position);
    return sg_host_by_name(ar_host_name(rank, name, sizeof name));
}

static void send_step(uint32_t channel, uint32_t step)
{
    const struct ar_collective *collective = job.collective;
    uint64_t elements = ar_collective_part(collective, job.elements, channel).count;
    for (uint32_t position = 0; position < ar_shape_ranks(&collective->shape); position++) {
        struct ar_move move =
            ar_algorithm_move(collective->algorithm, &collective->shape, elements, position, step);
        if (move.sends && move.send_span.count > 0) {
            sg_host_sendto(host_at(channel, position), host_at(channel, move.send_to),
                           (double)(move.send_span.count * collective->element_bytes));
        }
    }
}

/* One message after the other: the plugin looks at a link only when a message on it starts or ends
 * and would miss that rates change in between. It would also count latency as use. */
static void send_all(int argc, char **argv)
{
    (void)argc, (void)argv;
    sg_link_t *links = sg_link_list(); /* complete only when the simulation has started */
    for (size_t i = 0; i < sg_link_count(); i++) {
        sg_link_load_track(links[i]);
    }
    uint32_t steps = ar_algorithm_steps(job.collective->algorithm, &job.collective->shape);
    for (uint32_t channel = 0; channel < job.collective->channels; channel++) {
        for (uint32_t step = 0; step < steps; step++) {
            send_step(channel, step);
        }
    }
    for (uint32_t i = 0; i < ar_cluster_links_count(job.collective->cluster); i++) {
        char name[NAME_SIZE];
        ar_cluster_link_name(job.collective->cluster, i, name, sizeof name);
        for (size_t j = 0; j < sg_link_count(); j++) {
            if (strcmp(sg_link_get_name(links[j]), name) == 0) {
                job.bytes[i] = sg_link_get_cum_load(links[j]);
            }
        }
    }
}

/* The child: never returns. */
static void count_in_simgrid(const char *platform)
{
    char *arguments[] = {"test",
                         "--cfg=network/model:CM02",
                         "--cfg=network/crosstraffic:0",
                         "--cfg=network/TCP-gamma:0",
                         "--log=root.thres:error",
                         NULL};
    int arguments_count = 5;
    simgrid_init(&arguments_count, arguments);
    sg_link_load_plugin_init();
    simgrid_load_platform(platform);
    sg_actor_create("send", sg_host_by_name("gpu-0"), send_all, 0, NULL);
    simgrid_run();
    _exit(0);
}

static struct ar_cluster *load(void)
{
    static const char *const without_latency[] = {"nvlink.latency=0s", "pcie.latency=0s",
                                                  "net.latency=0s", NULL};
    return support_cluster("abci-v100", without_latency);
}

static void simulate(const struct ar_collective *collective, uint64_t elements, double *bytes)
{
    char path[] = AR_TEST_BINARY_DIR "/test-link-traffic-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *file = fdopen(descriptor, "w");
    cr_assert_not_null(file);
    uint32_t per_node = ar_cluster_facts(collective->cluster)->gpus_per_node;
    uint32_t nodes = (ar_shape_ranks(&collective->shape) + per_node - 1) / per_node;
    ar_cluster_write_simgrid(collective->cluster, nodes, NULL, 0, file);
    cr_assert_eq(fclose(file), 0);
    job.collective = collective;
    job.elements = elements;
    job.bytes = bytes;
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        count_in_simgrid(path);
    }
    int state = -1;
    waitpid(child, &state, 0);
    unlink(path);
    cr_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0, "SimGrid failed");
}

static void expect_equal_loads(const struct ar_collective *collective, uint64_t elements)
{
    uint32_t links = ar_cluster_links_count(collective->cluster);
    double *simulated = mmap(NULL, links * sizeof *simulated, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct ar_link_load *loads = support_loads(collective, &elements, 1);
    cr_assert(simulated != MAP_FAILED);
    simulate(collective, elements, simulated);
    uint32_t used = 0;
    for (uint32_t i = 0; i < links; i++) {
        char name[NAME_SIZE];
        used += simulated[i] > 0;
        /* SimGrid integrates rates over time; less than a tenth of an element is rounding. */
        cr_expect(fabs(simulated[i] - (double)loads[i].bytes) < 0.1 * collective->element_bytes,
                  "%s %ux%u, %s: %lu bytes, in SimGrid %.9g", collective->algorithm->name,
                  collective->shape.x, collective->shape.y,
                  ar_cluster_link_name(collective->cluster, i, name, sizeof name), loads[i].bytes,
                  simulated[i]);
    }
    cr_expect_geq(used, ar_shape_ranks(&collective->shape), "only %u links carry anything", used);
    munmap(simulated, links * sizeof *simulated);
    free(loads);
}

Test(link_traffic, is_what_simgrid_counts_on_every_link)
{
    static const struct {
        const char *algorithm;
        uint32_t x, y;
        uint64_t elements;
    } cases[] = {
        {"ring", 16, 1, 100003},       {"ring", 32, 1, 65537},
        {"torus2d", 4, 4, 100003},     {"torus2d", 8, 4, 77777},
        {"torus2d", 2, 9, 54321},      {"hierarchical", 4, 4, 100003},
        {"hierarchical", 4, 8, 33333}, {"hierarchical", 8, 3, 12347},
        {"tree", 4, 8, 54321},         {"tree", 3, 5, 33333},
    };
    struct ar_cluster *abci = load();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_collective collective =
            support_collective(abci, cases[i].algorithm, cases[i].x, cases[i].y);
        collective.channels = 2;
        collective.element_bytes = i % 2 == 0 ? 2 : 4;
        expect_equal_loads(&collective, cases[i].elements);
    }
}

/* Two racks of 34 nodes: rack uplinks, too. */
Test(link_traffic, is_what_simgrid_counts_on_rack_uplinks)
{
    struct ar_cluster *abci = load();
    struct ar_collective torus = support_collective(abci, "torus2d", 70, 4);
    torus.channels = 2;
    expect_equal_loads(&torus, 100003);
}

/* A ring and a grid on one small machine of each kind. */
Test(link_traffic, is_what_simgrid_counts_on_every_fabric)
{
    for (size_t m = 0; m < TEST_MACHINES_COUNT; m++) {
        const char *settings[16] = {"nvlink.latency=0s", "pcie.latency=0s", "net.latency=0s"};
        for (size_t i = 0; i < 13 && test_machines[m][i] != NULL; i++) {
            bool is_latency = strstr(test_machines[m][i], "latency") != NULL;
            settings[3 + i] = is_latency ? "net.latency=0s" : test_machines[m][i];
        }
        struct ar_cluster *cluster = test_load_small(settings);
        uint32_t gpus = (uint32_t)ar_cluster_gpus_count(cluster);
        uint32_t ranks = gpus < 24 ? gpus : 24;
        struct ar_collective ring = support_collective(cluster, "ring", ranks, 1);
        struct ar_collective grid = support_collective(cluster, "torus2d", 3, (ranks - 1) / 3);
        expect_equal_loads(&ring, 12347);
        expect_equal_loads(&grid, 12347);
    }
}
