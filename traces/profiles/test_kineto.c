/* Traces of the profiler: what becomes of small ones, made up in the shape of real ones. */
#include <unistd.h>

#include "ar_kineto.h"
#include "ar_trace.h"
#include "test_kineto.h"
#include "test_recorded.h"

#define FIXTURES AR_TEST_SOURCE_DIR "/traces/profiles/fixtures/"

static struct ar_arena arena;
static const struct ar_kineto_step *imported(const char *path,
                                             const struct ar_kineto_request *request)
{
    struct ar_kineto_step *step = NULL;
    TEST_OK(ar_kineto_load(path, request, &arena, &step, &why));
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

/* Microseconds of each layer forward and backward, of the optimizer and besides. */
static const char *times_text(const struct ar_trace *trace)
{
    char *text = ar_arena_text(&arena, "");
    AR_EACH(const struct ar_layer, layer, trace->layers, trace->layers_count) {
        text = ar_arena_format(&arena, "%s%s %g/%g, ", text, layer->name, 1e6 * layer->forward_s,
                               1e6 * layer->backward_s);
    }
    return ar_arena_format(&arena, "%s%g, %g", text, 1e6 * trace->optimizer_s,
                           1e6 * trace->step_overhead_s);
}

/* Elements of tensors, and their layers. */
static const char *tensors_text(const struct ar_trace *trace)
{
    char *text = ar_arena_text(&arena, "");
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        const struct ar_layer *layer = &trace->layers[i];
        for (uint32_t k = 0; k < layer->tensors_count; k++) {
            text = ar_arena_format(&arena, "%s%s%u: %lu", text, *text != '\0' ? ", " : "", i,
                                   trace->tensor_elements[layer->tensors_first + k]);
        }
    }
    return text;
}

/* Kernels of 100, 20, 40 and 5 us forward, 5, 50 + 30, 25 and 200 us backward, copies of 1 + 2 and
 * 3 us, 30 us of the optimizer; each 1 us after the one before, but where a collective ran. */
Test(kineto, layers_have_the_time_of_their_kernels_and_the_waits_for_them)
{
    const struct ar_kineto_step *step = imported_plain(FIXTURES "ddp.json");
    cr_expect_str_eq(times_text(&step->trace),
                     "Convolution.1 100/204, Relu.1 21/25, Addmm.1 41/87, NllLoss.1 6/6, 31, 1");
    cr_expect_str_eq(step->gpu, "Tesla V100-SXM2-32GB");
    cr_expect(has_note(step, "steps 5 to 6, 2 of 2: times as recorded"));
    cr_expect(has_note(step, "2 ranks"));
}

Test(kineto, without_shapes_a_bucket_is_a_tensor_of_the_layer_that_completes_it)
{
    const struct ar_kineto_step *step = imported_plain(FIXTURES "ddp.json");
    const struct ar_trace *trace = &step->trace;
    cr_expect_str_eq(tensors_text(trace), "0: 432, 2: 2570");
    cr_expect_eq(trace->precision, AR_FP32);
    cr_expect_eq(trace->batch, 1);
    cr_expect(has_note(step, "record_shapes"));
    cr_expect(has_note(step, "batch is not recorded"));
}

Test(kineto, shapes_say_gradients_batch_and_precision)
{
    const struct ar_kineto_step *step = imported_plain(FIXTURES "shapes.json");
    const struct ar_trace *trace = &step->trace;
    cr_expect_str_eq(times_text(trace), "Convolution.1 100/201, Relu.1 21/26, Addmm.1 41/82, "
                                        "LogSoftmax.1 5/5, NllLoss.1 6/6, 31, 1");
    cr_expect_str_eq(tensors_text(trace), "0: 432, 2: 2560, 2: 10");
    cr_expect_eq(trace->batch, 8);
    cr_expect_eq(trace->precision, AR_FP16);
    cr_expect(has_note(step, "batch 8"));
    cr_expect(!has_note(step, "record_shapes"));
    const struct ar_kineto_request request = {
        .batch = 64, .has_precision = true, .precision = AR_FP32};
    step = imported(FIXTURES "shapes.json", &request);
    cr_expect_eq(step->trace.batch, 64);
    cr_expect_eq(step->trace.precision, AR_FP32, "what is asked for wins");
    /* A list of tensors has the size of its first; the sizes of a list are not multiplied. */
    struct ar_kineto_step *list;
    char *text = test_changed(&arena, test_fixture(&arena, "shapes.json"), "[[10,256]]",
                              "[[[10,256],[3,4]],[]]");
    TEST_OK(ar_kineto_parse("list", text, strlen(text), &request, &arena, &list, &why));
    cr_expect_eq(ar_trace_gradient_elements(&list->trace), 432 + 2560 + 10);
}

