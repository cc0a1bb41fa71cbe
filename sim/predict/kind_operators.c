/* A step of operators that have a device each: of a file with a placement, or as a strategy makes
 * them of a trace or of an Evoformer. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_row.h"
#include "ar_text.h"
#include "ar_units.h"
#include "kinds.h"

/* --- messages between any two GPUs ------------------------------------------------------------ */

static struct ar_hop_time find_path(const void *context, uint32_t from, uint32_t to, uint64_t bytes)
{
    const struct ar_cluster *cluster = context;
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    struct ar_path path;
    (void)ar_cluster_path(cluster, from, to, &path);
    return (struct ar_hop_time){
        .time_s = (double)bytes / path.bandwidth_Bps + ar_message_gap_s(&facts->message, path.tier),
        .latency_s = facts->collective_setup_s + path.latency_s +
                     ar_message_extra_s(&facts->message, path.tier, (double)bytes)};
}

struct ar_hops ar_cluster_hops(const struct ar_cluster *cluster)
{
    return (struct ar_hops){.find = find_path, .context = cluster};
}

/* --- operators -------------------------------------------------------------------------------- */

static enum ar_status load_operators(struct ar_scenario *scenario, struct ar_operators **operators,
                                     struct ar_error *err)
{
    char path[RESOURCE_PATH];
    AR_TRY(resource_find(RESOURCE_OPERATORS, ar_scenario_where(scenario, AR_KEY_OPERATORS),
                         scenario->operators_name, path, err));
    AR_TRY(ar_operators_load(path, scenario->arena, operators, err));
    bool has_work = false;
    AR_EACH(const struct ar_operator, op, (*operators)->list, (*operators)->count) {
        has_work = has_work || op->work_flop > 0 || op->work_bytes > 0;
    }
    if (!has_work) {
        AR_SCENARIO_REFUSE(
            ar_scenario_has(scenario, AR_KEY_PRECISION), scenario, AR_KEY_PRECISION, err,
            "found with operators that all have a time_s; expected it where some have work_flop");
        return AR_OK;
    }
    AR_TRY(layout_find_cost(scenario, AR_KEY_OPERATORS, false, err));
    ar_operators_time(*operators, scenario->cost, scenario->precision);
    return ar_operators_settle(*operators, scenario->arena, err);
}

static enum ar_status make_operators(struct ar_scenario *scenario, struct ar_operators **operators,
                                     struct ar_error *err)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    enum ar_key key = strategy->takes_evoformer ? AR_KEY_WORKLOAD : AR_KEY_TRACE;
    const char *where = ar_scenario_where(scenario, key);
    const struct ar_input *input;
    struct ar_parts_request request = {.where = ar_scenario_where(scenario, AR_KEY_STRATEGY),
                                       .devices = scenario->gpus,
                                       .depth = scenario->depth,
                                       .rounds = scenario->rounds};
    memcpy(request.sizes, scenario->layout.sizes, sizeof request.sizes);
    AR_TRY(ar_scenario_require(scenario, key, err));
    if (strategy->takes_evoformer) {
        AR_TRY(ar_inputs_find(scenario->inputs, RESOURCE_EVOFORMERS, where, "evoformers", &input,
                              err));
        request.evoformer =
            ar_csv_list_find(input->list, where, "workload", scenario->workload_name, err);
        if (request.evoformer == NULL) {
            return err->status;
        }
        AR_TRY(layout_find_cost(scenario, AR_KEY_WORKLOAD, false, err));
        request.cost = scenario->cost;
        request.precision = scenario->precision;
        request.sent = ar_precisions[scenario->precision].stored;
    } else {
        AR_TRY(trace_load_layers(scenario, err));
        AR_TRY(ar_inputs_find(scenario->inputs, RESOURCE_TRACE, where, scenario->trace_name, &input,
                              err));
        static const enum ar_key of_buckets[] = {AR_KEY_BUCKET, AR_KEY_SPARSE};
        for (size_t i = 0; i < sizeof of_buckets / sizeof of_buckets[0]; i++) {
            AR_SCENARIO_REFUSE(ar_scenario_has(scenario, of_buckets[i]), scenario, of_buckets[i],
                               err, "found with strategy %s, which has no buckets; expected none",
                               strategy->name);
        }
        scenario->wire = trace_wire(scenario);
        request.trace = scenario->trace;
        request.work = input->trace->work;
        request.sent = scenario->wire;
    }
    AR_TRY(strategy->operators(&request, scenario->arena, operators, err));
    return ar_operators_settle(*operators, scenario->arena, err);
}

/* --- devices ---------------------------------------------------------------------------------- */

