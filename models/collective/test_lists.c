#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ar_runnable.h"
#include "ar_text.h"
#include "lists.h"
#include "test_outcome.h"

enum { MAX = 4352 };

static struct ar_arena arena;

static void end(void)
{
    ar_arena_end(&arena);
}

TestSuite(lists, .fini = end);

struct expectation {
    const char *text;
    size_t count;
    uint64_t values[8];
};

/* Reads lists of counts or of sizes; those without values are refused. */
static void expect_lists(bool are_sizes, const struct expectation *rows, size_t rows_count)
{
    for (size_t i = 0; i < rows_count; i++) {
        struct ar_error err;
        uint64_t *values = NULL;
        size_t count = 0;
        const char *text = rows[i].text;
        enum ar_status status =
            are_sizes ? list_sizes(&arena, "--payload", text, &values, &count, &err)
                      : list_counts(&arena, "--gpus", text, MAX, &values, &count, &err);
        cr_expect_eq(status, rows[i].count > 0 ? AR_OK : AR_USAGE, "%s", text);
        cr_assert_eq(count, rows[i].count, "%s: %zu", text, count);
        for (size_t j = 0; j < count; j++) {
            cr_expect_eq(values[j], rows[i].values[j], "%s", text);
        }
    }
}

#define EXPECT_LISTS(are_sizes, rows) expect_lists(are_sizes, rows, sizeof rows / sizeof rows[0])

Test(lists, counts_are_items_and_ranges_without_repetition)
{
    static const struct expectation rows[] = {
        {"8", 1, {8}},
        {"8,16,96", 3, {8, 16, 96}},
        {"4:64:x2", 5, {4, 8, 16, 32, 64}},
        {"4:63:x2", 4, {4, 8, 16, 32}},
        {"4:12:+4", 3, {4, 8, 12}},
        {"4:4:x2", 1, {4}},
        {"4:8:x2,8,2,4", 3, {4, 8, 2}},
        {"2:4000000000:x1048576,1", 0, {0}},
        {"2177:4352:x2", 1, {2177}},
        {"4351:4352:+4000000000", 1, {4351}},
    };
    EXPECT_LISTS(false, rows);
}

Test(lists, sizes_take_units_and_a_range_whose_step_would_overflow_ends_there)
{
    static const struct expectation rows[] = {
        {"512TiB:1000TiB:x1048576", 1, {512ull << 40}},
        {"1KiB:4KiB:x2,1MB:2MB:+500kB,2B", 7, {1024, 2048, 4096, 1000000, 1500000, 2000000, 2}},
    };
    EXPECT_LISTS(true, rows);
}

Test(lists, what_is_wrong_is_usage_and_leaves_the_outputs)
{
    static const char *const texts[] = {
        "",      ",",         "4,",        "0",         "-4",
        "4.5",   "x",         "4353",      "4:8",       "4:8:",
        "4:8:x", "4:8:x1",    "4:8:+0",    "8:4:x2",    ":8:x2",
        "4::x2", "4:8192:x2", "1:4352:+1", "4:8:x2:x2", "4:99999999999:x2",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ar_error err = {.status = AR_OK};
        uint64_t *values = NULL;
        size_t count = 7;
        cr_expect_eq(list_counts(&arena, "--gpus", texts[i], MAX, &values, &count, &err), AR_USAGE,
                     "%s", texts[i]);
        cr_expect_eq(err.status, AR_USAGE);
        cr_expect_eq(strncmp(err.text, "--gpus: ", 8), 0, "%s", err.text);
        cr_expect(values == NULL && count == 7, "%s", texts[i]);
    }
}

/* Algorithms of all-reduces. */
static size_t count_all(void)
{
    size_t count = 0;
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        count += ar_algorithms[i]->operation == &ar_operation_all_reduce;
    }
    return count;
}

static const struct ar_algorithm **algorithms;
static size_t count;

static enum ar_status list_all_reduces(const char *text, bool may_be_auto)
{
    struct ar_error err;
    return list_algorithms(&arena, "--algorithms", &ar_operation_all_reduce, text, may_be_auto,
                           &algorithms, &count, &err);
}

Test(lists, algorithms_come_in_the_order_they_are_named)
{
    cr_assert_eq(list_all_reduces("torus2d,ring,torus2d", false), AR_OK);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(algorithms[0]->name, "torus2d");
    cr_expect_str_eq(algorithms[1]->name, "ring");
    cr_assert_eq(list_all_reduces("all", false), AR_OK);
    cr_expect_eq(count, count_all());
    cr_assert_eq(list_all_reduces("nccl", false), AR_OK);
    cr_assert_eq(count, 4, "its rings and trees, and sums in switches");
    cr_expect_str_eq(algorithms[1]->name, "tree");
    cr_expect_eq(list_all_reduces("ring,,", false), AR_USAGE);
    cr_expect_eq(list_all_reduces("auto", false), AR_USAGE);
    cr_assert_eq(list_all_reduces("tree,auto,all,auto", true), AR_OK);
    cr_assert_eq(count, count_all() + 1);
    cr_expect_str_eq(algorithms[0]->name, "tree");
    cr_expect_str_eq(algorithms[1]->name, "ring");
    cr_expect_null(algorithms[count - 1]);
}

