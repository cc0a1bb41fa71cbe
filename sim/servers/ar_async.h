/** \file ar_async.h
 * An asynchronous run: workers that compute steps and exchange with parameter servers, each as it
 * gets round to it.
 *
 * A worker is a GPU, or all GPUs of a node, which then sum what they found before they push, a part
 * of it each, and hand out what they pulled. Parameters lie on servers in shards, a part on each. A
 * worker computes `every` steps, **pushes** what it has found to the shards of all servers,
 * **pulls** what they have, and goes on. Gradients come in slices, which are pushed one after the
 * other beside the backward pass, and each of which may be pulled as soon as the worker's own push
 * has arrived and no other worker is too far behind: before step i all workers have pushed their
 * step i - 1 - staleness. With staleness 0 all workers are in step; without bound (AR_ASYNC_FREE)
 * nobody waits for anybody. Pulls are under way beside pushes. A push takes the latency of its path
 * once its bytes have left; so does a pull, whose request waits at the server.
 *
 * A step begins when all slices are there; pulled `sliced`, the forward pass begins with its first
 * layers, and works on a slice while the next one is pulled, two of them in memory (Yuan et al.,
 * LightLDA, arXiv:1412.1576); to ask for one takes a latency, too.
 *
 * Shards are even. Servers on nodes of their own follow those of the workers; beside the workers
 * they are dealt round their nodes. With both, there is one on every worker's node besides, and
 * shards are as in BytePS (Jiang et al., OSDI 2020, section 4.1): of n nodes of workers and k of
 * servers alone, these have 2 (n-1) / (n^2 + k n - 2 k) of the parameters each, those (n-k) / (n^2
 * + k n - 2 k). A worker reaches a server by the HCA of the same number as its own; what is on its
 * own GPU's place costs nothing. What servers add up and store takes no time.
 *
 * Workers of a bound above 0 begin when their program was started, which nobody does to the
 * microsecond: times from the draws of a seed scatter them over the computation of an exchange. In
 * lockstep, which no real run keeps, they would push together and then all pull together.
 *
 * A run is a struct of parameters and results, which one of two functions fills in.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_cluster.h"

/** Staleness without bound. */
#define AR_ASYNC_FREE UINT32_MAX

/* Each with its names, which NULL ends. */
enum ar_servers_at { AR_SERVERS_AT_NODES, AR_SERVERS_AT_WORKERS, AR_SERVERS_AT_BOTH };
enum ar_worker { AR_WORKER_GPU, AR_WORKER_NODE };
/** Slices that must be there before a step begins: all, or the first one. */
enum ar_pull { AR_PULL_WHOLE, AR_PULL_SLICED };
extern const char *const ar_servers_at_names[], *const ar_worker_names[], *const ar_pull_names[];

/** Parameters whose gradients are there together, in the order of the backward pass. */
struct ar_async_slice {
    double ready_s; /**< since the backward pass began */
    uint64_t bytes; /**< of them and of their gradients, on the wire */
    double sum_s;   /**< the GPUs of a worker sum it before it is pushed, */
    double hand_s;  /**< and hand it out when it was pulled; 0 for one GPU */
};

/** Where the time of a worker goes; the parts add up to the end of its last step. A wait is put
 * down to what was still to come: its own push, the push of a slower worker, or its pull. */
struct ar_async_split {
    double compute_s, push_s, wait_s, pull_s;
};

struct ar_async {
    /* Parameters. */
    const struct ar_cluster *cluster;
    enum ar_worker worker;
    uint32_t workers;
    uint32_t gpus_each; /**< of a worker, at least 1; they follow each other */
    uint32_t servers;   /**< of `nodes` and `workers` all, of `both` those on nodes of their own */
    enum ar_servers_at servers_at;
    uint32_t staleness; /**< steps; AR_ASYNC_FREE */
    uint32_t every;     /**< steps between two exchanges, at least 1 */
    enum ar_pull pull;
    uint32_t steps_count; /**< of each worker: whole exchanges, at least one */
    double forward_s;     /**< of a step, with all that is neither it nor the backward pass */
    double backward_s;
    const struct ar_async_slice *slices;
    uint32_t slices_count;
    /** [step][worker]: what compute times are multiplied by; NULL: nothing. */
    const double *factors;
    const double *starts_s; /**< [worker]: when it begins; NULL: all at 0 */

    /* Results; in the arena of ar_async_prepare(). */
    double *end_s;                 /**< [worker]: it could begin the next step, since its start */
    struct ar_async_split *splits; /**< [worker] */
    uint64_t messages_count;
    double wall_s;
    void *results; /**< all of the above that are arrays, in one piece */
    size_t results_size;
};

/** Refuses, with AR_USAGE, more servers than there is room for; `where` begins the line. */
enum ar_status ar_async_check(const char *where, const struct ar_async *run, struct ar_error *err);

/** Room for results in an arena; a run must have it before an engine gets it. */
void ar_async_prepare(struct ar_async *run, struct ar_arena *arena);

/** Is a worker ever ahead of another one by a whole exchange? */
bool ar_async_is_loose(const struct ar_async *run);

/** Time from a question to the coordinator of work units, which stands where the first server does,
 * to its answer; of the last worker. */
double ar_async_deal_s(const struct ar_async *run);

/** Time of a step: workers over the sum of their rates, each steps_count / end_s. */
double ar_async_iteration_s(const struct ar_async *run);

/** The part that each has in the time of a worker, as the mean over the workers, of that time of a
 * step: they add up to it. */
struct ar_async_split ar_async_split_mean(const struct ar_async *run);

/** Runs it as array arithmetic over events: each worker's messages of a push, or a pull, advance
 * together, at the largest rate that the links let through max-min fairly. Equal to `simgrid` where
 * all servers are alike to a worker, or bound by links that they share. */
void ar_async_run_events(struct ar_async *run);

/** Runs it as actors that SimGrid simulates, every message on its own. */
enum ar_status ar_async_run_actors(struct ar_async *run, struct ar_error *err);
