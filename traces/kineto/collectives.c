#include "steps.h"

#include <math.h>

#include "ar_text.h"

static const struct ar_column columns[] = {
#define X(kind, field, ...)                                                                        \
    AR_COLUMN(kind, struct ar_kineto_collective, field, #field, __VA_ARGS__),
    AR_KINETO_COLLECTIVE_LIST(X)
#undef X
};
const struct ar_columns ar_kineto_collective_columns = {columns,
                                                        sizeof columns / sizeof columns[0]};

/* Collectives of a trace that move something, in the order of their begin. */
struct found {
    const struct kineto_steps *steps;
    uint32_t *ops;
    size_t count;
};

static const struct kineto_op *op_of(const struct found *found, size_t i)
{
    return &found->steps->kineto->ops[found->ops[i]];
}

static void keep_moving(struct found *found)
{
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct kineto_comm *comm = &found->steps->kineto->comms[op_of(found, i)->comm];
        if (comm->in_elements > 0 || comm->out_elements > 0 || comm->recorded_s > 0) {
            found->ops[kept++] = found->ops[i];
        }
    }
    found->count = kept;
}

/* The collective of a step at a place; `count` of the list if there is none. */
static size_t nth(const struct found *found, const struct kineto_step *step, size_t place)
{
    size_t first = 0, last = found->count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        bool is_before = op_of(found, middle)->start_s < step->start_s;
        first = is_before ? middle + 1 : first;
        last = is_before ? last : middle;
    }
    size_t at = first + place;
    return at < found->count && op_of(found, at)->start_s < step->end_s ? at : found->count;
}

/* The least time over the steps that have the same one at this place. */
static double least_s(const struct found *found, const struct kineto_step *const *used,
                      size_t used_count, size_t place, const struct kineto_comm *like)
{
    double least = INFINITY;
    for (size_t i = 0; i < used_count; i++) {
        size_t at = nth(found, used[i], place);
        const struct kineto_comm *comm =
            at < found->count ? &found->steps->kineto->comms[op_of(found, at)->comm] : NULL;
        if (comm != NULL && comm->name == like->name && comm->in_elements == like->in_elements &&
            comm->recorded_s > 0) {
            least = fmin(least, comm->recorded_s);
        }
    }
    return isfinite(least) ? least : NAN;
}

/* Arrivals of a step that began after `from_s` and no later than `until_s`. */
static uint64_t arrivals(const struct kineto_steps *steps, const struct kineto_step *step,
                         double from_s, double until_s)
{
    uint64_t count = 0;
    for (size_t i = 0; i < step->arrivals_count; i++) {
        const struct kineto_op *op =
            &steps->kineto->ops[steps->arrivals[step->arrivals_first + i].op];
        count += op->start_s > from_s && op->start_s <= until_s;
    }
    return count;
}

static void describe(const struct kineto_comm *comm, struct ar_kineto_collective *row)
{
    uint32_t bytes = kineto_type_bytes(comm->dtype);
    uint64_t elements =
        comm->in_elements > comm->out_elements ? comm->in_elements : comm->out_elements;
    bool is_known = elements > 0 && elements <= AR_TRACE_ELEMENTS_MAX;
    ar_record_clear(ar_kineto_collective_columns, row);
    ar_copy_text(row->operation, sizeof row->operation, comm->name);
    ar_copy_text(row->datatype, sizeof row->datatype, comm->dtype);
    ar_copy_text(row->group, sizeof row->group, comm->ranks);
    row->elements = is_known ? elements : AR_NO_COUNT;
    row->payload_bytes = is_known && bytes > 0 ? elements * bytes : AR_NO_COUNT;
    row->group_size = comm->group_size > 0 ? comm->group_size : AR_NO_COUNT;
}

/* Begun in the forward or the backward pass, or behind it; when it was ready in the latter. */
static void place_in_step(const struct kineto_steps *steps, const struct kineto_step *step,
                          const struct kineto_op *op, const double *ready_s,
                          struct ar_kineto_collective *row)
{
    const struct kineto_op *ops = steps->kineto->ops;
    const uint32_t *nodes = steps->nodes + step->nodes_first;
    size_t before = 0;
    while (before < step->nodes_count && ops[nodes[before]].start_s <= op->start_s) {
        before++;
    }
    bool is_behind =
        before == step->nodes_count &&
        kineto_around(steps->kineto, op->parent,
                      KINETO_BIT(KINETO_NODE) | KINETO_BIT(KINETO_ACCUMULATE)) == KINETO_NONE;
    const char *phase = before == 0 ? "forward" : is_behind ? "optimizer" : "backward";
    ar_copy_text(row->phase, sizeof row->phase, phase);
    row->ready_s = before == 0 || is_behind ? NAN : ready_s[before - 1];
}

enum ar_status kineto_collectives_find(const struct kineto_steps *steps,
                                       const struct kineto_step *const *used, size_t used_count,
                                       const double *ready_s, struct ar_arena *arena,
                                       struct ar_kineto_step *made, struct ar_error *err)
{
    const struct kineto_step *step = used[used_count - 1];
    struct found found = {.steps = steps};
    found.ops = kineto_ops_of(steps->kineto, KINETO_BIT(KINETO_COLLECTIVE), arena, &found.count);
    made->collectives = ar_arena_alloc(arena, found.count + 1, sizeof *made->collectives);
    AR_NEED(found.ops && made->collectives, err, steps->kineto->path);
    keep_moving(&found);
    double before_s = -INFINITY;
    for (size_t i = 0; (i = nth(&found, step, made->collectives_count)) < found.count;) {
        const struct kineto_op *op = op_of(&found, i);
        const struct kineto_comm *comm = &steps->kineto->comms[op->comm];
        size_t place = made->collectives_count++;
        struct ar_kineto_collective *row = &made->collectives[place];
        describe(comm, row);
        row->order = place + 1;
        row->gradients = arrivals(steps, step, before_s, op->start_s);
        place_in_step(steps, step, op, ready_s, row);
        row->recorded_s = least_s(&found, used, used_count, place, comm);
        before_s = op->start_s;
    }
    return AR_OK;
}
