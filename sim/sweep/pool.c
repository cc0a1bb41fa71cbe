#include "ar_pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_progress.h"
#include "ar_signals.h"

/* Items for a worker, or for a pool in a process of its own, in order. */
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

struct pool {
    const struct ar_pool_work *work;
    int receiver; /* socket to which answers go on; -1: the work takes them */
    struct ar_pool_queue *queue;
    uint32_t jobs;
    size_t answered;
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
    size_t bytes = work->bytes_max > AR_POOL_REASON_MAX ? work->bytes_max : AR_POOL_REASON_MAX;
    return sizeof(struct ar_pool_answer) + bytes;
}

struct ar_pool_answer *ar_pool_answer_create(struct ar_arena *arena,
                                             const struct ar_pool_work *work)
{
    return ar_arena_alloc(arena, 1, answer_max(work));
}

static struct pool *pool_create(struct ar_arena *arena, const struct ar_pool_work *work,
                                uint32_t jobs, struct ar_pool_queue *queue)
{
    struct pool *pool = ar_arena_alloc(arena, 1, sizeof *pool);
    pool->work = work;
    pool->receiver = -1;
    pool->queue = queue;
    pool->jobs = jobs < AR_POOL_JOBS_MAX ? jobs : AR_POOL_JOBS_MAX;
    pool->answer = ar_pool_answer_create(arena, work);
    return pool;
}

/* --- the order of items ----------------------------------------------------------------------- */

struct ranked_item {
    double cost_s; /* 0: short */
    uint32_t item;
    size_t place;
};

static int compare_ranked_items(const void *a, const void *b)
{
    const struct ranked_item *left = a;
    const struct ranked_item *right = b;
    if (left->cost_s != right->cost_s) {
        return left->cost_s < right->cost_s ? 1 : -1;
    }
    return (left->place > right->place) - (left->place < right->place);
}

static double item_cost_s(const struct ar_pool_work *work, uint32_t item)
{
    return work->cost_s != NULL ? work->cost_s(work->context, item) : AR_POOL_CHEAP_S;
}

double ar_pool_queue_next_s(const struct ar_pool_queue *queue, const struct ar_pool_work *work)
{
    return queue->next < queue->count ? item_cost_s(work, queue->items[queue->next]) : 0;
}

/* The order is: a few short items (one in 16, at most 8); if there are not so many, long ones in
 * their place, and as many of the shortest long ones as take two seconds together; the long ones,
 * longest first; the other short ones as they came. */
struct ar_pool_queue ar_pool_queue_create(struct ar_arena *arena, const struct ar_pool_work *work,
                                          const uint32_t *items, size_t count)
{
    enum { ITEMS_PER_FIRST = 16, FIRST_MAX = 8 };
    static const double first_s = 2;
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct ranked_item *ranking = ar_arena_alloc(&scratch, count + 1, sizeof *ranking);
    size_t longs = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t item = items != NULL ? items[i] : (uint32_t)i;
        double cost_s = item_cost_s(work, item);
        bool is_long = cost_s >= AR_POOL_CHEAP_S;
        ranking[i] = (struct ranked_item){is_long ? cost_s : 0, item, i};
        longs += is_long;
    }
    qsort(ranking, count, sizeof *ranking, compare_ranked_items);

    bool differ = count > 0 && ranking[0].cost_s > ranking[count - 1].cost_s;
    size_t few = count / ITEMS_PER_FIRST < FIRST_MAX ? count / ITEMS_PER_FIRST : FIRST_MAX;
    few = differ ? few : 0;
    size_t shorts_first = few < count - longs ? few : count - longs;
    size_t longs_first = 0;
    double sum_s = 0;
    while (differ && longs_first < longs / 2) {
        sum_s += ranking[longs - 1 - longs_first].cost_s;
        if (longs_first >= few - shorts_first && sum_s > first_s) {
            break;
        }
        longs_first++;
    }

    struct ar_pool_queue queue = {.items = ar_arena_alloc(arena, count, sizeof *queue.items)};
    for (size_t i = 0; i < shorts_first; i++) {
        queue.items[queue.count++] = ranking[count - shorts_first + i].item;
    }
    for (size_t i = 0; i < longs_first; i++) {
        queue.items[queue.count++] = ranking[longs - 1 - i].item;
    }
    for (size_t i = 0; i < longs - longs_first; i++) {
        queue.items[queue.count++] = ranking[i].item;
    }
    for (size_t i = longs; i < count - shorts_first; i++) {
        queue.items[queue.count++] = ranking[i].item;
    }
    return queue;
}

