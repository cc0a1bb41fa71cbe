#include "ranks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

/* The variables that say how many ranks there are, which one this is, and how many are here. */
static const struct launcher_variables {
    const char *ranks;
    const char *rank;
    const char *local_ranks;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE"},
};

/* A number at the start of a variable: Slurm says "4(x2)" for four tasks on each of two nodes. */
static bool variable_read(const char *name, uint32_t *count)
{
    const char *text = getenv(name);
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return false;
    }
    *count = (uint32_t)strtoul(text, NULL, 10);
    return true;
}

struct launcher launcher_find(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        struct launcher found = {.ranks = 1};
        if (variable_read(launchers[i].ranks, &found.ranks) &&
            variable_read(launchers[i].rank, &found.rank) && found.ranks > 1) {
            (void)variable_read(launchers[i].local_ranks, &found.local_ranks);
            return found;
        }
    }
    return (struct launcher){.ranks = 1};
}

#ifndef AR_HAS_MPI

enum ar_status ranks_run(struct sweep *sweep, enum ar_status status, struct ar_error *err)
{
    AR_TRY(status);
    return ar_error_set(err, AR_USAGE,
                        "sweep: found %" PRIu32 " ranks of a launcher, but this allreckon was "
                        "built without MPI; expected one process, or a build with MPI",
                        sweep->request->launcher.ranks);
}

#else

#include <mpi.h>
#include <poll.h>
#include <unistd.h>

#include "ar_signals.h"

enum message_tag { TAG_POINTS, TAG_ROW, TAG_LEAVE, TAG_END };

/* A rank as rank 0 knows it. */
struct rank_state {
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
    uint32_t processes; /* on rank 0: workers of all ranks */
    struct ar_pool_server server;
    struct ar_pool_answer *answer; /* the last one */
    struct rank_state *states;     /* on rank 0: of each rank */
    struct ar_signals before;
    struct ar_progress progress;
};

/* --- messages: MPI ends the program if it cannot do what it is asked -------------------------- */

static void mpi_send(int to, enum message_tag tag, const void *bytes, size_t bytes_count)
{
    MPI_Send(bytes, (int)bytes_count, MPI_BYTE, to, (int)tag, MPI_COMM_WORLD);
}

/* Takes a message if one is there; else its tag is negative. */
static int mpi_receive(void *bytes, size_t max, MPI_Status *message)
{
    int is_there;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, message);
    if (!is_there) {
        return -1;
    }
    MPI_Recv(bytes, (int)max, MPI_BYTE, message->MPI_SOURCE, message->MPI_TAG, MPI_COMM_WORLD,
             message);
    return message->MPI_TAG;
}

/* --- whether all are ready -------------------------------------------------------------------- */

/* All must have found the same points, or none runs. */
static enum ar_status ranks_check(const struct ranks *ranks, struct ar_error *err)
{
    const struct rank_state *first = &ranks->states[0];
    for (int i = 0; i < ranks->count; i++) {
        const struct rank_state *state = &ranks->states[i];
        if (state->err.status != AR_OK) {
            *err = state->err;
            return i == 0 ? err->status
                          : ar_error_set(err, state->err.status, "rank %d on %s: %.400s", i,
                                         state->host, state->err.text);
        }
        if (state->fingerprint != first->fingerprint ||
            state->points_count != first->points_count) {
            return ar_error_set(err, AR_BAD_DATA,
                                "rank %d on %s: found another sweep than rank 0 on %s; expected "
                                "the same program, options, cluster and trace",
                                i, state->host, first->host);
        }
    }
    return AR_OK;
}

/* On rank 0: opens the sweep if all ranks are ready. */
static enum ar_status ranks_open(struct ranks *ranks, struct ar_error *err)
{
    struct sweep *sweep = ranks->sweep;
    AR_TRY(ranks_check(ranks, err));
    for (int i = 0; i < ranks->count; i++) {
        ranks->processes += ranks->states[i].jobs;
    }
    AR_TRY(sweep_open(sweep, ranks->processes, err));
    ar_progress_begin(&ranks->progress, &sweep->work, &sweep->queue);
    return AR_OK;
}

