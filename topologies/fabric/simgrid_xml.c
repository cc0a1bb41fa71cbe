/* A cluster as SimGrid platform: a tree of zones, or one zone with a route for each pair. */
#include "ar_simgrid_xml.h"

#include <assert.h>
#include <stdlib.h>

#include "ar_numbers.h"
#include "fabric.h"

enum { NAME_SIZE = AR_LINK_NAME_SIZE }; /* of a link, a host or a zone */

/* Nothing computes on the hosts by their speed: kernels take times from cost tables. */
static const char host_speed[] = "1Gf";

/* A link that never limits is this much wider than the HCAs or GPUs of its node together. */
static const double net_width = 1000;
static const char *const net_ways[] = {"out", "in"};

static void write_begin(const struct ar_cluster *cluster, const char *routing, FILE *file)
{
    fprintf(file,
            "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "<zone id=\"cluster\" routing=\"%s\">\n"
            "<prop id=\"name\" value=\"%s\"/>\n",
            routing, cluster->facts.name);
}

static void write_host(uint32_t rank, FILE *file)
{
    fprintf(file, "<host id=\"%s\" speed=\"%s\" core=\"1\"/>\n", AR_SHOW_HOST(rank), host_speed);
}

static void write_link(const char *name, double bandwidth_Bps, double latency_s, FILE *file)
{
    fprintf(file,
            "<link id=\"%s\" bandwidth=\"%.17gBps\" latency=\"%.17gs\" "
            "sharing_policy=\"SHARED\"/>\n",
            name, bandwidth_Bps, latency_s);
}

static void write_cluster_link(const struct ar_cluster *cluster, uint32_t link, double latency_s,
                               FILE *file)
{
    write_link(AR_SHOW_LINK(cluster, link), ar_cluster_link_bandwidth(cluster, link), latency_s,
               file);
}

static void write_net_link(const char *name, double bandwidth_Bps, double latency_s, FILE *file)
{
    write_link(name, net_width * bandwidth_Bps, latency_s, file);
}

static void write_hop(const char *name, FILE *file)
{
    fprintf(file, "<link_ctn id=\"%s\" direction=\"NONE\"/>", name);
}

/* --- a tree of zones -------------------------------------------------------------------------- */

/* A tree of zones, for fabrics whose routes go from gate to gate. A node is a Full zone (NVLink,
 * PCIe and HCA links, and a router as its gate), a rack, a pod and the core a zone that holds its
 * gate alone. They lie side by side in one zone, with routes between each and the one above it,
 * which SimGrid joins: zones within zones would be nearer to the machine, but SimGrid 4.1 crashes
 * where a gate lies in a zone beside the one that it serves. SimGrid wants a link in every route
 * between zones, so a node has one link more each way, `node-<n>.out.net` and `node-<n>.in.net`: it
 * carries half the latency of the network and never limits; HCA links then have none. If both ways
 * had one link, all messages of a ring would be shared out anew, node after node, when one ends. */

struct writer {
    const struct ar_cluster *cluster;
    uint32_t core; /* height of the topmost zone; nodes are at 0, groups of a level one above it */
    uint32_t counts[AR_TREE_LEVELS_MAX + 2]; /* of zones, by height */
    FILE *file;
};

/* The link up from a group; that down into it is the next one. */
static uint32_t uplink_of(const struct writer *writer, uint32_t level, uint32_t group)
{
    return writer->cluster->first_fabric_link + writer->cluster->tree.levels[level].first_link +
           2 * group;
}

/* All links, in one zone before the others: SimGrid looks a link up zone by zone, so that links in
 * the zones of 1024 nodes make loading eight times slower. */
static void write_tree_links(const struct writer *writer)
{
    const struct ar_cluster *cluster = writer->cluster;
    fprintf(writer->file, "<zone id=\"links\" routing=\"Full\">\n");
    for (uint32_t node = 0; node < writer->counts[0]; node++) {
        for (uint32_t local = 0; local < cluster->node.count; local++) {
            /* The latency of a path within a node is whole on its first link, to add up exactly. */
            const struct ar_node_link *link = &cluster->node.list[local];
            enum ar_tier tier = link->kind == AR_KIND_NVLINK ? AR_TIER_NVLINK : cluster->port_tier;
            bool is_first =
                link->kind == AR_KIND_NVLINK || (link->kind == AR_KIND_PORT && link->b == 0);
            write_cluster_link(cluster, node * cluster->node.count + local,
                               is_first ? cluster->facts.message.path_s[tier] : 0, writer->file);
        }
        for (int way = 0; writer->core > 0 && way < 2; way++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "node-%u.%s.net", node, net_ways[way]);
            write_net_link(name, cluster->facts.hcas_per_node * cluster->rates_Bps[AR_KIND_HCA],
                           cluster->facts.message.path_s[AR_TIER_RACK] / 2, writer->file);
        }
    }
    for (uint32_t height = 1; height < writer->core; height++) {
        for (uint32_t link = 0; link < 2 * writer->counts[height]; link++) {
            write_cluster_link(cluster, uplink_of(writer, height - 1, 0) + link, 0, writer->file);
        }
    }
    fprintf(writer->file, "</zone>\n");
}

