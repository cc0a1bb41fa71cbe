/** \file test_job.h
 * For tests: a job and its timing in one place.
 */
#pragma once

#include "ar_engine.h"
#include "ar_kind.h"
#include "test_outcome.h"
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
    TEST_OK(tested_try(step, &why));
    tested_end(step);
}

/* A step of a trace with an algorithm in a shape and a rule of fusion, fp16, by the closed form. */
static inline struct tested tested_trace(const struct ar_cluster *cluster,
                                         const struct ar_trace *trace, const char *algorithm,
                                         uint32_t x, uint32_t y, const char *rule)
{
    struct tested step = {.job = {.kind = &ar_kind_trace,
                                  .iterations_count = 1,
                                  .collective = support_collective(cluster, algorithm, x, y),
                                  .trace = trace,
                                  .elements = ar_trace_gradient_elements(trace),
                                  .engine = &ar_engine_closed,
                                  .baseline = AR_BASELINE_GPU}};
    step.job.fused_bytes = step.job.collective.element_bytes = 2;
    TEST_OK(ar_fusion_parse("--bucket", rule, &step.job.fusion, &why));
    return step;
}

/* A step of a transformer, which is settled, on a mesh: a layer takes `layer_s` forward, and twice
 * that backward. */
static inline struct tested tested_layout(const struct ar_cluster *cluster,
                                          struct ar_transformer *model,
                                          const uint32_t sizes[AR_AXES_COUNT],
                                          const struct ar_strategy *strategy, double layer_s)
{
    struct tested step = {
        .job = {.kind = &ar_kind_transformer,
                .layout = {.model = model,
                           .global_batch = 4 * sizes[AR_AXIS_DP] * sizes[AR_AXIS_EP],
                           .micro_batch = 1,
                           .prefetch = 1,
                           .overlaps = true,
                           .strategy = strategy},
                .times = {.forward_s = {[AR_PART_LAYER] = layer_s},
                          .backward_s = {[AR_PART_LAYER] = 2 * layer_s}},
                .collective = {.cluster = cluster, .channels = 2, .window = 8, .element_bytes = 2},
                .engine = &ar_engine_recurrence,
                .iterations_count = 1}};
    struct ar_layout *layout = &step.job.layout;
    TEST_OK(ar_transformer_settle("gpt", model, &why));
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
        layout->sizes[axis] = sizes[axis];
    }
    TEST_OK(ar_schedule_parse("", "1f1b", &layout->schedule, &layout->chunks, &why));
    TEST_OK(ar_layout_check("", layout, &why));
    return step;
}
