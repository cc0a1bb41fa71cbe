#include "ar_schedule.h"

#include <string.h>

#include "ar_units.h"

static struct ar_action gpipe_action(const struct ar_pipeline *pipeline, uint32_t stage,
                                     uint32_t step)
{
    (void)stage;
    uint32_t m = pipeline->batches;
    bool is_backward = step >= m;
    return (struct ar_action){.is_backward = is_backward,
                              .batch = is_backward ? 2 * m - 1 - step : step};
}

/* Forward number k of all chunks: p micro-batches go through a chunk, then through the next. */
static struct ar_action make_action(const struct ar_pipeline *pipeline, bool is_backward,
                                    uint32_t k)
{
    uint32_t round = pipeline->stages * pipeline->chunks;
    uint32_t chunk = k % round / pipeline->stages;
    return (struct ar_action){.is_backward = is_backward,
                              .batch = k / round * pipeline->stages + k % pipeline->stages,
                              .chunk = is_backward ? pipeline->chunks - 1 - chunk : chunk};
}

/* `ahead` forward, then one forward and one backward in turn, then what is left backward. */
static struct ar_action in_turn(const struct ar_pipeline *pipeline, uint32_t ahead, uint32_t step)
{
    uint32_t all = pipeline->batches * pipeline->chunks;
    ahead = ahead < all ? ahead : all;
    uint32_t turns = 2 * (all - ahead);
    if (step < ahead) {
        return make_action(pipeline, false, step);
    }
    uint32_t turn = step - ahead;
    if (turn >= turns) {
        return make_action(pipeline, true, turns / 2 + turn - turns);
    }
    return turn % 2 == 0 ? make_action(pipeline, false, ahead + turn / 2)
                         : make_action(pipeline, true, turn / 2);
}

static struct ar_action one_each_action(const struct ar_pipeline *pipeline, uint32_t stage,
                                        uint32_t step)
{
    const struct ar_pipeline plain = {.stages = 1, .batches = pipeline->batches, .chunks = 1};
    return in_turn(&plain, pipeline->stages - 1 - stage, step);
}

static struct ar_action interleaved_action(const struct ar_pipeline *pipeline, uint32_t stage,
                                           uint32_t step)
{
    uint32_t ahead = 2 * (pipeline->stages - 1 - stage) + (pipeline->chunks - 1) * pipeline->stages;
    return in_turn(pipeline, ahead, step);
}

static const struct ar_schedule gpipe = {"gpipe", "all micro-batches forward, then all backward",
                                         false, gpipe_action};
static const struct ar_schedule one_each = {
    "1f1b", "one micro-batch forward and one backward in turn", false, one_each_action};
static const struct ar_schedule interleaved = {
    "interleaved", "the same with V chunks of layers on each stage", true, interleaved_action};

const struct ar_schedule *const ar_schedules[] = {&gpipe, &one_each, &interleaved};
const size_t ar_schedules_count = sizeof ar_schedules / sizeof ar_schedules[0];

enum ar_status ar_schedule_parse(const char *where, const char *text,
                                 const struct ar_schedule **schedule, uint32_t *chunks,
                                 struct ar_error *err)
{
    size_t length = strcspn(text, ":");
    uint64_t count = 1;
    for (size_t i = 0; i < ar_schedules_count; i++) {
        const struct ar_schedule *row = ar_schedules[i];
        if (strlen(row->name) != length || strncmp(row->name, text, length) != 0) {
            continue;
        }
        if (row->has_chunks == (text[length] == ':') &&
            (!row->has_chunks ||
             ar_parse_count("", text + length + 1, 2, 1024, &count, AR_IGNORED) == AR_OK)) {
            *schedule = row;
            *chunks = (uint32_t)count;
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_USAGE,
                        "%s: found \"%.60s\"; expected gpipe, 1f1b or interleaved:V with 2 or more "
                        "chunks V of each stage",
                        where, text);
}

uint32_t ar_schedule_kept(const struct ar_schedule *schedule, const struct ar_pipeline *pipeline,
                          uint32_t stage)
{
    uint32_t step = 0; /* from the first one backward on no two go forward in a row */
    while (!schedule->action(pipeline, stage, step).is_backward) {
        step++;
    }
    return step;
}
