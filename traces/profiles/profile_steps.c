/* The steps of a profile: which op lies in which and launched what; where steps begin and end, and
 * which autograd nodes and gradients are theirs; what each kernel adds to the GPU's time line. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "ar_numbers.h"
#include "profile.h"

/* --- nesting ------------------------------------------------------------------------------- */

AR_ORDER(compare_ops, struct kineto_op, AR_RISES(thread), AR_RISES(start_s), AR_FALLS(end_s),
         AR_FALLS(kind)) /* the wider kind first */

AR_ORDER(compare_launches, struct kineto_launch, AR_RISES(correlation))

AR_ORDER(compare_kernels, struct kineto_kernel, AR_RISES(start_s), AR_RISES(correlation))

static void find_parents(struct kineto_op *ops, size_t count)
{
    uint32_t around = KINETO_NONE;
    for (size_t i = 0; i < count; i++) {
        while (around != KINETO_NONE &&
               (ops[around].thread != ops[i].thread || ops[i].start_s >= ops[around].end_s ||
                ops[i].end_s > ops[around].end_s + KINETO_ROUNDING_S)) {
            around = ops[around].parent;
        }
        ops[i].parent = around;
        around = (uint32_t)i;
    }
}

#define BIT(kind) (1u << (kind))

uint32_t kineto_find_around(const struct ar_kineto *kineto, uint32_t op, unsigned kinds)
{
    while (op != KINETO_NONE && (kinds & BIT(kineto->ops[op].kind)) == 0) {
        op = kineto->ops[op].parent;
    }
    return op;
}

/* The op that launches: the innermost one around the launch, on its thread. */
static uint32_t find_launching_op(const struct ar_kineto *kineto,
                                  const struct kineto_launch *launch)
{
    size_t first = 0, last = kineto->ops_count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        const struct kineto_op *op = &kineto->ops[middle];
        bool is_before = op->thread < launch->thread ||
                         (op->thread == launch->thread && op->start_s <= launch->at_s);
        first = is_before ? middle + 1 : first;
        last = is_before ? last : middle;
    }
    bool is_found = first > 0 && kineto->ops[first - 1].thread == launch->thread;
    uint32_t op = is_found ? (uint32_t)(first - 1) : KINETO_NONE;
    while (op != KINETO_NONE && launch->at_s >= kineto->ops[op].end_s) {
        op = kineto->ops[op].parent;
    }
    return op;
}

void kineto_nest(struct ar_kineto *kineto)
{
    if (kineto->ops_count > 0) {
        qsort(kineto->ops, kineto->ops_count, sizeof *kineto->ops, compare_ops);
    }
    if (kineto->launches_count > 0) {
        qsort(kineto->launches, kineto->launches_count, sizeof *kineto->launches, compare_launches);
    }
    if (kineto->kernels_count > 0) {
        qsort(kineto->kernels, kineto->kernels_count, sizeof *kineto->kernels, compare_kernels);
    }
    find_parents(kineto->ops, kineto->ops_count);
    /* Gives arrivals of gradients what was recorded inside of them. */
    AR_EACH(const struct kineto_op, op, kineto->ops, kineto->ops_count) {
        uint32_t at = kineto_find_around(kineto, op->parent, BIT(KINETO_ACCUMULATE));
        if (at == KINETO_NONE) {
            continue;
        }
        struct kineto_op *arrival = &kineto->ops[at];
        if (op->kind == KINETO_SHAPE) {
            arrival->elements = op->elements;
            arrival->type = arrival->type != NULL ? arrival->type : op->type;
        } else if (op->kind == KINETO_COLLECTIVE) {
            arrival->bucket_elements += op->elements;
            arrival->type = op->type;
        }
    }
    /* A fake process group copies into the output what a real one would receive. */
    unsigned collectives = BIT(KINETO_COLLECTIVE) | (kineto->is_fake ? BIT(KINETO_CALL) : 0);
    AR_EACH(struct kineto_kernel, kernel, kineto->kernels, kineto->kernels_count) {
        const struct kineto_launch key = {.correlation = kernel->correlation};
        const struct kineto_launch *launch =
            kineto->launches_count == 0 || kernel->correlation < 0
                ? NULL
                : bsearch(&key, kineto->launches, kineto->launches_count, sizeof *kineto->launches,
                          compare_launches);
        kernel->launched_s = launch != NULL ? launch->at_s : NAN;
        kernel->op = launch != NULL ? find_launching_op(kineto, launch) : KINETO_NONE;
        kernel->is_collective = kernel->is_collective ||
                                kineto_find_around(kineto, kernel->op, collectives) != KINETO_NONE;
    }
}

