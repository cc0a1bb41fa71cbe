/* Which engine runs the points of a plan, and what a reader should know of it. */
#include <string.h>

#include "plan.h"

enum { AUTO_MESSAGES_MOST = 2000000, LONG_COST = 1000000 };

uint64_t plan_messages(const struct plan *plan, const struct point *point)
{
    struct ar_collective collective = plan_collective(plan, point);
    uint64_t jobs =
        point->payload_bytes > 0 ? 1 : (uint64_t)plan->buckets_count * plan->iterations_count;
    return jobs * ar_collective_messages(&collective);
}

static uint64_t most_messages_at(const struct plan *plan, const struct point *points, size_t count,
                                 uint32_t gpus)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t messages = plan_messages(plan, &points[i]);
        if (ar_shape_ranks(&points[i].shape) == gpus && messages > most) {
            most = messages;
        }
    }
    return most;
}

size_t plan_choose_engines(const struct plan *plan, struct point *points, size_t count)
{
    struct ar_error ignored;
    const struct ar_engine *simgrid = NULL;
    const struct ar_engine *recurrence = NULL;
    ar_engine_find("auto", "simgrid", &simgrid, &ignored);
    ar_engine_find("auto", "recurrence", &recurrence, &ignored);
    size_t not_simulated = 0;
    for (size_t i = 0; i < count; i++) {
        points[i].engine = plan->engine;
        if (plan->engine == NULL) {
            uint32_t gpus = ar_shape_ranks(&points[i].shape);
            bool is_small = most_messages_at(plan, points, count, gpus) <= AUTO_MESSAGES_MOST;
            points[i].engine = is_small ? simgrid : recurrence;
            not_simulated += !is_small;
        }
    }
    return not_simulated;
}

double plan_cost(const struct plan *plan, const struct point *point)
{
    static const struct {
        const char *engine;
        double per_message;
    } costs[] = {{"simgrid", 1}, {"recurrence", 1e-3}}; /* the closed form's is none */
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        if (strcmp(point->engine->name, costs[i].engine) == 0) {
            return (double)plan_messages(plan, point) * costs[i].per_message;
        }
    }
    return 0;
}

void plan_begin(const struct plan *plan, const struct options *options, struct point *points,
                size_t count)
{
    double cost = 0;
    if (plan_choose_engines(plan, points, count) > 0) {
        plan_note(options, "more than 2 million messages: engine recurrence; --engine simgrid "
                           "simulates them");
    }
    for (size_t i = 0; i < count; i++) {
        cost += plan_cost(plan, &points[i]);
    }
    if (cost > LONG_COST) {
        plan_note(options,
                  "engine %s has %.3g million messages to do, which takes a while; "
                  "--engine closed estimates at once",
                  points[0].engine->name,
                  (double)plan_messages(plan, &points[0]) * 1e-6 * (double)count);
    }
}

void plan_note_estimates_count(const struct options *options, size_t estimates, size_t count)
{
    if (estimates > 0) {
        plan_note(options,
                  "%zu of %zu rows are estimates (\"approximate\" in engine_options); "
                  "--engine simgrid simulates",
                  estimates, count);
    }
}

void plan_note_estimates(const struct options *options, const struct ar_row *rows, size_t count)
{
    size_t estimates = 0;
    for (size_t i = 0; i < count; i++) {
        estimates += strstr(rows[i].engine_options, " approximate") != NULL;
    }
    plan_note_estimates_count(options, estimates, count);
}