/* --- processes and the sockets that join them ------------------------------------------------- */

static bool message_send(int socket, const void *message, size_t size)
{
    return TEMP_FAILURE_RETRY(send(socket, message, size, MSG_NOSIGNAL)) >= 0;
}

static bool message_receive(int socket, void *message, size_t max)
{
    return TEMP_FAILURE_RETRY(recv(socket, message, max, 0)) > 0;
}

static bool answer_send(int socket, const struct ar_pool_answer *answer)
{
    return message_send(socket, answer, sizeof *answer + answer->bytes_count);
}

/* Forks a process that is killed with this one, joined to it by a socket; 0 in it, -1: failed. */
static pid_t fork_joined(int *socket, struct ar_error *err)
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
    }
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1); /* it died before it could be asked to take this process along */
        }
    }
    int kept = process == 0 ? 1 : 0;
    close(ends[1 - kept]);
    if (process < 0) {
        close(ends[kept]);
    }
    *socket = ends[kept];
    return process;
}

/* Waits for the end of a process; returns what waitpid() says. */
static int process_reap(pid_t process)
{
    int wait_status = 0;
    while (waitpid(process, &wait_status, 0) < 0 && errno == EINTR) {
    }
    return wait_status;
}

/* --- a worker --------------------------------------------------------------------------------- */

struct worker_shift {
    const struct pool *pool;
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
    while (message_receive(shift->socket, &request, sizeof request)) {
        for (uint32_t i = 0; i < request.count; i++) {
            *answer = (struct ar_pool_answer){.item = request.items[i]};
            answer->bytes_count = work->compute(work->context, answer->item, answer->bytes);
            if (!answer_send(shift->socket, answer)) {
                return AR_IO;
            }
        }
    }
    return AR_OK;
}

/* Starts a worker. It takes signals as before, but for those that a terminal sends to all: the pool
 * ends it. One that runs out of memory ends, since others may have more of it then. */
static enum ar_status worker_start(struct pool *pool, struct pool_worker *worker,
                                   struct ar_error *err)
{
    int socket;
    pid_t process = fork_joined(&socket, err);
    if (process < 0) {
        return err->status;
    }
    if (process > 0) {
        *worker = (struct pool_worker){.process = process, .socket = socket};
        return AR_OK;
    }
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0 && &pool->workers[i] != worker) {
            close(pool->workers[i].socket);
        }
    }
    ar_signals_restore(&pool->before);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    struct worker_shift shift = {pool, socket};
    enum ar_status status = ar_memory_guard(compute_requests, &shift, err);
    _exit(status == AR_IO ? 1 : ar_status_exit_code(status));
}

/* Frees the place of a worker that ended or is about to. */
static int worker_remove(struct pool_worker *worker)
{
    close(worker->socket);
    int wait_status = process_reap(worker->process);
    *worker = (struct pool_worker){.process = 0};
    return wait_status;
}

static void workers_kill(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            kill(pool->workers[i].process, SIGKILL);
            worker_remove(&pool->workers[i]);
        }
    }
}

/* --- what workers are given ------------------------------------------------------------------- */

