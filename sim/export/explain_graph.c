/* Where the time of a step goes by its task graph (stages of a pipeline, GPUs that operators are
 * placed on, collectives, kernels of a layer), and with parameter servers (workers, messages). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ar_text.h"
#include "ar_units.h"
#include "exports.h"

enum { STAGES_MAX = 16 }; /* more of them: the first and the last ones */

/* The parts of a role's time: computations by duty, messages by axis, waiting. */
enum { PARTS_COUNT = AR_DUTIES_COUNT + AR_AXES_COUNT + 1 };

static double split_part(const struct ar_graph_split *split, int part)
{
    return part < AR_DUTIES_COUNT   ? split->duty_s[part]
           : part < PARTS_COUNT - 1 ? split->axis_s[part - AR_DUTIES_COUNT]
                                    : split->bubble_s;
}

/* Whether the roles are GPUs with operators, which send each other messages without a pipeline. */
static bool has_placed_operators(const struct ar_timing *timing)
{
    return timing->layout.placed != NULL && timing->graph->roles_count > 1;
}

/* Names the parts that are shown; NULL: it is not. Computations of one duty alone are "compute". */
static void name_split_parts(const struct ar_timing *timing, const char *names[PARTS_COUNT])
{
    int duties = 0;
    for (int i = 0; i < PARTS_COUNT; i++) {
        bool is_duty = i < AR_DUTIES_COUNT;
        bool is_there = timing->graph->roles_count > 1 && !has_placed_operators(timing);
        is_there = is_there || split_part(&timing->split, i) > 0;
        duties += is_duty && is_there;
        names[i] = !is_there ? NULL
                   : is_duty ? ar_duty_names[i]
                             : ar_axis_names[i - AR_DUTIES_COUNT];
    }
    for (int i = 0; i < AR_DUTIES_COUNT && duties == 1; i++) {
        names[i] = names[i] != NULL ? "compute" : NULL;
    }
    names[PARTS_COUNT - 1] = has_placed_operators(timing) ? "waiting" : "bubble";
    if (has_placed_operators(timing)) {
        names[AR_DUTIES_COUNT + AR_AXIS_PP] = timing->layout.strategy->sends;
    }
}

static void print_role_split(const char *const names[PARTS_COUNT], const char *name,
                             const struct ar_graph_split *split)
{
    printf("  %-8s", name);
    for (int i = 0; i < PARTS_COUNT; i++) {
        double part_s = split_part(split, i);
        if (names[i] != NULL) {
            printf("  %12s", part_s > 0 ? AR_SHOW_SECONDS(part_s) : "-");
        }
    }
    puts("");
}

#define SENT_LIST(X)                                                                               \
    X(text, operation, "collective, or what sends a message", .heading = "operation")              \
    X(text, along, "axes of the mesh along which it runs", .heading = "along", .is_rare = true)    \
    X(count, payload_bytes, "as nccl-tests counts it", .heading = "payload\n(B)")                  \
    X(number, time_s, "of one; none where they are timed in series", .heading = "time\n(us)",      \
      .factor = 1e6, .decimals = 2)                                                                \
    X(count, count_first, "done by the first stage, or GPU", .heading = "of the\nfirst")           \
    X(count, count_all, "done by all of them", .heading = "of\nall")

struct sent_row {
    SENT_LIST(AR_LIST_FIELD)
};

#define COLUMN(kind, field, ...) AR_COLUMN(kind, struct sent_row, field, #field, __VA_ARGS__),
static const struct ar_column sent_columns[] = {SENT_LIST(COLUMN)};

void explain_sent(FILE *file, const struct ar_view *view, const struct ar_timing *timing)
{
    const struct ar_graph *graph = timing->graph;
    struct ar_records records;
    ar_records_begin(&records, file, view, AR_COLUMNS(sent_columns));
    for (uint32_t i = 0; i < graph->works_count; i++) {
        const struct ar_work *work = &graph->works[i];
        struct sent_row row = {.payload_bytes = work->bytes, .time_s = NAN};
        if (work->kind == AR_TASK_COMPUTE) {
            continue;
        }
        struct ar_mesh mesh = ar_layout_mesh(&timing->layout, work->axes);
        AR_EACH(const struct ar_task, task, graph->tasks, graph->tasks_count) {
            row.count_first += task->work == i && task->role == 0 ? task->count : 0;
            row.count_all += task->work == i ? task->count : 0;
        }
        if (has_placed_operators(timing)) {
            ar_copy_text(row.operation, sizeof row.operation, timing->layout.strategy->sends);
        } else {
            ar_copy_text(row.operation, sizeof row.operation, work->operation->name);
            ar_mesh_format_along(&mesh, row.along);
        }
        row.time_s = work->time_s >= 0 ? work->time_s + work->latency_s : NAN;
        ar_records_add(&records, &row);
    }
    ar_records_end(&records);
}

