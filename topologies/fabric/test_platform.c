#include "test_platform.h"
#include "ar_simgrid_xml.h"

#include <criterion/criterion.h>
#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/mailbox.h>
#include <simgrid/version.h>
#if SIMGRID_VERSION < 40000
#include <xbt/dynar.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_cluster_load.h"

/* One route as SimGrid sees it. */
struct test_route {
    uint32_t source, destination;
    double latency_s, bandwidth_Bps;
    bool has_links_of_path; /* those of ar_cluster_path() in their order; `.net` not counted */
};

/* Work of a child; read by SimGrid's actors, which take no pointers. */
static struct {
    const struct ar_cluster *cluster;
    void (*ask)(int argc, char **argv); /* an actor; NULL: flows are sent */
    void *list;                         /* of flows or routes, in memory shared with the parent */
    size_t count, hosts_count;
} job;

static sg_host_t find_host(uint32_t rank)
{
    char name[32];
    return sg_host_by_name(ar_host_name(rank, name, sizeof name));
}

/* A flow has a number, which is the name of its mailbox. */
static void send_flow(int argc, char **argv)
{
    (void)argc;
    const struct test_flow *flow = (struct test_flow *)job.list + strtoul(argv[0], NULL, 10);
    sg_comm_wait(sg_mailbox_put_async(sg_mailbox_by_name(argv[0]), &job, flow->bytes));
}

static void receive_flow(int argc, char **argv)
{
    (void)argc;
    struct test_flow *flow = (struct test_flow *)job.list + strtoul(argv[0], NULL, 10);
    void *payload = NULL;
    sg_comm_wait(sg_mailbox_get_async(sg_mailbox_by_name(argv[0]), &payload));
    flow->finish_s = simgrid_get_clock();
}

/* Calls a function with each link of a route, in order. */
static void visit_links(sg_host_t from, sg_host_t to,
                        void (*visit)(const_sg_link_t link, void *data), void *data)
{
#if SIMGRID_VERSION >= 40000
    int count = 0;
    const_sg_link_t *links = sg_host_get_route_links(from, to, &count);
    for (int i = 0; i < count; i++) {
        visit(links[i], data);
    }
    free(links);
#else
    xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);
    sg_host_get_route(from, to, links);
    for (unsigned i = 0; i < xbt_dynar_length(links); i++) {
        visit(xbt_dynar_get_as(links, i, sg_link_t), data);
    }
    xbt_dynar_free(&links);
#endif
}

/* Adds the name of a link to those of a route, but for those that carry the latency. */
static void add_name(const_sg_link_t link, void *names)
{
    const char *name = sg_link_get_name(link), *end = strrchr(name, '.');
    if (end == NULL || strcmp(end, ".net") != 0) {
        strcat(strcat(names, *(char *)names != '\0' ? " " : ""), name);
    }
}

/* Notes the number of a link, which is given to it when it is first seen. */
static void note_link(const_sg_link_t link, void *data)
{
    static uintptr_t seen;
    struct test_zone_route *route = data;
    if (sg_link_get_data(link) == NULL) {
        sg_link_set_data((sg_link_t)link, (void *)++seen);
    }
    if (route->links_count < TEST_ZONE_LINKS_MAX) {
        route->links[route->links_count] = (uint32_t)((uintptr_t)sg_link_get_data(link) - 1);
    }
    route->links_count++;
}

static void note_zone_routes(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct test_zone_route *routes = job.list;
    for (size_t i = 0; i < job.count; i++) {
        visit_links(find_host(routes[i].source), find_host(routes[i].destination), note_link,
                    &routes[i]);
    }
}

static void look_up_routes(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (size_t i = 0; i < job.count; i++) {
        char found[TEST_NAMES_SIZE] = "", expected[TEST_NAMES_SIZE];
        struct test_route *route = (struct test_route *)job.list + i;
        sg_host_t source = find_host(route->source), destination = find_host(route->destination);
        route->latency_s = sg_host_get_route_latency(source, destination);
        route->bandwidth_Bps = sg_host_get_route_bandwidth(source, destination);
        visit_links(source, destination, add_name, found);
        test_link_names(job.cluster, route->source, route->destination, expected);
        route->has_links_of_path = strcmp(found, expected) == 0;
    }
    if (sg_host_count() != job.hosts_count) {
        _exit(1);
    }
}

