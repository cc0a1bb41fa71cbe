/* Links and paths of a cluster, slow links, and symmetries that move every path along. Functions
 * fill in the caller's path: a copy of one costs more than finding it. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "fabric.h"

/* --- links ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *directions[2];
} kinds[] = {[AR_KIND_PORT] = {"port", {"out", "in"}},
             [AR_KIND_PCIE] = {"pcie", {"up", "down"}},
             [AR_KIND_HCA] = {"hca", {"out", "in"}}};

uint32_t ar_cluster_links_count(const struct ar_cluster *cluster)
{
    return cluster->first_fabric_link + cluster->fabric_links_count;
}

uint32_t ar_cluster_links_of_nodes(const struct ar_cluster *cluster, uint32_t nodes)
{
    return nodes * cluster->node.count;
}

uint32_t ar_cluster_links_taken(const struct ar_cluster *cluster, uint32_t ranks)
{
    uint32_t of_nodes = ((ranks - 1) / cluster->facts.gpus_per_node + 1) * cluster->node.count;
    return of_nodes + cluster->fabric_links_count;
}

uint32_t ar_cluster_links_among(const struct ar_cluster *cluster, uint32_t ranks)
{
    return cluster->fabric_links_count > 0 ? ar_cluster_links_count(cluster)
                                           : ar_cluster_links_taken(cluster, ranks);
}

double ar_cluster_link_bandwidth(const struct ar_cluster *cluster, uint32_t link)
{
    double file_Bps;
    assert(link < ar_cluster_links_count(cluster));
    if (link >= cluster->first_fabric_link) {
        file_Bps = cluster->fabric->bandwidth(cluster, link - cluster->first_fabric_link);
    } else {
        const struct ar_node_link *local = &cluster->node.list[link % cluster->node.count];
        file_Bps = local->weight * cluster->rates_Bps[local->kind];
    }
    return file_Bps / (cluster->factors != NULL ? cluster->factors[link] : 1);
}

const char *ar_cluster_link_name(const struct ar_cluster *cluster, uint32_t link, char *name,
                                 size_t size)
{
    assert(link < ar_cluster_links_count(cluster));
    if (link >= cluster->first_fabric_link) {
        cluster->fabric->name(cluster, link - cluster->first_fabric_link, name, size);
    } else {
        const struct ar_node_link *local = &cluster->node.list[link % cluster->node.count];
        uint32_t number = link / cluster->node.count;
        if (local->kind == AR_KIND_NVLINK) {
            snprintf(name, size, "node-%u.nvlink-%u-%u", number, local->a, local->b);
        } else {
            snprintf(name, size, "node-%u.%s-%u.%s", number, kinds[local->kind].name, local->a,
                     kinds[local->kind].directions[local->b]);
        }
    }
    return name;
}

const char *ar_host_name(uint32_t rank, char *name, size_t size)
{
    snprintf(name, size, "gpu-%u%s", rank & ~AR_SWITCH, (rank & AR_SWITCH) != 0 ? ".switch" : "");
    return name;
}

/* --- paths ------------------------------------------------------------------------------------ */

static void begin_path(const struct ar_cluster *cluster, enum ar_tier tier, struct ar_path *path)
{
    path->tier = tier;
    path->latency_s = cluster->facts.message.path_s[tier];
    path->switches_s = 0;
    path->bandwidth_Bps = HUGE_VAL;
    path->links_count = 0;
    path->climbs = 0;
}

/* A GPU of a node, whose links start at `first`. */
struct place {
    uint32_t node, first, gpu;
};

/* The path over the ports of two GPUs of a node or, over NVLink switches, of an NVLink domain. */
static void port_path(const struct ar_cluster *cluster, struct place from, struct place to,
                      struct ar_path *path)
{
    const struct ar_node_links *node = &cluster->node;
    const double *rates_Bps = cluster->rates_Bps;
    begin_path(cluster, cluster->port_tier, path);
    ar_path_add(cluster, from.first + node->port[from.gpu], rates_Bps[AR_KIND_PORT], path);
    path->climbs = path->links_count;
    if (cluster->port_tier == AR_TIER_PCIE && node->uplink[from.gpu] != node->uplink[to.gpu]) {
        ar_path_add(cluster, from.first + node->uplink[from.gpu], rates_Bps[AR_KIND_PCIE], path);
        path->climbs = path->links_count;
        ar_path_add(cluster, to.first + node->uplink[to.gpu] + 1, rates_Bps[AR_KIND_PCIE], path);
    }
    ar_path_add(cluster, to.first + node->port[to.gpu] + 1, rates_Bps[AR_KIND_PORT], path);
}

