/* A program that was built with MPI. */
#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pool_server.h"
#include "ranks.h"

enum { TAG_DEAL, TAG_ROW, TAG_LEAVE, TAG_END, ROWS_AT_ONCE = 1000 };

/* Points that are under way to a rank beyond those its workers are at, in seconds per worker: what
 * it does until the next ones come. */
static const double ahead_s = 20e-3;

/* What a rank brings along. */
struct member {
    uint64_t fingerprint;
    uint64_t points_count;
    uint32_t jobs;
    uint32_t outstanding; /* points dealt to it, without a row */
    struct ar_error err;  /* AR_OK: it is ready */
    char host[64];
};

struct ranks {
    struct sweep *sweep;
    int rank;
    int count;
    struct pool_server server;
    struct answers answers; /* of the server */
    struct member *members; /* on rank 0 */
    struct signals before;
    bool is_idle; /* nothing came last time */
};

/* All must have found the same points, or none runs. */
static enum ar_status check_members(const struct ranks *ranks, struct ar_error *err)
{
    const struct member *first = &ranks->members[0];
    for (int i = 0; i < ranks->count; i++) {
        const struct member *member = &ranks->members[i];
        if (member->err.status != AR_OK) {
            *err = member->err;
            return i == 0 ? err->status
                          : ar_error_set(err, member->err.status, "rank %d on %s: %.400s", i,
                                         member->host, member->err.text);
        }
        if (member->fingerprint != first->fingerprint ||
            member->points_count != first->points_count) {
            return ar_error_set(err, AR_BAD_DATA,
                                "rank %d on %s: found another sweep than rank 0 on %s; expected "
                                "the same program, options, cluster and trace",
                                i, member->host, first->host);
        }
    }
    return AR_OK;
}

static enum ar_status open_sweep(struct ranks *ranks, struct ar_error *err)
{
    uint32_t processes = 0;
    enum ar_status status = check_members(ranks, err);
    for (int i = 0; i < ranks->count; i++) {
        processes += ranks->members[i].jobs;
    }
    return status == AR_OK ? sweep_open(ranks->sweep, processes, err) : status;
}

