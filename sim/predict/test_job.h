/** \file test_job.h
 * For tests: a job and its timing in one place.
 */
#ifndef TEST_JOB_H
#define TEST_JOB_H

#include <criterion/criterion.h>

#include "ar_kind.h"

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

#endif
