/* The library of a cluster: the table that was fitted to it, and NCCL's own constants. */
#include <math.h>

#include "ar_library_engine.h"
#include "ar_scenario.h"
#include "ar_units.h"

static enum ar_status refuse(const char *key, const char *found, const char *expected,
                             const struct ar_cluster_facts *facts, struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: found %s; expected %s, with which the table %s was fitted (see "
                        "'allreckon calibrate --help')",
                        key, found, expected, facts->library_cost);
}

static bool differs(double found_Bps, double table_Bps)
{
    return found_Bps != 0 && table_Bps > 0 && fabs(found_Bps / table_Bps - 1) > 1e-9;
}

/* Neither rates nor the choice of a table react to what the cluster says: it must be the same. */
static enum ar_status check_rates(const struct ar_cluster_facts *facts,
                                  const struct ar_tuning *tuning, struct ar_error *err)
{
    char found[AR_UNIT_TEXT], expected[AR_UNIT_TEXT];
    const char *release = tuning->release->release;
    if (differs(facts->library_node_bus_Bps, tuning->node_bus_Bps)) {
        return refuse("library.node_bus", ar_format_rate(facts->library_node_bus_Bps, found),
                      ar_format_rate(tuning->node_bus_Bps, expected), facts, err);
    }
    if (facts->library_release[0] != '\0') {
        struct ar_tuning named;
        AR_TRY(ar_tuning_find("library.release", facts->library_release, 0, 0, &named, err));
        if (named.release != tuning->release) {
            return refuse("library.release", facts->library_release, release, facts, err);
        }
    }
    double net_bus_Bps = ar_library_engine_net_bus(facts);
    if (differs(net_bus_Bps, tuning->net_bus_Bps)) {
        return refuse("library.net_bus", ar_format_rate(net_bus_Bps, found),
                      ar_format_rate(tuning->net_bus_Bps, expected), facts, err);
    }
    return AR_OK;
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
    AR_NEED(constants, err, "the constants of a library");
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
