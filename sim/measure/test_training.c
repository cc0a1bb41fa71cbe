/* Time to train: a run is steps of its phases, and nothing else. */

#include "ar_kind.h"
#include "test_outcome.h"
#include "test_scenarios.h"
#include "training.h"

/* Beside the trace, whose all-reduce has 4 MB of gradients on the wire. */
TestSuite(training, .init = scenarios_enter, .fini = scenarios_leave);

#define PHASES "first_epoch,last_epoch,batch_per_gpu\n"
/* Two GPUs on one switch, one bucket: the all-reduce is 2 (10 us + 2 MB / 10 GB/s) = 0.42 ms. */
#define PAIR "# cluster = flat\n# gpus = 2\n# algorithm = ring\n# bucket = one\n# baseline = gpu\n"
#define RESNET                                                                                     \
    "# cluster = flat\n# gpus = 4\n# algorithm = ring\n# trace = resnet50-v1.5\n# engine = "       \
    "closed\n"

/* The run of a text, which has the small trace if it names none. */
static struct training predict(const char *given, const char *text)
{
    const struct training_file *file;
    struct training training;
    struct ar_scenario scenario = scenarios_of(given);
    const char *trace = strstr(text, "# trace = ") != NULL ? "" : strrchr(scenarios_trace, '/') + 1;
    test_write_file(scenarios_run,
                    ar_arena_format(&scenarios_arena, "# run = 1\n%s%s\n%s",
                                    trace[0] != '\0' ? "# trace = " : "", trace, text));
    TEST_OK(training_file_load(scenarios_run, &scenarios_arena, &file, &why));
    TEST_OK(training_predict(file, &scenario, &training, &why));
    return training;
}

/* 1010 images are 50 batches of 20 and one of 10. */
Test(training, totals_are_those_by_hand)
{
    struct training training = predict("", PAIR "# images = 1010\n# evalimages = 45\n"
                                                "# evalevery = 1\n" PHASES "0,3,10\n");
    double iteration_s = 3.5e-3 + 2 * (10e-6 + 2e6 / 10e9);
    double evaluation_s = 3 * ceil(45.0 / 20) * 1e-3;
    SCENARIOS_NEAR(training.total->steps_count, 150);
    SCENARIOS_NEAR(training.phases[0].row.iteration_s, iteration_s);
    SCENARIOS_NEAR(training.total->compute_s, 150 * 3.5e-3);
    cr_expect_float_eq(training.total->exposed_s, 150 * 0.42e-3, 1e-12);
    SCENARIOS_NEAR(training.total->evaluation_s, evaluation_s);
    SCENARIOS_NEAR(training.total->evaluation_samples_per_s, 45 / 3e-3);
    SCENARIOS_NEAR(training.total->time_s, 150 * iteration_s + evaluation_s);
    SCENARIOS_NEAR(training.total->row.samples_per_s, 3000 / training.total->time_s);
    SCENARIOS_NEAR(training.total->row.efficiency_frac, 3.5e-3 / iteration_s);
    cr_expect_eq(training.total->batch_total, 20);
}

Test(training, a_last_partial_batch_that_is_kept_is_a_step)
{
    struct training kept =
        predict("", PAIR "# images = 1010\n# lastpartial = keep\n" PHASES "0,2,10\n");
    struct training even =
        predict("", PAIR "# images = 1000\n# lastpartial = keep\n" PHASES "0,2,10\n");
    SCENARIOS_NEAR(kept.total->steps_count, 102);
    SCENARIOS_NEAR(kept.total->images_count, 2020);
    SCENARIOS_NEAR(even.total->steps_count, 100);
}

Test(training, evaluations_fall_on_multiples_within_their_phase)
{
    struct training training =
        predict("", PAIR "# images = 1000\n# evalimages = 20\n# evalevery = 2.5\n" PHASES
                         "0,2.4,10\n2.4,5,10\n5,5.5,10\n5.5,8,10\n");
    static const double counts[] = {0, 2, 0, 1};
    for (size_t i = 0; i < 4; i++) {
        SCENARIOS_NEAR(training.phases[i].evaluations_count, counts[i]);
    }
    cr_expect(isnan(training.phases[0].evaluation_samples_per_s));
    SCENARIOS_NEAR(training.total->evaluation_s, 3e-3);
}

Test(training, one_phase_is_steps_of_predict_to_the_last_digit)
{
    struct training training = predict("", RESNET "# images = 1281167\n" PHASES "0,90,32\n");
    struct ar_scenario scenario = scenarios_of(
        "cluster=flat;gpus=4;algorithm=ring;trace=resnet50-v1.5;engine=closed;batch=32");
    struct ar_row row;
    TEST_OK(ar_scenario_load(&scenario, &why));
    TEST_OK(ar_run(&scenario, &row, &why));
    cr_expect_eq(training.total->time_s, 90 * 10009 * row.iteration_s);
    cr_expect_eq(training.phases[0].row.efficiency_frac, row.efficiency_frac);
    cr_expect_eq(training.phases[0].row.exposed_s, row.exposed_s);
}

