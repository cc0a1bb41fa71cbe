/* Two layouts of zones.
 *
 * Nested: a node is a Full zone (NVLink, PCIe and HCA links, and a router as its gate), a rack is a
 * Full zone of nodes and of one more zone that holds the rack's gate, the top is a Full zone of
 * racks. SimGrid wants a link in every route between zones, so a node has one link more,
 * `node-<n>.net`, which carries the latency of the network and never limits; HCA links then have
 * none. The uplink of a rack is the link between racks, its downlink that from gate to node.
 *
 * Star: where a node is one GPU without a PCIe switch, a rack is a Cluster zone of hosts, whose
 * routes cost a constant however many hosts there are; the HCA link out carries the latency. */
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
    uint32_t racks_count; /* that hold these nodes; 0: no racks */
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
static double node_link_latency(const struct writer *writer, uint32_t local)
{
    const struct ar_cluster *cluster = writer->cluster;
    const double *number = cluster->values.number;
    const struct ar_node_links *node = &cluster->node;
    if (local < node->first_port) {
        return number[TOPO_NVLINK_LATENCY];
    }
    bool is_outward = (local - node->first_port) % 2 == 0;
    if (local < node->first_uplink) {
        double port_s =
            number[cluster->port_tier == AR_TIER_PCIE ? TOPO_PCIE_LATENCY : TOPO_NVLINK_LATENCY];
        return is_outward ? port_s : 0;
    }
    bool is_hca_out = local >= node->first_hca && is_outward;
    return writer->is_star && is_hca_out ? number[TOPO_NET_LATENCY] : 0;
}

static void write_node_links(const struct writer *writer, uint32_t node)
{
    uint32_t count = writer->cluster->node.count;
    for (uint32_t local = 0; local < count; local++) {
        write_link(writer, node * count + local, node_link_latency(writer, local));
    }
}

/* All links, in one zone before the others: SimGrid looks a link up zone by zone, so that links in
 * the zones of 1024 nodes make loading eight times slower. */
static void write_links(const struct writer *writer)
{
    const struct ar_cluster *cluster = writer->cluster;
    bool is_one_zone = writer->is_star && writer->racks_count == 0;
    double net_width_Bps = gate_width * cluster->facts.hcas_per_node * cluster->hca_Bps;
    if (!is_one_zone) {
        fprintf(writer->file, "<zone id=\"links\" routing=\"Full\">\n");
    }
    for (uint32_t node = 0; node < writer->nodes_count; node++) {
        write_node_links(writer, node);
        if (writer->has_network && !writer->is_star) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "node-%u.net", node);
            write_named_link(writer, name, net_width_Bps, cluster->values.number[TOPO_NET_LATENCY]);
        }
    }
    for (uint32_t rack = 0; rack < writer->racks_count; rack++) {
        write_link(writer, cluster->first_rack_link + 2 * rack, 0);
        write_link(writer, cluster->first_rack_link + 2 * rack + 1, 0);
    }
    if (!is_one_zone) {
        fprintf(writer->file, "</zone>\n");
    }
}

static void write_gpu_routes(const struct writer *writer, uint32_t node)
{
    uint32_t gpus = writer->cluster->facts.gpus_per_node;
    uint32_t first = node * gpus;
    for (uint32_t a = first; a < first + gpus; a++) {
        for (uint32_t b = first; b < first + gpus; b++) {
            if (a == b) {
                continue;
            }
            struct ar_path path = ar_path_find(writer->cluster, a, b);
            if (path.links_count == 0) {
                continue;
            }
            fprintf(writer->file, "<route src=\"gpu-%u\" dst=\"gpu-%u\" symmetrical=\"NO\">", a, b);
            for (uint32_t i = 0; i < path.links_count; i++) {
                write_hop(writer, ar_path_link(&path, i));
            }
            fprintf(writer->file, "</route>\n");
        }
    }
}

/* The route from a GPU to the gate of its node, or back; none if the links between are down. */
static void write_gate_route(const struct writer *writer, uint32_t node, uint32_t gpu, bool is_out)
{
    const struct ar_cluster *cluster = writer->cluster;
    const struct ar_node_links *links = &cluster->node;
    uint32_t first = node * links->count + (is_out ? 0 : 1);
    uint32_t rank = node * cluster->facts.gpus_per_node + gpu;
    bool has_uplink = links->net_uplink[gpu] != AR_NO_LINK;
    uint32_t hca = ar_link_hca_in_use(cluster, first + links->hca[gpu]);
    if (ar_link_is_down(cluster, hca) ||
        (has_uplink && ar_link_is_down(cluster, first + links->net_uplink[gpu]))) {
        return;
    }
    char host[NAME_SIZE], gate[NAME_SIZE];
    ar_cluster_host_name(writer->cluster, rank, host, sizeof host);
    snprintf(gate, sizeof gate, "node-%u.gate", node);
    fprintf(writer->file, "<route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">", is_out ? host : gate,
            is_out ? gate : host);
    if (has_uplink && is_out) {
        write_hop(writer, first + links->net_uplink[gpu]);
    }
    write_hop(writer, hca);
    if (has_uplink && !is_out) {
        write_hop(writer, first + links->net_uplink[gpu]);
    }
    fprintf(writer->file, "</route>\n");
}

static void write_gate(const struct writer *writer, uint32_t node)
{
    for (uint32_t gpu = 0; gpu < writer->cluster->facts.gpus_per_node; gpu++) {
        write_gate_route(writer, node, gpu, true);
        write_gate_route(writer, node, gpu, false);
    }
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
    if (writer->has_network) {
        write_gate(writer, node);
    }
    fprintf(writer->file, "</zone>\n");
}

