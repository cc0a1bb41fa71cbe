/* The fitted library of a cluster: its table, and what can be asked of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_library_engine.h"
#include "ar_text.h"
#include "ar_units.h"
#include "lists.h"
#include "plan.h"
#include "resource.h"

/* The table beside the cluster file, else a shipped one. */
static enum ar_status find_table(const struct options *options, const char *name,
                                 char path[RESOURCE_PATH], struct ar_error *err)
{
    char cluster[RESOURCE_PATH];
    enum ar_status status =
        resource_find(RESOURCE_CLUSTER, "--cluster", options->cluster, cluster, err);
    if (status != AR_OK) {
        return status;
    }
    const char *slash = strrchr(cluster, '/');
    int folder = slash != NULL ? (int)(slash - cluster) + 1 : 0;
    int length = snprintf(path, RESOURCE_PATH, "%.*s%s.library.csv", folder, cluster, name);
    if (length < RESOURCE_PATH && access(path, F_OK) == 0) {
        return AR_OK;
    }
    return resource_find(RESOURCE_LIBRARY, "library.cost_table", name, path, err);
}

/* A rate of the cluster that nothing reacts to is a mistake. */
static enum ar_status check_rate(const char *key, double found_Bps, double table_Bps,
                                 const char *name, struct ar_error *err)
{
    char found[AR_UNIT_TEXT];
    char expected[AR_UNIT_TEXT];
    double ratio = found_Bps / table_Bps;
    if (found_Bps == 0 || (ratio > 1 - 1e-9 && ratio < 1 + 1e-9)) {
        return AR_OK;
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: found %s; expected %s, with which the table %s was fitted (see "
                        "'allreckon calibrate --help')",
                        key, ar_format_rate(found_Bps, found), ar_format_rate(table_Bps, expected),
                        name);
}

/* Nor does the choice of a table react to the cluster's release. */
static enum ar_status check_release(const struct ar_cluster_facts *facts,
                                    const struct ar_tuning *tuning, struct ar_error *err)
{
    const char *fitted = ar_tuning_release(tuning);
    if (facts->library_release[0] == '\0' || strcmp(facts->library_release, fitted) == 0) {
        return AR_OK;
    }
    return ar_error_set(
        err, AR_BAD_DATA,
        "library.release: found \"%.40s\"; expected %s, with which the table %s was "
        "fitted (see 'allreckon calibrate --help', --tuning)",
        facts->library_release, fitted, facts->library_cost);
}

static enum ar_status check_rates(const struct ar_cluster_facts *facts,
                                  const struct ar_tuning *tuning, struct ar_error *err)
{
    enum ar_status status = check_rate("library.node_bus", facts->library_node_bus_Bps,
                                       tuning->node_bus_Bps, facts->library_cost, err);
    if (status == AR_OK) {
        status = check_release(facts, tuning, err);
    }
    if (status == AR_OK && tuning->net_bus_Bps > 0) {
        status = check_rate("library.net_bus", facts->library_net_bus_Bps, tuning->net_bus_Bps,
                            facts->library_cost, err);
    }
    return status;
}

enum ar_status plan_load_library(const struct options *options, const struct ar_cluster *cluster,
                                 struct ar_library_table **library, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    *library = NULL;
    if (facts->library_cost[0] == '\0') {
        return AR_OK;
    }
    struct ar_library_table *table = malloc(sizeof *table);
    if (table == NULL) {
        return ar_error_no_memory(err, "the table of a library");
    }
    enum ar_status status = find_table(options, facts->library_cost, path, err);
    if (status == AR_OK) {
        status = ar_library_table_read(path, table, err);
    }
    if (status == AR_OK) {
        status = check_rates(facts, &table->library.tuning, err);
    }
    if (status != AR_OK) {
        free(table);
        return status;
    }
    *library = table;
    return AR_OK;
}

enum ar_status plan_load_constants(const struct options *options, struct plan *plan,
                                   struct ar_error *err)
{
    struct ar_tuning tuning;
    enum ar_status status =
        ar_library_engine_tuning(plan->cluster, options->tuning, plan->library, &tuning, err);
    if (status != AR_OK || !(tuning.node_bus_Bps > 0)) {
        return status;
    }
    plan->constants = malloc(sizeof *plan->constants);
    if (plan->constants == NULL) {
        return ar_error_no_memory(err, "the constants of a library");
    }
    tuning.has_net_ll128 = ar_cluster_facts(plan->cluster)->has_hcas_on_switches;
    ar_library_start(&tuning, plan->constants);
    return AR_OK;
}

enum ar_status plan_check_messages(const struct plan *plan, const char *command,
                                   struct ar_error *err)
{
    if (plan->engine->needs_library) {
        return ar_error_set(err, AR_USAGE,
                            "%s: --engine: found %s, which knows of no messages; expected "
                            "recurrence, simgrid or closed",
                            command, plan->engine->name);
    }
    return AR_OK;
}

/* Whether an option sets what the library's times do not react to. */
static bool is_without_effect(const struct options *options)
{
    static const char *const names[] = {"slow-link", "down-link", "channels", "window"};
    for (size_t i = 0; i < options->given_count; i++) {
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
            if (strcmp(options->given[i], names[j]) == 0) {
                return true;
            }
        }
    }
    for (size_t i = 0; i < options->settings.count; i++) {
        if (ar_library_engine_ignores(options->settings.texts[i])) {
            return true;
        }
    }
    return false;
}

/* The largest node count that was measured. */
static uint32_t measured_nodes(const struct ar_library_table *table)
{
    uint32_t max = 0;
    if (table->fitted.count > 0) {
        max = table->fitted.counts[table->fitted.count - 1];
    }
    if (table->held_out.count > 0 && table->held_out.counts[table->held_out.count - 1] > max) {
        max = table->held_out.counts[table->held_out.count - 1];
    }
    return max;
}

void plan_note_library(const struct plan *plan, const struct options *options,
                       const struct point *points, size_t count)
{
    uint32_t gpus = ar_cluster_facts(plan->cluster)->gpus_per_node;
    uint32_t max = 0;
    if (!plan->engine->needs_library || plan_library(plan) == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t nodes = (ar_shape_ranks(&points[i].shape) + gpus - 1) / gpus;
        max = nodes > max ? nodes : max;
    }
    if (plan->engine->is_fitted && max > measured_nodes(plan->library)) {
        plan_note(options,
                  "%" PRIu32 " nodes are beyond the %" PRIu32 " that were measured: the "
                  "band does not know what is new there, such as a second rack",
                  max, measured_nodes(plan->library));
    }
    if (is_without_effect(options)) {
        plan_note(options,
                  "engine %s knows %s times; links, channels and window do not change them",
                  plan->engine->name, plan->engine->is_fitted ? "measured" : "NCCL's own");
    }
}