/* The path within a node: by NVLink, if there is one. */
static void node_path(const struct ar_cluster *cluster, uint32_t first, uint32_t a, uint32_t b,
                      struct ar_path *path)
{
    uint32_t nvlink = cluster->node.nvlink[a][b];
    if (nvlink == AR_NO_LINK) {
        port_path(cluster, (struct place){.first = first, .gpu = a},
                  (struct place){.first = first, .gpu = b}, path);
        return;
    }
    begin_path(cluster, AR_TIER_NVLINK, path);
    ar_path_add(cluster, first + nvlink,
                cluster->values.weight[a][b] * cluster->rates_Bps[AR_KIND_NVLINK], path);
}

static uint64_t mix_bits(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u; /* the finalizer of SplitMix64 (Steele 2014) */
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint32_t ar_route_hash(const struct ar_cluster *cluster, struct ar_port from, struct ar_port to,
                       uint32_t salt)
{
    uint64_t pair = (uint64_t)ar_port_number(cluster, from) << 32 | ar_port_number(cluster, to);
    uint64_t seed = (uint64_t)cluster->values.number[TOPO_FABRIC_ROUTES] << 8 | salt;
    return (uint32_t)(mix_bits(mix_bits(pair + 0x9e3779b97f4a7c15u) + seed * 0x9e3779b97f4a7c15u) >>
                      32);
}

bool ar_cluster_is_hca_link(const struct ar_cluster *cluster, uint32_t link)
{
    uint32_t of_node = link % cluster->node.count, first = cluster->node.hca[0];
    return link < cluster->first_fabric_link && of_node >= first &&
           of_node < first + 2 * cluster->facts.hcas_per_node;
}

static bool is_up(const struct ar_cluster *cluster, uint32_t link)
{
    return ar_hca_in_use(cluster, link) == link;
}

/* Whether two nodes have HCAs on a rail that are up, one to send and one to receive. */
static bool rail_is_up(const struct ar_cluster *cluster, struct place from, struct place to,
                       uint32_t rail)
{
    uint32_t out = cluster->node.hca[0] + 2 * rail;
    return is_up(cluster, from.first + out) && is_up(cluster, to.first + out + 1);
}

/* The rail on which a message between nodes travels: that of its destination. If an HCA of that
 * rail is down, it is the rail that took its place if both nodes have that one up, else the next
 * one that both have up. */
static uint32_t rail_of(const struct ar_cluster *cluster, struct place from, struct place to)
{
    const struct ar_node_links *node = &cluster->node;
    uint32_t rails = cluster->facts.hcas_per_node;
    uint32_t own = (node->hca[to.gpu] - node->hca[0]) / 2u, out = node->hca[0] + 2 * own;
    const uint32_t instead[] = {
        own, (ar_hca_in_use(cluster, from.first + out) - from.first - node->hca[0]) / 2,
        (ar_hca_in_use(cluster, to.first + out) - to.first - node->hca[0]) / 2};
    for (size_t i = 0; i < sizeof instead / sizeof instead[0]; i++) {
        if (rail_is_up(cluster, from, to, instead[i])) {
            return instead[i];
        }
    }
    for (uint32_t i = 1; i < rails; i++) {
        if (rail_is_up(cluster, from, to, (own + i) % rails)) {
            return (own + i) % rails;
        }
    }
    return own;
}

/* To the GPU of the source's node whose HCA is on the rail of the destination; with several, those
 * of a rail take one each. */
static struct place change_rails(const struct ar_cluster *cluster, struct place from,
                                 struct place to, uint32_t *out, uint32_t *in, struct ar_path *path)
{
    const struct ar_node_links *node = &cluster->node;
    uint32_t rail = rail_of(cluster, from, to);
    uint32_t gpus = cluster->facts.gpus_per_node / cluster->facts.hcas_per_node; /* of a rail */
    struct place relay = {from.node, from.first, rail * gpus + from.gpu % gpus};
    *out = from.first + node->hca[0] + 2 * rail;
    *in = to.first + node->hca[0] + 2 * rail + 1;
    if (relay.gpu != from.gpu) {
        node_path(cluster, from.first, from.gpu, relay.gpu, path);
        path->tier = AR_TIER_RACK;
        path->latency_s = cluster->facts.message.path_s[AR_TIER_RACK];
    }
    return relay;
}

const struct ar_path *ar_cluster_path(const struct ar_cluster *cluster, uint32_t source,
                                      uint32_t destination, struct ar_path *path)
{
    if (((source | destination) & AR_SWITCH) != 0) {
        ar_cluster_path(cluster, source & ~AR_SWITCH, destination & ~AR_SWITCH, path);
        /* Keeps the links up to the switch in its middle, or those behind it. */
        bool is_first = (source & AR_SWITCH) == 0;
        uint32_t dropped = is_first ? 0 : path->climbs;
        path->links_count = is_first ? path->climbs : path->links_count - dropped;
        path->bandwidth_Bps = HUGE_VAL;
        for (uint32_t i = 0; i < path->links_count; i++) {
            uint32_t link = path->links[i] = path->links[i + dropped];
            double link_Bps = ar_cluster_link_bandwidth(cluster, link);
            path->bandwidth_Bps = fmin(path->bandwidth_Bps, link_Bps);
        }
        return path;
    }
    uint32_t gpus = cluster->facts.gpus_per_node;
    uint32_t source_node = source / gpus;
    uint32_t destination_node = destination / gpus;
    uint32_t links = cluster->node.count;
    struct place from = {source_node, source_node * links, source - source_node * gpus};
    struct place to = {destination_node, destination_node * links,
                       destination - destination_node * gpus};
    assert(source != destination && source_node < cluster->facts.nodes_count &&
           destination_node < cluster->facts.nodes_count);
    if (source_node == destination_node) {
        node_path(cluster, from.first, from.gpu, to.gpu, path);
    } else if (source_node / cluster->domain_nodes == destination_node / cluster->domain_nodes) {
        port_path(cluster, from, to, path);
    } else {
        const struct ar_node_links *node = &cluster->node;
        const double *rates_Bps = cluster->rates_Bps;
        uint32_t out = ar_hca_in_use(cluster, from.first + node->hca[from.gpu]);
        uint32_t in = ar_hca_in_use(cluster, to.first + node->hca[to.gpu] + 1);
        begin_path(cluster, AR_TIER_RACK, path);
        if (cluster->values.count[TOPO_TREE_RAILS] == AR_RAILS_NVLINK) {
            from = change_rails(cluster, from, to, &out, &in, path);
        }
        if (node->net_uplink[from.gpu] != AR_NO_LINK) {
            ar_path_add(cluster, from.first + node->net_uplink[from.gpu], rates_Bps[AR_KIND_PCIE],
                        path);
        }
        ar_path_add(cluster, out, rates_Bps[AR_KIND_HCA], path);
        uint32_t before = path->links_count;
        if (cluster->fabric_links_count > 0) {
            struct ar_port leaves = {from.node, (out - from.first - node->hca[0]) / 2};
            struct ar_port enters = {to.node, (in - to.first - node->hca[0]) / 2};
            cluster->fabric->route(cluster, leaves, enters, path);
        }
        path->climbs = before + (path->links_count - before) / 2;
        ar_path_add(cluster, in, rates_Bps[AR_KIND_HCA], path);
        if (node->net_uplink[to.gpu] != AR_NO_LINK) {
            ar_path_add(cluster, to.first + node->net_uplink[to.gpu] + 1, rates_Bps[AR_KIND_PCIE],
                        path);
        }
    }
    return path;
}

/* --- slow links ------------------------------------------------------------------------------- */

/* A setting of links becomes a parameter of the cluster. */
static struct ar_slow_link *add_changed(struct ar_cluster *cluster, const char *key,
                                        const struct ar_setting *setting)
{
    struct ar_slow_link *made =
        AR_ARENA_ADD(cluster->arena, cluster->slow_links, cluster->slow_links_count);
    *made = (struct ar_slow_link){{key, ar_arena_text(cluster->arena, setting->text),
                                   ar_arena_text(cluster->arena, setting->where)},
                                  UINT32_MAX};
    return made;
}

static enum ar_status slow_links_named(struct ar_cluster *cluster, const struct ar_setting *setting,
                                       const char *name, double factor, struct ar_error *err)
{
    struct ar_slow_link *slow = add_changed(cluster, "slow-link", setting);
    char full[AR_LINK_NAME_SIZE];
    size_t length = strlen(name);
    uint32_t begin = 0, end = ar_cluster_links_count(cluster), node;
    if (sscanf(name, "node-%u", &node) == 1 && node < cluster->facts.nodes_count) {
        begin = node * cluster->node.count; /* no link of others has such a name */
        end = begin + cluster->node.count;
    }
    for (uint32_t link = begin; link < end; link++) {
        ar_cluster_link_name(cluster, link, full, sizeof full);
        /* The name is that of a link, or how it begins, up to a dot. */
        if (strncmp(full, name, length) != 0 || (full[length] != '\0' && full[length] != '.')) {
            continue;
        }
        AR_REFUSE(cluster->factors[link] != 1, err, setting->status,
                  "%s: found link \"%s\" a second time; expected each link once", setting->where,
                  full);
        cluster->factors[link] = factor;
        slow->first = slow->first < link ? slow->first : link;
    }
    char other[AR_LINK_NAME_SIZE];
    uint32_t links = ar_cluster_links_count(cluster);
    if (slow->first < UINT32_MAX) {
        return AR_OK;
    }
    AR_REFUSE(links == 0, err, setting->status,
              "%s: found \"%.60s\"; expected none: no link is there", setting->where, name);
    ar_cluster_link_name(cluster, cluster->first_fabric_link - 1, full, sizeof full);
    ar_cluster_link_name(cluster, cluster->fabric_links_count > 0 ? links - 1 : 0, other,
                         sizeof other);
    return ar_error_set(err, setting->status,
                        "%s: unknown link \"%.60s\"; expected one such as \"%s\" or \"%s\"",
                        setting->where, name, full, other);
}

enum ar_status ar_cluster_slow_links(struct ar_cluster *cluster, struct ar_settings settings,
                                     struct ar_error *err)
{
    static const double factor_min = 1e-6, factor_max = 1e6;
    uint32_t links = ar_cluster_links_count(cluster);
    cluster->factors = ar_arena_alloc(cluster->arena, links, sizeof *cluster->factors);
    for (uint32_t link = 0; link < links; link++) {
        cluster->factors[link] = 1;
    }
    AR_EACH(const struct ar_setting, setting, settings.list, settings.count) {
        const char *colon = strrchr(setting->text, ':');
        double factor;
        AR_REFUSE(colon == NULL || colon == setting->text ||
                      ar_parse_number("", colon + 1, factor_min, factor_max, &factor, AR_IGNORED) !=
                          AR_OK,
                  err, setting->status,
                  "%s: found \"%.60s\"; expected LINK:FACTOR such as node-3.hca-0:4 (four times "
                  "slower), a factor from %g to %g",
                  setting->where, setting->text, factor_min, factor_max);
        const char *name =
            ar_arena_format(cluster->arena, "%.*s", (int)(colon - setting->text), setting->text);
        AR_TRY(slow_links_named(cluster, setting, name, factor, err));
    }
    return AR_OK;
}

/* Spreads the messages of HCAs that are down over those of the node that are up, as a communicator
 * does that is made anew: each HCA is replaced by the next one of those that carry least. False if
 * none is up. `first`: the node's first link of HCAs. */
static bool replace_hcas(struct ar_cluster *cluster, uint32_t first)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t hcas = cluster->facts.hcas_per_node;
    uint32_t *carried = ar_arena_alloc(&arena, hcas, sizeof *carried);
    for (uint32_t hca = 0; hca < hcas; hca++) {
        uint32_t best = UINT32_MAX;
        if (cluster->instead[first + 2 * hca] != UINT32_MAX) {
            continue; /* it is up */
        }
        for (uint32_t step = 1; step < hcas; step++) {
            uint32_t other = (hca + step) % hcas;
            bool is_less = best == UINT32_MAX || carried[other] < carried[best];
            best = is_up(cluster, first + 2 * other) && is_less ? other : best;
        }
        if (best == UINT32_MAX) {
            return false;
        }
        carried[best]++;
        for (uint32_t end = 0; end < 2; end++) { /* out and in */
            cluster->instead[first + 2 * hca + end] = first + 2 * best + end;
        }
    }
    return true;
}

