/** \file ar_operators.h
 * Operators: any computation as a graph of parts that need each other's outputs, each placed on one
 * device.
 *
 * A device runs its operators one after the other. An output goes to every other device on which
 * an operator needs it, once: several that need it there share the message, also if it has no
 * bytes. A device sends one message at a time and receives one at a time:
 *
 *     a message occupies both ports for bytes / bandwidth, and is there a latency later
 *
 * Devices and ports serve first who would come first if no port were ever taken; of operators that
 * are ready at once, that with the longest way to the end (upward rank: Topcuoglu et al., IEEE
 * Trans. Parallel Distrib. Syst. 13 (2002)). Links that several devices share are not counted.
 *
 * Strategies whose workers send each other parts of a model are such graphs, too: layers in strips
 * (partitioned), blocks on a ring (rotate), a scheduler and its workers (star).
 */
#pragma once

#include <stdio.h>

#include "ar_arena.h"
#include "ar_device_cost.h"
#include "ar_evoformer.h"
#include "ar_graph.h"
#include "ar_trace.h"

/** More of them are refused. */
enum { AR_OPERATORS_MAX = 2000000 };

struct ar_operator {
    const char *name; /**< of a file: each once; NULL: it has none */
    uint64_t line;    /**< of a file */
    double time_s;
    double work_flop, work_bytes; /**< of a file, in place of time_s: what a cost table times */
    uint64_t output_bytes;        /**< to each other device that needs it */
    uint64_t memory_bytes;        /**< that it keeps on its device */
    const struct ar_operation
        *operation;        /**< it is a collective of all ranks of the device's role,
                                beside computations, of output_bytes; NULL: it computes */
    enum ar_stream stream; /**< of the collective */
    uint32_t axes;         /**< along which the collective runs: bits 1 << ar_axis */
    enum ar_duty duty;
    uint32_t needs_first, needs_count; /**< in ar_operators.needs */
    uint32_t device;                   /**< of a strategy; a file has placements of their own */
};

struct ar_operators {
    const char *path; /**< of a file; begins error lines */
    struct ar_arena *arena;
    struct ar_operator *list;
    uint32_t count;
    uint32_t *needs; /**< numbers of operators */
    uint32_t needs_count;
    const uint32_t *order; /**< set by ar_operators_settle() */
    const char *cut;       /**< how a strategy cut the model where nobody said; NULL: not so */
};

/** Reads `name,time_s,output_bytes,needs` and, if they are there, `memory_bytes`, and in place of
 * or beside `time_s` `work_flop` and `work_bytes`. `needs` are names joined by `+`. Refused with
 * file and line: a name that is there twice, a need that is not there, an operator without time and
 * work, operators that need each other in a circle. */
enum ar_status ar_operators_load(const char *path, struct ar_arena *arena,
                                 struct ar_operators **operators, struct ar_error *err);

/** For strategies: an empty graph in the arena, of so many operators in the end. More than
 * AR_OPERATORS_MAX are AR_USAGE; `where` begins the line. */
enum ar_status ar_operators_create(const char *where, uint64_t count, struct ar_arena *arena,
                                   struct ar_operators **operators, struct ar_error *err);

/** Appends an operator without needs; returns its number. */
uint32_t ar_operators_add(struct ar_operators *operators, const struct ar_operator *op);

/** A need of the last operator. */
void ar_operators_need(struct ar_operators *operators, uint32_t other);

/** Times those that have work by a cost table that has products (AR_COST_OF_PRODUCTS):
 *
 *     max(work_flop / (gemm_efficiency * peak_rate), work_bytes / memory_Bps, kernel_floor_s) */
void ar_operators_time(struct ar_operators *operators, const struct ar_device_cost *cost,
                       enum ar_precision precision);

/** Works out `order`, when all are timed: every operator after those it needs, the longest way to
 * the end first. AR_BAD_DATA: they need each other in a circle. */
enum ar_status ar_operators_settle(struct ar_operators *operators, struct ar_arena *arena,
                                   struct ar_error *err);

/** A message between devices: how long it occupies ports, and how much later it is there. */
struct ar_hop_time {
    double time_s, latency_s;
};

struct ar_hops {
    struct ar_hop_time (*find)(const void *context, uint32_t from, uint32_t to, uint64_t bytes);
    const void *context;
};

/** Operators that have their places: what a layout is made of (ar_layout.h). */
struct ar_placed {
    const struct ar_operators *operators; /**< settled */
    const uint32_t *devices;              /**< of each operator */
    uint32_t devices_count;
    struct ar_hops hops;
    double samples; /**< of a step; 0: nobody knows */
};

/** The graph: a role for each of `devices_count` devices, `devices` has that of each operator. */
struct ar_graph *ar_operators_graph(const struct ar_operators *operators, const uint32_t *devices,
                                    uint32_t devices_count, const struct ar_hops *hops,
                                    struct ar_arena *arena);

/** Bytes that the operators of a device keep there. */
double ar_operators_memory_bytes(const struct ar_operators *operators, const uint32_t *devices,
                                 uint32_t device);

/* --- placements ------------------------------------------------------------------------------- */

/** Reads `operator,device`: a row for each operator, a device from 0 to `devices_count` - 1.
 * Refused with file and line are others, an operator that is there twice or not at all. */
enum ar_status ar_placement_load(const char *path, const struct ar_operators *operators,
                                 uint32_t devices_count, struct ar_arena *arena, uint32_t **devices,
                                 struct ar_error *err);

/** How a placement is looked for. */
struct ar_placement_search {
    uint32_t devices_count;
    const struct ar_hops *hops;
    double room_bytes; /**< of each device; 0: nobody knows, and all fits */
    bool is_annealed;  /**< else greedy */
    uint64_t seed;     /**< of annealing: the same seed finds the same */
};

/** Finds a placement that ends early, in the arena. The end of the task graph is the cost, and what
 * does not fit is not tried.
 *
 * It begins with all on the first device that has room. *Greedy* places operators in their order
 * where they would end first if no port were ever taken, takes that if it ends earlier, and moves
 * one operator at a time as long as a move brings the end forward. *Annealing* goes on from there:
 * random moves, which may cost time the less the longer it goes on; the best of all is kept
 * (Kirkpatrick et al., Science 220 (1983)). So it never ends later than it began; the more
 * operators there are, the fewer moves are tried. AR_USAGE: they do not fit. */
enum ar_status ar_placement_find(const struct ar_operators *operators,
                                 const struct ar_placement_search *search, struct ar_arena *arena,
                                 uint32_t **devices, struct ar_error *err);

/** Writes what ar_placement_load() reads. */
void ar_placement_write(FILE *file, const struct ar_operators *operators, const uint32_t *devices);

/* --- parts of a model ------------------------------------------------------------------------- */

/** Everything that a strategy of parts needs to make the operators of a step. */
struct ar_parts_request {
    const char *where; /**< begins errors */
    const struct ar_trace *trace;
    const struct ar_layer_work *work; /**< of its layers, of one sample; NULL: nobody knows */
    uint32_t devices;
    uint32_t depth;         /**< parts that each worker has at once, or rounds that are under way */
    uint32_t rounds;        /**< of a step */
    enum ar_precision sent; /**< of gradients, parameters and activations that are sent */

    /* For dap: */
    const struct ar_evoformer *evoformer;
    const struct ar_device_cost *cost;
    enum ar_precision precision;
    uint32_t sizes[AR_AXES_COUNT]; /**< of the mesh */
};
