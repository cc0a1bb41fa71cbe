#include "reproduce_list.h"

#include <stdlib.h>

void evaluation_list_free(struct evaluation_list *list)
{
    free(list->items);
    free(list->outcomes);
}

struct evaluation *evaluation_list_append(struct evaluation_list *list, uint32_t row)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        void *grown = realloc(list->items, capacity * sizeof *list->items);
        if (grown == NULL) {
            return NULL;
        }
        list->items = grown;
        list->capacity = capacity;
    }
    struct evaluation *item = &list->items[list->count++];
    *item = (struct evaluation){.row = row};
    for (size_t i = 0; i < RANGES_MAX; i++) {
        item->picks[i] = PICK_NOMINAL;
    }
    return item;
}

enum ar_status evaluation_list_run(const struct reproduction *reproduction,
                                   struct evaluation_list *list, struct ar_error *err)
{
    list->outcomes = calloc(list->count + 1, sizeof *list->outcomes);
    if (list->outcomes == NULL) {
        return ar_error_no_memory(err, "the predictions");
    }
    return list->count > 0
               ? reproduce_evaluate_all(reproduction, list->items, list->count, list->outcomes, err)
               : AR_OK;
}