enum ar_status ar_cluster_down_links(struct ar_cluster *cluster, struct ar_settings settings,
                                     struct ar_error *err)
{
    uint32_t links = cluster->node.count, hcas = cluster->facts.hcas_per_node;
    cluster->instead =
        ar_arena_alloc(cluster->arena, cluster->first_fabric_link, sizeof *cluster->instead);
    for (uint32_t link = 0; link < cluster->first_fabric_link; link++) {
        cluster->instead[link] = link;
    }
    AR_REFUSE(hcas == 0, err, settings.list[0].status,
              "%s: found \"%.60s\"; expected none: the cluster has no HCA", settings.list[0].where,
              settings.list[0].text);
    AR_EACH(const struct ar_setting, setting, settings.list, settings.count) {
        unsigned node, hca;
        int end = 0;
        AR_REFUSE(sscanf(setting->text, "node-%u.hca-%u%n", &node, &hca, &end) != 2 ||
                      setting->text[end] != '\0' || node >= cluster->facts.nodes_count ||
                      hca >= hcas,
                  err, setting->status,
                  "%s: found \"%.60s\"; expected an HCA, node-0.hca-0 to node-%u.hca-%u (for other "
                  "links --slow-link)",
                  setting->where, setting->text, cluster->facts.nodes_count - 1, hcas - 1);
        uint32_t out = node * links + cluster->node.hca[0] + 2 * hca;
        cluster->instead[out] = cluster->instead[out + 1] = UINT32_MAX;
        add_changed(cluster, "down-link", setting)->first = out;
    }
    for (uint32_t node = 0; node < cluster->facts.nodes_count; node++) {
        AR_REFUSE(!replace_hcas(cluster, node * links + cluster->node.hca[0]), err,
                  settings.list[0].status,
                  "%s: found all HCAs of node %u down; expected one that is up",
                  settings.list[0].where, node);
    }
    return AR_OK;
}

