/** \file reproduce_list.h
 * A growing list of predictions to make, and the curves that are made of one.
 */
#ifndef AR_REPRODUCE_LIST_H
#define AR_REPRODUCE_LIST_H

#include "reproduce.h"

/** Begins as all zeros; freed with evaluation_list_free(). */
struct evaluation_list {
    struct evaluation *items;
    struct outcome *outcomes; /**< of each item, once they have run */
    uint32_t count;
    uint32_t capacity;
};

/** Appends the nominal prediction of a row; NULL if there is no memory. */
struct evaluation *evaluation_list_append(struct evaluation_list *list, uint32_t row);

/** Makes all predictions; those that fail say so in their outcome. */
enum ar_status evaluation_list_run(const struct reproduction *reproduction,
                                   struct evaluation_list *list, struct ar_error *err);
void evaluation_list_free(struct evaluation_list *list);

/** Fills in the curves; needs the results. A point that is no run, such as more GPUs than the
 * cluster has, is left out. */
enum ar_status reproduce_run_curves(struct reproduction *reproduction, struct ar_error *err);

#endif
