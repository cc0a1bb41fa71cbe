/* Where steps begin and end, and which nodes and gradients are theirs. */
#include "steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* --- in order of time ----------------------------------------------------------------------- */

struct begin {
    double start_s;
    uint32_t op;
};

static int compare_begins(const void *a, const void *b)
{
    const struct begin *left = a, *right = b;
    int order = (left->start_s > right->start_s) - (left->start_s < right->start_s);
    return order != 0 ? order : (left->op > right->op) - (left->op < right->op);
}

uint32_t *kineto_ops_of(const struct ar_kineto *kineto, unsigned kinds, struct ar_arena *arena,
                        size_t *count)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct begin *begins = ar_arena_alloc(&scratch, kineto->ops_count + 1, sizeof *begins);
    size_t found = 0;
    for (size_t i = 0; begins != NULL && i < kineto->ops_count; i++) {
        if ((kinds & KINETO_BIT(kineto->ops[i].kind)) != 0) {
            begins[found++] = (struct begin){kineto->ops[i].start_s, (uint32_t)i};
        }
    }
    uint32_t *ops = begins != NULL ? ar_arena_alloc(arena, found + 1, sizeof *ops) : NULL;
    if (ops != NULL) {
        qsort(begins, found, sizeof *begins, compare_begins);
        for (size_t i = 0; i < found; i++) {
            ops[i] = begins[i].op;
        }
        *count = found;
    }
    return ops;
}

/* --- steps ---------------------------------------------------------------------------------- */

/* Steps are marked, or reach from one optimizer's end to the next one's. */
static enum ar_status find_steps(struct kineto_steps *steps, struct ar_arena *arena,
                                 struct ar_error *err)
{
    const struct ar_kineto *kineto = steps->kineto;
    size_t count = 0;
    uint32_t *marks = kineto_ops_of(kineto, KINETO_BIT(KINETO_STEP), arena, &count);
    bool is_marked = marks != NULL && count > 0;
    if (marks != NULL && !is_marked) {
        marks = kineto_ops_of(kineto, KINETO_BIT(KINETO_OPTIMIZER), arena, &count);
    }
    steps->list = ar_arena_alloc(arena, count + 1, sizeof *steps->list);
    AR_NEED(marks && steps->list, err, kineto->path);
    for (size_t i = 0; i < count; i++) {
        const struct kineto_op *op = &kineto->ops[marks[i]];
        const struct kineto_step *before = steps->count > 0 ? &steps->list[steps->count - 1] : NULL;
        if (is_marked && before != NULL && op->number == before->number) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%.300s: ProfilerStep#%" PRId64 " is there twice; expected a trace "
                                "of one rank",
                                kineto->path, op->number);
        }
        if (before != NULL && op->start_s < before->end_s - KINETO_ROUNDING_S) {
            continue; /* within another one */
        }
        double before_s = before != NULL ? before->end_s : -INFINITY;
        steps->list[steps->count++] =
            (struct kineto_step){.start_s = is_marked ? op->start_s : before_s,
                                 .end_s = op->end_s,
                                 .number = is_marked ? op->number : -1,
                                 .last_forward_s = -INFINITY,
                                 .has_optimizer = !is_marked};
    }
    return AR_OK;
}

struct kineto_step *kineto_step_at(const struct kineto_steps *steps, double time_s)
{
    size_t first = 0, last = steps->count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        bool is_before = steps->list[middle].start_s <= time_s;
        first = is_before ? middle + 1 : first;
        last = is_before ? last : middle;
    }
    struct kineto_step *step = first > 0 ? &steps->list[first - 1] : NULL;
    return step != NULL && time_s <= step->end_s ? step : NULL;
}

