/* One zone of all hosts, with a route for each pair of them as ar_path_find() has it: for fabrics
 * whose routes are no matter of zones and gates, and for routes that end at switches, which are
 * hosts then.
 *
 * Only links that some route takes are written. The latency of a path is on a link of its own
 * before its first one, a link for each of the tiers of its paths, since one over the network may
 * begin with an NVLink; that of a switch is on each link of the fabric. The links with the latency
 * are those of messages that share a link anyway: SimGrid's lazy update gives others wrong shares
 * once they have a link in common, however wide (README.md). */
#include <stdlib.h>
#include <string.h>

#include "simgrid_writer.h"

/* What is written. */
struct flat {
    const struct ar_cluster *cluster;
    const struct ar_flow *pairs; /* NULL: all */
    uint64_t pairs_count;
    uint32_t ranks;
    const char **names; /* of links that are used; else NULL */
    uint8_t *tiers;     /* [link]: bits of the tiers of paths that begin with it */
    bool *has_switch;   /* [rank]: some route ends or begins at AR_SWITCH with it */
    struct ar_arena *arena;
    FILE *file;
};

static struct ar_flow pair_at(const struct flat *flat, uint64_t index)
{
    return flat->pairs != NULL
               ? flat->pairs[index]
               : (struct ar_flow){(uint32_t)(index / flat->ranks), (uint32_t)(index % flat->ranks)};
}

/* By source, then by destination. */
static int compare_pairs(const void *a, const void *b)
{
    const struct ar_flow *left = a, *right = b;
    return left->source != right->source
               ? (left->source > right->source) - (left->source < right->source)
               : (left->destination > right->destination) -
                     (left->destination < right->destination);
}

/* SimGrid refuses a route that is there twice. */
static enum ar_status copy_pairs(const struct ar_flow *pairs, size_t count, struct flat *flat,
                                 struct ar_error *err)
{
    struct ar_flow *copy = ar_arena_alloc(flat->arena, count, sizeof *copy);
    AR_NEED(copy, err, "the routes of the platform");
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

/* Spine and rack have one latency. */
static enum ar_tier tier_of(const struct ar_path *path)
{
    return path->tier == AR_TIER_SPINE ? AR_TIER_RACK : path->tier;
}

static enum ar_status name_links(struct flat *flat, struct ar_error *err)
{
    size_t links_count = ar_cluster_links_count(flat->cluster);
    flat->names = ar_arena_alloc(flat->arena, links_count, sizeof *flat->names);
    flat->tiers = ar_arena_alloc(flat->arena, links_count, sizeof *flat->tiers);
    flat->has_switch = ar_arena_alloc(flat->arena, flat->ranks, sizeof *flat->has_switch);
    for (uint64_t i = 0; !flat->arena->is_broken && i < flat->pairs_count; i++) {
        struct ar_flow pair = pair_at(flat, i);
        struct ar_path path;
        if (pair.source == pair.destination) {
            continue;
        }
        flat->has_switch[pair.source & ~AR_SWITCH] |= (pair.source & AR_SWITCH) != 0;
        flat->has_switch[pair.destination & ~AR_SWITCH] |= (pair.destination & AR_SWITCH) != 0;
        ar_path_find(flat->cluster, pair.source, pair.destination, &path);
        if (path.links_count > 0) {
            flat->tiers[path.links[0]] |= (uint8_t)(1 << tier_of(&path));
        }
        for (uint32_t j = 0; j < path.links_count; j++) {
            char name[AR_SIMGRID_NAME_SIZE];
            const char **kept = &flat->names[path.links[j]];
            if (*kept == NULL) {
                ar_cluster_link_name(flat->cluster, path.links[j], name, sizeof name);
                *kept = ar_arena_text(flat->arena, name);
            }
        }
    }
    AR_NEED(!flat->arena->is_broken, err, "the links of the platform");
    return AR_OK;
}

/* `node-3.hca-0.out.net`, `node-3.port-1.out.nvlink.net`. */
static const char *net_name(const struct flat *flat, uint32_t link, enum ar_tier tier, char *name,
                            size_t size)
{
    bool is_network = tier == AR_TIER_RACK;
    snprintf(name, size, "%s%s%s.net", flat->names[link], is_network ? "" : ".",
             is_network ? "" : ar_tier_name(tier));
    return name;
}

static void write_net_links(const struct flat *flat, uint32_t link)
{
    double bandwidth_Bps = ar_cluster_link_bandwidth(flat->cluster, link);
    for (uint32_t tier = 0; tier < AR_TIERS_COUNT; tier++) {
        char name[AR_SIMGRID_NAME_SIZE];
        if ((flat->tiers[link] >> tier & 1) != 0) {
            ar_simgrid_write_net_link(net_name(flat, link, (enum ar_tier)tier, name, sizeof name),
                                      bandwidth_Bps, flat->cluster->latencies_s[tier], flat->file);
        }
    }
}

static void write_links(const struct flat *flat)
{
    const struct ar_cluster *cluster = flat->cluster;
    uint32_t links_count = ar_cluster_links_count(cluster);
    for (uint32_t link = 0; link < links_count; link++) {
        if (flat->names[link] != NULL) {
            bool is_local = link < cluster->first_fabric_link;
            ar_simgrid_write_link(cluster, link,
                                  is_local ? 0 : cluster->values.number[TOPO_SWITCH_LATENCY],
                                  flat->file);
            write_net_links(flat, link);
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
    char net[AR_SIMGRID_NAME_SIZE], from[AR_SIMGRID_NAME_SIZE], to[AR_SIMGRID_NAME_SIZE];
    fprintf(flat->file, "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">",
            ar_host_name(pair.source, from, sizeof from),
            ar_host_name(pair.destination, to, sizeof to));
    ar_simgrid_write_hop(net_name(flat, path.links[0], tier_of(&path), net, sizeof net),
                         flat->file);
    for (uint32_t i = 0; i < path.links_count; i++) {
        ar_simgrid_write_hop(flat->names[path.links[i]], flat->file);
    }
    fprintf(flat->file, "</route>\n");
}

static void write_zone(const struct flat *flat)
{
    ar_simgrid_begin(flat->cluster, "Full", flat->file);
    write_links(flat);
    for (uint32_t rank = 0; rank < flat->ranks; rank++) {
        ar_simgrid_write_host(rank, flat->file);
        if (flat->has_switch[rank]) {
            ar_simgrid_write_host(AR_SWITCH | rank, flat->file);
        }
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
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t ranks = nodes_count * cluster->facts.gpus_per_node;
    struct flat flat = {.cluster = cluster,
                        .ranks = ranks,
                        .arena = &arena,
                        .pairs_count = pairs == NULL ? (uint64_t)ranks * ranks : 0,
                        .file = file};
    if (pairs != NULL) {
        AR_TRY(copy_pairs(pairs, pairs_count, &flat, err));
    }
    AR_TRY(name_links(&flat, err));
    write_zone(&flat);
    return AR_OK;
}
