/* Links that are slow or down: their names, what takes their place, who can still reach whom, and
 * which changed links nobody takes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "fabric.h"

enum { NAME_SIZE = 160 };

static const double factor_min = 1e-6;
static const double factor_max = 1e6;

static int compare_changes(const void *a, const void *b)
{
    const struct ar_link_change *first = a;
    const struct ar_link_change *second = b;
    return first->link != second->link
               ? (first->link > second->link) - (first->link < second->link)
               : (first->cable > second->cable) - (first->cable < second->cable);
}

/* The first change of a link or, behind it, of one with a greater number. */
static uint32_t find_change(const struct ar_cluster *cluster, uint32_t link)
{
    uint32_t first = 0, count = cluster->changes_count;
    while (count > 0) {
        uint32_t half = count / 2;
        bool is_before = cluster->changes[first + half].link < link;
        first += is_before ? half + 1 : 0;
        count = is_before ? count - half - 1 : half;
    }
    return first;
}

static uint32_t cables_of(const struct ar_cluster *cluster, uint32_t link)
{
    return link >= cluster->first_fabric_link && cluster->fabric->cables != NULL
               ? cluster->fabric->cables(cluster, link - cluster->first_fabric_link)
               : 1;
}

double ar_link_factor(const struct ar_cluster *cluster, uint32_t link)
{
    double lost = 0; /* cables */
    uint32_t cables = 1;
    for (uint32_t i = find_change(cluster, link);
         i < cluster->changes_count && cluster->changes[i].link == link; i++) {
        const struct ar_link_change *change = &cluster->changes[i];
        if (change->cable == AR_ALL_CABLES) {
            return change->is_down ? HUGE_VAL : change->factor;
        }
        cables = cables_of(cluster, link);
        lost += change->is_down ? 1 : 1 - 1 / change->factor;
    }
    return lost == cables ? HUGE_VAL : cables / (cables - lost);
}

bool ar_link_is_down(const struct ar_cluster *cluster, uint32_t link)
{
    return cluster->changes_count > 0 && !isfinite(ar_link_factor(cluster, link));
}

uint32_t ar_fabric_find_down(const struct ar_cluster *cluster, const uint32_t *indices,
                             uint32_t count)
{
    for (uint32_t i = 0; cluster->changes_count > 0 && i < count; i++) {
        if (ar_link_is_down(cluster, cluster->first_fabric_link + indices[i])) {
            return cluster->first_fabric_link + indices[i];
        }
    }
    return UINT32_MAX;
}

uint32_t ar_hca_in_use_changed(const struct ar_cluster *cluster, uint32_t link)
{
    uint32_t ends = 2 * cluster->facts.hcas_per_node; /* out and in */
    uint32_t first = (link / cluster->node.count + 1) * cluster->node.count - ends;
    for (uint32_t step = 0; step < ends; step += 2) {
        uint32_t candidate = first + (link - first + step) % ends;
        if (!ar_link_is_down(cluster, candidate)) {
            return candidate;
        }
    }
    return link;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Where the direction of a link's name begins; its end if the name has none. */
static const char *direction_of(const char *full)
{
    static const char *const directions[] = {".out", ".in", ".up", ".down"};
    const char *end = full + strlen(full);
    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++) {
        size_t length = strlen(directions[i]);
        if ((size_t)(end - full) > length && strcmp(end - length, directions[i]) == 0) {
            return end - length;
        }
    }
    return end;
}

/* The links that a name may mean: those of the fabric, or of its node, the last one where there are
 * fewer. */
static struct ar_link_range candidates_of(const struct ar_cluster *cluster, const char *name)
{
    uint32_t index = (uint32_t)strtoul(name + strcspn(name, "0123456789"), NULL, 10);
    uint32_t last_node = cluster->facts.nodes_count - 1;
    struct ar_link_range range = {.count = 0};
    if (cluster->fabric_links_count > 0) {
        range = cluster->fabric->candidates(cluster, name);
    }
    if (range.count > 0) {
        range.first += cluster->first_fabric_link;
        return range;
    }
    return (struct ar_link_range){(index < last_node ? index : last_node) * cluster->node.count,
                                  cluster->node.count};
}

/* The names of the candidates, each with its direction and without it, behind the other. */
static const char **names_of(const struct ar_cluster *cluster, struct ar_link_range candidates,
                             struct ar_arena *arena)
{
    const char **names = ar_arena_alloc(arena, 2 * (size_t)candidates.count, sizeof *names);
    for (uint32_t i = 0; i < candidates.count; i++) {
        char full[NAME_SIZE];
        ar_cluster_link_name(cluster, candidates.first + i, full, sizeof full);
        names[2 * i] = ar_arena_text(arena, full);
        names[2 * i + 1] = ar_arena_format(arena, "%.*s", (int)(direction_of(full) - full), full);
    }
    return names;
}

