/** \file step_jobs.h
 * The all-reduces of a step: from a trace and the terms of a framework to jobs.
 */
#ifndef AR_STEP_JOBS_H
#define AR_STEP_JOBS_H

#include "ar_step.h"

/** What the workload of a step on `ranks` ranks is made of, without slowdown. */
struct ar_workload_request step_workload(const struct ar_step *step, uint32_t ranks);

/** Makes the workload and the jobs of the trial, which has neither; without slowdown. */
enum ar_status step_jobs_make(struct ar_step *step, struct ar_error *err);

/** Makes them again such that the backward pass is slowed down while they run: they are run on even
 * ranks, and the times at which gradients are there worked out anew, until these stay. AR_INTERNAL
 * if they do not. Does nothing if the term is off. The trial has its plan. */
enum ar_status step_jobs_contend(struct ar_step *step, struct ar_error *err);

/** Time of the exchange of batch-norm statistics, per step. */
enum ar_status step_statistics(const struct ar_step *step, double *time_s, struct ar_error *err);

/** What a step lasts at least because of its input. */
double step_input_s(const struct ar_step *step);

#endif
