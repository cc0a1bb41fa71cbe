/* Traces of the profiler: what becomes of small ones, made up in the shape of real ones. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ar_kineto.h"
#include "ar_trace.h"
#include "test_kineto.h"

#define FIXTURES AR_TEST_SOURCE_DIR "/traces/profiles/fixtures/"

static struct ar_arena arena;
static struct ar_error err;

static void leave(void)
{
    ar_arena_end(&arena);
}
TestSuite(kineto, .fini = leave);

static const struct ar_kineto_step *imported(const char *path,
                                             const struct ar_kineto_request *request)
{
    struct ar_kineto_step *step = NULL;
    cr_assert_eq(ar_kineto_load(path, request, &arena, &step, &err), AR_OK, "%s", err.text);
    return step;
}

static const struct ar_kineto_step *imported_plain(const char *path)
{
    return imported(path, &(const struct ar_kineto_request){0});
}

static bool has_note(const struct ar_kineto_step *step, const char *part)
{
    bool is_found = false;
    for (size_t i = 0; i < step->notes_count; i++) {
        is_found = is_found || strstr(step->notes[i], part) != NULL;
    }
    return is_found;
}

#define US(expected, found_s) cr_expect_float_eq(1e6 * (found_s), (expected), 1e-3)

static void expect_layer(const struct ar_trace *trace, uint32_t i, const char *name,
                         double forward_us, double backward_us)
{
    cr_assert_lt(i, trace->layers_count);
    cr_expect_str_eq(trace->layers[i].name, name);
    US(forward_us, trace->layers[i].forward_s);
    US(backward_us, trace->layers[i].backward_s);
}

/* Kernels of 100, 20, 40 and 5 us forward, 5, 50 + 30, 25 and 200 us backward, copies of 1 + 2 and
 * 3 us, 30 us of the optimizer; each 1 us after the one before, but where a collective ran. */
Test(kineto, layers_have_the_time_of_their_kernels_and_the_waits_for_them)
{
    const struct ar_kineto_step *step = imported_plain(FIXTURES "ddp.json");
    const struct ar_trace *trace = &step->trace;
    cr_assert_eq(trace->layers_count, 4);
    expect_layer(trace, 0, "Convolution.1", 100, 204);
    expect_layer(trace, 1, "Relu.1", 21, 25);
    expect_layer(trace, 2, "Addmm.1", 41, 87);
    expect_layer(trace, 3, "NllLoss.1", 6, 6);
    US(31, trace->optimizer_s);
    US(1, trace->step_overhead_s);
    cr_expect_str_eq(step->gpu, "Tesla V100-SXM2-32GB");
    cr_expect(has_note(step, "steps 5 to 6, 2 of 2: times as recorded"));
    cr_expect(has_note(step, "2 ranks"));
}

Test(kineto, without_shapes_a_bucket_is_a_tensor_of_the_layer_that_completes_it)
{
    const struct ar_kineto_step *step = imported_plain(FIXTURES "ddp.json");
    const struct ar_trace *trace = &step->trace;
    cr_assert_eq(trace->tensors_count, 2);
    cr_expect_eq(trace->layers[0].tensors_count, 1);
    cr_expect_eq(trace->layers[2].tensors_count, 1);
    cr_expect_eq(trace->tensor_elements[trace->layers[0].tensors_first], 432);
    cr_expect_eq(trace->tensor_elements[trace->layers[2].tensors_first], 2570);
    cr_expect_eq(trace->precision, AR_FP32);
    cr_expect_eq(trace->batch, 1);
    cr_expect(has_note(step, "record_shapes"));
    cr_expect(has_note(step, "batch is not recorded"));
}

Test(kineto, shapes_say_gradients_batch_and_precision)
{
    const struct ar_kineto_step *step = imported_plain(FIXTURES "shapes.json");
    const struct ar_trace *trace = &step->trace;
    cr_assert_eq(trace->layers_count, 5);
    expect_layer(trace, 2, "Addmm.1", 41, 82);
    cr_assert_eq(trace->tensors_count, 3);
    cr_expect_eq(trace->tensor_elements[0], 16 * 3 * 3 * 3);
    cr_expect_eq(trace->tensor_elements[1], 10 * 256);
    cr_expect_eq(trace->tensor_elements[2], 10);
    cr_expect_eq(trace->batch, 8);
    cr_expect_eq(trace->precision, AR_FP16);
    cr_expect(has_note(step, "batch 8"));
    cr_expect(!has_note(step, "record_shapes"));
}

