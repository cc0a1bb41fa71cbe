#include "test_golden_steps_cases.h"

#include <inttypes.h>
#include <string.h>

#include "ar_arena.h"
#include "ar_step.h"
#include "ar_trace_file.h"

struct golden_step {
    const char *cluster;
    const char *algorithm;
    uint32_t x, y;
    uint32_t channels;
    enum ar_precision precision;
    const char *buckets;
    const char *framework; /* "-": none */
    double jitter_frac;
    uint32_t iterations;
    double straggler; /* factor of rank 1; 1: none */
    enum ar_baseline baseline;
    const char *engine;
};

static const struct golden_step steps[] = {
    {"abci-v100", "ring", 16, 1, 2, AR_FP16, "ddp", "-", 0, 1, 1, AR_BASELINE_NODE, "closed"},
    {"abci-v100", "ring", 16, 1, 2, AR_FP16, "ddp", "-", 0, 1, 1, AR_BASELINE_NODE, "simgrid"},
    {"abci-v100", "ring", 64, 1, 2, AR_FP32, "4MiB", "-", 0, 1, 1, AR_BASELINE_GPU, "recurrence"},
    {"abci-v100", "ring", 256, 1, 2, AR_FP16, "tensor", "-", 0, 1, 1, AR_BASELINE_GPU, "closed"},
    {"abci-v100", "torus2d", 8, 8, 2, AR_FP16, "ddp", "-", 0, 1, 1, AR_BASELINE_NODE, "recurrence"},
    {"abci-v100", "torus2d", 4, 4, 2, AR_FP32, "one", "-", 0, 1, 1, AR_BASELINE_NODE, "simgrid"},
    {"abci-v100", "hierarchical", 4, 16, 2, AR_FP16, "ddp", "-", 0, 1, 1, AR_BASELINE_NODE,
     "closed"},
    {"abci-v100", "tree", 4, 8, 4, AR_FP16, "ddp", "-", 0, 1, 1, AR_BASELINE_NODE, "recurrence"},
    {"abci-v100", "torus2d", 8, 8, 2, AR_FP16, "ddp", "-", 0.05, 5, 1, AR_BASELINE_NODE,
     "recurrence"},
    {"abci-v100", "ring", 16, 1, 2, AR_FP16, "ddp", "-", 0.03, 3, 1, AR_BASELINE_NODE, "simgrid"},
    {"abci-v100", "ring", 64, 1, 2, AR_FP16, "ddp", "-", 0, 3, 1.2, AR_BASELINE_NODE, "recurrence"},
    {"abci-v100", "torus2d", 8, 4, 2, AR_FP16, "ddp", "mxnet-horovod", 0, 1, 1, AR_BASELINE_GPU,
     "recurrence"},
    {"abci-v100", "torus2d", 4, 4, 2, AR_FP16, "ddp", "mxnet-horovod", 0, 1, 1, AR_BASELINE_NODE,
     "simgrid"},
    {"abci-v100", "hierarchical", 4, 8, 2, AR_FP16, "ddp", "mxnet-horovod", 0.04, 4, 1,
     AR_BASELINE_NODE, "recurrence"},
    {"dgx1-v100", "ring", 16, 1, 4, AR_FP16, "ddp", "pytorch-ddp", 0, 1, 1, AR_BASELINE_NODE,
     "recurrence"},
    {"dgx2-v100", "hierarchical", 16, 4, 8, AR_FP16, "ddp", "-", 0, 1, 1, AR_BASELINE_NODE,
     "closed"},
};

static const char header[] =
    "# Predicted times of training steps: ResNet-50 on V100, 32 images per GPU, window 8, seed 1.\n"
    "# Frozen so that no change of a prediction goes unnoticed; it may change only together with\n"
    "# an entry in the CHANGELOG that starts with [Prediction] and gives old and new. Written by\n"
    "# make_golden_steps, a program of the build tree (SimGrid 3.32):\n"
    "#     build/dev/sim/predict/make_golden_steps . > sim/predict/golden_steps.csv\n"
    "cluster,algorithm,shape,channels,precision,buckets,framework,jitter,iterations,straggler,"
    "baseline,engine,iteration_s,allreduce_s,exposed_s,copy_s,efficiency_frac\n";