/* Says who is ready; rank 0 decides for all whether it goes on. */
static enum ar_status agree(struct ranks *ranks, enum ar_status status, struct ar_error *err)
{
    const struct sweep *sweep = ranks->sweep;
    struct member self = {.fingerprint = sweep->space.fingerprint,
                          .points_count = sweep->space.points_count,
                          .jobs = sweep->jobs};
    if (status != AR_OK) {
        self.err = *err;
    }
    gethostname(self.host, sizeof self.host - 1);
    if (ranks->rank == 0) {
        ranks->members = calloc((size_t)ranks->count, sizeof *ranks->members);
        if (ranks->members == NULL) {
            MPI_Abort(MPI_COMM_WORLD, ar_status_exit_code(AR_NO_MEMORY));
        }
    }
    MPI_Gather(&self, sizeof self, MPI_BYTE, ranks->members, sizeof self, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    int verdict = ranks->rank == 0 ? (int)open_sweep(ranks, err) : 0;
    MPI_Bcast(&verdict, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return (enum ar_status)verdict;
}

/* How many points a rank can be given now; the next one costs `cost_s`. */
static uint32_t capacity_of(const struct member *member, double cost_s)
{
    double each = cost_s > 0 ? 1 + ahead_s / cost_s : 2 * CHUNK_MAX;
    uint32_t max = member->jobs * (uint32_t)(each < 2 * CHUNK_MAX ? each : 2 * CHUNK_MAX);
    return max > member->outstanding ? max - member->outstanding : 0;
}

static enum ar_status report_no_workers(const struct ranks *ranks, struct ar_error *err)
{
    if (sweep_is_interrupted()) {
        return ar_error_set(err, AR_INTERRUPTED, "rank %d was interrupted", ranks->rank);
    }
    return ar_error_set(err, AR_INTERNAL, "the process that runs the workers of rank %d ended",
                        ranks->rank);
}

/* Gives points to the workers of this rank. */
static enum ar_status give_own(struct ranks *ranks, const struct request *request,
                               struct ar_error *err)
{
    size_t size = (1 + request->count) * sizeof request->points[0];
    return answer_send(ranks->server.end, request, size) ? AR_OK : report_no_workers(ranks, err);
}

static enum ar_status deal(struct ranks *ranks, struct ar_error *err)
{
    struct dealer *dealer = &ranks->sweep->dealer;
    enum ar_status status = AR_OK;
    for (int i = 0; status == AR_OK && i < ranks->count; i++) {
        struct member *member = &ranks->members[i];
        struct request request;
        uint32_t capacity = capacity_of(member, dealer_next_s(dealer));
        if (dealer_deal(dealer, capacity, &request) == 0) {
            continue;
        }
        member->outstanding += request.count;
        if (i == 0) {
            status = give_own(ranks, &request, err);
        } else {
            MPI_Send(request.points, (int)request.count, MPI_UINT32_T, i, TAG_DEAL, MPI_COMM_WORLD);
        }
    }
    return status;
}

/* Waits a little for the workers of this rank, unless there is more to do, and reads what they say.
 * The signals that are held back elsewhere come here. */
static enum ar_status read_own(struct ranks *ranks, struct ar_error *err)
{
    struct pollfd end = {.fd = ranks->server.end, .events = POLLIN};
    struct timespec patience = {.tv_nsec = ranks->is_idle ? 1000000 : 0};
    if (ppoll(&end, 1, &patience, &ranks->before.mask) > 0) {
        ssize_t got = answers_read(&ranks->answers, end.fd);
        ranks->is_idle = false;
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return report_no_workers(ranks, err);
        }
    } else {
        ranks->is_idle = true;
    }
    return AR_OK;
}

static enum ar_status take_own(struct ranks *ranks, struct ar_error *err)
{
    struct answer answer;
    enum ar_status status = read_own(ranks, err);
    while (status == AR_OK && answers_take(&ranks->answers, &answer)) {
        ranks->members[0].outstanding--;
        status = sweep_take(ranks->sweep, &answer, err);
    }
    return status;
}

/* Receives what another rank has sent: a row, or that it cannot go on. */
static enum ar_status receive(struct ranks *ranks, const MPI_Status *sent, struct ar_error *err)
{
    struct answer answer;
    if (sent->MPI_TAG == TAG_LEAVE) {
        MPI_Recv(err, sizeof *err, MPI_BYTE, sent->MPI_SOURCE, TAG_LEAVE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        return err->status == AR_INTERRUPTED ? sweep_report_interrupt(ranks->sweep, err)
                                             : err->status;
    }
    MPI_Recv(&answer, sizeof answer, MPI_BYTE, sent->MPI_SOURCE, TAG_ROW, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    ranks->members[sent->MPI_SOURCE].outstanding--;
    return sweep_take(ranks->sweep, &answer, err);
}

static enum ar_status take_others(struct ranks *ranks, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    int is_there = 1;
    for (int i = 0; status == AR_OK && is_there && i < ROWS_AT_ONCE; i++) {
        MPI_Status sent;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &sent);
        if (is_there) {
            ranks->is_idle = false;
            status = receive(ranks, &sent, err);
        }
    }
    return status;
}

/* Rank 0: deals points out and keeps rows until all are there; then lets the others go. */
static enum ar_status lead(struct ranks *ranks, struct ar_error *err)
{
    const struct dealer *dealer = &ranks->sweep->dealer;
    enum ar_status status = AR_OK;
    while (status == AR_OK && dealer->finished < dealer->count) {
        status = deal(ranks, err);
        if (status == AR_OK) {
            status = take_own(ranks, err);
        }
        if (status == AR_OK) {
            status = take_others(ranks, err);
        }
        if (status == AR_OK && sweep_is_interrupted()) {
            status = sweep_report_interrupt(ranks->sweep, err);
        }
    }
    progress_end(&ranks->sweep->progress);
    if (status == AR_INTERRUPTED) {
        /* The launcher may end this process before main() could say so. */
        fprintf(stderr, "allreckon: %s\n", err->text);
        err->text[0] = '\0';
    }
    for (int i = 1; i < ranks->count; i++) {
        MPI_Send(NULL, 0, MPI_BYTE, i, TAG_END, MPI_COMM_WORLD);
    }
    return status;
}

/* Another rank: takes what rank 0 has sent to its workers; false at the end. */
static bool obey(struct ranks *ranks, enum ar_status *status, struct ar_error *err)
{
    int is_there = 0;
    MPI_Status sent;
    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &sent);
    if (is_there && sent.MPI_TAG == TAG_DEAL) {
        struct request request;
        int count = 0;
        ranks->is_idle = false;
        MPI_Get_count(&sent, MPI_UINT32_T, &count);
        MPI_Recv(request.points, CHUNK_MAX, MPI_UINT32_T, 0, TAG_DEAL, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        request.count = (uint32_t)count;
        *status = *status == AR_OK ? give_own(ranks, &request, err) : *status;
    } else if (is_there) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return false;
    }
    return true;
}

/* Another rank: passes points on to its workers and rows to rank 0, until rank 0 lets it go. One
 * that cannot go on says so and waits for that. */
static void follow(struct ranks *ranks)
{
    struct answer answer;
    struct ar_error err = {.status = AR_OK};
    enum ar_status status = AR_OK;
    bool has_left = false;
    while (obey(ranks, &status, &err)) {
        if (status == AR_OK) {
            status = read_own(ranks, &err);
        } else {
            poll(NULL, 0, 1);
        }
        while (status == AR_OK && answers_take(&ranks->answers, &answer)) {
            MPI_Send(&answer, (int)(ANSWER_HEAD + answer.length), MPI_BYTE, 0, TAG_ROW,
                     MPI_COMM_WORLD);
        }
        if (status == AR_OK && sweep_is_interrupted()) {
            status = report_no_workers(ranks, &err);
        }
        if (status != AR_OK && !has_left) {
            MPI_Send(&err, sizeof err, MPI_BYTE, 0, TAG_LEAVE, MPI_COMM_WORLD);
            has_left = true;
        }
    }
}

/* A launcher that MPI knows nothing of gives every process a world of its own, and each would do
 * the whole sweep. */
static enum ar_status join(struct ranks *ranks, struct ar_error *err)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
    if ((uint32_t)ranks->count == ranks->sweep->launch.ranks) {
        return AR_OK;
    }
    return ar_error_set(err, AR_USAGE,
                        "sweep: found %" PRIu32 " ranks by the launcher and %d by MPI; expected "
                        "the launcher of the MPI it was built with (srun --mpi=pmix, mpirun)",
                        ranks->sweep->launch.ranks, ranks->count);
}

