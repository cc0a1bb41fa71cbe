#include "pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { QUEUE_MAX = 2 * JOBS_MAX * CHUNK_MAX };

struct worker {
    pid_t process; /* 0: none */
    int end;       /* socket to it */
    struct request given;
    uint32_t answered;      /* of the points given */
    struct answers answers; /* that are on their way */
    bool is_gone;           /* its end was met */
};

struct pool {
    struct space *space;
    uint32_t jobs;
    struct signals before;
    uint32_t queue[QUEUE_MAX]; /* from `first` on */
    uint32_t first;
    uint32_t queued;
    uint32_t outstanding; /* queued or given, not answered */
    uint32_t next;        /* worker that is asked for an answer next */
    struct worker workers[JOBS_MAX];
};

uint32_t pool_processors(void)
{
    cpu_set_t processors;
    if (sched_getaffinity(0, sizeof processors, &processors) != 0) {
        return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    }
    return (uint32_t)CPU_COUNT(&processors);
}

enum ar_status pool_create(struct space *space, uint32_t jobs, const struct signals *before,
                           struct pool **pool, struct ar_error *err)
{
    *pool = calloc(1, sizeof **pool);
    if (*pool == NULL) {
        return ar_error_no_memory(err, "the workers");
    }
    (*pool)->space = space;
    (*pool)->jobs = jobs < JOBS_MAX ? jobs : JOBS_MAX;
    (*pool)->before = *before;
    return AR_OK;
}

/* Waits for a worker's end and frees its place. */
static int reap(struct worker *worker)
{
    int wait_status = 0;
    close(worker->end);
    while (waitpid(worker->process, &wait_status, 0) < 0 && errno == EINTR) {
    }
    answers_destroy(&worker->answers);
    *worker = (struct worker){.process = 0};
    return wait_status;
}

void pool_destroy(struct pool *pool)
{
    for (uint32_t i = 0; pool != NULL && i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            kill(pool->workers[i].process, SIGKILL);
            reap(&pool->workers[i]);
        }
    }
    free(pool);
}

uint32_t pool_capacity(const struct pool *pool, double cost_s)
{
    uint32_t max = pool->jobs * (cost_s < POOL_CHEAP_S ? CHUNK_MAX : 1);
    return max > pool->outstanding ? max - pool->outstanding : 0;
}

void pool_add(struct pool *pool, const uint32_t *points, uint32_t count)
{
    if (pool->first + pool->queued + count > QUEUE_MAX) {
        memmove(pool->queue, pool->queue + pool->first, pool->queued * sizeof pool->queue[0]);
        pool->first = 0;
    }
    memcpy(pool->queue + pool->first + pool->queued, points, count * sizeof *points);
    pool->queued += count;
    pool->outstanding += count;
}

/* Puts the points that a worker did not get to back in front. */
static void return_points(struct pool *pool, const uint32_t *points, uint32_t count)
{
    if (pool->first < count) {
        memmove(pool->queue + count, pool->queue + pool->first,
                pool->queued * sizeof pool->queue[0]);
        pool->first = count;
    }
    pool->first -= count;
    pool->queued += count;
    memcpy(pool->queue + pool->first, points, count * sizeof *points);
}

/* Never returns. */
static void work(struct pool *pool, const struct worker *self, int end, pid_t parent)
{
    struct request request;
    struct answer answer;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1); /* it died before it could be asked to take this process along */
    }
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0 || &pool->workers[i] == self) {
            close(pool->workers[i].end);
        }
    }
    signals_restore(&pool->before);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    while (answer_receive(end, &request.count, sizeof request.count) &&
           answer_receive(end, request.points, request.count * sizeof request.points[0])) {
        for (uint32_t i = 0; i < request.count; i++) {
            answer_compute(pool->space, request.points[i], &answer);
            if (!answer_send(end, &answer, ANSWER_HEAD + answer.length)) {
                _exit(1);
            }
        }
    }
    _exit(0);
}

