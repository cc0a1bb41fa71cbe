/* Predictions against the number of GPUs: each row with its own algorithm and those to compare. */
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "reproduce_list.h"

enum { CURVE_MIN = 4, CURVE_MAX = 4096, CURVE_ALGORITHMS = 4, CURVE_GPUS_MAX = 16 };

/* 4 to 4096 doubling, and the number of the row, in order. */
static uint32_t list_gpus(uint32_t own, uint32_t gpus[CURVE_GPUS_MAX])
{
    uint32_t count = 0;
    bool is_listed = own == 0;
    for (uint32_t next = CURVE_MIN; next <= CURVE_MAX; next *= 2) {
        if (!is_listed && own <= next) {
            is_listed = true;
            if (own < next) {
                gpus[count++] = own;
            }
        }
        gpus[count++] = next;
    }
    if (!is_listed) {
        gpus[count++] = own;
    }
    return count;
}

/* Appends a point of a curve; that of the run itself has all that the row says. */
static enum ar_status append_point(const struct reproduction *reproduction, uint32_t row,
                                   const char *algorithm, uint32_t gpus,
                                   struct evaluation_list *list, struct ar_error *err)
{
    const struct reproduced *own = &reproduction->results[row];
    struct evaluation *item = evaluation_list_append(list, row);
    if (item == NULL) {
        return ar_error_no_memory(err, "the curves");
    }
    item->is_draw = true;
    if (gpus != own->gpus || strcmp(algorithm, own->algorithm) != 0) {
        item->algorithm = algorithm;
        item->gpus = gpus;
    }
    return AR_OK;
}

/* The algorithm of the row first, then those that are compared. */
static uint32_t list_algorithms(const char *own, const char *algorithms[CURVE_ALGORITHMS])
{
    static const char *const compared[] = {"torus2d", "ring", "hierarchical"};
    uint32_t count = 0;
    algorithms[count++] = own;
    for (size_t i = 0; i < sizeof compared / sizeof compared[0]; i++) {
        if (strcmp(compared[i], own) != 0) {
            algorithms[count++] = compared[i];
        }
    }
    return count;
}

/* A run of several nodes. What happens in one node is another matter than how many there are. */
static bool has_curve(const struct reproduction *reproduction, uint32_t row)
{
    return !published_is_context(&reproduction->rows.rows[row]) &&
           reproduction->results[row].nodes > 1;
}

static enum ar_status list_curves(const struct reproduction *reproduction,
                                  struct evaluation_list *list, struct ar_error *err)
{
    uint32_t gpus[CURVE_GPUS_MAX];
    const char *algorithms[CURVE_ALGORITHMS];
    for (uint32_t row = 0; row < reproduction->rows.count; row++) {
        const struct reproduced *result = &reproduction->results[row];
        if (!has_curve(reproduction, row)) {
            continue;
        }
        uint32_t count = list_gpus(result->gpus, gpus);
        uint32_t algorithms_count = list_algorithms(result->algorithm, algorithms);
        for (uint32_t i = 0; i < count * algorithms_count; i++) {
            AR_TRY(
                append_point(reproduction, row, algorithms[i / count], gpus[i % count], list, err));
        }
    }
    return AR_OK;
}

static enum ar_status run_curves(struct reproduction *reproduction, struct evaluation_list *list,
                                 struct ar_error *err)
{
    AR_TRY(list_curves(reproduction, list, err));
    AR_TRY(evaluation_list_run(reproduction, list, err));
    reproduction->curves = calloc(list->count + 1, sizeof *reproduction->curves);
    if (reproduction->curves == NULL) {
        return ar_error_no_memory(err, "the curves");
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const struct outcome *outcome = &list->outcomes[i];
        if (outcome->err.status == AR_OK) {
            struct curve_point *point = &reproduction->curves[reproduction->curves_count++];
            *point = (struct curve_point){
                .row = list->items[i].row, .gpus = outcome->gpus, .value = outcome->value};
            ar_copy_text(point->algorithm, sizeof point->algorithm, outcome->algorithm);
        }
    }
    return AR_OK;
}

enum ar_status reproduce_run_curves(struct reproduction *reproduction, struct ar_error *err)
{
    struct evaluation_list list = {.count = 0};
    enum ar_status status = run_curves(reproduction, &list, err);
    evaluation_list_free(&list);
    return status;
}
