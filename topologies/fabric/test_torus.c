#include <criterion/criterion.h>
#include <stdlib.h>

#include "torus.h"

static const struct ar_torus shapes[] = {
    {.dimensions = 1, .lengths = {1}, .wraps = {true}},
    {.dimensions = 1, .lengths = {2}, .wraps = {true}},
    {.dimensions = 1, .lengths = {2}},
    {.dimensions = 1, .lengths = {7}, .wraps = {true}},
    {.dimensions = 2, .lengths = {4, 3}},
    {.dimensions = 3, .lengths = {4, 1, 5}, .wraps = {true, true, false}},
    {.dimensions = 6, .lengths = {3, 2, 4, 2, 3, 2}, .wraps = {true, true, true, false, true}},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static struct ar_torus make(size_t shape)
{
    struct ar_torus torus = shapes[shape];
    ar_torus_fill(&torus);
    return torus;
}

Test(torus, every_cable_has_one_number_and_no_number_is_left_over)
{
    static const uint32_t expected[] = {0, 2, 1, 7, 4 * 2 + 3 * 3, 20 + 4 * 4, 4 * 288 + 2 * 144};
    for (size_t s = 0; s < SHAPES; s++) {
        struct ar_torus torus = make(s);
        cr_expect_eq(torus.cables, expected[s], "%zu: %u", s, torus.cables);
        bool *is_seen = calloc(torus.routers * torus.dimensions, sizeof *is_seen);
        for (uint32_t cable = 0; cable < torus.cables; cable++) {
            struct ar_torus_cable at = ar_torus_cable_at(&torus, cable);
            bool *place = &is_seen[at.router * torus.dimensions + at.dimension];
            cr_assert(at.router < torus.routers && !*place);
            *place = true;
        }
        free(is_seen);
    }
}

/* The shortest distance in a dimension, counted by hand. */
static uint32_t distance(const struct ar_torus *torus, uint32_t d, uint32_t a, uint32_t b)
{
    uint32_t from = ar_torus_coordinate(torus, a, d);
    uint32_t to = ar_torus_coordinate(torus, b, d);
    uint32_t direct = from > to ? from - to : to - from;
    uint32_t round = torus->lengths[d] - direct;
    return torus->wraps[d] && round < direct ? round : direct;
}

Test(torus, routes_lead_there_by_the_shortest_way_last_dimension_first)
{
    for (size_t s = 0; s < SHAPES; s++) {
        struct ar_torus torus = make(s);
        uint32_t longest = 0;
        for (uint32_t pair = 0; pair < 2 * torus.routers * torus.routers; pair++) {
            uint32_t source = pair / 2 / torus.routers;
            uint32_t destination = pair / 2 % torus.routers;
            uint32_t router = source, walked = source, hops = 0;
            for (uint32_t d = torus.dimensions; d-- > 0;) {
                uint32_t links[16];
                int32_t steps =
                    ar_torus_steps(&torus, d, ar_torus_coordinate(&torus, router, d),
                                   ar_torus_coordinate(&torus, destination, d), pair % 2 == 1);
                cr_assert_eq((uint32_t)abs(steps), distance(&torus, d, source, destination));
                router = ar_torus_go(&torus, router, d, steps, links);
                for (int32_t i = 0; i < abs(steps); i++) { /* each link begins at the router */
                    struct ar_torus_cable at = ar_torus_cable_at(&torus, links[i] / 2);
                    uint32_t length = torus.lengths[at.dimension];
                    uint32_t stride = torus.strides[at.dimension];
                    uint32_t coordinate = ar_torus_coordinate(&torus, at.router, at.dimension);
                    bool is_last = coordinate == length - 1, is_up = links[i] % 2 == 0;
                    cr_assert(torus.wraps[at.dimension] || !is_last, "behind an open line");
                    uint32_t above = at.router + stride - (is_last ? length * stride : 0);
                    cr_assert_eq(walked, is_up ? at.router : above);
                    walked = is_up ? above : at.router;
                }
                cr_assert_eq(walked, router);
                hops += (uint32_t)abs(steps);
            }
            cr_assert_eq(router, destination);
            longest = hops > longest ? hops : longest;
        }
        cr_expect_eq(longest, ar_torus_diameter(&torus), "%zu: %u", s, longest);
    }
}

Test(torus, of_two_equally_short_ways_the_caller_says_which)
{
    struct ar_torus ring = {.dimensions = 1, .lengths = {4}, .wraps = {true}};
    ar_torus_fill(&ring);
    cr_expect_eq(ar_torus_steps(&ring, 0, 1, 3, false), 2);
    cr_expect_eq(ar_torus_steps(&ring, 0, 1, 3, true), -2);
    cr_expect_eq(ar_torus_steps(&ring, 0, 3, 1, false), 2);
    cr_expect_eq(ar_torus_steps(&ring, 0, 3, 1, true), -2);
    cr_expect_eq(ar_torus_steps(&ring, 0, 3, 0, true), 1);
    cr_expect_eq(ar_torus_steps(&ring, 0, 0, 3, false), -1);
}
