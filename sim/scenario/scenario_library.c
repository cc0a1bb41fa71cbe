/* The library of a cluster: the table that was fitted to it, and NCCL's own constants. */
#include <string.h>

#include "ar_library_engine.h"
#include "ar_scenario.h"
#include "ar_units.h"

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
    const char *fitted = tuning->release->release;
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
    AR_TRY(check_rate("library.node_bus", facts->library_node_bus_Bps, tuning->node_bus_Bps,
                      facts->library_cost, err));
    AR_TRY(check_release(facts, tuning, err));
    return tuning->net_bus_Bps > 0 ? check_rate("library.net_bus", facts->library_net_bus_Bps,
                                                tuning->net_bus_Bps, facts->library_cost, err)
                                   : AR_OK;
}

static enum ar_status make_constants(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_tuning tuning;
    scenario->constants = NULL;
    AR_TRY(ar_library_engine_tuning(scenario->cluster, scenario->release, scenario->table, &tuning,
                                    err));
    if (!(tuning.node_bus_Bps > 0)) {
        return AR_OK;
    }
    struct ar_library *constants = ar_arena_alloc(scenario->arena, 1, sizeof *constants);
    if (constants == NULL) {
        return ar_error_no_memory(err, "the constants of a library");
    }
    tuning.has_net_ll128 = ar_cluster_facts(scenario->cluster)->has_hcas_on_switches;
    ar_library_start(&tuning, constants);
    scenario->constants = constants;
    return AR_OK;
}

enum ar_status ar_scenario_load_library(struct ar_scenario *scenario, struct ar_inputs *inputs,
                                        struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    scenario->table = NULL;
    if (facts->library_cost[0] != '\0') {
        AR_TRY(ar_inputs_library(inputs, scenario->cluster_name, facts->library_cost,
                                 &scenario->table, err));
        AR_TRY(check_rates(facts, &scenario->table->library.tuning, err));
    }
    return make_constants(scenario, err);
}
