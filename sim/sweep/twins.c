#include "twins.h"

#include "ar_text.h"

/* Points of all algorithms on the same ranks are neighbours. */
static bool is_neighbour(const struct point *a, const struct point *b)
{
    return a->variant == b->variant && a->payload_bytes == b->payload_bytes &&
           ar_shape_ranks(&a->shape) == ar_shape_ranks(&b->shape);
}

/* A library has a time of its own for every way to call it. */
static bool is_by_messages(struct space *space, const struct point *point)
{
    struct ar_scenario scenario;
    struct ar_error ignored;
    return space_scenario(space, point, &scenario, &ignored) == AR_OK &&
           !scenario.engine->needs_library;
}

uint32_t twin_find(struct space *space, uint32_t number)
{
    const struct point *points = space->points;
    const struct point *point = &points[number];
    if (point->algorithm == NULL || !point->algorithm->is_ring_in_line || point->shape.x != 1 ||
        !is_by_messages(space, point)) {
        return number;
    }
    size_t first = number;
    while (first > 0 && is_neighbour(&points[first - 1], point)) {
        first--;
    }
    for (size_t i = first; i < space->points_count && is_neighbour(&points[i], point); i++) {
        if (points[i].algorithm == &ar_algorithm_ring) {
            return (uint32_t)i;
        }
    }
    return number;
}

void twin_rename(const struct space *space, uint32_t number, struct ar_row *row)
{
    const struct point *point = &space->points[number];
    ar_copy_text(row->algorithm, sizeof row->algorithm, ar_algorithm_name(point->algorithm));
    (void)ar_shape_format(&point->shape, row->shape);
}
