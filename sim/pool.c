#include "pool.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_text.h"
#include "signals.h"

enum { JOBS_MOST = 256 };

struct worker {
    pid_t process; /* 0: free */
    int answer;    /* pipe that the row comes through */
    size_t point;
    size_t got; /* bytes of the row read so far */
};

struct order {
    double cost;
    size_t point;
};

struct pool {
    const struct plan *plan;
    const struct point *points;
    struct ar_row *rows;
    size_t count;
    size_t started;
    size_t finished;
    struct order *orders;
    uint32_t jobs;
    struct signals signals; /* how they were taken before */
    struct worker workers[JOBS_MOST];
};

/* The only state outside a command: set by the handler of the signals that end a sweep. */
static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
}

static int compare_orders(const void *a, const void *b)
{
    const struct order *left = a;
    const struct order *right = b;
    return (left->cost < right->cost) - (left->cost > right->cost);
}

/* Never returns. */
static void work(const struct pool *pool, size_t point, int answer, pid_t parent)
{
    struct ar_row row;
    struct ar_error err = {.status = AR_OK};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1); /* it died before it could be asked to take this process along */
    }
    signals_restore(&pool->signals);
    (void)plan_run(pool->plan, &pool->points[point], &row, &err); /* the row says how it went */
    const char *at = (const char *)&row;
    size_t left = sizeof row;
    while (left > 0) {
        ssize_t written = write(answer, at, left);
        if (written <= 0) {
            _exit(1);
        }
        at += written;
        left -= (size_t)written;
    }
    _exit(0);
}

static enum ar_status start(struct pool *pool, struct worker *worker, struct ar_error *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe(ends) != 0) {
        return ar_error_set(err, AR_NO_MEMORY, "cannot open a pipe: %s", strerror(errno));
    }
    size_t point = pool->orders[pool->started].point;
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        work(pool, point, ends[1], parent);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return ar_error_set(err, AR_NO_MEMORY, "cannot fork a worker: %s", strerror(errno));
    }
    *worker = (struct worker){.process = process, .answer = ends[0], .point = point};
    pool->started++;
    return AR_OK;
}

/* A worker died before its row was whole: the row keeps its parameters and says so. */
static void mark_lost(struct pool *pool, const struct worker *worker, int wait_status)
{
    struct ar_row *row = &pool->rows[worker->point];
    plan_row(pool->plan, &pool->points[worker->point], row);
    snprintf(row->status, sizeof row->status, "the worker process ended with %s %d",
             WIFSIGNALED(wait_status) ? "signal" : "code",
             WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
}

/* Waits for a worker's end and frees its place. */
static int reap(struct worker *worker)
{
    int wait_status = 0;
    close(worker->answer);
    while (waitpid(worker->process, &wait_status, 0) < 0 && errno == EINTR) {
    }
    worker->process = 0;
    return wait_status;
}

static void read_answer(struct pool *pool, struct worker *worker)
{
    char *at = (char *)&pool->rows[worker->point] + worker->got;
    size_t left = sizeof(struct ar_row) - worker->got;
    ssize_t count = left > 0 ? read(worker->answer, at, left) : 0;
    if (count > 0) {
        worker->got += (size_t)count;
    } else if (count == 0 || errno != EINTR) {
        int wait_status = reap(worker);
        if (worker->got != sizeof(struct ar_row)) {
            mark_lost(pool, worker, wait_status);
        }
        pool->finished++;
    }
}

static void wait_for_answers(struct pool *pool)
{
    struct pollfd ends[JOBS_MOST];
    struct worker *busy[JOBS_MOST];
    nfds_t count = 0;
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            busy[count] = &pool->workers[i];
            ends[count++] = (struct pollfd){.fd = pool->workers[i].answer, .events = POLLIN};
        }
    }
    /* The signals that are held back elsewhere come here and nowhere else. */
    if (ppoll(ends, count, NULL, &pool->signals.mask) <= 0) {
        return;
    }
    for (nfds_t i = 0; i < count; i++) {
        if (ends[i].revents != 0) {
            read_answer(pool, busy[i]);
        }
    }
}

static void stop_all(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            kill(pool->workers[i].process, SIGKILL);
            reap(&pool->workers[i]);
        }
    }
}

/* Fills the free places. Where a process cannot be had, those that run go on alone. */
static enum ar_status start_more(struct pool *pool, struct ar_error *err)
{
    for (uint32_t i = 0; i < pool->jobs && pool->started < pool->count; i++) {
        if (pool->workers[i].process != 0) {
            continue;
        }
        enum ar_status status = start(pool, &pool->workers[i], err);
        if (status != AR_OK) {
            return pool->started > pool->finished ? AR_OK : status;
        }
    }
    return AR_OK;
}

static enum ar_status run_all(struct pool *pool, bool shows_progress, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    while (status == AR_OK && pool->finished < pool->count) {
        status = start_more(pool, err);
        if (status == AR_OK) {
            wait_for_answers(pool);
        }
        if (status == AR_OK && is_interrupted) {
            status = ar_error_set(err, AR_INTERRUPTED, "interrupted after %zu of %zu points",
                                  pool->finished, pool->count);
        }
        if (shows_progress) {
            fprintf(stderr, "\r%zu of %zu points ", pool->finished, pool->count);
        }
    }
    if (shows_progress) {
        fputs("\r\033[K", stderr);
    }
    stop_all(pool);
    return status;
}

/* The largest points first, so that no long one is left for the end. */
static struct order *order_points(const struct plan *plan, const struct point *points, size_t count)
{
    struct order *orders = calloc(count, sizeof *orders);
    for (size_t i = 0; orders != NULL && i < count; i++) {
        orders[i] = (struct order){plan_cost(plan, &points[i]), i};
    }
    if (orders != NULL) {
        qsort(orders, count, sizeof *orders, compare_orders);
    }
    return orders;
}

enum ar_status pool_run(const struct plan *plan, const struct point *points, size_t count,
                        uint32_t jobs, bool shows_progress, struct ar_row *rows,
                        struct ar_error *err)
{
    struct pool *pool = calloc(1, sizeof *pool);
    struct order *orders = order_points(plan, points, count);
    if (pool == NULL || orders == NULL) {
        free(pool);
        free(orders);
        return ar_error_no_memory(err, "the workers");
    }
    pool->plan = plan;
    pool->points = points;
    pool->rows = rows;
    pool->count = count;
    pool->orders = orders;
    pool->jobs = jobs < JOBS_MOST ? jobs : JOBS_MOST;
    fflush(NULL);
    signals_hold(interrupt, &pool->signals);
    enum ar_status status = run_all(pool, shows_progress, err);
    signals_restore(&pool->signals);
    free(orders);
    free(pool);
    return status;
}
