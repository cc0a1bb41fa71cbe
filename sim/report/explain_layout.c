/* Where the time of a step of a workload goes: stages, what is sent, kernels of a layer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ar_units.h"
#include "explain.h"

enum { STAGES_MAX = 16 }; /* more of them: the first and the last ones */

static void print_seconds(double time_s)
{
    char text[AR_UNIT_TEXT];
    printf("  %12s", time_s > 0 ? ar_format_seconds(time_s, text) : "-");
}

static void print_split(const char *name, const struct ar_graph_split *split)
{
    printf("  %-8s", name);
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        print_seconds(split->duty_s[i]);
    }
    for (int i = 0; i < AR_AXES_COUNT; i++) {
        print_seconds(split->axis_s[i]);
    }
    print_seconds(split->bubble_s);
    puts("");
}

/* How often the first stage does a work, and how often all do. */
static void count_tasks(const struct ar_graph *graph, uint32_t work, uint64_t *first, uint64_t *all)
{
    *first = *all = 0;
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        *first += task->work == work && task->role == 0 ? task->count : 0;
        *all += task->work == work ? task->count : 0;
    }
}

static void write_sent(const struct ar_step *step)
{
    const struct ar_graph *graph = step->graph;
    char axes[AR_MESH_TEXT], bytes[AR_UNIT_TEXT], time[AR_UNIT_TEXT];
    bool is_placed = step->layout.placed != NULL && graph->roles_count > 1;
    printf("\nwhat is sent, timed by %s%s%s\n  %-14s %-8s %12s %12s %12s "
           "%12s\n",
           is_placed ? "the links of its path, alone" : "engine ",
           is_placed ? "" : step->engine->name, is_placed ? "" : ", in all groups at once",
           "operation", "along", "payload", "time", is_placed ? "GPU 0" : "stage 0",
           is_placed ? "all GPUs" : "all stages");
    for (uint32_t i = 0; i < graph->works_count; i++) {
        const struct ar_work *work = &graph->works[i];
        uint64_t first, all;
        if (work->kind == AR_TASK_COMPUTE) {
            continue;
        }
        struct ar_mesh mesh = ar_step_mesh(&step->layout, work->axes);
        count_tasks(graph, i, &first, &all);
        printf("  %-14s %-8s %12s %12s %12" PRIu64 " %12" PRIu64 "\n", work->operation->name,
               ar_mesh_format_along(&mesh, axes), ar_format_bytes(work->bytes, bytes),
               work->time_s >= 0 ? ar_format_seconds(work->time_s + work->latency_s, time)
                                 : "in series",
               first, all);
    }
}

enum ar_status explain_graph(const struct ar_step *step, struct ar_error *err)
{
    uint32_t count = step->graph->roles_count;
    struct ar_graph_split *splits = malloc(count * sizeof *splits);
    char name[24];
    if (splits == NULL) {
        return ar_error_no_memory(err, "the stages of a step");
    }
    ar_graph_split(step->graph, splits);
    bool is_placed = step->layout.placed != NULL && count > 1;
    printf("\n%s: compute, what is sent and not hidden by axis, waiting\n  %-8s",
           is_placed ? "GPUs" : "stages of the pipeline", is_placed ? "GPU" : "stage");
    for (int i = 0; i < AR_DUTIES_COUNT; i++) {
        printf("  %12s", ar_duty_names[i]);
    }
    for (int i = 0; i < AR_AXES_COUNT; i++) {
        printf("  %12s", ar_axis_names[i]);
    }
    printf("  %12s\n", "bubble");
    for (uint32_t i = 0; i < count; i++) {
        if (count > STAGES_MAX && i == STAGES_MAX / 2) {
            puts("  ...");
            i = count - STAGES_MAX / 2;
        }
        snprintf(name, sizeof name, "%" PRIu32, i);
        print_split(name, &splits[i]);
    }
    print_split("mean", &step->split);
    if (step->split.longer_s > 0) {
        char longer[AR_UNIT_TEXT];
        printf("  beside communication, or on slower ranks, computations take %s longer\n",
               ar_format_seconds(step->split.longer_s, longer));
    }
    free(splits);
    write_sent(step);
    return AR_OK;
}

