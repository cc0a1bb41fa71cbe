/** \file pool.h
 * Rows computed by parallel processes.
 *
 * A pool keeps up to `jobs` worker processes, which compute points of a queue and send back their
 * rows. A worker that dies costs the row it was at, which then says how the process ended; another
 * worker takes its place. If the system gives fewer processes than `jobs`, the pool goes on with
 * those.
 */
#ifndef AR_POOL_H
#define AR_POOL_H

#include "answer.h"
#include "signals.h"

enum { JOBS_MAX = 256 };

/** Points that cost less than this, in estimated seconds, are dealt by the dozen. */
#define POOL_CHEAP_S 2e-3

/** Processors that this process may use: a launcher or a container may give it a part. */
uint32_t pool_processors(void);

struct pool;

/** Makes a pool; nothing is forked yet. Workers take the signals as `before` says, but ignore
 * SIGINT and SIGHUP, which a terminal sends to all: the pool ends them. Freed with pool_destroy().
 */
enum ar_status pool_create(struct space *space, uint32_t jobs, const struct signals *before,
                           struct pool **pool, struct ar_error *err);

/** Ends all workers; NULL is allowed. */
void pool_destroy(struct pool *pool);

/** How many points can be added: enough to keep all workers busy, few if they are long. The next
 * one will cost `cost_s`. */
uint32_t pool_capacity(const struct pool *pool, double cost_s);

/** Adds points to the queue, at most pool_capacity(). */
void pool_add(struct pool *pool, const uint32_t *points, uint32_t count);

/** Hands points to idle workers, then waits until one answers or `other` (-1: none) can be read.
 * Lets the signals of `before` through while it waits. Fails if no worker can be had. */
enum ar_status pool_wait(struct pool *pool, int other, struct ar_error *err);

/** Takes the next row that came; false if there is none. Call it until then. */
bool pool_take(struct pool *pool, struct answer *answer);

#endif
