/** \file variants.h
 * The plan of each variant of a sweep, made when it is asked for.
 *
 * Clusters and traces that were read last stay in memory, some of each, and are shared by the plans
 * made from them. What is read again must be what was read first.
 */
#ifndef AR_VARIANTS_H
#define AR_VARIANTS_H

#include "axes.h"
#include "plan.h"

enum { VARIANTS_LOADED_MAX = 1024 };

/** A cluster that is in memory: a plan without a trace. */
struct loaded_cluster {
    struct plan plan; /**< its cluster is NULL: nothing yet */
    uint32_t number;
    uint64_t hash;
};

struct loaded_trace {
    struct ar_trace *trace; /**< NULL: nothing yet */
    uint32_t number;
    uint64_t cost_hash; /**< of the name of the device cost table */
    uint64_t hash;
};

struct variants {
    const struct options *options;
    struct axes axes;
    struct loaded_cluster clusters[VARIANTS_LOADED_MAX]; /**< at number % VARIANTS_LOADED_MAX */
    struct loaded_trace traces[VARIANTS_LOADED_MAX];
    uint64_t *hashes; /**< of what was read for a variant, by variant / per_files; 0: not yet */
    struct plan plan; /**< the last one asked for */
    uint32_t variant; /**< that it is of */
    bool has_plan;
};

/** Reads the axes. Freed with variants_destroy(), also after a failure. */
enum ar_status variants_create(const struct options *options, struct variants *variants,
                               struct ar_error *err);
void variants_destroy(struct variants *variants);

/** The plan of a variant; stays valid until the next one is asked for. */
enum ar_status variants_plan(struct variants *variants, uint32_t variant, const struct plan **plan,
                             struct ar_error *err);

/** A hash of what was read for a variant whose plan was made. */
uint64_t variants_files_hash(const struct variants *variants, uint32_t variant);

#endif
