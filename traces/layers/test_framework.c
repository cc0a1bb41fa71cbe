/* Terms of a framework: the reader, and what they do to a trace. */

#include "test_setting.h"
#include "test_traces.h"

static enum ar_status load(const char *text, struct ar_framework **framework, struct ar_error *err)
{
    const char *path = test_write("some.framework.csv", text, strlen(text));
    enum ar_status status = ar_framework_load(path, &test_arena, framework, err);
    remove(path);
    return status;
}

static struct ar_framework with(const char *text)
{
    struct ar_framework framework;
    ar_framework_clear(&framework);
    if (text != NULL) {
        test_set_term(&framework, text);
    }
    return framework;
}

Test(framework, a_file_sets_its_terms_with_units_and_sources_and_leaves_the_others_off)
{
    struct ar_framework *framework = NULL;
    TEST_OK(load("# description = two terms\nterm,value,source\ncycle.time, 2ms ,a book\n"
                 "optimizer.bytes,6B,\"a, b\"\nwire.precision,fp32,c\nfusion.rule,64MiB,d\n",
                 &framework, &why));
    cr_expect_str_eq(framework->description, "two terms");
    cr_expect_not_null(strstr(framework->name, "-some"));
    cr_expect_null(strstr(framework->name, "framework"));
    char *text = ar_arena_text(&test_arena, "");
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        const struct ar_term_value *term = &framework->terms[i];
        if (ar_framework_is_on(framework, (enum ar_term)i)) {
            text = ar_arena_format(&test_arena, "%s%s = %s (%g) of %s; ", text, ar_terms[i].key,
                                   term->text, term->number, term->source);
        }
    }
    cr_expect_str_eq(text,
                     "wire.precision = fp32 (2) of c; fusion.rule = 64MiB (0) of d; "
                     "cycle.time = 2ms (0.002) of a book; optimizer.bytes = 6B (6) of a, b; ");
    cr_expect_eq(ar_framework_wire(framework, AR_FP16), AR_FP32);
}

Test(framework, what_is_wrong_in_a_file_is_said_with_its_line)
{
    static const char *const cases[][2] = {
        {"term,value,source\ncycle.tme,1ms,x\n",
         "some.framework.csv:2: unknown term \"cycle.tme\"; did you mean \"cycle.time\"?"},
        {"term,value,source\ncycle.time,1,x\n", ":2: cycle.time: found \"1\" without a unit"},
        {"term,value,source\ncycle.time,101s,x\n", "expected 0 to 100 s"},
        {"term,value,source\ncycle.time,1ms,\n", ":2: column \"source\" is \"\""},
        {"# descripton = x\nterm,value,source\n", "unknown directive \"descripton\""},
        {"term,value,source\nmemory.rate,0B/s,x\n", "above zero"},
        {"term,value,source\noptimizer.bytes,2.5B,x\n", "whole number of bytes"},
        {"term,value,source\nbn.interval,1.5,x\n", "expected a whole number"},
        {"term,value,source\ncycle.time,,x\n",
         ":2: column \"value\" is \"\"; expected a value, or off"},
        {"term,value,source\n\ncycle.time,1ms,x\ncycle.time,1ms,x\n",
         ":4: cycle.time: found a second time"},
        {"term,value,source\nwire.precision,fp64,x\n", "expected same, fp16, "},
        {"term,value,source\nmemory.rate,1B/s,x\n", "expected 1e+06 to 1e+15 B/s"},
        {"term,value,source\ncompute.scale,0,x\n", "expected a number from 0.001 to 1000"},
        {"term,value,source\nfusion.rule,groups:00000000000000000000000016,x\n", "1 to 31"},
    };
    struct ar_framework *framework = NULL;
    TEST_PAIRS_FAIL(AR_BAD_DATA, cases, load(given, &framework, &why));
    cr_expect_null(framework);
}

Test(framework, off_is_the_default_of_every_term)
{
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s=off", ar_terms[i].key);
        struct ar_framework framework = with(text);
        struct ar_framework none = with(NULL);
        cr_expect_eq(memcmp(&framework, &none, sizeof none), 0, "%s", text);
        cr_expect_not(ar_framework_is_on(&framework, (enum ar_term)i));
        cr_expect_gt(strlen(ar_terms[i].meaning), 8);
    }
}