static void write_route(const struct writer *writer, const char *source, const char *destination,
                        const uint32_t *links, uint32_t links_count)
{
    fprintf(writer->file, "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">", source, destination);
    for (uint32_t i = 0; i < links_count; i++) {
        write_hop(AR_SHOW_LINK(writer->cluster, links[i]), writer->file);
    }
    fprintf(writer->file, "</route>\n");
}

static void write_node(const struct writer *writer, uint32_t node)
{
    uint32_t gpus = writer->cluster->facts.gpus_per_node;
    fprintf(writer->file, "<zone id=\"node-%u\" routing=\"Full\">\n", node);
    for (uint32_t g = 0; g < gpus; g++) {
        write_host(node * gpus + g, writer->file);
    }
    if (writer->core > 0) {
        fprintf(writer->file, "<router id=\"node-%u.gate\"/>\n", node);
    }
    for (uint32_t g = 0; g < gpus; g++) {
        /* The routes from a GPU to the others of its node. */
        uint32_t rank = node * gpus + g;
        uint32_t first = rank / gpus * gpus;
        for (uint32_t other = first; other < first + gpus; other++) {
            struct ar_path path;
            if (other != rank) {
                ar_cluster_path(writer->cluster, rank, other, &path);
                write_route(writer, AR_SHOW_HOST(rank), AR_SHOW_HOST(other), path.links,
                            path.links_count);
            }
        }
    }
    for (uint32_t g = 0; g < gpus && writer->core > 0; g++) {
        /* The routes from a GPU to the gate of its node and back. */
        const struct ar_cluster *cluster = writer->cluster;
        const struct ar_node_links *links = &cluster->node;
        uint32_t first = node * links->count;
        bool has_uplink = links->net_uplink[g] != AR_NO_LINK;
        const uint32_t out[] = {first + links->net_uplink[g],
                                ar_hca_in_use(cluster, first + links->hca[g])};
        const uint32_t in[] = {ar_hca_in_use(cluster, first + links->hca[g] + 1), out[0] + 1};
        char host[NAME_SIZE], gate[NAME_SIZE];
        ar_host_name(node * cluster->facts.gpus_per_node + g, host, sizeof host);
        snprintf(gate, sizeof gate, "node-%u.gate", node);
        write_route(writer, host, gate, out + 1 - has_uplink, 1 + has_uplink);
        write_route(writer, gate, host, in, 1 + has_uplink);
    }
    fprintf(writer->file, "</zone>\n");
}

/* `node-3`, `rack-2`, `core` */
static const char *zone_name(const struct writer *writer, uint32_t height, uint32_t number,
                             char *name, size_t size)
{
    if (height == 0) {
        snprintf(name, size, "node-%u", number);
    } else if (height == writer->core) {
        snprintf(name, size, "core");
    } else {
        ar_tree_group_name(&writer->cluster->tree, height - 1, number, name, size);
    }
    return name;
}

static void write_zone_route(const struct writer *writer, const char *from, const char *to,
                             const char *link)
{
    fprintf(writer->file,
            "<zoneRoute src=\"%s\" dst=\"%s\" gw_src=\"%s.gate\" gw_dst=\"%s.gate\" "
            "symmetrical=\"NO\">",
            from, to, from, to);
    write_hop(link, writer->file);
    fprintf(writer->file, "</zoneRoute>\n");
}

static void write_nested(const struct ar_cluster *cluster, uint32_t nodes_count, FILE *file)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    struct writer writer = {.cluster = cluster, .counts = {nodes_count}, .file = file};
    if (cluster->facts.hcas_per_node > 0) {
        writer.core = tree->levels_count + 1;
        writer.counts[writer.core] = 1;
    }
    for (uint32_t height = 1; height < writer.core; height++) {
        writer.counts[height] =
            (writer.counts[height - 1] - 1) / tree->levels[height - 1].children + 1;
    }
    write_begin(cluster, "DijkstraCache", file);
    write_tree_links(&writer);
    for (uint32_t i = 0; i < nodes_count; i++) {
        write_node(&writer, i);
    }
    for (uint32_t height = 1; height <= writer.core; height++) {
        for (uint32_t i = 0; i < writer.counts[height]; i++) {
            char name[NAME_SIZE];
            zone_name(&writer, height, i, name, sizeof name);
            fprintf(file, "<zone id=\"%s\" routing=\"Full\"><router id=\"%s.gate\"/></zone>\n",
                    name, name);
        }
    }
    for (uint32_t height = 0; height < writer.core; height++) {
        for (uint32_t i = 0; i < writer.counts[height]; i++) {
            /* The routes between a zone and the one above it. */
            char name[NAME_SIZE], above[NAME_SIZE], up[NAME_SIZE], down[NAME_SIZE];
            uint32_t children = height + 1 < writer.core
                                    ? writer.cluster->tree.levels[height].children
                                    : UINT32_MAX;
            zone_name(&writer, height, i, name, sizeof name);
            zone_name(&writer, height + 1, i / children, above, sizeof above);
            if (height == 0) {
                snprintf(up, sizeof up, "node-%u.%s.net", i, net_ways[0]);
                snprintf(down, sizeof down, "node-%u.%s.net", i, net_ways[1]);
            } else {
                uint32_t link = uplink_of(&writer, height - 1, i);
                ar_cluster_link_name(writer.cluster, link, up, sizeof up);
                ar_cluster_link_name(writer.cluster, link + 1, down, sizeof down);
            }
            write_zone_route(&writer, name, above, up);
            write_zone_route(&writer, above, name, down);
        }
    }
    fputs("</zone>\n</platform>\n", file);
}

