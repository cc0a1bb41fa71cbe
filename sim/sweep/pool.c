#include "ar_pool.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_numbers.h"
#include "ar_signals.h"
#include "ar_units.h"

/* Items for a worker, in order. */
struct pool_request {
    uint32_t count;
    uint32_t items[AR_POOL_CHUNK_MAX];
};

struct pool_worker {
    pid_t process; /* 0: none */
    int socket;    /* to it */
    struct pool_request given;
    uint32_t answered; /* of the items given */
};

struct ar_pool {
    const struct ar_pool_work *work;
    struct ar_pool_queue *queue;
    uint32_t jobs;
    struct ar_progress progress;
    struct ar_signals before;
    struct ar_pool_answer *answer; /* the last one */
    struct pool_worker workers[AR_POOL_JOBS_MAX];
};

uint32_t ar_pool_processors(void)
{
    cpu_set_t processors;
    long count = sched_getaffinity(0, sizeof processors, &processors) == 0
                     ? CPU_COUNT(&processors)
                     : sysconf(_SC_NPROCESSORS_ONLN);
    return count < AR_POOL_JOBS_MAX ? (uint32_t)count : AR_POOL_JOBS_MAX;
}

static size_t answer_max(const struct ar_pool_work *work)
{
    return sizeof(struct ar_pool_answer) + work->bytes_max + AR_POOL_REASON_MAX;
}

/* --- the order of items, and how far they are ------------------------------------------------- */

struct ranked_item {
    double cost_s; /* 0: short */
    uint32_t item;
    size_t place;
};

AR_ORDER(compare_ranked_items, struct ranked_item, AR_FALLS(cost_s), AR_RISES(place))

static double item_cost_s(const struct ar_pool_work *work, uint32_t item)
{
    return work->cost_s != NULL ? work->cost_s(work->context, item) : AR_POOL_CHEAP_S;
}

struct ar_pool_queue ar_pool_queue_create(struct ar_arena *arena, const struct ar_pool_work *work,
                                          const uint32_t *items, size_t count)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct ranked_item *ranking = ar_arena_alloc(&scratch, count + 1, sizeof *ranking);
    struct ar_pool_queue queue = {.items = ar_arena_alloc(arena, count, sizeof *queue.items),
                                  .count = count};
    for (size_t i = 0; i < count; i++) {
        uint32_t item = items != NULL ? items[i] : (uint32_t)i;
        double cost_s = item_cost_s(work, item);
        queue.cost_s += cost_s;
        ranking[i] = (struct ranked_item){cost_s >= AR_POOL_CHEAP_S ? cost_s : 0, item, i};
    }
    qsort(ranking, count, sizeof *ranking, compare_ranked_items);
    for (size_t i = 0; i < count; i++) {
        queue.items[i] = ranking[i].item;
    }
    return queue;
}

uint32_t ar_pool_queue_take(struct ar_pool_queue *queue, const struct ar_pool_work *work,
                            uint32_t workers, uint32_t *items)
{
    size_t max = 1 + (queue->count - queue->next) / (2 * workers);
    uint32_t count = 0;
    for (double cost_s = 0; count < max && count < AR_POOL_CHUNK_MAX &&
                            queue->next < queue->count && cost_s < AR_POOL_CHEAP_S;
         count++) {
        items[count] = queue->items[queue->next++];
        cost_s += item_cost_s(work, items[count]);
    }
    return count;
}

/* Draws the line of a terminal, or writes another one to a file, if it is time to. */
static void progress_draw(struct ar_progress *progress)
{
    double now_s = ar_clock_s();
    bool is_drawn = isatty(STDERR_FILENO);
    double every_s = is_drawn ? 0.2 : progress->drawn_s > 0 ? 20 : 5;
    double last_s = fmax(progress->drawn_s, is_drawn ? 0 : progress->began_s);
    if (!progress->work->shows_progress || now_s - last_s < every_s ||
        progress->finished == progress->count) {
        return;
    }
    progress->drawn_s = now_s;
    fprintf(stderr, "%s%zu of %zu %s", is_drawn ? "\r" : "allreckon: note: ", progress->finished,
            progress->count, progress->work->items_name);
    if (progress->finished > 0) {
        double left_frac = progress->cost_s / progress->finished_cost_s - 1;
        fprintf(stderr, ", about %s left%s",
                AR_SHOW_DURATION(left_frac * (now_s - progress->began_s)), is_drawn ? "    " : "");
    }
    fputs(is_drawn ? "" : "\n", stderr);
}

void ar_progress_begin(struct ar_progress *progress, const struct ar_pool_work *work,
                       const struct ar_pool_queue *queue)
{
    *progress = (struct ar_progress){
        .work = work, .count = queue->count, .cost_s = queue->cost_s, .began_s = ar_clock_s()};
    progress_draw(progress);
}