/* NCCL had no trees before 2.4 and no CollNet of two kinds before 2.14. */
Test(lists, libraries_run_what_their_releases_have)
{
    static const struct {
        const char *library, *runs;
        size_t count;
    } rows[] = {{"nccl-2.3.7", "ring", 1},
                {"nccl-2.13", "ring tree", 2},
                {"nccl-2.14.3", "ring tree collnet-direct", 3},
                {"nccl-2.23.4", "ring tree collnet-direct in-network", 4},
                {"nccl", "ring tree collnet-direct in-network", 4},
                {"rccl-2.22", "ring tree", 2},
                {"openmpi-5.0.3", "ring recursive-doubling halving-doubling", 3},
                {"mpich-4.3", "recursive-doubling halving-doubling", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(list_all_reduces(rows[i].library, false), AR_OK, "%s", rows[i].library);
        cr_expect_eq(count, rows[i].count, "%s", rows[i].library);
        for (size_t k = 0; k < count; k++) {
            cr_expect(ar_text_has_word(rows[i].runs, algorithms[k]->name), "%s: %s",
                      rows[i].library, algorithms[k]->name);
        }
    }
    static const char *const wrong[] = {"nccl-2.2",    "nccl-", "nccl-2", "nccl-2.3x",
                                        "openmpi-3.1", "gloo",  ""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ar_runner runner;
        struct ar_error err;
        cr_expect_eq(ar_runner_parse("--runnable-by", wrong[i], &runner, &err), AR_USAGE, "%s",
                     wrong[i]);
        cr_expect_eq(strncmp(err.text, "--runnable-by: found ", 21), 0, "%s", err.text);
    }
}

/* PAT came with NCCL 2.23. */
Test(lists, pat_wants_one_rank_on_each_node_and_collnet_two_nodes)
{
    static const struct {
        const struct ar_operation *operation;
        const char *algorithm, *library;
        bool on_one_node, on_nodes, on_nodes_of_one_rank;
    } rows[] = {{&ar_operation_all_gather, "bruck", "nccl-2.22", false, false, false},
                {&ar_operation_all_gather, "bruck", "nccl-2.23", false, false, true},
                {&ar_operation_all_reduce, "collnet-direct", "nccl", false, true, true}};
    const struct ar_algorithm *algorithm;
    char text[AR_RUNNERS_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ar_runner runner;
        TEST_OK(ar_algorithm_find("", rows[i].operation, rows[i].algorithm, &algorithm, &why));
        TEST_OK(ar_runner_parse("", rows[i].library, &runner, &why));
        cr_expect_eq(ar_runner_runs(&runner, algorithm, AR_ONE_NODE), rows[i].on_one_node);
        cr_expect_eq(ar_runner_runs(&runner, algorithm, AR_NODES), rows[i].on_nodes, "%zu", i);
        cr_expect_eq(ar_runner_runs(&runner, algorithm, AR_NODES_OF_ONE_RANK),
                     rows[i].on_nodes_of_one_rank, "%zu", i);
    }
    TEST_OK(ar_algorithm_find("", &ar_operation_all_gather, "bruck", &algorithm, &why));
    cr_expect_str_eq(ar_runners_format(algorithm, AR_NODES, text), "openmpi-4.1 mpich-4.1");
    cr_expect_str_eq(ar_runners_format(algorithm, AR_NODES_OF_ONE_RANK, text),
                     "nccl-2.23 openmpi-4.1 mpich-4.1");
}

Test(lists, a_list_that_has_no_algorithm_of_the_operation_is_refused)
{
    struct ar_error err;
    cr_assert_eq(list_algorithms(&arena, "--algorithms", &ar_operation_gather, "nccl", false,
                                 &algorithms, &count, &err),
                 AR_USAGE);
    cr_expect_str_eq(err.text,
                     "--algorithms: unknown algorithm \"nccl\"; expected one of linear binomial");
    TEST_OK(list_algorithms(&arena, "--algorithms", &ar_operation_gather, "nccl,auto", true,
                            &algorithms, &count, &why));
}

static void expect_shapes(const char *text, uint32_t ranks, uint32_t gpus_per_node,
                          const char *expected)
{
    struct ar_shape *shapes;
    size_t shapes_count;
    char found[256] = "";
    TEST_OK(
        list_shapes(&arena, "--shapes", text, ranks, gpus_per_node, &shapes, &shapes_count, &why));
    for (size_t i = 0; i < shapes_count; i++) {
        char shape[AR_SHAPE_TEXT];
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s", i > 0 ? " " : "",
                 ar_shape_format(&shapes[i], shape));
    }
    cr_expect_str_eq(found, expected, "%s of %u", text, ranks);
}

Test(lists, shapes_are_those_that_multiply_to_the_ranks)
{
    expect_shapes("all", 12, 4, "1x12 2x6 3x4 4x3 6x2 12x1");
    expect_shapes("all", 7, 4, "1x7 7x1");
    expect_shapes("all", 1, 4, "1x1");
    expect_shapes("square", 12, 4, "3x4");
    expect_shapes("square", 7, 4, "1x7");
    expect_shapes("node", 12, 4, "4x3");
    expect_shapes("node", 6, 4, "");
    expect_shapes("node", 2, 4, "");
    expect_shapes("2x6,2x2,6x2,2x6", 12, 4, "2x6 6x2");
    expect_shapes("2x2", 12, 4, "");
}

Test(lists, a_grid_must_fit_one_of_the_counts)
{
    static const uint64_t counts[] = {4, 8};
    struct ar_error err;
    TEST_OK(list_shapes_check("--shapes", "all", counts, 2, &why));
    TEST_OK(list_shapes_check("--shapes", "2x2,2x4", counts, 2, &why));
    cr_expect_eq(list_shapes_check("--shapes", "2x2,3x3", counts, 2, &err), AR_USAGE);
    cr_expect_str_eq(err.text,
                     "--shapes: 3x3 has 9 places; expected X*Y to be one of the GPU counts");
    cr_expect_eq(list_shapes_check("--shapes", "2x2,", counts, 2, &err), AR_USAGE);
    cr_expect_eq(list_shapes_check("--shapes", "65536x65536", counts, 2, &err), AR_USAGE);
}
