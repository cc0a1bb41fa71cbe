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

struct service {
    const struct ar_pool_work *work;
    uint32_t jobs;
    size_t items_count;
    int end;
};

/* Answers until a signal comes; other ends are failures. */
static enum ar_status serve_items(void *context, struct ar_error *err)
{
    const struct service *service = context;
    struct ar_arena arena AR_ENDS_HERE = {0};
    struct ar_pool_queue queue = {
        .items = ar_arena_alloc(&arena, service->items_count, sizeof(uint32_t))};
    struct pool *pool = pool_create(&arena, service->work, service->jobs, &queue);
    pool->upstream = service->end;
    ar_signals_catch(&pool->before);
    enum ar_status status = AR_OK;
    while (status == AR_OK && !ar_signals_arrived()) {
        status = pool_give(pool, err);
        status = status == AR_OK ? pool_wait(pool, service->end, err) : status;
        if (status == AR_OK && !queue_request(&queue, service->end)) {
            status = AR_UNAVAILABLE;
        }
    }
    pool_kill_workers(pool);
    return status;
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
        struct service service = {work, jobs, items_count, end};
        enum ar_status status = ar_memory_guard(serve_items, &service, err);
        _exit(status == AR_OK ? 0 : 1);
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
