#include "pool_workers.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- processes and sockets ------------------------------------------------------------------ */

bool pool_send(int end, const void *message, size_t size)
{
    return TEMP_FAILURE_RETRY(send(end, message, size, MSG_NOSIGNAL)) >= 0;
}

bool pool_receive(int end, void *message, size_t max)
{
    return TEMP_FAILURE_RETRY(recv(end, message, max, 0)) > 0;
}

pid_t pool_fork(int *end, struct ar_error *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        (void)ar_error_set(err, AR_NO_MEMORY, "cannot open a socket to a worker: %s",
                           strerror(errno));
        return -1;
    }
    fflush(NULL); /* nothing is to be printed twice */
    pid_t process = fork();
    if (process < 0) {
        (void)ar_error_set(err, AR_NO_MEMORY, "cannot fork a worker: %s", strerror(errno));
        close(ends[0]);
    } else if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1); /* it died before it could be asked to take this process along */
        }
        close(ends[0]);
        *end = ends[1];
        return 0;
    }
    close(ends[1]);
    *end = ends[0];
    return process;
}

int pool_reap(pid_t process)
{
    int wait_status = 0;
    while (waitpid(process, &wait_status, 0) < 0 && errno == EINTR) {
    }
    return wait_status;
}

/* --- workers -------------------------------------------------------------------------------- */

struct pool *pool_create(struct ar_arena *arena, const struct ar_pool_work *work, uint32_t jobs,
                         struct ar_pool_queue *queue)
{
    struct pool *pool = ar_arena_alloc(arena, 1, sizeof *pool);
    pool->work = work;
    pool->upstream = -1;
    pool->queue = queue;
    pool->jobs = jobs < AR_POOL_JOBS_MAX ? jobs : AR_POOL_JOBS_MAX;
    pool->answer = ar_pool_answer_create(arena, work);
    return pool;
}

struct shift {
    const struct pool *pool;
    int end;
};

/* Computes what the pool asks for until it asks no more. */
static enum ar_status compute_requests(void *context, struct ar_error *err)
{
    (void)err;
    const struct shift *shift = context;
    const struct ar_pool_work *work = shift->pool->work;
    struct ar_pool_answer *answer = shift->pool->answer;
    struct request request;
    while (pool_receive(shift->end, &request, sizeof request)) {
        for (uint32_t i = 0; i < request.count; i++) {
            *answer = (struct ar_pool_answer){.item = request.items[i]};
            answer->bytes_count = work->compute(work->context, answer->item, answer->bytes);
            if (!pool_send_answer(shift->end, answer)) {
                return AR_IO;
            }
        }
    }
    return AR_OK;
}

/* Never returns. A worker takes signals as before, but for those that a terminal sends to all: the
 * pool ends it. One that runs out of memory ends, since others may have more of it then. */
static void work(const struct pool *pool, const struct worker *self, int end)
{
    struct ar_error err;
    struct shift shift = {pool, end};
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0 && &pool->workers[i] != self) {
            close(pool->workers[i].end);
        }
    }
    ar_signals_restore(&pool->before);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    enum ar_status status = ar_memory_guard(compute_requests, &shift, &err);
    _exit(status == AR_IO ? 1 : ar_status_exit_code(status));
}

static enum ar_status start(struct pool *pool, struct worker *worker, struct ar_error *err)
{
    int end;
    pid_t process = pool_fork(&end, err);
    if (process < 0) {
        return err->status;
    }
    if (process == 0) {
        work(pool, worker, end);
    }
    *worker = (struct worker){.process = process, .end = end};
    return AR_OK;
}

/* Frees the place of a worker that ended or is about to. */
static int remove_worker(struct worker *worker)
{
    close(worker->end);
    int wait_status = pool_reap(worker->process);
    *worker = (struct worker){.process = 0};
    return wait_status;
}

/* --- what they are given -------------------------------------------------------------------- */

/* Takes the next items off the queue: one that is long, or a share of those that are not. */
static void take_chunk(struct pool *pool, struct request *request)
{
    struct ar_pool_queue *queue = pool->queue;
    size_t max = 1 + (queue->count - queue->next) / (2 * pool->jobs);
    double cost_s = 0;
    request->count = 0;
    while (request->count < max && request->count < AR_POOL_CHUNK_MAX &&
           queue->next < queue->count && cost_s < AR_POOL_CHEAP_S) {
        cost_s += ar_pool_queue_next_s(queue, pool->work);
        request->items[request->count++] = queue->items[queue->next++];
    }
}