void ar_progress_add(struct ar_progress *progress, uint32_t item)
{
    progress->finished++;
    progress->finished_cost_s += item_cost_s(progress->work, item);
    progress_draw(progress);
}

void ar_progress_end(const struct ar_progress *progress)
{
    if (progress->drawn_s > 0 && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%70s\r", "");
    }
}

/* --- a worker --------------------------------------------------------------------------------- */

struct worker_shift {
    const struct ar_pool *pool;
    int socket;
};

/* Computes what the pool asks for until it asks no more. */
static enum ar_status compute_requests(void *context, struct ar_error *err)
{
    (void)err;
    const struct worker_shift *shift = context;
    const struct ar_pool_work *work = shift->pool->work;
    struct ar_pool_answer *answer = shift->pool->answer;
    struct pool_request request;
    while (TEMP_FAILURE_RETRY(recv(shift->socket, &request, sizeof request, 0)) > 0) {
        for (uint32_t i = 0; i < request.count; i++) {
            *answer = (struct ar_pool_answer){.item = request.items[i]};
            answer->bytes_count = work->compute(work->context, answer->item, answer->bytes);
            size_t size = sizeof *answer + answer->bytes_count;
            if (TEMP_FAILURE_RETRY(send(shift->socket, answer, size, MSG_NOSIGNAL)) < 0) {
                return AR_IO;
            }
        }
    }
    return AR_OK;
}

/* Starts a worker. It takes signals as before, but for those that a terminal sends to all: the pool
 * ends it. One that runs out of memory ends, since others may have more of it then. */
static enum ar_status worker_start(struct ar_pool *pool, struct pool_worker *worker,
                                   struct ar_error *err)
{
    int ends[2]; /* of a socket: the pool's, the worker's */
    AR_REFUSE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0, err, AR_NO_MEMORY,
              "cannot open a socket to a worker: %s", strerror(errno));
    pid_t process = ar_fork();
    if (process < 0) {
        close(ends[0]);
        close(ends[1]);
        return ar_error_set(err, AR_NO_MEMORY, "cannot fork a worker: %s", strerror(errno));
    }
    close(ends[process == 0 ? 0 : 1]);
    if (process > 0) {
        *worker = (struct pool_worker){.process = process, .socket = ends[0]};
        return AR_OK;
    }
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            close(pool->workers[i].socket);
        }
    }
    ar_signals_restore(&pool->before);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    struct worker_shift shift = {pool, ends[1]};
    enum ar_status status = ar_memory_guard(compute_requests, &shift, err);
    _exit(status == AR_IO ? 1 : ar_status_exit_code(status));
}

/* Frees the place of a worker that ended or is about to; returns what waitpid() says. */
static int worker_remove(struct pool_worker *worker)
{
    int wait_status = 0;
    close(worker->socket);
    (void)TEMP_FAILURE_RETRY(waitpid(worker->process, &wait_status, 0));
    *worker = (struct pool_worker){.process = 0};
    return wait_status;
}

/* --- what workers answer ---------------------------------------------------------------------- */

static enum ar_status answer_take(struct ar_pool *pool, struct ar_error *err)
{
    ar_progress_add(&pool->progress, pool->answer->item);
    return pool->work->take(pool->work->context, pool->answer, err);
}

/* Answers for a worker that died, if it was at an item, and puts those that it did not get to back
 * in front of the queue, where they came from. */
static enum ar_status worker_bury(struct ar_pool *pool, struct pool_worker *worker,
                                  struct ar_error *err)
{
    struct pool_worker dead = *worker;
    struct ar_pool_answer *answer = pool->answer;
    int wait_status = worker_remove(worker);
    if (dead.answered == dead.given.count) {
        return AR_OK;
    }
    uint32_t left = dead.given.count - dead.answered - 1;
    pool->queue->next -= left;
    memcpy(pool->queue->items + pool->queue->next, dead.given.items + dead.answered + 1,
           left * sizeof dead.given.items[0]);
    bool is_signal = WIFSIGNALED(wait_status);
    int number = is_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    bool is_memory = !is_signal && number == ar_status_exit_code(AR_NO_MEMORY);
    *answer = (struct ar_pool_answer){.item = dead.given.items[dead.answered], .is_lost = true};
    answer->bytes_count = 1 + (uint32_t)snprintf(answer->bytes, AR_POOL_REASON_MAX,
                                                 "the worker process ended with %s %d%s",
                                                 is_signal ? "signal" : "code", number,
                                                 is_memory ? ": out of memory" : "");
    return answer_take(pool, err);
}

/* Waits so long (NULL: for ever) until a worker answers, and takes an answer of each worker that
 * has one. Signals that are held back elsewhere come here and nowhere else. */
