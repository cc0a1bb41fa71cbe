/* One zone of all hosts, with a route for each pair of them as ar_path_find() has it: for fabrics
 * whose routes are no matter of zones and gates.
 *
 * Only links that some route takes are written. The latency of a path is on a link of its sender's
 * node for its tier, since one over the network may begin with an NVLink; that of a switch is on
 * each link of the fabric. */
#include <stdlib.h>
#include <string.h>

#include "simgrid_writer.h"

/* What is written, in memory of its own. */
struct flat {
    const struct ar_cluster *cluster;
    const struct ar_flow *pairs; /* NULL: all */
    uint64_t pairs_count;
    uint32_t ranks;
    const char **names; /* of links that are used; else NULL */
    struct ar_arena arena;
    FILE *file;
};

static struct ar_flow pair_at(const struct flat *flat, uint64_t index)
{
    return flat->pairs != NULL
               ? flat->pairs[index]
               : (struct ar_flow){(uint32_t)(index / flat->ranks), (uint32_t)(index % flat->ranks)};
}

static int compare_pairs(const void *a, const void *b)
{
    const struct ar_flow *first = a;
    const struct ar_flow *second = b;
    return first->source != second->source
               ? (first->source > second->source) - (first->source < second->source)
               : (first->destination > second->destination) -
                     (first->destination < second->destination);
}

/* SimGrid refuses a route that is there twice. */
static enum ar_status copy_pairs(const struct ar_flow *pairs, size_t count, struct flat *flat,
                                 struct ar_error *err)
{
    struct ar_flow *copy = ar_arena_alloc(&flat->arena, count, sizeof *copy);
    if (copy == NULL) {
        return ar_error_no_memory(err, "the routes of the platform");
    }
    memcpy(copy, pairs, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, compare_pairs);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_pairs(&copy[i - 1], &copy[i]) != 0) {
            copy[flat->pairs_count++] = copy[i];
        }
    }
    flat->pairs = copy;
    return AR_OK;
}

static enum ar_status name_links(struct flat *flat, struct ar_error *err)
{
    size_t links_count = ar_cluster_links_count(flat->cluster);
    flat->names = ar_arena_alloc(&flat->arena, links_count, sizeof *flat->names);
    bool is_made = flat->names != NULL;
    for (uint64_t i = 0; is_made && i < flat->pairs_count; i++) {
        struct ar_flow pair = pair_at(flat, i);
        struct ar_path path;
        if (pair.source == pair.destination) {
            continue;
        }
        ar_path_find(flat->cluster, pair.source, pair.destination, &path);
        for (uint32_t j = 0; is_made && j < path.links_count; j++) {
            char name[AR_SIMGRID_NAME_SIZE];
            const char **kept = &flat->names[path.near_links[j]];
            if (*kept == NULL) {
                ar_cluster_link_name(flat->cluster, path.near_links[j], name, sizeof name);
                *kept = ar_arena_text(&flat->arena, name);
                is_made = *kept != NULL;
            }
        }
    }
    return is_made ? AR_OK : ar_error_no_memory(err, "the links of the platform");
}

/* SimGrid takes no link without bandwidth. */
static bool has_net_link(const struct ar_cluster *cluster, enum ar_tier tier)
{
    return cluster->latencies_s[tier] > 0 && ar_simgrid_net_width(cluster, tier) > 0;
}

static void write_links(const struct flat *flat, uint32_t nodes_count)
{
    const struct ar_cluster *cluster = flat->cluster;
    static const enum ar_tier tiers[] = {AR_TIER_RACK, AR_TIER_NVLINK, AR_TIER_PCIE};
    for (uint32_t i = 0; i < nodes_count * 3; i++) {
        if (has_net_link(cluster, tiers[i % 3])) {
            ar_simgrid_write_net_link(cluster, i / 3, tiers[i % 3], flat->file);
        }
    }
    uint32_t links_count = ar_cluster_links_count(cluster);
    for (uint32_t link = 0; link < links_count; link++) {
        if (flat->names[link] != NULL) {
            bool is_local = link < cluster->first_fabric_link;
            ar_simgrid_write_link(cluster, link,
                                  is_local ? 0 : cluster->values.number[TOPO_SWITCH_LATENCY],
                                  flat->file);
        }
    }
}

static void write_route(const struct flat *flat, struct ar_flow pair)
{
    struct ar_path path;
    ar_path_find(flat->cluster, pair.source, pair.destination, &path);
    if (path.links_count == 0) {
        return;
    }
    fprintf(flat->file, "<route src=\"gpu-%u\" dst=\"gpu-%u\" symmetrical=\"NO\">", pair.source,
            pair.destination);
    if (has_net_link(flat->cluster, path.tier)) {
        char net[AR_SIMGRID_NAME_SIZE];
        uint32_t node = pair.source / flat->cluster->facts.gpus_per_node;
        ar_simgrid_write_hop(ar_simgrid_net_name(node, path.tier, net, sizeof net), flat->file);
    }
    for (uint32_t i = 0; i < path.links_count; i++) {
        ar_simgrid_write_hop(flat->names[path.near_links[i]], flat->file);
    }
    fprintf(flat->file, "</route>\n");
}

static void write_zone(const struct flat *flat, uint32_t nodes_count)
{
    ar_simgrid_begin(flat->cluster, "Full", flat->file);
    write_links(flat, nodes_count);
    for (uint32_t rank = 0; rank < flat->ranks; rank++) {
        ar_simgrid_write_host(flat->cluster, rank, flat->file);
    }
    for (uint64_t i = 0; i < flat->pairs_count; i++) {
        struct ar_flow pair = pair_at(flat, i);
        if (pair.source != pair.destination) {
            write_route(flat, pair);
        }
    }
    ar_simgrid_end(flat->file);
}

enum ar_status ar_simgrid_write_flat(const struct ar_cluster *cluster, uint32_t nodes_count,
                                     const struct ar_flow *pairs, size_t pairs_count, FILE *file,
                                     struct ar_error *err)
{
    uint32_t ranks = nodes_count * cluster->facts.gpus_per_node;
    struct flat flat = {.cluster = cluster,
                        .ranks = ranks,
                        .pairs_count = pairs == NULL ? (uint64_t)ranks * ranks : 0,
                        .file = file};
    enum ar_status status = pairs != NULL ? copy_pairs(pairs, pairs_count, &flat, err) : AR_OK;
    if (status == AR_OK) {
        status = name_links(&flat, err);
    }
    if (status == AR_OK) {
        write_zone(&flat, nodes_count);
    }
    ar_arena_end(&flat.arena);
    return status;
}
