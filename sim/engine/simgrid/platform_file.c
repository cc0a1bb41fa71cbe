/* Parent side: the file, its hosts and links as cluster, the questions asked of children. */
#include "ar_platform_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simgrid_child.h"

bool ar_platform_file_is_named(const char *text)
{
    static const char ending[] = ".xml";
    size_t length = strlen(text);
    return length > strlen(ending) && strcmp(text + length - strlen(ending), ending) == 0;
}

/* --- loading --------------------------------------------------------------------------------- */

static enum ar_status check_file(const char *path, struct ar_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0 || access(path, R_OK) != 0) {
        return ar_error_set(err, AR_NO_INPUT, "%.300s: cannot read: %s", path, strerror(errno));
    }
    return S_ISDIR(info.st_mode)
               ? ar_error_set(err, AR_NO_INPUT,
                              "%.300s: found a directory; expected a SimGrid platform file", path)
               : AR_OK;
}

/* Editors write one that cannot be seen. */
static bool has_byte_order_mark(const char *path)
{
    char begin[3] = "";
    FILE *file = fopen(path, "rbe");
    bool has = file != NULL && fread(begin, 1, sizeof begin, file) == sizeof begin &&
               memcmp(begin, "\xef\xbb\xbf", sizeof begin) == 0;
    if (file != NULL) {
        fclose(file);
    }
    return has;
}

/* Compares runs of digits by their value, other text by its bytes. */
static int compare_naturally(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    const char *whole_a = a;
    const char *whole_b = b;
    while (*a != '\0' && *b != '\0') {
        size_t zeros_a = strspn(a, "0");
        size_t zeros_b = strspn(b, "0");
        size_t length_a = strspn(a + zeros_a, digits);
        size_t length_b = strspn(b + zeros_b, digits);
        if (zeros_a + length_a == 0 || zeros_b + length_b == 0) {
            if (*a != *b) {
                return (unsigned char)*a - (unsigned char)*b;
            }
            a++;
            b++;
            continue;
        }
        a += zeros_a;
        b += zeros_b;
        int order = length_a != length_b ? (length_a > length_b ? 1 : -1) : strncmp(a, b, length_a);
        if (order != 0) {
            return order;
        }
        a += length_a;
        b += length_b;
    }
    int order = (unsigned char)*a - (unsigned char)*b;
    return order != 0 ? order : strcmp(whole_a, whole_b); /* "gpu-01" and "gpu-1" */
}

static int compare_hosts(const void *a, const void *b)
{
    return compare_naturally(*(const char *const *)a, *(const char *const *)b);
}

static int compare_links(const void *a, const void *b)
{
    return strcmp(((const struct ar_platform_link *)a)->name,
                  ((const struct ar_platform_link *)b)->name);
}

/* The content of a platform as its child answered it; the texts stay in the answer. */
static void read_content(char *data, const struct platform_counts *counts, const char **hosts,
                         struct ar_platform_link *links)
{
    for (uint32_t i = 0; i < counts->hosts; i++) {
        hosts[i] = data;
        data += strlen(data) + 1;
    }
    for (uint32_t i = 0; i < counts->links; i++) {
        memcpy(&links[i].bandwidth_Bps, data, sizeof links[i].bandwidth_Bps);
        data += sizeof links[i].bandwidth_Bps;
        links[i].is_shared = *data != 0;
        links[i].name = data + 1;
        data += 1 + strlen(data + 1) + 1;
    }
    qsort(hosts, counts->hosts, sizeof *hosts, compare_hosts);
    qsort(links, counts->links, sizeof *links, compare_links);
}

static const struct ar_platform_source source;

static enum ar_status make_cluster(const char *path, const struct simgrid_answer *answer,
                                   struct ar_settings settings, struct ar_arena *arena,
                                   struct ar_cluster **cluster, struct ar_error *err)
{
    struct platform_counts counts = {.hosts = 0};
    if (answer->size >= sizeof counts) {
        memcpy(&counts, answer->data, sizeof counts);
    }
    if (counts.hosts < 2) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: found %" PRIu32 " host%s; expected at least 2, one for each "
                            "GPU",
                            path, counts.hosts, counts.hosts == 1 ? "" : "s");
    }
    const char **hosts = ar_arena_alloc(arena, counts.hosts, sizeof *hosts);
    struct ar_platform_link *links = ar_arena_alloc(arena, counts.links + 1u, sizeof *links);
    AR_NEED(hosts && links, err, "the platform");
    read_content(answer->data + sizeof counts, &counts, hosts, links);
    const struct ar_platform_content content = {
        .hosts = hosts, .hosts_count = counts.hosts, .links = links, .links_count = counts.links};
    return ar_cluster_from_platform(path, &content, &source, settings, arena, cluster, err);
}

/* SimGrid's own words say best what is wrong with a file. */
static enum ar_status report_refusal(const char *path, const char *cause, struct ar_error *err)
{
    static const char parse_error[] = "Parse error at ";
    if (has_byte_order_mark(path)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s:1: begins with a byte-order mark, which SimGrid does not take; "
                            "expected a file without it",
                            path);
    }
    if (strncmp(cause, parse_error, strlen(parse_error)) == 0) {
        return ar_error_set(err, AR_BAD_DATA, "%s; expected a SimGrid platform file",
                            cause + strlen(parse_error));
    }
    return ar_error_set(err, AR_BAD_DATA, "%.150s: SimGrid does not take it as a platform: %s",
                        path, cause[0] != '\0' ? cause : "it ended without saying why");
}