void explain_graph(const struct ar_timing *timing, struct ar_arena *arena)
{
    uint32_t count = timing->graph->roles_count;
    struct ar_graph_split *splits = ar_arena_alloc(arena, count, sizeof *splits);
    const char *names[PARTS_COUNT];
    char name[24];
    ar_graph_split(timing->graph, splits);
    name_split_parts(timing, names);
    bool has_stages = count > 1 && !has_placed_operators(timing);
    printf("\n%s: compute, what is sent and not hidden%s, waiting\n  %-8s",
           has_stages   ? "stages of the pipeline"
           : count == 1 ? "GPUs, all alike"
                        : "GPUs",
           has_placed_operators(timing) ? "" : " by axis", has_stages ? "stage" : "GPU");
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
        print_role_split(names, name, &splits[i]);
    }
    if (count > 1) {
        print_role_split(names, "mean", &timing->split);
    }
    if (timing->split.longer_s > 0) {
        printf("  beside communication, or on slower ranks, computations take %s longer\n",
               AR_SHOW_SECONDS(timing->split.longer_s));
    }
    bool has_places = has_placed_operators(timing);
    printf("\nwhat is sent, timed by %s%s%s\n",
           has_places ? "the links of its path, alone" : "engine ",
           has_places ? "" : timing->job->engine->name,
           has_places                                   ? ""
           : ar_engine_times_calls(timing->job->engine) ? ", what it has no calls for by recurrence"
                                                        : ", in all groups at once");
    explain_sent(stdout, AR_VIEW(AR_FORMAT_TABLE), timing);
}

static void write_layer_kernels(const struct ar_scenario *scenario, enum ar_transformer_pass pass,
                                const char *title)
{
    struct ar_kernels kernels;
    struct ar_transformer_slice slice = ar_layout_slice(&scenario->layout);
    ar_transformer_kernels(scenario->layout.model, &slice, AR_PART_LAYER, pass, &kernels);
    printf("\n%s of a layer: %s by cost table %s\n", title,
           AR_SHOW_SECONDS(ar_kernels_s(&kernels, scenario->cost, scenario->layout.precision)),
           scenario->cost->name);
    AR_EACH(const struct ar_kernel, kernel, kernels.list, kernels.count) {
        const struct ar_kernels one = {.list = {*kernel}, .count = 1};
        double kernel_s = ar_kernels_s(&one, scenario->cost, scenario->layout.precision);
        printf("  %-18s %12s  ", kernel->name, AR_SHOW_SECONDS(kernel_s));
        if (kernel->kind == AR_KERNEL_MEMORY) {
            printf("%s of memory", AR_SHOW_BYTES((uint64_t)kernel->bytes));
        } else if (kernel->kind == AR_KERNEL_CAST) {
            printf("%.0f elements", kernel->elements);
        } else if (kernel->kind == AR_KERNEL_GEMM) {
            const struct ar_gemm *gemm = &kernel->gemm;
            printf("%" PRIu64 " x %" PRIu64 " x %" PRIu64, gemm->m, gemm->n, gemm->k);
            printf(gemm->count > 1 ? ", %" PRIu64 " of them" : "", gemm->count);
        } else {
            const struct ar_attention *attention = &kernel->attention;
            printf("%" PRIu64 " heads over %" PRIu64 " tokens", attention->count, attention->keys);
            printf(attention->queries < attention->keys ? ", %" PRIu64 " of them here" : "",
                   attention->queries);
        }
        printf(kernel->lacking_frac > 0 ? ", in %.0f of %" PRIu32 " layers\n" : "\n",
               (1 - kernel->lacking_frac) * scenario->layout.model->layers,
               scenario->layout.model->layers);
    }
}

void explain_layout(const struct ar_scenario *scenario, const struct ar_timing *timing,
                    const struct ar_row *row)
{
    if (scenario->layout.recorded != NULL) {
        printf("%s on %" PRIu64 " GPUs of %s, %s: %s per step\n", row->trace, row->gpus,
               row->cluster, row->mesh, AR_SHOW_SECONDS(row->iteration_s));
        explain_graph(timing, scenario->arena);
        return;
    }
    if (timing->layout.placed != NULL) {
        printf("%s on %" PRIu64 " GPUs of %s, %s: %s per step, %" PRIu32 " operators, %" PRIu64
               " messages\n",
               row->trace, row->gpus, row->cluster, row->strategy,
               AR_SHOW_SECONDS(row->iteration_s), timing->layout.placed->operators->count,
               row->messages_count);
        explain_graph(timing, scenario->arena);
        return;
    }
    struct ar_layout_memory memory = ar_layout_memory(&scenario->layout);
    printf("%s on %" PRIu64 " GPUs of %s, %s, %s, %s, recompute %s: %s per step, %.1f Tflop/s per "
           "GPU, mfu %.1f %%\n",
           row->trace, row->gpus, row->cluster, row->mesh, row->strategy, row->schedule,
           row->recompute, AR_SHOW_SECONDS(row->iteration_s), row->tflops_per_gpu,
           100 * row->mfu_frac);
    printf("memory of the fullest GPU: %s of parameters, gradients and optimizer, %s of "
           "activations\n",
           AR_SHOW_BYTES((uint64_t)memory.states_bytes),
           AR_SHOW_BYTES((uint64_t)memory.activations_bytes));
    if (timing->slowest_s > 0) {
        printf("%s of the step wait for the slowest GPU, as compute times spread by %g %% "
               "(--jitter 0 leaves it out); below all GPUs are alike\n",
               AR_SHOW_SECONDS(timing->slowest_s), 100 * timing->job->spread_frac);
    }
    if (timing->busiest_s > 0) {
        printf("the busiest link is busy for %.1f %% of the step, hidden or not\n",
               100 * timing->busiest_s / timing->iteration_s);
    }
    explain_graph(timing, scenario->arena);
    write_layer_kernels(scenario, AR_PASS_FORWARD, "forward pass");
    write_layer_kernels(scenario, AR_PASS_BACKWARD, "backward pass");
}