Test(kineto, what_is_asked_for_wins_over_what_is_recorded)
{
    const struct ar_kineto_request request = {
        .batch = 64, .has_precision = true, .precision = AR_FP32};
    const struct ar_kineto_step *step = imported(FIXTURES "shapes.json", &request);
    cr_expect_eq(step->trace.batch, 64);
    cr_expect_eq(step->trace.precision, AR_FP32);
}

Test(kineto, a_step_that_is_bound_by_the_processor_is_refused_or_timed_by_its_kernels)
{
    struct ar_kineto_step *refused = NULL;
    const char *path = FIXTURES "bound-by-processor.json";
    struct ar_kineto_request request = {.times = AR_KINETO_RECORDED};
    cr_assert_eq(ar_kineto_load(path, &request, &arena, &refused, &err), AR_BAD_DATA);
    cr_expect(strstr(err.text, "bound by the processor") != NULL, "%s", err.text);
    cr_expect_null(refused);
    request.times = AR_KINETO_KERNELS;
    const struct ar_kineto_step *step = imported(path, &request);
    expect_layer(&step->trace, 0, "Convolution.1", 100, 203);
    expect_layer(&step->trace, 2, "Addmm.1", 40, 83);
    US(30, step->trace.optimizer_s);
    US(0, step->trace.step_overhead_s);
    cr_expect(has_note(step, "re-timed"));
}

/* The sizes of a list of tensors are not multiplied. */
Test(kineto, a_list_of_tensors_has_the_size_of_its_first)
{
    struct ar_kineto_step *step;
    char *text = test_changed(&arena, test_fixture(&arena, "shapes.json"), "[[10,256]]",
                              "[[[10,256],[3,4]],[]]");
    const struct ar_kineto_request request = {0};
    cr_assert_eq(ar_kineto_parse("list", text, strlen(text), &request, &arena, &step, &err), AR_OK);
    cr_expect_eq(ar_trace_gradient_elements(&step->trace), 432 + 2560 + 10);
}

Test(kineto, gradients_that_are_accumulated_are_summed_once)
{
    const struct ar_kineto_step *step = imported_plain(FIXTURES "accumulated.json");
    const struct ar_trace *trace = &step->trace;
    cr_assert_eq(trace->layers_count, 2);
    expect_layer(trace, 0, "Addmm.1", 41, 84);
    expect_layer(trace, 1, "Addmm.2", 40, 81);
    cr_assert_eq(trace->layers[0].tensors_count, 2);
    cr_expect_eq(trace->layers[1].tensors_count, 0);
    cr_expect_eq(trace->batch, 2 * 8);
    cr_expect(has_note(step, "2 of 4 arrive in the last backward pass"));
}

Test(kineto, a_trace_that_is_written_is_read_as_it_was)
{
    char path[] = "/tmp/test_kineto_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct ar_trace_file *read;
    const struct ar_kineto_step *step = imported_plain(FIXTURES "shapes.json");
    ar_trace_write(file, &step->trace);
    fclose(file);
    cr_assert_eq(ar_trace_file_load(path, &arena, &read, &err), AR_OK, "%s", err.text);
    unlink(path);
    const struct ar_trace *trace = &read->trace;
    cr_expect(trace->is_timed);
    cr_expect_eq(trace->batch, 8);
    cr_expect_eq(trace->precision, AR_FP16);
    cr_expect_str_eq(trace->source, step->trace.source);
    cr_assert_eq(trace->layers_count, 5);
    expect_layer(trace, 0, "Convolution.1", 100, 201);
    cr_expect_eq(trace->layers[2].tensors_count, 2);
    cr_expect_eq(ar_trace_gradient_elements(trace), 432 + 2560 + 10);
}

/* --- a rank of a mesh ---------------------------------------------------------------------- */

static enum ar_status import_rank(const char *from, const char *to, struct ar_kineto_step **step)
{
    const struct ar_kineto_request request = {.is_rank = true};
    char *text = test_changed(&arena, test_fixture(&arena, "fake-group.json"), from, to);
    *step = NULL;
    return ar_kineto_parse("rank", text, strlen(text), &request, &arena, step, &err);
}

