/* A cluster as SimGrid platform: a tree of zones, or one zone with a route for each pair. */
#include "ar_simgrid_xml.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

enum { NAME_SIZE = 64 }; /* of a link, a host or a zone */

/* Nothing computes on the hosts by their speed: kernels take times from cost tables. */
static const char host_speed[] = "1Gf";

/* A link that never limits is this much wider than the HCAs or GPUs of its node together. */
static const double net_width = 1000;

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

static void write_end(FILE *file)
{
    fprintf(file, "</zone>\n</platform>\n");
}

static void write_host(uint32_t rank, FILE *file)
{
    char name[NAME_SIZE];
    fprintf(file, "<host id=\"%s\" speed=\"%s\" core=\"1\"/>\n",
            ar_host_name(rank, name, sizeof name), host_speed);
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
    char name[NAME_SIZE];
    write_link(ar_cluster_link_name(cluster, link, name, sizeof name),
               ar_cluster_link_bandwidth(cluster, link), latency_s, file);
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
 * between zones, so a node has one link more, `node-<n>.net`, on both its routes: it carries half
 * the latency of the network each time and never limits; HCA links then have none.
 *
 * Star: where a node is one GPU without a PCIe switch, a rack is a Cluster zone of hosts, and
 * its HCA link out carries the latency. */

struct writer {
    const struct ar_cluster *cluster;
    uint32_t nodes_count;
    uint32_t levels_count;                     /* of groups; 0: no racks */
    uint32_t groups_count[AR_TREE_LEVELS_MAX]; /* that hold these nodes, by level */
    bool has_network;
    bool is_star;
    FILE *file;
};

/* The link up from a group; that down into it is the next one. */
static uint32_t uplink_of(const struct writer *writer, uint32_t level, uint32_t group)
{
    return writer->cluster->first_fabric_link + writer->cluster->tree.levels[level].first_link +
           2 * group;
}

/* Latency of a link of a node: that of a path within a node whole on its first link, so that it
 * adds up exactly; else 0. */
static double node_link_latency(const struct ar_cluster *cluster, const struct ar_node_link *link)
{
    if (link->kind == AR_KIND_NVLINK) {
        return cluster->latencies_s[AR_TIER_NVLINK];
    }
    return link->kind == AR_KIND_PORT && link->b == 0 ? cluster->latencies_s[cluster->port_tier]
                                                      : 0;
}

static void write_node_links(const struct writer *writer, uint32_t node)
{
    const struct ar_cluster *cluster = writer->cluster;
    for (uint32_t local = 0; local < cluster->node.count; local++) {
        uint32_t link = node * cluster->node.count + local;
        bool is_first = writer->is_star && local == cluster->node.hca[0];
        write_cluster_link(writer->cluster, link,
                           is_first ? cluster->latencies_s[AR_TIER_RACK]
                                    : node_link_latency(cluster, &cluster->node.list[local]),
                           writer->file);
    }
}

/* All links, in one zone before the others: SimGrid looks a link up zone by zone, so that links in
 * the zones of 1024 nodes make loading eight times slower. */
static void write_tree_links(const struct writer *writer)
{
    bool is_one_zone = writer->is_star && writer->levels_count == 0;
    if (!is_one_zone) {
        fprintf(writer->file, "<zone id=\"links\" routing=\"Full\">\n");
    }
    for (uint32_t node = 0; node < writer->nodes_count; node++) {
        write_node_links(writer, node);
        if (writer->has_network && !writer->is_star) {
            const struct ar_cluster *cluster = writer->cluster;
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "node-%u.net", node);
            write_net_link(name, cluster->facts.hcas_per_node * cluster->rates_Bps[AR_KIND_HCA],
                           cluster->latencies_s[AR_TIER_RACK] / 2, writer->file);
        }
    }
    for (uint32_t level = 0; level < writer->levels_count; level++) {
        for (uint32_t group = 0; group < writer->groups_count[level]; group++) {
            write_cluster_link(writer->cluster, uplink_of(writer, level, group), 0, writer->file);
            write_cluster_link(writer->cluster, uplink_of(writer, level, group) + 1, 0,
                               writer->file);
        }
    }
    if (!is_one_zone) {
        fprintf(writer->file, "</zone>\n");
    }
}

