/** \file space.h
 * The design space of a sweep: its points.
 *
 * Points are small and many: neither their rows nor the plans of their variants are held.
 */
#ifndef AR_SPACE_H
#define AR_SPACE_H

#include "variants.h"

struct space {
    const struct options *options;
    struct variants variants;
    struct point *points; /**< training steps first, then bare all-reduces, variant by variant */
    size_t points_count;
    size_t steps_count;
    double cost_s;  /**< estimated for all points, one after the other */
    uint64_t *gpus; /**< the GPU counts, as given */
    size_t gpus_count;
    /** Same for same rows: all points, the values of the clusters and the traces. */
    uint64_t fingerprint;
};

/** Reads the axes, checks every variant and every point. Freed with space_destroy(), also after a
 * failure. */
enum ar_status space_create(const struct options *options, struct space *space,
                            struct ar_error *err);
void space_destroy(struct space *space);

#endif
