/** \file steps.h
 * The steps of a trace: what the GPU's time went to in each.
 */
#ifndef AR_KINETO_STEPS_H
#define AR_KINETO_STEPS_H

#include "kineto.h"

/** The gradient of a tensor, or the gradients of a bucket, when it arrives. */
struct kineto_arrival {
    uint32_t op;
    uint32_t node; /**< place in the step of the last node before it */
};

struct kineto_step {
    double start_s, end_s; /**< on the processor */
    int64_t number;        /**< -1: it has none */
    bool has_optimizer;
    size_t nodes_first, nodes_count;
    size_t arrivals_first, arrivals_count;
    size_t kernels_count;
    unsigned passes_count;          /**< forward passes: more than 1 if gradients are accumulated */
    double last_forward_s;          /**< last launch of the last of them */
    double overhead_s, optimizer_s; /**< times on the time line of the GPU: work and waits */
    double lead_s;                  /**< wait for its first kernel; NAN of the first step */
    double work_s, wait_s;          /**< of the whole step, between its first and last kernel */
    double copies_s;                /**< in the backward pass, of gradients that have arrived */
};

/** Indices of ops in `nodes` stand step by step, in the order in which the nodes began. */
struct kineto_steps {
    const struct ar_kineto *kineto;
    struct kineto_step *list;
    size_t count;
    uint32_t *nodes;
    double *forward_s, *backward_s; /**< of each of `nodes` */
    bool *has_kernels;              /**< of its own, not only of gradients that have arrived */
    struct kineto_arrival *arrivals;
    double unknown_s; /**< of kernels whose launch is not recorded */
};

/** Finds the steps, and times them, with the waits of the GPU or without. AR_BAD_DATA if there is
 * no step with an optimizer, no GPU, or more than one. */
enum ar_status kineto_steps_create(const struct ar_kineto *kineto, enum ar_kineto_times times,
                                   struct ar_arena *arena, struct kineto_steps **steps,
                                   struct ar_error *err);

/** Part of the time of a step in which the GPU waited, 0 to 1. */
double kineto_step_idle(const struct kineto_step *step);

/** Ops of a kind in the order of their begin, in the arena; NULL without memory. */
uint32_t *kineto_ops_of(const struct ar_kineto *kineto, unsigned kinds, struct ar_arena *arena,
                        size_t *count);

/** Fills in the times of steps whose nodes are known. */
enum ar_status kineto_time_steps(struct kineto_steps *steps, enum ar_kineto_times times,
                                 struct ar_arena *arena, struct ar_error *err);

/** The step in which a time of the processor lies, or NULL. */
struct kineto_step *kineto_step_at(const struct kineto_steps *steps, double time_s);

/** Lists those of the last of the used steps in `made`; those that move nothing, such as waits, are
 * left out. `ready_s` says when each node of a step was done. */
enum ar_status kineto_collectives_find(const struct kineto_steps *steps,
                                       const struct kineto_step *const *used, size_t used_count,
                                       const double *ready_s, struct ar_arena *arena,
                                       struct ar_kineto_step *made, struct ar_error *err);

/** Bytes of a type as PyTorch calls it ("Float", "c10::Half"), 0 if it is not known. */
uint32_t kineto_type_bytes(const char *type);

/** Its precision; false if it has none here. */
bool kineto_type_precision(const char *type, enum ar_precision *precision);

/** Where the sizes of gradients come from. */
enum kineto_sizes { KINETO_SIZES_SHAPES, KINETO_SIZES_PARAMETERS, KINETO_SIZES_BUCKETS };

/** The elements of each arrival of a step; 0 for those that are not known or not of its last
 * backward pass. AR_BAD_DATA if nothing is known, or `parameters` (NULL: none) are others. */
enum ar_status kineto_sizes_find(const struct kineto_steps *steps, const struct kineto_step *step,
                                 const struct ar_trace *parameters, struct ar_arena *arena,
                                 uint64_t **elements, enum kineto_sizes *from,
                                 struct ar_error *err);

/** How many arrivals are of the last backward pass: the last ones. */
size_t kineto_sizes_count(const struct kineto_steps *steps, const struct kineto_step *step);

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
