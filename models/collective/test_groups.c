/* Slices of buffers, meshes, and the orders of channels, also with groups and roots. */

#include "ar_order.h"
#include "ar_shape.h"
#include "test_outcome.h"

/* --- slices ---------------------------------------------------------------------------------- */

/* Its spans hold the elements of its parts in order, each once, and touch nowhere. */
static void expect_slice(uint64_t elements, uint32_t parts, uint32_t first, uint32_t run,
                         uint32_t period)
{
    struct ar_span whole = {.first = 5, .count = elements};
    struct ar_slice slice = ar_slice_of_parts(whole, parts, first, run, period);
    struct ar_span span = {.first = 0, .count = 0};
    bool has_element[512] = {false};
    uint64_t count = 0;
    uint32_t part = 0;
    uint64_t end = 0;
    bool is_first = true;
    while (ar_slice_next(&slice, &part, &span)) {
        cr_assert(is_first || span.first > end || (span.count == 0 && span.first >= end) ||
                  (span.first == end && elements < parts));
        for (uint64_t i = span.first; i < span.first + span.count; i++) {
            cr_assert(!has_element[i]);
            has_element[i] = true;
            count++;
        }
        end = span.first + span.count;
        is_first = false;
    }
    cr_expect_eq(count, slice.count);
    for (uint32_t i = 0; i < parts; i++) {
        struct ar_span one = ar_span_part(whole, parts, i);
        for (uint64_t j = one.first; j < one.first + one.count; j++) {
            cr_expect_eq(has_element[j], (i + period - first % period) % period < run,
                         "%u of %u parts of %u elements, %u+%u/%u", i, parts, (unsigned)elements,
                         first, run, period);
        }
    }
}

Test(slice, holds_the_elements_of_its_parts)
{
    static const uint64_t elements[] = {0, 1, 7, 24, 101, 120};
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        for (uint32_t parts = 1; parts <= 12; parts++) {
            for (uint32_t first = 0; first < parts; first++) {
                for (uint32_t run = 1; run <= parts; run++) {
                    expect_slice(elements[i], parts, first, run, parts);
                }
            }
            for (uint32_t bit = 1; bit < parts; bit *= 2) {
                expect_slice(elements[i], parts, bit, bit, 2 * bit);
            }
            for (uint32_t period = 2; period <= parts; period++) {
                expect_slice(elements[i], parts, period - 1, 1, period);
            }
        }
    }
}

/* --- meshes ---------------------------------------------------------------------------------- */

static struct ar_mesh mesh_of(const char *axes, const char *along)
{
    struct ar_mesh mesh;
    TEST_OK(ar_mesh_parse("--mesh", axes, &mesh, &why));
    TEST_OK(ar_mesh_set_along("--along", along, &mesh, &why));
    return mesh;
}

Test(mesh, is_written_as_it_is_read_and_groups_along_an_axis_are_its_stride_apart)
{
    struct ar_mesh mesh = mesh_of("pp=4,dp=16,tp=8", "pp,tp");
    char text[AR_MESH_TEXT];
    cr_expect_str_eq(ar_mesh_format(&mesh, text), "pp=4,dp=16,tp=8");
    cr_expect_str_eq(ar_mesh_format_along(&mesh, text), "pp,tp");
    mesh = mesh_of("pp=2,dp=4,tp=8", "dp");
    cr_assert_eq(ar_mesh_ranks(&mesh), 64);
    cr_assert_eq(ar_mesh_groups(&mesh), 16);
    cr_assert_eq(ar_mesh_group_ranks(&mesh), 4);
    for (uint32_t place = 0; place < 4; place++) {
        cr_expect_eq(ar_mesh_rank(&mesh, 0, place), 8 * place);
        cr_expect_eq(ar_mesh_rank(&mesh, 3, place), 8 * place + 3);
        cr_expect_eq(ar_mesh_rank(&mesh, 8, place), 32 + 8 * place);
    }
}

Test(mesh, every_rank_has_one_place_in_one_group)
{
    static const char *const alongs[] = {"a", "b", "c", "a,c", "a,b", "c,b,a"};
    for (size_t i = 0; i < sizeof alongs / sizeof alongs[0]; i++) {
        struct ar_mesh mesh = mesh_of("a=3,b=4,c=5", alongs[i]);
        bool is_taken[60] = {false};
        for (uint32_t group = 0; group < ar_mesh_groups(&mesh); group++) {
            for (uint32_t place = 0; place < ar_mesh_group_ranks(&mesh); place++) {
                uint32_t rank = ar_mesh_rank(&mesh, group, place);
                uint32_t group_back, place_back;
                cr_assert(rank < 60 && !is_taken[rank]);
                is_taken[rank] = true;
                ar_mesh_place(&mesh, rank, &group_back, &place_back);
                cr_expect(group_back == group && place_back == place);
            }
        }
    }
}

