/** \file pool_workers.h
 * The workers of a pool: what they are given, what they answer, how they end.
 */
#ifndef AR_POOL_WORKERS_H
#define AR_POOL_WORKERS_H

#include "ar_pool.h"
#include "ar_progress.h"
#include "ar_signals.h"

/** Forks a process that is killed with this one, and joins the two by a socket; 0 in it, -1 on
 * failure. */
pid_t pool_fork(int *end, struct ar_error *err);

/** Waits for the end of a process; returns what waitpid() says. */
int pool_reap(pid_t process);

/** Sends a message, receives one; false if the other side is gone. */
bool pool_send(int end, const void *message, size_t size);
bool pool_receive(int end, void *message, size_t max);

/** Items for a worker, in order. */
struct request {
    uint32_t count;
    uint32_t items[AR_POOL_CHUNK_MAX];
};

static inline bool pool_send_answer(int end, const struct ar_pool_answer *answer)
{
    return pool_send(end, answer, sizeof *answer + answer->bytes_count);
}

struct worker {
    pid_t process; /* 0: none */
    int end;       /* socket to it */
    struct request given;
    uint32_t answered; /* of the items given */
};

struct pool {
    const struct ar_pool_work *work;
    int upstream; /* socket to which answers go on; -1: the work takes them */
    struct ar_pool_queue *queue;
    uint32_t jobs;
    size_t answered;
    struct ar_progress progress;
    struct ar_signals before;
    struct ar_pool_answer *answer;
    struct worker workers[AR_POOL_JOBS_MAX];
};

/** Makes a pool in an arena; nothing is forked yet. */
struct pool *pool_create(struct ar_arena *arena, const struct ar_pool_work *work, uint32_t jobs,
                         struct ar_pool_queue *queue);

/** Keeps the workers busy. Where a process cannot be had, those that run go on alone. */
enum ar_status pool_give(struct pool *pool, struct ar_error *err);

/** Waits until a worker answers or `other` (-1: none) can be read, and takes an answer of each
 * worker that has one. The signals that are held back elsewhere come here and nowhere else. */
enum ar_status pool_wait(struct pool *pool, int other, struct ar_error *err);

void pool_kill_workers(struct pool *pool);

#endif
