/** \file ar_what_if.h
 * A scenario with one thing changed, and what that does to its step: what a plan gains or risks
 * (`advise`), and what may explain a measured step (`diagnose`).
 */
#pragma once

#include "ar_row.h"
#include "ar_scenario.h"

/** One change: a value of a key, or a factor on all rates of some links. */
struct ar_what_if {
    const char *name;
    const char *text;  /**< a clause: "gradients are summed behind the backward pass" */
    enum ar_key key;   /**< of `value` */
    const char *value; /**< NULL: rates are changed; of a straggler its factor: the GPU is one of
                          the stage that computes longest */
    const char *links; /**< words that keys of these rates begin with: "hca. rack." */
    double factor;     /**< on them */
    bool is_of_gated;  /**< it has no meaning for models whose feed-forward network has no gate */
};

/** Changes of the network and of GPUs that a planner asks about. The last one has no value: it is
 * the cost table that ar_what_if_next_gpu() gives. */
enum { AR_WHAT_IF_NEXT_GPU = 3, AR_WHAT_IF_PLANS = 4 };
extern const struct ar_what_if ar_what_if_plans[AR_WHAT_IF_PLANS];

/** Causes of a step that is longer or shorter than the one that was meant. */
extern const struct ar_what_if ar_what_if_causes[];
extern const size_t ar_what_if_causes_count;

/** The cost table of the generation after the GPU of this one; NULL: none is shipped. */
const char *ar_what_if_next_gpu(const char *cost_table);

/** Runs a loaded scenario with a change. An error where the change has no meaning for it. */
enum ar_status ar_what_if_run(const struct ar_scenario *scenario, const struct ar_what_if *change,
                              struct ar_row *row, struct ar_error *err);