Test(mesh, what_is_no_mesh_is_refused)
{
    static const char *const texts[] = {"",
                                        "dp",
                                        "dp=",
                                        "dp=0",
                                        "dp=4,",
                                        "dp=4,dp=2",
                                        "dp=4;tp=2",
                                        "dp=-1",
                                        "1=4",
                                        "dp=65536,tp=65536",
                                        "averylongname=4",
                                        "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1"};
    struct ar_mesh mesh;
    TEST_EACH_FAILS(AR_USAGE, "such as pp=4,dp=16,tp=8", texts,
                    ar_mesh_parse("--mesh", given, &mesh, &why));
    mesh = mesh_of("dp=4,tp=2", "dp");
    TEST_FAILS(AR_USAGE, "--along: found \"pp\"; expected axes of the mesh dp=4,tp=2",
               ar_mesh_set_along("--along", "pp", &mesh, &why));
}

Test(mesh, members_of_a_group_on_a_node_are_counted_where_they_stand_together)
{
    struct ar_mesh inner = mesh_of("dp=16,tp=8", "tp");
    struct ar_mesh outer = mesh_of("dp=16,tp=8", "dp");
    struct ar_mesh half = mesh_of("dp=16,tp=4", "tp");
    struct ar_mesh strided = mesh_of("dp=16,tp=2", "dp");
    struct ar_mesh odd = mesh_of("dp=4,tp=3", "tp");
    cr_expect_eq(ar_mesh_node_members(&inner, 8), 8);
    cr_expect_eq(ar_mesh_node_members(&outer, 8), 1);
    cr_expect_eq(ar_mesh_node_members(&half, 8), 4);
    cr_expect_eq(ar_mesh_node_members(&strided, 8), 4);
    cr_expect_eq(ar_mesh_node_members(&odd, 4), 1); /* the second group lies on two nodes */
}

/* --- orders ---------------------------------------------------------------------------------- */

/* Every lane holds the ranks of its group, each once, and the root first if there is one. */
static void expect_lanes(const struct ar_order *order, uint32_t groups)
{
    for (uint32_t lane = 0; lane < groups * order->channels; lane++) {
        bool is_taken[80] = {false};
        for (uint32_t position = 0; position < order->ranks; position++) {
            uint32_t rank = ar_order_rank(order, lane, position);
            uint32_t group = 0, place = rank;
            if (order->mesh != NULL) {
                ar_mesh_place(order->mesh, rank, &group, &place);
            }
            cr_assert(place < order->ranks && !is_taken[place]);
            is_taken[place] = true;
            cr_expect_eq(group, lane / order->channels);
            cr_expect_eq(ar_order_lane(order, lane % order->channels, rank), lane);
            cr_expect_eq(ar_order_position(order, lane, rank), position, "lane %u", lane);
            cr_expect(position > 0 || !order->has_root || place == order->root,
                      "root %u of %u, lane %u: rank %u", order->root, order->ranks, lane, rank);
        }
    }
}

enum { CHANNELS = 9 };

Test(order, every_channel_permutes_the_ranks_within_their_nodes_and_can_be_inverted)
{
    for (uint32_t gpus = 1; gpus <= 17; gpus++) {
        for (uint32_t ranks = 1; ranks <= 80; ranks++) { /* mostly with a node filled in part */
            struct ar_order order = {.ranks = ranks, .node_members = gpus, .channels = CHANNELS};
            expect_lanes(&order, 1);
            for (uint32_t channel = 0; channel < CHANNELS; channel++) {
                for (uint32_t position = 0; position < order.ranks; position++) {
                    uint32_t rank = ar_order_rank(&order, channel, position);
                    cr_assert_eq(rank / order.node_members, position / order.node_members,
                                 "rank %u left its node", rank);
                }
            }
        }
    }
}

Test(order, for_even_nodes_the_paths_have_no_pair_of_gpus_in_common)
{
    for (uint32_t gpus = 2; gpus <= 16; gpus += 2) {
        struct ar_order order = {.ranks = gpus, .node_members = gpus, .channels = gpus};
        uint32_t used[16][16] = {{0}};
        for (uint32_t channel = 0; channel < gpus; channel++) {
            for (uint32_t position = 1; position < gpus; position++) {
                used[ar_order_rank(&order, channel, position - 1)]
                    [ar_order_rank(&order, channel, position)]++;
            }
        }
        for (uint32_t a = 0; a < gpus; a++) {
            for (uint32_t b = 0; b < gpus; b++) {
                cr_expect_eq(used[a][b], a != b, "%u GPUs: %u to %u used %u times", gpus, a, b,
                             used[a][b]);
            }
        }
    }
}

/* GPU g of a node uses HCA g * hcas / gpus: the first half of 4 GPUs HCA 0, the second HCA 1. */
Test(order, a_channel_enters_a_node_by_one_hca_and_leaves_it_by_the_other)
{
    for (uint32_t gpus = 2; gpus <= 16; gpus += 2) {
        struct ar_order order = {.ranks = 3 * gpus, .node_members = gpus, .channels = gpus};
        for (uint32_t channel = 0; channel < gpus; channel++) {
            uint32_t first = ar_order_rank(&order, channel, gpus) - gpus;
            uint32_t last = ar_order_rank(&order, channel, 2 * gpus - 1) - gpus;
            cr_expect_neq(first * 2 / gpus, last * 2 / gpus, "%u GPUs, channel %u", gpus, channel);
        }
    }
}

