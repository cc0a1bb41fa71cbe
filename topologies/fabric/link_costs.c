/* The numbers of a cluster file that measurements can tell. */
#include <assert.h>
#include <math.h>

#include "fabric.h"

static const enum ar_topo_key keys[AR_LINK_COSTS_COUNT] = {
#define X(symbol, key, unit) key,
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
#define X(symbol, key, unit) unit,
        AR_LINK_COST_LIST(X)
#undef X
    };
    return units[cost];
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
    assert(cluster->platform == NULL);
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
