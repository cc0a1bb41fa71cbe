#include <criterion/criterion.h>
#include <stdlib.h>

#include "dragonfly.h"

/* Groups, routers, spines, global links. */
static const struct ar_dragonfly shapes[] = {
    {1, 1, 0, 1, true, true},   {1, 4, 0, 1, true, false}, {9, 4, 0, 1, true, false},
    {9, 4, 0, 1, false, false}, {5, 4, 0, 3, true, false}, {5, 4, 0, 3, false, true},
    {4, 3, 2, 2, true, false},  {4, 3, 2, 2, false, true}, {1, 3, 2, 1, true, false},
    {23, 2, 3, 5, true, false},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

Test(dragonfly, every_link_has_one_number_and_a_bundle_is_as_wide_as_its_cables)
{
    for (size_t s = 0; s < SHAPES; s++) {
        const struct ar_dragonfly *shape = &shapes[s];
        uint64_t links = ar_dragonfly_links(shape);
        for (uint32_t i = 0; i < links; i++) {
            struct ar_dragonfly_link link = ar_dragonfly_link_at(shape, i);
            cr_assert_eq(ar_dragonfly_index(shape, link), i, "shape %zu, link %u", s, i);
            bool is_global = link.kind == AR_DRAGONFLY_GLOBAL;
            cr_assert(link.group < shape->groups);
            cr_assert(link.a < (is_global ? shape->groups : shape->routers));
            cr_assert(!is_global || link.a != link.group);
        }
    }
    cr_expect_eq(ar_dragonfly_links(&shapes[2]), 9 * 12 + 9 * 8);
    cr_expect_eq(ar_dragonfly_links(&shapes[4]), 5 * 12 + 5 * 4 * 3);
    cr_expect_eq(ar_dragonfly_links(&shapes[5]), 5 * 12 + 5 * 4);
    cr_expect_eq(ar_dragonfly_links(&shapes[6]), 4 * 12 + 4 * 3 * 2);
    cr_expect_eq(ar_dragonfly_links(&shapes[7]), 4 * 6 + 4 * 3);
    cr_expect_eq(ar_dragonfly_width(&shapes[4], true), 1);
    cr_expect_eq(ar_dragonfly_width(&shapes[5], true), 3);
    cr_expect_eq(ar_dragonfly_width(&shapes[5], false), 1);
    cr_expect_eq(ar_dragonfly_width(&shapes[7], false), 2);
}

/* A dragonfly with as many groups as its ports allow is one in which every router has the same
 * number of global cables, and no port has two. */
Test(dragonfly, ports_are_dealt_evenly_and_both_ends_of_a_cable_agree)
{
    for (size_t s = 0; s < SHAPES; s++) {
        const struct ar_dragonfly *shape = &shapes[s];
        uint32_t switches = shape->spines > 0 ? shape->spines : shape->routers;
        uint32_t ports = (shape->groups - 1) * shape->global_links;
        uint32_t most = (ports + switches - 1) / switches;
        for (uint32_t group = 0; group < shape->groups; group++) {
            uint32_t *used = calloc(switches, sizeof *used);
            for (uint32_t peer = 0; peer < shape->groups; peer++) {
                for (uint32_t k = 0; peer != group && k < shape->global_links; k++) {
                    uint32_t gateway = ar_dragonfly_gateway(shape, group, peer, k);
                    cr_assert(gateway < switches);
                    used[gateway]++;
                }
            }
            for (uint32_t i = 0; i < switches; i++) {
                cr_expect(used[i] <= most, "shape %zu: %u cables at router %u", s, used[i], i);
            }
            free(used);
        }
    }
}

/* Nine groups of four routers with two global cables each: the arrangements of the paper. */
Test(dragonfly, palmtree_counts_down_from_itself_and_consecutive_up_from_zero)
{
    cr_expect_eq(ar_dragonfly_gateway(&shapes[2], 0, 8, 0), 0);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[2], 0, 7, 0), 0);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[2], 0, 6, 0), 1);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[2], 0, 1, 0), 3);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[2], 5, 4, 0), 0);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[2], 5, 6, 0), 3);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[3], 0, 1, 0), 0);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[3], 0, 8, 0), 3);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[3], 5, 0, 0), 0);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[3], 5, 4, 0), 2);
    cr_expect_eq(ar_dragonfly_gateway(&shapes[3], 5, 6, 0), 2);
}

/* Follows a route by the ends of its links. Spines are places behind the routers of their group. */
static void check_route(const struct ar_dragonfly *shape, uint32_t source, uint32_t destination,
                        uint32_t way)
{
    uint32_t links[AR_DRAGONFLY_ROUTE_MAX];
    uint32_t count = ar_dragonfly_route(shape, source, destination, way, links);
    uint32_t group = source / shape->routers;
    uint32_t place = source % shape->routers;
    uint32_t globals = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct ar_dragonfly_link link = ar_dragonfly_link_at(shape, links[i]);
        uint32_t spine = shape->routers + link.b;
        cr_assert_eq(link.group, group);
        switch (link.kind) {
        case AR_DRAGONFLY_LOCAL:
            cr_assert_eq(link.a, place);
            place = link.b;
            break;
        case AR_DRAGONFLY_UP:
            cr_assert_eq(link.a, place);
            place = spine;
            break;
        case AR_DRAGONFLY_DOWN:
            cr_assert(shape->is_bundled || spine == place);
            place = link.a;
            break;
        case AR_DRAGONFLY_GLOBAL: {
            uint32_t behind = shape->spines > 0 ? shape->routers : 0;
            uint32_t out = behind + ar_dragonfly_gateway(shape, group, link.a, way);
            bool is_some_spine = shape->is_bundled && shape->spines > 0;
            cr_assert(is_some_spine || (place == out && (shape->is_bundled || link.b == way)));
            place = behind + ar_dragonfly_gateway(shape, link.a, group, way);
            group = link.a;
            globals++;
            break;
        }
        }
    }
    cr_assert_eq(group * shape->routers + place, destination);
    cr_assert_eq(globals, source / shape->routers != destination / shape->routers);
    cr_assert(shape->spines == 0 || source == destination || count == 2 + globals);
}

Test(dragonfly, every_way_between_every_two_routers_is_minimal_and_leads_there)
{
    for (size_t s = 0; s < SHAPES; s++) {
        uint32_t routers = shapes[s].groups * shapes[s].routers;
        for (uint32_t pair = 0; pair < routers * routers; pair++) {
            uint32_t ways = ar_dragonfly_ways(&shapes[s], pair / routers, pair % routers);
            for (uint32_t way = 0; way < ways; way++) {
                check_route(&shapes[s], pair / routers, pair % routers, way);
            }
        }
    }
}