/* Over links that are up; there is none over others. */
static void write_route(const struct writer *writer, const char *source, const char *destination,
                        const uint32_t *links, uint32_t links_count)
{
    for (uint32_t i = 0; i < links_count; i++) {
        if (ar_link_is_down(writer->cluster, links[i])) {
            return;
        }
    }
    fprintf(writer->file, "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">", source, destination);
    for (uint32_t i = 0; i < links_count; i++) {
        char name[NAME_SIZE];
        write_hop(ar_cluster_link_name(writer->cluster, links[i], name, sizeof name), writer->file);
    }
    fprintf(writer->file, "</route>\n");
}

static void write_gpu_routes(const struct writer *writer, uint32_t node)
{
    uint32_t gpus = writer->cluster->facts.gpus_per_node;
    for (uint32_t i = 0; i < gpus * gpus; i++) {
        uint32_t a = node * gpus + i / gpus;
        uint32_t b = node * gpus + i % gpus;
        struct ar_path path;
        path.links_count = 0;
        if (a != b) {
            ar_path_find(writer->cluster, a, b, &path);
        }
        if (path.links_count > 0) {
            char source[NAME_SIZE], destination[NAME_SIZE];
            write_route(writer, ar_host_name(a, source, sizeof source),
                        ar_host_name(b, destination, sizeof destination), path.links,
                        path.links_count);
        }
    }
}

/* The routes from a GPU to the gate of its node and back. */
static void write_gate_routes(const struct writer *writer, uint32_t node, uint32_t gpu)
{
    const struct ar_cluster *cluster = writer->cluster;
    const struct ar_node_links *links = &cluster->node;
    uint32_t first = node * links->count;
    uint32_t has_uplink = links->net_uplink[gpu] != AR_NO_LINK;
    uint32_t uplink = has_uplink != 0 ? first + links->net_uplink[gpu] : 0;
    const uint32_t out[] = {uplink, ar_hca_in_use(cluster, first + links->hca[gpu])};
    const uint32_t in[] = {ar_hca_in_use(cluster, first + links->hca[gpu] + 1), uplink + 1};
    char host[NAME_SIZE], gate[NAME_SIZE];
    ar_host_name(node * cluster->facts.gpus_per_node + gpu, host, sizeof host);
    snprintf(gate, sizeof gate, "node-%u.gate", node);
    write_route(writer, host, gate, out + 1 - has_uplink, 1 + has_uplink);
    write_route(writer, gate, host, in, 1 + has_uplink);
}

static void write_nested_node(const struct writer *writer, uint32_t node)
{
    uint32_t gpus = writer->cluster->facts.gpus_per_node;
    fprintf(writer->file, "<zone id=\"node-%u\" routing=\"Full\">\n", node);
    for (uint32_t g = 0; g < gpus; g++) {
        write_host(node * gpus + g, writer->file);
    }
    if (writer->has_network) {
        fprintf(writer->file, "<router id=\"node-%u.gate\"/>\n", node);
    }
    write_gpu_routes(writer, node);
    for (uint32_t g = 0; g < gpus && writer->has_network; g++) {
        write_gate_routes(writer, node, g);
    }
    fprintf(writer->file, "</zone>\n");
}

/* Nodes are at height 0, groups of a level one above it, and above all the core. */
struct zone {
    uint32_t height, number;
};

static uint32_t zones_count(const struct writer *writer, uint32_t height)
{
    if (height == 0) {
        return writer->nodes_count;
    }
    return height <= writer->levels_count ? writer->groups_count[height - 1] : 1;
}

static struct zone zone_above(const struct writer *writer, struct zone zone)
{
    return (struct zone){
        .height = zone.height + 1,
        .number = zone.height < writer->levels_count
                      ? zone.number / writer->cluster->tree.levels[zone.height].children
                      : 0,
    };
}

/* `node-3`, `rack-2`, `core` */
static const char *zone_name(const struct writer *writer, struct zone zone, char *name, size_t size)
{
    if (zone.height == 0) {
        snprintf(name, size, "node-%u", zone.number);
    } else if (zone.height > writer->levels_count) {
        snprintf(name, size, "core");
    } else {
        ar_tree_group_name(&writer->cluster->tree, zone.height - 1, zone.number, name, size);
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

/* The routes between a zone and the one above it. */
static void write_zone_routes(const struct writer *writer, struct zone zone)
{
    char name[NAME_SIZE], above[NAME_SIZE], up[NAME_SIZE], down[NAME_SIZE];
    zone_name(writer, zone, name, sizeof name);
    zone_name(writer, zone_above(writer, zone), above, sizeof above);
    if (zone.height == 0) {
        snprintf(up, sizeof up, "node-%u.net", zone.number);
        snprintf(down, sizeof down, "%s", up);
    } else {
        uint32_t link = uplink_of(writer, zone.height - 1, zone.number);
        ar_cluster_link_name(writer->cluster, link, up, sizeof up);
        ar_cluster_link_name(writer->cluster, link + 1, down, sizeof down);
    }
    write_zone_route(writer, name, above, up);
    write_zone_route(writer, above, name, down);
}

static void write_star_nodes(const struct writer *writer, uint32_t first, uint32_t end)
{
    const struct ar_node_links *links = &writer->cluster->node;
    for (uint32_t node = first; node < end; node++) {
        write_host(node, writer->file);
    }
    for (uint32_t node = first; node < end && writer->has_network; node++) {
        char out[NAME_SIZE], in[NAME_SIZE];
        uint32_t link = node * links->count + links->hca[0];
        fprintf(writer->file, "<host_link id=\"gpu-%u\" up=\"%s\" down=\"%s\"/>\n", node,
                ar_cluster_link_name(writer->cluster, link, out, sizeof out),
                ar_cluster_link_name(writer->cluster, link + 1, in, sizeof in));
    }
}

static void write_star_rack(const struct writer *writer, uint32_t rack)
{
    uint32_t nodes = writer->cluster->tree.levels[0].children;
    uint32_t first = rack * nodes;
    uint32_t rest = writer->nodes_count - first;
    fprintf(writer->file, "<zone id=\"rack-%u\" routing=\"Cluster\">\n", rack);
    fprintf(writer->file, "<router id=\"rack-%u.gate\"/>\n", rack);
    write_star_nodes(writer, first, first + (rest < nodes ? rest : nodes));
    fprintf(writer->file, "</zone>\n");
}

static void write_zone(const struct writer *writer, struct zone zone)
{
    if (zone.height == 0) {
        write_nested_node(writer, zone.number);
    } else if (zone.height == 1 && writer->is_star) {
        write_star_rack(writer, zone.number);
    } else {
        char name[NAME_SIZE];
        zone_name(writer, zone, name, sizeof name);
        fprintf(writer->file, "<zone id=\"%s\" routing=\"Full\"><router id=\"%s.gate\"/></zone>\n",
                name, name);
    }
}

/* All zones, and then the routes between them. */
static void write_tree(const struct writer *writer)
{
    uint32_t lowest = writer->is_star ? 1 : 0;
    uint32_t core = writer->has_network ? writer->levels_count + 1 : 0;
    for (uint32_t height = lowest; height <= core; height++) {
        for (uint32_t i = 0; i < zones_count(writer, height); i++) {
            write_zone(writer, (struct zone){height, i});
        }
    }
    for (uint32_t height = lowest; height < core; height++) {
        for (uint32_t i = 0; i < zones_count(writer, height); i++) {
            write_zone_routes(writer, (struct zone){height, i});
        }
    }
}

/* How many groups hold the nodes. */
static void count_groups(struct writer *writer)
{
    const struct ar_fat_tree *tree = &writer->cluster->tree;
    uint32_t count = writer->nodes_count;
    writer->levels_count = tree->levels_count;
    for (uint32_t level = 0; level < tree->levels_count; level++) {
        count = (count - 1) / tree->levels[level].children + 1;
        writer->groups_count[level] = count;
    }
}

static void write_nested(const struct ar_cluster *cluster, uint32_t nodes_count, FILE *file)
{
    struct writer writer = {
        .cluster = cluster,
        .nodes_count = nodes_count,
        .has_network = cluster->facts.hcas_per_node > 0,
        .is_star = cluster->facts.gpus_per_node == 1 && cluster->facts.hcas_per_node == 1 &&
                   cluster->values.count[TOPO_PCIE_SWITCHES] == 0,
        .file = file,
    };
    count_groups(&writer);
    bool is_one_zone = writer.is_star && writer.levels_count == 0;
    write_begin(cluster, is_one_zone ? "Cluster" : "DijkstraCache", file);
    write_tree_links(&writer);
    if (is_one_zone) {
        write_star_nodes(&writer, 0, nodes_count);
    } else {
        write_tree(&writer);
    }
    write_end(file);
}

/* --- one zone --------------------------------------------------------------------------------- */

/* One zone of all hosts, with a route for each pair of them as ar_path_find() has it: for fabrics
 * whose routes are no matter of zones and gates, and for routes that end at switches, which are
 * hosts then.
 *
 * Only links that some route takes are written. The latency of a path is on a link of its own
 * before its first one, a link for each of the tiers of its paths, since one over the network may
 * begin with an NVLink; that of a switch is on each link of the fabric. The links with the latency
 * are those of messages that share a link anyway: SimGrid's lazy update gives others wrong shares
 * once they have a link in common, however wide (README.md). */

/* One zone that is being written. */
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
static void copy_pairs(const struct ar_flow *pairs, size_t count, struct flat *flat)
{
    struct ar_flow *copy = ar_arena_alloc(flat->arena, count, sizeof *copy);
    memcpy(copy, pairs, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, compare_pairs);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_pairs(&copy[i - 1], &copy[i]) != 0) {
            copy[flat->pairs_count++] = copy[i];
        }
    }
    flat->pairs = copy;
}

/* Spine and rack have one latency. */
static enum ar_tier tier_of(const struct ar_path *path)
{
    return path->tier == AR_TIER_SPINE ? AR_TIER_RACK : path->tier;
}

/* Names the links that some route takes, and notes which paths begin with them. */
static void find_flat_links(struct flat *flat)
{
    size_t links_count = ar_cluster_links_count(flat->cluster);
    flat->names = ar_arena_alloc(flat->arena, links_count, sizeof *flat->names);
    flat->tiers = ar_arena_alloc(flat->arena, links_count, sizeof *flat->tiers);
    flat->has_switch = ar_arena_alloc(flat->arena, flat->ranks, sizeof *flat->has_switch);
    for (uint64_t i = 0; i < flat->pairs_count; i++) {
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
            char name[NAME_SIZE];
            const char **kept = &flat->names[path.links[j]];
            if (*kept == NULL) {
                ar_cluster_link_name(flat->cluster, path.links[j], name, sizeof name);
                *kept = ar_arena_text(flat->arena, name);
            }
        }
    }
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

static void write_flat_net_links(const struct flat *flat, uint32_t link)
{
    double bandwidth_Bps = ar_cluster_link_bandwidth(flat->cluster, link);
    for (uint32_t tier = 0; tier < AR_TIERS_COUNT; tier++) {
        char name[NAME_SIZE];
        if ((flat->tiers[link] >> tier & 1) != 0) {
            write_net_link(net_name(flat, link, (enum ar_tier)tier, name, sizeof name),
                           bandwidth_Bps, flat->cluster->latencies_s[tier], flat->file);
        }
    }
}

static void write_flat_links(const struct flat *flat)
{
    const struct ar_cluster *cluster = flat->cluster;
    uint32_t links_count = ar_cluster_links_count(cluster);
    for (uint32_t link = 0; link < links_count; link++) {
        if (flat->names[link] != NULL) {
            bool is_local = link < cluster->first_fabric_link;
            write_cluster_link(cluster, link,
                               is_local ? 0 : cluster->values.number[TOPO_SWITCH_LATENCY],
                               flat->file);
            write_flat_net_links(flat, link);
        }
    }
}

static void write_flat_route(const struct flat *flat, struct ar_flow pair)
{
    struct ar_path path;
    ar_path_find(flat->cluster, pair.source, pair.destination, &path);
    if (path.links_count == 0) {
        return;
    }
    char net[NAME_SIZE], from[NAME_SIZE], to[NAME_SIZE];
    fprintf(flat->file, "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">",
            ar_host_name(pair.source, from, sizeof from),
            ar_host_name(pair.destination, to, sizeof to));
    write_hop(net_name(flat, path.links[0], tier_of(&path), net, sizeof net), flat->file);
    for (uint32_t i = 0; i < path.links_count; i++) {
        write_hop(flat->names[path.links[i]], flat->file);
    }
    fprintf(flat->file, "</route>\n");
}

static void write_flat_zone(const struct flat *flat)
{
    write_begin(flat->cluster, "Full", flat->file);
    write_flat_links(flat);
    for (uint32_t rank = 0; rank < flat->ranks; rank++) {
        write_host(rank, flat->file);
        if (flat->has_switch[rank]) {
            write_host(AR_SWITCH | rank, flat->file);
        }
    }
    for (uint64_t i = 0; i < flat->pairs_count; i++) {
        struct ar_flow pair = pair_at(flat, i);
        if (pair.source != pair.destination) {
            write_flat_route(flat, pair);
        }
    }
    write_end(flat->file);
}

static void write_flat(const struct ar_cluster *cluster, uint32_t nodes_count,
                       const struct ar_flow *pairs, size_t pairs_count, FILE *file)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t ranks = nodes_count * cluster->facts.gpus_per_node;
    struct flat flat = {.cluster = cluster,
                        .ranks = ranks,
                        .arena = &arena,
                        .pairs_count = pairs == NULL ? (uint64_t)ranks * ranks : 0,
                        .file = file};
    if (pairs != NULL) {
        copy_pairs(pairs, pairs_count, &flat);
    }
    find_flat_links(&flat);
    write_flat_zone(&flat);
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