/* Takes `.cable-7` out of a name; its number, or AR_ALL_CABLES if there is none. */
static uint32_t cut_cable(const char *name, char *rest, size_t size)
{
    static const char word[] = ".cable-";
    const char *at = strstr(name, word);
    char *end = NULL;
    unsigned long number = at != NULL ? strtoul(at + strlen(word), &end, 10) : AR_ALL_CABLES;
    if (at == NULL || end == at + strlen(word) || number >= AR_ALL_CABLES) {
        snprintf(rest, size, "%s", name);
        return AR_ALL_CABLES;
    }
    snprintf(rest, size, "%.*s%s", (int)(at - name), name, end);
    return (uint32_t)number;
}

/* Whether a name means a link of this full name, and which of its cables: names may leave out the
 * direction, name one cable of a link, or mean all cables that are links of their own. */
static bool is_meant(const char *name, const char *full, uint32_t cables, uint32_t *cable)
{
    char bare[NAME_SIZE], bare_full[NAME_SIZE];
    uint32_t number = cut_cable(name, bare, sizeof bare);
    uint32_t own = cut_cable(full, bare_full, sizeof bare_full);
    size_t stem = (size_t)(direction_of(bare_full) - bare_full);
    bool is_alike =
        strcmp(bare, bare_full) == 0 || (strncmp(bare, bare_full, stem) == 0 && bare[stem] == '\0');
    *cable = own == AR_ALL_CABLES ? number : AR_ALL_CABLES;
    return is_alike &&
           (own == AR_ALL_CABLES ? number == AR_ALL_CABLES || (cables > 1 && number < cables)
                                 : number == AR_ALL_CABLES || number == own);
}

static enum ar_status report_unknown_link(const struct ar_cluster *cluster,
                                          const struct ar_setting *setting, const char *name,
                                          struct ar_link_range candidates, struct ar_arena *arena,
                                          struct ar_error *err)
{
    const char **names = names_of(cluster, candidates, arena);
    size_t names_count = 2 * (size_t)candidates.count;
    const char *nearest = ar_nearest_name(name, names, names_count);
    return ar_error_set(
        err, setting->status, "%s: unknown link \"%.60s\"; %s \"%s\"%s", setting->where, name,
        nearest != NULL ? "did you mean" : "expected one such as",
        nearest != NULL ? nearest : names[names_count - 1], nearest != NULL ? "?" : "");
}

/* --- changes ---------------------------------------------------------------------------------- */

static enum ar_status report_second(const struct ar_cluster *cluster,
                                    const struct ar_setting *setting, uint32_t link,
                                    struct ar_error *err)
{
    char full[NAME_SIZE];
    return ar_error_set(
        err, setting->status,
        "%s: found link \"%s\" a second time; expected each link once, slow or down",
        setting->where, ar_cluster_link_name(cluster, link, full, sizeof full));
}

/* Whether the link, or this cable of it, is changed already. */
static bool is_changed(const struct ar_cluster *cluster, struct ar_link_change change)
{
    uint32_t i = find_change(cluster, change.link);
    for (; i < cluster->changes_count && cluster->changes[i].link == change.link; i++) {
        uint32_t cable = cluster->changes[i].cable;
        if (cable == AR_ALL_CABLES || change.cable == AR_ALL_CABLES || cable == change.cable) {
            return true;
        }
    }
    return false;
}

/* Adds a change of all links that a name means. */
static enum ar_status add_link_changes(const struct ar_setting *setting, const char *name,
                                       struct ar_link_change change,
                                       struct ar_link_range candidates, struct ar_cluster *cluster,
                                       struct ar_error *err)
{
    uint32_t old_count = cluster->changes_count;
    struct ar_link_change *changes =
        ar_arena_alloc(cluster->arena, (size_t)old_count + candidates.count, sizeof *changes);
    uint32_t count = old_count;
    for (uint32_t i = 0; i < candidates.count; i++) {
        char full[NAME_SIZE];
        change.link = candidates.first + i;
        ar_cluster_link_name(cluster, change.link, full, sizeof full);
        if (!is_meant(name, full, cables_of(cluster, change.link), &change.cable)) {
            continue;
        }
        if (is_changed(cluster, change)) {
            return report_second(cluster, setting, change.link, err);
        }
        changes[count++] = change;
    }
    if (old_count > 0) {
        memcpy(changes, cluster->changes, old_count * sizeof *changes);
    }
    qsort(changes, count, sizeof *changes, compare_changes);
    cluster->changes = changes;
    cluster->changes_count = count;
    return AR_OK;
}

