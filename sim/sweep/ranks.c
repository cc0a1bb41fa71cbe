#include <inttypes.h>
#include <mpi.h>
#include <poll.h>
#include <unistd.h>

#include "ar_progress.h"
#include "ar_signals.h"
#include "sweep.h"

enum { TAG_POINTS, TAG_ROW, TAG_LEAVE, TAG_END, ROWS_AT_ONCE = 1000 };

/* Points that are under way to a rank beyond those its workers are at, in seconds per worker: what
 * it does until the next ones come. */
static const double ahead_s = 20e-3;

/* What a rank brings along. */
struct member {
    uint64_t fingerprint;
    uint64_t points_count;
    uint32_t jobs;
    uint32_t outstanding; /* points given to it, without a row */
    struct ar_error err;  /* AR_OK: it is ready */
    char host[64];
};

struct ranks {
    struct sweep *sweep;
    int rank;
    int count;
    struct ar_pool_server server;
    struct ar_pool_answer *answer; /* the last one */
    struct member *members;        /* on rank 0 */
    struct ar_signals before;
    struct ar_progress progress;
    bool is_idle; /* nothing came last time */
};

/* --- messages: MPI ends the program if it cannot do what it is asked -------------------------- */

static void send(int to, int tag, const void *bytes, size_t bytes_count)
{
    MPI_Send(bytes, (int)bytes_count, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

/* Whether a message is there; receive() takes it. */
static bool probe(MPI_Status *message)
{
    int is_there;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, message);
    return is_there;
}

/* Returns its length. */
static uint32_t receive(const MPI_Status *message, void *bytes)
{
    int count;
    MPI_Get_count(message, MPI_BYTE, &count);
    MPI_Recv(bytes, count, MPI_BYTE, message->MPI_SOURCE, message->MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return (uint32_t)count;
}

/* --- whether all are ready -------------------------------------------------------------------- */

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
    AR_TRY(check_members(ranks, err));
    for (int i = 0; i < ranks->count; i++) {
        processes += ranks->members[i].jobs;
    }
    struct sweep *sweep = ranks->sweep;
    AR_TRY(sweep_open(sweep, processes, err));
    ranks->progress = (struct ar_progress){.items_name = sweep->work.items_name,
                                           .is_shown = sweep->work.shows_progress,
                                           .count = sweep->queue.count,
                                           .cost_s = sweep->cost_s,
                                           .processes = processes};
    ar_progress_begin(&ranks->progress);
    return AR_OK;
}

/* Says who is ready; rank 0 decides for all whether it goes on. */
static enum ar_status agree(struct ranks *ranks, enum ar_status status, struct ar_error *err)
{
    struct sweep *sweep = ranks->sweep;
    struct member self = {.fingerprint = sweep->space->fingerprint,
                          .points_count = sweep->space->points_count,
                          .jobs = sweep->request->jobs};
    if (status != AR_OK) {
        self.err = *err;
    }
    gethostname(self.host, sizeof self.host - 1);
    if (ranks->rank == 0) {
        ranks->members = ar_arena_alloc(&sweep->arena, (size_t)ranks->count, sizeof self);
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

/* --- the workers of this rank ------------------------------------------------------------------
 */

static enum ar_status report_no_workers(const struct ranks *ranks, struct ar_error *err)
{
    if (ar_signals_arrived()) {
        return ar_error_set(err, AR_INTERRUPTED, "rank %d was interrupted", ranks->rank);
    }
    return ar_error_set(err, AR_INTERNAL, "the process that runs the workers of rank %d ended",
                        ranks->rank);
}

static enum ar_status give_own(const struct ranks *ranks, const uint32_t *points, uint32_t count,
                               struct ar_error *err)
{
    return ar_pool_server_give(&ranks->server, points, count) ? AR_OK
                                                              : report_no_workers(ranks, err);
}

/* Whether they answer within so long. The signals that are held back elsewhere come here. */
static bool has_own(const struct ranks *ranks, long patience_ns)
{
    struct pollfd end = {.fd = ranks->server.socket, .events = POLLIN};
    struct timespec patience = {.tv_nsec = patience_ns};
    return ppoll(&end, 1, &patience, &ranks->before.mask) > 0;
}

/* Rank 0 keeps a row, others send theirs there. */
static enum ar_status keep(struct ranks *ranks, int rank, struct ar_error *err)
{
    const struct ar_pool_work *work = &ranks->sweep->work;
    if (ranks->rank != 0) {
        send(0, TAG_ROW, ranks->answer, sizeof *ranks->answer + ranks->answer->bytes_count);
        return AR_OK;
    }
    ranks->members[rank].outstanding--;
    ar_progress_add(&ranks->progress, work->cost_s(work->context, ranks->answer->item));
    return work->take(work->context, ranks->answer, err);
}

/* Waits a little for an answer, unless there is more to do, and hands on what came. */
static enum ar_status take_own(struct ranks *ranks, struct ar_error *err)
{
    bool is_there = has_own(ranks, ranks->is_idle ? 1000000 : 0);
    ranks->is_idle = !is_there;
    for (int i = 0; is_there && i < ROWS_AT_ONCE; i++) {
        if (!ar_pool_server_hear(&ranks->server, ranks->answer)) {
            return report_no_workers(ranks, err);
        }
        AR_TRY(keep(ranks, ranks->rank, err));
        is_there = has_own(ranks, 0);
    }
    return AR_OK;
}

/* --- rank 0 ------------------------------------------------------------------------------------
 */

/* How many points a rank can be given now; the next one costs `cost_s`. */
static uint32_t capacity_of(const struct member *member, double cost_s)
{
    double each = cost_s > 0 ? 1 + ahead_s / cost_s : 2 * AR_POOL_CHUNK_MAX;
    each = each < 2 * AR_POOL_CHUNK_MAX ? each : 2 * AR_POOL_CHUNK_MAX;
    uint32_t max = member->jobs * (uint32_t)each;
    uint32_t capacity = max > member->outstanding ? max - member->outstanding : 0;
    return capacity < AR_POOL_CHUNK_MAX ? capacity : AR_POOL_CHUNK_MAX;
}

static enum ar_status give_points(struct ranks *ranks, struct ar_error *err)
{
    struct ar_pool_queue *queue = &ranks->sweep->queue;
    for (int i = 0; i < ranks->count; i++) {
        struct member *member = &ranks->members[i];
        const uint32_t *points = queue->items + queue->next;
        size_t left = queue->count - queue->next;
        uint32_t count = capacity_of(member, ar_pool_queue_next_s(queue, &ranks->sweep->work));
        count = count < left ? count : (uint32_t)left;
        queue->next += count;
        member->outstanding += count;
        if (count > 0 && i == 0) {
            AR_TRY(give_own(ranks, points, count, err));
        } else if (count > 0) {
            send(i, TAG_POINTS, points, count * sizeof *points);
        }
    }
    return AR_OK;
}

/* Takes what the other ranks have sent: rows, or that one cannot go on. */
static enum ar_status take_others(struct ranks *ranks, struct ar_error *err)
{
    MPI_Status message;
    for (int i = 0; i < ROWS_AT_ONCE && probe(&message); i++) {
        ranks->is_idle = false;
        if (message.MPI_TAG == TAG_LEAVE) {
            receive(&message, err);
            return err->status;
        }
        receive(&message, ranks->answer);
        AR_TRY(keep(ranks, message.MPI_SOURCE, err));
    }
    return AR_OK;
}

static enum ar_status gather_rows(struct ranks *ranks, struct ar_error *err)
{
    while (ranks->progress.finished < ranks->progress.count) {
        AR_TRY(give_points(ranks, err));
        AR_TRY(take_own(ranks, err));
        AR_TRY(take_others(ranks, err));
        if (ar_signals_arrived()) {
            return AR_INTERRUPTED;
        }
    }
    return AR_OK;
}

/* Gives points out and keeps rows until all are there; then lets the others go. */
static enum ar_status lead(struct ranks *ranks, struct ar_error *err)
{
    enum ar_status status = gather_rows(ranks, err);
    ar_progress_end(&ranks->progress);
    if (status == AR_INTERRUPTED) {
        /* The launcher may end this process before main() could say so. */
        (void)sweep_report_interrupt(ranks->sweep, err);
        fprintf(stderr, "allreckon: %s\n", err->text);
        err->text[0] = '\0';
    }
    for (int i = 1; i < ranks->count; i++) {
        send(i, TAG_END, NULL, 0);
    }
    return status;
}

/* --- the other ranks ---------------------------------------------------------------------------
 */

/* Takes what rank 0 has sent to its workers, which may be gone; false at the end. */
static bool obey(struct ranks *ranks, enum ar_status *status, struct ar_error *err)
{
    uint32_t points[AR_POOL_CHUNK_MAX];
    MPI_Status message;
    if (!probe(&message)) {
        return true;
    }
    ranks->is_idle = false;
    uint32_t count = receive(&message, points) / sizeof points[0];
    if (message.MPI_TAG == TAG_POINTS && *status == AR_OK) {
        *status = give_own(ranks, points, count, err);
    }
    return message.MPI_TAG != TAG_END;
}

/* Passes points on to its workers and rows to rank 0, until rank 0 lets it go. One that cannot go
 * on says so and waits for that. */
static void follow(struct ranks *ranks)
{
    struct ar_error err = {.status = AR_OK};
    enum ar_status status = AR_OK;
    bool has_left = false;
    while (obey(ranks, &status, &err)) {
        if (has_left) {
            poll(NULL, 0, 1);
            continue;
        }
        status = status == AR_OK ? take_own(ranks, &err) : status;
        if (status == AR_OK && ar_signals_arrived()) {
            status = report_no_workers(ranks, &err);
        }
        if (status != AR_OK) {
            send(0, TAG_LEAVE, &err, sizeof err);
            has_left = true;
        }
    }
}

/* --- all ----------------------------------------------------------------------------------------
 */

static enum ar_status run_joined(struct ranks *ranks, enum ar_status status, struct ar_error *err)
{
    enum ar_status verdict = agree(ranks, status, err);
    if (verdict == AR_OK && ranks->rank != 0) {
        follow(ranks);
    } else if (verdict == AR_OK) {
        verdict = lead(ranks, err);
    }
    ar_pool_server_stop(&ranks->server);
    if (ranks->rank != 0) {
        return AR_OK; /* rank 0 says what became of it */
    }
    if (verdict == AR_OK) {
        ar_signals_restore(&ranks->before);
        verdict = sweep_finish(ranks->sweep, err);
    }
    if (ranks->sweep->journal.points_count > 0) {
        sweep_close(ranks->sweep, verdict == AR_OK);
    }
    return verdict;
}

/* Forks what cannot be forked once MPI runs. */
static enum ar_status prepare(struct ranks *ranks, struct ar_error *err)
{
    struct sweep *sweep = ranks->sweep;
    ranks->answer = ar_pool_answer_create(&sweep->arena, &sweep->work);
    return ar_pool_server_start(&sweep->work, sweep->request->jobs, sweep->space->points_count,
                                &ranks->server, err);
}

enum ar_status ranks_run(struct sweep *sweep, enum ar_status status, struct ar_error *err)
{
    struct ranks ranks = {.sweep = sweep};
    uint32_t count = sweep->request->launcher.ranks;
    if (status == AR_OK) {
        status = prepare(&ranks, err);
    }
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    ar_signals_catch(&ranks.before);
    if ((uint32_t)ranks.count == count) {
        status = run_joined(&ranks, status, err);
    } else {
        /* A launcher that MPI knows nothing of gives every process a world of its own, and each
         * would do the whole sweep. */
        ar_pool_server_stop(&ranks.server);
        status = status != AR_OK
                     ? status
                     : ar_error_set(err, AR_USAGE,
                                    "sweep: found %" PRIu32 " ranks by the launcher and %d by MPI; "
                                    "expected the launcher of the MPI it was built with (srun "
                                    "--mpi=pmix, mpirun)",
                                    count, ranks.count);
    }
    MPI_Finalize();
    ar_arena_end(&sweep->arena);
    return status;
}
