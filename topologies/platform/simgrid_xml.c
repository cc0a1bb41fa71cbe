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
#include <assert.h>

#include "ar_simgrid_xml.h"
#include "simgrid_writer.h"

enum { NAME_SIZE = AR_SIMGRID_NAME_SIZE };

struct writer {
    const struct ar_cluster *cluster;
    uint32_t nodes_count;
    uint32_t levels_count;                     /* of groups; 0: no racks */
    uint32_t groups_count[AR_TREE_LEVELS_MAX]; /* that hold these nodes, by level */
    bool has_network;
    bool is_star;
    FILE *file;
};

static void write_link(const struct writer *writer, uint32_t link, double latency_s)
{
    ar_simgrid_write_link(writer->cluster, link, latency_s, writer->file);
}

static void write_hop(const struct writer *writer, uint32_t link)
{
    char name[NAME_SIZE];
    ar_simgrid_write_hop(ar_cluster_link_name(writer->cluster, link, name, sizeof name),
                         writer->file);
}

static void write_host(const struct writer *writer, uint32_t rank)
{
    ar_simgrid_write_host(rank, writer->file);
}

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
        write_link(writer, link,
                   is_first ? cluster->latencies_s[AR_TIER_RACK]
                            : node_link_latency(cluster, &cluster->node.list[local]));
    }
}

/* All links, in one zone before the others: SimGrid looks a link up zone by zone, so that links in
 * the zones of 1024 nodes make loading eight times slower. */
static void write_links(const struct writer *writer)
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
            ar_simgrid_write_net_link(
                name, cluster->facts.hcas_per_node * cluster->rates_Bps[AR_KIND_HCA],
                cluster->latencies_s[AR_TIER_RACK] / 2, writer->file);
        }
    }
    for (uint32_t level = 0; level < writer->levels_count; level++) {
        for (uint32_t group = 0; group < writer->groups_count[level]; group++) {
            write_link(writer, uplink_of(writer, level, group), 0);
            write_link(writer, uplink_of(writer, level, group) + 1, 0);
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
        write_hop(writer, links[i]);
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
        write_host(writer, node * gpus + g);
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
    ar_simgrid_write_hop(link, writer->file);
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
        write_host(writer, node);
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

static void write_zones(const struct ar_cluster *cluster, uint32_t nodes_count, FILE *file)
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
    ar_simgrid_begin(cluster, is_one_zone ? "Cluster" : "DijkstraCache", file);
    write_links(&writer);
    if (is_one_zone) {
        write_star_nodes(&writer, 0, nodes_count);
    } else {
        write_tree(&writer);
    }
    ar_simgrid_end(file);
}

bool ar_cluster_is_nested(const struct ar_cluster *cluster)
{
    return cluster->fabric == &ar_fabric_fat_tree && cluster->routes == AR_ROUTES_IDEAL &&
           cluster->values.count[TOPO_TREE_RAILS] == AR_RAILS_NONE && cluster->domain_nodes == 1;
}

enum ar_status ar_cluster_write_simgrid(const struct ar_cluster *cluster, uint32_t nodes_count,
                                        const struct ar_flow *pairs, size_t pairs_count, FILE *file,
                                        struct ar_error *err)
{
    assert(nodes_count >= 1 && nodes_count <= cluster->facts.nodes_count);
    if (!ar_cluster_is_nested(cluster) || pairs != NULL) {
        return ar_simgrid_write_flat(cluster, nodes_count, pairs, pairs_count, file, err);
    }
    write_zones(cluster, nodes_count, file);
    return AR_OK;
}
