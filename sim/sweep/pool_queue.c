/* The order in which the items of a pool are computed. */
#include <stdlib.h>

#include "ar_pool.h"

/* Every so many items, one short one comes first, up to a maximum, and long ones as long as the
 * shortest of them take together no more than `first_s`. */
enum { ITEMS_PER_FIRST = 16, FEW = 8 };

static const double first_s = 2;

struct ranked {
    double cost_s; /* 0: short */
    uint32_t item;
    size_t place;
};

static int compare(const void *a, const void *b)
{
    const struct ranked *left = a;
    const struct ranked *right = b;
    if (left->cost_s != right->cost_s) {
        return left->cost_s < right->cost_s ? 1 : -1;
    }
    return (left->place > right->place) - (left->place < right->place);
}

double ar_pool_item_cost_s(const struct ar_pool_work *work, uint32_t item)
{
    return work->cost_s != NULL ? work->cost_s(work->context, item) : AR_POOL_CHEAP_S;
}

/* How many of the long items, the last of the ranking, are to come first: at least so many. */
static size_t count_small(const struct ranked *ranking, size_t longs, size_t min)
{
    size_t small = 0;
    double sum_s = 0;
    while (small < longs / 2 &&
           (small < min || sum_s + ranking[longs - 1 - small].cost_s <= first_s)) {
        sum_s += ranking[longs - 1 - small].cost_s;
        small++;
    }
    return small;
}

enum ar_status ar_pool_queue_create(struct ar_arena *arena, const struct ar_pool_work *work,
                                    const uint32_t *items, size_t count,
                                    struct ar_pool_queue *queue, struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    uint32_t *ordered = ar_arena_alloc(arena, count, sizeof *ordered);
    struct ranked *ranking = ar_arena_alloc(&scratch, count + 1, sizeof *ranking);
    AR_NEED(ordered && ranking, err, work->items_name);
    for (size_t i = 0; i < count; i++) {
        uint32_t item = items != NULL ? items[i] : (uint32_t)i;
        double cost_s = ar_pool_item_cost_s(work, item);
        ranking[i] = (struct ranked){cost_s < AR_POOL_CHEAP_S ? 0 : cost_s, item, i};
    }
    qsort(ranking, count, sizeof *ranking, compare);
    size_t longs = 0;
    while (longs < count && ranking[longs].cost_s > 0) {
        longs++;
    }
    bool has_order = count > 0 && ranking[0].cost_s > ranking[count - 1].cost_s;
    size_t few = !has_order ? 0 : count / ITEMS_PER_FIRST < FEW ? count / ITEMS_PER_FIRST : FEW;
    size_t cheap = few < count - longs ? few : count - longs;
    size_t small = has_order ? count_small(ranking, longs, few - cheap) : 0;
    for (size_t i = 0; i < count; i++) {
        size_t place = i < cheap           ? count - cheap + i
                       : i < cheap + small ? longs - 1 - (i - cheap)
                       : i < cheap + longs ? i - cheap - small
                                           : i - cheap;
        ordered[i] = ranking[place].item;
    }
    *queue = (struct ar_pool_queue){.items = ordered, .count = count};
    return AR_OK;
}

double ar_pool_queue_next_s(const struct ar_pool_queue *queue, const struct ar_pool_work *work)
{
    return queue->next < queue->count ? ar_pool_item_cost_s(work, queue->items[queue->next]) : 0;
}
