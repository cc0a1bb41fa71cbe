/* Finding links by the names that users give them. */
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "fabric.h"

enum { NAME_SIZE = 160 }; /* SimGrid makes long ones */

/* The number behind a prefix that ends with '-'; false if there is none. */
static bool read_index(const char *name, const char *prefix, uint32_t *index)
{
    size_t length = strlen(prefix);
    size_t digits = strspn(name + (strncmp(name, prefix, length) == 0 ? length : 0), "0123456789");
    if (strncmp(name, prefix, length) != 0 || digits == 0 || digits > 9) {
        return false;
    }
    *index = (uint32_t)strtoul(name + length, NULL, 10);
    return true;
}

/* Where the direction of a link's name begins; its end if the name has none. */
static const char *direction_of(const char *full)
{
    static const char *const directions[] = {".out", ".in", ".up", ".down", "_UP", "_DOWN"};
    const char *end = full + strlen(full);
    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++) {
        size_t length = strlen(directions[i]);
        if ((size_t)(end - full) > length && strcmp(end - length, directions[i]) == 0) {
            return end - length;
        }
    }
    return end;
}

/* The links that a name may mean: those of a node, of a rack, or all of a platform. */
struct candidates {
    uint32_t first;
    uint32_t count;
};

static uint32_t find_among(const struct ar_cluster *cluster, struct candidates candidates,
                           const char *name, uint32_t links[2])
{
    size_t length = strlen(name);
    uint32_t found = 0;
    for (uint32_t i = 0; i < candidates.count; i++) {
        char full[NAME_SIZE];
        ar_cluster_link_name(cluster, candidates.first + i, full, sizeof full);
        if (strcmp(name, full) == 0) {
            links[0] = candidates.first + i;
            return 1;
        }
        bool is_meant = direction_of(full) == full + length && strncmp(name, full, length) == 0;
        if (is_meant && found < 2) {
            links[found++] = candidates.first + i;
        }
    }
    return found;
}

/* Adds the names of the candidates, and those without a direction, to `names`; false without
 * memory. */
static bool add_names(const struct ar_cluster *cluster, struct candidates candidates,
                      struct ar_arena *arena, const char **names, size_t *count)
{
    for (uint32_t i = 0; i < candidates.count; i++) {
        char full[NAME_SIZE];
        ar_cluster_link_name(cluster, candidates.first + i, full, sizeof full);
        size_t length = (size_t)(direction_of(full) - full);
        const char *whole = ar_arena_text(arena, full);
        const char *bare = ar_arena_format(arena, "%.*s", (int)length, full);
        if (whole == NULL || bare == NULL) {
            return false;
        }
        names[(*count)++] = whole;
        names[*count] = bare;
        *count += full[length] != '\0';
    }
    return true;
}

static struct candidates node_links(const struct ar_cluster *cluster, uint32_t node)
{
    bool exists = node < cluster->facts.nodes_count;
    return (struct candidates){.first = exists ? node * cluster->node.count : 0,
                               .count = cluster->node.count};
}

static struct candidates rack_links(const struct ar_cluster *cluster, uint32_t rack)
{
    bool exists = rack < cluster->racks_count;
    return (struct candidates){.first = cluster->first_rack_link + (exists ? 2 * rack : 0),
                               .count = cluster->racks_count > 0 ? 2 : 0};
}

static struct candidates all_links(const struct ar_cluster *cluster)
{
    return (struct candidates){.first = 0, .count = ar_cluster_links_count(cluster)};
}

/* Names the nearest of the links that the name may have meant. */
static enum ar_status report_unknown(const struct ar_cluster *cluster,
                                     const struct ar_setting *setting, const char *name,
                                     struct ar_arena *arena, struct ar_error *err)
{
    /* Where the name may have come from: the node and the rack of its first number. */
    uint32_t index = (uint32_t)strtoul(name + strcspn(name, "0123456789"), NULL, 10);
    bool is_platform = cluster->platform != NULL;
    struct candidates of_node = is_platform ? all_links(cluster) : node_links(cluster, index);
    struct candidates of_rack =
        is_platform ? (struct candidates){.count = 0} : rack_links(cluster, index);
    size_t capacity = 2 * ((size_t)of_node.count + of_rack.count) + 1;
    const char **names = ar_arena_alloc(arena, capacity, sizeof *names);
    size_t count = 0;
    if (names == NULL || !add_names(cluster, of_node, arena, names, &count) ||
        !add_names(cluster, of_rack, arena, names, &count)) {
        return ar_error_no_memory(err, "the names of links");
    }
    const char *nearest = ar_nearest_name(name, names, count);
    if (nearest != NULL) {
        return ar_error_set(err, setting->status,
                            "%s: unknown link \"%.60s\"; did you mean \"%s\"?", setting->where,
                            name, nearest);
    }
    return ar_error_set(err, setting->status,
                        "%s: unknown link \"%.60s\"; expected one such as \"%s\"", setting->where,
                        name, count > 0 ? names[0] : "node-0.hca-0");
}

static enum ar_status report_absent(const struct ar_setting *setting, const char *name,
                                    const char *noun, uint32_t count, struct ar_error *err)
{
    if (count == 0) {
        return ar_error_set(err, setting->status,
                            "%s: found link \"%.60s\"; expected one of a node, since all nodes of "
                            "the cluster share one rack",
                            setting->where, name);
    }
    return ar_error_set(err, setting->status,
                        "%s: found link \"%.60s\"; expected one of %ss 0 to %u, all that the "
                        "cluster has",
                        setting->where, name, noun, count - 1);
}

enum ar_status ar_cluster_find_links(const struct ar_cluster *cluster,
                                     const struct ar_setting *setting, const char *name,
                                     uint32_t links[2], uint32_t *links_count, struct ar_error *err)
{
    uint32_t index = 0;
    struct candidates candidates = {.count = 0};
    if (cluster->platform != NULL) {
        candidates = all_links(cluster);
    } else if (read_index(name, "node-", &index)) {
        if (index >= cluster->facts.nodes_count) {
            return report_absent(setting, name, "node", cluster->facts.nodes_count, err);
        }
        candidates = node_links(cluster, index);
    } else if (read_index(name, "rack-", &index)) {
        if (index >= cluster->racks_count) {
            return report_absent(setting, name, "rack", cluster->racks_count, err);
        }
        candidates = rack_links(cluster, index);
    }
    uint32_t found[2];
    uint32_t count = find_among(cluster, candidates, name, found);
    if (count == 0) {
        struct ar_arena arena = {.last = NULL};
        enum ar_status status = report_unknown(cluster, setting, name, &arena, err);
        ar_arena_end(&arena);
        return status;
    }
    memcpy(links, found, count * sizeof *links);
    *links_count = count;
    return AR_OK;
}
