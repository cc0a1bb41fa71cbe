/* The cluster of a command line: a cluster file or a platform file, and what is set beside it. */
#include <inttypes.h>
#include <string.h>

#include "ar_platform_file.h"
#include "plan.h"
#include "resource.h"

/* Appends texts to the settings of the rows, each behind `prefix`. A text cut short would make rows
 * that say what they are not. */
static enum ar_status join(const char *prefix, const char *const *texts, size_t count,
                           char settings[AR_ROW_TEXT], struct ar_error *err)
{
    size_t used = strlen(settings);
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(settings + used, AR_ROW_TEXT - used, "%s%s%s", used > 0 ? " " : "",
                                 prefix, texts[i]);
        if (used >= AR_ROW_TEXT) {
            return ar_error_set(
                err, AR_USAGE,
                "--set: found settings of more than %d characters in all, "
                "--slow-link, --down-link, --straggler and --term among them; expected "
                "fewer, and the rest in a cluster file",
                AR_ROW_TEXT - 1);
        }
    }
    return AR_OK;
}

enum ar_status plan_join_settings(const struct options *options, char settings[AR_ROW_TEXT],
                                  struct ar_error *err)
{
    settings[0] = '\0';
    enum ar_status status =
        join("", options->settings.texts, options->settings.count, settings, err);
    if (status == AR_OK) {
        status =
            join("slow-link=", options->slow_links.texts, options->slow_links.count, settings, err);
    }
    if (status == AR_OK) {
        status =
            join("down-link=", options->down_links.texts, options->down_links.count, settings, err);
    }
    if (status == AR_OK) {
        status =
            join("straggler=", options->stragglers.texts, options->stragglers.count, settings, err);
    }
    if (status == AR_OK) {
        status = join("term=", options->terms.texts, options->terms.count, settings, err);
    }
    if (status == AR_OK && options->images_per_s_at != NULL) {
        status = join("images-per-s-at=", &options->images_per_s_at, 1, settings, err);
    }
    return status;
}

/* What a platform file leaves open is easily forgotten. */
static void note_platform(const struct options *options, const struct ar_cluster *cluster)
{
    char assumed[256] = "";
    char first[64];
    char last[64];
    size_t used = 0;
    uint32_t gpus = (uint32_t)ar_cluster_gpus_count(cluster);
    for (size_t i = 0; i < ar_cluster_parameters_count(cluster); i++) {
        struct ar_cluster_parameter parameter = ar_cluster_parameter(cluster, i);
        if (strcmp(parameter.source, "assumed") == 0 && used < sizeof assumed) {
            used += (size_t)snprintf(assumed + used, sizeof assumed - used, "%s %s=%s",
                                     used > 0 ? "," : "; assumed, to be changed by --set:",
                                     parameter.key, parameter.text);
        }
    }
    plan_note(options, "GPUs 0 to %" PRIu32 " are the hosts of %s by name, %s to %s%s", gpus - 1,
              ar_cluster_platform_path(cluster),
              ar_cluster_host_name(cluster, 0, first, sizeof first),
              ar_cluster_host_name(cluster, gpus - 1, last, sizeof last), assumed);
}

static enum ar_status load_file(const struct options *options, struct ar_cluster **cluster,
                                struct ar_error *err)
{
    char path[RESOURCE_PATH];
    struct ar_setting list[SETTINGS_MAX];
    const struct ar_settings settings =
        ar_settings_of_option("--set", options->settings.texts, options->settings.count, list);
    if (ar_platform_file_is_named(options->cluster)) {
        return ar_platform_file_load(options->cluster, settings, cluster, err);
    }
    AR_TRY(resource_find(RESOURCE_CLUSTER, "--cluster", options->cluster, path, err));
    return ar_cluster_load(path, settings, cluster, err);
}

enum ar_status plan_load_cluster(const struct options *options, struct ar_cluster **cluster,
                                 struct ar_error *err)
{
    struct ar_cluster *loaded = NULL;
    struct ar_setting slow[SETTINGS_MAX];
    struct ar_setting down[SETTINGS_MAX];
    const struct ar_link_settings links = {
        .slow = ar_settings_of_option("--slow-link", options->slow_links.texts,
                                      options->slow_links.count, slow),
        .down = ar_settings_of_option("--down-link", options->down_links.texts,
                                      options->down_links.count, down)};
    enum ar_status status = option_required(options, "cluster", options->cluster, err);
    if (status == AR_OK) {
        status = load_file(options, &loaded, err);
    }
    if (status == AR_OK) {
        status = ar_cluster_change_links(loaded, &links, err);
    }
    if (status != AR_OK) {
        ar_cluster_destroy(loaded);
        return status;
    }
    if (ar_cluster_platform_path(loaded) != NULL) {
        note_platform(options, loaded);
    }
    *cluster = loaded;
    return AR_OK;
}
