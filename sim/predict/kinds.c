/* The kinds of questions (collective, trace, transformer, ...): which one a scenario asks for, how
 * it makes a job, which keys it reads, and how long its answer takes to compute. */
#include "kinds.h"

#include <math.h>

#include "ar_inputs.h"
#include "ar_text.h"

/* By the keys alone, before anything is loaded. */
const struct ar_kind *ar_scenario_kind(const struct ar_scenario *scenario)
{
    bool has_trace = scenario->trace != NULL || ar_scenario_has(scenario, AR_KEY_TRACE);
    const struct ar_strategy *strategy = scenario->layout.strategy;
    if (scenario->operators_name != NULL || strategy->operators != NULL) {
        return &ar_kind_operators;
    }
    if (scenario->workload_name != NULL) {
        return resource_is_path(RESOURCE_RECORDED, scenario->workload_name) ? &ar_kind_recorded
               : strategy->is_asynchronous ? &ar_kind_servers_of_layout
                                           : &ar_kind_transformer;
    }
    if (!has_trace || scenario->payload_bytes > 0) {
        return &ar_kind_collective;
    }
    return strategy->is_asynchronous ? &ar_kind_servers_of_trace : &ar_kind_trace;
}

struct ar_job ar_scenario_job(const struct ar_scenario *scenario)
{
    struct ar_job job = {.kind = ar_scenario_kind(scenario),
                         .collective = ar_scenario_collective(scenario),
                         .layout = scenario->layout,
                         .framework = scenario->framework,
                         .fusion = scenario->fusion,
                         .engine = scenario->engine,
                         .library = ar_scenario_library(scenario),
                         .baseline = scenario->baseline,
                         .jitter_frac = scenario->jitter_frac,
                         .seed = scenario->seed,
                         .iterations_count = scenario->iterations_count,
                         .stragglers = scenario->stragglers,
                         .stragglers_count = scenario->stragglers_count};
    if (job.kind->job != NULL) {
        job.kind->job(scenario, &job);
    }
    return job;
}

/* --- jobs ------------------------------------------------------------------------------------- */

const char *const ar_baseline_names[] = {
    [AR_BASELINE_GPU] = "gpu", [AR_BASELINE_NODE] = "node", NULL};

uint32_t ar_job_ranks(const struct ar_job *job)
{
    uint32_t ranks = ar_collective_ranks(&job->collective);
    return ranks > 0 ? ranks : ar_layout_gpus(&job->layout);
}

struct ar_mesh ar_layout_mesh(const struct ar_layout *layout, uint32_t axes)
{
    struct ar_mesh mesh = {.axes_count = 0};
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
        bool is_along = (axes >> axis & 1) != 0;
        if (layout->sizes[axis] > 1 || is_along) {
            struct ar_mesh_axis *made = &mesh.axes[mesh.axes_count++];
            ar_copy_text(made->name, sizeof made->name, ar_axis_names[axis]);
            made->size = layout->sizes[axis];
            made->is_along = is_along;
        }
    }
    return mesh;
}

bool job_is_uneven(const struct ar_job *job)
{
    return job->jitter_frac > 0 || job->stragglers_count > 0 || job->iterations_count > 1;
}

/* --- keys ------------------------------------------------------------------------------------- */

enum {
    KEYS_OF_KINDS = AR_KEY_OF_STEP | AR_KEY_OF_BARE | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED,
    KEYS_OF_LAYOUTS = AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED
};

/* The keys of servers, those of work units behind the others. */
static const enum ar_key server_keys[] = {AR_KEY_SERVERS,    AR_KEY_SERVERS_AT, AR_KEY_WORKER,
                                          AR_KEY_PUSH_EVERY, AR_KEY_PULL,       AR_KEY_UNITS,
                                          AR_KEY_BACKUPS,    AR_KEY_TAIL};
enum { SERVER_KEYS = 5, ALL_SERVER_KEYS = sizeof server_keys / sizeof server_keys[0] };