static void write_zone_route(const struct writer *writer, const char *source, uint32_t source_index,
                             const char *destination, uint32_t destination_index)
{
    fprintf(writer->file,
            "<zoneRoute src=\"%s-%u\" dst=\"%s-%u\" gw_src=\"%s-%u.gate\" gw_dst=\"%s-%u.gate\" "
            "symmetrical=\"NO\">",
            source, source_index, destination, destination_index, source, source_index, destination,
            destination_index);
}

static void write_node_routes(const struct writer *writer, uint32_t first, uint32_t end)
{
    for (uint32_t a = first; a < end; a++) {
        for (uint32_t b = first; b < end; b++) {
            if (a != b) {
                write_zone_route(writer, "node", a, "node", b);
                fprintf(writer->file,
                        "<link_ctn id=\"node-%u.net\" direction=\"NONE\"/></zoneRoute>\n", a);
            }
        }
    }
}

/* Routes between the gate of a rack and its nodes. */
static void write_rack_routes(const struct writer *writer, uint32_t rack, uint32_t first,
                              uint32_t end)
{
    for (uint32_t node = first; node < end; node++) {
        fprintf(writer->file,
                "<zoneRoute src=\"node-%u\" dst=\"rack-%u.spine\" gw_src=\"node-%u.gate\" "
                "gw_dst=\"rack-%u.gate\" symmetrical=\"NO\">"
                "<link_ctn id=\"node-%u.net\" direction=\"NONE\"/></zoneRoute>\n",
                node, rack, node, rack, node);
        fprintf(writer->file,
                "<zoneRoute src=\"rack-%u.spine\" dst=\"node-%u\" gw_src=\"rack-%u.gate\" "
                "gw_dst=\"node-%u.gate\" symmetrical=\"NO\">",
                rack, node, rack, node);
        write_hop(writer, writer->cluster->first_rack_link + 2 * rack + 1);
        fprintf(writer->file, "</zoneRoute>\n");
    }
}

static void write_nested_nodes(const struct writer *writer, uint32_t first, uint32_t end)
{
    for (uint32_t node = first; node < end; node++) {
        write_nested_node(writer, node);
    }
}

static void write_nested_rack(const struct writer *writer, uint32_t rack, uint32_t first,
                              uint32_t end)
{
    fprintf(writer->file, "<zone id=\"rack-%u\" routing=\"Full\">\n", rack);
    write_nested_nodes(writer, first, end);
    fprintf(writer->file,
            "<zone id=\"rack-%u.spine\" routing=\"Full\"><router id=\"rack-%u.gate\"/></zone>\n",
            rack, rack);
    write_node_routes(writer, first, end);
    write_rack_routes(writer, rack, first, end);
    fprintf(writer->file, "</zone>\n");
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

static void write_star_rack(const struct writer *writer, uint32_t rack, uint32_t first,
                            uint32_t end)
{
    fprintf(writer->file,
            "<zone id=\"rack-%u\" routing=\"Cluster\">\n<router id=\"rack-%u.gate\"/>\n", rack,
            rack);
    write_star_nodes(writer, first, end);
    fprintf(writer->file, "</zone>\n");
}

static void write_rack_zones(const struct writer *writer)
{
    uint32_t nodes = writer->cluster->facts.nodes_per_rack;
    for (uint32_t rack = 0; rack < writer->racks_count; rack++) {
        uint32_t first = rack * nodes;
        uint32_t rest = writer->nodes_count - first;
        uint32_t end = first + (rest < nodes ? rest : nodes);
        if (writer->is_star) {
            write_star_rack(writer, rack, first, end);
        } else {
            write_nested_rack(writer, rack, first, end);
        }
    }
}

static void write_racks(const struct writer *writer)
{
    uint32_t first_link = writer->cluster->first_rack_link;
    write_rack_zones(writer);
    for (uint32_t a = 0; a < writer->racks_count; a++) {
        for (uint32_t b = 0; b < writer->racks_count; b++) {
            if (a == b) {
                continue;
            }
            write_zone_route(writer, "rack", a, "rack", b);
            write_hop(writer, first_link + 2 * a);
            if (writer->is_star) {
                write_hop(writer, first_link + 2 * b + 1);
            }
            fprintf(writer->file, "</zoneRoute>\n");
        }
    }
}

void ar_cluster_write_simgrid(const struct ar_cluster *cluster, uint32_t nodes_count, FILE *file)
{
    assert(nodes_count >= 1 && nodes_count <= cluster->facts.nodes_count);
    assert(cluster->platform == NULL);
    uint32_t rack_nodes = cluster->facts.nodes_per_rack;
    const struct writer writer = {
        .cluster = cluster,
        .nodes_count = nodes_count,
        .racks_count = cluster->racks_count > 0 ? (nodes_count + rack_nodes - 1) / rack_nodes : 0,
        .has_network = cluster->facts.hcas_per_node > 0,
        .is_star = cluster->facts.gpus_per_node == 1 && cluster->facts.hcas_per_node == 1 &&
                   cluster->values.count[TOPO_PCIE_SWITCHES] == 0,
        .file = file,
    };
    fprintf(file,
            "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "<zone id=\"cluster\" routing=\"%s\">\n"
            "<prop id=\"name\" value=\"%s\"/>\n",
            writer.is_star && writer.racks_count == 0 ? "Cluster" : "Full", cluster->facts.name);
    write_links(&writer);
    if (writer.racks_count > 0) {
        write_racks(&writer);
    } else if (writer.is_star) {
        write_star_nodes(&writer, 0, nodes_count);
    } else {
        write_nested_nodes(&writer, 0, nodes_count);
        write_node_routes(&writer, 0, nodes_count);
    }
    fprintf(file, "</zone>\n</platform>\n");
}