Test(framework, the_shipped_files_can_be_read_and_say_where_every_value_comes_from)
{
    static const char *const names[] = {
        "horovod", "horovod-mpi", "mxnet-horovod", "mxnet-horovod-v0.5", "mxnet-horovod-v0.7",
        "nnl",     "pytorch-ddp", "typical"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[1024];
        struct ar_framework *framework = NULL;
        snprintf(path, sizeof path, SHIPPED("frameworks/%s.framework.csv"), names[i]);
        TEST_OK(ar_framework_load(path, &test_arena, &framework, &why));
        cr_expect_str_eq(framework->name, names[i]);
        cr_expect_gt(strlen(framework->description), 20);
        for (int term = 0; term < AR_TERMS_COUNT; term++) {
            enum ar_term needed = ar_terms[term].needs;
            if (ar_framework_is_on(framework, (enum ar_term)term)) {
                cr_expect_gt(strlen(framework->terms[term].source), 20, "%s: %s", names[i],
                             ar_terms[term].key);
                cr_expect(needed == AR_TERMS_COUNT || ar_framework_is_on(framework, needed));
            }
        }
    }
}

Test(framework, settings_make_a_copy_and_leave_what_they_are_put_over)
{
    static const struct ar_setting list[] = {{"cycle.time=2ms", "--term", AR_USAGE},
                                             {"jitter=0.1", "x.run.csv:3: term", AR_BAD_DATA},
                                             {"cycle.time=off", "--term", AR_USAGE},
                                             {"cycle.tme=1ms", "--term", AR_USAGE},
                                             {"jitter=2", "x.run.csv:3: term", AR_BAD_DATA}};
    struct ar_framework *base = NULL, *changed = NULL;
    TEST_OK(
        ar_framework_load(SHIPPED("frameworks/horovod.framework.csv"), &test_arena, &base, &why));
    double cycle_s = base->terms[AR_TERM_CYCLE_TIME].number;
    TEST_OK(ar_framework_create(base, (struct ar_settings){list, 2}, &test_arena, &changed, &why));
    cr_expect_str_eq(changed->name, "horovod");
    cr_expect_eq(base->terms[AR_TERM_CYCLE_TIME].number, cycle_s);
    cr_expect_eq(changed->terms[AR_TERM_CYCLE_TIME].number, 2e-3);
    cr_expect_eq(changed->terms[AR_TERM_JITTER].number, 0.1);
    cr_expect_str_eq(changed->terms[AR_TERM_JITTER].source, "x.run.csv:3: term");
    TEST_FAILS(
        AR_USAGE, "--term: cycle.time: found a second time",
        ar_framework_create(base, (struct ar_settings){list, 3}, &test_arena, &changed, &why));
    TEST_FAILS(
        AR_USAGE, "cycle.tme",
        ar_framework_create(NULL, (struct ar_settings){list + 3, 1}, &test_arena, &changed, &why));
    TEST_FAILS(
        AR_BAD_DATA, "x.run.csv:3: term: jitter: found",
        ar_framework_create(NULL, (struct ar_settings){list + 4, 1}, &test_arena, &changed, &why));
}

Test(framework, a_negotiation_is_a_tree_up_and_down_and_a_queue_at_the_coordinator)
{
    struct ar_framework framework = with("negotiate.base=1ms");
    test_set_term(&framework, "negotiate.hop=10us");
    test_set_term(&framework, "negotiate.rank=1us");
    static const struct {
        uint32_t ranks;
        double time_us;
    } cases[] = {{1, 1001}, {2, 1022}, {3, 1043}, {4, 1044}, {5, 1065}, {1024, 2224}, {1025, 2245}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_float_eq(ar_framework_negotiation_s(&framework, cases[i].ranks),
                           cases[i].time_us * 1e-6, 1e-12, "%u ranks", cases[i].ranks);
    }
}

