/* The index of measured sets: every set has a machine, and rows that it takes. */
#include <math.h>

#include "ar_accuracy.h"
#include "test_outcome.h"

static struct ar_arena arena; /* of a test, which is a process */
static struct ar_measured_index sets;
static struct ar_inputs *inputs;

static void enter(void)
{
    TEST_OK(
        ar_measured_index_read(AR_TEST_SOURCE_DIR "/validate/data/index.csv", &arena, &sets, &why));
    inputs = ar_inputs_create(&arena);
    cr_assert_not_null(inputs);
}

TestSuite(measured_sets, .init = enter);

static const struct ar_measured *load(const struct ar_measured_set *set)
{
    struct ar_set_rows *rows;
    struct ar_scenario scenario = ar_scenario_begin(&arena, inputs);
    TEST_OK(ar_set_load(&sets, set, &scenario, NULL, 0, NULL, &arena, &rows, &why));
    return rows->measured;
}

Test(measured_sets, every_set_has_a_machine_that_takes_its_rows)
{
    cr_assert_gt(sets.sets_count, 30);
    for (size_t i = 0; i < sets.sets_count; i++) {
        const struct ar_measured *measured = load(&sets.sets[i]);
        cr_expect_gt(measured->rows_count, 0, "%s", sets.sets[i].name);
        cr_expect_gt(measured->nodes.count, 0, "%s", sets.sets[i].name);
    }
}

Test(measured_sets, files_are_of_the_set_that_has_their_stem)
{
    size_t count = 0;
    for (size_t i = 0; i < sets.sets_count; i++) {
        count += ar_measured_set_has(&sets.sets[i], "/else/where/mn5_h100_nccl_ring.csv");
        cr_expect_not(ar_measured_set_has(&sets.sets[i], "mn5_h100_nccl.csv"));
        cr_expect_not(ar_measured_set_has(&sets.sets[i], "h100_nccl_ring.csv"));
    }
    cr_expect_eq(count, 1);
}

/* The cluster of a machine with several sets has its name, but not the ranks per node. */
Test(measured_sets, one_set_is_found_by_its_file_and_a_machine_by_its_cluster)
{
    size_t count;
    cr_expect_str_eq(ar_measured_index_find(&sets, "x/lumi_mpi.csv", &count)->name, "lumi_mpi");
    cr_expect_null(ar_measured_index_find(&sets, "pico_mpi_collectives.csv", &count));
    cr_expect_gt(count, 1);
    cr_expect_null(ar_measured_index_find(&sets, "mine.csv", &count));
    cr_expect_eq(count, 0);
    cr_expect_str_eq(ar_measured_index_system(&sets, "mn5-cpu"), "mare_nostrum");
    cr_expect_null(ar_measured_index_system(&sets, "mn5"), "its tables name none");
}

static const struct ar_measured *load_named(const char *file)
{
    size_t count;
    return load(ar_measured_index_find(&sets, file, &count));
}

/* Each row of a set's files is taken, or left out for one reason. */
Test(measured_sets, rows_that_are_left_out_are_counted_by_reason)
{
    const struct ar_measured *leonardo = load_named("leonardo_mpi.csv");
    const struct ar_measured *h100 = load_named("xxrjun_h100_10n.csv");
    size_t rows = 0;
    for (size_t i = 0; i < 2; i++) {
        const struct ar_logs *logs = leonardo->logs[i];
        AR_EACH(const struct ar_log, run, logs->runs, logs->runs_count) {
            bool is_of = strcmp(run->system, "leonardo") == 0 && run->ranks == run->nodes;
            rows += is_of ? run->rows_count : 0;
        }
    }
    size_t algorithms =
        leonardo->left[AR_LEFT_ALGORITHM].rows_count + leonardo->left[AR_LEFT_RANKS].rows_count;
    cr_expect_gt(algorithms, 0);
    cr_expect_eq(leonardo->left[AR_LEFT_ON_GPUS].rows_count, 45, "as the file has them");
    cr_expect_eq(leonardo->left[AR_LEFT_OPERATION].rows_count, 0);
    cr_expect_eq(rows, leonardo->rows_count + algorithms + 45);
    cr_expect_eq(h100->left[AR_LEFT_OPERATION].rows_count, 50, "to a neighbour");
}

/* Lengths of a torus and tasks per node make machines of their own. */
Test(measured_sets, rows_of_other_lengths_are_of_other_machines)
{
    const struct ar_measured *measured = load_named("fugaku_mpi.csv");
    AR_EACH(const struct ar_measured_row, row, measured->rows, measured->rows_count) {
        const struct ar_cluster_facts *facts = ar_cluster_facts(row->messages.collective.cluster);
        cr_assert_eq(facts->nodes_count, row->call.run.nodes);
        cr_assert_eq(facts->gpus_per_node, 1);
    }
    cr_expect_geq(measured->machines_count, 4, "the cluster, and three tori");
}

Test(measured_sets, names_of_libraries_may_end_with_a_star)
{
    struct ar_called list[] = {{.operation = "allreduce", .called = "ring*", .algorithm = "a"},
                               {.operation = "allgather", .called = "ring", .algorithm = "b"},
                               {.operation = "allreduce", .called = "rin", .algorithm = "c"}};
    struct ar_called_list called = {list, sizeof list / sizeof list[0]};
    cr_expect_str_eq(ar_called_find(&called, "allreduce", "ring_over")->algorithm, "a");
    cr_expect_str_eq(ar_called_find(&called, "allreduce", "rin")->algorithm, "c");
    cr_expect_null(ar_called_find(&called, "allgather", "ring_over"));
}

/* Two calls on one node and of one size, of four and of eight GPUs, whose errors are opposite. */
Test(measured_sets, rows_err_as_those_on_as_many_gpus_of_each_node)
{
    const bool is_fitted[2] = {true, true};
    struct ar_measured_row rows[2];
    struct ar_measured measured = {.rows = rows, .rows_count = 2};
    struct ar_library_prediction predictions[2];
    struct ar_estimate estimate = {.has_library = true, .predictions = predictions};
    estimate.library.residual_frac = 0.2;
    for (size_t i = 0; i < 2; i++) {
        rows[i] = (struct ar_measured_row){
            .operation = &ar_operation_all_reduce,
            .is_call = true,
            .call = {.run = {.nodes = 1, .ranks = i == 0 ? 4 : 8, .bytes = 1024},
                     .time_s = i == 0 ? 1 / 0.9 : 0.9}};
        predictions[i] =
            (struct ar_library_prediction){.time_s = 1, .low_s = 1 / 1.5, .high_s = 1.5};
    }
    ar_estimate_correct(&measured, is_fitted, &arena, &estimate);
    for (size_t i = 0; i < 2; i++) { /* half of it, more would need more rows */
        double left = log(predictions[i].time_s / rows[i].call.time_s) / log(0.9);
        cr_expect_lt(fabs(left), 0.55, "%zu: %g", i, left);
    }
}