enum ar_status ar_platform_file_load(const char *path, struct ar_settings settings,
                                     struct ar_arena *arena, struct ar_cluster **cluster,
                                     struct ar_error *err)
{
    struct simgrid_answer answer;
    struct platform_content_task own = {.task = {.kind = SIMGRID_CONTENT}, .path = path};
    AR_TRY(check_file(path, err));
    enum ar_status status = simgrid_fork(&own.task, &answer, err);
    if (answer.data != NULL && ar_arena_own(arena, answer.data, free) == NULL) {
        return ar_error_no_memory(err, "the platform");
    }
    AR_TRY(status == AR_INTERNAL ? report_refusal(path, answer.cause, err) : status);
    return make_cluster(path, &answer, settings, arena, cluster, err);
}

/* --- routes ---------------------------------------------------------------------------------- */

static enum ar_status report_apart(const struct ar_cluster *cluster, struct ar_flow pair,
                                   struct ar_error *err)
{
    char from[PLATFORM_NAME_SIZE];
    char to[PLATFORM_NAME_SIZE];
    return ar_error_set(err, AR_BAD_DATA,
                        "GPUs %" PRIu32 " and %" PRIu32
                        " cannot reach each other: %.150s has no route from host "
                        "\"%.80s\" to host \"%.80s\"",
                        pair.source < pair.destination ? pair.source : pair.destination,
                        pair.source < pair.destination ? pair.destination : pair.source,
                        ar_cluster_platform_path(cluster),
                        ar_cluster_host_name(cluster, pair.source, from, sizeof from),
                        ar_cluster_host_name(cluster, pair.destination, to, sizeof to));
}

/* Takes the routes out of an answer; returns how many there are in full and with links. */
static size_t take_routes(const struct simgrid_answer *answer, struct ar_platform_route *routes,
                          size_t routes_count, uint32_t *links)
{
    size_t at = 1; /* behind the sign of life */
    for (size_t i = 0; i < routes_count; i++) {
        struct platform_route_head head;
        if (at + sizeof head > answer->size) {
            return i;
        }
        memcpy(&head, answer->data + at, sizeof head);
        at += sizeof head;
        if (head.links_count == 0 || at + head.links_count * sizeof *links > answer->size) {
            return i;
        }
        memcpy(links, answer->data + at, head.links_count * sizeof *links);
        at += head.links_count * sizeof *links;
        routes[i].latency_s = head.latency_s;
        routes[i].links_count = head.links_count;
        routes[i].links = links;
        links += head.links_count;
    }
    return routes_count;
}

static enum ar_status find_routes(const struct ar_cluster *cluster,
                                  struct ar_platform_route *routes, size_t routes_count,
                                  struct ar_arena *arena, struct ar_error *err)
{
    struct simgrid_answer answer;
    struct platform_routes_task own = {.task = {.kind = SIMGRID_ROUTES},
                                       .cluster = cluster,
                                       .routes = routes,
                                       .routes_count = routes_count};
    enum ar_status status = simgrid_fork(&own.task, &answer, err);
    uint32_t *links = ar_arena_alloc(arena, answer.size / sizeof *links + 1, sizeof *links);
    if (links == NULL || (answer.data != NULL && ar_arena_own(arena, answer.data, free) == NULL)) {
        return ar_error_no_memory(err, "the routes of a platform");
    }
    if (status == AR_INTERNAL && answer.size == 0) {
        return report_refusal(ar_cluster_platform_path(cluster), answer.cause, err);
    }
    if (status != AR_OK && answer.cause[0] == '\0') { /* somebody else killed it */
        return status;
    }
    size_t count = take_routes(&answer, routes, routes_count, links);
    return count < routes_count ? report_apart(cluster, routes[count].pair, err) : AR_OK;
}

/* --- rates ----------------------------------------------------------------------------------- */

static enum ar_status find_rates(const struct ar_cluster *cluster, const struct ar_flow *flows,
                                 size_t flows_count, double *rates_Bps, struct ar_error *err)
{
    struct simgrid_answer answer;
    size_t size = flows_count * sizeof *rates_Bps;
    struct platform_rates_task own = {
        .task = {.kind = SIMGRID_RATES, .actors_count = 2 * flows_count},
        .cluster = cluster,
        .flows = flows,
        .flows_count = flows_count,
        .guesses_Bps = rates_Bps,
    };
    enum ar_status status = simgrid_fork(&own.task, &answer, err);
    if (status == AR_OK && answer.size != size) {
        status = ar_error_set(err, AR_INTERNAL, "the rates of %zu flows came as %zu bytes",
                              flows_count, answer.size);
    }
    if (status == AR_OK) {
        memcpy(rates_Bps, answer.data, size);
    }
    free(answer.data);
    return status;
}

static const struct ar_platform_source source = {.routes = find_routes, .rates = find_rates};
