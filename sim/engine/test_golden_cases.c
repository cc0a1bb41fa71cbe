#include "test_golden_cases.h"

#include <inttypes.h>

#include "ar_engines.h"

struct golden_case {
    const char *cluster;
    const char *algorithm;
    struct ar_shape shape;
    uint32_t channels;
    uint32_t window;
    uint32_t element_bytes;
    uint64_t elements;
};

static const struct golden_case cases[] = {
    {"flat", "ring", {.x = 16, .y = 1}, 1, 8, 4, 1000000},
    {"flat", "ring", {.x = 64, .y = 1}, 1, 1, 4, 400000},
    {"flat", "torus2d", {.x = 4, .y = 4}, 1, 8, 4, 1000003},
    {"flat", "torus2d", {.x = 8, .y = 4}, 2, 8, 4, 64000},
    {"flat", "hierarchical", {.x = 4, .y = 8}, 1, 8, 4, 1000003},
    {"abci-v100", "ring", {.x = 16, .y = 1}, 1, 1, 4, 32},
    {"abci-v100", "ring", {.x = 16, .y = 1}, 1, 8, 4, 32},
    {"abci-v100", "ring", {.x = 64, .y = 1}, 2, 8, 2, 25557032},
    {"abci-v100", "ring", {.x = 144, .y = 1}, 4, 8, 2, 25557032},
    {"abci-v100", "torus2d", {.x = 8, .y = 8}, 2, 8, 2, 25557032},
    {"abci-v100", "torus2d", {.x = 16, .y = 16}, 2, 8, 2, 25557032},
    {"abci-v100", "torus2d", {.x = 4, .y = 36}, 2, 8, 2, 25557032},
    {"flat", "tree", {.x = 1, .y = 8}, 2, 8, 4, 1000003},
    {"abci-v100", "tree", {.x = 4, .y = 8}, 4, 8, 4, 256},
    {"abci-v100", "tree", {.x = 4, .y = 8}, 4, 2, 2, 25557032},
    {"abci-v100", "tree", {.x = 4, .y = 32}, 4, 8, 2, 25557032},
    {"abci-v100", "hierarchical", {.x = 4, .y = 16}, 2, 8, 2, 25557032},
    {"abci-v100", "hierarchical", {.x = 8, .y = 5}, 1, 2, 4, 123457},
    {"dgx1-v100", "ring", {.x = 8, .y = 1}, 6, 8, 2, 25557032},
    {"dgx1-v100", "ring", {.x = 64, .y = 1}, 4, 8, 2, 25557032},
    {"dgx1-v100", "torus2d", {.x = 8, .y = 4}, 4, 8, 2, 25557032},
    {"dgx1-v100", "tree", {.x = 8, .y = 8}, 8, 8, 2, 25557032},
    {"dgx2-v100", "ring", {.x = 64, .y = 1}, 8, 8, 2, 25557032},
    {"dgx2-v100", "hierarchical", {.x = 16, .y = 4}, 8, 8, 2, 25557032},
    {"v100-8gpu-1edr", "ring", {.x = 32, .y = 1}, 1, 8, 4, 25557032},
};

static const char *const engines[] = {"simgrid", "closed"};

static const char header[] =
    "# Predicted times of all-reduces, frozen so that no change of a prediction goes unnoticed.\n"
    "# It may change only together with an entry in the CHANGELOG that starts with [Prediction] "
    "and\n"
    "# gives old and new. Written by make_golden, a program of the build tree (SimGrid 3.32):\n"
    "#     build/dev/sim/engine/make_golden topologies/machines > sim/engine/golden_allreduce.csv\n"
    "cluster,algorithm,shape,channels,window,element_bytes,elements,engine,time_s\n";

static enum ar_status write_row(const struct golden_case *golden,
                                const struct ar_collective *collective, const char *engine_name,
                                FILE *file, struct ar_error *err)
{
    const struct ar_engine *engine;
    enum ar_status status = ar_engine_find("golden", engine_name, &engine, err);
    if (status != AR_OK) {
        return status;
    }
    const struct ar_call job = {.ready_s = 0, .elements = golden->elements};
    struct ar_call_time time;
    struct ar_trial trial = {
        .collective = *collective, .jobs = &job, .jobs_count = 1, .times = &time};
    status = ar_trial_run(&trial, engine, err);
    if (status == AR_OK) {
        char shape[AR_SHAPE_TEXT];
        fprintf(file, "%s,%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%s,%.12g\n",
                golden->cluster, golden->algorithm, ar_shape_format(&golden->shape, shape),
                golden->channels, golden->window, golden->element_bytes, golden->elements,
                engine_name, time.finish_s);
    }
    return status;
}

static enum ar_status write_case(const struct golden_case *golden, const char *topologies,
                                 FILE *file, struct ar_error *err)
{
    char path[4096];
    struct ar_cluster *cluster = NULL;
    struct ar_collective collective = {.operation = &ar_operation_all_reduce,
                                       .shape = golden->shape,
                                       .channels = golden->channels,
                                       .window = golden->window,
                                       .element_bytes = golden->element_bytes};
    snprintf(path, sizeof path, "%s/%s.topo", topologies, golden->cluster);
    struct ar_arena arena = {.last = NULL};
    enum ar_status status =
        ar_cluster_load(path, (struct ar_settings){.count = 0}, &arena, &cluster, err);
    if (status == AR_OK) {
        collective.cluster = cluster;
        status = ar_algorithm_find("golden", &ar_operation_all_reduce, golden->algorithm,
                                   &collective.algorithm, err);
    }
    for (size_t i = 0; status == AR_OK && i < sizeof engines / sizeof engines[0]; i++) {
        status = write_row(golden, &collective, engines[i], file, err);
    }
    ar_arena_end(&arena);
    return status;
}

enum ar_status golden_write(const char *topologies, FILE *file, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    fputs(header, file);
    for (size_t i = 0; status == AR_OK && i < sizeof cases / sizeof cases[0]; i++) {
        status = write_case(&cases[i], topologies, file, err);
    }
    return status;
}
