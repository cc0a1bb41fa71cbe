/** \file making.h
 * The making of a step: what its parts share.
 */
#ifndef AR_KINETO_MAKING_H
#define AR_KINETO_MAKING_H

#include "steps.h"

/** What is made, and from what; all of it lies in the arena. */
struct making {
    const struct ar_kineto *kineto;
    const struct ar_kineto_request *request;
    struct ar_arena *arena;
    const struct kineto_steps *steps;
    const struct kineto_step *last;  /**< what all used steps are like */
    const struct kineto_step **used; /**< in order */
    size_t used_count;
    uint64_t *elements; /**< of the arrivals of `last` */
    enum kineto_sizes sizes;
    double *ready_s; /**< when each of its nodes was done, from the begin of the backward pass on */
    double *values;  /**< room for one of each step */
    struct ar_kineto_step *made;
};

/** The median of the first `count` values, which are sorted. */
double kineto_median(const struct making *making, size_t count);

/** The median of a field of the used steps, a double at `offset`. */
double kineto_step_median(const struct making *making, size_t offset);
#define STEP_MEDIAN(making, field) kineto_step_median((making), offsetof(struct kineto_step, field))

/** Makes the layers of the trace, and says when the nodes were ready. */
enum ar_status kineto_layers_make(struct making *making, struct ar_error *err);

/** Fills in batch, precision, GPU and source, and notes what was assumed or is not known. */
enum ar_status kineto_facts_find(struct making *making, struct ar_error *err);

#endif
