#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "fabric.h"

enum { NAME_SIZE = 160 };

static const double factor_min = 1e-6;
static const double factor_max = 1e6;

const struct ar_link_change *ar_link_change_find(const struct ar_cluster *cluster, uint32_t link)
{
    uint32_t begin = 0;
    uint32_t end = cluster->changes_count;
    while (begin < end) {
        uint32_t middle = (begin + end) / 2;
        if (cluster->changes[middle].link < link) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    bool is_found = begin < cluster->changes_count && cluster->changes[begin].link == link;
    return is_found ? &cluster->changes[begin] : NULL;
}

bool ar_link_is_down(const struct ar_cluster *cluster, uint32_t link)
{
    const struct ar_link_change *change = ar_link_change_find(cluster, link);
    return change != NULL && change->is_down;
}

/* Keeps the changes in the order of their links. */
static enum ar_status insert_change(const struct ar_setting *setting, struct ar_link_change change,
                                    struct ar_cluster *cluster, struct ar_error *err)
{
    uint32_t place = cluster->changes_count;
    while (place > 0 && cluster->changes[place - 1].link > change.link) {
        place--;
    }
    if (place > 0 && cluster->changes[place - 1].link == change.link) {
        char name[NAME_SIZE];
        ar_cluster_link_name(cluster, change.link, name, sizeof name);
        return ar_error_set(err, setting->status,
                            "%s: found link \"%s\" a second time; expected each link once, slow or "
                            "down",
                            setting->where, name);
    }
    memmove(&cluster->changes[place + 1], &cluster->changes[place],
            (cluster->changes_count - place) * sizeof change);
    cluster->changes[place] = change;
    cluster->changes_count++;
    return AR_OK;
}

/* A setting is a parameter of the cluster, too. */
static enum ar_status add_change(const struct ar_setting *setting, const char *name,
                                 struct ar_link_change change, struct ar_cluster *cluster,
                                 struct ar_error *err)
{
    uint32_t links[2];
    uint32_t links_count = 0;
    AR_TRY(ar_cluster_find_links(cluster, setting, name, links, &links_count, err));
    for (uint32_t i = 0; i < links_count; i++) {
        change.link = links[i];
        AR_TRY(insert_change(setting, change, cluster, err));
    }
    struct ar_cluster_parameter *parameter = &cluster->settings[cluster->settings_count++];
    parameter->key = change.is_down ? "down-link" : "slow-link";
    parameter->text = ar_arena_text(&cluster->arena, setting->text);
    parameter->source = ar_arena_text(&cluster->arena, setting->where);
    return parameter->text != NULL && parameter->source != NULL
               ? AR_OK
               : ar_error_no_memory(err, "the changed links");
}

static enum ar_status add_slow(const struct ar_setting *setting, struct ar_cluster *cluster,
                               struct ar_error *err)
{
    struct ar_link_change change = {.is_down = false};
    struct ar_error ignored;
    const char *colon = strrchr(setting->text, ':');
    char name[NAME_SIZE];
    if (colon == NULL || colon == setting->text || colon[1] == '\0') {
        return ar_error_set(err, setting->status,
                            "%s: found \"%.60s\"; expected LINK:FACTOR such as node-3.hca-0:4 "
                            "(four times slower)",
                            setting->where, setting->text);
    }
    if (ar_parse_number(setting->where, colon + 1, factor_min, factor_max, &change.factor,
                        &ignored) != AR_OK) {
        return ar_error_set(err, setting->status,
                            "%s: found the factor \"%.40s\"; expected a number above zero, from %g "
                            "to %g (4: four times slower)",
                            setting->where, colon + 1, factor_min, factor_max);
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
    if (cluster->platform != NULL && settings->down.count > 0) {
        return ar_error_set(
            err, settings->down.list[0].status,
            "%s: found \"%.60s\" with a SimGrid platform, whose routes are its own; "
            "expected none, and the link out of the platform file",
            settings->down.list[0].where, settings->down.list[0].text);
    }
    cluster->is_changed = true;
    cluster->changes = ar_arena_alloc(&cluster->arena, 2 * count, sizeof *cluster->changes);
    cluster->settings = ar_arena_alloc(&cluster->arena, count, sizeof *cluster->settings);
    if (cluster->changes == NULL || cluster->settings == NULL) {
        return ar_error_no_memory(err, "the changed links");
    }
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
