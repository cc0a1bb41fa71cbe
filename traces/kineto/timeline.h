/** \file timeline.h
 * What each kernel adds to the time line of the GPU, and to which part of its step.
 */
#ifndef AR_KINETO_TIMELINE_H
#define AR_KINETO_TIMELINE_H

#include "steps.h"

/** Fills in the times of steps whose nodes are known. */
enum ar_status kineto_time_steps(struct kineto_steps *steps, enum ar_kineto_times times,
                                 struct ar_arena *arena, struct ar_error *err);

/** The step in which a time of the processor lies, or NULL. */
struct kineto_step *kineto_step_at(const struct kineto_steps *steps, double time_s);

#endif
