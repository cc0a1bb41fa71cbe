/* Two layouts of zones.
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
#include "fabric.h"

/* Nothing computes on the hosts by their speed: kernels take times from cost tables. */
static const char host_speed[] = "1Gf";

/* A gate link is this much wider than the HCAs of its node together. */
static const double gate_width = 1000;

enum { NAME_SIZE = 64 };

struct writer {
    const struct ar_cluster *cluster;
    uint32_t nodes_count;
    uint32_t levels_count;                     /* of groups; 0: no racks */
    uint32_t groups_count[AR_TREE_LEVELS_MAX]; /* that hold these nodes, by level */
    bool has_network;
    bool is_star;
    FILE *file;
};

static void write_named_link(const struct writer *writer, const char *name, double bandwidth_Bps,
                             double latency_s)
{
    fprintf(writer->file,
            "<link id=\"%s\" bandwidth=\"%.17gBps\" latency=\"%.17gs\" "
            "sharing_policy=\"SHARED\"/>\n",
            name, bandwidth_Bps, latency_s);
}

static void write_link(const struct writer *writer, uint32_t link, double latency_s)
{
    char name[NAME_SIZE];
    write_named_link(writer, ar_cluster_link_name(writer->cluster, link, name, sizeof name),
                     ar_cluster_link_bandwidth(writer->cluster, link), latency_s);
}

static void write_hop(const struct writer *writer, uint32_t link)
{
    char name[NAME_SIZE];
    fprintf(writer->file, "<link_ctn id=\"%s\" direction=\"NONE\"/>",
            ar_cluster_link_name(writer->cluster, link, name, sizeof name));
}

static void write_host(const struct writer *writer, uint32_t rank)
{
    char name[NAME_SIZE];
    fprintf(writer->file, "<host id=\"%s\" speed=\"%s\" core=\"1\"/>\n",
            ar_cluster_host_name(writer->cluster, rank, name, sizeof name), host_speed);
}

/* Latency of a link of a node: whole on the first link of a path, so that it adds up exactly. */
static double node_link_latency(const struct writer *writer, const struct ar_node_link *link)
{
    const struct ar_cluster *cluster = writer->cluster;
    if (link->kind == AR_KIND_NVLINK) {
        return cluster->latencies_s[AR_TIER_NVLINK];
    }
    if (link->b != 0 || link->kind == AR_KIND_PCIE) {
        return 0;
    }
    double network_s = writer->is_star ? cluster->latencies_s[AR_TIER_RACK] : 0;
    return link->kind == AR_KIND_PORT ? cluster->latencies_s[cluster->port_tier] : network_s;
}

/* The link up from a group; that down into it is the next one. */
static uint32_t uplink_of(const struct writer *writer, uint32_t level, uint32_t group)
{
    return writer->cluster->first_fabric_link + writer->cluster->tree.levels[level].first_link +
           2 * group;
}

static void write_node_links(const struct writer *writer, uint32_t node)
{
    const struct ar_node_links *links = &writer->cluster->node;
    for (uint32_t local = 0; local < links->count; local++) {
        write_link(writer, node * links->count + local,
                   node_link_latency(writer, &links->list[local]));
    }
}

/* All links, in one zone before the others: SimGrid looks a link up zone by zone, so that links in
 * the zones of 1024 nodes make loading eight times slower. */
static void write_links(const struct writer *writer)
{
    const struct ar_cluster *cluster = writer->cluster;
    bool is_one_zone = writer->is_star && writer->levels_count == 0;
    double net_width_Bps =
        gate_width * cluster->facts.hcas_per_node * cluster->rates_Bps[AR_KIND_HCA];
    if (!is_one_zone) {
        fprintf(writer->file, "<zone id=\"links\" routing=\"Full\">\n");
    }
    for (uint32_t node = 0; node < writer->nodes_count; node++) {
        write_node_links(writer, node);
        if (writer->has_network && !writer->is_star) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "node-%u.net", node);
            write_named_link(writer, name, net_width_Bps, cluster->latencies_s[AR_TIER_RACK]);
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
static const char *zone_name(struct zone zone, bool is_gate, char *name, size_t size)
{
    char group[NAME_SIZE];
    if (zone.is_node) {
        snprintf(name, size, "node-%u", zone.number);
        return name;
    }
    snprintf(name, size, "%s%s", ar_tree_group_name(zone.level, zone.number, group, sizeof group),
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
            zone_name(source, false, from, sizeof from),
            zone_name(destination, false, to, sizeof to),
            zone_name(source, true, from_gate, sizeof from_gate),
            zone_name(destination, true, to_gate, sizeof to_gate));
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
        zone_name(*spine, true, name, sizeof name);
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
                zone_name(own_spine, true, name, sizeof name));
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

void ar_cluster_write_simgrid(const struct ar_cluster *cluster, uint32_t nodes_count, FILE *file)
{
    assert(nodes_count >= 1 && nodes_count <= cluster->facts.nodes_count);
    assert(cluster->platform == NULL);
    struct writer writer = {
        .cluster = cluster,
        .nodes_count = nodes_count,
        .has_network = cluster->facts.hcas_per_node > 0,
        .is_star = cluster->facts.gpus_per_node == 1 && cluster->facts.hcas_per_node == 1 &&
                   cluster->values.count[TOPO_PCIE_SWITCHES] == 0,
        .file = file,
    };
    count_groups(&writer);
    fprintf(file,
            "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "<zone id=\"cluster\" routing=\"%s\">\n"
            "<prop id=\"name\" value=\"%s\"/>\n",
            writer.is_star && writer.levels_count == 0 ? "Cluster" : "Full", cluster->facts.name);
    write_links(&writer);
    if (writer.levels_count > 0) {
        uint32_t top = writer.levels_count - 1;
        write_groups(&writer, top, NULL, 0, writer.groups_count[top]);
    } else if (writer.is_star) {
        write_star_nodes(&writer, 0, nodes_count);
    } else {
        write_nested_nodes(&writer, NULL, 0, nodes_count);
    }
    fprintf(file, "</zone>\n</platform>\n");
}