static double kernel_s(const struct ar_scenario *scenario, const struct ar_kernel *kernel)
{
    const struct ar_kernels one = {.list = {*kernel}, .count = 1};
    return ar_kernels_s(&one, scenario->cost, scenario->layout.precision);
}

static void write_pass(const struct ar_scenario *scenario, enum ar_transformer_pass pass,
                       const char *title)
{
    struct ar_kernels kernels;
    struct ar_transformer_slice slice = ar_layout_slice(&scenario->layout);
    char time[AR_UNIT_TEXT], bytes[AR_UNIT_TEXT];
    ar_transformer_kernels(scenario->layout.model, &slice, AR_PART_LAYER, pass, &kernels);
    printf(
        "\n%s of a layer: %s by cost table %s\n", title,
        ar_format_seconds(ar_kernels_s(&kernels, scenario->cost, scenario->layout.precision), time),
        scenario->cost->name);
    for (size_t i = 0; i < kernels.count; i++) {
        const struct ar_kernel *kernel = &kernels.list[i];
        printf("  %-18s %12s  ", kernel->name, ar_format_seconds(kernel_s(scenario, kernel), time));
        if (kernel->kind == AR_KERNEL_MEMORY) {
            printf("%s of memory\n", ar_format_bytes((uint64_t)kernel->bytes, bytes));
        } else if (kernel->kind == AR_KERNEL_GEMM) {
            const struct ar_gemm *gemm = &kernel->gemm;
            printf("%" PRIu64 " x %" PRIu64 " x %" PRIu64, gemm->m, gemm->n, gemm->k);
            printf(gemm->count > 1 ? ", %" PRIu64 " of them\n" : "\n", gemm->count);
        } else {
            printf("%" PRIu64 " heads over %" PRIu64 " tokens\n", kernel->attention.count,
                   kernel->attention.keys);
        }
    }
}

enum ar_status explain_layout(const struct ar_scenario *scenario, const struct ar_step *step,
                              const struct ar_row *row, struct ar_error *err)
{
    char time[AR_UNIT_TEXT], states[AR_UNIT_TEXT], activations[AR_UNIT_TEXT];
    if (scenario->layout.recorded != NULL) {
        printf("%s on %" PRIu64 " GPUs of %s, %s: %s per step\n", row->trace, row->gpus,
               row->cluster, row->mesh, ar_format_seconds(row->iteration_s, time));
        return explain_graph(step, err);
    }
    struct ar_layout_memory memory = ar_layout_memory(&scenario->layout);
    printf("%s on %" PRIu64 " GPUs of %s, %s, %s, %s, recompute %s: %s per step, %.1f Tflop/s per "
           "GPU, mfu %.1f %%\n",
           row->trace, row->gpus, row->cluster, row->mesh, row->strategy, row->schedule,
           row->recompute, ar_format_seconds(row->iteration_s, time), row->tflops_per_gpu,
           100 * row->mfu_frac);
    printf("memory of the fullest GPU: %s of parameters, gradients and optimizer, %s of "
           "activations\n",
           ar_format_bytes((uint64_t)memory.states_bytes, states),
           ar_format_bytes((uint64_t)memory.activations_bytes, activations));
    AR_TRY(explain_graph(step, err));
    write_pass(scenario, AR_PASS_FORWARD, "forward pass");
    write_pass(scenario, AR_PASS_BACKWARD, "backward pass");
    return AR_OK;
}

enum ar_status explain_placed(const struct ar_step *step, const struct ar_row *row,
                              struct ar_error *err)
{
    char time[AR_UNIT_TEXT];
    printf("%s on %" PRIu64 " GPUs of %s, %s: %s per step, %" PRIu32 " operators, %" PRIu64
           " messages\n",
           row->trace, row->gpus, row->cluster, row->strategy,
           ar_format_seconds(row->iteration_s, time), step->layout.placed->operators->count,
           row->messages_count);
    return explain_graph(step, err);
}