static enum ar_status find_placement(struct ar_scenario *scenario,
                                     const struct ar_operators *operators, struct ar_placed *placed,
                                     struct ar_error *err)
{
    const char *placement = scenario->placement;
    uint32_t *devices = NULL;
    const struct ar_placement_search request = {
        .devices_count = scenario->gpus,
        .hops = &placed->hops,
        .room_bytes = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes,
        .is_annealed = strcmp(placement, "anneal") == 0,
        .seed = scenario->seed};
    bool is_searched = request.is_annealed || strcmp(placement, "greedy") == 0;
    AR_SCENARIO_REFUSE(!is_searched && strpbrk(placement, "./") == NULL, scenario, AR_KEY_PLACEMENT,
                       err, "found \"%.60s\"; expected greedy, anneal or the path of a CSV file",
                       placement);
    AR_TRY(is_searched ? ar_placement_find(operators, &request, scenario->arena, &devices, err)
                       : ar_placement_load(placement, operators, scenario->gpus, scenario->arena,
                                           &devices, err));
    placed->devices = devices;
    return AR_OK;
}

/* --- the scenario ----------------------------------------------------------------------------- */

static enum ar_status operators_load(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_layout *layout = &scenario->layout;
    struct ar_operators *operators = NULL;
    struct ar_placed *placed = ar_arena_alloc(scenario->arena, 1, sizeof *placed);
    /* Rejects what does not go together: a file and a strategy that makes its own, a mesh where
     * every GPU is itself, engines that know of no messages. */
    bool has_file = scenario->operators_name != NULL;
    if (has_file && !ar_scenario_has(scenario, AR_KEY_STRATEGY)) {
        layout->strategy = &ar_strategy_partitioned;
    }
    bool has_mesh = layout->strategy->takes_evoformer; /* else each GPU has its own messages */
    bool takes_file = layout->strategy->takes_operators;
    enum ar_key other = has_mesh ? AR_KEY_TRACE : AR_KEY_WORKLOAD;
    const struct ar_key_check checks[] = {
        {has_file && (!takes_file || ar_scenario_has(scenario, AR_KEY_TRACE)), AR_KEY_OPERATORS,
         "operators alone, without a trace, and strategy partitioned"},
        {ar_scenario_has(scenario, other), other,
         has_mesh ? "a workload: an Evoformer" : "a trace"},
        {!has_mesh && scenario->mesh.axes_count > 0, AR_KEY_MESH, "--gpus alone"},
        {!has_mesh && ar_scenario_has(scenario, AR_KEY_ALGORITHM), AR_KEY_ALGORITHM,
         "none with messages alone"},
        {!has_file && ar_scenario_has(scenario, AR_KEY_PLACEMENT), AR_KEY_PLACEMENT, "--operators"},
        {!has_mesh && ar_engine_times_calls(scenario->engine), AR_KEY_ENGINE,
         "recurrence, simgrid or closed, which know of messages between two GPUs"},
    };
    AR_TRY(ar_scenario_check_strategy(scenario, checks, sizeof checks / sizeof checks[0], err));
    AR_TRY(layout_take_mesh(scenario, err));
    AR_TRY(ar_scenario_check_gpus(scenario, err));
    placed->hops = ar_cluster_hops(scenario->cluster);
    placed->devices_count = 1;
    if (!layout->strategy->takes_evoformer) { /* a role for each GPU */
        layout->sizes[AR_AXIS_PP] = placed->devices_count = scenario->gpus;
        layout->sizes[AR_AXIS_DP] = 1;
    }
    if (scenario->operators_name != NULL) {
        AR_TRY(load_operators(scenario, &operators, err));
        AR_TRY(find_placement(scenario, operators, placed, err));
    } else {
        AR_TRY(make_operators(scenario, &operators, err));
        uint32_t *devices = ar_arena_alloc(scenario->arena, operators->count + 1u, sizeof *devices);
        for (uint32_t i = 0; i < operators->count; i++) {
            devices[i] = operators->list[i].device;
        }
        placed->devices = devices;
    }
    if (layout->strategy->takes_evoformer) {
        placed->samples = layout->sizes[AR_AXIS_DP];
    } else if (scenario->trace != NULL) {
        bool has_replicas = layout->strategy->has_replicas;
        uint32_t replicas = has_replicas ? scenario->gpus - layout->strategy->schedulers : 1;
        placed->samples = (double)scenario->trace->batch * replicas;
    }
    placed->operators = operators;
    layout->precision = scenario->precision;
    layout->placed = placed;
    return AR_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

static double find_fullest_bytes(const struct ar_placed *placed)
{
    double most = 0;
    for (uint32_t i = 0; i < placed->devices_count && i < placed->operators->count; i++) {
        most = fmax(most, ar_operators_memory_bytes(placed->operators, placed->devices, i));
    }
    return most;
}

static void operators_describe(const struct ar_scenario *scenario, struct ar_row *row)
{
    const struct ar_layout *layout = &scenario->layout;
    if (scenario->operators_name != NULL) {
        ar_copy_stem(row->trace, sizeof row->trace, scenario->operators_name, ".operators.csv");
    } else {
        ar_copy_text(row->trace, sizeof row->trace,
                     scenario->trace != NULL ? scenario->trace->name : scenario->workload_name);
    }
    ar_strategy_format(scenario->layout.strategy, scenario->async.staleness, row->strategy);
    if (scenario->operators_name != NULL) {
        ar_copy_stem(row->schedule, sizeof row->schedule, scenario->placement, "");
    } else if (layout->strategy->has_replicas) {
        snprintf(row->schedule, sizeof row->schedule, "depth=%" PRIu32 " rounds=%" PRIu32,
                 scenario->depth, scenario->rounds);
    } else if (layout->placed->operators->cut != NULL) {
        ar_copy_text(row->schedule, sizeof row->schedule, layout->placed->operators->cut);
    }
    if (layout->strategy->takes_evoformer) {
        struct ar_mesh mesh = ar_layout_mesh(layout, 0);
        ar_mesh_format(&mesh, row->mesh);
    }
    if (scenario->trace != NULL) {
        row->batch_per_gpu = scenario->trace->batch;
        ar_copy_text(row->wire, sizeof row->wire, ar_precision_names[scenario->wire]);
    }
    double memory_bytes = find_fullest_bytes(layout->placed);
    double there = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes;
    if (memory_bytes > 0) {
        row->memory_bytes = memory_bytes;
        row->fits = there > 0 ? memory_bytes <= there : AR_NO_FLAG;
    }
}

static void operators_fill(const struct ar_scenario *scenario, const struct ar_timing *timing,
                           struct ar_row *row)
{
    const struct ar_graph *graph = timing->graph;
    const struct ar_placed *placed = timing->layout.placed;
    uint64_t messages = 0;
    layout_fill(scenario, timing, row);
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        messages += graph->works[graph->tasks[i].work].kind == AR_TASK_MESSAGE;
    }
    row->messages_count = timing->messages_count + messages;
    if (messages > 0 && !ar_engine_simulates(scenario->engine)) {
        row->exact = 0; /* links that GPUs share are not counted */
    }
    if (placed->samples > 0) {
        row->samples_per_s = placed->samples / timing->iteration_s;
    }
    if (scenario->operators_name != NULL) { /* all of them on one GPU, one after the other */
        ar_copy_text(row->baseline, sizeof row->baseline, ar_baseline_names[AR_BASELINE_GPU]);
        double time_s = 0;
        for (uint32_t i = 0; i < placed->operators->count; i++) {
            time_s += placed->operators->list[i].time_s;
        }
        row->efficiency_frac = time_s / scenario->gpus / timing->iteration_s;
    }
    if (scenario->trace != NULL) {
        double alone = scenario->trace->batch / ar_trace_compute_s(scenario->trace);
        ar_copy_text(row->baseline, sizeof row->baseline, ar_baseline_names[AR_BASELINE_GPU]);
        row->efficiency_frac = row->samples_per_s / scenario->gpus / alone;
    }
}

