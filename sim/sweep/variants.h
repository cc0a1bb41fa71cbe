/** \file variants.h
 * The scenario of each variant of a sweep, made when it is asked for.
 *
 * Those that were asked for last stay in memory, and share their clusters; files are read once.
 */
#ifndef AR_VARIANTS_H
#define AR_VARIANTS_H

#include "axes.h"

enum { VARIANT_CLUSTERS_KEPT = 64, VARIANTS_KEPT = 512 };

/** A scenario that is in memory. */
struct variant_slot {
    struct ar_arena arena;
    struct ar_scenario scenario; /**< its cluster is NULL: nothing yet */
    uint32_t number;
    uint64_t made; /**< of a cluster: when, counted; of a variant: when its cluster was */
};

struct variants {
    struct ar_scenario base; /**< keys that are no axes */
    struct ar_inputs *inputs;
    struct axes axes;
    struct ar_arena arena;                               /**< of the axes */
    struct variant_slot clusters[VARIANT_CLUSTERS_KEPT]; /**< at number % VARIANT_CLUSTERS_KEPT */
    struct variant_slot slots[VARIANTS_KEPT];
    uint64_t clusters_made;
};

/** Reads the axes. Freed with variants_destroy(), also after a failure. `base` has no key of the
 * request; it and `inputs` are borrowed. */
enum ar_status variants_create(const struct axes_request *request, const struct ar_scenario *base,
                               struct ar_inputs *inputs, struct variants *variants,
                               struct ar_error *err);
void variants_destroy(struct variants *variants);

/** The scenario of a variant, loaded, without GPUs and algorithm; stays valid until the next one is
 * asked for. */
enum ar_status variants_scenario(struct variants *variants, uint32_t variant,
                                 const struct ar_scenario **scenario, struct ar_error *err);

#endif
