#include "ar_schedule.h"
#include "test_outcome.h"

/* The actions of a stage as a text: letters forward, capitals backward; chunks by number. */
static const char *text_of(const char *name, struct ar_pipeline pipeline, uint32_t stage)
{
    static char text[512];
    const struct ar_schedule *schedule;
    size_t length = 0;
    TEST_OK(ar_schedule_parse("--schedule", name, &schedule, &pipeline.chunks, &why));
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

Test(schedule, the_order_of_a_stage_is_that_by_hand)
{
    static const struct {
        const char *title, *name;
        struct ar_pipeline pipeline;
        uint32_t stage;
        const char *order;
    } cases[] = {
        {"goes back over what it did", "gpipe", {.stages = 3, .batches = 4}, 1, "abcdDCBA"},
        {"keeps as many as stages follow", "1f1b", {.stages = 3, .batches = 4}, 0, "abcAdBCD"},
        {"one less on the next", "1f1b", {.stages = 3, .batches = 4}, 1, "abAcBdCD"},
        {"none on the last", "1f1b", {.stages = 3, .batches = 4}, 2, "aAbBcCdD"},
        {"fewer batches than stages all go first", "1f1b", {.stages = 5, .batches = 2}, 0, "abAB"},
        {"layers are dealt in turn",
         "interleaved:2",
         {.stages = 2, .batches = 4},
         1,
         "a0b0a1A1b1B1c0A0d0B0c1C1d1D1C0D0"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_str_eq(text_of(cases[i].name, cases[i].pipeline, cases[i].stage), cases[i].order,
                         "%s: %s", cases[i].name, cases[i].title);
    }
}

Test(schedule, every_chunk_of_every_batch_goes_forward_and_then_backward)
{
    static const char *const names[] = {"gpipe", "1f1b", "interleaved:3"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ar_pipeline pipeline = {.stages = 4, .batches = 8};
        const struct ar_schedule *schedule;
        TEST_OK(ar_schedule_parse("", names[i], &schedule, &pipeline.chunks, &why));
        for (uint32_t stage = 0; stage < 4; stage++) {
            int state[8][3] = {{0}};
            uint32_t kept = 0, most = 0;
            for (uint32_t step = 0; step < 16 * pipeline.chunks; step++) {
                struct ar_action action = schedule->action(&pipeline, stage, step);
                cr_assert_eq(state[action.batch][action.chunk]++, action.is_backward ? 1 : 0);
                kept += action.is_backward ? -1u : 1u;
                most = kept > most ? kept : most;
            }
            cr_assert_eq(ar_schedule_kept(schedule, &pipeline, stage), most);
        }
    }
}

Test(schedule, names_that_are_none_are_refused_in_one_line)
{
    static const char *const bad[] = {"2f2b",          "interleaved", "interleaved:1",
                                      "interleaved:x", "1f1b:2",      ""};
    const struct ar_schedule *schedule;
    uint32_t chunks;
    TEST_EACH_FAILS(
        AR_USAGE, "\"; expected gpipe, 1f1b or interleaved:V with 2 or more chunks V of each stage",
        bad, ar_schedule_parse("--schedule", given, &schedule, &chunks, &why));
}