/* Adds a change, which keeps them in the order of their links, and the parameter that says so. */
static enum ar_status add_change(const struct ar_setting *setting, const char *name,
                                 struct ar_link_change change, struct ar_cluster *cluster,
                                 struct ar_error *err)
{
    struct ar_link_range candidates = candidates_of(cluster, name);
    uint32_t old_count = cluster->changes_count;
    change.setting = cluster->settings_count;
    AR_TRY(add_link_changes(setting, name, change, candidates, cluster, err));
    if (cluster->changes_count == old_count) {
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        return report_unknown_link(cluster, setting, name, candidates, &arena, err);
    }
    struct ar_cluster_parameter *parameter = &cluster->settings[cluster->settings_count++];
    parameter->key = change.is_down ? "down-link" : "slow-link";
    parameter->text = ar_arena_text(cluster->arena, setting->text);
    parameter->source = ar_arena_text(cluster->arena, setting->where);
    return AR_OK;
}

static enum ar_status add_slow(const struct ar_setting *setting, struct ar_cluster *cluster,
                               struct ar_error *err)
{
    struct ar_link_change change = {.is_down = false};
    struct ar_error ignored;
    const char *colon = strrchr(setting->text, ':');
    char name[NAME_SIZE];
    if (colon == NULL || colon == setting->text ||
        ar_parse_number("", colon + 1, factor_min, factor_max, &change.factor, &ignored) != AR_OK) {
        return ar_error_set(err, setting->status,
                            "%s: found \"%.60s\"; expected LINK:FACTOR such as node-3.hca-0:4 "
                            "(four times slower), a factor from %g to %g",
                            setting->where, setting->text, factor_min, factor_max);
    }
    snprintf(name, sizeof name, "%.*s", (int)(colon - setting->text), setting->text);
    return add_change(setting, name, change, cluster, err);
}

/* A pair whose NVLink is down goes over PCIe, by GPU ports that other clusters need not have. */
static enum ar_status add_ports(struct ar_settings down, struct ar_cluster *cluster,
                                struct ar_error *err)
{
    const struct ar_topo_values *values = &cluster->values;
    bool describes_pcie = values->count[TOPO_PCIE_SWITCHES] > 0 &&
                          values->is_given[TOPO_PCIE_BANDWIDTH] &&
                          values->is_given[TOPO_PCIE_LATENCY];
    for (size_t i = 0; i < down.count; i++) {
        cluster->has_spare_ports |= describes_pcie && strstr(down.list[i].text, ".nvlink-") != NULL;
    }
    return cluster->has_spare_ports ? ar_cluster_number_links(cluster, err) : AR_OK;
}

enum ar_status ar_cluster_change_links(struct ar_cluster *cluster,
                                       const struct ar_link_settings *settings,
                                       struct ar_error *err)
{
    size_t count = settings->slow.count + settings->down.count;
    if (count == 0) {
        return AR_OK;
    }
    cluster->settings = ar_arena_alloc(cluster->arena, count, sizeof *cluster->settings);
    AR_TRY(add_ports(settings->down, cluster, err));
    for (size_t i = 0; i < settings->slow.count; i++) {
        AR_TRY(add_slow(&settings->slow.list[i], cluster, err));
    }
    for (size_t i = 0; i < settings->down.count; i++) {
        const struct ar_setting *setting = &settings->down.list[i];
        const struct ar_link_change down = {.is_down = true, .factor = 1};
        AR_TRY(add_change(setting, setting->text, down, cluster, err));
    }
    return AR_OK;
}

/* --- reach ------------------------------------------------------------------------------------ */

static const char *reason_of(enum ar_link_kind kind)
{
    return kind == AR_KIND_HCA      ? "and the node has no other HCA that is up"
           : kind == AR_KIND_NVLINK ? "and the cluster describes no PCIe (pcie.switches, "
                                      "pcie.bandwidth, pcie.latency)"
                                    : "and there is no other way";
}

enum ar_status ar_reach_check_pair(const struct ar_cluster *cluster, uint32_t a, uint32_t b,
                                   struct ar_error *err)
{
    struct ar_path path;
    ar_path_find(cluster, a, b, &path);
    if (path.links_count > 0) {
        ar_path_find(cluster, b, a, &path);
    }
    if (path.links_count > 0) {
        return AR_OK;
    }
    char name[64];
    return ar_error_set(err, AR_USAGE,
                        "--down-link: GPUs %u and %u cannot reach each other: %s is down, %s",
                        a < b ? a : b, a < b ? b : a,
                        ar_cluster_link_name(cluster, path.links[0], name, sizeof name),
                        reason_of(ar_link_kind(cluster, path.links[0])));
}