/* Puts the items that a worker did not get to back in front, where they came from. */
static void put_back(struct pool *pool, const struct request *given, uint32_t from)
{
    uint32_t count = given->count - from;
    pool->queue->next -= count;
    memcpy(pool->queue->items + pool->queue->next, given->items + from,
           count * sizeof given->items[0]);
}

/* Gives items to an idle worker. One that died meanwhile gives its place to another. */
static enum ar_status give(struct pool *pool, struct worker *worker, struct ar_error *err)
{
    struct request request;
    if (worker->process == 0) {
        AR_TRY(start(pool, worker, err));
    }
    take_chunk(pool, &request);
    if (!pool_send(worker->end, &request, sizeof request)) {
        put_back(pool, &request, 0);
        remove_worker(worker);
        return AR_OK;
    }
    worker->given = request;
    worker->answered = 0;
    return AR_OK;
}

enum ar_status pool_give(struct pool *pool, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    uint32_t running = 0;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct worker *worker = &pool->workers[i];
        if (status == AR_OK && pool->queue->next < pool->queue->count &&
            worker->answered == worker->given.count) {
            status = give(pool, worker, err);
        }
        running += worker->process != 0;
    }
    return running > 0 ? AR_OK : status;
}

/* --- what they answer ----------------------------------------------------------------------- */

/* The signal that ended a worker may have been meant for all, and not have come here yet. */
static bool is_ending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

static enum ar_status take(struct pool *pool, struct worker *worker, struct ar_error *err)
{
    worker->answered++;
    pool->answered++;
    ar_progress_add(&pool->progress, ar_pool_item_cost_s(pool->work, pool->answer->item));
    if (pool->upstream < 0) {
        return pool->work->take(pool->work->context, pool->answer, err);
    }
    return pool_send_answer(pool->upstream, pool->answer)
               ? AR_OK
               : ar_error_set(err, AR_IO, "the receiver of answers is gone");
}

static uint32_t write_reason(int wait_status, char reason[AR_POOL_REASON_MAX])
{
    bool is_signal = WIFSIGNALED(wait_status);
    int number = is_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    bool is_memory = !is_signal && number == ar_status_exit_code(AR_NO_MEMORY);
    return 1 + (uint32_t)snprintf(
                   reason, AR_POOL_REASON_MAX, "the worker process ended with %s %d%s",
                   is_signal ? "signal" : "code", number, is_memory ? ": out of memory" : "");
}

/* Answers for a worker that died, if it was at an item. */
static enum ar_status bury(struct pool *pool, struct worker *worker, struct ar_error *err)
{
    struct worker dead = *worker;
    int wait_status = remove_worker(worker);
    bool is_lost = dead.answered < dead.given.count && !is_ending();
    put_back(pool, &dead.given, dead.answered + is_lost);
    if (!is_lost) {
        return AR_OK;
    }
    struct ar_pool_answer *answer = pool->answer;
    answer->item = dead.given.items[dead.answered];
    answer->is_lost = true;
    answer->bytes_count = write_reason(wait_status, answer->bytes);
    return take(pool, &dead, err);
}

enum ar_status pool_wait(struct pool *pool, int other, struct ar_error *err)
{
    static const struct timespec tick = {.tv_sec = 1};
    struct pollfd ends[AR_POOL_JOBS_MAX + 1];
    struct worker *asked[AR_POOL_JOBS_MAX];
    nfds_t count = 0;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            asked[count] = &pool->workers[i];
            ends[count++] = (struct pollfd){.fd = pool->workers[i].end, .events = POLLIN};
        }
    }
    ends[count] = (struct pollfd){.fd = other, .events = POLLIN};
    ar_progress_draw(&pool->progress);
    if (ppoll(ends, count + (other >= 0), pool->progress.is_shown ? &tick : NULL,
              &pool->before.mask) < 0) {
        return errno == EINTR ? AR_OK
                              : ar_error_set(err, AR_INTERNAL, "cannot wait for the workers: %s",
                                             strerror(errno));
    }
    for (nfds_t i = 0; i < count; i++) {
        if (ends[i].revents != 0) {
            AR_TRY(pool_receive(asked[i]->end, pool->answer, ar_pool_answer_max(pool->work))
                       ? take(pool, asked[i], err)
                       : bury(pool, asked[i], err));
        }
    }
    sigset_t held; /* ppoll() lets no signal in while answers are there */
    sigprocmask(SIG_SETMASK, &pool->before.mask, &held);
    sigprocmask(SIG_SETMASK, &held, NULL);
    return AR_OK;
}

void pool_kill_workers(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            kill(pool->workers[i].process, SIGKILL);
            remove_worker(&pool->workers[i]);
        }
    }
}