static enum ar_status run_joined(struct ranks *ranks, enum ar_status status, struct ar_error *err)
{
    enum ar_status verdict = agree(ranks, status, err);
    if (verdict == AR_OK && ranks->rank != 0) {
        follow(ranks);
    } else if (verdict == AR_OK) {
        verdict = lead(ranks, err);
    }
    pool_server_stop(&ranks->server);
    if (ranks->rank != 0) {
        return AR_OK; /* rank 0 says what became of it */
    }
    if (verdict == AR_OK) {
        signals_restore(&ranks->before);
        verdict = sweep_finish(ranks->sweep, err);
    }
    if (ranks->sweep->journal.points_count > 0) {
        sweep_close(ranks->sweep, verdict == AR_OK);
    }
    return verdict;
}

enum ar_status ranks_run(struct sweep *sweep, enum ar_status status, struct ar_error *err)
{
    struct ranks ranks = {.sweep = sweep};
    struct ar_error unjoined;
    if (status == AR_OK) {
        status = answers_create(&ranks.answers, err);
    }
    if (status == AR_OK) {
        status = pool_server_start(&sweep->space, sweep->jobs, &ranks.server, err);
    }
    enum ar_status joined = join(&ranks, &unjoined);
    signals_hold(sweep_interrupt, &ranks.before);
    if (joined == AR_OK) {
        status = run_joined(&ranks, status, err);
    } else {
        pool_server_stop(&ranks.server);
        *err = status == AR_OK ? unjoined : *err;
        status = status == AR_OK ? joined : status;
    }
    MPI_Finalize();
    answers_destroy(&ranks.answers);
    free(ranks.members);
    return status;
}