/* Whether messages among the first `ranks` GPUs go over links between switches. */
static bool needs_fabric(const struct ar_cluster *cluster, uint32_t ranks)
{
    struct ar_path path = {.tier = AR_TIER_NVLINK};
    return ranks > 1 && (cluster->tree.rails > 1 ||
                         ar_cluster_path(cluster, 0, ranks - 1, &path)->tier == AR_TIER_SPINE);
}

const struct ar_cluster_parameter *ar_cluster_idle_link(const struct ar_cluster *cluster,
                                                        size_t index, uint32_t ranks)
{
    const struct ar_slow_link *slow = &cluster->slow_links[index];
    uint32_t nodes = (ranks - 1) / cluster->facts.gpus_per_node + 1;
    if (slow->first >= cluster->first_fabric_link) {
        return needs_fabric(cluster, ranks) ? NULL : &slow->parameter;
    }
    bool is_hca = cluster->node.list[slow->first % cluster->node.count].kind == AR_KIND_HCA;
    bool is_idle =
        slow->first / cluster->node.count >= nodes || (is_hca && nodes <= cluster->domain_nodes);
    return is_idle ? &slow->parameter : NULL;
}

const char *ar_cluster_idle_routes(const struct ar_cluster *cluster, uint32_t ranks)
{
    return cluster->routes == AR_ROUTES_IDEAL || needs_fabric(cluster, ranks)
               ? NULL
               : ar_topo_entries_find(&cluster->entries, TOPO_FABRIC_ROUTES)->text;
}

