/* A pool in a process of its own. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "pool_workers.h"

/* Queues the items of a request, if one is there; false at the end. */
static bool queue_request(struct ar_pool_queue *queue, int end)
{
    struct request request;
    struct pollfd asked = {.fd = end, .events = POLLIN};
    if (poll(&asked, 1, 0) <= 0) {
        return true;
    }
    if (!pool_receive(end, &request, sizeof request)) {
        return false;
    }
    memcpy(queue->items + queue->count, request.items, request.count * sizeof request.items[0]);
    queue->count += request.count;
    return true;
}

/* Never returns. */
static void serve(const struct ar_pool_work *work, uint32_t jobs, size_t items_count, int end)
{
    struct ar_arena arena = {0}; /* ends with the process */
    struct ar_error err;
    struct pool *pool;
    struct ar_pool_queue queue = {.items = ar_arena_alloc(&arena, items_count, sizeof(uint32_t))};
    if (queue.items == NULL || pool_create(&arena, work, jobs, &queue, &pool, &err) != AR_OK) {
        _exit(1);
    }
    pool->upstream = end;
    ar_signals_catch(&pool->before);
    bool is_running = true;
    while (is_running && !ar_signals_arrived()) {
        is_running = pool_give(pool, &err) == AR_OK && pool_wait(pool, end, &err) == AR_OK &&
                     queue_request(&queue, end);
    }
    pool_kill_workers(pool);
    _exit(is_running ? 0 : 1);
}

enum ar_status ar_pool_server_start(const struct ar_pool_work *work, uint32_t jobs,
                                    size_t items_count, struct ar_pool_server *server,
                                    struct ar_error *err)
{
    int end;
    pid_t process = pool_fork(&end, err);
    if (process < 0) {
        return err->status;
    }
    if (process == 0) {
        serve(work, jobs, items_count, end);
    }
    *server = (struct ar_pool_server){
        .process = process, .end = end, .answer_max = ar_pool_answer_max(work)};
    return AR_OK;
}

bool ar_pool_server_give(const struct ar_pool_server *server, const uint32_t *items, uint32_t count)
{
    struct request request = {.count = count};
    memcpy(request.items, items, count * sizeof *items);
    return pool_send(server->end, &request, sizeof request);
}

bool ar_pool_server_hear(const struct ar_pool_server *server, struct ar_pool_answer *answer)
{
    return pool_receive(server->end, answer, server->answer_max);
}

void ar_pool_server_stop(struct ar_pool_server *server)
{
    if (server->process > 0) {
        close(server->end); /* it kills its workers and ends */
        pool_reap(server->process);
        server->process = 0;
    }
}
