/* A step of a profile as that of one rank of a mesh: kernels between two calls of torch.distributed
 * are one computation, calls are collectives whose times are not known. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profile.h"

#define NO_TASK UINT32_MAX

struct rank_step {
    struct ar_recorded *made;
    enum ar_precision precision; /* where a call does not say its type */
    double time_s;               /* of the computation that is gathered */
    uint32_t computed;           /* last task that is not beside the computations */
    uint32_t before_gather;      /* the same before the last all-gather of parameters */
    uint32_t gathered, beside;   /* collectives that the next computation, and the update, needs */
    uint32_t sizes[8];           /* [groups]: ranks, where shapes say it */
};

static uint32_t add_rank_task(struct rank_step *rank, const struct ar_recorded_task *task,
                              uint32_t need)
{
    uint32_t added = ar_recorded_add(rank->made, task);
    if (need != NO_TASK) {
        ar_recorded_need(rank->made, need);
    }
    return added;
}

/* Adds the computation that is gathered, if there is one. */
static void end_computation(struct rank_step *rank, bool is_update)
{
    if (rank->time_s > 0) {
        rank->computed =
            add_rank_task(rank, &(struct ar_recorded_task){.time_s = rank->time_s},
                          is_update && rank->beside != NO_TASK ? rank->beside : rank->gathered);
        rank->gathered = NO_TASK;
        rank->time_s = 0;
    }
}

static enum ar_status add_call(struct rank_step *rank, const struct kineto_op *call,
                               struct ar_error *err)
{
    bool is_early = call->is_flat && strcmp(call->operation, "allgather") == 0;
    enum ar_precision precision = rank->precision;
    unsigned groups = strcmp(call->operation, "alltoall") == 0 ? AR_RECORDED_EP
                      : call->is_flat                          ? AR_RECORDED_DP | AR_RECORDED_EP
                                                               : AR_RECORDED_TP;
    uint32_t *size = &rank->sizes[groups], seen = *size;
    *size = call->ranks > 0 ? call->ranks : seen;
    AR_REFUSE(call->elements == 0, err, AR_BAD_DATA,
              "%.300s: found %s without its size; expected a profile with record_shapes=True",
              rank->made->path, call->operation);
    AR_REFUSE(seen > 0 && seen != *size, err, AR_BAD_DATA,
              "%.300s: found %s by %" PRIu32 " ranks; expected %" PRIu32 ", as before",
              rank->made->path, call->operation, *size, seen);
    kineto_find_type(call->type, &precision);
    end_computation(rank, false);
    uint32_t added = add_rank_task(
        rank,
        &(struct ar_recorded_task){.operation = call->operation,
                                   .bytes = ar_precision_fill(precision, call->elements),
                                   .groups = groups,
                                   .is_beside = call->is_flat},
        is_early        ? rank->before_gather
        : call->is_flat ? rank->computed
                        : rank->gathered);
    rank->before_gather = is_early ? rank->computed : rank->before_gather;
    rank->gathered = is_early ? added : call->is_flat ? rank->gathered : NO_TASK;
    rank->beside = call->is_flat ? added : rank->beside;
    rank->computed = call->is_flat ? rank->computed : added;
    return AR_OK;
}

enum ar_status kineto_make_recorded(const struct ar_kineto *kineto, const struct kineto_step *step,
                                    enum ar_precision precision, struct ar_arena *arena,
                                    struct ar_recorded **recorded, struct ar_error *err)
{
    struct ar_recorded *made = *recorded = ar_arena_alloc(arena, 1, sizeof *made);
    struct rank_step rank = {.made = made,
                             .precision = precision,
                             .computed = NO_TASK,
                             .before_gather = NO_TASK,
                             .gathered = NO_TASK,
                             .beside = NO_TASK};
    size_t calls_count, call = 0;
    const uint32_t *calls = kineto_list_ops(kineto, 1u << KINETO_CALL, arena, &calls_count);
    bool was_update = false;
    made->path = ar_arena_text(arena, kineto->path);
    made->form = "PyTorch's profiler, the last step,";
    size_t room = kineto->kernels_count + 2 * calls_count + 2;
    made->tasks = ar_arena_alloc(arena, room, sizeof *made->tasks);
    made->needs = ar_arena_alloc(arena, room, sizeof *made->needs);
    for (size_t i = 0; i <= kineto->kernels_count; i++) { /* behind the last one: more calls */
        const struct kineto_kernel *kernel = i < kineto->kernels_count ? &kineto->kernels[i] : NULL;
        double until_s = kernel != NULL ? kernel->launched_s : INFINITY;
        if (kernel != NULL &&
            (kernel->is_collective || !(until_s >= step->start_s) || until_s > step->end_s)) {
            continue;
        }
        for (; call < calls_count && kineto->ops[calls[call]].start_s <= fmin(until_s, step->end_s);
             call++) {
            if (kineto->ops[calls[call]].start_s >= step->start_s) {
                AR_TRY(add_call(&rank, &kineto->ops[calls[call]], err));
            }
        }
        bool is_update =
            kernel == NULL ||
            kineto_find_around(kineto, kernel->op, 1u << KINETO_OPTIMIZER) != KINETO_NONE;
        if (kernel == NULL || is_update != was_update) {
            end_computation(&rank, was_update);
        }
        was_update = is_update;
        rank.time_s += kernel != NULL ? kernel->time_s : 0;
    }
    made->tp = rank.sizes[AR_RECORDED_TP];
    made->ep = rank.sizes[AR_RECORDED_EP];
    return AR_OK;
}