/* --- symmetries ------------------------------------------------------------------------------- */

/* One link leads up from a group of any level, whatever the destination, and none is changed. */
static bool has_equal_nodes(const struct ar_cluster *cluster)
{
    bool is_even = cluster->fabric_links_count == 0 ||
                   (cluster->fabric == &ar_fabric_fat_tree && cluster->routes == AR_ROUTES_IDEAL);
    return cluster->factors == NULL && cluster->instead == NULL && is_even;
}

bool ar_cluster_has_equal_gpus(const struct ar_cluster *cluster)
{
    const struct ar_cluster_facts *facts = &cluster->facts;
    return cluster->fabric_links_count == 0 && facts->has_nvswitch &&
           facts->hcas_per_node == facts->gpus_per_node &&
           cluster->values.count[TOPO_TREE_RAILS] != AR_RAILS_NVLINK &&
           cluster->node.net_uplink[0] == AR_NO_LINK && has_equal_nodes(cluster);
}

uint32_t ar_cluster_link_of_first_gpu(const struct ar_cluster *cluster, uint32_t link)
{
    const struct ar_node_links *node = &cluster->node;
    const struct ar_node_link *own = &node->list[link % node->count];
    const uint16_t *of_gpu = own->kind == AR_KIND_HCA ? node->hca : node->port;
    return link - link % node->count + of_gpu[0] + own->b;
}