/* --- one zone --------------------------------------------------------------------------------- */

/* One zone of all hosts, with a route for each pair of them as ar_cluster_path() has it: for
 * fabrics whose routes are no matter of zones and gates, and for routes that end at switches, which
 * are hosts then.
 *
 * Only links that some route takes are written. The latency of a path is on a link of its own
 * before its first one, a link for each of the tiers of its paths, since one over the network may
 * begin with an NVLink; that of a switch is on each link of the fabric. The links with the latency
 * are those of messages that share a link anyway: SimGrid's lazy update gives others wrong shares
 * once they have a link in common, however wide (README.md). */

enum { IS_USED = 1 << AR_TIERS_COUNT };

/* One zone that is being written. */
struct flat {
    const struct ar_cluster *cluster;
    struct ar_flow *pairs; /* by source, then by destination, each once */
    size_t pairs_count;
    uint8_t *uses; /* [link]: bits of the tiers of paths that begin with it, and IS_USED */
    FILE *file;
};

AR_ORDER(compare_pairs, struct ar_flow, AR_RISES(source), AR_RISES(destination))

/* Spine and rack have one latency. */
static enum ar_tier tier_of(const struct ar_path *path)
{
    return path->tier == AR_TIER_SPINE ? AR_TIER_RACK : path->tier;
}

/* `node-3.hca-0.out.net`, `node-3.port-1.out.nvlink.net`. */
static const char *net_name(const struct flat *flat, uint32_t link, enum ar_tier tier, char *name)
{
    bool is_network = tier == AR_TIER_RACK;
    snprintf(name, 2 * NAME_SIZE, "%s%s%s.net", AR_SHOW_LINK(flat->cluster, link),
             is_network ? "" : ".", is_network ? "" : ar_tier_name(tier));
    return name;
}

static void write_flat_links(const struct flat *flat)
{
    const struct ar_cluster *cluster = flat->cluster;
    for (uint32_t link = 0; link < ar_cluster_links_count(cluster); link++) {
        bool is_local = link < cluster->first_fabric_link;
        if (flat->uses[link] == 0) {
            continue;
        }
        write_cluster_link(cluster, link,
                           is_local ? 0 : cluster->values.number[TOPO_SWITCH_LATENCY], flat->file);
        for (uint32_t tier = 0; tier < AR_TIERS_COUNT; tier++) {
            char name[2 * NAME_SIZE];
            if ((flat->uses[link] >> tier & 1) != 0) {
                write_net_link(net_name(flat, link, (enum ar_tier)tier, name),
                               ar_cluster_link_bandwidth(cluster, link),
                               cluster->facts.message.path_s[tier], flat->file);
            }
        }
    }
}