/* Tells rank 0 who is ready; it decides for all whether they go on. */
static enum ar_status ranks_agree(struct ranks *ranks, enum ar_status status, struct ar_error *err)
{
    struct sweep *sweep = ranks->sweep;
    struct rank_state self = {.fingerprint = sweep->space->fingerprint,
                              .points_count = sweep->space->points_count,
                              .jobs = sweep->request->jobs};
    if (status != AR_OK) {
        self.err = *err;
    }
    gethostname(self.host, sizeof self.host - 1);
    if (ranks->rank == 0) {
        ranks->states = ar_arena_alloc(&sweep->arena, (size_t)ranks->count, sizeof self);
    }
    MPI_Gather(&self, sizeof self, MPI_BYTE, ranks->states, sizeof self, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    int verdict = ranks->rank == 0 ? (int)ranks_open(ranks, err) : 0;
    MPI_Bcast(&verdict, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return (enum ar_status)verdict;
}

/* --- the workers of this rank ----------------------------------------------------------------- */

static enum ar_status no_workers_report(const struct ranks *ranks, struct ar_error *err)
{
    if (ar_signals_arrived()) {
        return ar_error_set(err, AR_INTERRUPTED, "rank %d was interrupted", ranks->rank);
    }
    return ar_error_set(err, AR_INTERNAL, "the process that runs the workers of rank %d ended",
                        ranks->rank);
}

static enum ar_status own_workers_give(const struct ranks *ranks, const uint32_t *points,
                                       uint32_t count, struct ar_error *err)
{
    return ar_pool_server_give(&ranks->server, points, count) ? AR_OK
                                                              : no_workers_report(ranks, err);
}

/* Rank 0 keeps a row, others send theirs there. */
static enum ar_status row_keep(struct ranks *ranks, int rank, struct ar_error *err)
{
    const struct ar_pool_work *work = &ranks->sweep->work;
    if (ranks->rank != 0) {
        mpi_send(0, TAG_ROW, ranks->answer, sizeof *ranks->answer + ranks->answer->bytes_count);
        return AR_OK;
    }
    ranks->states[rank].outstanding--;
    ar_progress_add(&ranks->progress, ranks->answer->item);
    return work->take(work->context, ranks->answer, err);
}

/* Keeps the rows of the own workers; waits a millisecond for the first one. The signals that are
 * held back elsewhere come here. */
static enum ar_status own_rows_take(struct ranks *ranks, struct ar_error *err)
{
    struct pollfd socket = {.fd = ranks->server.socket, .events = POLLIN};
    struct timespec patience = {.tv_nsec = 1000000};
    while (ppoll(&socket, 1, &patience, &ranks->before.mask) > 0) {
        if (!ar_pool_server_hear(&ranks->server, ranks->answer)) {
            return no_workers_report(ranks, err);
        }
        AR_TRY(row_keep(ranks, ranks->rank, err));
        patience.tv_nsec = 0;
    }
    return AR_OK;
}

/* --- rank 0 ----------------------------------------------------------------------------------- */

/* Gives points to ranks that have fewer than workers. */
static enum ar_status points_give(struct ranks *ranks, struct ar_error *err)
{
    struct ar_pool_queue *queue = &ranks->sweep->queue;
    uint32_t points[AR_POOL_CHUNK_MAX];
    for (int i = 0; i < ranks->count; i++) {
        struct rank_state *state = &ranks->states[i];
        while (queue->next < queue->count && state->outstanding < state->jobs) {
            uint32_t count =
                ar_pool_queue_take(queue, &ranks->sweep->work, ranks->processes, points);
            state->outstanding += count;
            if (i == 0) {
                AR_TRY(own_workers_give(ranks, points, count, err));
            } else {
                mpi_send(i, TAG_POINTS, points, count * sizeof *points);
            }
        }
    }
    return AR_OK;
}

/* Gives points out and keeps rows, its own and those of others, until all are there. */
static enum ar_status rows_gather(struct ranks *ranks, struct ar_error *err)
{
    while (ranks->progress.finished < ranks->progress.count) {
        MPI_Status message;
        AR_TRY(points_give(ranks, err));
        AR_TRY(own_rows_take(ranks, err));
        for (int tag;
             (tag = mpi_receive(ranks->answer, ranks->server.answer_max, &message)) >= 0;) {
            if (tag == TAG_LEAVE) { /* a rank cannot go on */
                memcpy(err, ranks->answer, sizeof *err);
                return err->status;
            }
            AR_TRY(row_keep(ranks, message.MPI_SOURCE, err));
        }
        if (ar_signals_arrived()) {
            return AR_INTERRUPTED;
        }
    }
    return AR_OK;
}

/* Leads the others until all rows are there; then lets them go. */
static enum ar_status ranks_lead(struct ranks *ranks, struct ar_error *err)
{
    enum ar_status status = rows_gather(ranks, err);
    ar_progress_end(&ranks->progress);
    if (status == AR_INTERRUPTED) {
        /* The launcher may end this process before main() could say so. */
        (void)sweep_report_interrupt(ranks->sweep, err);
        fprintf(stderr, "allreckon: %s\n", err->text);
        err->text[0] = '\0';
    }
    for (int i = 1; i < ranks->count; i++) {
        mpi_send(i, TAG_END, NULL, 0);
    }
    return status;
}

/* --- the other ranks -------------------------------------------------------------------------- */

/* Passes points on to its workers and rows to rank 0, until rank 0 lets it go. A rank that cannot
 * go on tells rank 0, and waits for that. */
static void ranks_follow(struct ranks *ranks)
{
    struct ar_error err = {.status = AR_OK};
    enum ar_status status = AR_OK;
    uint32_t points[AR_POOL_CHUNK_MAX];
    MPI_Status message;
    for (int tag; (tag = mpi_receive(points, sizeof points, &message)) != TAG_END;) {
        if (status != AR_OK) {
            poll(NULL, 0, 1);
            continue;
        }
        if (tag == TAG_POINTS) {
            int size;
            MPI_Get_count(&message, MPI_BYTE, &size);
            status = own_workers_give(ranks, points, (uint32_t)size / sizeof points[0], &err);
        } else {
            status = own_rows_take(ranks, &err);
        }
        if (status == AR_OK && ar_signals_arrived()) {
            status = no_workers_report(ranks, &err);
        }
        if (status != AR_OK) {
            mpi_send(0, TAG_LEAVE, &err, sizeof err);
        }
    }
}

/* --- all of them ------------------------------------------------------------------------------ */

static enum ar_status ranks_run_joined(struct ranks *ranks, enum ar_status status,
                                       struct ar_error *err)
{
    enum ar_status verdict = ranks_agree(ranks, status, err);
    if (verdict == AR_OK && ranks->rank != 0) {
        ranks_follow(ranks);
    } else if (verdict == AR_OK) {
        verdict = ranks_lead(ranks, err);
    }
    ar_pool_server_stop(&ranks->server);
    if (ranks->rank != 0) {
        return AR_OK; /* rank 0 says how it went */
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

enum ar_status ranks_run(struct sweep *sweep, enum ar_status status, struct ar_error *err)
{
    struct ranks ranks = {.sweep = sweep};
    uint32_t count = sweep->request->launcher.ranks;
    if (status == AR_OK) { /* the server cannot be forked once MPI runs */
        ranks.answer = ar_pool_answer_create(&sweep->arena, &sweep->work);
        status = ar_pool_server_start(&sweep->work, sweep->request->jobs,
                                      sweep->space->points_count, &ranks.server, err);
    }
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    ar_signals_catch(&ranks.before);
    if ((uint32_t)ranks.count == count) {
        status = ranks_run_joined(&ranks, status, err);
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

#endif
