/* Predictions in parallel processes, since engines may fork and libraries may abort.
 *
 * The outcomes lie in memory that all processes share, and so does the number of the next
 * prediction. A pool of pool.h is of points of a sweep, which share files; here every prediction
 * has its own. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool.h"
#include "reproduce.h"

struct shared {
    atomic_uint next;
    struct outcome outcomes[];
};

static void work(const struct reproduction *reproduction, const struct evaluation *evaluations,
                 uint32_t count, struct shared *shared)
{
    for (uint32_t i = atomic_fetch_add(&shared->next, 1); i < count;
         i = atomic_fetch_add(&shared->next, 1)) {
        reproduce_evaluate(reproduction, &evaluations[i], &shared->outcomes[i]);
    }
}

/* Forks workers; returns how many there are. If the system gives none this process does it. */
static uint32_t start(const struct reproduction *reproduction, const struct evaluation *evaluations,
                      uint32_t count, struct shared *shared, pid_t *workers)
{
    uint32_t jobs = reproduction->jobs < count ? reproduction->jobs : count;
    uint32_t started = 0;
    pid_t parent = getpid();
    fflush(NULL); /* nothing is to be printed twice */
    while (jobs > 1 && started < jobs) {
        workers[started] = fork();
        if (workers[started] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent) {
                work(reproduction, evaluations, count, shared);
            }
            _exit(0);
        }
        if (workers[started] < 0) {
            break;
        }
        started++;
    }
    return started;
}

enum ar_status reproduce_evaluate_all(const struct reproduction *reproduction,
                                      const struct evaluation *evaluations, uint32_t count,
                                      struct outcome *outcomes, struct ar_error *err)
{
    pid_t workers[JOBS_MAX];
    enum ar_status status = AR_OK;
    size_t size = sizeof(struct shared) + count * sizeof(struct outcome);
    struct shared *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return ar_error_no_memory(err, "the predictions");
    }
    uint32_t started = start(reproduction, evaluations, count, shared, workers);
    if (started == 0) {
        work(reproduction, evaluations, count, shared);
    }
    for (uint32_t i = 0; i < started; i++) {
        while (waitpid(workers[i], NULL, 0) < 0 && errno == EINTR) {
        }
    }
    memcpy(outcomes, shared->outcomes, count * sizeof *outcomes);
    munmap(shared, size);
    for (uint32_t i = 0; status == AR_OK && i < count; i++) {
        if (!outcomes[i].is_done) {
            char where[PUBLISHED_WHERE];
            status =
                ar_error_set(err, AR_INTERNAL, "%s: the process that predicted it died",
                             published_where(&reproduction->rows.rows[evaluations[i].row], where));
        }
    }
    return status;
}