/* 1281167 images are 10009 whole batches of 4 x 32. */
Test(training, a_measured_rate_of_the_file_is_that_of_its_batch)
{
#define MEASURED                                                                                   \
    RESNET "# images = 1281167\n# samples_per_s_at = 32=800\n" PHASES "0,9,32\n9,90,64\n"
    struct training training = predict("", MEASURED);
    SCENARIOS_NEAR(training.phases[0].compute_s, 9 * 10009 * 0.04);
    training = predict("samples-per-s-at=32=400", MEASURED);
    SCENARIOS_NEAR(training.phases[0].compute_s, 9 * 10009 * 0.08);
}

static void expect_parts_add_up(const struct training_phase *phase)
{
    SCENARIOS_NEAR(phase->compute_s + phase->exposed_s + phase->other_s + phase->evaluation_s,
                   phase->time_s);
}

Test(training, parts_and_phases_add_up)
{
#define PARTS                                                                                      \
    RESNET "# images = 50000\n# evalimages = 999\n# evalevery = 1\n" PHASES                        \
           "0,3.5,16\n3.5,8,32\n8,9,64\n"
    for (size_t i = 0; i < 2; i++) {
        struct training training =
            predict("", i == 0 ? PARTS : "# jitter = 0.05\n# seed = 3\n" PARTS);
        double time_s = 0, steps_count = 0;
        for (size_t j = 0; j < training.phases_count; j++) {
            expect_parts_add_up(&training.phases[j]);
            cr_expect_eq(training.phases[j].row.batch_per_gpu, training.phases[j].batch_per_gpu);
            time_s += training.phases[j].time_s;
            steps_count += training.phases[j].steps_count;
        }
        expect_parts_add_up(training.total);
        cr_expect_eq(training.total->time_s, time_s);
        cr_expect_eq(training.total->steps_count, steps_count);
        cr_expect_eq(training.total->batch_per_gpu, AR_ROW_NO_COUNT);
        cr_expect_eq(training.total->last_epoch, 9);
    }
}

Test(training, a_phase_cut_in_two_changes_nothing)
{
#define HEAD RESNET "# images = 50000\n# evalimages = 999\n# evalevery = 2\n"
    struct training whole = predict("", HEAD PHASES "0,9,16\n");
    struct training parts = predict("", HEAD PHASES "0,2,16\n2,3.5,16\n3.5,9,16\n");
    SCENARIOS_NEAR(parts.total->time_s, whole.total->time_s);
    SCENARIOS_NEAR(parts.total->steps_count, whole.total->steps_count);
    SCENARIOS_NEAR(parts.total->evaluation_s, whole.total->evaluation_s);
    SCENARIOS_NEAR(parts.total->row.efficiency_frac, whole.total->row.efficiency_frac);
    cr_expect_eq(parts.total->batch_per_gpu, 16);
}

Test(training, a_total_batch_is_that_of_its_parts)
{
    struct training parts = predict("", RESNET "# images = 50000\n" PHASES "0,9,16\n");
    struct training total =
        predict("", RESNET "# images = 50000\nfirst_epoch,last_epoch,batch_total\n0,9,64\n");
    cr_expect_eq(total.total->time_s, parts.total->time_s);
    struct training more = /* the batch per GPU stays */
        predict("gpus=8", RESNET "# images = 50000\nfirst_epoch,last_epoch,batch_total\n0,9,64\n");
    cr_expect_eq(more.phases[0].batch_per_gpu, 16);
    cr_expect_eq(more.total->batch_total, 128);
}

Test(training, options_that_are_given_win_over_the_file)
{
#define FILE_ALL                                                                                   \
    RESNET                                                                                         \
    "# window = 1\n# set = net.latency=50us; hca.bandwidth=5GB/s\n# images = 50000\n" PHASES       \
    "0,9,16\n"
    struct training file = predict("", FILE_ALL);
    struct training given = predict("gpus=8;engine=recurrence;window=8;baseline=gpu;"
                                    "precision=fp32;set=net.latency=20us",
                                    FILE_ALL);
    const struct ar_row *row = &given.phases[0].row;
    cr_expect_str_eq(file.phases[0].row.settings, "net.latency=50us hca.bandwidth=5GB/s");
    cr_expect_str_eq(file.phases[0].row.engine, "closed");
    cr_expect_str_eq(
        ar_arena_format(&scenarios_arena, "%s; %s %s %s window %g, %g and %g GPUs of %g",
                        row->settings, row->engine, row->precision, row->baseline,
                        (double)row->window, (double)row->gpus, (double)given.total->gpus,
                        (double)row->batch_per_gpu),
        "net.latency=20us hca.bandwidth=5GB/s; recurrence fp32 gpu window 8, 8 and 8 GPUs of 16");
}

Test(training, the_shape_of_the_file_is_for_its_number_of_gpus)
{
    static const char text[] = "# cluster = flat\n# gpus = 16\n# algorithm = torus2d\n"
                               "# shape = 2x8\n# trace = resnet50-v1.5\n# engine = closed\n"
                               "# images = 50000\n" PHASES "0,9,16\n";
    struct training own = predict("", text);
    struct training other = predict("gpus=64", text);
    struct training given = predict("gpus=64;shape=4x16", text);
    cr_expect_str_eq(own.phases[0].row.shape, "2x8");
    cr_expect_str_eq(other.phases[0].row.shape, "8x8");
    cr_expect_str_eq(given.phases[0].row.shape, "4x16");
    cr_expect(!own.is_shape_dropped && other.is_shape_dropped && !given.is_shape_dropped);
}