static void start_actors(void)
{
    if (job.ask != NULL) {
        /* As an actor, since SimGrid completes its routing tables when the simulation starts. */
        sg_actor_create("ask", find_host(0), job.ask, 0, NULL);
        return;
    }
    for (size_t i = 0; i < job.count; i++) {
        const struct test_flow *flow = (struct test_flow *)job.list + i;
        char number[32];
        snprintf(number, sizeof number, "%zu", i);
        char *arguments[] = {number, NULL};
        sg_actor_create("send", find_host(flow->source), send_flow, 1, arguments);
        sg_actor_create("receive", find_host(flow->destination), receive_flow, 1, arguments);
    }
}

/* The child: never returns. */
static void simulate(const char *platform)
{
    /* As in the engine; with latencies that end together the lazy update of 3.32 forgets links. */
    char *arguments[] = {"test",
                         "--cfg=network/model:CM02",
                         "--cfg=network/crosstraffic:0",
                         "--cfg=network/TCP-gamma:0",
                         "--cfg=network/latency-factor:0",
                         "--cfg=contexts/stack-size:128",
                         "--log=root.thres:error",
                         NULL};
    int arguments_count = 7;
    simgrid_init(&arguments_count, arguments);
    simgrid_load_platform(platform);
    start_actors();
    simgrid_run();
    _exit(0);
}

/* Has a child work on a list and a platform file, which goes. */
static void simulate_in_child(const char *path, void (*ask)(int, char **), void *list, size_t count,
                              size_t size)
{
    int state = -1;
    size_t room = (count + 1) * size; /* of no pairs, too */
    job.ask = ask;
    job.count = count;
    job.list = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(job.list != MAP_FAILED);
    memcpy(job.list, list, count * size);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        simulate(path);
    }
    waitpid(child, &state, 0);
    unlink(path);
    cr_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0, "SimGrid failed on the platform");
    memcpy(list, job.list, count * size);
    munmap(job.list, room);
}

static void simulate_cluster(const struct ar_cluster *cluster, uint32_t nodes_count,
                             void (*ask)(int, char **), void *list, size_t count, size_t size)
{
    char path[TEST_PATH_SIZE];
    test_file_make("", 0, path);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL);
    ar_cluster_write_simgrid(cluster, nodes_count, NULL, 0, file);
    cr_assert_eq(fclose(file), 0);
    job.cluster = cluster;
    job.hosts_count = (size_t)nodes_count * ar_cluster_facts(cluster)->gpus_per_node;
    simulate_in_child(path, ask, list, count, size);
}

void test_platform_transfer(const struct ar_cluster *cluster, uint32_t nodes_count,
                            struct test_flow *flows, size_t flows_count)
{
    simulate_cluster(cluster, nodes_count, NULL, flows, flows_count, sizeof *flows);
}

void test_platform_check_routes(const struct ar_cluster *cluster, uint32_t nodes_count)
{
    uint32_t gpus = nodes_count * ar_cluster_facts(cluster)->gpus_per_node;
    size_t pairs = (size_t)gpus * gpus, stride = pairs > 10000 ? pairs / 10000 | 1 : 1, count = 0;
    struct test_route *routes = calloc(pairs / stride + 1, sizeof *routes);
    for (size_t pair = 0; pair < pairs; pair += stride) {
        struct test_route *route = &routes[count];
        *route = (struct test_route){.source = (uint32_t)(pair / gpus),
                                     .destination = (uint32_t)(pair % gpus)};
        count += route->source != route->destination;
    }
    simulate_cluster(cluster, nodes_count, look_up_routes, routes, count, sizeof *routes);
    AR_EACH(const struct test_route, route, routes, count) {
        struct ar_path path;
        ar_cluster_path(cluster, route->source, route->destination, &path);
        cr_assert_float_eq(route->latency_s, path.latency_s, 1e-18, "gpu-%u to gpu-%u: %.17g",
                           route->source, route->destination, route->latency_s);
        cr_assert_eq(route->bandwidth_Bps, path.bandwidth_Bps, "gpu-%u to gpu-%u: %.17g",
                     route->source, route->destination, route->bandwidth_Bps);
        cr_assert(route->has_links_of_path, "gpu-%u to gpu-%u", route->source, route->destination);
    }
    free(routes);
}

void test_zone_look_up(const char *platform, struct test_zone_route *routes, size_t routes_count)
{
    char path[TEST_PATH_SIZE];
    simulate_in_child(test_file_make(platform, strlen(platform), path), note_zone_routes, routes,
                      routes_count, sizeof *routes);
}