static enum ar_status workers_wait(struct ar_pool *pool, const struct timespec *patience,
                                   struct ar_error *err)
{
    struct pollfd sockets[AR_POOL_JOBS_MAX];
    struct pool_worker *asked[AR_POOL_JOBS_MAX];
    nfds_t count = 0;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            asked[count] = &pool->workers[i];
            sockets[count++] = (struct pollfd){.fd = pool->workers[i].socket, .events = POLLIN};
        }
    }
    if (ppoll(sockets, count, patience, &pool->before.mask) < 0) {
        AR_REFUSE(errno != EINTR, err, AR_INTERNAL, "cannot wait for the workers: %s",
                  strerror(errno));
        return AR_OK;
    }
    for (nfds_t i = 0; i < count; i++) {
        if (sockets[i].revents == 0) {
            continue;
        }
        if (TEMP_FAILURE_RETRY(recv(asked[i]->socket, pool->answer, answer_max(pool->work), 0)) >
            0) {
            asked[i]->answered++;
            AR_TRY(answer_take(pool, err));
        } else {
            AR_TRY(worker_bury(pool, asked[i], err));
        }
    }
    sigset_t held; /* ppoll() lets no signal in while answers are there */
    sigprocmask(SIG_SETMASK, &pool->before.mask, &held);
    sigprocmask(SIG_SETMASK, &held, NULL);
    return AR_OK;
}

/* --- the pool --------------------------------------------------------------------------------- */

enum ar_status ar_pool_begin(struct ar_arena *arena, const struct ar_pool_work *work, uint32_t jobs,
                             struct ar_pool_queue *queue, struct ar_pool **pool,
                             struct ar_error *err)
{
    struct ar_pool *made = ar_arena_alloc(arena, 1, sizeof *made);
    *made = (struct ar_pool){.work = work,
                             .queue = queue,
                             .jobs = jobs < AR_POOL_JOBS_MAX ? jobs : AR_POOL_JOBS_MAX,
                             .answer = ar_arena_alloc(arena, 1, answer_max(work))};
    ar_progress_begin(&made->progress, work, queue);
    ar_signals_catch(&made->before);
    enum ar_status status = AR_OK;
    for (uint32_t i = 0; status == AR_OK && i < made->jobs; i++) {
        status = worker_start(made, &made->workers[i], err);
    }
    if (made->jobs > 0 && made->workers[0].process == 0) {
        ar_progress_end(&made->progress);
        ar_signals_restore(&made->before);
        return status;
    }
    *pool = made; /* those that run go on alone */
    return AR_OK;
}

static enum ar_status pool_step(struct ar_pool *pool, const struct timespec *patience,
                                struct ar_error *err)
{
    /* Keeps the workers busy. Where a process cannot be had, those that run go on alone. */
    enum ar_status status = AR_OK;
    uint32_t running = 0;
    AR_EACH(struct pool_worker, worker, pool->workers, pool->jobs) {
        struct pool_request *given = &worker->given;
        if (status == AR_OK && pool->queue->next < pool->queue->count &&
            worker->answered == given->count) {
            status = worker->process == 0 ? worker_start(pool, worker, err) : AR_OK;
            if (status == AR_OK) { /* one that died meanwhile is found when it should answer */
                given->count =
                    ar_pool_queue_take(pool->queue, pool->work, pool->jobs, given->items);
                worker->answered = 0;
                (void)TEMP_FAILURE_RETRY(send(worker->socket, given, sizeof *given, MSG_NOSIGNAL));
            }
        }
        running += worker->process != 0;
    }
    AR_TRY(running > 0 ? AR_OK : status);
    progress_draw(&pool->progress);
    AR_TRY(workers_wait(pool, patience, err));
    AR_REFUSE(ar_signals_arrived(), err, AR_INTERRUPTED, "interrupted after %zu of %zu %s",
              pool->progress.finished, pool->queue->count, pool->work->items_name);
    return AR_OK;
}

enum ar_status ar_pool_go_on(struct ar_pool *pool, struct ar_error *err)
{
    return pool_step(pool, &(const struct timespec){.tv_nsec = 1000000}, err);
}

void ar_pool_end(struct ar_pool *pool)
{
    ar_progress_end(&pool->progress);
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            kill(pool->workers[i].process, SIGKILL);
            worker_remove(&pool->workers[i]);
        }
    }
    if (!ar_signals_arrived()) { /* else another signal would end it before it says so */
        ar_signals_restore(&pool->before);
    }
}

enum ar_status ar_pool_run(const struct ar_pool_work *work, uint32_t jobs,
                           struct ar_pool_queue *queue, struct ar_error *err)
{
    static const struct timespec tick = {.tv_sec = 1};
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_pool *pool;
    enum ar_status status = AR_OK;
    AR_TRY(ar_pool_begin(&arena, work, jobs < queue->count ? jobs : (uint32_t)queue->count, queue,
                         &pool, err));
    while (status == AR_OK && pool->progress.finished < queue->count) {
        status = pool_step(pool, work->shows_progress ? &tick : NULL, err);
    }
    ar_pool_end(pool);
    return status;
}
