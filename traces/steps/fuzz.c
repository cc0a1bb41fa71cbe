/* A fuzz target of both readers: under libFuzzer with ALLRECKON_FUZZ=ON, else a test that replays
 * files (fuzz_replay.c). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "ar_recorded.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What holds for every step that is made. */
static void check_step(const struct ar_recorded *recorded)
{
    uint32_t needs = 0;
    assert(recorded->tasks_count > 0 && recorded->form != NULL);
    for (uint32_t i = 0; i < recorded->tasks_count; i++) {
        const struct ar_recorded_task *task = &recorded->tasks[i];
        assert(isfinite(task->time_s) && task->time_s >= 0 && task->needs_first == needs);
        needs += task->needs_count;
        for (uint32_t k = 0; k < task->needs_count; k++) {
            assert(recorded->needs[task->needs_first + k] < i);
        }
    }
    assert(needs == recorded->needs_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ar_error err;
    struct ar_arena arena = {NULL};
    struct ar_recorded *recorded = NULL;
    char *text = ar_arena_alloc(&arena, size + 1, 1);
    assert(text != NULL);
    if (size > 0) {
        memcpy(text, bytes, size);
    }
    enum ar_status status = ar_recorded_parse("fuzz", text, size, &arena, &recorded, &err);
    assert(status == AR_OK || status == AR_BAD_DATA);
    if (status == AR_OK) {
        check_step(recorded);
    }
    ar_arena_end(&arena);
    return 0;
}
