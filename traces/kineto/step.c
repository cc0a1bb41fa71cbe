/* The step of a trace: which of its steps are used, and what is made of them. */
#include <math.h>

#include "ar_numbers.h"
#include "steps.h"

const char *const ar_kineto_times_names[] = {"recorded", "kernels", NULL};

double kineto_median(const struct making *making, size_t count)
{
    ar_sort(making->values, count);
    return ar_quantile(making->values, count, 0.5);
}

double kineto_step_median(const struct making *making, size_t offset)
{
    for (size_t i = 0; i < making->used_count; i++) {
        making->values[i] = *(const double *)((const char *)making->used[i] + offset);
    }
    return kineto_median(making, making->used_count);
}

/* The wait between steps, of those that had one before them. */
static double lead_s(const struct making *making)
{
    size_t count = 0;
    for (size_t i = 0; i < making->used_count; i++) {
        making->values[count] = making->used[i]->lead_s;
        count += isnan(making->values[count]) ? 0 : 1;
    }
    bool is_known = count > 0 && making->request->times == AR_KINETO_RECORDED;
    return is_known ? kineto_median(making, count) : 0;
}

/* --- which steps ---------------------------------------------------------------------------- */

static bool is_complete(const struct kineto_step *step)
{
    return step->has_optimizer && step->nodes_count > 0 && step->kernels_count > 0;
}

/* Whether two steps ran the same nodes and got the same gradients. */
static bool is_like(const struct kineto_steps *steps, const struct kineto_step *a,
                    const struct kineto_step *b)
{
    const struct kineto_op *ops = steps->kineto->ops;
    bool is_same = a->nodes_count == b->nodes_count && a->arrivals_count == b->arrivals_count;
    for (size_t i = 0; is_same && i < a->nodes_count; i++) {
        is_same = ops[steps->nodes[a->nodes_first + i]].name ==
                  ops[steps->nodes[b->nodes_first + i]].name;
    }
    return is_same;
}

static enum ar_status refuse_waits(const struct making *making, double idle, struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA,
                        "%.300s: the GPU waits for %.0f %% of a step or more: bound by the "
                        "processor, so the times say little of the GPU; expected at most %.0f %%, "
                        "or --times kernels",
                        making->kineto->path, 100 * idle, 100 * AR_KINETO_IDLE_MAX);
}

/* Those like the last complete one; of recorded times only where the GPU did not wait long. */
static enum ar_status choose_steps(struct making *making, struct ar_error *err)
{
    const struct kineto_steps *steps = making->steps;
    double least_idle = INFINITY;
    making->used = ar_arena_alloc(making->arena, steps->count + 1, sizeof(void *));
    making->values = ar_arena_alloc(making->arena, steps->count + 1, sizeof *making->values);
    AR_NEED(making->used && making->values, err, making->kineto->path);
    for (size_t i = 0; i < steps->count; i++) {
        making->last = is_complete(&steps->list[i]) ? &steps->list[i] : making->last;
    }
    if (making->last == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: none of %zu steps has a backward pass, an optimizer and what "
                            "the GPU did; expected a whole training step",
                            making->kineto->path, steps->count);
    }
    for (size_t i = 0; i < steps->count; i++) {
        const struct kineto_step *step = &steps->list[i];
        if (is_complete(step) && is_like(steps, step, making->last)) {
            double idle = kineto_step_idle(step);
            least_idle = fmin(least_idle, idle);
            if (making->request->times == AR_KINETO_KERNELS || idle <= AR_KINETO_IDLE_MAX) {
                making->used[making->used_count++] = step;
            }
        }
    }
    return making->used_count > 0 ? AR_OK : refuse_waits(making, least_idle, err);
}

/* --- the whole ------------------------------------------------------------------------------ */

static enum ar_status check_trace(const struct making *making, struct ar_error *err)
{
    double compute_s = ar_trace_compute_s(&making->made->trace);
    if (compute_s > 0 && compute_s <= AR_TRACE_SECONDS_MAX) {
        return AR_OK;
    }
    return ar_error_set(err, AR_BAD_DATA, "%.300s: a step takes %g s; expected more than 0",
                        making->kineto->path, compute_s);
}

static enum ar_status make(struct making *making, struct ar_error *err)
{
    struct ar_trace *trace = &making->made->trace;
    AR_TRY(choose_steps(making, err));
    AR_TRY(kineto_sizes_find(making->steps, making->last, making->request->parameters,
                             making->arena, &making->elements, &making->sizes, err));
    AR_TRY(kineto_layers_make(making, err));
    trace->step_overhead_s = STEP_MEDIAN(making, overhead_s) + lead_s(making);
    trace->optimizer_s = STEP_MEDIAN(making, optimizer_s);
    trace->is_timed = true;
    AR_TRY(check_trace(making, err));
    AR_TRY(kineto_facts_find(making, err));
    return kineto_collectives_find(making->steps, making->used, making->used_count, making->ready_s,
                                   making->arena, making->made, err);
}

enum ar_status ar_kineto_step_create(const struct ar_kineto *kineto,
                                     const struct ar_kineto_request *request,
                                     struct ar_arena *arena, struct ar_kineto_step **step,
                                     struct ar_error *err)
{
    struct kineto_steps *steps;
    struct making making = {.kineto = kineto, .request = request, .arena = arena};
    making.made = ar_arena_alloc(arena, 1, sizeof *making.made);
    AR_NEED(making.made, err, kineto->path);
    AR_TRY(kineto_steps_create(kineto, request->times, arena, &steps, err));
    making.steps = steps;
    AR_TRY(make(&making, err));
    *step = making.made;
    return AR_OK;
}
