/** \file collectives.h
 * The collectives of a step.
 */
#ifndef AR_KINETO_COLLECTIVES_H
#define AR_KINETO_COLLECTIVES_H

#include "steps.h"

/** Lists those of the last of the used steps in `made`; those that move nothing, such as waits, are
 * left out. `ready_s` says when each node of a step was done. */
enum ar_status kineto_collectives_find(const struct kineto_steps *steps,
                                       const struct kineto_step *const *used, size_t used_count,
                                       const double *ready_s, struct ar_arena *arena,
                                       struct ar_kineto_step *made, struct ar_error *err);

#endif
