/** \file plan.h
 * From a command line to the measurements it asks for.
 */
#ifndef AR_VALIDATE_PLAN_H
#define AR_VALIDATE_PLAN_H

#include "backend.h"
#include "options.h"

/** All measurements, in the order they are run. The same on all processes of a run. */
struct plan {
    struct measurement *rows;
    size_t count;
};

/** Parses how everything is executed; needs no machine. */
enum ar_status plan_manner(const struct options *options, const struct backend *backend,
                           struct manner *manner, struct ar_error *err);

/** Lays out the measurements on a machine; freed with plan_destroy(). */
enum ar_status plan_create(const struct options *options, const struct backend *backend,
                           const struct manner *manner, const struct machine *machine,
                           struct plan *plan, struct ar_error *err);
void plan_destroy(struct plan *plan);

/** Appends a row; its times are allocated. */
enum ar_status plan_add(struct plan *plan, const struct measurement *row, struct ar_error *err);

/** Sizes as elements: `--payload` as it was given, or `standard`. Owned by the caller (free). */
enum ar_status plan_elements(const struct options *options, const struct element_type *type,
                             const char *standard, uint64_t **elements, size_t *count,
                             struct ar_error *err);

/** The probes of `ranks` ranks (plan_probes.c): pairs, then the memory and the start of rank 0. */
enum ar_status plan_probes(const struct options *options, const struct backend *backend,
                           const struct manner *manner, uint32_t ranks, struct plan *plan,
                           struct ar_error *err);

/** Appends, for each tier and size, the probes of all its pairs as one row (plan_probes.c). */
enum ar_status plan_join_tiers(struct plan *plan, struct ar_error *err);

#endif