static void expect_task(const struct ar_recorded *step, uint32_t i, const char *operation,
                        double time_us, uint64_t bytes, unsigned groups, bool is_beside,
                        uint32_t need)
{
    const struct ar_recorded_task *task = &step->tasks[i];
    cr_assert_lt(i, step->tasks_count);
    cr_expect_str_eq(task->operation != NULL ? task->operation : "", operation, "task %u", i);
    cr_expect_float_eq(1e6 * task->time_s, time_us, 1e-3, "task %u: %g s", i, task->time_s);
    cr_expect_eq(task->bytes, bytes, "task %u", i);
    cr_expect_eq(task->groups, groups, "task %u", i);
    cr_expect_eq(task->is_beside, is_beside, "task %u", i);
    cr_expect_eq(task->needs_count, need == UINT32_MAX ? 0 : 1, "task %u", i);
    cr_expect(need == UINT32_MAX || step->needs[task->needs_first] == need, "task %u", i);
}

/* A layer whose parameters are gathered, with sums over tp of its output and of its input's
 * gradient; 7 and 5 us of copies by the fake group are none of its work. */
Test(kineto, calls_of_a_fake_process_group_become_collectives_of_a_mesh)
{
    struct ar_kineto_step *step;
    unsigned replicas = AR_RECORDED_DP | AR_RECORDED_EP;
    cr_assert_eq(import_rank("-", "-", &step), AR_OK, "%s", err.text);
    const struct ar_recorded *made = step->recorded;
    cr_assert_eq(made->tasks_count, 8);
    expect_task(made, 0, "allgather", 0, 2048, replicas, true, UINT32_MAX);
    expect_task(made, 1, "", 100, 0, 0, false, 0); /* needs its parameters */
    expect_task(made, 2, "allreduce", 0, 4096, AR_RECORDED_TP, false, UINT32_MAX);
    expect_task(made, 3, "", 160, 0, 0, false, UINT32_MAX);
    expect_task(made, 4, "allreduce", 0, 4096, AR_RECORDED_TP, false, UINT32_MAX);
    expect_task(made, 5, "", 120, 0, 0, false, UINT32_MAX);
    expect_task(made, 6, "reducescatter", 0, 4096, replicas, true, 5); /* of fp32 */
    expect_task(made, 7, "", 50, 0, 0, false, 6);                      /* the update waits for it */
    cr_expect(has_note(step, "fake process group of 16 ranks"));
}

Test(kineto, copies_of_a_fake_process_group_are_no_work_of_a_trace_either)
{
    const struct ar_kineto_step *step = imported_plain(FIXTURES "fake-group.json");
    US(430, ar_trace_compute_s(&step->trace) - step->trace.step_overhead_s);
    cr_expect(has_note(step, "--workload with the profile predicts its collectives"));
}

Test(kineto, gathers_of_activations_say_the_size_of_tp)
{
    struct ar_kineto_step *step;
    cr_assert_eq(import_rank("[[1024],[256]", "[[4,256],[1,256]", &step), AR_OK, "%s", err.text);
    cr_expect_eq(step->recorded->tp, 4);
    expect_task(step->recorded, 0, "allgather", 0, 2048, AR_RECORDED_TP, false, UINT32_MAX);
}

Test(kineto, all_to_alls_go_along_ep)
{
    struct ar_kineto_step *step;
    cr_assert_eq(import_rank("c10d::allreduce_", "c10d::alltoall_base_", &step), AR_OK);
    cr_expect_str_eq(step->recorded->tasks[2].operation, "alltoall");
    cr_expect_eq(step->recorded->tasks[2].groups, AR_RECORDED_EP);
}

Test(kineto, a_rank_without_shapes_or_with_two_sizes_of_an_axis_is_refused)
{
    static const struct {
        const char *from, *to, *error;
    } cases[] = {
        {"\"Input Dims\":[[[8,4,64]]", "\"Dims\":[[[8,4,64]]",
         "rank: found allreduce of 0 elements by 4 ranks; expected shapes (record_shapes=True)"},
        {"[[256],[1024]", "[[512],[1024]",
         "rank: found reducescatter of 1024 elements by 2 ranks; expected shapes "
         "(record_shapes=True), and 4 ranks as before"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_kineto_step *step;
        cr_expect_eq(import_rank(cases[i].from, cases[i].to, &step), AR_BAD_DATA);
        cr_expect_not_null(strstr(err.text, cases[i].error), "%s", err.text);
    }
}
