/* Making the cluster of a platform file. */
#include <search.h>
#include <string.h>

#include "ar_platform.h"
#include "ar_text.h"
#include "fabric.h"

static void keep(void *route)
{
    (void)route; /* the arena's */
}

/* As in cluster files; with far more SimGrid's clock stands still. */
#define BANDWIDTH_MAX_BPS 1e18

static void end_routes(void *platform)
{
    tdestroy(((struct ar_platform *)platform)->routes, keep);
}

static enum ar_status check_links(const char *path, const struct ar_platform_content *content,
                                  struct ar_error *err)
{
    for (uint32_t i = 0; i < content->links_count; i++) {
        const struct ar_platform_link *link = &content->links[i];
        if (!(link->bandwidth_Bps > 0 && link->bandwidth_Bps <= BANDWIDTH_MAX_BPS)) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.200s: link \"%.80s\": found a bandwidth of %gBps; expected one "
                                "above zero, at most %gBps",
                                path, link->name, link->bandwidth_Bps, BANDWIDTH_MAX_BPS);
        }
    }
    return AR_OK;
}

static enum ar_status check_keys(const struct ar_topo_entries *entries, struct ar_error *err)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct ar_topo_entry *entry = &entries->list[i];
        if (!ar_topo_keys[entry->key].is_open) {
            return ar_error_set(err, entry->status,
                                "%s: found a value that the platform file says itself; "
                                "expected gpus_per_node, gpu.reduce_cost, collective.setup, "
                                "gpu.cost_table, gpu.memory, hcas or name",
                                entry->where);
        }
    }
    return AR_OK;
}

/* The name of the file without folder and ending, in the letters of a name. */
static void name_of_file(const char *path, char name[AR_TOPO_TEXT_MAX])
{
    ar_copy_stem(name, AR_TOPO_TEXT_MAX, path, ".xml");
    for (char *at = name; *(at += strspn(at, AR_TOPO_NAME_LETTERS)) != '\0';) {
        *at = '-';
    }
}

static enum ar_status add_entry(enum ar_topo_key key, const char *text, const char *source,
                                struct ar_cluster *cluster, struct ar_error *err)
{
    const char *copy = ar_arena_text(cluster->arena, text);
    AR_NEED(copy, err, "the cluster");
    ar_topo_entries_store(
        (struct ar_topo_entry){key, copy, source, cluster->platform->path, AR_BAD_DATA},
        &cluster->entries);
    return AR_OK;
}

static enum ar_status assume_rest(const char *path, struct ar_cluster *cluster,
                                  struct ar_error *err)
{
    static const char source[] = "assumed";
    char name[AR_TOPO_TEXT_MAX];
    const struct {
        enum ar_topo_key key;
        const char *text, *source;
    } defaults[] = {
        {TOPO_NAME, name, "name of the platform file"},
        {TOPO_GPUS, "1", source},
        {TOPO_GPU_REDUCE_COST, "0s/B", source},
        {TOPO_COLLECTIVE_SETUP, "0s", source},
        {TOPO_HCAS, "1", source},
    };
    name_of_file(path, name);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (ar_topo_entries_find(&cluster->entries, defaults[i].key) == NULL) {
            AR_TRY(add_entry(defaults[i].key, defaults[i].text, defaults[i].source, cluster, err));
        }
    }
    return AR_OK;
}

/* Hosts fill nodes in order; the last node may be filled in part. */
static enum ar_status count_nodes(struct ar_cluster *cluster, struct ar_error *err)
{
    char text[64];
    uint32_t hosts = cluster->platform->hosts_count;
    uint32_t gpus = cluster->values.count[TOPO_GPUS];
    if (gpus > hosts) {
        snprintf(text, sizeof text, "at most %u, the hosts of the platform", hosts);
        return ar_topo_refuse(&cluster->entries, TOPO_GPUS, text, err);
    }
    cluster->values.count[TOPO_NODES] = (hosts + gpus - 1) / gpus;
    snprintf(text, sizeof text, "%u", cluster->values.count[TOPO_NODES]);
    return add_entry(TOPO_NODES, text, "hosts of the platform over gpus_per_node", cluster, err);
}

enum ar_status ar_cluster_from_platform(const char *path, const struct ar_platform_content *content,
                                        const struct ar_platform_source *source,
                                        struct ar_settings settings, struct ar_arena *arena,
                                        struct ar_cluster **cluster, struct ar_error *err)
{
    struct ar_cluster *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct ar_platform *platform = ar_arena_alloc(arena, 1, sizeof *platform);
    AR_NEED(made && platform && ar_arena_own(arena, platform, end_routes), err, "the cluster");
    *platform = (struct ar_platform){.path = path,
                                     .hosts = content->hosts,
                                     .hosts_count = content->hosts_count,
                                     .links = content->links,
                                     .links_count = content->links_count,
                                     .source = source};
    made->arena = arena;
    made->platform = platform;
    made->entries.path = path;
    AR_TRY(check_links(path, content, err));
    AR_TRY(ar_topo_entries_apply(settings, arena, &made->entries, err));
    AR_TRY(check_keys(&made->entries, err));
    AR_TRY(assume_rest(path, made, err));
    AR_TRY(ar_topo_values_parse(&made->entries, &made->values, err));
    AR_TRY(count_nodes(made, err));
    ar_cluster_fill_facts(made);
    *cluster = made;
    return AR_OK;
}