/* Takes the next items off the queue: one that is long, or a share of those that are not. */
static void request_fill(struct pool *pool, struct pool_request *request)
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
static void request_put_back(struct pool *pool, const struct pool_request *given, uint32_t from)
{
    uint32_t count = given->count - from;
    pool->queue->next -= count;
    memcpy(pool->queue->items + pool->queue->next, given->items + from,
           count * sizeof given->items[0]);
}

/* Gives items to an idle worker. One that died meanwhile leaves its place to another. */
static enum ar_status worker_give(struct pool *pool, struct pool_worker *worker,
                                  struct ar_error *err)
{
    if (worker->process == 0) {
        AR_TRY(worker_start(pool, worker, err));
    }
    request_fill(pool, &worker->given);
    worker->answered = 0;
    if (!message_send(worker->socket, &worker->given, sizeof worker->given)) {
        request_put_back(pool, &worker->given, 0);
        worker_remove(worker);
    }
    return AR_OK;
}

/* Keeps the workers busy. Where a process cannot be had, those that run go on alone. */
static enum ar_status workers_give(struct pool *pool, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    uint32_t running = 0;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct pool_worker *worker = &pool->workers[i];
        if (status == AR_OK && pool->queue->next < pool->queue->count &&
            worker->answered == worker->given.count) {
            status = worker_give(pool, worker, err);
        }
        running += worker->process != 0;
    }
    return running > 0 ? AR_OK : status;
}

/* --- what workers answer ---------------------------------------------------------------------- */

static enum ar_status answer_take(struct pool *pool, struct ar_error *err)
{
    pool->answered++;
    ar_progress_add(&pool->progress, item_cost_s(pool->work, pool->answer->item));
    if (pool->receiver < 0) {
        return pool->work->take(pool->work->context, pool->answer, err);
    }
    return answer_send(pool->receiver, pool->answer)
               ? AR_OK
               : ar_error_set(err, AR_IO, "the receiver of answers is gone");
}

/* The signal that ended a worker may have been meant for all, and not have come here yet. */
static bool signal_is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