static void operators_note(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_placed *placed = scenario->layout.placed;
    if (scenario->layout.strategy->takes_evoformer) {
        ar_note(notes,
                "%s: the Evoformer stacks alone, kernels by cost table %s: templates, the "
                "structure module, losses and what a framework adds are left out",
                scenario->workload_name, scenario->cost->name);
    } else if (scenario->gpus > 1) {
        ar_note(notes, "a GPU sends one message at a time and receives one%s",
                ar_engine_simulates(scenario->engine) ? ""
                                                      : "; links that GPUs share are not counted");
    }
    if (placed->operators->cut != NULL) {
        ar_note(notes, "strips of some layer would be lower than what neighbours need of them: %s",
                placed->operators->cut);
    }
    note_memory(notes, scenario, find_fullest_bytes(placed), 0);
}

static double operators_cost_s(const struct ar_scenario *scenario)
{
    return ar_engine_cost_s(scenario->engine, 0, 0, 0, 0, true);
}

const struct ar_kind ar_kind_operators = {.name = "operators",
                                          .keys = AR_KEY_OF_PLACED,
                                          .has_layout = true,
                                          .load = operators_load,
                                          .graph = layout_make_graph,
                                          .describe = operators_describe,
                                          .fill = operators_fill,
                                          .note = operators_note,
                                          .cost_s = operators_cost_s};
