/* The rounds of --mesh all with --best: one layout of each mesh, all schedules of the fastest
 * meshes, all overlaps of the fastest of those layouts. */
#include <string.h>

#include "sweep.h"

/* Rows of each number of GPUs that the next round looks at closer. */
static const size_t refined_max[PLAN_ROUNDS] = {4, 1};

/* Adds the ranges around the fastest rows of each number of GPUs to those that are refined. */
static void rows_choose(struct sweep *last, struct space_request *points, unsigned round,
                        struct ar_arena *arena)
{
    struct best {
        uint32_t variant, condition;
        uint64_t gpus;
        double time_s;
    } *best = ar_arena_alloc(arena, last->space->points_count + 1, sizeof *best);
    size_t count = 0;
    for (uint32_t i = 0; i < last->space->points_count; i++) {
        struct ar_row row;
        journal_read_row(&last->journal, i, &row);
        uint32_t variant = last->space->points[i].variant;
        /* The next round cannot shorten the rest: another schedule may wait less. */
        double bubble_s = round == 0 && row.bubble_s > 0 ? row.bubble_s : 0;
        const struct best own = {variant, variants_condition(&last->space->variants, variant),
                                 row.gpus, row.iteration_s - bubble_s};
        size_t of_same_gpus = 0, slowest = 0;
        for (size_t j = 0; j < count; j++) {
            if (best[j].gpus == own.gpus && best[j].condition == own.condition) {
                bool is_slower = of_same_gpus == 0 || best[j].time_s > best[slowest].time_s;
                slowest = is_slower ? j : slowest;
                of_same_gpus++;
            }
        }
        if (last->journal.statuses[i] == AR_OK && of_same_gpus < refined_max[round]) {
            best[count++] = own;
        } else if (last->journal.statuses[i] == AR_OK && own.time_s < best[slowest].time_s) {
            best[slowest] = own;
        }
    }
    for (size_t i = 0; i < count; i++) {
        points->refined = ar_arena_grow(arena, points->refined, points->refined_count, 1,
                                        sizeof *points->refined);
        points->refined[points->refined_count++] =
            layouts_refine(last->space, best[i].variant, round);
    }
}

/* Returns the rows that the last round has of points of the next one, by point; NULL: none. Points
 * of both are in the order of their variants. */
static const char **rows_carry(const struct sweep *last, const uint32_t *variants,
                               const struct space *next, struct ar_arena *arena)
{
    const char **known = ar_arena_alloc(arena, next->points_count, sizeof *known);
    size_t at = 0;
    for (size_t i = 0; i < next->points_count; i++) {
        while (at < last->journal.points_count && variants[at] < next->points[i].variant) {
            at++;
        }
        bool is_there = at < last->journal.points_count &&
                        variants[at] == next->points[i].variant &&
                        last->journal.statuses[at] == AR_OK;
        known[i] = is_there ? ar_arena_text(arena, last->journal.rows[at]) : NULL;
    }
    return known;
}

enum ar_status sweep_plan(struct sweep_request *request, struct space_request *points,
                          struct space *space, struct ar_arena *arena, struct ar_error *err)
{
    const struct unfit unfit = space->unfit; /* of meshes; later rounds count layouts */
    request->planned_count = space->points_count;
    for (unsigned round = 0; round < PLAN_ROUNDS; round++) {
        struct sweep_request own = *request;
        struct sweep *last = ar_arena_alloc(arena, 1, sizeof *last);
        size_t count = space->points_count;
        uint32_t *variants = ar_arena_alloc(arena, count + 1, sizeof *variants);
        own.notes = NULL;
        own.directory = NULL;
        own.resumes = false;
        enum ar_status status = sweep_compute(&own, space, last, err);
        if (status == AR_OK) {
            for (size_t i = 0; i < count; i++) {
                variants[i] = space->points[i].variant;
            }
            rows_choose(last, points, round, arena);
            space_destroy(space);
            status = space_create(points, space, err);
        }
        request->known = status == AR_OK ? rows_carry(last, variants, space, arena) : NULL;
        ar_arena_end(&last->known_arena);
        sweep_close(last, true);
        AR_TRY(status);
    }
    space->unfit = unfit;
    return AR_OK;
}
