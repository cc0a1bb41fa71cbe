/** \file ar_heap.h
 * A binary heap of things to do: the earliest comes first, among those at one time the one of the
 * lowest order. Begins as zeros but for `list`, with room for all that is ever in it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ar_due {
    double time_s;
    uint64_t order;        /**< no two have the same */
    uint32_t number, kind; /**< what it is; of the caller */
};

struct ar_heap {
    struct ar_due *list; /**< the first one is the next */
    uint32_t count;
};

static inline bool ar_due_is_before(const struct ar_due *a, const struct ar_due *b)
{
    return a->time_s != b->time_s ? a->time_s < b->time_s : a->order < b->order;
}

static inline void ar_heap_push(struct ar_heap *heap, struct ar_due due)
{
    uint32_t at = heap->count++;
    for (; at > 0 && ar_due_is_before(&due, &heap->list[(at - 1) / 2]); at = (at - 1) / 2) {
        heap->list[at] = heap->list[(at - 1) / 2];
    }
    heap->list[at] = due;
}

/** Takes the next one out; there must be one. */
static inline struct ar_due ar_heap_pop(struct ar_heap *heap)
{
    struct ar_due *list = heap->list, first = list[0], last = list[--heap->count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        child += child + 1 < heap->count && ar_due_is_before(&list[child + 1], &list[child]);
        if (!ar_due_is_before(&list[child], &last)) {
            break;
        }
        list[at] = list[child];
    }
    list[at] = last;
    return first;
}