static enum ar_status find_optimizers(struct kineto_steps *steps, struct ar_error *err)
{
    const struct ar_kineto *kineto = steps->kineto;
    size_t found = 0;
    for (size_t i = 0; i < kineto->ops_count; i++) {
        const struct kineto_op *op = &kineto->ops[i];
        struct kineto_step *step =
            op->kind == KINETO_OPTIMIZER ? kineto_step_at(steps, op->start_s) : NULL;
        if (step != NULL) {
            step->has_optimizer = true;
            found++;
        }
    }
    return found > 0 ? AR_OK
                     : ar_error_set(err, AR_BAD_DATA,
                                    "%.300s: no step of an optimizer (Optimizer.step#...) among "
                                    "%zu steps; expected a profile of training steps",
                                    kineto->path, steps->count);
}

/* Nodes and arrivals of gradients in the order of their begin. */
static enum ar_status find_nodes(struct kineto_steps *steps, struct ar_arena *arena,
                                 struct ar_error *err)
{
    const struct ar_kineto *kineto = steps->kineto;
    size_t count, nodes = 0, arrivals = 0;
    const uint32_t *ops = kineto_ops_of(
        kineto, KINETO_BIT(KINETO_NODE) | KINETO_BIT(KINETO_ACCUMULATE), arena, &count);
    steps->nodes = ops != NULL ? ar_arena_alloc(arena, count + 1, sizeof *steps->nodes) : NULL;
    steps->arrivals = ar_arena_alloc(arena, count + 1, sizeof *steps->arrivals);
    steps->forward_s = ar_arena_alloc(arena, count + 1, sizeof *steps->forward_s);
    steps->backward_s = ar_arena_alloc(arena, count + 1, sizeof *steps->backward_s);
    steps->has_kernels = ar_arena_alloc(arena, count + 1, sizeof *steps->has_kernels);
    AR_NEED(ops && steps->nodes && steps->arrivals && steps->forward_s && steps->backward_s &&
                steps->has_kernels,
            err, kineto->path);
    for (size_t i = 0; i < count; i++) {
        const struct kineto_op *op = &kineto->ops[ops[i]];
        struct kineto_step *step = kineto_step_at(steps, op->start_s);
        if (step == NULL) {
            continue;
        }
        if (step->nodes_count + step->arrivals_count == 0) {
            step->nodes_first = nodes;
            step->arrivals_first = arrivals;
        }
        if (op->kind == KINETO_NODE) {
            steps->nodes[nodes++] = ops[i];
            step->nodes_count++;
        } else if (step->nodes_count > 0) {
            steps->arrivals[arrivals++] =
                (struct kineto_arrival){.op = ops[i], .node = (uint32_t)step->nodes_count - 1};
            step->arrivals_count++;
        }
    }
    return AR_OK;
}

static enum ar_status check_gpu(const struct ar_kineto *kineto, struct ar_error *err)
{
    if (kineto->kernels_count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: no events of a GPU; expected a profile with "
                            "ProfilerActivity.CUDA",
                            kineto->path);
    }
    for (size_t i = 1; i < kineto->kernels_count; i++) {
        int64_t first = kineto->kernels[0].device, other = kineto->kernels[i].device;
        if (other != first) {
            return ar_error_set(
                err, AR_BAD_DATA,
                "%.300s: events of GPUs %" PRId64 " and %" PRId64 "; expected a trace of one rank",
                kineto->path, first < other ? first : other, first < other ? other : first);
        }
    }
    return AR_OK;
}

enum ar_status kineto_steps_create(const struct ar_kineto *kineto, enum ar_kineto_times times,
                                   struct ar_arena *arena, struct kineto_steps **steps,
                                   struct ar_error *err)
{
    struct kineto_steps *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_NEED(made, err, kineto->path);
    made->kineto = kineto;
    AR_TRY(check_gpu(kineto, err));
    AR_TRY(find_steps(made, arena, err));
    AR_TRY(find_optimizers(made, err));
    AR_TRY(find_nodes(made, arena, err));
    AR_TRY(kineto_time_steps(made, times, arena, err));
    *steps = made;
    return AR_OK;
}

double kineto_step_idle(const struct kineto_step *step)
{
    double all_s = step->work_s + step->wait_s;
    return all_s > 0 ? step->wait_s / all_s : 1;
}
