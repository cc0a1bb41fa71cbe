
#include "ar_runnable.h"
#include "ar_text.h"
#include "lists.h"
#include "test_outcome.h"

enum { MAX = 4352 };

static struct ar_arena arena; /* of a test, which is a process */

/* Reads lists of counts or of sizes, and expects values with commas between. */
static void expect_lists(bool are_sizes, const char *const (*rows)[2], size_t rows_count)
{
    for (size_t i = 0; i < rows_count; i++) {
        uint64_t *values = NULL;
        size_t count = 0;
        char *found = ar_arena_text(&arena, "");
        TEST_OK(are_sizes ? list_sizes(&arena, "--payload", rows[i][0], &values, &count, &why)
                          : list_counts(&arena, "--gpus", rows[i][0], MAX, &values, &count, &why));
        for (size_t j = 0; j < count; j++) {
            found = ar_arena_format(&arena, "%s%s%lu", found, j > 0 ? "," : "", values[j]);
        }
        cr_expect_str_eq(found, rows[i][1], "%s: %s", rows[i][0], found);
    }
}

Test(lists, counts_and_sizes_are_items_and_ranges_without_repetition)
{
    static const char *const counts[][2] = {
        {"8", "8"},
        {"8,16,96", "8,16,96"},
        {"4:64:x2", "4,8,16,32,64"},
        {"4:63:x2", "4,8,16,32"},
        {"4:12:+4", "4,8,12"},
        {"4:4:x2", "4"},
        {"4:8:x2,8,2,4", "4,8,2"},
        {"2177:4352:x2", "2177"},
        {"4351:4352:+4000000000", "4351"},
    };
    /* Sizes take units, and a range whose step would overflow ends there. */
    static const char *const sizes[][2] = {
        {"512TiB:1000TiB:x1048576", "562949953421312"},
        {"1KiB:4KiB:x2,1MB:2MB:+500kB,2B", "1024,2048,4096,1000000,1500000,2000000,2"},
    };
    expect_lists(false, counts, sizeof counts / sizeof counts[0]);
    expect_lists(true, sizes, sizeof sizes / sizeof sizes[0]);
}

Test(lists, what_is_wrong_is_usage_and_leaves_the_outputs)
{
    static const char *const texts[] = {
        "",
        ",",
        "4,",
        "0",
        "-4",
        "4.5",
        "x",
        "4353",
        "4:8",
        "4:8:",
        "4:8:x",
        "4:8:x1",
        "4:8:+0",
        "8:4:x2",
        ":8:x2",
        "4::x2",
        "4:8192:x2",
        "1:4352:+1",
        "4:8:x2:x2",
        "4:99999999999:x2",
        "2:4000000000:x1048576,1",
    };
    uint64_t *values = NULL;
    size_t count = 7;
    TEST_EACH_FAILS(AR_USAGE, "--gpus: ", texts,
                    list_counts(&arena, "--gpus", given, MAX, &values, &count, &why));
    cr_expect(values == NULL && count == 7);
}

/* The names of the algorithms of all-reduces in a list, with blanks between; "auto" for none. */
static const char *all_reduces(const char *text, bool may_be_auto)
{
    const struct ar_algorithm **algorithms;
    size_t count;
    char *names = ar_arena_text(&arena, "");
    TEST_OK(list_algorithms(&arena, "--algorithms", &ar_operation_all_reduce, text, may_be_auto,
                            &algorithms, &count, &why));
    for (size_t i = 0; i < count; i++) {
        names = ar_arena_format(&arena, "%s%s%s", names, i > 0 ? " " : "",
                                algorithms[i] != NULL ? algorithms[i]->name : "auto");
    }
    return names;
}

#define NCCL "ring tree in-network collnet-direct" /* sums in switches */

