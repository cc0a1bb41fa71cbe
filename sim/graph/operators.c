#include "ar_operators.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum ar_status ar_operators_create(const char *where, uint64_t count, uint64_t needs_count,
                                   struct ar_arena *arena, struct ar_operators **operators,
                                   struct ar_error *err)
{
    if (count > AR_OPERATORS_MAX || needs_count > 4 * (uint64_t)AR_OPERATORS_MAX) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found %llu operators with %llu needs; expected at most %d, and 4 "
                            "needs of each",
                            where, (unsigned long long)count, (unsigned long long)needs_count,
                            AR_OPERATORS_MAX);
    }
    struct ar_operators *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct ar_operator *list = ar_arena_alloc(arena, count + 1, sizeof *list);
    uint32_t *needs = ar_arena_alloc(arena, needs_count + 1, sizeof *needs);
    AR_NEED(made && list && needs, err, "the operators of a step");
    *made = (struct ar_operators){.path = where,
                                  .list = list,
                                  .room = (uint32_t)count,
                                  .needs = needs,
                                  .needs_room = (uint32_t)needs_count};
    *operators = made;
    return AR_OK;
}

uint32_t ar_operators_add(struct ar_operators *operators, const struct ar_operator *op)
{
    assert(operators->count < operators->room);
    struct ar_operator *made = &operators->list[operators->count];
    *made = *op;
    made->needs_first = operators->needs_count;
    made->needs_count = 0;
    return operators->count++;
}

void ar_operators_need(struct ar_operators *operators, uint32_t other)
{
    assert(operators->needs_count < operators->needs_room);
    operators->needs[operators->needs_count++] = other;
    operators->list[operators->count - 1].needs_count++;
}

static bool has_work(const struct ar_operator *op)
{
    return op->work_flop > 0 || op->work_bytes > 0;
}

bool ar_operators_have_work(const struct ar_operators *operators)
{
    uint32_t i = 0;
    while (i < operators->count && !has_work(&operators->list[i])) {
        i++;
    }
    return i < operators->count;
}

void ar_operators_time(struct ar_operators *operators, const struct ar_device_cost *cost,
                       enum ar_precision precision)
{
    double rate_flops =
        ar_device_peak_flops(cost, precision) * cost->value[AR_COST_GEMM_EFFICIENCY][precision];
    for (uint32_t i = 0; i < operators->count; i++) {
        struct ar_operator *op = &operators->list[i];
        double products_s = op->work_flop / rate_flops;
        double memory_s = ar_device_memory_s(cost, precision, op->work_bytes);
        if (has_work(op)) {
            op->time_s = products_s > memory_s ? products_s : memory_s;
        }
    }
}

/* --- the order -------------------------------------------------------------------------------- */

/* An operator on the way to the end. */
struct rank {
    double way_s;    /* from its start on, on the longest way */
    uint32_t level;  /* operators behind it, on the way that has most */
    uint32_t number; /* of the operator */
};

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *first = a, *second = b;
    if (first->way_s != second->way_s) {
        return first->way_s > second->way_s ? -1 : 1;
    }
    return first->level != second->level
               ? (first->level > second->level ? -1 : 1)
               : (first->number > second->number) - (first->number < second->number);
}

/* Names the operators of one circle among those that are left, which wait for some that need them.
 * `next` is room for a number each. */
static enum ar_status report_circle(const struct ar_operators *operators, const uint32_t *waiting,
                                    uint32_t *next, struct ar_error *err)
{
    char circle[320] = "";
    size_t used = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < operators->count; i++) { /* who needs it */
        const struct ar_operator *op = &operators->list[i];
        for (uint32_t j = 0; waiting[i] > 0 && j < op->needs_count; j++) {
            next[operators->needs[op->needs_first + j]] = i;
        }
    }
    while (waiting[at] == 0) {
        at++;
    }
    for (uint32_t i = 0; i < operators->count; i++) {
        at = next[at]; /* from anywhere it leads into a circle in so many steps */
    }
    uint32_t first = at;
    do {
        const char *name = operators->list[at].name;
        used += (size_t)snprintf(circle + used, sizeof circle - used, "%.60s, which is needed by ",
                                 name != NULL ? name : "one without a name");
        at = next[at];
    } while (at != first && used + 100 < sizeof circle);
    return ar_error_set(
        err, AR_BAD_DATA, "%s:%llu: operators need each other in a circle: %s%s; expected none",
        operators->path, (unsigned long long)operators->list[first].line, circle,
        at == first && operators->list[at].name != NULL ? operators->list[at].name : "others");
}

/* From the ends backwards: each operator once all that need it are done. `ranks` are by number,
 * `list` is room for all. */
static enum ar_status rank_all(const struct ar_operators *operators, struct rank *ranks,
                               uint32_t *waiting, uint32_t *list, struct ar_error *err)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < operators->needs_count; i++) {
        waiting[operators->needs[i]]++;
    }
    for (uint32_t i = 0; i < operators->count; i++) {
        ranks[i].number = i;
        list[found] = i;
        found += waiting[i] == 0;
    }
    for (uint32_t done = 0; done < found; done++) {
        const struct ar_operator *op = &operators->list[list[done]];
        struct rank *rank = &ranks[list[done]];
        rank->way_s += op->time_s;
        for (uint32_t j = 0; j < op->needs_count; j++) {
            uint32_t other = operators->needs[op->needs_first + j];
            struct rank *needed = &ranks[other];
            needed->way_s = rank->way_s > needed->way_s ? rank->way_s : needed->way_s;
            needed->level = rank->level >= needed->level ? rank->level + 1 : needed->level;
            if (--waiting[other] == 0) {
                list[found++] = other;
            }
        }
    }
    if (found < operators->count) {
        uint32_t *next = calloc(operators->count, sizeof *next);
        enum ar_status status = next != NULL ? report_circle(operators, waiting, next, err)
                                             : ar_error_no_memory(err, operators->path);
        free(next);
        return status;
    }
    return AR_OK;
}

enum ar_status ar_operators_settle(struct ar_operators *operators, struct ar_arena *arena,
                                   struct ar_error *err)
{
    size_t count = (size_t)operators->count + 1;
    struct rank *ranks = ar_arena_alloc(arena, count, sizeof *ranks);
    uint32_t *waiting = ar_arena_alloc(arena, count, sizeof *waiting);
    uint32_t *order = ar_arena_alloc(arena, count, sizeof *order);
    AR_NEED(ranks && waiting && order, err, "the operators of a step");
    AR_TRY(rank_all(operators, ranks, waiting, order, err));
    qsort(ranks, operators->count, sizeof *ranks, compare_ranks);
    for (uint32_t i = 0; i < operators->count; i++) {
        order[i] = ranks[i].number;
    }
    operators->order = order;
    return AR_OK;
}

double ar_operators_memory_bytes(const struct ar_operators *operators, const uint32_t *devices,
                                 uint32_t device)
{
    double bytes = 0;
    for (uint32_t i = 0; i < operators->count; i++) {
        bytes += devices[i] == device ? (double)operators->list[i].memory_bytes : 0;
    }
    return bytes;
}