enum ar_status kind_check_keys(const struct ar_scenario *scenario, const struct ar_kind *kind,
                               struct ar_error *err)
{
    bool is_placed = (kind->keys & AR_KEY_OF_PLACED) != 0;
    bool has_shape = (kind->keys & KEYS_OF_LAYOUTS) == 0;
    bool takes_traces = is_placed && ar_scenario_has(scenario, AR_KEY_TRACE);
    unsigned uses = kind->keys | (takes_traces ? (unsigned)AR_KEY_OF_STEP : 0);
    const struct ar_strategy *strategy = scenario->layout.strategy;
    for (int i = 0; i < ALL_SERVER_KEYS; i++) {
        bool is_taken = strategy->deals_units || (strategy->is_asynchronous && i < SERVER_KEYS);
        const struct ar_key_check check = {
            ar_scenario_has(scenario, server_keys[i]) && !is_taken, server_keys[i],
            i < SERVER_KEYS ? "it with ps-sync, ps-async, ssp:S or work-units"
                            : "it with work-units"};
        AR_TRY(ar_scenario_check_strategy(scenario, &check, 1, err));
    }
    if (!has_shape && !is_placed) { /* layouts sum gradients by rings */
        AR_TRY(ar_scenario_check_runner(scenario, &ar_algorithm_ring, err));
    }
    for (enum ar_key key = 0; key < AR_KEYS_COUNT; key++) {
        unsigned wanted = ar_keys[key].uses & KEYS_OF_KINDS;
        bool has_other = wanted != 0 && (wanted & uses) == 0;
        if (!ar_scenario_has(scenario, key) ||
            !(has_other || (key == AR_KEY_SHAPE && !has_shape))) {
            continue;
        }
        AR_SCENARIO_REFUSE(key == AR_KEY_TRACE && ar_scenario_has(scenario, AR_KEY_WORKLOAD),
                           scenario, AR_KEY_WORKLOAD, err,
                           "found with --trace; expected one or the other");
        return ar_scenario_refuse(scenario, key, err, "found with %s; expected %s", kind->name,
                                  key == AR_KEY_BATCH && kind == &ar_kind_transformer
                                      ? "--global-batch, of all GPUs"
                                      : "none there");
    }
    return AR_OK;
}

/* --- costs: how long an answer takes to compute, for the order of a sweep and its estimates --- */

/* Messages of a collective, weighed by the time that one takes SimGrid beside those of layouts,
 * most of which stay within nodes. Where ranks begin together, most steps of long rings are left
 * out (fast_rings.c). A message that ends changes the rates of all others on its links: many share
 * one where all are sent at once (linear on 64 to 256, 1 to 8 channels), the more so if ranks begin
 * apart (the second phase of direct). The rest: ResNet-50 on 64 to 4,096 V100. */
static double simulated_messages(const struct ar_collective *collective, bool is_even)
{
    static const double weights[] = {2, 3, AR_ENGINE_EXCHANGE_WEIGHT, 2}; /* by ar_phase_kind */
    enum { LONG_RING = 200, STEPS_SIMULATED = 34 };
    double ranks = ar_collective_ranks(collective);
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t count = ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
    double messages = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct ar_phase *phase = &phases[i];
        double own = (double)phase->messages * ar_collective_lanes(collective);
        double at_once_weight =
            i == 0 ? fmin(0.05 * own / ranks, 0.08 * ranks) : 0.0015 * own / collective->channels;
        bool is_left_out = is_even && phase->kind == AR_PHASE_WALK && phase->steps >= LONG_RING;
        own *= is_left_out && own >= 1e5 ? (double)STEPS_SIMULATED / phase->steps : 1;
        messages += own * (weights[phase->kind] + (phase->is_at_once ? at_once_weight : 0));
    }
    return messages;
}

/* A message takes so many times as long in an exchange where ranks differ: 1,024 to 65,536 ranks of
 * abci-v100, dgx-h100 and alps. */
#define UNEVEN_EXCHANGE 5

/* The time that it takes to find who shares which links, for messages of one size: measured on
 * 16,384 to 1,048,576 ranks of dgx-h100. Ranks of trees that do the same are looked at once, those
 * of chains that share links each; so is each rank of each channel in exchanges with a root. */
static double flows_cost_s(const struct ar_collective *collective, double messages,
                           const struct ar_phase *first, const struct ar_phase *last)
{
    if (first->kind == AR_PHASE_TREE) {
        return messages * (collective->shape.y == 1 && collective->channels > 1 ? 500e-9 : 130e-9);
    }
    bool is_rooted = collective->operation->has_root && last->kind == AR_PHASE_EXCHANGE;
    return is_rooted && !last->is_at_once
               ? messages * 75e-9 + collective->channels * 350e-9 * ar_collective_ranks(collective)
               : 0;
}