/* --- parameter servers ------------------------------------------------------------------------ */

/* The slowest and the fastest worker. */
static void print_extreme_workers(const struct ar_timing *timing)
{
    const struct ar_async *run = &timing->async;
    uint32_t first = 0, last = 0;
    for (uint32_t i = 1; i < run->workers; i++) {
        first = run->end_s[i] < run->end_s[first] ? i : first;
        last = run->end_s[i] > run->end_s[last] ? i : last;
    }
    const uint32_t ends[] = {first, last};
    bool is_even = run->end_s[last] <= run->end_s[first] * (1 + 1e-9);
    printf("\nworkers, a step of each: compute, push, wait, pull%s\n",
           is_even ? "; all are alike" : "");
    for (int i = 0; i < (is_even ? 1 : 2); i++) {
        const struct ar_async_split *split = &run->splits[ends[i]];
        const double parts_s[] = {split->compute_s, split->push_s, split->wait_s, split->pull_s};
        printf("  %-8s %6" PRIu32 " %12s",
               is_even  ? "as"
               : i == 0 ? "fastest"
                        : "slowest",
               ends[i], AR_SHOW_SECONDS(run->end_s[ends[i]] / run->steps_count));
        for (int j = 0; j < 4; j++) {
            double part_s = parts_s[j] / run->steps_count;
            printf(" %12s", part_s > 0 ? AR_SHOW_SECONDS(part_s) : "-");
        }
        puts("");
    }
}

/* Prints the times that no order of messages can beat: of HCAs of a node of workers, of servers. */
static void print_server_bounds(const struct ar_timing *timing)
{
    const struct ar_async *run = &timing->async;
    const struct ar_cluster_facts *facts = ar_cluster_facts(run->cluster);
    double node_Bps =
        ar_cluster_link_cost(run->cluster, AR_LINK_HCA_BANDWIDTH) * facts->hcas_per_node;
    double each = (double)timing->payload_bytes / run->every;
    uint32_t each_node = facts->gpus_per_node / run->gpus_each;
    double of_node = run->workers < each_node ? run->workers : each_node;
    printf("\nwhat is sent: each worker pushes and pulls %s; slices: %" PRIu32 "; servers: %" PRIu32
           "; steps between: %" PRIu32 "; timed by engine %s\n",
           AR_SHOW_BYTES(timing->payload_bytes), run->slices_count, run->servers, run->every,
           timing->job->engine->name);
    if (node_Bps > 0 && run->servers_at == AR_SERVERS_AT_NODES) {
        printf("  %-42s %12s\n", "a node's HCAs alone, each way",
               AR_SHOW_SECONDS(of_node * each / node_Bps));
        printf("  %-42s %12s\n", "the servers' HCAs alone, each way",
               AR_SHOW_SECONDS(run->workers * each / (run->servers * node_Bps)));
    }
}

void explain_servers(const struct ar_timing *timing, const struct ar_row *row)
{
    const struct ar_async *run = &timing->async;
    printf("%s on %" PRIu64 " GPUs of %s, %s, %" PRIu32
           " servers at %s: %s per step, mean of %" PRIu32 " steps\n",
           row->trace, row->gpus, row->cluster, row->strategy, run->servers,
           ar_servers_at_names[run->servers_at], AR_SHOW_SECONDS(timing->iteration_s),
           run->steps_count);
    struct ar_async_split split = ar_async_split_mean(run);
    const struct {
        const char *name;
        double time_s;
    } parts[] = {{"compute", split.compute_s},
                 {"push, not hidden", split.push_s},
                 {"wait for slower workers", split.wait_s},
                 {"pull, not hidden", split.pull_s},
                 {"step", timing->iteration_s}};
    printf("\nwhere the time of a worker goes, mean over the workers\n");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        printf("  %-26s %12s %8.2f %%\n", parts[i].name,
               parts[i].time_s > 0 ? AR_SHOW_SECONDS(parts[i].time_s) : "-",
               100 * parts[i].time_s / timing->iteration_s);
    }
    print_extreme_workers(timing);
    print_server_bounds(timing);
    if (timing->layout.strategy->deals_units) {
        printf("\nunits: %" PRIu32 " a step; %" PRIu64 " of all steps were begun again, %" PRIu64
               " of them done first so\n",
               timing->units.count, timing->units.backups_count, timing->units.won_count);
    }
}
