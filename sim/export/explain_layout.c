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

/* The parts of a role's time, and which of them are told apart. */
enum { PARTS_COUNT = AR_DUTIES_COUNT + AR_AXES_COUNT + 1 };

static double part_of(const struct ar_graph_split *split, int part)
{
    return part < AR_DUTIES_COUNT   ? split->duty_s[part]
           : part < PARTS_COUNT - 1 ? split->axis_s[part - AR_DUTIES_COUNT]
                                    : split->bubble_s;
}

/* Roles that send each other messages without a pipeline, of which computations are of some kinds:
 * of one alone it is no matter which. */
static bool is_placed(const struct ar_timing *timing)
{
    return timing->layout.placed != NULL && timing->graph->roles_count > 1;
}

/* NULL: not shown. */
static void name_parts(const struct ar_timing *timing, const char *names[PARTS_COUNT])
{
    int duties = 0;
    for (int i = 0; i < PARTS_COUNT; i++) {
        bool is_duty = i < AR_DUTIES_COUNT;
        bool is_there = timing->graph->roles_count > 1 && !is_placed(timing);
        is_there = is_there || part_of(&timing->split, i) > 0;
        duties += is_duty && is_there;
        names[i] = !is_there ? NULL
                   : is_duty ? ar_duty_names[i]
                             : ar_axis_names[i - AR_DUTIES_COUNT];
    }
    for (int i = 0; i < AR_DUTIES_COUNT && duties == 1; i++) {
        names[i] = names[i] != NULL ? "compute" : NULL;
    }
    names[PARTS_COUNT - 1] = is_placed(timing) ? "waiting" : "bubble";
    if (is_placed(timing)) {
        names[AR_DUTIES_COUNT + AR_AXIS_PP] = timing->layout.strategy->sends;
    }
}

static void print_split(const char *const names[PARTS_COUNT], const char *name,
                        const struct ar_graph_split *split)
{
    printf("  %-8s", name);
    for (int i = 0; i < PARTS_COUNT; i++) {
        if (names[i] != NULL) {
            print_seconds(part_of(split, i));
        }
    }
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

static void write_sent(const struct ar_timing *timing)
{
    const struct ar_graph *graph = timing->graph;
    char axes[AR_MESH_TEXT], bytes[AR_UNIT_TEXT], time[AR_UNIT_TEXT];
    bool has_places = is_placed(timing);
    printf("\nwhat is sent, timed by %s%s%s\n  %-14s %-8s %12s %12s %12s "
           "%12s\n",
           has_places ? "the links of its path, alone" : "engine ",
           has_places ? "" : timing->job->engine->name, has_places ? "" : ", in all groups at once",
           "operation", has_places ? "" : "along", "payload", "time",
           has_places ? "GPU 0" : "stage 0", has_places ? "all GPUs" : "all stages");
    for (uint32_t i = 0; i < graph->works_count; i++) {
        const struct ar_work *work = &graph->works[i];
        uint64_t first, all;
        if (work->kind == AR_TASK_COMPUTE) {
            continue;
        }
        struct ar_mesh mesh = ar_layout_mesh(&timing->layout, work->axes);
        count_tasks(graph, i, &first, &all);
        printf("  %-14s %-8s %12s %12s %12" PRIu64 " %12" PRIu64 "\n",
               has_places ? timing->layout.strategy->sends : work->operation->name,
               has_places ? "" : ar_mesh_format_along(&mesh, axes),
               ar_format_bytes(work->bytes, bytes),
               work->time_s >= 0 ? ar_format_seconds(work->time_s + work->latency_s, time)
                                 : "in series",
               first, all);
    }
}

enum ar_status explain_graph(const struct ar_timing *timing, struct ar_error *err)
{
    uint32_t count = timing->graph->roles_count;
    struct ar_graph_split *splits = malloc(count * sizeof *splits);
    const char *names[PARTS_COUNT];
    char name[24];
    AR_NEED(splits, err, "the stages of a step");
    ar_graph_split(timing->graph, splits);
    name_parts(timing, names);
    bool has_stages = count > 1 && !is_placed(timing);
    printf("\n%s: compute, what is sent and not hidden%s, waiting\n  %-8s",
           has_stages   ? "stages of the pipeline"
           : count == 1 ? "GPUs, all alike"
                        : "GPUs",
           is_placed(timing) ? "" : " by axis", has_stages ? "stage" : "GPU");
    for (int i = 0; i < PARTS_COUNT; i++) {
        if (names[i] != NULL) {
            printf("  %12s", names[i]);
        }
    }
    puts("");
    for (uint32_t i = 0; i < count; i++) {
        if (count > STAGES_MAX && i == STAGES_MAX / 2) {
            puts("  ...");
            i = count - STAGES_MAX / 2;
        }
        snprintf(name, sizeof name, "%" PRIu32, i);
        print_split(names, name, &splits[i]);
    }
    if (count > 1) {
        print_split(names, "mean", &timing->split);
    }
    if (timing->split.longer_s > 0) {
        char longer[AR_UNIT_TEXT];
        printf("  beside communication, or on slower ranks, computations take %s longer\n",
               ar_format_seconds(timing->split.longer_s, longer));
    }
    free(splits);
    write_sent(timing);
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

enum ar_status explain_layout(const struct ar_scenario *scenario, const struct ar_timing *timing,
                              const struct ar_row *row, struct ar_error *err)
{
    char time[AR_UNIT_TEXT], states[AR_UNIT_TEXT], activations[AR_UNIT_TEXT];
    if (scenario->layout.recorded != NULL) {
        printf("%s on %" PRIu64 " GPUs of %s, %s: %s per step\n", row->trace, row->gpus,
               row->cluster, row->mesh, ar_format_seconds(row->iteration_s, time));
        return explain_graph(timing, err);
    }
    if (timing->layout.placed != NULL) {
        printf("%s on %" PRIu64 " GPUs of %s, %s: %s per step, %" PRIu32 " operators, %" PRIu64
               " messages\n",
               row->trace, row->gpus, row->cluster, row->strategy,
               ar_format_seconds(row->iteration_s, time), timing->layout.placed->operators->count,
               row->messages_count);
        return explain_graph(timing, err);
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
    AR_TRY(explain_graph(timing, err));
    write_pass(scenario, AR_PASS_FORWARD, "forward pass");
    write_pass(scenario, AR_PASS_BACKWARD, "backward pass");
    return AR_OK;
}
