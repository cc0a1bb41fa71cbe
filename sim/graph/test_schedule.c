#include <criterion/criterion.h>

#include "ar_schedule.h"

static struct ar_error err;

/* The actions of a stage as a text: letters forward, capitals backward; chunks by number. */
static const char *text_of(const char *name, struct ar_pipeline pipeline, uint32_t stage)
{
    static char text[512];
    const struct ar_schedule *schedule;
    size_t length = 0;
    cr_assert_eq(ar_schedule_parse("--schedule", name, &schedule, &pipeline.chunks, &err), AR_OK);
    for (uint32_t step = 0; step < 2 * pipeline.batches * pipeline.chunks; step++) {
        struct ar_action action = schedule->action(&pipeline, stage, step);
        text[length++] = (char)((action.is_backward ? 'A' : 'a') + (int)action.batch);
        if (schedule->has_chunks) {
            text[length++] = (char)('0' + (int)action.chunk);
        }
    }
    text[length] = '\0';
    return text;
}

Test(schedule, gpipe_goes_back_over_what_it_did)
{
    const struct ar_pipeline pipeline = {.stages = 3, .batches = 4};
    cr_assert_str_eq(text_of("gpipe", pipeline, 1), "abcdDCBA");
}

Test(schedule, one_forward_one_backward_keeps_as_many_as_stages_follow)
{
    const struct ar_pipeline pipeline = {.stages = 3, .batches = 4};
    cr_assert_str_eq(text_of("1f1b", pipeline, 0), "abcAdBCD");
    cr_assert_str_eq(text_of("1f1b", pipeline, 1), "abAcBdCD");
    cr_assert_str_eq(text_of("1f1b", pipeline, 2), "aAbBcCdD");
}

Test(schedule, fewer_batches_than_stages_all_go_first)
{
    const struct ar_pipeline pipeline = {.stages = 5, .batches = 2};
    cr_assert_str_eq(text_of("1f1b", pipeline, 0), "abAB");
}

Test(schedule, interleaved_deals_the_layers_in_turn)
{
    const struct ar_pipeline pipeline = {.stages = 2, .batches = 4};
    cr_assert_str_eq(text_of("interleaved:2", pipeline, 1), "a0b0a1A1b1B1c0A0d0B0c1C1d1D1C0D0");
}

Test(schedule, every_chunk_of_every_batch_goes_forward_and_then_backward)
{
    static const char *const names[] = {"gpipe", "1f1b", "interleaved:3"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ar_pipeline pipeline = {.stages = 4, .batches = 8};
        const struct ar_schedule *schedule;
        cr_assert_eq(ar_schedule_parse("", names[i], &schedule, &pipeline.chunks, &err), AR_OK);
        for (uint32_t stage = 0; stage < 4; stage++) {
            int state[8][3] = {{0}};
            for (uint32_t step = 0; step < 16 * pipeline.chunks; step++) {
                struct ar_action action = schedule->action(&pipeline, stage, step);
                cr_assert_eq(state[action.batch][action.chunk]++, action.is_backward ? 1 : 0);
            }
        }
    }
}

Test(schedule, names_that_are_none_are_refused_in_one_line)
{
    static const char *const bad[] = {"2f2b",          "interleaved", "interleaved:1",
                                      "interleaved:x", "1f1b:2",      ""};
    const struct ar_schedule *schedule;
    uint32_t chunks;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_assert_eq(ar_schedule_parse("--schedule", bad[i], &schedule, &chunks, &err), AR_USAGE);
    }
    cr_assert_str_eq(err.text, "--schedule: found \"\"; expected gpipe, 1f1b or interleaved:V with "
                               "2 or more chunks V of each stage");
}
