/* Steps of other programs: which reader a file is for, and how tasks are added. */
#include "recorded.h"

#include <assert.h>

#include "ar_file.h"

enum ar_status recorded_room(struct ar_recorded *recorded, size_t tasks, size_t needs,
                             struct ar_arena *arena, struct ar_error *err)
{
    AR_REFUSE(tasks > AR_RECORDED_TASKS_MAX || needs > 4 * (size_t)AR_RECORDED_TASKS_MAX, err,
              AR_BAD_DATA,
              "%.200s: found %zu tasks with %zu needs; expected at most %d and four times as many",
              recorded->path, tasks, needs, AR_RECORDED_TASKS_MAX);
    recorded->tasks = ar_arena_alloc(arena, tasks + 1, sizeof *recorded->tasks);
    recorded->needs = ar_arena_alloc(arena, needs + 1, sizeof *recorded->needs);
    return AR_OK;
}

uint32_t ar_recorded_add(struct ar_recorded *recorded, const struct ar_recorded_task *task)
{
    struct ar_recorded_task *added = &recorded->tasks[recorded->tasks_count];
    *added = *task;
    added->needs_first = recorded->needs_count;
    added->needs_count = 0;
    return recorded->tasks_count++;
}

void ar_recorded_need(struct ar_recorded *recorded, uint32_t other)
{
    assert(recorded->tasks_count > 0 && other < recorded->tasks_count - 1);
    recorded->needs[recorded->needs_count++] = other;
    recorded->tasks[recorded->tasks_count - 1].needs_count++;
}

enum ar_status ar_recorded_parse(const char *path, char *text, size_t bytes, struct ar_arena *arena,
                                 struct ar_recorded **recorded, struct ar_error *err)
{
    struct ar_recorded *made = ar_arena_alloc(arena, 1, sizeof *made);
    size_t length = 0;
    made->path = ar_arena_text(arena, path);
    /* A text begins with a word of ASTRA-sim's parallelisms, a Chakra trace with the length of its
     * first message and a field of that. */
    while (length < bytes && length < 64 && text[length] >= ' ') {
        length++;
    }
    bool is_text = length > 3 && text[0] >= 'A' && text[0] <= 'Z';
    AR_TRY(is_text ? astra_text_read(made, text, bytes, arena, err)
                   : chakra_read(made, text, bytes, arena, err));
    AR_REFUSE(made->tasks_count == 0, err, AR_BAD_DATA,
              "%.200s: found nothing that a GPU does; expected computations or collectives", path);
    *recorded = made;
    return AR_OK;
}

enum ar_status ar_recorded_load(const char *path, struct ar_arena *arena,
                                struct ar_recorded **recorded, struct ar_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    AR_TRY(ar_file_read(path, AR_RECORDED_BYTES_MAX, "a workload", arena, &text, &bytes, err));
    return ar_recorded_parse(path, text, bytes, arena, recorded, err);
}