static void write_row(const struct golden_step *golden, const struct ar_step *step, FILE *file)
{
    fprintf(file, "%s,%s,%" PRIu32 "x%" PRIu32 ",%" PRIu32 ",%s,%s,%s,%g,%" PRIu32 ",%g,%s,%s,",
            golden->cluster, golden->algorithm, golden->x, golden->y, golden->channels,
            ar_precision_names[golden->precision], golden->buckets, golden->framework,
            golden->jitter_frac, golden->iterations, golden->straggler,
            ar_baseline_names[golden->baseline], golden->engine);
    fprintf(file, "%.12g,%.12g,%.12g,%.12g,%.12g\n", step->iteration_s, step->allreduce_s,
            step->exposed_s, step->copy_s, step->efficiency_frac);
}

static enum ar_status load_framework(const char *root, const struct golden_step *golden,
                                     struct ar_arena *arena, struct ar_framework **framework,
                                     struct ar_error *err)
{
    *framework = NULL;
    if (strcmp(golden->framework, "-") == 0) {
        return AR_OK;
    }
    AR_TRY(ar_framework_load(
        ar_arena_format(arena, "%s/traces/frameworks/%s.framework.csv", root, golden->framework),
        arena, framework, err));
    return AR_OK;
}

static enum ar_status load_trace(const char *root, const struct golden_step *golden,
                                 const struct ar_framework *framework, struct ar_arena *arena,
                                 struct ar_trace **trace, struct ar_error *err)
{
    const struct ar_trace_request request = {.batch = 32, .precision = golden->precision};
    struct ar_trace_file *file;
    struct ar_device_cost *cost;
    AR_TRY(ar_trace_file_load(ar_arena_format(arena, "%s/traces/resnet50-v1.5.csv", root), arena,
                              &file, err));
    AR_TRY(ar_device_cost_load(ar_arena_format(arena, "%s/traces/device/v100-sxm2.cost.csv", root),
                               arena, &cost, err));
    AR_TRY(ar_trace_create(file, cost, &request, arena, trace, err));
    return framework != NULL ? ar_framework_apply(framework, *trace, err) : AR_OK;
}

static enum ar_status write_step(const char *root, const struct golden_step *golden,
                                 struct ar_arena *arena, FILE *file, struct ar_error *err)
{
    const struct ar_straggler straggler = {.rank = 1, .factor = golden->straggler};
    struct ar_cluster *cluster;
    struct ar_framework *framework;
    struct ar_trace *trace;
    AR_TRY(ar_cluster_load(
        ar_arena_format(arena, "%s/topologies/machines/%s.topo", root, golden->cluster),
        (struct ar_settings){.count = 0}, arena, &cluster, err));
    AR_TRY(load_framework(root, golden, arena, &framework, err));
    AR_TRY(load_trace(root, golden, framework, arena, &trace, err));
    struct ar_step step = {.collective = {.operation = &ar_operation_all_reduce,
                                          .cluster = cluster,
                                          .shape = {.x = golden->x, .y = golden->y},
                                          .channels = golden->channels,
                                          .window = 8,
                                          .element_bytes = ar_precision_bytes(golden->precision)},
                           .trace = trace,
                           .baseline = golden->baseline,
                           .jitter_frac = golden->jitter_frac,
                           .seed = 1,
                           .iterations_count = golden->iterations,
                           .stragglers = &straggler,
                           .stragglers_count = golden->straggler > 1,
                           .framework = framework};
    AR_TRY(ar_algorithm_find("golden", &ar_operation_all_reduce, golden->algorithm,
                             &step.collective.algorithm, err));
    AR_TRY(ar_engine_find("golden", golden->engine, &step.engine, err));
    AR_TRY(ar_fusion_parse("golden", golden->buckets, &step.fusion, err));
    AR_TRY(ar_step_run(&step, err));
    write_row(golden, &step, file);
    ar_step_destroy(&step);
    return AR_OK;
}

enum ar_status golden_steps_write(const char *root, FILE *file, struct ar_error *err)
{
    fputs(header, file);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct ar_arena arena = {.last = NULL};
        enum ar_status status = write_step(root, &steps[i], &arena, file, err);
        ar_arena_end(&arena);
        AR_TRY(status);
    }
    return AR_OK;
}
