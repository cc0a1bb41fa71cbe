/** \file ar_pool.h
 * Work shared by processes: engines may fork and libraries may abort, so that threads will not do.
 *
 * The work consists of items, which are numbers. Worker processes are forked from the one that runs
 * the pool, so they have what it had in memory. Each computes items and sends back an answer, some
 * bytes, which the pool hands over as they come, in any order. A worker that dies costs the item it
 * was at, whose answer says how the process ended; another one takes its place. If the system gives
 * fewer processes than asked for, the pool goes on with those.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"

enum { AR_POOL_JOBS_MAX = 256, AR_POOL_CHUNK_MAX = 64, AR_POOL_REASON_MAX = 64 };

/** Items that cost less than this, in estimated seconds, are given to workers by the dozen. */
#define AR_POOL_CHEAP_S 2e-3

/** The answer to an item. */
struct ar_pool_answer {
    uint32_t item;
    uint32_t is_lost; /**< the worker died: the bytes are a text, terminated, that says how */
    uint32_t bytes_count;
    char bytes[];
};

/** The work of a pool. */
struct ar_pool_work {
    void *context;          /**< handed to the functions below; borrowed */
    const char *items_name; /**< for messages: "points" */
    uint32_t bytes_max;     /**< of an answer */

    /** Computes an item in a worker: writes the answer, or the failure, and returns its length. */
    uint32_t (*compute)(void *context, uint32_t item, char *bytes);

    /** Takes an answer, in the process that runs the pool. A failure ends the pool. */
    enum ar_status (*take)(void *context, const struct ar_pool_answer *answer,
                           struct ar_error *err);

    /** Estimated seconds of an item on one core; NULL: all are long. */
    double (*cost_s)(const void *context, uint32_t item);

    bool shows_progress; /**< on stderr: a line that a terminal draws anew, others now and then */
};

/** Processors that a launcher or container lets this process use, AR_POOL_JOBS_MAX at most. */
uint32_t ar_pool_processors(void);

/** Items that wait: those that take long, longest first, so that none of them is left for the end;
 * then the many that do not (AR_POOL_CHEAP_S), in their order: neighbours read the same files. */
struct ar_pool_queue {
    uint32_t *items;
    size_t next;
    size_t count;  /**< with those that were taken */
    double cost_s; /**< estimated for all of them, one after the other */
};

/** Makes the queue of `count` items; NULL: those from 0 to count - 1. */
struct ar_pool_queue ar_pool_queue_create(struct ar_arena *arena, const struct ar_pool_work *work,
                                          const uint32_t *items, size_t count);

/** Takes items off the queue for one of so many workers: one that is long, or a share of those that
 * are not, at most AR_POOL_CHUNK_MAX. Returns how many. */
uint32_t ar_pool_queue_take(struct ar_pool_queue *queue, const struct ar_pool_work *work,
                            uint32_t workers, uint32_t *items);

/** How far work is. */
struct ar_progress {
    const struct ar_pool_work *work;
    size_t count, finished; /**< items */
    double cost_s, finished_cost_s;
    double began_s, drawn_s;
};

void ar_progress_begin(struct ar_progress *progress, const struct ar_pool_work *work,
                       const struct ar_pool_queue *queue);

/** Counts an item that is finished. */
void ar_progress_add(struct ar_progress *progress, uint32_t item);

/** Removes the line that is drawn now and then. */
void ar_progress_end(const struct ar_progress *progress);

/** Computes all items of a queue in up to `jobs` processes. SIGINT, SIGTERM or SIGHUP end it
 * (AR_INTERRUPTED), and so does the first answer that is not taken; the workers are gone then.
 * Fails if no worker can be had. */
enum ar_status ar_pool_run(const struct ar_pool_work *work, uint32_t jobs,
                           struct ar_pool_queue *queue, struct ar_error *err);

/** A pool for those who have more to wait for than its workers, which are all started at once.
 * Items may be added to the queue meanwhile. Ended with ar_pool_end() unless it cannot begin. */
struct ar_pool;
enum ar_status ar_pool_begin(struct ar_arena *arena, const struct ar_pool_work *work, uint32_t jobs,
                             struct ar_pool_queue *queue, struct ar_pool **pool,
                             struct ar_error *err);

/** Keeps the workers busy and takes the answers that come within a millisecond. */
enum ar_status ar_pool_go_on(struct ar_pool *pool, struct ar_error *err);

/** Kills the workers; signals come as before unless one has ended the work. */
void ar_pool_end(struct ar_pool *pool);
