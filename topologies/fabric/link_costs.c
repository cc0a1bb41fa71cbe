/* The numbers of a cluster file that measurements can tell. */
#include <math.h>

#include "fabric.h"

static const enum ar_topo_key keys[AR_LINK_COSTS_COUNT] = {
#define X(symbol, key, unit, is_on_paths) key,
    AR_LINK_COST_LIST(X)
#undef X
};

const char *ar_link_cost_key(enum ar_link_cost cost)
{
    return ar_topo_keys[keys[cost]].name;
}

enum ar_link_cost_unit ar_link_cost_unit(enum ar_link_cost cost)
{
    static const enum ar_link_cost_unit units[] = {
#define X(symbol, key, unit, is_on_paths) unit,
        AR_LINK_COST_LIST(X)
#undef X
    };
    return units[cost];
}

bool ar_link_cost_is_on_paths(enum ar_link_cost cost)
{
    static const bool are[] = {
#define X(symbol, key, unit, is_on_paths) is_on_paths,
        AR_LINK_COST_LIST(X)
#undef X
    };
    return are[cost];
}

bool ar_cluster_has_link_cost(const struct ar_cluster *cluster, enum ar_link_cost cost)
{
    return cluster->values.is_given[keys[cost]];
}

double ar_cluster_link_cost(const struct ar_cluster *cluster, enum ar_link_cost cost)
{
    return cluster->values.number[keys[cost]];
}

enum ar_status ar_cluster_set_link_cost(struct ar_cluster *cluster, enum ar_link_cost cost,
                                        double value, struct ar_error *err)
{
    if (!(value > 0 && isfinite(value))) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found %g; expected a number above zero that a machine can have",
                            ar_link_cost_key(cost), value);
    }
    cluster->values.number[keys[cost]] = value;
    ar_cluster_take_rates(cluster);
    ar_cluster_fill_facts(cluster);
    return AR_OK;
}

void ar_cluster_keep_link_costs(const struct ar_cluster *cluster,
                                double values[AR_LINK_COSTS_COUNT])
{
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        values[i] = cluster->values.number[keys[i]];
    }
}

void ar_cluster_restore_link_costs(struct ar_cluster *cluster,
                                   const double values[AR_LINK_COSTS_COUNT])
{
    for (int i = 0; i < AR_LINK_COSTS_COUNT; i++) {
        cluster->values.number[keys[i]] = values[i];
    }
    ar_cluster_take_rates(cluster);
    ar_cluster_fill_facts(cluster);
}