static struct ar_trace *resnet50(bool has_floor, double floor_s)
{
    const struct ar_trace_request request = {.batch = 32,
                                             .precision = AR_FP16,
                                             .has_kernel_floor = has_floor,
                                             .kernel_floor_s = floor_s};
    return test_resnet50(request);
}

/* The time that the terms of a text, joined by blanks, add to a step on one GPU. */
static double added_s(const char *text, bool has_floor, double floor_s)
{
    const struct ar_settings terms = test_settings("--term", text, " ", &test_arena);
    struct ar_trace *plain = resnet50(has_floor, floor_s), *trace = resnet50(has_floor, floor_s);
    struct ar_framework *framework;
    TEST_OK(ar_framework_create(NULL, terms, &test_arena, &framework, &why));
    TEST_OK(ar_framework_apply(framework, trace, &why));
    return ar_trace_compute_s(trace) - ar_trace_compute_s(plain);
}

#define PARAMETERS 25557032.0

Test(framework, terms_add_to_the_compute_of_a_step_what_can_be_computed_by_hand)
{
    double compute_s = ar_trace_compute_s(resnet50(false, 0));
    double bytes_s = 6 * PARAMETERS / 780e9, floor_s = 31.8e-6;
    const struct {
        const char *terms;
        double added_s;
    } cases[] = {
        {"cycle.time=1ms fusion.passes=4 jitter=0.1", 0},
        {"step.floor=3ms", 3e-3},
        {"compute.scale=1.5", 0.5 * compute_s},
        {"step.floor=3ms compute.scale=2", compute_s + 6e-3},
        {"optimizer.bytes=6B", bytes_s},
        {"optimizer.bytes=6B memory.rate=390GB/s", 2 * bytes_s},
        {"optimizer.kernels=100", 100 * floor_s},
        {"optimizer.kernels=100 optimizer.bytes=6B", 100 * floor_s}, /* launches or traffic */
        {"optimizer.kernels=2 optimizer.bytes=6B", bytes_s},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_float_eq(added_s(cases[i].terms, false, 0), cases[i].added_s, 1e-12, "%s",
                           cases[i].terms);
    }
    cr_expect_float_eq(added_s("optimizer.kernels=100", true, 5e-6), 100 * 5e-6, 1e-12);
}

Test(framework, a_lower_kernel_floor_makes_small_kernels_faster_and_the_tables_own_changes_nothing)
{
    struct ar_trace *table = resnet50(false, 0);
    struct ar_trace *same = resnet50(true, 31.8e-6);
    struct ar_trace *none = resnet50(true, 0);
    struct ar_trace *high = resnet50(true, 1e-3);
    cr_expect_eq(ar_trace_compute_s(same), ar_trace_compute_s(table));
    cr_expect_lt(ar_trace_compute_s(none), ar_trace_compute_s(table));
    cr_expect_eq(none->kernel_floor_s, 0);
    /* No kernel takes longer than that: 110 forward, and one backward pass more for each of 53
     * convolutions but the first and fc; 3 kernels of the optimizer. */
    cr_expect_float_eq(ar_trace_compute_s(high), (110 + 110 + 53 + 3) * 1e-3, 0.02);
    cr_expect_gt(ar_trace_compute_s(high), 0.27);
}

Test(framework, a_timed_trace_needs_to_be_told_what_it_has_no_cost_table_for)
{
    struct ar_trace *trace = NULL;
    TEST_OK(
        test_trace(SHIPPED("example-timed.csv"), NULL, (struct ar_trace_request){0}, &trace, &why));
    double before_s = ar_trace_compute_s(trace);
    struct ar_framework framework = with("optimizer.bytes=4B");
    TEST_FAILS(AR_USAGE,
               "expected also --term memory.rate=", ar_framework_apply(&framework, trace, &why));
    framework = with("optimizer.kernels=4");
    TEST_FAILS(AR_USAGE,
               "expected also --term kernel.floor=", ar_framework_apply(&framework, trace, &why));
    cr_expect_eq(ar_trace_compute_s(trace), before_s);
    test_set_term(&framework, "kernel.floor=10us");
    TEST_OK(ar_framework_apply(&framework, trace, &why));
    cr_expect_float_eq(ar_trace_compute_s(trace), before_s + 40e-6, 1e-12);
}
