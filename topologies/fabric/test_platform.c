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

/* Work of a child, in memory it shares with its parent; read by SimGrid's actors, which take no
 * pointers. */
static struct {
    const struct ar_cluster *cluster;
    struct test_flow *flows;
    struct test_route *routes;
    struct test_zone_route *zone_routes;
    size_t count;
    size_t *hosts_count;
} job;

static sg_host_t find_host(uint32_t rank)
{
    char name[32];
    return sg_host_by_name(ar_host_name(rank, name, sizeof name));
}

static sg_mailbox_t find_mailbox(size_t flow)
{
    char name[64];
    snprintf(name, sizeof name, "flow-%zu-%u-%u", flow, job.flows[flow].source,
             job.flows[flow].destination);
    return sg_mailbox_by_name(name);
}

static void send_flow(int argc, char **argv)
{
    (void)argc;
    size_t i = strtoul(argv[0], NULL, 10);
    sg_comm_wait(sg_mailbox_put_async(find_mailbox(i), &job, job.flows[i].bytes));
}

static void receive_flow(int argc, char **argv)
{
    (void)argc;
    size_t i = strtoul(argv[0], NULL, 10);
    void *payload = NULL;
    sg_comm_wait(sg_mailbox_get_async(find_mailbox(i), &payload));
    job.flows[i].finish_s = simgrid_get_clock();
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

/* A path beside the route of SimGrid. */
struct comparison {
    struct ar_path path;
    uint32_t place;
    bool is_same;
};

/* Is the next link of a SimGrid route the next one of a path? */
static void compare_link(const_sg_link_t link, void *data)
{
    struct comparison *with = data;
    const char *found = sg_link_get_name(link);
    size_t length = strlen(found);
    char name[64] = "";
    if (length > 4 && strcmp(found + length - 4, ".net") == 0) {
        return;
    }
    if (with->place < with->path.links_count) {
        ar_cluster_link_name(job.cluster, with->path.links[with->place], name, sizeof name);
    }
    with->is_same = with->is_same && strcmp(found, name) == 0;
    with->place++;
}

static bool has_links_of_path(const struct test_route *route, sg_host_t from, sg_host_t to)
{
    struct comparison with = {.is_same = true};
    ar_cluster_path(job.cluster, route->source, route->destination, &with.path);
    visit_links(from, to, compare_link, &with);
    return with.is_same && with.place == with.path.links_count;
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
    for (size_t i = 0; i < job.count; i++) {
        struct test_zone_route *route = &job.zone_routes[i];
        visit_links(find_host(route->source), find_host(route->destination), note_link, route);
    }
}

static void look_up_routes(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (size_t i = 0; i < job.count; i++) {
        sg_host_t source = find_host(job.routes[i].source);
        sg_host_t destination = find_host(job.routes[i].destination);
        job.routes[i].latency_s = sg_host_get_route_latency(source, destination);
        job.routes[i].bandwidth_Bps = sg_host_get_route_bandwidth(source, destination);
        job.routes[i].has_links_of_path = has_links_of_path(&job.routes[i], source, destination);
    }
    *job.hosts_count = sg_host_count();
}

static void start_actors(void)
{
    if (job.routes != NULL || job.zone_routes != NULL) {
        /* As an actor, since SimGrid completes its routing tables when the simulation starts. */
        sg_actor_create("look-up", find_host(0),
                        job.routes != NULL ? look_up_routes : note_zone_routes, 0, NULL);
        return;
    }
    for (size_t i = 0; i < job.count; i++) {
        char number[32];
        snprintf(number, sizeof number, "%zu", i);
        char *arguments[] = {number, NULL};
        sg_actor_create("send", find_host(job.flows[i].source), send_flow, 1, arguments);
        sg_actor_create("receive", find_host(job.flows[i].destination), receive_flow, 1, arguments);
    }
}

/* The child: never returns. */
static void simulate(const char *platform)
{
    char *arguments[] = {"test", "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
                         "--cfg=network/TCP-gamma:0",
                         /* The lazy update of 3.32 may overfill a link when many flows start at
                          * once and several links fill up together. */
                         "--cfg=network/optim:Full", "--cfg=contexts/stack-size:128",
                         "--log=root.thres:error", NULL};
    int arguments_count = 7;
    simgrid_init(&arguments_count, arguments);
    simgrid_load_platform(platform);
    start_actors();
    simgrid_run();
    _exit(0);
}

/* Runs the job on a platform file, which goes. */
static void simulate_in_child(const char *path)
{
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        simulate(path);
    }
    int state = -1;
    waitpid(child, &state, 0);
    unlink(path);
    cr_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0, "SimGrid failed on the platform");
}