/* --- in order of time ---------------------------------------------------------------------- */

static int compare_begins(const void *a, const void *b, void *context)
{
    const struct kineto_op *ops = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int order = AR_COMPARE(ops[left].start_s, ops[right].start_s);
    return order != 0 ? order : AR_COMPARE(left, right);
}

uint32_t *kineto_list_ops(const struct ar_kineto *kineto, unsigned kinds, struct ar_arena *arena,
                          size_t *count)
{
    uint32_t *ops = ar_arena_alloc(arena, kineto->ops_count + 1, sizeof *ops);
    *count = 0;
    for (uint32_t i = 0; i < kineto->ops_count; i++) {
        if ((kinds & BIT(kineto->ops[i].kind)) != 0) {
            ops[(*count)++] = i;
        }
    }
    qsort_r(ops, *count, sizeof *ops, compare_begins, kineto->ops);
    return ops;
}

/* --- steps --------------------------------------------------------------------------------- */

/* Steps are marked, or reach from one optimizer's end to the next one's. */
static enum ar_status find_marked_steps(struct kineto_steps *steps, struct ar_arena *arena,
                                        struct ar_error *err)
{
    const struct ar_kineto *kineto = steps->kineto;
    size_t count = 0;
    uint32_t *marks = kineto_list_ops(kineto, BIT(KINETO_STEP), arena, &count);
    bool is_marked = count > 0;
    if (!is_marked) {
        marks = kineto_list_ops(kineto, BIT(KINETO_OPTIMIZER), arena, &count);
    }
    steps->list = ar_arena_alloc(arena, count + 1, sizeof *steps->list);
    for (size_t i = 0; i < count; i++) {
        const struct kineto_op *op = &kineto->ops[marks[i]];
        const struct kineto_step *before = steps->count > 0 ? &steps->list[steps->count - 1] : NULL;
        AR_REFUSE(is_marked && before != NULL && op->number == before->number, err, AR_BAD_DATA,
                  "%.300s: ProfilerStep#%" PRId64 " is there twice; expected a trace of one rank",
                  kineto->path, op->number);
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

/* The step in which a time of the processor lies, or NULL. */
static struct kineto_step *find_step_at(const struct kineto_steps *steps, double time_s)
{
    struct kineto_step *step = NULL;
    for (size_t i = 0; i < steps->count && steps->list[i].start_s <= time_s; i++) {
        step = &steps->list[i];
    }
    return step != NULL && time_s <= step->end_s ? step : NULL;
}

static enum ar_status find_optimizers(struct kineto_steps *steps, struct ar_error *err)
{
    const struct ar_kineto *kineto = steps->kineto;
    size_t found = 0;
    AR_EACH(const struct kineto_op, op, kineto->ops, kineto->ops_count) {
        struct kineto_step *step =
            op->kind == KINETO_OPTIMIZER ? find_step_at(steps, op->start_s) : NULL;
        if (step != NULL) {
            step->has_optimizer = true;
            found++;
        }
    }
    AR_REFUSE(found == 0, err, AR_BAD_DATA,
              "%.300s: no Optimizer.step#... among %zu steps; expected a profile of training steps",
              kineto->path, steps->count);
    return AR_OK;
}

/* Lists nodes and arrivals of gradients in the order of their begin. */
static void find_step_nodes(struct kineto_steps *steps, struct ar_arena *arena)
{
    const struct ar_kineto *kineto = steps->kineto;
    size_t count, nodes = 0, arrivals = 0;
    const uint32_t *ops =
        kineto_list_ops(kineto, BIT(KINETO_NODE) | BIT(KINETO_ACCUMULATE), arena, &count);
    steps->nodes = ar_arena_alloc(arena, count + 1, sizeof *steps->nodes);
    steps->arrivals = ar_arena_alloc(arena, count + 1, sizeof *steps->arrivals);
    steps->forward_s = ar_arena_alloc(arena, count + 1, sizeof *steps->forward_s);
    steps->backward_s = ar_arena_alloc(arena, count + 1, sizeof *steps->backward_s);
    steps->has_kernels = ar_arena_alloc(arena, count + 1, sizeof *steps->has_kernels);
    for (size_t i = 0; i < count; i++) {
        const struct kineto_op *op = &kineto->ops[ops[i]];
        struct kineto_step *step = find_step_at(steps, op->start_s);
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
}

/* --- the time line of the GPU -------------------------------------------------------------- */

struct interval {
    double start_s, end_s;
};

struct timeline {
    struct kineto_steps *steps;
    enum ar_kineto_times times;
    struct interval *busy; /* times of collectives, disjoint, in order */
    size_t busy_count;
    size_t busy_next; /* those before it end before `covered_s` */
    double covered_s; /* end of all kernels so far */
    bool is_begun;    /* a step has begun */
};

/* Counts the time of collectives between the end of the kernels so far and `until_s`. */
static double count_collective_s(struct timeline *timeline, double until_s)
{
    double sum_s = 0;
    while (timeline->busy_next < timeline->busy_count &&
           timeline->busy[timeline->busy_next].end_s <= timeline->covered_s) {
        timeline->busy_next++;
    }
    for (size_t i = timeline->busy_next;
         i < timeline->busy_count && timeline->busy[i].start_s < until_s; i++) {
        sum_s += fmin(timeline->busy[i].end_s, until_s) -
                 fmax(timeline->busy[i].start_s, timeline->covered_s);
    }
    return sum_s;
}

/* --- owners -------------------------------------------------------------------------------- */

/* The node of a step that an operator of the forward pass made, or KINETO_NONE. Each
 * thread of the forward pass numbers its own; the first node is the loss's. */
static uint32_t find_numbered_node(const struct kineto_steps *steps, const struct kineto_step *step,
                                   int64_t number)
{
    const struct kineto_op *ops = steps->kineto->ops;
    const uint32_t *nodes = steps->nodes + step->nodes_first;
    for (uint32_t i = 0; number >= 0 && i < step->nodes_count; i++) {
        if (ops[nodes[i]].number == number &&
            ops[nodes[i]].forward_thread == ops[nodes[0]].forward_thread) {
            return i;
        }
    }
    return KINETO_NONE;
}

/* Counts the nodes of a step that have begun. */
static size_t count_nodes_begun(const struct kineto_steps *steps, const struct kineto_step *step,
                                double time_s)
{
    const uint32_t *nodes = steps->nodes + step->nodes_first;
    size_t first = 0, last = step->nodes_count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        bool is_begun = steps->kineto->ops[nodes[middle]].start_s <= time_s;
        first = is_begun ? middle + 1 : first;
        last = is_begun ? last : middle;
    }
    return first;
}

/* Adds the time of a kernel to its part of a step. */
static void add_time(struct timeline *timeline, struct kineto_step *step,
                     const struct kineto_kernel *kernel, double time_s)
{
    struct kineto_steps *steps = timeline->steps;
    const struct ar_kineto *kineto = steps->kineto;
    unsigned backward = BIT(KINETO_NODE) | BIT(KINETO_ACCUMULATE);
    uint32_t around = kineto_find_around(kineto, kernel->op, backward);
    uint32_t node = KINETO_NONE;
    if (around != KINETO_NONE && step->nodes_count > 0) {
        const struct kineto_op *op = &kineto->ops[around];
        size_t begun = count_nodes_begun(steps, step, op->start_s);
        size_t at = step->nodes_first + (begun > 0 ? begun - 1 : 0);
        bool is_copy = op->kind == KINETO_ACCUMULATE;
        steps->backward_s[at] += time_s;
        steps->has_kernels[at] = steps->has_kernels[at] || !is_copy;
        step->copies_s += is_copy ? time_s : 0;
        return;
    }
    for (uint32_t op = kernel->op; op != KINETO_NONE && node == KINETO_NONE;
         op = kineto->ops[op].parent) {
        op = kineto_find_around(kineto, op, BIT(KINETO_FORWARD));
        if (op == KINETO_NONE) {
            break;
        }
        node = find_numbered_node(steps, step, kineto->ops[op].number);
    }
    bool is_before = step->nodes_count == 0 ||
                     kernel->launched_s < kineto->ops[steps->nodes[step->nodes_first]].start_s;
    if (node != KINETO_NONE) {
        /* Adds time to the forward pass of a node. A new forward pass has begun if nodes began
         * since the last one. */
        steps->forward_s[step->nodes_first + node] += time_s;
        steps->has_kernels[step->nodes_first + node] = true;
        if (step->passes_count == 0 || count_nodes_begun(steps, step, kernel->launched_s) >
                                           count_nodes_begun(steps, step, step->last_forward_s)) {
            step->passes_count++;
        }
        step->last_forward_s = fmax(step->last_forward_s, kernel->launched_s);
    } else if (is_before) {
        step->overhead_s += time_s;
    } else {
        step->optimizer_s += time_s;
    }
}

/* --- the line ------------------------------------------------------------------------------ */

static void take_kernel(struct timeline *timeline, struct kineto_kernel *kernel)
{
    struct kineto_step *step =
        isnan(kernel->launched_s) ? NULL : find_step_at(timeline->steps, kernel->launched_s);
    double gap_s = fmax(kernel->start_s - timeline->covered_s, 0);
    double wait_s = gap_s > 0 ? fmax(gap_s - count_collective_s(timeline, kernel->start_s), 0) : 0;
    double work_s = fmax(kernel->end_s - fmax(kernel->start_s, timeline->covered_s), 0);
    bool is_first = step != NULL && step->kernels_count == 0;
    bool is_counted = timeline->times == AR_KINETO_RECORDED;
    timeline->covered_s = fmax(timeline->covered_s, kernel->end_s);
    if (step == NULL) {
        timeline->steps->unknown_s += work_s;
        return;
    }
    step->kernels_count++;
    step->work_s += work_s;
    if (is_first) { /* it waited for the step to begin, such as for images */
        step->lead_s = timeline->is_begun ? wait_s : NAN;
        wait_s = 0;
    }
    timeline->is_begun = true;
    step->wait_s += wait_s;
    kernel->time_s = work_s + (is_counted ? wait_s : 0);
    add_time(timeline, step, kernel, kernel->time_s);
}

/* Fills in the times of steps whose nodes are known. */
static void time_steps(struct kineto_steps *steps, enum ar_kineto_times times,
                       struct ar_arena *arena)
{
    const struct ar_kineto *kineto = steps->kineto;
    struct timeline timeline = {.steps = steps, .times = times};
    timeline.busy = ar_arena_alloc(arena, kineto->kernels_count + 1, sizeof *timeline.busy);
    AR_EACH(const struct kineto_kernel, kernel, kineto->kernels, kineto->kernels_count) {
        struct interval *last =
            timeline.busy_count > 0 ? &timeline.busy[timeline.busy_count - 1] : NULL;
        if (kernel->is_collective && last != NULL && kernel->start_s <= last->end_s) {
            last->end_s = fmax(last->end_s, kernel->end_s);
        } else if (kernel->is_collective) {
            timeline.busy[timeline.busy_count++] =
                (struct interval){kernel->start_s, kernel->end_s};
        }
    }
    timeline.covered_s = kineto->kernels[0].start_s;
    for (size_t i = 0; i < kineto->kernels_count; i++) {
        if (!kineto->kernels[i].is_collective) {
            take_kernel(&timeline, &kineto->kernels[i]);
        }
    }
}

/* --- the whole ----------------------------------------------------------------------------- */

const struct kineto_op *kineto_arrival_op(const struct kineto_steps *steps,
                                          const struct kineto_step *step, size_t arrival)
{
    return &steps->kineto->ops[steps->arrivals[step->arrivals_first + arrival].op];
}

enum ar_status kineto_steps_find(const struct ar_kineto *kineto, enum ar_kineto_times times,
                                 struct ar_arena *arena, struct kineto_steps *steps,
                                 struct ar_error *err)
{
    steps->kineto = kineto;
    AR_REFUSE(kineto->kernels_count == 0, err, AR_BAD_DATA,
              "%.300s: no events of a GPU; expected a profile with ProfilerActivity.CUDA",
              kineto->path);
    for (size_t i = 1; i < kineto->kernels_count; i++) {
        int64_t first = kineto->kernels[0].device, other = kineto->kernels[i].device;
        AR_REFUSE(other != first, err, AR_BAD_DATA,
                  "%.300s: events of GPUs %" PRId64 " and %" PRId64
                  "; expected a trace of one rank",
                  kineto->path, first < other ? first : other, first < other ? other : first);
    }
    AR_TRY(find_marked_steps(steps, arena, err));
    AR_TRY(find_optimizers(steps, err));
    find_step_nodes(steps, arena);
    time_steps(steps, times, arena);
    return AR_OK;
}
