/** \file test_job.h
 * For tests: a job and its timing in one place.
 */
#ifndef TEST_JOB_H
#define TEST_JOB_H

#include <criterion/criterion.h>

#include "ar_engine.h"
#include "ar_kind.h"
#include "test_support.h"

struct tested {
    struct ar_job job;
    struct ar_timing timing;
    struct ar_arena arena; /* of the timing, until tested_end() */
};

static inline enum ar_status tested_try(struct tested *step, struct ar_error *err)
{
    return ar_predict(&step->job, &step->arena, &step->timing, err);
}

static inline void tested_end(struct tested *step)
{
    ar_arena_end(&step->arena);
}

/* Runs a job and ends its timing; the numbers stay. */
static inline void tested_run(struct tested *step)
{
    struct ar_error err = {.text = ""};
    enum ar_status status = tested_try(step, &err);
    cr_assert(status == AR_OK, "%s", err.text);
    tested_end(step);
}

/* A step of a trace with an algorithm in a shape and a rule of fusion, in fp16 by the closed form.
 */
static inline struct tested tested_trace(const struct ar_cluster *cluster,
                                         const struct ar_trace *trace, const char *algorithm,
                                         uint32_t x, uint32_t y, const char *rule)
{
    struct ar_error err = {.text = ""};
    struct tested step = {.job = {.kind = &ar_kind_trace,
                                  .iterations_count = 1,
                                  .collective = support_collective(cluster, algorithm, x, y),
                                  .trace = trace,
                                  .engine = &ar_engine_closed,
                                  .baseline = AR_BASELINE_GPU}};
    step.job.collective.element_bytes = 2;
    cr_assert_eq(ar_fusion_parse("--bucket", rule, &step.job.fusion, &err), AR_OK, "%s", err.text);
    return step;
}

#endif
