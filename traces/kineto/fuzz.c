/* A fuzz target of the reader: under libFuzzer with ALLRECKON_FUZZ=ON, else a test that replays
 * files (fuzz_replay.c). */
#include <assert.h>
#include <math.h>

#include "ar_kineto.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What holds for every trace that is made. */
static void check_trace(const struct ar_trace *trace)
{
    uint32_t tensors = 0;
    assert(trace->layers_count > 0 && trace->tensors_count > 0 && trace->batch > 0);
    for (uint32_t i = 0; i < trace->layers_count; i++) {
        const struct ar_layer *layer = &trace->layers[i];
        assert(layer->forward_s >= 0 && layer->backward_s >= 0 && layer->name[0] != '\0');
        assert(layer->tensors_first == tensors);
        tensors += layer->tensors_count;
    }
    assert(tensors == trace->tensors_count);
    assert(ar_trace_gradient_elements(trace) <= AR_TRACE_ELEMENTS_MAX);
    assert(trace->optimizer_s >= 0 && trace->step_overhead_s >= 0);
    assert(isfinite(ar_trace_compute_s(trace)));
}

static void check_kineto(const struct ar_kineto *kineto, enum ar_kineto_times times,
                         struct ar_arena *arena)
{
    struct ar_error err;
    struct ar_kineto_step *step = NULL;
    const struct ar_kineto_request request = {.times = times};
    enum ar_status status = ar_kineto_step_create(kineto, &request, arena, &step, &err);
    assert(status == AR_OK || status == AR_BAD_DATA);
    if (status == AR_OK) {
        check_trace(&step->trace);
        for (size_t i = 0; i < step->collectives_count; i++) {
            assert(step->collectives[i].order == i + 1);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ar_error err;
    struct ar_arena arena = {NULL};
    struct ar_kineto *kineto = NULL;
    enum ar_status status = ar_kineto_parse("fuzz", bytes, size, &arena, &kineto, &err);
    assert(status == AR_OK || status == AR_BAD_DATA);
    if (status == AR_OK) {
        check_kineto(kineto, AR_KINETO_RECORDED, &arena);
        check_kineto(kineto, AR_KINETO_KERNELS, &arena);
    }
    ar_arena_end(&arena);
    return 0;
}