Test(kineto, a_step_that_is_bound_by_the_processor_is_refused_or_timed_by_its_kernels)
{
    struct ar_kineto_step *refused = NULL;
    const char *path = FIXTURES "bound-by-processor.json";
    struct ar_kineto_request request = {.times = AR_KINETO_RECORDED};
    TEST_FAILS(AR_BAD_DATA, "bound by the processor",
               ar_kineto_load(path, &request, &arena, &refused, &why));
    cr_expect_null(refused);
    request.times = AR_KINETO_KERNELS;
    const struct ar_kineto_step *step = imported(path, &request);
    cr_expect_str_eq(times_text(&step->trace),
                     "Convolution.1 100/203, Relu.1 20/25, Addmm.1 40/83, NllLoss.1 5/5, 30, 0");
    cr_expect(has_note(step, "re-timed"));
}

Test(kineto, gradients_that_are_accumulated_are_summed_once)
{
    const struct ar_kineto_step *step = imported_plain(FIXTURES "accumulated.json");
    const struct ar_trace *trace = &step->trace;
    cr_expect_str_eq(times_text(trace), "Addmm.1 41/84, Addmm.2 40/81, 31, 0");
    cr_expect_str_eq(tensors_text(trace), "0: 2560, 0: 10");
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
    TEST_OK(ar_trace_file_load(path, &arena, &read, &why));
    unlink(path);
    const struct ar_trace *trace = &read->trace;
    cr_expect(trace->is_timed);
    cr_expect_eq(trace->batch, 8);
    cr_expect_eq(trace->precision, AR_FP16);
    cr_expect_str_eq(trace->source, step->trace.source);
    cr_expect_str_eq(times_text(trace), times_text(&step->trace));
    cr_expect_str_eq(tensors_text(trace), tensors_text(&step->trace));
}

/* --- a rank of a mesh ---------------------------------------------------------------------- */

static enum ar_status import_rank(const char *from, const char *to, struct ar_kineto_step **step,
                                  struct ar_error *err)
{
    const struct ar_kineto_request request = {.is_rank = true};
    char *text = test_changed(&arena, test_fixture(&arena, "fake-group.json"), from, to);
    *step = NULL;
    return ar_kineto_parse("rank", text, strlen(text), &request, &arena, step, err);
}

/* A layer whose parameters are gathered, with sums over tp of its output and of its input's
 * gradient; 7 and 5 us of copies by the fake group are none of its work. */
Test(kineto, calls_of_a_fake_process_group_become_collectives_of_a_mesh)
{
    struct ar_kineto_step *step;
    TEST_OK(import_rank("-", "-", &step, &why));
    /* The first computation needs its parameters; the last, which updates, the summed gradients. */
    cr_expect_str_eq(test_tasks_text(step->recorded),
                     "+allgather:3:2048 c100000<0 allreduce:4:4096 c160000 allreduce:4:4096 "
                     "c120000 +reducescatter:3:4096<5 c50000<6");
    cr_expect(has_note(step, "fake process group of 16 ranks"));
    /* Copies of the group are no work of a trace either. */
    const struct ar_kineto_step *plain = imported_plain(FIXTURES "fake-group.json");
    cr_expect_float_eq(ar_trace_compute_s(&plain->trace) - plain->trace.step_overhead_s, 430e-6,
                       1e-9);
    cr_expect(has_note(plain, "--workload with the profile predicts its collectives"));
}

Test(kineto, gathers_of_activations_say_the_size_of_tp_and_all_to_alls_go_along_ep)
{
    struct ar_kineto_step *step;
    TEST_OK(import_rank("[[1024],[256]", "[[4,256],[1,256]", &step, &why));
    cr_expect_eq(step->recorded->tp, 4);
    cr_expect_eq(strncmp(test_tasks_text(step->recorded), "allgather:4:2048 ", 17), 0);
    TEST_OK(import_rank("c10d::allreduce_", "c10d::alltoall_base_", &step, &why));
    cr_expect_not_null(strstr(test_tasks_text(step->recorded), " alltoall:2:"));
}

Test(kineto, a_rank_without_shapes_or_with_two_sizes_of_an_axis_is_refused)
{
    static const struct {
        const char *from, *to, *error;
    } cases[] = {
        {"\"Input Dims\":[[[8,4,64]]", "\"Dims\":[[[8,4,64]]",
         "rank: found allreduce without its size; expected a profile with record_shapes=True"},
        {"[[256],[1024]", "[[512],[1024]", "found reducescatter by 2 ranks; expected 4, as before"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_kineto_step *step;
        TEST_FAILS(AR_BAD_DATA, cases[i].error,
                   import_rank(cases[i].from, cases[i].to, &step, &why));
    }
}
