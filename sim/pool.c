#include "pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_text.h"

enum { JOBS_MOST = 256 };

struct worker {
    pid_t process; /* 0: free */
    int answer;    /* pipe that the row comes through */
    size_t point;
    size_t got; /* bytes of the row read so far */
};

struct order {
    uint64_t messages;
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
    struct worker workers[JOBS_MOST];
};

/* The only state outside a command: set by the handler of SIGINT and SIGTERM. */
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
    return (left->messages < right->messages) - (left->messages > right->messages);
}

/* Never returns. */
static void work(const struct pool *pool, size_t point, int answer)
{
    struct ar_row row;
    struct ar_error err = {.status = AR_OK};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
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
    if (pipe(ends) != 0) {
        return ar_error_set(err, AR_NO_MEMORY, "cannot open a pipe: %s", strerror(errno));
    }
    size_t point = pool->orders[pool->started].point;
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        work(pool, point, ends[1]);
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
    const struct point *point = &pool->points[worker->point];
    *row = ar_row_empty();
    ar_copy_text(row->cluster, sizeof row->cluster, ar_cluster_facts(pool->plan->cluster)->name);
    ar_copy_text(row->algorithm, sizeof row->algorithm, point->algorithm->name);
    ar_copy_text(row->engine, sizeof row->engine, point->engine->name);
    ar_copy_text(row->version, sizeof row->version, AR_VERSION);
    if (point->payload_bytes == 0) {
        ar_copy_text(row->trace, sizeof row->trace, pool->plan->trace->name);
        row->batch_per_gpu = pool->plan->trace->batch;
        ar_copy_text(row->baseline, sizeof row->baseline, ar_baseline_name(pool->plan->baseline));
    }
    ar_copy_text(row->precision, sizeof row->precision, ar_precision_name(pool->plan->precision));
    row->gpus = ar_shape_ranks(&point->shape);
    ar_shape_format(&point->shape, row->shape);
    snprintf(row->status, sizeof row->status, "the worker process ended with %s %d",
             WIFSIGNALED(wait_status) ? "signal" : "code",
             WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
}

static void finish(struct pool *pool, struct worker *worker)
{
    int wait_status = 0;
    close(worker->answer);
    while (waitpid(worker->process, &wait_status, 0) < 0 && errno == EINTR) {
    }
    if (worker->got != sizeof(struct ar_row)) {
        mark_lost(pool, worker, wait_status);
    }
    worker->process = 0;
    pool->finished++;
}

static void read_answer(struct pool *pool, struct worker *worker)
{
    char *at = (char *)&pool->rows[worker->point] + worker->got;
    size_t left = sizeof(struct ar_row) - worker->got;
    ssize_t count = left > 0 ? read(worker->answer, at, left) : 0;
    if (count > 0) {
        worker->got += (size_t)count;
    } else if (count == 0 || errno != EINTR) {
        finish(pool, worker);
    }
}

static void wait_for_answers(struct pool *pool)
{
    struct pollfd ends[JOBS_MOST];
    for (uint32_t i = 0; i < pool->jobs; i++) {
        bool is_busy = pool->workers[i].process != 0;
        ends[i] = (struct pollfd){.fd = is_busy ? pool->workers[i].answer : -1, .events = POLLIN};
    }
    if (poll(ends, pool->jobs, -1) <= 0) {
        return;
    }
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (ends[i].fd >= 0 && ends[i].revents != 0) {
            read_answer(pool, &pool->workers[i]);
        }
    }
}

static void stop_all(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->jobs; i++) {
        if (pool->workers[i].process != 0) {
            kill(pool->workers[i].process, SIGKILL);
            finish(pool, &pool->workers[i]);
        }
    }
}

static enum ar_status run_all(struct pool *pool, bool shows_progress, struct ar_error *err)
{
    while (pool->finished < pool->count) {
        for (uint32_t i = 0; i < pool->jobs && pool->started < pool->count; i++) {
            if (pool->workers[i].process != 0) {
                continue;
            }
            enum ar_status status = start(pool, &pool->workers[i], err);
            if (status != AR_OK) {
                stop_all(pool);
                return status;
            }
        }
        wait_for_answers(pool);
        if (is_interrupted) {
            stop_all(pool);
            return ar_error_set(err, AR_INTERRUPTED, "interrupted after %zu of %zu points",
                                pool->finished, pool->count);
        }
        if (shows_progress) {
            fprintf(stderr, "\r%zu of %zu points ", pool->finished, pool->count);
        }
    }
    if (shows_progress) {
        fputs("\r\033[K", stderr);
    }
    return AR_OK;
}

enum ar_status pool_run(const struct plan *plan, const struct point *points, size_t count,
                        uint32_t jobs, bool shows_progress, struct ar_row *rows,
                        struct ar_error *err)
{
    struct pool *pool = calloc(1, sizeof *pool);
    struct order *orders = calloc(count, sizeof *orders);
    if (pool == NULL || orders == NULL) {
        free(pool);
        free(orders);
        return ar_error_no_memory(err, "the workers");
    }
    for (size_t i = 0; i < count; i++) {
        bool is_simulated = strcmp(points[i].engine->name, "closed") != 0;
        orders[i] = (struct order){is_simulated ? plan_messages(plan, &points[i]) : 0, i};
    }
    qsort(orders, count, sizeof *orders, compare_orders);
    pool->plan = plan;
    pool->points = points;
    pool->rows = rows;
    pool->count = count;
    pool->orders = orders;
    pool->jobs = jobs < JOBS_MOST ? jobs : JOBS_MOST;

    struct sigaction stop = {.sa_handler = interrupt};
    struct sigaction old_interrupt;
    struct sigaction old_terminate;
    sigaction(SIGINT, &stop, &old_interrupt);
    sigaction(SIGTERM, &stop, &old_terminate);
    fflush(NULL);
    enum ar_status status = run_all(pool, shows_progress, err);
    sigaction(SIGINT, &old_interrupt, NULL);
    sigaction(SIGTERM, &old_terminate, NULL);
    free(orders);
    free(pool);
    return status;
}
