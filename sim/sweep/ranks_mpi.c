/* All that calls MPI, a module: its seven libraries take longer to load than most commands. */
#include <inttypes.h>
#include <mpi.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"
#include "sweep.h"

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
    int rank, count;
    uint32_t processes;         /* on rank 0: workers of all ranks */
    struct ar_pool_work work;   /* the sweep's, whose answers rank 0 keeps */
    struct ar_pool_queue queue; /* points of this rank */
    struct ar_pool *pool;
    struct rank_state *states; /* on rank 0: of each rank */
    struct ar_progress progress;
};

/* --- messages: MPI ends the program if it cannot do what it is asked -------------------------- */

static void mpi_send(int to, enum message_tag tag, const void *bytes, size_t bytes_count)
{
    MPI_Send(bytes, (int)bytes_count, MPI_BYTE, to, (int)tag, MPI_COMM_WORLD);
}

/* Takes a message if one is there; else its tag is negative. */
static int mpi_poll(void *bytes, size_t max, MPI_Status *message)
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

/* On rank 0: opens the sweep if all ranks are ready. */
static enum ar_status ranks_open(struct ranks *ranks, struct ar_error *err)
{
    struct sweep *sweep = ranks->sweep;
    /* All must have found the same points, or none runs. */
    const struct rank_state *first = &ranks->states[0];
    for (int i = 0; i < ranks->count; i++) {
        const struct rank_state *state = &ranks->states[i];
        if (state->err.status != AR_OK) {
            *err = state->err;
            return i == 0 ? err->status
                          : ar_error_set(err, state->err.status, "rank %d on %s: %.400s", i,
                                         state->host, state->err.text);
        }
        AR_REFUSE(state->fingerprint != first->fingerprint ||
                      state->points_count != first->points_count,
                  err, AR_BAD_DATA,
                  "rank %d on %s: found another sweep than rank 0 on %s; expected the same "
                  "program, options, cluster and trace",
                  i, state->host, first->host);
    }
    for (int i = 0; i < ranks->count; i++) {
        ranks->processes += ranks->states[i].jobs;
    }
    AR_TRY(sweep_open(sweep, ranks->processes, err));
    ar_progress_begin(&ranks->progress, &sweep->work, &sweep->queue);
    return AR_OK;
}

/* --- the workers of this rank ----------------------------------------------------------------- */

/* Rank 0 keeps a row that a rank has. */
static enum ar_status row_keep(struct ranks *ranks, int rank, const struct ar_pool_answer *answer,
                               struct ar_error *err)
{
    ranks->states[rank].outstanding--;
    ar_progress_add(&ranks->progress, answer->item);
    return ranks->sweep->work.take(ranks->sweep, answer, err);
}

static enum ar_status rank_take(void *context, const struct ar_pool_answer *answer,
                                struct ar_error *err)
{
    struct ranks *ranks = ((struct sweep *)context)->ranks;
    if (ranks->rank == 0) {
        return row_keep(ranks, 0, answer, err);
    }
    mpi_send(0, TAG_ROW, answer, sizeof *answer + answer->bytes_count);
    return AR_OK;
}

static void points_take(struct ranks *ranks, const uint32_t *points, uint32_t count)
{
    memcpy(ranks->queue.items + ranks->queue.count, points, count * sizeof *points);
    ranks->queue.count += count;
}

/* --- rank 0 ----------------------------------------------------------------------------------- */

/* Gives points to ranks that have fewer than workers. */
static void points_give(struct ranks *ranks)
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
                points_take(ranks, points, count);
            } else {
                mpi_send(i, TAG_POINTS, points, count * sizeof *points);
            }
        }
    }
}

/* Gives points out and keeps rows, its own and those of others, until all are there. */
static enum ar_status rows_gather(struct ranks *ranks, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    size_t max = sizeof(struct ar_pool_answer) + ranks->work.bytes_max + AR_POOL_REASON_MAX;
    struct ar_pool_answer *answer = ar_arena_alloc(&arena, 1, max);
    while (ranks->progress.finished < ranks->progress.count) {
        MPI_Status message;
        points_give(ranks);
        AR_TRY(ar_pool_go_on(ranks->pool, err));
        for (int tag; (tag = mpi_poll(answer, max, &message)) >= 0;) {
            if (tag == TAG_LEAVE) { /* a rank cannot go on */
                memcpy(err, answer, sizeof *err);
                return err->status;
            }
            AR_TRY(row_keep(ranks, message.MPI_SOURCE, answer, err));
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
    for (int tag; (tag = mpi_poll(points, sizeof points, &message)) != TAG_END;) {
        if (status != AR_OK) {
            poll(NULL, 0, 1);
            continue;
        }
        if (tag == TAG_POINTS) {
            int size;
            MPI_Get_count(&message, MPI_BYTE, &size);
            points_take(ranks, points, (uint32_t)size / sizeof points[0]);
        }
        status = ar_pool_go_on(ranks->pool, &err);
        if (status == AR_INTERRUPTED) {
            (void)ar_error_set(&err, status, "rank %d was interrupted", ranks->rank);
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
    /* Tells rank 0 who is ready; it decides for all whether they go on. */
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
    int decision = ranks->rank == 0 ? (int)ranks_open(ranks, err) : 0;
    MPI_Bcast(&decision, 1, MPI_INT, 0, MPI_COMM_WORLD);
    enum ar_status verdict = (enum ar_status)decision;
    if (verdict == AR_OK && ranks->rank != 0) {
        ranks_follow(ranks);
    } else if (verdict == AR_OK) {
        verdict = ranks_lead(ranks, err);
    }
    if (ranks->pool != NULL) {
        ar_pool_end(ranks->pool);
        ranks->pool = NULL;
    }
    if (ranks->rank != 0) {
        return AR_OK; /* rank 0 says how it went */
    }
    if (verdict == AR_OK) {
        verdict = sweep_finish(ranks->sweep, err);
    }
    if (ranks->sweep->journal.points_count > 0) {
        sweep_close(ranks->sweep, verdict == AR_OK);
    }
    return verdict;
}

static enum ar_status ranks_run_all(struct sweep *sweep, enum ar_status status,
                                    struct ar_error *err)
{
    struct ranks ranks = {.sweep = sweep};
    sweep->ranks = &ranks;
    uint32_t count = sweep->request->launcher.ranks;
    if (status == AR_OK) { /* before MPI runs: fork() and registered memory do not go together */
        ranks.work = sweep->work;
        ranks.work.take = rank_take;
        ranks.work.shows_progress = false;
        ranks.queue.items =
            ar_arena_alloc(&sweep->arena, sweep->space->points_count, sizeof *ranks.queue.items);
        status = ar_pool_begin(&sweep->arena, &ranks.work, sweep->request->jobs, &ranks.queue,
                               &ranks.pool, err);
    }
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    if ((uint32_t)ranks.count == count) {
        status = ranks_run_joined(&ranks, status, err);
    } else {
        /* A launcher that MPI knows nothing of gives every process a world of its own, and each
         * would do the whole sweep. */
        if (ranks.pool != NULL) {
            ar_pool_end(ranks.pool);
        }
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

enum ar_status (*const ar_ranks_runner)(struct sweep *, enum ar_status,
                                        struct ar_error *) = ranks_run_all;
