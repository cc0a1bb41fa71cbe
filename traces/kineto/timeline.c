#include "steps.h"

#include <math.h>
#include <stdlib.h>

struct interval {
    double start_s, end_s;
};

/* Nodes of a step by the number that the forward pass gave them. */
struct numbered {
    int64_t number;
    uint32_t node;
};

struct timeline {
    struct kineto_steps *steps;
    enum ar_kineto_times times;
    struct interval *busy; /* times of collectives, disjoint, in order */
    size_t busy_count;
    size_t busy_next;          /* those before it end before `covered_s` */
    struct numbered *numbered; /* of each step as its nodes lie, sorted */
    double covered_s;          /* end of all kernels so far */
    bool is_begun;             /* a step was */
};

/* --- collectives ---------------------------------------------------------------------------- */

static void join_collectives(struct timeline *line, const struct ar_kineto *kineto)
{
    for (size_t i = 0; i < kineto->kernels_count; i++) {
        const struct kineto_kernel *kernel = &kineto->kernels[i];
        struct interval *last = line->busy_count > 0 ? &line->busy[line->busy_count - 1] : NULL;
        if (kernel->is_collective && last != NULL && kernel->start_s <= last->end_s) {
            last->end_s = fmax(last->end_s, kernel->end_s);
        } else if (kernel->is_collective) {
            line->busy[line->busy_count++] = (struct interval){kernel->start_s, kernel->end_s};
        }
    }
}

/* How long collectives ran between the end of the kernels so far and `until_s`. */
static double collective_s(struct timeline *line, double until_s)
{
    double sum_s = 0;
    while (line->busy_next < line->busy_count &&
           line->busy[line->busy_next].end_s <= line->covered_s) {
        line->busy_next++;
    }
    for (size_t i = line->busy_next; i < line->busy_count && line->busy[i].start_s < until_s; i++) {
        sum_s += fmin(line->busy[i].end_s, until_s) - fmax(line->busy[i].start_s, line->covered_s);
    }
    return sum_s;
}

/* --- owners --------------------------------------------------------------------------------- */

static int compare_numbered(const void *a, const void *b)
{
    const struct numbered *left = a, *right = b;
    int order = (left->number > right->number) - (left->number < right->number);
    return order != 0 ? order : (left->node > right->node) - (left->node < right->node);
}

/* Numbers count for each thread of the forward pass; the first node is of the loss's. */
static void number_nodes(struct timeline *line)
{
    const struct kineto_steps *steps = line->steps;
    const struct kineto_op *ops = steps->kineto->ops;
    for (size_t i = 0; i < steps->count; i++) {
        const struct kineto_step *step = &steps->list[i];
        for (size_t k = 0; k < step->nodes_count; k++) {
            const struct kineto_op *node = &ops[steps->nodes[step->nodes_first + k]];
            bool is_of_loss =
                node->forward_thread == ops[steps->nodes[step->nodes_first]].forward_thread;
            line->numbered[step->nodes_first + k] =
                (struct numbered){is_of_loss ? node->number : -1, (uint32_t)k};
        }
        qsort(line->numbered + step->nodes_first, step->nodes_count, sizeof *line->numbered,
              compare_numbered);
    }
}

/* The node of a step that an operator of the forward pass made, or KINETO_NONE. */
static uint32_t node_numbered(const struct timeline *line, const struct kineto_step *step,
                              int64_t number)
{
    const struct numbered *list = line->numbered + step->nodes_first;
    size_t first = 0, last = step->nodes_count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        bool is_before = list[middle].number < number;
        first = is_before ? middle + 1 : first;
        last = is_before ? last : middle;
    }
    bool is_found = number >= 0 && first < step->nodes_count && list[first].number == number;
    return is_found ? list[first].node : KINETO_NONE;
}

/* Nodes of a step that have begun; they stand in the order of their begin. */
static uint32_t nodes_begun(const struct kineto_steps *steps, const struct kineto_step *step,
                            double time_s)
{
    const uint32_t *nodes = steps->nodes + step->nodes_first;
    size_t first = 0, last = step->nodes_count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        bool is_before = steps->kineto->ops[nodes[middle]].start_s <= time_s;
        first = is_before ? middle + 1 : first;
        last = is_before ? last : middle;
    }
    return (uint32_t)first;
}

