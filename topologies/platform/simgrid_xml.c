/* Two layouts of zones, for fabrics whose routes go from gate to gate.
 *
 * Nested: a node is a Full zone (NVLink, PCIe and HCA links, and a router as its gate), a rack is a
 * Full zone of nodes and of one more zone that holds the rack's gate, a pod the same of racks, the
 * top is a Full zone of the topmost groups. SimGrid wants a link in every route between zones, so a
 * node has one link more, `node-<n>.net`, which carries the latency of the network and never
 * limits; HCA links then have none. The uplink of a group is the link to its neighbours, its
 * downlink that from its gate to what is in it.
 *
 * Star: where a node is one GPU without a PCIe switch, a rack is a Cluster zone of hosts, whose
 * routes cost a constant however many hosts there are; the HCA link out carries the latency. The
 * downlink of such a rack is on the way to its gate. */
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
    ar_simgrid_write_host(writer->cluster, rank, writer->file);
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
                cluster->latencies_s[AR_TIER_RACK], writer->file);
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
            write_route(writer, ar_cluster_host_name(writer->cluster, a, source, sizeof source),
                        ar_cluster_host_name(writer->cluster, b, destination, sizeof destination),
                        path.near_links, path.links_count);
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
    ar_cluster_host_name(cluster, node * cluster->facts.gpus_per_node + gpu, host, sizeof host);
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

/* The zone `node-3` or `rack-2`, or the part of a group that holds its gate, `rack-2.spine`. */
struct zone {
    bool is_node;
    bool is_spine;
    uint32_t level, number; /* the level of a group */
};

/* The name of a zone or, for its gate, of the node or group. */
static const char *zone_name(const struct writer *writer, struct zone zone, bool is_gate,
                             char *name, size_t size)
{
    char group[NAME_SIZE];
    if (zone.is_node) {
        snprintf(name, size, "node-%u", zone.number);
        return name;
    }
    snprintf(
        name, size, "%s%s",
        ar_tree_group_name(&writer->cluster->tree, zone.level, zone.number, group, sizeof group),
        zone.is_spine && !is_gate ? ".spine" : "");
    return name;
}

/* The route from a zone to its neighbour. */
static void write_zone_route(const struct writer *writer, struct zone source,
                             struct zone destination)
{
    char from[NAME_SIZE], to[NAME_SIZE], from_gate[NAME_SIZE], to_gate[NAME_SIZE];
    fprintf(writer->file,
            "<zoneRoute src=\"%s\" dst=\"%s\" gw_src=\"%s.gate\" gw_dst=\"%s.gate\" "
            "symmetrical=\"NO\">",
            zone_name(writer, source, false, from, sizeof from),
            zone_name(writer, destination, false, to, sizeof to),
            zone_name(writer, source, true, from_gate, sizeof from_gate),
            zone_name(writer, destination, true, to_gate, sizeof to_gate));
    if (source.is_node) {
        fprintf(writer->file, "<link_ctn id=\"%s.net\" direction=\"NONE\"/>", from);
    } else {
        uint32_t uplink = uplink_of(writer, source.level, source.number);
        write_hop(writer, source.is_spine ? uplink + 1 : uplink);
    }
    if (writer->is_star && !destination.is_spine && destination.level == 0) {
        write_hop(writer, uplink_of(writer, 0, destination.number) + 1);
    }
    fprintf(writer->file, "</zoneRoute>\n");
}

/* Zones with routes between all, and between each and the gate of their group, if they are in one.
 */
static void write_zone_routes(const struct writer *writer, const struct zone *spine,
                              struct zone first, uint32_t end)
{
    struct zone a = first, b = first;
    for (a.number = first.number; a.number < end; a.number++) {
        for (b.number = first.number; b.number < end; b.number++) {
            if (a.number != b.number) {
                write_zone_route(writer, a, b);
            }
        }
    }
    for (a.number = first.number; a.number < end && spine != NULL; a.number++) {
        write_zone_route(writer, a, *spine);
        write_zone_route(writer, *spine, a);
    }
}

static void write_spine(const struct writer *writer, const struct zone *spine)
{
    char name[NAME_SIZE];
    if (spine != NULL) {
        zone_name(writer, *spine, true, name, sizeof name);
        fprintf(writer->file,
                "<zone id=\"%s.spine\" routing=\"Full\"><router id=\"%s.gate\"/></zone>\n", name,
                name);
    }
}

static void write_nested_nodes(const struct writer *writer, const struct zone *spine,
                               uint32_t first, uint32_t end)
{
    for (uint32_t node = first; node < end; node++) {
        write_nested_node(writer, node);
    }
    write_spine(writer, spine);
    write_zone_routes(writer, spine, (struct zone){.is_node = true, .number = first}, end);
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

static void write_rack(const struct writer *writer, uint32_t rack)
{
    uint32_t nodes = writer->cluster->tree.levels[0].children;
    uint32_t first = rack * nodes;
    uint32_t rest = writer->nodes_count - first;
    uint32_t end = first + (rest < nodes ? rest : nodes);
    fprintf(writer->file, "<zone id=\"rack-%u\" routing=\"%s\">\n", rack,
            writer->is_star ? "Cluster" : "Full");
    if (writer->is_star) {
        fprintf(writer->file, "<router id=\"rack-%u.gate\"/>\n", rack);
        write_star_nodes(writer, first, end);
    } else {
        write_nested_nodes(writer, &(struct zone){.is_spine = true, .number = rack}, first, end);
    }
    fprintf(writer->file, "</zone>\n");
}

/* Groups of a level and, above racks, the groups in them; the depth is that of the tree. */
static void write_groups(const struct writer *writer, uint32_t level, const struct zone *spine,
                         uint32_t first, uint32_t end)
{
    for (uint32_t group = first; group < end; group++) {
        if (level == 0) {
            write_rack(writer, group);
            continue;
        }
        uint32_t children = writer->cluster->tree.levels[level].children;
        uint32_t rest = writer->groups_count[level - 1] - group * children;
        char name[NAME_SIZE];
        struct zone own_spine = {.is_spine = true, .level = level, .number = group};
        fprintf(writer->file, "<zone id=\"%s\" routing=\"Full\">\n",
                zone_name(writer, own_spine, true, name, sizeof name));
        write_groups(writer, level - 1, &own_spine, group * children,
                     group * children + (rest < children ? rest : children));
        fprintf(writer->file, "</zone>\n");
    }
    write_spine(writer, spine);
    write_zone_routes(writer, spine, (struct zone){.level = level, .number = first}, end);
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
    ar_simgrid_begin(cluster, writer.is_star && writer.levels_count == 0 ? "Cluster" : "Full",
                     file);
    write_links(&writer);
    if (writer.levels_count > 0) {
        uint32_t top = writer.levels_count - 1;
        write_groups(&writer, top, NULL, 0, writer.groups_count[top]);
    } else if (writer.is_star) {
        write_star_nodes(&writer, 0, nodes_count);
    } else {
        write_nested_nodes(&writer, NULL, 0, nodes_count);
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
    assert(cluster->platform == NULL);
    if (!ar_cluster_is_nested(cluster) || pairs != NULL) {
        return ar_simgrid_write_flat(cluster, nodes_count, pairs, pairs_count, file, err);
    }
    write_zones(cluster, nodes_count, file);
    return AR_OK;
}