/* Every GPU of a node with every one of another. */
static enum ar_status check_nodes(const struct ar_cluster *cluster, uint64_t node, uint64_t other,
                                  uint32_t ranks, struct ar_error *err)
{
    uint64_t gpus = cluster->facts.gpus_per_node;
    for (uint64_t a = node * gpus; a < (node + 1) * gpus && a < ranks; a++) {
        for (uint64_t b = other * gpus; b < (other + 1) * gpus && b < ranks; b++) {
            if (a != b) {
                AR_TRY(ar_reach_check_pair(cluster, (uint32_t)a, (uint32_t)b, err));
            }
        }
    }
    return AR_OK;
}

/* The GPUs of the link's node with all: which HCA they use may depend on what is down elsewhere. */
static enum ar_status check_link(const struct ar_cluster *cluster, uint32_t link, uint32_t ranks,
                                 struct ar_error *err)
{
    if (link >= cluster->first_fabric_link) {
        return cluster->fabric->check_reach(cluster, link - cluster->first_fabric_link, ranks, err);
    }
    uint64_t node = link / cluster->node.count;
    AR_TRY(check_nodes(cluster, node, node, ranks, err));
    for (uint64_t other = 0; other * cluster->facts.gpus_per_node < ranks; other++) {
        AR_TRY(check_nodes(cluster, node, other, ranks, err));
    }
    return AR_OK;
}

enum ar_status ar_cluster_check_reach(const struct ar_cluster *cluster, uint32_t ranks,
                                      struct ar_error *err)
{
    for (uint32_t i = 0; i < cluster->changes_count; i++) {
        if (cluster->changes[i].is_down) {
            AR_TRY(check_link(cluster, cluster->changes[i].link, ranks, err));
        }
    }
    return AR_OK;
}

/* --- links that nobody takes ------------------------------------------------------------------ */

static bool link_is_idle(const struct ar_cluster *cluster, uint32_t link, uint32_t ranks,
                         bool has_node)
{
    uint32_t gpus = cluster->facts.gpus_per_node;
    if (link >= cluster->first_fabric_link) {
        return cluster->fabric->is_idle(cluster, link - cluster->first_fabric_link, ranks);
    }
    const struct ar_node_link *local = &cluster->node.list[link % cluster->node.count];
    uint32_t first = link / cluster->node.count * gpus;
    uint32_t present = ranks <= first ? 0 : ranks - first < gpus ? ranks - first : gpus;
    present = has_node && first == 0 ? gpus : present;
    bool has_relays = cluster->values.count[TOPO_TREE_RAILS] == AR_RAILS_NVLINK;
    present = has_relays && present > 0 && ranks > gpus ? gpus : present;
    if (local->kind == AR_KIND_NVLINK) {
        return local->a >= present || local->b >= present;
    }
    if (local->kind == AR_KIND_HCA) { /* it may do the work of one that is down */
        return ranks <= gpus * cluster->domain_nodes || present == 0;
    }
    uint32_t groups =
        local->kind == AR_KIND_PCIE ? cluster->values.count[TOPO_PCIE_SWITCHES] : gpus;
    return local->a * (gpus / groups) >= present;
}

const struct ar_cluster_parameter *ar_cluster_idle_change(const struct ar_cluster *cluster,
                                                          size_t index, uint32_t ranks,
                                                          bool has_node)
{
    for (uint32_t i = 0; i < cluster->changes_count; i++) {
        if (cluster->changes[i].setting == index &&
            !link_is_idle(cluster, cluster->changes[i].link, ranks, has_node)) {
            return NULL;
        }
    }
    return &cluster->settings[index];
}

const char *ar_cluster_idle_routes(const struct ar_cluster *cluster, uint32_t ranks)
{
    const struct ar_topo_entry *routes =
        ar_topo_entries_find(&cluster->entries, TOPO_FABRIC_ROUTES);
    if (routes == NULL || cluster->values.count[TOPO_FABRIC_ROUTES] == AR_ROUTES_IDEAL) {
        return NULL;
    }
    for (uint32_t i = 0; i < cluster->fabric_links_count; i++) {
        if (!cluster->fabric->is_idle(cluster, i, ranks)) {
            return NULL;
        }
    }
    return routes->text;
}
