/* The rounds of --mesh all with --best: one layout of each mesh, those first that compute least,
 * then those that may still be faster; all schedules of the fastest meshes, all overlaps of the
 * fastest of those layouts. */
#include <math.h>

#include "sweep.h"

/* Rows of each number of GPUs that the next round looks at closer. */
static const size_t refined_max[PLAN_ROUNDS] = {4, 1};

/* A row that is among the fastest. */
struct best {
    uint32_t variant, condition;
    uint64_t gpus;
    double time_s;
};

/* The fastest rows of a round, `most` of each number of GPUs, by times with bubbles or without. */
static struct best *rows_best(struct sweep *last, size_t most, bool with_bubbles,
                              struct ar_arena *arena, size_t *count)
{
    struct best *best = ar_arena_alloc(arena, last->space->points_count + 1, sizeof *best);
    *count = 0;
    for (uint32_t i = 0; i < last->space->points_count; i++) {
        struct ar_row row;
        journal_read_row(&last->journal, i, &row);
        uint32_t variant = last->space->points[i].variant;
        double bubble_s = !with_bubbles && row.bubble_s > 0 ? row.bubble_s : 0;
        const struct best own = {variant, variants_condition(&last->space->variants, variant),
                                 row.gpus, row.iteration_s - bubble_s};
        size_t of_same_gpus = 0, slowest = 0;
        for (size_t j = 0; j < *count; j++) {
            if (best[j].gpus == own.gpus && best[j].condition == own.condition) {
                bool is_slower = of_same_gpus == 0 || best[j].time_s > best[slowest].time_s;
                slowest = is_slower ? j : slowest;
                of_same_gpus++;
            }
        }
        if (last->journal.statuses[i] == AR_OK && of_same_gpus < most) {
            best[(*count)++] = own;
        } else if (last->journal.statuses[i] == AR_OK && own.time_s < best[slowest].time_s) {
            best[slowest] = own;
        }
    }
    return best;
}

/* Adds the ranges around the fastest rows of each number of GPUs to those that are refined. */
static void rows_choose(struct sweep *last, struct space_request *points, unsigned round,
                        struct ar_arena *arena)
{
    size_t count;
    /* Bubbles do not count where schedules are tried next: another one may wait less. */
    const struct best *best = rows_best(last, refined_max[round], round > 0, arena, &count);
    for (size_t i = 0; i < count; i++) {
        *AR_ARENA_ADD(arena, points->refined, points->refined_count) =
            layouts_refine(last->space, best[i].variant, round);
    }
}

/* Limits the layouts of each number of GPUs to those that compute at most twice as long as the one
 * that computes least. */
static enum ar_status limits_begin(struct space *space, struct space_request *points,
                                   struct ar_arena *arena, struct ar_error *err)
{
    points->limits = ar_arena_alloc(arena, space->points_count, sizeof *points->limits);
    AR_EACH(const struct point, point, space->points, space->points_count) {
        uint32_t condition = variants_condition(&space->variants, point->variant);
        struct limit *limit = layouts_limit(points, point->shape.x, condition);
        if (limit == NULL) {
            limit = &points->limits[points->limits_count++];
            *limit = (struct limit){point->shape.x, condition, INFINITY};
        }
        limit->most_s = fmin(limit->most_s, 2 * point->least_s);
    }
    space_destroy(space);
    return space_create(points, space, err);
}

/* Doubles the limits, up to the slowest of the rows that the second round looks at: what computes
 * longer is none of them. Returns whether one that was left out may be. */
static bool limits_raise(struct sweep *last, struct space_request *points, struct ar_arena *arena)
{
    size_t count;
    bool is_raised = false;
    const struct best *best = rows_best(last, refined_max[0], true, arena, &count);
    for (struct limit *limit = points->limits; limit < points->limits + points->limits_count;
         limit++) {
        size_t same = 0;
        double slowest_s = 0;
        for (size_t j = 0; j < count; j++) {
            bool is_same = best[j].gpus == limit->gpus && best[j].condition == limit->condition;
            same += is_same;
            slowest_s = is_same ? fmax(slowest_s, best[j].time_s) : slowest_s;
        }
        slowest_s = same < refined_max[0] ? INFINITY : slowest_s;
        is_raised = is_raised || limit->most_s < slowest_s;
        limit->most_s = fmin(2 * limit->most_s, slowest_s);
    }
    return is_raised;
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
    const size_t all_count = request->planned_count = space->points_count;
    enum ar_status status = limits_begin(space, points, arena, err);
    for (unsigned round = 0; status == AR_OK && round < PLAN_ROUNDS;) {
        struct sweep_request own = *request;
        struct sweep *last = ar_arena_alloc(arena, 1, sizeof *last);
        size_t count = space->points_count;
        uint32_t *variants = ar_arena_alloc(arena, count + 1, sizeof *variants);
        for (size_t i = 0; i < count; i++) {
            variants[i] = space->points[i].variant;
        }
        own.notes = NULL;
        own.directory = NULL;
        own.resumes = false;
        status = sweep_compute(&own, space, last, err);
        bool has_more = round == 0 && status == AR_OK && limits_raise(last, points, arena);
        if (status == AR_OK && (count == all_count || !has_more)) {
            request->slow_count = round == 0 ? all_count - count : request->slow_count;
            rows_choose(last, points, round++, arena);
        }
        if (status == AR_OK) {
            space_destroy(space);
            status = space_create(points, space, err);
        }
        request->known = status == AR_OK ? rows_carry(last, variants, space, arena) : NULL;
        ar_arena_end(&last->known_arena);
        sweep_close(last, true);
    }
    space->unfit = unfit;
    return status;
}
