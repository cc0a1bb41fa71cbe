/* What a reader should know of the engine that runs the points of a plan. */
#include <string.h>

#include "cost.h"
#include "plan.h"
#include "progress.h"

enum { LONG_S = 5 };

uint64_t plan_messages(const struct plan *plan, const struct point *point)
{
    struct ar_collective collective = plan_collective(plan, point);
    uint64_t steps = point->payload_bytes > 0 ? 1 : plan->iterations_count;
    uint64_t jobs = plan_buckets(plan, point) * steps;
    return jobs * ar_collective_messages(&collective);
}

void plan_begin(const struct plan *plan, const struct options *options, const struct point *points,
                size_t count)
{
    char text[PROGRESS_TEXT];
    double time_s = 0;
    plan_note_library(plan, options, points, count);
    if (plan->trace != NULL) {
        plan_note_framework(plan, options);
    }
    for (size_t i = 0; i < count; i++) {
        time_s += cost_s(plan, &points[i]);
    }
    if (time_s > LONG_S) {
        plan_note(options, "engine %s takes about %s; --engine closed estimates at once",
                  points[0].engine->name, progress_time(time_s, text));
    }
}

void plan_note_estimates_count(const struct options *options, size_t estimates, size_t count)
{
    if (estimates > 0) {
        plan_note(options,
                  "%zu of %zu rows are estimates (\"no\" in column exact); "
                  "--engine simgrid simulates",
                  estimates, count);
    }
}

void plan_note_estimates(const struct options *options, const struct ar_row *rows, size_t count)
{
    size_t estimates = 0;
    for (size_t i = 0; i < count; i++) {
        estimates += rows[i].exact == 0;
    }
    plan_note_estimates_count(options, estimates, count);
}
