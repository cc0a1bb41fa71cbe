/** \file build.h
 * What the files of strategies share while a graph is made.
 */
#pragma once

#include "ar_strategy.h"

/** Consecutive layers of one chunk that go forward or backward for one micro-batch. */
struct ar_run {
    uint32_t stage;
    struct ar_action action;
    uint32_t first; /**< layer of the chunk */
    uint32_t layers;
    bool has_embedding; /**< it begins with the embedding */
    bool has_head;      /**< it ends with the head */
    bool is_edge; /**< backward: no later micro-batch adds to the gradients of its layers; forward:
                       none before has used their parameters */
};

struct ar_build {
    const struct ar_layout *layout;
    const struct ar_part_times *times;
    struct ar_graph *graph;
    struct ar_pipeline pipeline;
    double share;       /**< of collectives that are added in pieces; 0: whole */
    uint32_t *arrivals; /**< [place in the pipeline][batch][backward]: message; AR_NO_TASK: none */
    /* The stage that is being made, for strategies: */
    uint32_t ends[AR_PREFETCH_MAX + 1]; /**< last tasks of its last runs, the newest first */
    bool goes_on;            /**< the run is one with the last one: its parameters are there */
    struct ar_run waiting;   /**< a run whose gradients are still to be sent, */
    uint32_t waiting_for;    /**< and its last task; AR_NO_TASK: none */
    uint32_t tied_sent;      /**< the first stage's gradients of a tied embedding, */
    uint32_t tied_optimizer; /**< and the optimizer that waits for the last stage's */
};

static inline enum ar_duty build_duty(const struct ar_action *action)
{
    return action->is_backward ? AR_DUTY_BACKWARD : AR_DUTY_FORWARD;
}

/** Layers of a run that goes backward which compute something again. */
uint32_t build_again_layers(const struct ar_build *build, const struct ar_run *run);

/** Appends a computation to the compute stream of a stage. */
uint32_t build_compute(struct ar_build *build, uint32_t stage, double time_s, enum ar_duty duty,
                       const struct ar_action *action);

/** Appends a collective along axes, `bytes` as nccl-tests counts them; where the axes have one GPU
 * there is nothing to do but for a series, and AR_NO_TASK is returned. */
uint32_t build_collective(struct ar_build *build, uint32_t stage, enum ar_stream stream,
                          const struct ar_operation *operation, uint32_t axes, double bytes,
                          uint32_t count, const struct ar_action *action);

/** Axes of the replicas of a copy, which sum gradients; and those of experts. */
enum {
    BUILD_EXPERT_REPLICAS = 1 << AR_AXIS_DP | 1 << AR_AXIS_CP,
    BUILD_REPLICAS = BUILD_EXPERT_REPLICAS | 1 << AR_AXIS_EP
};

/** Parameters, or their gradients. */
struct ar_parameters {
    double dense, experts;
};

/** Appends a collective over the replicas of a copy, an all-gather of parameters or a sum of their
 * gradients, which begins when the task `after` has ended; behind a reduce-scatter the sum of the
 * shard over the copies. Less than the `whole`, all that is sent in turn, is
 * a piece of a bucket. Returns the last task; AR_NO_TASK where there is nothing to do. */
uint32_t build_gradients(struct ar_build *build, uint32_t stage,
                         const struct ar_operation *operation, struct ar_parameters parameters,
                         struct ar_parameters whole, const struct ar_action *action,
                         uint32_t after);

/** All trained parameters that a GPU of a stage holds. */
struct ar_parameters build_stage_parameters(const struct ar_build *build, uint32_t stage);

/** Appends the collectives for the parameters of a run, or their gradients, which begin when the
 * task `after` has ended. Of a transformer they are build_gradients() of the parameters that are
 * trained, or of all where a strategy shares all. Of a trace there is one for each bucket that ends
 * at the run's first layer, begins there, or lies anywhere, in the order of the backward pass, with
 * its negotiation and copies where gradients are summed. Returns the last task; AR_NO_TASK where
 * there is nothing to do. */
enum build_edge { BUILD_ENDS, BUILD_BEGINS, BUILD_ANYWHERE };
uint32_t build_run_shards(struct ar_build *build, const struct ar_run *run,
                          const struct ar_operation *operation, enum build_edge edge,
                          uint32_t after);

/** The last task of a stream of a stage so far; AR_NO_TASK: there is none. */
static inline uint32_t build_last(const struct ar_build *build, uint32_t stage,
                                  enum ar_stream stream)
{
    return build->graph->last[stage * AR_STREAMS_COUNT + stream];
}

/** Lets a stage's optimizer, for a part of its parameters, wait for a task; of a trace with
 * statistics for their exchange. */
uint32_t build_optimizer(struct ar_build *build, uint32_t stage, double parts, uint32_t task);