uint32_t ar_cluster_period(const struct ar_cluster *cluster, uint32_t ranks)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    bool has_rails = cluster->fabric_links_count > 0 && cluster->tree.rails > 1;
    if (!has_equal_nodes(cluster) || has_rails || ranks % gpus != 0) {
        return ranks;
    }
    const struct ar_fat_tree *tree = &cluster->tree;
    uint32_t nodes = ranks / gpus;
    uint32_t unit = cluster->domain_nodes; /* nodes of the groups, of which there are several, that
                                              any of the nodes hang together in */
    uint64_t of_group = 1;
    for (uint32_t i = 0; cluster->fabric_links_count > 0 && i < tree->levels_count; i++) {
        of_group *= tree->levels[i].children;
        if (of_group >= nodes) {
            break;
        }
        unit = of_group % unit == 0 ? (uint32_t)of_group : nodes;
    }
    return nodes % unit == 0 ? unit * gpus : ranks;
}

uint32_t ar_cluster_path_repeats(const struct ar_cluster *cluster, uint32_t ranks, uint32_t source,
                                 uint32_t destination)
{
    uint32_t gpus = cluster->facts.gpus_per_node, rack = cluster->tree.levels[0].children;
    if (!has_equal_nodes(cluster) || cluster->domain_nodes > 1 || cluster->tree.rails > 1 ||
        rack == 0) {
        return 1;
    }
    uint32_t from = source / gpus, to = destination / gpus, nodes = ranks / gpus;
    uint32_t last = from > to ? from : to, in_full_racks = nodes - nodes % rack;
    if (cluster->tree.levels_count == 1 && 2 * last - from - to >= rack) { /* never in one rack */
        return (last < in_full_racks ? in_full_racks : nodes) - last;
    }
    uint32_t in_rack = rack - (from % rack > to % rack ? from % rack : to % rack);
    return in_rack < nodes - last ? in_rack : nodes - last;
}

uint32_t ar_cluster_like_link(const struct ar_cluster *cluster, uint32_t ranks, uint32_t link,
                              uint32_t *count)
{
    const struct ar_fat_tree *tree = &cluster->tree;
    *count = ranks / cluster->facts.gpus_per_node; /* nodes */
    if (link < cluster->first_fabric_link) {
        return link % cluster->node.count;
    }
    uint32_t index = link - cluster->first_fabric_link, racks = *count / tree->levels[0].children;
    bool is_full = tree->levels_count == 1 && index / 2 < racks;
    *count = is_full ? racks : 1;
    return is_full ? cluster->first_fabric_link + index % 2 : link;
}

uint32_t ar_cluster_first_link(const struct ar_cluster *cluster, uint32_t period, uint32_t link,
                               uint32_t *turns)
{
    uint32_t nodes = period / cluster->facts.gpus_per_node;
    *turns = 0;
    if (link < cluster->first_fabric_link) {
        *turns = link / cluster->node.count / nodes;
        return link - *turns * nodes * cluster->node.count;
    }
    const struct ar_tree_level *level = cluster->tree.levels;
    uint32_t index = link - cluster->first_fabric_link;
    uint64_t of_group = level->children;
    for (uint32_t i = 1; i < cluster->tree.levels_count && index >= level[1].first_link; i++) {
        level++;
        of_group *= level->children;
    }
    if (of_group > nodes) { /* no path takes it */
        return link;
    }
    uint32_t links = 2 * level->links * (uint32_t)(nodes / of_group); /* in a period */
    *turns = (index - level->first_link) / links;
    return link - *turns * links;
}
