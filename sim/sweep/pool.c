#include "pool_workers.h"

#include <sched.h>
#include <unistd.h>

uint32_t ar_pool_processors(void)
{
    cpu_set_t processors;
    long count = sched_getaffinity(0, sizeof processors, &processors) == 0
                     ? CPU_COUNT(&processors)
                     : sysconf(_SC_NPROCESSORS_ONLN);
    return count < AR_POOL_JOBS_MAX ? (uint32_t)count : AR_POOL_JOBS_MAX;
}

size_t ar_pool_answer_max(const struct ar_pool_work *work)
{
    size_t bytes = work->bytes_max > AR_POOL_REASON_MAX ? work->bytes_max : AR_POOL_REASON_MAX;
    return sizeof(struct ar_pool_answer) + bytes;
}

struct ar_pool_answer *ar_pool_answer_create(struct ar_arena *arena,
                                             const struct ar_pool_work *work)
{
    return ar_arena_alloc(arena, 1, ar_pool_answer_max(work));
}

static void begin_progress(struct pool *pool)
{
    const struct ar_pool_queue *queue = pool->queue;
    pool->progress =
        (struct ar_progress){.items_name = pool->work->items_name,
                             .is_shown = pool->work->shows_progress && queue->next < queue->count,
                             .count = queue->count - queue->next,
                             .processes = pool->jobs};
    for (size_t i = queue->next; i < queue->count; i++) {
        pool->progress.cost_s += ar_pool_item_cost_s(pool->work, queue->items[i]);
    }
    ar_progress_begin(&pool->progress);
}

static enum ar_status run(struct pool *pool, struct ar_error *err)
{
    size_t count = pool->queue->count - pool->queue->next;
    while (pool->answered < count) {
        AR_TRY(pool_give(pool, err));
        AR_TRY(pool_wait(pool, -1, err));
        if (ar_signals_arrived()) {
            return ar_error_set(err, AR_INTERRUPTED, "interrupted after %zu of %zu %s",
                                pool->answered, count, pool->work->items_name);
        }
    }
    return AR_OK;
}

enum ar_status ar_pool_run(const struct ar_pool_work *work, uint32_t jobs,
                           struct ar_pool_queue *queue, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct pool *pool = pool_create(&arena, work, jobs, queue);
    ar_signals_catch(&pool->before);
    begin_progress(pool);
    enum ar_status status = run(pool, err);
    ar_progress_end(&pool->progress);
    pool_kill_workers(pool);
    if (status != AR_INTERRUPTED) { /* else another signal would end it before it says so */
        ar_signals_restore(&pool->before);
    }
    return status;
}
