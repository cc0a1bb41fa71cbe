/** \file test_traces.h
 * For tests: shipped files, files with given bytes, their traces, cost tables and terms.
 */
#pragma once

#include <stdio.h>
#include <unistd.h>

#include "ar_framework.h"
#include "ar_transformer.h"
#include "test_outcome.h"

/* Ends with the test, which is a process. */
static struct ar_arena test_arena;

#define SHIPPED(file) AR_TEST_SOURCE_DIR "/traces/" file

/* Tests run in parallel processes, hence the process number in the name. */
static inline const char *test_write(const char *name, const char *text, size_t bytes)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%d-%s", AR_TEST_BINARY_DIR, (int)getpid(), name);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(text, 1, bytes, file), bytes);
    cr_assert_eq(fclose(file), 0);
    return path;
}

/* The shipped cost table of a device. */
static inline struct ar_device_cost *test_cost(const char *name)
{
    struct ar_device_cost *cost = NULL;
    const char *path = ar_arena_format(&test_arena, SHIPPED("device/%s.cost.csv"), name);
    TEST_OK(ar_device_cost_load(path, &test_arena, &cost, &why));
    return cost;
}

/* A trace of a file and, if one is named, a cost table. */
static inline enum ar_status test_trace(const char *path, const char *cost_path,
                                        struct ar_trace_request request, struct ar_trace **trace,
                                        struct ar_error *err)
{
    struct ar_trace_file *file = NULL;
    struct ar_device_cost *cost = NULL;
    AR_TRY(ar_trace_file_load(path, &test_arena, &file, err));
    if (cost_path != NULL) {
        AR_TRY(ar_device_cost_load(cost_path, &test_arena, &cost, err));
    }
    return ar_trace_create(file, cost, &request, &test_arena, trace, err);
}

/* The shipped ResNet-50 on a V100. */
static inline struct ar_trace *test_resnet50(struct ar_trace_request request)
{
    struct ar_trace *trace = NULL;
    TEST_OK(test_trace(SHIPPED("resnet50-v1.5.csv"), SHIPPED("device/v100-sxm2.cost.csv"), request,
                       &trace, &why));
    return trace;
}

static inline enum ar_status test_load(const char *text, size_t bytes, struct ar_trace **trace,
                                       struct ar_error *err)
{
    const char *path = test_write("trace.csv", text, bytes);
    enum ar_status status = test_trace(path, SHIPPED("device/v100-sxm2.cost.csv"),
                                       (struct ar_trace_request){0}, trace, err);
    remove(path);
    return status;
}

/* Work of all products of a model in one pass, those of its layers and of both ends. */
static inline double test_products_flop(const struct ar_transformer *model,
                                        const struct ar_transformer_slice *slice,
                                        enum ar_transformer_pass pass)
{
    struct ar_kernels kernels;
    double flop = 0;
    for (int part = AR_PART_LAYER; part <= AR_PART_HEAD; part++) {
        ar_transformer_kernels(model, slice, (enum ar_transformer_part)part, pass, &kernels);
        for (size_t i = 0; i < kernels.count; i++) {
            const struct ar_gemm *gemm = &kernels.list[i].gemm;
            double each =
                2.0 * (double)gemm->count * (double)gemm->m * (double)gemm->n * (double)gemm->k;
            flop += kernels.list[i].kind == AR_KERNEL_GEMM
                        ? (1 - kernels.list[i].lacking_frac) * each *
                              (part == AR_PART_LAYER ? model->layers : 1)
                        : 0;
        }
    }
    return flop;
}

/* Sets the term of a text `KEY=VALUE`. */
static inline void test_set_term(struct ar_framework *framework, const char *text)
{
    const struct ar_setting setting = {text, "--term", AR_USAGE};
    struct ar_arena arena = {NULL};
    struct ar_framework *made = NULL;
    TEST_OK(ar_framework_create(framework, (struct ar_settings){&setting, 1}, &arena, &made, &why));
    *framework = *made;
    ar_arena_end(&arena);
}
