#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "topo.h"

enum { NAME_SIZE = 160 };

static const double factor_min = 1e-6;
static const double factor_max = 1e6;

const struct ar_link_change *ar_topo_link_change(const struct ar_cluster *cluster, uint32_t link)
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

bool ar_topo_is_down(const struct ar_cluster *cluster, uint32_t link)
{
    const struct ar_link_change *change = ar_topo_link_change(cluster, link);
    return change != NULL && change->is_down;
}

/* Keeps the changes in the order of their links. */
static enum ar_status insert_change(struct ar_cluster *cluster, const char *where,
                                    struct ar_link_change change, struct ar_error *err)
{
    uint32_t place = cluster->changes_count;
    while (place > 0 && cluster->changes[place - 1].link > change.link) {
        place--;
    }
    if (place > 0 && cluster->changes[place - 1].link == change.link) {
        char name[NAME_SIZE];
        return ar_error_set(err, AR_USAGE,
                            "%s: found link \"%s\" a second time; expected each link once, slow or "
                            "down",
                            where, ar_cluster_link_name(cluster, change.link, name, sizeof name));
    }
    memmove(&cluster->changes[place + 1], &cluster->changes[place],
            (cluster->changes_count - place) * sizeof change);
    cluster->changes[place] = change;
    cluster->changes_count++;
    return AR_OK;
}

static enum ar_status add_change(struct ar_cluster *cluster, const char *where, const char *name,
                                 struct ar_link_change change, struct ar_error *err)
{
    uint32_t links[2];
    uint32_t links_count = 0;
    enum ar_status status = ar_topo_find_links(cluster, where, name, links, &links_count, err);
    for (uint32_t i = 0; status == AR_OK && i < links_count; i++) {
        change.link = links[i];
        status = insert_change(cluster, where, change, err);
    }
    return status;
}

static enum ar_status add_slow(struct ar_cluster *cluster, const char *text, struct ar_error *err)
{
    static const char where[] = "--slow-link";
    struct ar_link_change change = {.is_down = false};
    struct ar_error ignored;
    const char *colon = strrchr(text, ':');
    char name[NAME_SIZE];
    if (colon == NULL || colon == text || colon[1] == '\0') {
        return ar_error_set(
            err, AR_USAGE,
            "%s: found \"%.60s\"; expected LINK:FACTOR such as node-3.hca-0:4 (four "
            "times slower)",
            where, text);
    }
    if (ar_parse_number(where, colon + 1, factor_min, factor_max, &change.factor, &ignored) !=
        AR_OK) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found the factor \"%.40s\"; expected a number above zero, from %g "
                            "to %g (4: four times slower)",
                            where, colon + 1, factor_min, factor_max);
    }
    snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
    return add_change(cluster, where, name, change, err);
}

static bool describes_pcie(const struct ar_topo_values *values)
{
    return values->count[TOPO_PCIE_SWITCHES] > 0 && values->is_given[TOPO_PCIE_BANDWIDTH] &&
           values->is_given[TOPO_PCIE_LATENCY];
}

/* A pair whose NVLink is down goes over PCIe, by GPU ports that other clusters need not have. */
static enum ar_status add_ports(struct ar_cluster *cluster, const struct ar_link_settings *settings,
                                struct ar_error *err)
{
    for (size_t i = 0; i < settings->down_count; i++) {
        cluster->has_spare_ports |=
            strstr(settings->down[i], ".nvlink-") != NULL && describes_pcie(&cluster->values);
    }
    return cluster->has_spare_ports ? ar_topo_number_links(cluster, err) : AR_OK;
}

static enum ar_status keep_text(struct ar_cluster *cluster, bool is_down, const char *text,
                                struct ar_error *err)
{
    char *copy = strdup(text);
    if (copy == NULL) {
        return ar_error_no_memory(err, "the changed links");
    }
    cluster->change_texts[cluster->change_texts_count++] =
        (struct ar_change_text){.is_down = is_down, .text = copy};
    return AR_OK;
}

static enum ar_status add_all(struct ar_cluster *cluster, const struct ar_link_settings *settings,
                              struct ar_error *err)
{
    enum ar_status status = AR_OK;
    for (size_t i = 0; status == AR_OK && i < settings->slow_count; i++) {
        status = add_slow(cluster, settings->slow[i], err);
        if (status == AR_OK) {
            status = keep_text(cluster, false, settings->slow[i], err);
        }
    }
    for (size_t i = 0; status == AR_OK && i < settings->down_count; i++) {
        struct ar_link_change down = {.is_down = true, .factor = 1};
        status = add_change(cluster, "--down-link", settings->down[i], down, err);
        if (status == AR_OK) {
            status = keep_text(cluster, true, settings->down[i], err);
        }
    }
    return status;
}

enum ar_status ar_cluster_change_links(struct ar_cluster *cluster,
                                       const struct ar_link_settings *settings,
                                       struct ar_error *err)
{
    size_t count = settings->slow_count + settings->down_count;
    if (count == 0) {
        return AR_OK;
    }
    if (cluster->platform != NULL && settings->down_count > 0) {
        return ar_error_set(
            err, AR_USAGE,
            "--down-link: found \"%.60s\" with a SimGrid platform, whose routes are "
            "its own; expected none, and the link out of the platform file",
            settings->down[0]);
    }
    cluster->is_changed = true;
    cluster->changes = calloc(2 * count, sizeof *cluster->changes);
    cluster->change_texts = calloc(count, sizeof *cluster->change_texts);
    if (cluster->changes == NULL || cluster->change_texts == NULL) {
        return ar_error_no_memory(err, "the changed links");
    }
    enum ar_status status = add_ports(cluster, settings, err);
    return status == AR_OK ? add_all(cluster, settings, err) : status;
}
