#include "variants.h"

enum ar_status variants_create(const struct axes_request *request, const struct ar_scenario *base,
                               struct ar_inputs *inputs, struct variants *variants,
                               struct ar_error *err)
{
    variants->base = *base;
    variants->inputs = inputs;
    return axes_create(request, &variants->arena, &variants->axes, err);
}

static void clear(struct variant_slot *slot)
{
    ar_arena_end(&slot->arena);
    slot->scenario = (struct ar_scenario){.cluster = NULL};
}

void variants_destroy(struct variants *variants)
{
    for (size_t i = 0; i < VARIANTS_KEPT; i++) {
        clear(&variants->slots[i]);
    }
    for (size_t i = 0; i < VARIANT_CLUSTERS_KEPT; i++) {
        clear(&variants->clusters[i]);
    }
    ar_arena_end(&variants->arena);
}

static enum ar_status begin(const struct variants *variants, uint32_t variant,
                            struct variant_slot *slot, struct ar_error *err)
{
    clear(slot);
    slot->scenario = variants->base;
    slot->scenario.arena = &slot->arena;
    return axes_apply(&variants->axes, variant, &slot->scenario, err);
}

static enum ar_status load_cluster(struct variants *variants, uint32_t variant,
                                   struct variant_slot *slot, struct ar_error *err)
{
    AR_TRY(begin(variants, variant, slot, err));
    AR_TRY(ar_scenario_load_cluster(&slot->scenario, variants->inputs, err));
    return ar_scenario_load_library(&slot->scenario, variants->inputs, err);
}

/* The cluster of a variant, in memory or made. */
static enum ar_status find_cluster(struct variants *variants, uint32_t variant,
                                   const struct variant_slot **found, struct ar_error *err)
{
    uint32_t number = variant / variants->axes.per_cluster;
    struct variant_slot *slot = &variants->clusters[number % VARIANT_CLUSTERS_KEPT];
    *found = slot;
    if (slot->scenario.cluster != NULL && slot->number == number) {
        return AR_OK;
    }
    slot->number = number;
    slot->made = ++variants->clusters_made;
    enum ar_status status = load_cluster(variants, variant, slot, err);
    if (status != AR_OK) {
        clear(slot);
    }
    return status;
}

static enum ar_status load(struct variants *variants, uint32_t variant,
                           const struct variant_slot *cluster, struct variant_slot *slot,
                           struct ar_error *err)
{
    AR_TRY(begin(variants, variant, slot, err));
    slot->scenario.cluster = cluster->scenario.cluster;
    slot->scenario.table = cluster->scenario.table;
    slot->scenario.constants = cluster->scenario.constants;
    return ar_scenario_load(&slot->scenario, variants->inputs, err);
}

enum ar_status variants_scenario(struct variants *variants, uint32_t variant,
                                 const struct ar_scenario **scenario, struct ar_error *err)
{
    struct variant_slot *slot = &variants->slots[variant % VARIANTS_KEPT];
    const struct variant_slot *cluster;
    AR_TRY(find_cluster(variants, variant, &cluster, err));
    *scenario = &slot->scenario;
    if (slot->scenario.cluster != NULL && slot->number == variant && slot->made == cluster->made) {
        return AR_OK;
    }
    slot->number = variant;
    slot->made = cluster->made;
    enum ar_status status = load(variants, variant, cluster, slot, err);
    if (status != AR_OK) {
        clear(slot);
    }
    return status;
}