Test(lists, algorithms_come_in_the_order_they_are_named)
{
    const struct ar_algorithm **algorithms;
    size_t count;
    char *all = ar_arena_text(&arena, ""), *but_tree = all;
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        if (ar_algorithms[i]->operation == &ar_operation_all_reduce) {
            const char *name = ar_algorithms[i]->name;
            all = ar_arena_format(&arena, "%s%s%s", all, *all != '\0' ? " " : "", name);
            but_tree = strcmp(name, "tree") == 0 ? but_tree
                                                 : ar_arena_format(&arena, "%s%s ", but_tree, name);
        }
    }
    cr_expect_str_eq(all_reduces("torus2d,ring,torus2d", false), "torus2d ring");
    cr_expect_str_eq(all_reduces("all", false), all);
    cr_expect_str_eq(all_reduces("nccl", false), NCCL);
    cr_expect_str_eq(all_reduces("tree,auto,all,auto", true),
                     ar_arena_format(&arena, "tree %sauto", but_tree));
    TEST_FAILS(AR_USAGE, "",
               list_algorithms(&arena, "", &ar_operation_all_reduce, "ring,,", false, &algorithms,
                               &count, &why));
    TEST_FAILS(AR_USAGE, "",
               list_algorithms(&arena, "", &ar_operation_all_reduce, "auto", false, &algorithms,
                               &count, &why));
}

/* NCCL had no trees before 2.4 and no CollNet of two kinds before 2.14. */
Test(lists, libraries_run_what_their_releases_have)
{
    static const char *const rows[][2] = {
        {"nccl-2.3.7", "ring"},
        {"nccl-2.13", "ring tree"},
        {"nccl-2.14.3", "ring tree collnet-direct"},
        {"nccl-2.23.4", NCCL},
        {"rccl-2.22", "ring tree"},
        {"openmpi-5.0.3", "ring recursive-doubling halving-doubling"},
        {"mpich-4.3", "recursive-doubling halving-doubling"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_str_eq(all_reduces(rows[i][0], false), rows[i][1], "%s", rows[i][0]);
    }
    static const char *const wrong[] = {"nccl-2.2",    "nccl-", "nccl-2", "nccl-2.3x",
                                        "openmpi-3.1", "gloo",  ""};
    struct ar_runner runner;
    TEST_EACH_FAILS(AR_USAGE, "--runnable-by: found ", wrong,
                    ar_runner_parse("--runnable-by", given, &runner, &why));
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
    const struct ar_algorithm **algorithms;
    size_t count;
    TEST_FAILS(AR_USAGE,
               "--algorithms: unknown algorithm \"nccl\"; expected one of linear binomial",
               list_algorithms(&arena, "--algorithms", &ar_operation_gather, "nccl", false,
                               &algorithms, &count, &why));
    TEST_OK(list_algorithms(&arena, "--algorithms", &ar_operation_gather, "nccl,auto", true,
                            &algorithms, &count, &why));
}

static void expect_shapes(const char *text, uint32_t ranks, uint32_t gpus_per_node,
                          const char *expected)
{
    struct ar_shape *shapes;
    size_t shapes_count;
    char *found = ar_arena_text(&arena, "");
    TEST_OK(list_shapes(&arena, text, ranks, gpus_per_node, &shapes, &shapes_count, &why));
    for (size_t i = 0; i < shapes_count; i++) {
        char shape[AR_SHAPE_TEXT];
        found = ar_arena_format(&arena, "%s%s%s", found, i > 0 ? " " : "",
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
    /* A grid must fit one of the counts. */
    static const uint64_t counts[] = {4, 8};
    TEST_OK(list_shapes_check("all", counts, 2, &why));
    TEST_OK(list_shapes_check("2x2,2x4", counts, 2, &why));
    TEST_FAILS(AR_USAGE, "--shapes: 3x3 has 9 places; expected X*Y to be one of the GPU counts",
               list_shapes_check("2x2,3x3", counts, 2, &why));
    TEST_FAILS(AR_USAGE, "", list_shapes_check("2x2,", counts, 2, &why));
    TEST_FAILS(AR_USAGE, "", list_shapes_check("65536x65536", counts, 2, &why));
}
