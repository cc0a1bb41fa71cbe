/* Targets that are no command: what is read, and what holds of it. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "ar_device_cost.h"
#include "ar_discover.h"
#include "ar_kineto.h"
#include "ar_log.h"
#include "ar_measured_set.h"
#include "ar_recorded.h"
#include "fuzz.h"

/* --- logs ----------------------------------------------------------------------------------- */

static void check_runs(const struct ar_logs *logs)
{
    for (size_t i = 0; i < logs->runs_count; i++) {
        const struct ar_log *run = &logs->runs[i];
        struct ar_error err;
        assert(run->first_line <= run->last_line);
        ar_log_check(run, AR_LOG_ALL_REDUCE, 2, &err);
        for (size_t k = 0; k < run->rows_count; k++) {
            double out_s = run->rows[k].out_of_place.time_s, in_s = run->rows[k].in_place.time_s;
            assert(isnan(out_s) || out_s > 0);
            assert(isnan(in_s) || in_s > 0);
            assert(!isnan(out_s) || !isnan(in_s));
        }
    }
}

enum ar_status fuzz_logs(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_logs *logs = NULL;
    enum ar_status status =
        ar_logs_parse("fuzz", input->bytes, input->size, input->arena, &logs, err);
    assert(status == AR_OK || strchr(err->text, '\n') == NULL);
    if (status == AR_OK) {
        check_runs(logs);
    }
    return status;
}

/* --- profiles --------------------------------------------------------------------------------- */

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

enum ar_status fuzz_kineto(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_kineto *kineto = NULL;
    AR_TRY(ar_kineto_parse("fuzz", (const uint8_t *)input->bytes, input->size, input->arena,
                           &kineto, err));
    for (int times = AR_KINETO_RECORDED; times <= AR_KINETO_KERNELS; times++) {
        struct ar_kineto_step *step = NULL;
        const struct ar_kineto_request request = {.times = (enum ar_kineto_times)times};
        AR_TRY(ar_kineto_step_create(kineto, &request, input->arena, &step, err));
        check_trace(&step->trace);
        for (size_t i = 0; i < step->collectives_count; i++) {
            assert(step->collectives[i].order == i + 1);
        }
    }
    return AR_OK;
}

/* --- steps of other programs ------------------------------------------------------------------ */

enum ar_status fuzz_recorded(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_recorded *recorded = NULL;
    uint32_t needs = 0;
    AR_TRY(ar_recorded_parse("fuzz", input->bytes, input->size, input->arena, &recorded, err));
    assert(recorded->tasks_count > 0 && recorded->form != NULL);
    for (uint32_t i = 0; i < recorded->tasks_count; i++) {
        const struct ar_recorded_task *task = &recorded->tasks[i];
        assert(isfinite(task->time_s) && task->time_s >= 0 && task->needs_first == needs);
        needs += task->needs_count;
        for (uint32_t k = 0; k < task->needs_count; k++) {
            assert(recorded->needs[task->needs_first + k] < i);
        }
    }
    assert(needs == recorded->needs_count);
    return AR_OK;
}

/* --- machines -----------------------------------------------------------------------------------
 */

/* What can be finished is a cluster file that loads. */
enum ar_status fuzz_discover(const struct fuzz_input *input, struct ar_error *err)
{
    static const struct ar_setting list[] = {{"nodes=2", "fuzz", AR_USAGE},
                                             {"rack.nodes=0", "fuzz", AR_USAGE},
                                             {"hca.bandwidth=1GB/s", "fuzz", AR_USAGE},
                                             {"nvlink.bandwidth=1GB/s", "fuzz", AR_USAGE},
                                             {"pcie.bandwidth=1GB/s", "fuzz", AR_USAGE}};
    struct ar_discovery *discovery = NULL;
    struct ar_topo *topo = NULL;
    enum ar_status status = ar_discover_begin(
        (struct ar_settings){list, sizeof list / sizeof *list}, input->arena, &discovery, err);
    assert(status == AR_OK);
    AR_TRY(ar_discover_parse(discovery, "fuzz", input->bytes, input->size, err));
    status = ar_discover_finish(discovery, "fuzz", &topo, err);
    assert((status == AR_OK) == (topo != NULL));
    return status;
}

/* --- costs -------------------------------------------------------------------------------------
 */

enum ar_status fuzz_cost(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_device_cost *cost = NULL;
    const struct ar_gemm gemm = {.count = 3, .m = 1000, .n = 300, .k = 100000};
    AR_TRY(ar_device_cost_load(input->path, input->arena, &cost, err));
    for (int i = 0; i < AR_PRECISIONS_COUNT; i++) {
        enum ar_precision precision = (enum ar_precision)i;
        if (ar_device_cost_has(cost, precision)) {
            assert(ar_device_cost_optimizer_s(cost, precision, 1000000) >= 0);
        }
        if (ar_device_cost_has_group(cost, precision, AR_COST_OF_PRODUCTS)) {
            assert(ar_device_gemm_s(cost, precision, &gemm) >= 0);
        }
    }
    return AR_OK;
}

enum ar_status fuzz_convolutions(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_conv_points points;
    AR_TRY(ar_conv_points_load(input->path, input->arena, &points, err));
    for (size_t i = 0; i < points.count; i++) {
        const struct ar_conv_point *found;
        assert(ar_conv_points_find(&points, &points.list[i], &found) > 0);
    }
    return AR_OK;
}

/* --- measured sets ------------------------------------------------------------------------------
 */

enum ar_status fuzz_index(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_measured_index index;
    const char *called = ar_arena_format(input->arena, "%s/called.csv", input->directory);
    fuzz_write(called, FUZZ_TEXT("operation,called,algorithm,shape,channels,note\n"));
    AR_TRY(ar_measured_index_read(input->path, input->arena, &index, err));
    for (size_t i = 0; i < index.sets_count; i++) {
        ar_measured_set_has(&index.sets[i], "collectives/data.csv");
    }
    return AR_OK;
}

enum ar_status fuzz_called(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_measured_index index;
    const char *path = ar_arena_format(input->arena, "%s/index.csv", input->directory);
    fuzz_write(path, FUZZ_TEXT("set,files,system,ranks_per_node,cluster,settings,engine,algorithm,"
                               "fitted_nodes_max,seen,source\n"));
    AR_TRY(ar_measured_index_read(path, input->arena, &index, err));
    ar_called_find(&index.called, "allreduce", "recursive_doubling");
    return AR_OK;
}