/* Answers for a worker that died, if it was at an item. */
static enum ar_status worker_bury(struct pool *pool, struct pool_worker *worker,
                                  struct ar_error *err)
{
    struct pool_worker dead = *worker;
    struct ar_pool_answer *answer = pool->answer;
    int wait_status = worker_remove(worker);
    bool is_lost = dead.answered < dead.given.count && !signal_is_pending();
    request_put_back(pool, &dead.given, dead.answered + is_lost);
    if (!is_lost) {
        return AR_OK;
    }
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

/* Waits until a worker answers or the socket `other` (-1: none) can be read, and takes an answer of
 * each worker that has one. Signals that are held back elsewhere come here and nowhere else. */
static enum ar_status workers_wait(struct pool *pool, int other, struct ar_error *err)
{
    static const struct timespec tick = {.tv_sec = 1};
    struct pollfd sockets[AR_POOL_JOBS_MAX + 1];
    struct pool_worker *asked[AR_POOL_JOBS_MAX];
    nfds_t count = 0;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            asked[count] = &pool->workers[i];
            sockets[count++] = (struct pollfd){.fd = pool->workers[i].socket, .events = POLLIN};
        }
    }
    sockets[count] = (struct pollfd){.fd = other, .events = POLLIN};
    ar_progress_draw(&pool->progress);
    if (ppoll(sockets, count + (other >= 0), pool->progress.is_shown ? &tick : NULL,
              &pool->before.mask) < 0) {
        return errno == EINTR ? AR_OK
                              : ar_error_set(err, AR_INTERNAL, "cannot wait for the workers: %s",
                                             strerror(errno));
    }
    for (nfds_t i = 0; i < count; i++) {
        if (sockets[i].revents == 0) {
            continue;
        }
        if (message_receive(asked[i]->socket, pool->answer, answer_max(pool->work))) {
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

/* --- a pool in this process ------------------------------------------------------------------- */

static enum ar_status pool_compute_all(struct pool *pool, struct ar_error *err)
{
    size_t count = pool->queue->count - pool->queue->next;
    while (pool->answered < count) {
        AR_TRY(workers_give(pool, err));
        AR_TRY(workers_wait(pool, -1, err));
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
    pool->progress =
        (struct ar_progress){.items_name = work->items_name,
                             .is_shown = work->shows_progress && queue->next < queue->count,
                             .count = queue->count - queue->next,
                             .processes = pool->jobs};
    for (size_t i = queue->next; i < queue->count; i++) {
        pool->progress.cost_s += item_cost_s(work, queue->items[i]);
    }
    ar_signals_catch(&pool->before);
    ar_progress_begin(&pool->progress);
    enum ar_status status = pool_compute_all(pool, err);
    ar_progress_end(&pool->progress);
    workers_kill(pool);
    if (status != AR_INTERRUPTED) { /* else another signal would end it before it says so */
        ar_signals_restore(&pool->before);
    }
    return status;
}

/* --- a pool in a process of its own ----------------------------------------------------------- */

struct pool_service {
    const struct ar_pool_work *work;
    uint32_t jobs;
    size_t items_count;
    int socket;
};

/* Queues the items of a request, if one is there; false at the end. */
static bool request_queue(struct ar_pool_queue *queue, int socket)
{
    struct pool_request request;
    struct pollfd asked = {.fd = socket, .events = POLLIN};
    if (poll(&asked, 1, 0) <= 0) {
        return true;
    }
    if (!message_receive(socket, &request, sizeof request)) {
        return false;
    }
    memcpy(queue->items + queue->count, request.items, request.count * sizeof request.items[0]);
    queue->count += request.count;
    return true;
}

/* Answers until a signal comes; other ends are failures. */
static enum ar_status requests_serve(void *context, struct ar_error *err)
{
    const struct pool_service *service = context;
    struct ar_arena arena AR_ENDS_HERE = {0};
    struct ar_pool_queue queue = {
        .items = ar_arena_alloc(&arena, service->items_count, sizeof(uint32_t))};
    struct pool *pool = pool_create(&arena, service->work, service->jobs, &queue);
    pool->receiver = service->socket;
    ar_signals_catch(&pool->before);
    enum ar_status status = AR_OK;
    while (status == AR_OK && !ar_signals_arrived()) {
        status = workers_give(pool, err);
        status = status == AR_OK ? workers_wait(pool, service->socket, err) : status;
        if (status == AR_OK && !request_queue(&queue, service->socket)) {
            status = AR_UNAVAILABLE;
        }
    }
    workers_kill(pool);
    return status;
}

enum ar_status ar_pool_server_start(const struct ar_pool_work *work, uint32_t jobs,
                                    size_t items_count, struct ar_pool_server *server,
                                    struct ar_error *err)
{
    int socket;
    pid_t process = fork_joined(&socket, err);
    if (process < 0) {
        return err->status;
    }
    if (process == 0) {
        struct pool_service service = {work, jobs, items_count, socket};
        enum ar_status status = ar_memory_guard(requests_serve, &service, err);
        _exit(status == AR_OK ? 0 : 1);
    }
    *server = (struct ar_pool_server){process, socket, answer_max(work)};
    return AR_OK;
}

bool ar_pool_server_give(const struct ar_pool_server *server, const uint32_t *items, uint32_t count)
{
    struct pool_request request = {.count = count};
    memcpy(request.items, items, count * sizeof *items);
    return message_send(server->socket, &request, sizeof request);
}

bool ar_pool_server_hear(const struct ar_pool_server *server, struct ar_pool_answer *answer)
{
    return message_receive(server->socket, answer, server->answer_max);
}

void ar_pool_server_stop(struct ar_pool_server *server)
{
    if (server->process > 0) {
        close(server->socket); /* it kills its workers and ends */
        process_reap(server->process);
        server->process = 0;
    }
}
