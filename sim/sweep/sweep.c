#include "sweep.h"

#include <inttypes.h>
#include <string.h>

#include "ar_kind.h"
#include "ar_row.h"
#include "ar_text.h"
#include "ar_units.h"

enum { LONG_S = 30 };

/* --- the points as the work of a pool --------------------------------------------------------- */

/* Keeps what is known of messages for a layout on the same mesh, or a collective that differs in
 * the payload alone. A cluster that a scenario made for itself goes with that. */
static struct ar_known *known_find(struct sweep *sweep, const struct point *point,
                                   const struct ar_scenario *scenario)
{
    const struct variant_slot *slot = &sweep->space->variants.cluster;
    const struct ar_layout *layout = &scenario->layout, *other = &sweep->known_layout;
    const struct point *last = &sweep->known_of;
    uint32_t cluster = scenario->cluster == slot->scenario.cluster ? slot->number : UINT32_MAX;
    bool is_on_same = cluster != UINT32_MAX && cluster == sweep->known_cluster;
    bool is_like = point->operation == NULL
                       ? layout->model != NULL && layout->precision == other->precision &&
                             layout->gradients == other->gradients &&
                             memcmp(layout->sizes, other->sizes, sizeof other->sizes) == 0
                       : last->algorithm == point->algorithm &&
                             last->operation == point->operation &&
                             last->variant == point->variant && last->payload_bytes > 0 &&
                             ar_shape_equal(&last->shape, &point->shape);
    if (!is_on_same || !is_like || sweep->known.arena == NULL) {
        ar_arena_end(&sweep->known_arena);
        sweep->known = (struct ar_known){.arena = &sweep->known_arena};
    }
    sweep->known_of = *point;
    sweep->known_layout = *layout;
    sweep->known_cluster = cluster;
    return &sweep->known;
}

static uint32_t point_compute(void *context, uint32_t number, char *answer)
{
    struct sweep *sweep = context;
    struct ar_row row;
    struct ar_error err = {.status = AR_OK};
    struct ar_scenario scenario;
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    const struct point *point = &sweep->space->points[number];
    ar_record_clear(ar_row_columns, &row);
    if (space_scenario(sweep->space, point, &scenario, &err) == AR_OK) {
        struct ar_job job = ar_scenario_job(&scenario);
        job.known = known_find(sweep, point, &scenario);
        job.is_row_alone = true;
        (void)ar_run_job(&scenario, &job, &arena, &timing, &row,
                         &err); /* the row says how it went */
    } else {
        sweep->known.arena = NULL;                             /* its cluster may be gone */
        ar_copy_text(row.status, sizeof row.status, err.text); /* a file is gone meanwhile */
    }
    answer[0] = (char)err.status;
    return 2 + journal_format(&row, answer + 1);
}

static enum ar_status row_take(void *context, const struct ar_pool_answer *answer,
                               struct ar_error *err)
{
    struct sweep *sweep = context;
    char line[JOURNAL_LINE_MAX];
    struct ar_row row;
    struct ar_scenario scenario;
    if (!answer->is_lost) {
        return journal_add(&sweep->journal, answer->item, answer->bytes + 1,
                           (enum ar_status)answer->bytes[0], err);
    }
    ar_record_clear(ar_row_columns, &row); /* the worker died */
    const struct point *point = &sweep->space->points[answer->item];
    if (space_scenario(sweep->space, point, &scenario, AR_IGNORED) == AR_OK) {
        ar_run_describe(&scenario, &row);
    }
    ar_copy_text(row.status, sizeof row.status, answer->bytes);
    journal_format(&row, line);
    return journal_add(&sweep->journal, answer->item, line, AR_INTERNAL, err);
}

static double point_cost_s(const void *context, uint32_t number)
{
    const struct sweep *sweep = context;
    return sweep->space->points[number].cost_s;
}

/* --- one sweep -------------------------------------------------------------------------------- */

/* Queues the points that have no row or failed, but not those that have the times of another. Rows
 * that an earlier round computed are there. */
