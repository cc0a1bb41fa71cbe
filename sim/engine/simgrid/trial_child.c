/* Child side of a trial, a replay of its stream of collectives and of the computations before them.
 *
 * Each rank computes layer by layer: each layer is an execution on the host of its GPU, longer on a
 * rank with a factor. When the last layer of a call is done, the actors of the rank's channels may
 * start it; calls that are negotiated, when that is so on all ranks. */
#include <math.h>

#include <simgrid/engine.h>

#include "collective_run.h"

/* The computations of a rank. */
struct gpu {
    struct trial_run *run;
    uint32_t rank;
    sg_sem_t wake;     /* channels that wait for a call to become due; see wake_channels() */
    uint32_t sleepers; /* how many channels wait */
};

struct trial_run {
    struct collective_run collective; /* the first member: actors point to it */
    sg_bar_t all_know;                /* passed when the receiver of each mailbox is declared */
    struct gpu *gpus;                 /* [rank] */
    double *due_s;       /* [call][rank]: when it may start there; HUGE_VAL: not known yet */
    uint32_t *computing; /* [call]: ranks that have not ended the computations before it */
};

static double *find_due(const struct trial_run *run, uint32_t call, uint32_t rank)
{
    return &run->due_s[(size_t)call * ar_collective_ranks(run->collective.collective) + rank];
}

/* Wakes all channels that sleep at this moment. A channel whose call is not due sleeps again, at
 * the end of the queue, and is not woken twice by one call of this function. */
static void wake_channels(struct gpu *gpu)
{
    uint32_t count = gpu->sleepers;
    gpu->sleepers = 0;
    for (; count > 0; count--) {
        sg_sem_release(gpu->wake);
    }
}

/* A rank has ended the computations before a call: the call is due there or, where calls are
 * negotiated, on all ranks when this was the last one. */
static void end_computations(struct gpu *gpu, uint32_t call)
{
    struct trial_run *run = gpu->run;
    const struct ar_trial *trial = run->collective.trial;
    uint32_t ranks = ar_collective_ranks(&trial->collective);
    double due_s = simgrid_get_clock() + trial->calls[call].wait_s;
    run->computing[call]--;
    if (trial->agreed_s == NULL) {
        *find_due(run, call, gpu->rank) = due_s;
        wake_channels(gpu);
    } else if (run->computing[call] == 0) {
        for (uint32_t rank = 0; rank < ranks; rank++) {
            *find_due(run, call, rank) = due_s;
            wake_channels(&run->gpus[rank]);
        }
    }
}

/* Computes until a time of the trial's computations. */
static void compute_until(uint32_t rank, double time_s, double factor, double *done_s)
{
    if (time_s > *done_s) {
        child_compute(rank, factor * (time_s - *done_s));
        *done_s = time_s;
    }
}

static void gpu_run(void *data)
{
    struct gpu *gpu = data;
    const struct ar_trial *trial = gpu->run->collective.trial;
    double factor = trial->rank_factor != NULL ? trial->rank_factor[gpu->rank] : 1;
    double done_s = 0;
    uint32_t part = 0;
    child_sleep_for(trial->rank_start_s != NULL ? trial->rank_start_s[gpu->rank] : 0);
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        const struct ar_call *call = &trial->calls[i];
        for (; part + 1 < call->parts; part++) {
            compute_until(gpu->rank, trial->parts_end_s[part], factor, &done_s);
        }
        part = call->parts > part ? call->parts : part;
        compute_until(gpu->rank, call->ready_s, factor, &done_s);
        end_computations(gpu, i);
    }
}

/* Waits until a call may start on the rank of an actor. */
static void await_due(const struct actor *actor, uint32_t call)
{
    const struct trial_run *run = (const struct trial_run *)actor->run;
    const double *due_s = find_due(run, call, actor->rank);
    struct gpu *gpu = &run->gpus[actor->rank];
    while (*due_s == HUGE_VAL) {
        gpu->sleepers++;
        sg_sem_acquire(gpu->wake);
    }
    child_sleep_until(*due_s);
}

static void actor_run(void *data)
{
    struct actor *actor = data;
    struct ar_trial *trial = actor->run->trial;
    actor_declare_receiver(actor);
    sg_barrier_wait(((struct trial_run *)actor->run)->all_know);
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        const struct ar_call *call = &trial->calls[i];
        struct ar_call_time *time = &trial->times[i];
        await_due(actor, i);
        time->start_s = fmin(time->start_s, simgrid_get_clock());
        actor_mark(actor, i, AR_MARK_START);
        actor_run_call(actor, i, call->elements, call->copy_s);
        time->finish_s = fmax(time->finish_s, simgrid_get_clock());
    }
    if (trial->rank_finish_s != NULL) {
        trial->rank_finish_s[actor->rank] = simgrid_get_clock();
    }
}

/* Starts the computations of all ranks. Without any, calls are due at times that are known. */
static void start_gpus(struct trial_run *run)
{
    const struct ar_trial *trial = run->collective.trial;
    uint32_t ranks = ar_collective_ranks(&trial->collective);
    bool has_computations = trial->calls[trial->calls_count - 1].ready_s > 0;
    run->gpus = child_alloc(ranks, sizeof *run->gpus, "its ranks");
    run->due_s =
        child_alloc((size_t)trial->calls_count * ranks, sizeof *run->due_s, "its computations");
    run->computing = child_alloc(trial->calls_count, sizeof *run->computing, "its computations");
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        run->computing[i] = ranks;
        for (uint32_t rank = 0; rank < ranks; rank++) {
            *find_due(run, i, rank) = has_computations ? HUGE_VAL : ar_trial_ready(trial, i, rank);
        }
    }
    for (uint32_t rank = 0; rank < ranks && has_computations; rank++) {
        run->gpus[rank] = (struct gpu){.run = run, .rank = rank, .wake = sg_sem_init(0)};
        child_start_actor("gpu", rank, gpu_run, &run->gpus[rank]);
    }
}

static void trial_start(void *data)
{
    struct ar_trial *trial = data;
    struct trial_run *run = child_alloc(1, sizeof *run, "its ranks");
    struct collective_run *collective = &run->collective;
    *collective = (struct collective_run){.collective = &trial->collective, .trial = trial};
    for (uint32_t i = 0; i < trial->calls_count; i++) {
        trial->times[i] = (struct ar_call_time){.start_s = HUGE_VAL, .finish_s = 0};
    }
    collective_run_create(collective);
    size_t count = (size_t)ar_collective_lanes(collective->collective) * collective->positions;
    run->all_know = sg_barrier_init((unsigned)count);
    for (size_t i = 0; i < count; i++) {
        child_start_actor("rank", collective->actors[i].rank, actor_run, &collective->actors[i]);
    }
    start_gpus(run);
}

const struct child_kind child_trial = {.start = trial_start};