/* The forward pass of a node; it is another one's than before if nodes began since. */
static void add_forward(struct timeline *line, struct kineto_step *step, uint32_t node,
                        double launched_s, double time_s)
{
    struct kineto_steps *steps = line->steps;
    steps->forward_s[step->nodes_first + node] += time_s;
    steps->has_kernels[step->nodes_first + node] = true;
    if (step->passes_count == 0 ||
        nodes_begun(steps, step, launched_s) > nodes_begun(steps, step, step->last_forward_s)) {
        step->passes_count++;
    }
    step->last_forward_s = fmax(step->last_forward_s, launched_s);
}

/* Adds the time of a kernel to its part of a step. */
static void add_time(struct timeline *line, struct kineto_step *step,
                     const struct kineto_kernel *kernel, double time_s)
{
    struct kineto_steps *steps = line->steps;
    const struct ar_kineto *kineto = steps->kineto;
    unsigned backward = KINETO_BIT(KINETO_NODE) | KINETO_BIT(KINETO_ACCUMULATE);
    uint32_t around = kineto_around(kineto, kernel->op, backward);
    uint32_t node = KINETO_NONE;
    if (around != KINETO_NONE && step->nodes_count > 0) {
        const struct kineto_op *op = &kineto->ops[around];
        uint32_t begun = nodes_begun(steps, step, op->start_s);
        size_t at = step->nodes_first + (begun > 0 ? begun - 1 : 0);
        bool is_copy = op->kind == KINETO_ACCUMULATE;
        steps->backward_s[at] += time_s;
        steps->has_kernels[at] = steps->has_kernels[at] || !is_copy;
        step->copies_s += is_copy ? time_s : 0;
        return;
    }
    for (uint32_t op = kernel->op; op != KINETO_NONE && node == KINETO_NONE;
         op = kineto->ops[op].parent) {
        op = kineto_around(kineto, op, KINETO_BIT(KINETO_FORWARD));
        if (op == KINETO_NONE) {
            break;
        }
        node = node_numbered(line, step, kineto->ops[op].number);
    }
    bool is_before = step->nodes_count == 0 ||
                     kernel->launched_s < kineto->ops[steps->nodes[step->nodes_first]].start_s;
    if (node != KINETO_NONE) {
        add_forward(line, step, node, kernel->launched_s, time_s);
    } else if (is_before) {
        step->overhead_s += time_s;
    } else {
        step->optimizer_s += time_s;
    }
}

/* --- the line ------------------------------------------------------------------------------- */

static void add_kernel(struct timeline *line, const struct kineto_kernel *kernel)
{
    struct kineto_step *step =
        isnan(kernel->launched_s) ? NULL : kineto_step_at(line->steps, kernel->launched_s);
    double gap_s = fmax(kernel->start_s - line->covered_s, 0);
    double wait_s = gap_s > 0 ? fmax(gap_s - collective_s(line, kernel->start_s), 0) : 0;
    double work_s = fmax(kernel->end_s - fmax(kernel->start_s, line->covered_s), 0);
    bool is_first = step != NULL && step->kernels_count == 0;
    bool is_counted = line->times == AR_KINETO_RECORDED;
    line->covered_s = fmax(line->covered_s, kernel->end_s);
    if (step == NULL) {
        line->steps->unknown_s += work_s;
        return;
    }
    step->kernels_count++;
    step->work_s += work_s;
    if (is_first) { /* it waited for the step to begin, such as for images */
        step->lead_s = line->is_begun ? wait_s : NAN;
        wait_s = 0;
    }
    line->is_begun = true;
    step->wait_s += wait_s;
    add_time(line, step, kernel, work_s + (is_counted ? wait_s : 0));
}

enum ar_status kineto_time_steps(struct kineto_steps *steps, enum ar_kineto_times times,
                                 struct ar_arena *arena, struct ar_error *err)
{
    const struct ar_kineto *kineto = steps->kineto;
    struct timeline line = {.steps = steps, .times = times};
    size_t nodes = 0;
    for (size_t i = 0; i < steps->count; i++) {
        nodes += steps->list[i].nodes_count;
    }
    line.busy = ar_arena_alloc(arena, kineto->kernels_count + 1, sizeof *line.busy);
    line.numbered = ar_arena_alloc(arena, nodes + 1, sizeof *line.numbered);
    AR_NEED(line.busy && line.numbered, err, kineto->path);
    join_collectives(&line, kineto);
    number_nodes(&line);
    line.covered_s = kineto->kernels[0].start_s;
    for (size_t i = 0; i < kineto->kernels_count; i++) {
        if (!kineto->kernels[i].is_collective) {
            add_kernel(&line, &kineto->kernels[i]);
        }
    }
    return AR_OK;
}
