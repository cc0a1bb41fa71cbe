/* Predictions in parallel processes. */
#include <string.h>

#include "ar_pool.h"
#include "reproduce.h"

struct context {
    const struct reproduction *reproduction;
    const struct evaluation *evaluations;
    struct outcome *outcomes;
};

static uint32_t compute(void *context, uint32_t item, char *bytes)
{
    const struct context *own = context;
    struct outcome outcome;
    reproduce_evaluate(own->reproduction, &own->evaluations[item], &outcome);
    memcpy(bytes, &outcome, sizeof outcome);
    return sizeof outcome;
}

static enum ar_status take(void *context, const struct ar_pool_answer *answer, struct ar_error *err)
{
    const struct context *own = context;
    if (answer->is_lost) {
        char where[PUBLISHED_WHERE];
        uint32_t row = own->evaluations[answer->item].row;
        return ar_error_set(err, AR_INTERNAL, "%s: %s",
                            published_where(&own->reproduction->rows.rows[row], where),
                            answer->bytes);
    }
    memcpy(&own->outcomes[answer->item], answer->bytes, sizeof own->outcomes[0]);
    return AR_OK;
}

enum ar_status reproduce_evaluate_all(const struct reproduction *reproduction,
                                      const struct evaluation *evaluations, uint32_t count,
                                      struct outcome *outcomes, struct ar_error *err)
{
    struct ar_arena arena = {0};
    struct ar_pool_queue queue;
    struct context context = {reproduction, evaluations, outcomes};
    const struct ar_pool_work work = {.context = &context,
                                      .items_name = "predictions",
                                      .bytes_max = sizeof(struct outcome),
                                      .compute = compute,
                                      .take = take};
    enum ar_status status = ar_pool_queue_create(&arena, &work, NULL, count, &queue, err);
    if (status == AR_OK) {
        status = ar_pool_run(&work, reproduction->jobs, &queue, err);
    }
    ar_arena_end(&arena);
    return status;
}