Test(order, channels_of_a_node_of_four_are_zigzags_and_their_ways_back)
{
    static const uint32_t golden[4][4] = {{0, 1, 3, 2}, {2, 3, 1, 0}, {1, 2, 0, 3}, {3, 0, 2, 1}};
    struct ar_order order = {.ranks = 4, .node_members = 4, .channels = 4};
    for (uint32_t channel = 0; channel < 4; channel++) {
        for (uint32_t position = 0; position < 4; position++) {
            cr_expect_eq(ar_order_rank(&order, channel, position), golden[channel][position]);
        }
    }
}

Test(order, the_second_half_of_mirrored_channels_sees_the_groups_in_another_order)
{
    for (uint32_t group = 1; group <= 9; group++) {
        for (uint32_t groups = 1; groups <= 8; groups++) {
            struct ar_order order = {.ranks = group * groups,
                                     .node_members = group,
                                     .channels = CHANNELS,
                                     .mirror_group = group};
            struct ar_order plain = order;
            plain.mirror_group = 0;
            expect_lanes(&order, 1);
            for (uint32_t position = 0; position < order.ranks; position++) {
                uint32_t across = groups - 1 - position / group;
                uint32_t on = (position / group + 1) % groups;
                cr_expect_eq(ar_order_rank(&order, 4, position),
                             ar_order_rank(&plain, 4, position));
                cr_expect_eq(ar_order_rank(&order, 5, position) / group,
                             groups % 2 == 0 ? across : on);
            }
        }
    }
}

/* Two of four channels lead a group of abci by a GPU of HCA 0, and one of these is mirrored. */
Test(order, both_trees_lead_by_each_hca_of_abci_nodes)
{
    struct ar_order order = {.ranks = 32, .node_members = 4, .channels = 4, .mirror_group = 4};
    uint32_t leaders[2][2] = {{0}};
    for (uint32_t channel = 0; channel < 4; channel++) {
        leaders[channel / 2][ar_order_rank(&order, channel, 8) % 4 / 2]++;
    }
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(leaders[i / 2][i % 2], 1);
    }
}

Test(order, lanes_of_groups_hold_the_ranks_of_their_group)
{
    static const char *const alongs[] = {"a", "b", "c", "a,c"};
    for (size_t i = 0; i < sizeof alongs / sizeof alongs[0]; i++) {
        struct ar_mesh mesh = mesh_of("a=3,b=2,c=4", alongs[i]);
        for (uint32_t gpus = 1; gpus <= 8; gpus *= 2) {
            uint32_t members = ar_mesh_node_members(&mesh, gpus);
            struct ar_order order = {.ranks = ar_mesh_group_ranks(&mesh),
                                     .node_members = members,
                                     .uneven_node = members == 1 ? gpus : 0,
                                     .channels = 3,
                                     .mesh = &mesh};
            expect_lanes(&order, ar_mesh_groups(&mesh));
            order.has_root = true;
            order.root = order.ranks - 1;
            expect_lanes(&order, ar_mesh_groups(&mesh));
        }
    }
}

/* Two groups of 12 on nodes of 8: 8 and 4 of one, 4 and 8 of the other. */
Test(order, groups_that_lie_unevenly_leave_a_node_by_all_of_its_gpus)
{
    struct ar_mesh mesh = mesh_of("pp=2,dp=12", "dp");
    struct ar_order order = {
        .ranks = 12, .node_members = 1, .uneven_node = 8, .channels = 8, .mesh = &mesh};
    uint32_t leaves[24] = {0};
    expect_lanes(&order, 2);
    for (uint32_t lane = 0; lane < 16; lane++) {
        for (uint32_t position = 0; position < 12; position++) {
            uint32_t rank = ar_order_rank(&order, lane, position);
            leaves[rank] += rank / 8 != ar_order_rank(&order, lane, (position + 1) % 12) / 8;
        }
    }
    for (uint32_t rank = 0; rank < 24; rank++) {
        cr_expect_eq(leaves[rank], rank / 8 == 1 ? 2 : 1, "rank %u", rank);
    }
}

Test(order, the_root_stands_at_position_0_of_every_lane_and_leaves_whole_nodes_together)
{
    for (uint32_t ranks = 1; ranks <= 17; ranks++) {
        for (uint32_t root = 0; root < ranks; root++) {
            for (uint32_t members = 1; members <= 8; members++) {
                struct ar_order order = {.ranks = ranks,
                                         .node_members = members,
                                         .channels = 4,
                                         .root = root,
                                         .has_root = true};
                expect_lanes(&order, 1);
            }
        }
    }
    struct ar_order order = {
        .ranks = 24, .node_members = 8, .channels = 4, .root = 13, .has_root = true};
    for (uint32_t lane = 0; lane < 4; lane++) {
        for (uint32_t position = 0; position < 24; position++) {
            uint32_t first = ar_order_rank(&order, lane, position - position % 8);
            cr_expect_eq(ar_order_rank(&order, lane, position) / 8, first / 8);
        }
    }
}