/* GPUs, each before the switch of its routes, if some begin or end there. */
static void write_flat_hosts(const struct flat *flat, uint32_t ranks, bool *has_switch)
{
    for (size_t i = 0; i < flat->pairs_count; i++) {
        const uint32_t ends[] = {flat->pairs[i].source, flat->pairs[i].destination};
        for (int end = 0; end < 2; end++) {
            has_switch[ends[end] & ~AR_SWITCH] |= (ends[end] & AR_SWITCH) != 0;
        }
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        write_host(rank, flat->file);
        if (has_switch[rank]) {
            write_host(AR_SWITCH | rank, flat->file);
        }
    }
}

static void write_flat_route(const struct flat *flat, struct ar_flow pair)
{
    struct ar_path path;
    char net[2 * NAME_SIZE];
    ar_cluster_path(flat->cluster, pair.source, pair.destination, &path);
    if (path.links_count == 0) {
        return;
    }
    fprintf(flat->file, "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">",
            AR_SHOW_HOST(pair.source), AR_SHOW_HOST(pair.destination));
    write_hop(net_name(flat, path.links[0], tier_of(&path), net), flat->file);
    for (uint32_t i = 0; i < path.links_count; i++) {
        write_hop(AR_SHOW_LINK(flat->cluster, path.links[i]), flat->file);
    }
    fprintf(flat->file, "</route>\n");
}

static void write_flat(const struct ar_cluster *cluster, uint32_t nodes_count,
                       const struct ar_flow *pairs, size_t pairs_count, FILE *file)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t ranks = nodes_count * cluster->facts.gpus_per_node;
    struct flat flat = {.cluster = cluster, .file = file};
    /* SimGrid refuses a route that is there twice. */
    size_t count = pairs_count;
    count = pairs != NULL ? count : (size_t)ranks * ranks;
    struct ar_flow *list = flat.pairs = ar_arena_alloc(&arena, count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        list[i] = pairs != NULL ? pairs[i]
                                : (struct ar_flow){(uint32_t)(i / ranks), (uint32_t)(i % ranks)};
    }
    qsort(list, count, sizeof *list, compare_pairs);
    for (size_t i = 0; i < count; i++) {
        size_t kept = flat.pairs_count;
        bool is_new = kept == 0 || compare_pairs(&list[kept - 1], &list[i]) != 0;
        if (is_new && list[i].source != list[i].destination) {
            list[flat.pairs_count++] = list[i];
        }
    }
    flat.uses = ar_arena_alloc(&arena, ar_cluster_links_count(cluster), sizeof *flat.uses);
    for (size_t i = 0; i < flat.pairs_count; i++) {
        struct ar_path path;
        ar_cluster_path(flat.cluster, flat.pairs[i].source, flat.pairs[i].destination, &path);
        for (uint32_t j = 0; j < path.links_count; j++) {
            flat.uses[path.links[j]] |= (uint8_t)(IS_USED | (j == 0) << tier_of(&path));
        }
    }
    write_begin(cluster, "Full", file);
    write_flat_links(&flat);
    write_flat_hosts(&flat, ranks, ar_arena_alloc(&arena, ranks, sizeof(bool)));
    for (size_t i = 0; i < flat.pairs_count; i++) {
        write_flat_route(&flat, flat.pairs[i]);
    }
    fputs("</zone>\n</platform>\n", file);
}

/* --- which of both ---------------------------------------------------------------------------- */

bool ar_cluster_is_nested(const struct ar_cluster *cluster)
{
    return cluster->fabric == &ar_fabric_fat_tree && cluster->routes == AR_ROUTES_IDEAL &&
           cluster->values.count[TOPO_TREE_RAILS] == AR_RAILS_NONE && cluster->domain_nodes == 1;
}

void ar_cluster_write_simgrid(const struct ar_cluster *cluster, uint32_t nodes_count,
                              const struct ar_flow *pairs, size_t pairs_count, FILE *file)
{
    assert(nodes_count >= 1 && nodes_count <= cluster->facts.nodes_count);
    if (ar_cluster_is_nested(cluster) && pairs == NULL) {
        write_nested(cluster, nodes_count, file);
    } else {
        write_flat(cluster, nodes_count, pairs, pairs_count, file);
    }
}
