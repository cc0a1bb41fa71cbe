/* Making the cluster of a platform file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_platform.h"
#include "ar_text.h"
#include "fabric.h"
#include "routes.h"

static void destroy_platform(void *object)
{
    struct ar_platform *platform = object;
    ar_routes_end(platform);
    ar_arena_end(&platform->arena);
    free(platform);
}

static enum ar_status copy_hosts(const struct ar_platform_content *content,
                                 struct ar_platform *platform, struct ar_error *err)
{
    platform->hosts_count = content->hosts_count;
    platform->hosts =
        ar_arena_alloc(&platform->arena, content->hosts_count, sizeof *platform->hosts);
    for (uint32_t i = 0; platform->hosts != NULL && i < content->hosts_count; i++) {
        platform->hosts[i] = ar_arena_text(&platform->arena, content->hosts[i]);
        if (platform->hosts[i] == NULL) {
            return ar_error_no_memory(err, "the platform");
        }
    }
    return platform->hosts != NULL ? AR_OK : ar_error_no_memory(err, "the platform");
}

static enum ar_status copy_links(const struct ar_platform_content *content,
                                 struct ar_platform *platform, struct ar_error *err)
{
    platform->links_count = content->links_count;
    platform->links =
        ar_arena_alloc(&platform->arena, content->links_count, sizeof *platform->links);
    for (uint32_t i = 0; platform->links != NULL && i < content->links_count; i++) {
        struct ar_platform_link *link = &platform->links[i];
        *link = content->links[i];
        if (!(link->bandwidth_Bps > 0 && isfinite(link->bandwidth_Bps))) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.200s: link \"%.80s\": found a bandwidth of %gBps; expected one "
                                "above zero",
                                platform->path, link->name, link->bandwidth_Bps);
        }
        link->name = ar_arena_text(&platform->arena, link->name);
        if (link->name == NULL) {
            return ar_error_no_memory(err, "the platform");
        }
    }
    return platform->links != NULL ? AR_OK : ar_error_no_memory(err, "the platform");
}

static enum ar_status check_keys(const struct ar_topo_entries *entries, struct ar_error *err)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct ar_topo_entry *entry = &entries->list[i];
        if (!ar_topo_keys[entry->key].is_open) {
            return ar_error_set(err, entry->status,
                                "%s: key \"%s\": found a value that the platform file says itself; "
                                "expected gpus_per_node, gpu.reduce_cost, collective.setup, "
                                "gpu.cost_table, hcas or name",
                                entry->where, ar_topo_key_name(entry->key));
        }
    }
    return AR_OK;
}

/* The name of the file without folder and ending, in the letters of a name. */
static void name_of_file(const char *path, char name[AR_TOPO_TEXT_MAX])
{
    const char *slash = strrchr(path, '/');
    ar_copy_text(name, AR_TOPO_TEXT_MAX, slash != NULL ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name) {
        *dot = '\0';
    }
    for (char *at = name; *at != '\0'; at++) {
        bool is_plain = strchr("-_.", *at) != NULL || (*at >= '0' && *at <= '9') ||
                        (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        *at = is_plain ? *at : '-';
    }
}

static enum ar_status add_entry(enum ar_topo_key key, const char *text, const char *source,
                                struct ar_cluster *cluster, struct ar_error *err)
{
    const struct ar_topo_entry entry = {key, text, source, cluster->platform->path, AR_BAD_DATA};
    return ar_topo_entries_store(entry, &cluster->arena, &cluster->entries, err);
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

static enum ar_status make_cluster(const char *path, const struct ar_platform_content *content,
                                   const struct ar_platform_source *source,
                                   struct ar_settings settings, struct ar_cluster *cluster,
                                   struct ar_error *err)
{
    struct ar_topo_entries *entries = &cluster->entries;
    struct ar_platform *platform = calloc(1, sizeof *platform);
    cluster->platform =
        platform != NULL ? ar_arena_own(&cluster->arena, platform, destroy_platform) : NULL;
    entries->path = ar_arena_text(&cluster->arena, path);
    if (cluster->platform == NULL || entries->path == NULL) {
        return ar_error_no_memory(err, "the cluster");
    }
    platform->path = entries->path;
    platform->source = source;

    AR_TRY(copy_hosts(content, platform, err));
    AR_TRY(copy_links(content, platform, err));
    AR_TRY(ar_topo_entries_apply(settings, &cluster->arena, entries, err));
    AR_TRY(check_keys(entries, err));
    AR_TRY(assume_rest(path, cluster, err));
    AR_TRY(ar_topo_values_parse(entries, &cluster->values, err));
    AR_TRY(count_nodes(cluster, err));
    ar_cluster_fill_facts(cluster);
    return AR_OK;
}

enum ar_status ar_cluster_from_platform(const char *path, const struct ar_platform_content *content,
                                        const struct ar_platform_source *source,
                                        struct ar_settings settings, struct ar_cluster **cluster,
                                        struct ar_error *err)
{
    struct ar_cluster *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ar_error_no_memory(err, "the cluster");
    }
    enum ar_status status = make_cluster(path, content, source, settings, made, err);
    if (status != AR_OK) {
        ar_cluster_destroy(made);
        return status;
    }
    *cluster = made;
    return AR_OK;
}