static enum ar_status start(struct pool *pool, struct worker *worker, struct ar_error *err)
{
    int ends[2];
    pid_t parent = getpid();
    enum ar_status status = answers_create(&worker->answers, err);
    if (status != AR_OK) {
        return status;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        answers_destroy(&worker->answers);
        return ar_error_set(err, AR_NO_MEMORY, "cannot open a pipe to a worker: %s",
                            strerror(errno));
    }
    fflush(NULL); /* nothing is to be printed twice */
    worker->end = ends[0];
    worker->process = fork();
    if (worker->process == 0) {
        work(pool, worker, ends[1], parent);
    }
    close(ends[1]);
    if (worker->process < 0) {
        worker->process = 0;
        close(ends[0]);
        answers_destroy(&worker->answers);
        return ar_error_set(err, AR_NO_MEMORY, "cannot fork a worker: %s", strerror(errno));
    }
    return AR_OK;
}

/* Takes the next points off the queue: one that is long, or a share of those that are not. */
static void take_chunk(struct pool *pool, struct request *request)
{
    uint32_t max = 1 + pool->queued / (2 * pool->jobs);
    double cost_s = 0;
    request->count = 0;
    while (request->count < max && request->count < CHUNK_MAX && pool->queued > 0 &&
           cost_s < POOL_CHEAP_S) {
        uint32_t point = pool->queue[pool->first++];
        pool->queued--;
        request->points[request->count++] = point;
        cost_s += pool->space->points[point].cost_s;
    }
}

/* Gives points to an idle worker. One that died meanwhile gives its place to another. */
static enum ar_status give(struct pool *pool, struct worker *worker, struct ar_error *err)
{
    struct request request;
    enum ar_status status = worker->process == 0 ? start(pool, worker, err) : AR_OK;
    if (status != AR_OK) {
        return status;
    }
    take_chunk(pool, &request);
    size_t size = (1 + request.count) * sizeof request.points[0];
    if (!answer_send(worker->end, &request, size)) {
        return_points(pool, request.points, request.count);
        reap(worker);
        return AR_OK;
    }
    worker->given = request;
    worker->answered = 0;
    return AR_OK;
}

/* Keeps the workers busy. Where a process cannot be had, those that run go on alone. */
static enum ar_status give_all(struct pool *pool, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    uint32_t running = 0;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct worker *worker = &pool->workers[i];
        if (status == AR_OK && pool->queued > 0 && worker->answered == worker->given.count) {
            status = give(pool, worker, err);
        }
        running += worker->process != 0;
    }
    return running > 0 ? AR_OK : status;
}

enum ar_status pool_wait(struct pool *pool, int other, struct ar_error *err)
{
    struct pollfd ends[JOBS_MAX + 1];
    struct worker *asked[JOBS_MAX];
    nfds_t count = 0;
    enum ar_status status = give_all(pool, err);
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            asked[count] = &pool->workers[i];
            ends[count++] = (struct pollfd){.fd = pool->workers[i].end, .events = POLLIN};
        }
    }
    ends[count] = (struct pollfd){.fd = other, .events = POLLIN};
    /* The signals that are held back elsewhere come here and nowhere else. */
    if (status != AR_OK || ppoll(ends, count + 1, NULL, &pool->before.mask) <= 0) {
        return status;
    }
    for (nfds_t i = 0; i < count; i++) {
        if (ends[i].revents != 0) {
            ssize_t got = answers_read(&asked[i]->answers, asked[i]->end);
            asked[i]->is_gone = got == 0 || (got < 0 && errno != EINTR);
        }
    }
    return AR_OK;
}

/* The signal that ended a worker may have been meant for all, and not have come here yet. */
static bool is_ending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

/* Buries a worker; true if it takes a row along. */
static bool bury(struct pool *pool, struct worker *worker, struct answer *answer)
{
    struct request given = worker->given;
    uint32_t answered = worker->answered;
    int wait_status = reap(worker);
    bool is_lost = answered < given.count && !is_ending();
    if (is_lost) {
        answer_lost(pool->space, given.points[answered], wait_status, answer);
        pool->outstanding--;
        answered++;
    }
    return_points(pool, given.points + answered, given.count - answered);
    return is_lost;
}

bool pool_take(struct pool *pool, struct answer *answer)
{
    for (uint32_t i = 0; i < pool->jobs; i++) {
        struct worker *worker = &pool->workers[pool->next];
        if (worker->process != 0 && answers_take(&worker->answers, answer)) {
            worker->answered++;
            pool->outstanding--;
            return true;
        }
        if (worker->process != 0 && worker->is_gone && bury(pool, worker, answer)) {
            return true;
        }
        pool->next = (pool->next + 1) % pool->jobs;
    }
    return false;
}
