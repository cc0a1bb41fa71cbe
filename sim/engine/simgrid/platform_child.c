/* Child side: SimGrid's answers on hosts, links and routes. */
#include "simgrid_child.h"
#include "simgrid_host.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/version.h>
#if SIMGRID_VERSION < 40000
#include <xbt/dynar.h>
#endif

void platform_open(const struct ar_cluster *cluster, const char *path)
{
    simgrid_load_platform(path);
    bool is_own = ar_cluster_platform_path(cluster) != NULL;
    for (uint32_t link = 0; is_own && link < ar_cluster_links_count(cluster); link++) {
        if (ar_cluster_link_factor(cluster, link) != 1) {
            char name[PLATFORM_NAME_SIZE];
            ar_cluster_link_name(cluster, link, name, sizeof name);
            sg_link_set_bandwidth(sg_link_by_name(name), ar_cluster_link_bandwidth(cluster, link));
        }
    }
}

/* --- hosts and links ------------------------------------------------------------------------- */

static void write_content(const struct platform_counts *counts, FILE *file)
{
    sg_host_t *hosts = counts->hosts > 0 ? sg_host_list() : NULL;
    sg_link_t *links = sg_link_list();
    fwrite(counts, sizeof *counts, 1, file);
    for (uint32_t i = 0; i < counts->hosts; i++) {
        const char *name = sg_host_get_name(hosts[i]);
        fwrite(name, strlen(name) + 1, 1, file);
    }
    for (uint32_t i = 0; i < counts->links; i++) {
        const char *name = sg_link_get_name(links[i]);
        double bandwidth_Bps = sg_link_get_bandwidth(links[i]);
        fwrite(&bandwidth_Bps, sizeof bandwidth_Bps, 1, file);
        fputc(sg_link_is_shared(links[i]) != 0, file);
        fwrite(name, strlen(name) + 1, 1, file);
    }
}

bool platform_answer_content(struct simgrid_task *task, FILE *answer)
{
    const struct platform_content_task *own = (const struct platform_content_task *)task;
    simgrid_load_platform(own->path);
    struct platform_counts counts = {.hosts = (uint32_t)sg_host_count(),
                                     .links = (uint32_t)sg_link_count()};
    write_content(&counts, answer);
    return ferror(answer) == 0;
}

/* --- routes ---------------------------------------------------------------------------------- */

struct looker {
    const struct platform_routes_task *task;
    FILE *answer;
};

/* Notes the number of each link in the link itself. */
static void number_links(const struct ar_cluster *cluster)
{
    for (uint32_t i = 0; i < ar_cluster_links_count(cluster); i++) {
        char name[PLATFORM_NAME_SIZE];
        sg_link_t link = sg_link_by_name(ar_cluster_link_name(cluster, i, name, sizeof name));
        assert(link != NULL);
        sg_link_set_data(link, (void *)(uintptr_t)i);
    }
}

static uint32_t number_of(const_sg_link_t link)
{
    return (uint32_t)(uintptr_t)sg_link_get_data(link);
}

/* The numbers of the links of a route, in a new array. */
#if SIMGRID_VERSION >= 40000
static uint32_t *route_links(sg_host_t from, sg_host_t to, uint32_t *count)
{
    int size = 0;
    const_sg_link_t *links = sg_host_get_route_links(from, to, &size);
    uint32_t *numbers = child_alloc((size_t)size + 1, sizeof *numbers, "a route");
    for (int i = 0; i < size; i++) {
        numbers[i] = number_of(links[i]);
    }
    free(links);
    *count = (uint32_t)size;
    return numbers;
}
#else
static uint32_t *route_links(sg_host_t from, sg_host_t to, uint32_t *count)
{
    xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);
    sg_host_get_route(from, to, links);
    *count = (uint32_t)xbt_dynar_length(links);
    uint32_t *numbers = child_alloc(*count + 1u, sizeof *numbers, "a route");
    for (uint32_t i = 0; i < *count; i++) {
        numbers[i] = number_of(xbt_dynar_get_as(links, i, sg_link_t));
    }
    xbt_dynar_free(&links);
    return numbers;
}
#endif

static void answer_route(const struct looker *looker, struct ar_flow pair)
{
    sg_host_t from = child_host(looker->task->cluster, pair.source);
    sg_host_t to = child_host(looker->task->cluster, pair.destination);
    struct platform_route_head head;
    memset(&head, 0, sizeof head); /* its padding travels, too */
    uint32_t *links = route_links(from, to, &head.links_count);
    head.latency_s = head.links_count > 0 ? sg_host_get_route_latency(from, to) : 0;
    fwrite(&head, sizeof head, 1, looker->answer);
    fwrite(links, sizeof *links, head.links_count, looker->answer);
    fflush(looker->answer); /* the next pair may be the end of this process */
    free(links);
}

/* An actor, since SimGrid completes its routing tables when the simulation starts. */
static void look_up_routes(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    const struct looker *looker = sg_actor_self_get_data();
    fputc('\0', looker->answer);
    fflush(looker->answer);
    for (size_t i = 0; i < looker->task->routes_count; i++) {
        answer_route(looker, looker->task->routes[i].pair);
        child_progress++;
    }
}

bool platform_answer_routes(struct simgrid_task *task, FILE *answer)
{
    const struct platform_routes_task *own = (const struct platform_routes_task *)task;
    struct looker looker = {.task = own, .answer = answer};
    platform_open(own->cluster, ar_cluster_platform_path(own->cluster));
    child_watch(task);
    number_links(own->cluster);
    sg_actor_t actor = sg_actor_init("look-up", child_host(own->cluster, 0));
    sg_actor_set_data(actor, &looker);
    sg_actor_start_(actor, look_up_routes, 0, NULL);
    simgrid_run();
    return ferror(answer) == 0;
}
