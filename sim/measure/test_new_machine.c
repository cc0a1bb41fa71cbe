/* Factors of new machines: the shipped ones, and those that a few sets tell of each other. */

#include "ar_accuracy.h"
#include "ar_new_machine.h"
#include "test_outcome.h"

Test(new_machine, shipped_factors_are_read_for_a_machine_and_its_kinds_of_rows)
{
    struct ar_machine_factors factors;
    struct ar_cluster_facts facts = {.gpu_generation = AR_GPU_BLACKWELL};
    TEST_OK(ar_machine_factors_read(&facts, ar_release_default, &factors, &why));
    cr_expect_lt(factors.calls[AR_RAMP], 0);
    cr_expect_gt(factors.messages[AR_LINK_MESSAGE_GAP], 0);
    cr_expect_eq(factors.told.sets_count, 37);
    for (int i = 0; i < 4; i++) {
        cr_expect_gt(factors.told.kinds[i / 2][i % 2].reach, 0, "calls, kind %d", i);
        cr_expect_gt(factors.message_kinds[i / 2][i % 2].reach, 0, "messages, kind %d", i);
    }
    cr_expect_eq(factors.told.kinds[0][0].weight, 1, "small calls in a node");
    cr_expect_eq(factors.message_kinds[0][1].weight, 0, "nobody measured messages in a node");
    facts.hca_kind = AR_HCA_SLINGSHOT;
    TEST_OK(ar_machine_factors_read(&facts, ar_release_default, &factors, &why));
    cr_expect_eq(factors.message_kinds[1][1].weight, 0.5, "large all-to-all across Slingshot");
}

Test(new_machine, what_is_told_has_no_cliff_between_small_and_large_rows)
{
    enum { LARGE = AR_LIBRARY_LARGE_BYTES };
    const struct ar_told kinds[] = {{.weight = 0, .reach = 1}, {.weight = 1, .reach = 0.5}};
    cr_expect_eq(ar_told_at(kinds, LARGE / 4).weight, 0);
    cr_expect_eq(ar_told_at(kinds, LARGE * 4).weight, 1);
    cr_expect_float_eq(ar_told_at(kinds, LARGE).weight, 0.5, 1e-9);
    cr_expect_float_eq(ar_told_at(kinds, LARGE).reach, 0.75, 1e-9);
    cr_expect_float_eq(ar_told_at(kinds, LARGE / 4 + 1).weight, 0, 1e-5);
    cr_expect_float_eq(ar_told_at(kinds, LARGE * 4 - 1).weight, 1, 1e-5);
}

/* --- a few sets ----------------------------------------------------------------------------- */

/* All sets of one node. */
static const char *const few[] = {"a100_1n_stas00",   "dgx_h100_1n",      "h200_1n_stas00",
                                  "a100_1n_nccl2.27", "h100_1n_nccl2.27", "b200_1n_nccl2.29",
                                  "gb200_1n_nccl2.29"};
enum { FEW = sizeof few / sizeof few[0], TEN = 10 };

static struct ar_arena arena; /* of a test, which is a process */
static struct ar_measured_index sets;
static struct ar_inputs *inputs;

/* Reads the index and leaves the few sets in it. */
static void enter_few(void)
{
    size_t count = 0;
    TEST_OK(
        ar_measured_index_read(AR_TEST_SOURCE_DIR "/validate/data/index.csv", &arena, &sets, &why));
    for (size_t i = 0; i < sets.sets_count; i++) {
        for (size_t k = 0; k < FEW; k++) {
            if (strcmp(sets.sets[i].name, few[k]) == 0) {
                sets.sets[count++] = sets.sets[i];
            }
        }
    }
    sets.sets_count = count;
    cr_assert_eq(count, FEW);
    inputs = ar_inputs_create(&arena);
}

TestSuite(few_sets, .init = enter_few);

/* Adds the errors of the rows of a set that are not marked, from 1 KiB on. */
static void add_errors(const struct ar_set_rows *rows, const struct ar_machine_factors *factors,
                       const bool *is_fitted, const bool *is_left_out, struct ar_error_sum *sum)
{
    struct ar_estimate *estimate;
    struct ar_measured measured = *rows->measured;
    struct ar_measured_request request = rows->request;
    request.factors = factors;
    measured.request = &request;
    TEST_OK(ar_estimate_run(&measured, is_fitted, &arena, &estimate, &why));
    for (size_t i = 0; i < rows->measured->rows_count; i++) {
        const struct ar_measured_row *row = &rows->measured->rows[i];
        if (!is_left_out[i] && row->is_call && row->call.run.bytes >= AR_ACCURACY_BYTES_MIN) {
            ar_error_sum_add(sum, row->call.time_s, &estimate->predictions[i]);
        }
    }
}

/* Loads the few sets, and what they tell. */
static struct ar_learnt load_few(struct ar_set_rows *rows[FEW])
{
    struct ar_learnt learnt = {.sets = ar_arena_alloc(&arena, FEW, sizeof *learnt.sets)};
    struct ar_scenario scenario = ar_scenario_begin(&arena, inputs);
    for (size_t i = 0; i < FEW; i++) {
        struct ar_estimate *unfitted;
        TEST_OK(
            ar_set_load(&sets, &sets.sets[i], &scenario, NULL, 0, NULL, &arena, &rows[i], &why));
        TEST_OK(ar_estimate_run(rows[i]->measured, NULL, &arena, &unfitted, &why));
        TEST_OK(ar_learnt_add(&learnt, rows[i], unfitted, unfitted, &why));
    }
    return learnt;
}