static enum ar_status points_queue(struct sweep *sweep, struct ar_error *err)
{
    struct space *space = sweep->space;
    uint32_t *missing = ar_arena_alloc(&sweep->arena, space->points_count, sizeof *missing);
    size_t count = 0;
    for (uint32_t i = 0; i < space->points_count; i++) {
        const char *known = sweep->request->known != NULL ? sweep->request->known[i] : NULL;
        if (sweep->journal.statuses[i] != AR_OK && known != NULL) {
            AR_TRY(journal_add(&sweep->journal, i, known, AR_OK, err));
        }
        bool is_missing = sweep->journal.statuses[i] != AR_OK;
        sweep->missing_count += is_missing;
        if (is_missing && space->points[i].same_as == i) {
            missing[count++] = i;
        }
    }
    sweep->queue = ar_pool_queue_create(&sweep->arena, &sweep->work, missing, count);
    return AR_OK;
}

enum ar_status sweep_open(struct sweep *sweep, uint32_t processes, struct ar_error *err)
{
    const struct sweep_request *request = sweep->request;
    if (request->is_complete) {
        ar_note(request->notes, "%s: complete, %zu rows; nothing to compute", request->directory,
                sweep->space->points_count);
        return AR_OK;
    }
    const struct journal_request journal = {.directory = request->directory,
                                            .mark = request->mark,
                                            .points_count = sweep->space->points_count,
                                            .resumes = request->resumes,
                                            .forces = request->forces};
    AR_TRY(journal_open(&journal, &sweep->arena, &sweep->journal, err));
    AR_TRY(points_queue(sweep, err));
    /* Notes how long it will take, and how many rows are there already. */
    FILE *notes = sweep->request->notes;
    double time_s = sweep->queue.cost_s / processes;
    if (sweep->journal.cut_bytes > 0) {
        ar_note(notes, "%s: the last line was damaged, %zu bytes; its point is computed again",
                sweep->journal.path, sweep->journal.cut_bytes);
    }
    if (sweep->request->resumes) {
        ar_note(notes, "%zu of %zu rows are there, %zu to compute",
                sweep->space->points_count - sweep->missing_count, sweep->space->points_count,
                sweep->missing_count);
    }
    if (time_s > LONG_S) {
        ar_note(notes, "about %s on %" PRIu32 " process%s, estimated from messages per point",
                AR_SHOW_DURATION(time_s), processes, processes == 1 ? "" : "es");
    }
    ar_note_flush(request->notes);
    return AR_OK;
}

void sweep_close(struct sweep *sweep, bool is_finished)
{
    journal_close(&sweep->journal, is_finished);
    ar_arena_end(&sweep->arena);
}

/* Makes a sweep whose points are those of the space; `names_items`: errors may name them. */
static void sweep_make(const struct sweep_request *request, struct space *space, bool names_items,
                       struct sweep *sweep)
{
    *sweep =
        (struct sweep){.request = request,
                       .space = space,
                       .work = {.context = sweep,
                                .items_name = names_items ? space->request->kind->items_name : NULL,
                                .bytes_max = JOURNAL_LINE_MAX + 1,
                                .shows_progress = request->shows_progress,
                                .compute = point_compute,
                                .take = row_take,
                                .cost_s = point_cost_s}};
}

enum ar_status sweep_compute(const struct sweep_request *request, struct space *space,
                             struct sweep *sweep, struct ar_error *err)
{
    sweep_make(request, space, true, sweep);
    AR_TRY(sweep_open(sweep, request->jobs, err));
    enum ar_status status = ar_pool_run(&sweep->work, request->jobs, &sweep->queue, err);
    return status == AR_INTERRUPTED ? sweep_report_interrupt(sweep, err) : status;
}

enum ar_status sweep_run(const struct sweep_request *request, struct space *space,
                         enum ar_status status, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct sweep *sweep = ar_arena_alloc(&arena, 1, sizeof *sweep);
    if (request->launcher.ranks > 1) {
        sweep_make(request, space, status == AR_OK, sweep);
        status = ranks_run(sweep, status, err);
    } else if (status == AR_OK) {
        status = sweep_compute(request, space, sweep, err);
        status = status == AR_OK ? sweep_finish(sweep, err) : status;
        sweep_close(sweep, status == AR_OK);
    }
    ar_arena_end(&sweep->known_arena);
    return status;
}
