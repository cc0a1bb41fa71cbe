/** \file ar_strategy.h
 * A strategy: what becomes of the replicas of a model, their parameters, gradients and optimizer.
 *
 * The graph of a step is made stage by stage, in runs: consecutive layers that go forward or
 * backward for one micro-batch. A strategy says how many layers a run has, and adds its tasks
 * before and after runs and at the end of the stage. It is one file, and one row of ar_strategies.
 */
#pragma once

#include "ar_framework.h"
#include "ar_layout.h"
#include "ar_operators.h"

/** Times of the parts of a model on one GPU, by ar_transformer_part. */
enum { AR_PARTS_COUNT = AR_PART_HEAD + 1 };
struct ar_part_times {
    double forward_s[AR_PARTS_COUNT], backward_s[AR_PARTS_COUNT];
    double again_s;                       /**< backward pass of a layer that computes something
                                               again, with the time of that */
    double optimizer_s;                   /**< per parameter */
    double memory_s;                      /**< per byte that is read or written */
    struct ar_host_times {                /**< times of the host to launch it; all 0: not counted */
        double forward_s[AR_PARTS_COUNT]; /**< kernels */
        double backward_s[AR_PARTS_COUNT];
        double again_s;      /**< as above */
        double batch_s;      /**< a micro-batch */
        double collective_s; /**< a collective or a message */
        double tensor_s;     /**< a tensor of parameters in the optimizer */
        bool is_blocking;    /**< it waits for each kernel */
        bool is_on;
    } host;
};

struct ar_run;
struct ar_build;

#define AR_STALENESS_FREE  UINT32_MAX
#define AR_STALENESS_NAMED (UINT32_MAX - 1)

struct ar_strategy {
    const char *name, *title;
    const char *alias;      /**< its name in PyTorch, which --strategy takes, too; NULL: none */
    bool shards_optimizer;  /**< each replica updates its part of the parameters */
    bool shards_gradients;  /**< gradients are in parts: those of each micro-batch are sent */
    bool shards_all;        /**< parameters are in parts, too, and gathered for each run */
    bool gathers_layers;    /**< where all is in parts, whole layers are gathered, some
                                 ahead; else matrix by matrix */
    bool sends_buckets;     /**< of a trace: all-reduces of the buckets of gradients, one series */
    bool ends_runs;         /**< what it sends it sends once, after all steps that are run */
    bool needs_transformer; /**< it cannot be made of the layers of a trace */
    /** Workers exchange with servers as they get round to it: there is no graph, and none of the
     * functions below, but an asynchronous run (sim/servers). Before a step, all have done
     * theirs up to `staleness` steps before it. */
    bool is_asynchronous;
    uint32_t staleness; /**< AR_STALENESS_FREE: nobody waits; AR_STALENESS_NAMED: `ssp:3` */
    bool deals_units;   /**< to workers that ask for them */
    /** Layers of a run: one, or 0, those of the chunk. `is_edge`: the first pass forward, or the
     * last one backward, of the chunk. NULL: one. */
    uint32_t (*run_layers)(const struct ar_build *build, bool is_backward, bool is_edge);
    /** Before a run: a task that it needs, or AR_NO_TASK. NULL: none. */
    uint32_t (*before)(struct ar_build *build, const struct ar_run *run);
    /** After a run, whose last task is `task`. NULL: nothing. */
    void (*after)(struct ar_build *build, const struct ar_run *run, uint32_t task);
    /** After the last run of a stage: what is left, and the optimizer. */
    void (*end)(struct ar_build *build, uint32_t stage);

    /** For strategies that put parts of one model on workers: the operators of a step, each on its
     * device, in the arena. The others are then NULL. NULL: it makes its graph of a layout. */
    enum ar_status (*operators)(const struct ar_parts_request *request, struct ar_arena *arena,
                                struct ar_operators **operators, struct ar_error *err);
    const char *sends;    /**< of them: what goes from device to device, a heading */
    bool takes_operators; /**< of them: also of a file of operators and a placement */
    bool takes_evoformer; /**< of them: of an Evoformer on a mesh, a role for all GPUs; else of a
                             trace, a role for each GPU */
    bool has_replicas;    /**< of them: devices see samples of their own, */
    uint32_t schedulers;  /**< but for so many */
};

#define AR_STRATEGY_LIST(X)                                                                        \
    X(data)                                                                                        \
    X(zero1)                                                                                       \
    X(zero2)                                                                                       \
    X(zero3)                                                                                       \
    X(zero3_lists)                                                                                 \
    X(independent)                                                                                 \
    X(dap)                                                                                         \
    X(partitioned)                                                                                 \
    X(rotate)                                                                                      \
    X(star)                                                                                        \
    X(ps_sync)                                                                                     \
    X(ps_async)                                                                                    \
    X(ssp)                                                                                         \
    X(work_units)

#define AR_DECLARE_STRATEGY(name) extern const struct ar_strategy ar_strategy_##name;
AR_STRATEGY_LIST(AR_DECLARE_STRATEGY)
extern const struct ar_strategy *const ar_strategies[];
extern const size_t ar_strategies_count;

/** Finds one by its name or alias, which may end with a bound, `ssp:3`; `staleness` is that of the
 * strategy. The error names the nearest known one. */
enum ar_status ar_strategy_parse(const char *where, const char *text,
                                 const struct ar_strategy **strategy, uint32_t *staleness,
                                 struct ar_error *err);

/** Writes a strategy with its bound. */
enum { AR_STRATEGY_TEXT = 32 };
void ar_strategy_format(const struct ar_strategy *strategy, uint32_t staleness,
                        char text[AR_STRATEGY_TEXT]);

/** Times of the parts by a cost table, of a GPU that is slower by a factor, and of its host by the
 * host terms of a framework. */
void ar_part_times_make(const struct ar_layout *layout, const struct ar_device_cost *cost,
                        double factor, const struct ar_framework *framework,
                        struct ar_part_times *times);

/** The graph of a step of a layout that was checked. */
struct ar_graph *ar_strategy_graph(const struct ar_layout *layout,
                                   const struct ar_part_times *times, struct ar_arena *arena);

/** The graph of a step without the periods that can be left out, which ar_periods_find(), or the
 * engine that simulates it, must confirm; NULL where it would be as large as the whole one, or too
 * small for a schedule to pay (not if it is `simulated`). */
struct ar_graph *ar_periods_graph(const struct ar_layout *layout, const struct ar_part_times *times,
                                  bool is_simulated, struct ar_arena *arena);

/** Whether a graph that was scheduled is steady where periods are left out; sets period_s. False:
 * only the whole graph says how long the step takes. */
bool ar_periods_find(struct ar_graph *graph);
