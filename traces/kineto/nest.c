/* Which op lies in which, and which op launched a kernel. */
#include <math.h>
#include <stdlib.h>

#include "kineto.h"

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_ops(const void *a, const void *b)
{
    const struct kineto_op *left = a, *right = b;
    if (left->thread != right->thread) {
        return (left->thread > right->thread) - (left->thread < right->thread);
    }
    int order = compare_numbers(left->start_s, right->start_s);
    order = order != 0 ? order : compare_numbers(right->end_s, left->end_s);
    return order != 0 ? order : (int)right->kind - (int)left->kind; /* the wider kind first */
}

static int compare_launches(const void *a, const void *b)
{
    const struct kineto_launch *left = a, *right = b;
    return (left->correlation > right->correlation) - (left->correlation < right->correlation);
}

static int compare_kernels(const void *a, const void *b)
{
    const struct kineto_kernel *left = a, *right = b;
    int order = compare_numbers(left->start_s, right->start_s);
    return order != 0 ? order
                      : (left->correlation > right->correlation) -
                            (left->correlation < right->correlation);
}

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

uint32_t kineto_around(const struct ar_kineto *kineto, uint32_t op, unsigned kinds)
{
    while (op != KINETO_NONE && (kinds & KINETO_BIT(kineto->ops[op].kind)) == 0) {
        op = kineto->ops[op].parent;
    }
    return op;
}

/* What was recorded inside of an arrival of a gradient. */
static void fill_arrivals(struct ar_kineto *kineto)
{
    for (size_t i = 0; i < kineto->ops_count; i++) {
        const struct kineto_op *op = &kineto->ops[i];
        uint32_t at = kineto_around(kineto, op->parent, KINETO_BIT(KINETO_ACCUMULATE));
        if (at == KINETO_NONE) {
            continue;
        }
        struct kineto_op *arrival = &kineto->ops[at];
        if (op->kind == KINETO_SHAPE) {
            arrival->elements = op->elements;
            arrival->name = op->name;
        } else if (op->kind == KINETO_COLLECTIVE) {
            arrival->bucket_elements += kineto->comms[op->comm].in_elements;
            arrival->comm = op->comm;
        }
    }
}

/* The last op of the thread that begins no later than the launch. */
static uint32_t last_before(const struct ar_kineto *kineto, const struct kineto_launch *launch)
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
    return is_found ? (uint32_t)(first - 1) : KINETO_NONE;
}

static uint32_t op_at(const struct ar_kineto *kineto, const struct kineto_launch *launch)
{
    uint32_t op = last_before(kineto, launch);
    while (op != KINETO_NONE && launch->at_s >= kineto->ops[op].end_s) {
        op = kineto->ops[op].parent;
    }
    return op;
}

static const struct kineto_launch *launch_of(const struct ar_kineto *kineto,
                                             const struct kineto_kernel *kernel)
{
    const struct kineto_launch key = {.correlation = kernel->correlation};
    return kineto->launches_count == 0 || kernel->correlation < 0
               ? NULL
               : bsearch(&key, kineto->launches, kineto->launches_count, sizeof *kineto->launches,
                         compare_launches);
}

static void link_kernels(struct ar_kineto *kineto)
{
    for (size_t i = 0; i < kineto->kernels_count; i++) {
        struct kineto_kernel *kernel = &kineto->kernels[i];
        const struct kineto_launch *launch = launch_of(kineto, kernel);
        kernel->launched_s = launch != NULL ? launch->at_s : NAN;
        kernel->op = launch != NULL ? op_at(kineto, launch) : KINETO_NONE;
        uint32_t around = kineto_around(kineto, kernel->op, KINETO_BIT(KINETO_COLLECTIVE));
        if (around != KINETO_NONE) {
            kernel->is_collective = true;
            kineto->comms[kineto->ops[around].comm].recorded_s += kernel->end_s - kernel->start_s;
        }
    }
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
    fill_arrivals(kineto);
    link_kernels(kineto);
}