/* Every tenth row of a set takes twenty times as long as it did. */
Test(few_sets, odd_rows_hardly_move_the_factors)
{
    struct ar_set_rows *rows[FEW];
    struct ar_learnt learnt = load_few(rows);
    struct ar_learnt_factors *factors = ar_arena_alloc(&arena, 2, sizeof *factors);
    TEST_OK(ar_learnt_solve(&learnt, NULL, &factors[0], &why));
    for (size_t i = 0; i < rows[FEW - 1]->measured->rows_count; i += 10) {
        rows[FEW - 1]->measured->rows[i].call.time_s *= 20;
    }
    TEST_OK(ar_learnt_solve(&learnt, NULL, &factors[1], &why));
    for (size_t k = 0; k < AR_LIBRARY_PARAMETERS_COUNT; k++) {
        cr_expect_float_eq(factors[1].parts[AR_LEARNT_CALLS].factors[k][AR_GPU_BLACKWELL],
                           factors[0].parts[AR_LEARNT_CALLS].factors[k][AR_GPU_BLACKWELL], 0.1,
                           "%s", ar_library_parameters[k].name);
    }
}

/* Ten rows of one number of GPUs say what is the machine's own, the factors what all machines have
 * in common. */
Test(few_sets, ten_rows_with_the_factors_are_better_than_either_alone)
{
    enum { FACTORS, ROWS, BOTH, WAYS };
    struct ar_set_rows *rows[FEW];
    struct ar_learnt learnt = load_few(rows);
    struct ar_learnt_factors *factors = ar_arena_alloc(&arena, 1, sizeof *factors);
    struct ar_error_sum sums[WAYS] = {{.count = 0}};
    for (int way = 0; way < WAYS; way++) {
        sums[way].arena = &arena;
    }
    for (size_t i = 0; i < FEW; i++) {
        const struct ar_measured *measured = rows[i]->measured;
        bool *is_fitted = ar_arena_alloc(&arena, measured->rows_count, sizeof *is_fitted);
        uint32_t gpus = measured->rows[0].call.run.ranks;
        size_t listed, of_gpus = 0, at = 0;
        AR_EACH(const struct ar_measured_row, row, measured->rows, measured->rows_count) {
            of_gpus += row->call.run.ranks == gpus;
        }
        for (size_t k = 0; k < measured->rows_count; k++) { /* every n-th, not the smallest */
            is_fitted[k] = measured->rows[k].call.run.ranks == gpus && ++at * TEN % of_gpus < TEN;
        }
        TEST_OK(ar_learnt_solve(&learnt, sets.sets[i].machine, factors, &why));
        struct ar_learnt_factor *list = ar_learnt_list(&learnt, factors, &arena, &listed);
        struct ar_machine_factors told =
            ar_learnt_machine_factors(list, listed, ar_cluster_facts(rows[i]->scenario.cluster),
                                      learnt.sets[i].tuning.release);
        add_errors(rows[i], &told, NULL, is_fitted, &sums[FACTORS]);
        add_errors(rows[i], NULL, is_fitted, is_fitted, &sums[ROWS]);
        add_errors(rows[i], &told, is_fitted, is_fitted, &sums[BOTH]);
    }
    double factors_frac = ar_error_sum_end(&sums[FACTORS]).median_frac;
    double rows_frac = ar_error_sum_end(&sums[ROWS]).median_frac;
    double both_frac = ar_error_sum_end(&sums[BOTH]).median_frac;
    cr_expect_lt(both_frac, rows_frac, "%g, rows alone %g", both_frac, rows_frac);
    cr_expect_lt(both_frac, factors_frac, "%g, factors alone %g", both_frac, factors_frac);
}

/* Rows that were left out err more than fitted ones, and each kind says how many have no band. */
Test(few_sets, coverage_is_of_rows_that_no_fit_took)
{
    struct ar_accuracies accuracies;
    struct ar_scenario scenario = ar_scenario_begin(&arena, inputs);
    TEST_OK(ar_accuracy_run(&sets, NULL, 0, &scenario, NULL, &arena, &accuracies, &why));
    const struct ar_accuracy *all = &accuracies.rows[accuracies.count - 1];
    const struct ar_coverage *own = &accuracies.coverages[0], *nodes = &accuracies.coverages[1];
    const struct ar_coverage *machine = &accuracies.coverages[AR_COVERAGES - 1];
    cr_assert_str_eq(all->set, "all");
    cr_expect_str_eq(own->kind, "own rows");
    cr_expect_float_eq((double)own->error.count, (double)all->errors[AR_FIT].count / 5, FEW);
    cr_expect_gt(own->error.median_frac, all->errors[AR_FIT].median_frac);
    cr_expect_geq(own->error.covered_frac, 0.9);
    cr_expect_eq(nodes->error.count, 0, "all are of one node");
    cr_expect_eq(nodes->unbanded, 0);
    cr_expect_str_eq(machine->kind, "new machine");
    cr_expect_eq(machine->error.count, all->errors[AR_ZERO_SHOT].count);
    cr_expect_eq(machine->unbanded, 0);
    cr_expect_str_empty(machine->why);
}