static void simulate_cluster(const struct ar_cluster *cluster, uint32_t nodes_count)
{
    char path[TEST_PATH_SIZE];
    test_file_make("", 0, path);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL);
    ar_cluster_write_simgrid(cluster, nodes_count, NULL, 0, file);
    cr_assert_eq(fclose(file), 0);
    job.cluster = cluster;
    simulate_in_child(path);
}

static void *share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    return memory;
}

void test_platform_transfer(const struct ar_cluster *cluster, uint32_t nodes_count,
                            struct test_flow *flows, size_t flows_count)
{
    size_t size = flows_count * sizeof *flows;
    job.flows = share(size);
    job.routes = NULL;
    job.count = flows_count;
    memcpy(job.flows, flows, size);
    simulate_cluster(cluster, nodes_count);
    memcpy(flows, job.flows, size);
    munmap(job.flows, size);
}

void test_platform_check_routes(const struct ar_cluster *cluster, uint32_t nodes_count)
{
    uint32_t gpus = nodes_count * ar_cluster_facts(cluster)->gpus_per_node;
    size_t pairs = (size_t)gpus * gpus, stride = pairs > 10000 ? pairs / 10000 | 1 : 1;
    size_t size = (pairs / stride + 1) * sizeof *job.routes;
    job.routes = share(size);
    job.hosts_count = share(sizeof *job.hosts_count);
    job.count = 0;
    for (size_t pair = 0; pair < pairs; pair += stride) {
        struct test_route *route = &job.routes[job.count];
        *route = (struct test_route){.source = (uint32_t)(pair / gpus),
                                     .destination = (uint32_t)(pair % gpus)};
        job.count += route->source != route->destination;
    }
    simulate_cluster(cluster, nodes_count);
    cr_assert_eq(*job.hosts_count, gpus);
    for (size_t i = 0; i < job.count; i++) {
        const struct test_route *route = &job.routes[i];
        struct ar_path path;
        ar_cluster_path(cluster, route->source, route->destination, &path);
        cr_assert_float_eq(route->latency_s, path.latency_s, 1e-18, "gpu-%u to gpu-%u: %.17g",
                           route->source, route->destination, route->latency_s);
        cr_assert_eq(route->bandwidth_Bps, path.bandwidth_Bps, "gpu-%u to gpu-%u: %.17g",
                     route->source, route->destination, route->bandwidth_Bps);
        cr_assert(route->has_links_of_path, "gpu-%u to gpu-%u", route->source, route->destination);
    }
    munmap(job.routes, size);
    munmap(job.hosts_count, sizeof *job.hosts_count);
}

void test_zone_look_up(const char *platform, struct test_zone_route *routes, size_t routes_count)
{
    char path[TEST_PATH_SIZE];
    size_t size = routes_count * sizeof *routes;
    job.zone_routes = share(size);
    job.count = routes_count;
    memcpy(job.zone_routes, routes, size);
    simulate_in_child(test_file_make(platform, strlen(platform), path));
    memcpy(routes, job.zone_routes, size);
    munmap(job.zone_routes, size);
    job.zone_routes = NULL;
}
