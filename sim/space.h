/** \file space.h
 * The design space of a sweep: its points, and the plan of each.
 *
 * Points are small and many: rows are never held, and neither are the plans of variants, which are
 * made when they are needed. The files of the last few variants stay loaded.
 */
#ifndef AR_SPACE_H
#define AR_SPACE_H

#include "axes.h"
#include "plan.h"

enum { SPACE_LOADED_MOST = 64 };

struct space {
    const struct options *options;
    struct axes axes;
    struct point *points; /**< training steps first, then bare all-reduces, variant by variant */
    size_t points_count;
    size_t steps_count;
    double cost_s;  /**< estimated for all points, one after the other */
    uint64_t *gpus; /**< the GPU counts, as given */
    size_t gpus_count;
    /** Same for same rows: all points, the values of the clusters and the traces. */
    uint64_t fingerprint;

    /** Plans that hold a cluster and a trace, by variant / per_files; empty ones have none. */
    struct plan loaded[SPACE_LOADED_MOST];
    uint32_t loaded_files[SPACE_LOADED_MOST];
    uint64_t *files_hashes; /**< of what was read first, by variant / per_files; 0: not yet */
    struct plan plan;       /**< the last one asked for */
    uint32_t plan_variant;
    bool has_plan;
};

/** Reads the axes, checks every variant and every point. Freed with space_destroy(), also after a
 * failure. */
enum ar_status space_create(const struct options *options, struct space *space,
                            struct ar_error *err);
void space_destroy(struct space *space);

/** The plan of a variant; stays valid until the next one is asked for. */
enum ar_status space_plan(struct space *space, uint32_t variant, const struct plan **plan,
                          struct ar_error *err);

#endif