/* Messages times what each takes the engine. But for jitter and stragglers, ranks start together,
 * and one lane stands for those that do the same. */
static double messages_cost_s(const struct ar_scenario *scenario, double collectives)
{
    struct ar_collective collective = ar_scenario_collective(scenario);
    bool is_even = scenario->jitter_frac == 0 && scenario->stragglers_count == 0;
    double messages = (double)ar_collective_messages(&collective), each = 1, flows_s = 0;
    if (ar_engine_simulates(scenario->engine) && collective.algorithm != NULL) {
        messages = simulated_messages(&collective, is_even);
    } else if (collective.algorithm != NULL && ar_scenario_library(scenario) == NULL) {
        struct ar_phase phases[AR_PHASES_MAX];
        uint32_t count = ar_algorithm_phases(collective.algorithm, &collective.shape, phases);
        each = is_even ? ar_flows_lanes_each(&collective) : 1;
        messages /= each;
        flows_s = count == 0 ? 0
                             : flows_cost_s(&collective, messages, &phases[0], &phases[count - 1]) *
                                   fmax(1, collectives / scenario->iterations_count);
        if (count > 0 && phases[0].kind == AR_PHASE_EXCHANGE && !is_even) {
            messages *= UNEVEN_EXCHANGE;
        }
        /* A ring that ranks begin apart, behind what comes from a root, is walked on the channels
         * that go through nodes in another order than the first one: all come back to the root. */
        is_even = is_even && !(collective.operation->has_root && count > 1 &&
                               phases[count - 1].kind == AR_PHASE_WALK && collective.channels > 1 &&
                               ar_cluster_facts(collective.cluster)->gpus_per_node > 1);
    }
    return flows_s + ar_engine_cost_s(scenario->engine, scenario->gpus, scenario->channels / each,
                                      collectives, collectives * messages, is_even);
}

/* All messages where the engine runs all ranks at once. Else each work once; where ranks differ the
 * collectives of the replicas of a stage in each step, as rings: one of each layer, or three of it
 * in each micro-batch. Such a message takes three times as long as where ranks start together:
 * llama3-8b and 70b on dgx-h100, 64 to 1,024 GPUs. */
double layout_cost_s(const struct ar_scenario *scenario)
{
    const struct ar_layout *layout = &scenario->layout;
    double replicas = ar_layout_replicas(layout);
    double jobs = layout->recorded != NULL
                      ? layout->recorded->tasks_count
                      : (double)layout->model->layers / layout->sizes[AR_AXIS_PP] *
                            (layout->strategy->shards_all ? 3.0 * ar_layout_batches(layout) : 1);
    jobs *= ar_scenario_is_uneven(scenario) ? scenario->iterations_count : 0;
    if (ar_engine_simulates(scenario->engine)) {
        struct ar_job job = ar_scenario_job(scenario);
        return ar_engine_cost_s(scenario->engine, scenario->gpus, scenario->channels, 0,
                                ar_job_ranks_messages(&job), false);
    }
    return ar_engine_cost_s(scenario->engine, replicas, scenario->channels, jobs,
                            3 * jobs * replicas * replicas, false);
}

double collective_cost_s(const struct ar_scenario *scenario)
{
    return messages_cost_s(scenario, 1);
}

double trace_cost_s(const struct ar_scenario *scenario)
{
    struct ar_scenario steps[2] = {*scenario, *scenario}; /* and that of its baseline */
    uint32_t count = scenario->baseline == AR_BASELINE_NODE ? 2 : 1;
    double time_s = 0;
    steps[1].gpus = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    steps[1].shape = (struct ar_shape){.x = steps[1].gpus, .y = 1};
    steps[1].algorithm = &ar_algorithm_ring;
    for (uint32_t i = 0; i < count; i++) {
        struct ar_arena arena AR_ENDS_HERE = {NULL};
        struct ar_workload *workload;
        const struct ar_job job = ar_scenario_job(&steps[i]);
        bool is_made = ar_job_workload(&job, NULL, &arena, &workload, AR_IGNORED) == AR_OK;
        double buckets = is_made ? workload->buckets_count : scenario->buckets_count;
        time_s += messages_cost_s(&steps[i], buckets * scenario->iterations_count);
    }
    return time_s;
}

double ar_run_cost_s(const struct ar_scenario *scenario)
{
    return ar_scenario_kind(scenario)->cost_s(scenario);
}
