/* A step of a transformer that is laid out on a mesh. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_row.h"
#include "ar_step_errors.h"
#include "ar_text.h"
#include "ar_units.h"
#include "timer.h"

/* Reserved over allocated memory, a rough ratio: 1.17 to 1.24 in three logs of PyTorch. They are
 * not published; what nvidia-smi shows of 16 published runs of Megatron-LM (Oneflow-Inc/DLPerf,
 * Megatron-LM/README.md), with contexts and caches, is 0.9 to 2.4 times what is allocated here.
 * Jobs that would take more than there is still run, so that this does not decide what fits. */
#define RESERVED_RATIO 1.2

/* Coefficient of variation of the compute times of GPUs in a step, where no --jitter says:
 * published throughputs of one node, 21 rows, quartiles 1.3 to 2.8 % (traces/frameworks/typical).
 * With it the slowest of 64,000 GPUs takes 8.9 % longer; Meta's PRISM says 9 %. */
#define SPREAD_FRAC 0.02

/* --- the model and its mesh ------------------------------------------------------------------- */

static enum ar_status make_model(struct ar_scenario *scenario, const struct ar_transformer *row,
                                 struct ar_error *err)
{
    const struct ar_transformer *keys = &scenario->model;
    struct ar_transformer *model = ar_arena_copy(scenario->arena, row, 1, sizeof *model);
    bool has_other_size = (keys->hidden > 0 || keys->heads > 0) && model->key_latent == 0;
    model->head_dim = has_other_size ? 0 : model->head_dim;
    model->ffn = keys->hidden > 0 ? 0 : model->ffn;
    for (int key = AR_KEY_LAYERS; key <= AR_KEY_LORA; key++) { /* in place of the workload's own */
        size_t at = ar_keys[key].field - offsetof(struct ar_scenario, model);
        if (ar_scenario_has(scenario, (enum ar_key)key)) {
            memcpy((char *)model + at, (const char *)keys + at, sizeof(uint32_t));
        }
    }
    model->imbalance = keys->imbalance;
    if (row->window_layers > 0) {
        model->window_layers =
            (uint32_t)((uint64_t)row->window_layers * model->layers / row->layers);
    }
    AR_TRY(ar_error_blame(
        ar_transformer_settle(ar_scenario_where(scenario, AR_KEY_WORKLOAD), model, err),
        scenario->origins[AR_KEY_WORKLOAD].status, err));
    scenario->layout.model = model;
    return AR_OK;
}

enum ar_status layout_take_mesh(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_layout *layout = &scenario->layout;
    const struct ar_mesh *mesh = &scenario->mesh;
    uint32_t known = 0;
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) { /* in whatever order they are named */
        layout->sizes[axis] = 1;
        for (uint32_t i = 0; i < mesh->axes_count; i++) {
            if (strcmp(ar_axis_names[axis], mesh->axes[i].name) == 0) {
                layout->sizes[axis] = mesh->axes[i].size;
                known++;
            }
        }
    }
    AR_SCENARIO_REFUSE(known < mesh->axes_count, scenario, AR_KEY_MESH, err,
                       "found %s; expected axes among pp, rep, dp, ep, cp and tp",
                       AR_SHOW_MESH(mesh));
    AR_TRY(ar_scenario_take_mesh(scenario, err));
    if (mesh->axes_count == 0) {
        layout->sizes[AR_AXIS_DP] = scenario->gpus;
    }
    return AR_OK;
}

enum ar_status layout_find_cost(struct ar_scenario *scenario, enum ar_key key, bool is_fused,
                                struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    const struct ar_input *input;
    AR_SCENARIO_REFUSE(facts->device_cost[0] == '\0', scenario, key, err,
                       "found %s on cluster %s, which names no cost table of its GPU; expected one "
                       "(allreckon list gpus), such as --set gpu.cost_table=a100-80gb-sxm",
                       key == AR_KEY_WORKLOAD ? scenario->workload_name : scenario->operators_name,
                       facts->name);
    AR_TRY(ar_inputs_device_cost(scenario->inputs, scenario->cluster_name, facts->device_cost,
                                 &input, err));
    scenario->cost = input->cost;
    enum ar_precision precision = scenario->precision;
    bool has_products = ar_device_cost_has_group(scenario->cost, precision, AR_COST_OF_PRODUCTS);
    AR_SCENARIO_REFUSE(
        !has_products || (is_fused && !ar_device_cost_has_group(scenario->cost,
                                                                ar_attention_precision(precision),
                                                                AR_COST_OF_ATTENTION)),
        scenario, AR_KEY_PRECISION, err,
        "found %s, for which cost table %s has no %s%s; expected another precision%s",
        ar_precision_names[precision], scenario->cost->name,
        has_products ? "fused attention in " : "products",
        has_products ? ar_precision_names[ar_attention_precision(precision)] : "",
        has_products ? ", or --attention unfused" : "");
    return AR_OK;
}

/* --- NVLink domains --------------------------------------------------------------------------- */

/* Makes a job of several NVLink domains take equally many nodes of each, the most that hold whole
 * groups of tp, unless that would leave half of a domain idle: one group across two domains would
 * set the time of all. The setting nvlink.domain_nodes is left as it is. */
static enum ar_status spread_over_domains(struct ar_scenario *scenario, struct ar_error *err)
{
    static const char key[] = "nvlink.domain_nodes";
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    uint32_t gpus = facts->gpus_per_node, all = facts->nvlink_domain_nodes, taken = all;
    uint32_t nodes = (scenario->gpus + gpus - 1) / gpus;
    uint32_t of_group = (scenario->layout.sizes[AR_AXIS_TP] + gpus - 1) / gpus;
    bool is_given = all == 1 || nodes <= all || ar_settings_find(&scenario->settings, key) != NULL;
    while (taken > all / 2 && (nodes % taken != 0 || taken % of_group != 0)) {
        taken--;
    }
    if (is_given || taken == all || taken <= all / 2) {
        return AR_OK;
    }
    struct ar_cluster *cluster;
    struct ar_scenario fewer = *scenario;
    const char *text = ar_arena_format(scenario->arena, "%s=%" PRIu32, key, taken);
    AR_TRY(ar_scenario_set(&fewer, AR_KEY_SET, NULL, text, err));
    AR_TRY(ar_scenario_make_cluster(&fewer, &cluster, err));
    scenario->cluster = cluster;
    scenario->choice = ar_arena_format(scenario->arena,
                                       "takes %" PRIu32 " of the %" PRIu32
                                       " nodes of each NVLink domain, so that no group is "
                                       "split between two; --set %s=%" PRIu32 " fills them",
                                       taken, all, key, all);
    return AR_OK;
}

/* --- offload ---------------------------------------------------------------------------------- */

/* Rate at which the CPUs of a node read and write memory in an optimizer, where the cluster does
 * not say: the middle of three reports, 42 (11.6e9 parameters in 8.2 s: deepspeedai/DeepSpeed pull
 * request 735), 55 (72.7e9 on 4 nodes of A100 in 10 s: issue 6834) and 83 GB/s (106e9 on 4 nodes of
 * H100 in 9.6 s: THUDM/slime issue 1139), with 30 bytes for each parameter. */
#define HOST_UPDATE_BPS 55e9

/* GPUs of the job on one node. */
static uint32_t count_node_gpus(const struct ar_scenario *scenario)
{
    uint32_t gpus = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    return scenario->gpus < gpus ? scenario->gpus : gpus;
}

/* Rates of the memory of hosts, of which the GPUs of a node have a part each. */
static enum ar_status find_offload(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_layout *layout = &scenario->layout;
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    uint32_t gpus = count_node_gpus(scenario);
    double update_Bps = facts->cpu_optimizer_Bps > 0 ? facts->cpu_optimizer_Bps : HOST_UPDATE_BPS;
    if (layout->offload == AR_OFFLOAD_NONE) {
        return AR_OK;
    }
    AR_SCENARIO_REFUSE(layout->strategy->is_asynchronous, scenario, AR_KEY_OFFLOAD, err,
                       "found optimizer with strategy %s; expected none with servers",
                       layout->strategy->name);
    AR_SCENARIO_REFUSE(
        facts->cpu_link_Bps <= 0, scenario, AR_KEY_OFFLOAD, err,
        "found optimizer on cluster %s, which does not say how fast a GPU reaches the memory of "
        "its host; expected a rate, such as --set cpu.link_bandwidth=25GB/s",
        facts->name);
    layout->host_link_Bps = facts->cpu_link_Bps;
    layout->host_update_Bps = update_Bps / gpus;
    return AR_OK;
}

static void note_offload(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    struct ar_layout without = scenario->layout;
    uint32_t gpus = count_node_gpus(scenario);
    if (without.offload == AR_OFFLOAD_NONE) {
        return;
    }
    without.offload = AR_OFFLOAD_NONE;
    double moved =
        ar_layout_memory(&without).states_bytes - ar_layout_memory(&scenario->layout).states_bytes;
    ar_note(notes,
            "the optimizer lies on the hosts, which need %s of memory each for it; gradients and "
            "parameters go there and back at %s for each GPU, and the CPUs of a node update at "
            "%s%s; nothing hides that",
            AR_SHOW_BYTES((uint64_t)(gpus * moved)), AR_SHOW_RATE(scenario->layout.host_link_Bps),
            AR_SHOW_RATE(gpus * scenario->layout.host_update_Bps),
            facts->cpu_optimizer_Bps > 0
                ? ""
                : " (cpu.optimizer_bandwidth; not known of this machine: reports of others are 42 "
                  "to 83 GB/s)");
}

/* --- measured rates --------------------------------------------------------------------------- */

static enum ar_status time_step(const struct ar_scenario *scenario, double *time_s,
                                struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    struct ar_job job = ar_scenario_job(scenario);
    job.stragglers_count = 0;
    job.jitter_frac = 0;
    job.iterations_count = 1;
    job.is_row_alone = true;
    AR_TRY(ar_predict(&job, &arena, &timing, err));
    *time_s = timing.iteration_s;
    return AR_OK;
}

/* Scales computations so that one replica has the rate that was measured: what it sends within
 * itself stays, so the factor is found by secants. */
static enum ar_status scale_workload(struct ar_scenario *scenario, struct ar_error *err)
{
    const struct compute_rate *rate = &scenario->rate;
    struct ar_scenario one = *scenario; /* replica alone, with the sequences of the rate */
    double wanted_s = rate->batch / rate->samples_per_s, time_s, sent_s;
    struct ar_error cause;
    one.layout.sizes[AR_AXIS_REP] = one.layout.sizes[AR_AXIS_DP] = 1;
    one.layout.global_batch = rate->batch;
    one.gpus = ar_layout_gpus(&one.layout);
    AR_SCENARIO_REFUSE(ar_layout_check("", &one.layout, &cause) != AR_OK, scenario,
                       AR_KEY_SAMPLES_PER_S_AT, err, "found %" PRIu32 " sequences%s", rate->batch,
                       cause.text);
    one.compute_factor = 0;
    AR_TRY(time_step(&one, &sent_s, err));
    double low = 0, low_s = sent_s, high = 1;
    for (int round = 0; round < 100; round++) {
        one.compute_factor = high;
        AR_TRY(time_step(&one, &time_s, err));
        if (fabs(time_s - wanted_s) <= 1e-9 * wanted_s || time_s == low_s || sent_s >= wanted_s) {
            break;
        }
        double next = high + (wanted_s - time_s) * (high - low) / (time_s - low_s);
        low = high;
        low_s = time_s;
        high = next > 0 ? next : high / 2;
    }
    scenario->compute_factor = high;
    AR_SCENARIO_REFUSE(sent_s >= wanted_s || high < COMPUTE_FACTOR_MIN || high > COMPUTE_FACTOR_MAX,
                       scenario, AR_KEY_SAMPLES_PER_S_AT, err,
                       "found %g samples/s at %" PRIu32
                       " sequences, where the cost table gives %.4g and what one replica sends "
                       "leaves at most %.4g; expected samples per second of one replica",
                       rate->samples_per_s, rate->batch, rate->batch / time_s,
                       rate->batch / sent_s);
    return AR_OK;
}

/* Finds a transformer by name, in the list or of a shipped config.json, or by path; an Evoformer of
 * that name is said to need another strategy. */
static enum ar_status find_transformer(const struct ar_scenario *scenario,
                                       const struct ar_transformer **row, struct ar_error *err)
{
    const struct ar_input *input;
    const char *where = ar_scenario_where(scenario, AR_KEY_WORKLOAD);
    const char *name = scenario->workload_name;
    if (resource_is_path(RESOURCE_MODEL, name)) {
        AR_TRY(ar_inputs_find(scenario->inputs, RESOURCE_MODEL, where, name, &input, err));
        *row = input->model;
        return AR_OK;
    }
    AR_TRY(
        ar_inputs_find(scenario->inputs, RESOURCE_WORKLOADS, where, "transformers", &input, err));
    const struct ar_csv_list *list = input->list;
    *row = ar_csv_list_find(list, where, "workload", name, NULL);
    if (*row == NULL && ar_inputs_find(scenario->inputs, RESOURCE_MODEL, where, name, &input,
                                       AR_IGNORED) == AR_OK) {
        *row = input->model;
    }
    if (*row != NULL) {
        return AR_OK;
    }
    AR_SCENARIO_REFUSE(ar_inputs_find(scenario->inputs, RESOURCE_EVOFORMERS, where, "evoformers",
                                      &input, AR_IGNORED) == AR_OK &&
                           ar_csv_list_find(input->list, where, "workload", name, NULL) != NULL,
                       scenario, AR_KEY_WORKLOAD, err,
                       "found %s, an Evoformer; expected --strategy dap with it", name);
    char models[RESOURCE_NAMES_MAX][64];
    size_t models_count = resource_names(RESOURCE_MODEL, models);
    const char **names = ar_arena_alloc(scenario->arena, list->count + models_count, sizeof *names);
    for (size_t i = 0; i < list->count + models_count; i++) {
        names[i] = i < list->count ? ((const struct ar_transformer *)list->rows)[i].name
                                   : models[i - list->count];
    }
    ar_error_unknown(err, AR_NO_INPUT, where, "workload", name, names, list->count + models_count);
    return resource_add_path(RESOURCE_RECORDED, err);
}

enum ar_status transformer_load(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_layout *layout = &scenario->layout;
    const struct ar_transformer *row;
    AR_TRY(find_transformer(scenario, &row, err));
    AR_TRY(make_model(scenario, row, err));
    AR_TRY(layout_take_mesh(scenario, err));
    AR_TRY(ar_scenario_require(scenario, AR_KEY_GLOBAL_BATCH, err));
    AR_TRY(
        layout_find_cost(scenario, AR_KEY_WORKLOAD, layout->attention == AR_ATTENTION_FLASH2, err));
    layout->precision = scenario->precision;
    layout->elementwise = scenario->framework->terms[AR_TERM_ELEMENTWISE_SCALE].number;
    if (!ar_scenario_has(scenario, AR_KEY_OVERLAP_PIPELINE)) {
        layout->overlaps_pipeline = layout->schedule->has_chunks;
    }
    if (!ar_scenario_has(scenario, AR_KEY_GRADIENTS)) {
        layout->gradients = ar_precisions[scenario->precision].stored;
    }
    AR_TRY(ar_scenario_check_gpus(scenario, err));
    bool has_host = !layout->strategy->is_asynchronous; /* a graph in which it launches */
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        bool is_known = ar_terms[i].of == AR_TERM_OF_ALL ||
                        (has_host && ar_terms[i].of == AR_TERM_OF_WORKLOADS);
        if (!is_known && ar_framework_is_on(scenario->framework, (enum ar_term)i)) {
            bool is_term = ar_scenario_has(scenario, AR_KEY_TERM);
            return ar_scenario_refuse(
                scenario, is_term ? AR_KEY_TERM : AR_KEY_FRAMEWORK, err,
                "found %s%s%s for a workload; expected contention.sms, gpu.sms, jitter%s alone "
                "there, as --framework typical has",
                is_term ? "" : scenario->framework_name, is_term ? "" : " with ", ar_terms[i].key,
                has_host ? ", elementwise.scale, host terms" : "");
        }
    }
    AR_TRY(ar_error_blame(
        ar_layout_check_sparse(ar_scenario_where(scenario, AR_KEY_SPARSE), layout, err),
        scenario->origins[AR_KEY_SPARSE].status, err));
    const struct ar_origin *mesh = &scenario->origins[AR_KEY_MESH];
    enum ar_key shaped_by = ar_scenario_has(scenario, AR_KEY_MESH) ? AR_KEY_MESH : AR_KEY_GPUS;
    AR_TRY(ar_error_blame(ar_layout_check(ar_scenario_where(scenario, shaped_by), layout, err),
                          mesh->where != NULL ? mesh->status : AR_USAGE, err));
    uint32_t group =
        layout->sizes[AR_AXIS_EP] * layout->sizes[AR_AXIS_CP] * layout->sizes[AR_AXIS_TP];
    uint32_t per_node = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    layout->expert_nodes = (group + per_node - 1) / per_node;
    AR_TRY(find_offload(scenario, err));
    AR_TRY(ar_error_blame(
        ar_layout_check_recompute(ar_scenario_where(scenario, AR_KEY_RECOMPUTE), layout, err),
        scenario->origins[AR_KEY_RECOMPUTE].status, err));
    AR_TRY(spread_over_domains(scenario, err));
    scenario->compute_factor = 1;
    return scenario->rate.batch > 0 ? scale_workload(scenario, err) : AR_OK;
}

/* Compute times of GPUs spread as SPREAD_FRAC says unless options say how. */
static double find_spread(const struct ar_scenario *scenario)
{
    bool is_drawn = ar_scenario_has(scenario, AR_KEY_JITTER) || scenario->jitter_frac > 0;
    return is_drawn || scenario->layout.strategy->ends_runs ? 0 : SPREAD_FRAC;
}

void transformer_complete_job(const struct ar_scenario *scenario, struct ar_job *job)
{
    const struct ar_layout *layout = &scenario->layout;
    ar_part_times_make(layout, scenario->cost, scenario->compute_factor, scenario->framework,
                       &job->times);
    job->spread_frac = find_spread(scenario);
}

double ar_scenario_least_s(const struct ar_scenario *scenario)
{
    const struct ar_layout *layout = &scenario->layout;
    struct ar_part_times times;
    uint32_t layers = 0;
    if (layout->model == NULL) {
        return 0;
    }
    ar_part_times_make(layout, scenario->cost, scenario->compute_factor, scenario->framework,
                       &times);
    for (uint32_t stage = 0; stage < layout->sizes[AR_AXIS_PP]; stage++) {
        uint32_t own = ar_layout_stage_layers(layout, stage);
        layers = own > layers ? own : layers;
    }
    return (double)layers * ar_layout_batches(layout) *
           (times.forward_s[AR_PART_LAYER] + times.backward_s[AR_PART_LAYER]);
}

enum ar_status layout_make_graph(const struct ar_job *job, const struct ar_slowdown *slowdown,
                                 struct ar_timing *timing, struct ar_error *err)
{
    (void)slowdown; /* which the schedule applies */
    (void)err;
    timing->graph = job->is_row_alone && !job_is_uneven(job)
                        ? ar_periods_graph(&timing->layout, &job->times,
                                           ar_engine_simulates(job->engine), timing->arena)
                        : NULL;
    if (timing->graph == NULL) {
        timing->graph = ar_strategy_graph(&timing->layout, &job->times, timing->arena);
    }
    return AR_OK;
}

/* --- rows and notes --------------------------------------------------------------------------- */

void layout_describe(const struct ar_scenario *scenario, struct ar_row *row)
{
    const struct ar_layout *layout = &scenario->layout;
    struct ar_mesh mesh = ar_layout_mesh(layout, 0);
    ar_strategy_format(scenario->layout.strategy, scenario->async.staleness, row->strategy);
    ar_copy_text(row->trace, sizeof row->trace, scenario->workload_name);
    ar_mesh_format(&mesh, row->mesh);
    if (ar_scenario_is_uneven(scenario)) {
        row->jitter_frac = scenario->jitter_frac;
        row->seed = scenario->seed;
        row->iterations_count = scenario->iterations_count;
    }
    if (layout->recorded != NULL) {
        return;
    }
    row->global_batch = layout->global_batch;
    row->micro_batch = layout->micro_batch;
    snprintf(row->schedule, sizeof row->schedule, "%s", layout->schedule->name);
    if (layout->schedule->has_chunks) {
        snprintf(row->schedule, sizeof row->schedule, "%s:%u", layout->schedule->name,
                 layout->chunks);
    }
    ar_recompute_format(layout->recompute, row->recompute);
    row->sequence_parallel = layout->is_sequence_parallel;
    ar_copy_text(row->attention, sizeof row->attention, ar_attention_names[layout->attention]);
    row->overlap = layout->overlaps;
    row->prefetch = layout->strategy->shards_all ? layout->prefetch : AR_ROW_NO_COUNT;
    row->imbalance = layout->model->experts > 0 ? layout->model->imbalance : NAN;
    ar_copy_text(row->wire, sizeof row->wire, ar_precision_names[layout->gradients]);
    struct ar_layout_memory memory = ar_layout_memory(layout);
    double there = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes;
    row->memory_bytes = memory.states_bytes + memory.activations_bytes;
    row->fits = there > 0 ? row->memory_bytes <= there : AR_NO_FLAG;
    row->reserved_bytes = RESERVED_RATIO * row->memory_bytes;
    if (there > 0) { /* where it runs out of room, the allocator frees what it caches */
        row->reserved_bytes = fmax(row->memory_bytes, fmin(row->reserved_bytes, there));
    }
}

/* Bytes of memory that a GPU reads and writes in a step, without the optimizer: where memory gives
 * 1 B/s, they are the time. */
static double traffic_bytes(const struct ar_scenario *scenario, const struct ar_layout *layout)
{
    struct ar_part_times parts;
    struct ar_device_cost slow = *scenario->cost;
    double bytes = 0;
    for (int i = 0; i < AR_PRECISIONS_COUNT; i++) {
        slow.value[AR_COST_MEMORY][i] = slow.value[AR_COST_GEMM_MEMORY][i] = 1;
    }
    ar_part_times_make(layout, &slow, 1, scenario->framework, &parts);
    parts.again_s -= parts.backward_s[AR_PART_LAYER];
    for (uint32_t i = 0; i < layout->sizes[AR_AXIS_PP] * layout->chunks; i++) {
        bytes += ar_layout_again_layers(layout, i) * parts.again_s;
    }
    for (int i = 0; i < AR_PARTS_COUNT; i++) {
        uint32_t times = i == AR_PART_LAYER ? layout->model->layers : 1;
        bytes += times * (parts.forward_s[i] + parts.backward_s[i]);
    }
    return bytes * ar_layout_batches(layout) / layout->sizes[AR_AXIS_PP];
}

void layout_fill(const struct ar_scenario *scenario, const struct ar_timing *timing,
                 struct ar_row *row)
{
    const struct ar_layout *layout = &timing->layout;
    const struct ar_graph_split *split = &timing->split;
    row->iteration_s = timing->iteration_s;
    row->forward_s = split->duty_s[AR_DUTY_FORWARD];
    row->backward_s = split->duty_s[AR_DUTY_BACKWARD];
    row->optimizer_s = split->duty_s[AR_DUTY_OPTIMIZER];
    row->compute_s = row->forward_s + row->backward_s + row->optimizer_s;
    row->bubble_s = timing->bubble_s;
    row->bubble_frac = timing->bubble_frac;
    row->slowest_s = timing->slowest_s > 0 ? timing->slowest_s : NAN;
    row->exposed_pp_s = split->axis_s[AR_AXIS_PP];
    row->exposed_dp_s = split->axis_s[AR_AXIS_REP] + split->axis_s[AR_AXIS_DP];
    row->exposed_ep_s = split->axis_s[AR_AXIS_EP];
    row->exposed_tp_s = split->axis_s[AR_AXIS_TP];
    row->exposed_cp_s = split->axis_s[AR_AXIS_CP];
    row->exposed_s = timing->exposed_s;
    if (timing->job->library != NULL) {
        /* Says which engine timed which operations, where a library's model does not have all of
         * them: "library: allreduce; recurrence: send". */
        const struct ar_graph *graph = timing->graph;
        const struct ar_engine *engines[] = {scenario->engine,
                                             ar_engine_of_messages(scenario->engine)};
        row->engine_options[0] = '\0';
        for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
            const char *before = ": ";
            for (uint32_t j = 0; j < graph->works_count; j++) {
                const struct ar_work *work = &graph->works[j];
                bool is_again = false;
                for (uint32_t k = 0; k < j; k++) {
                    is_again = is_again || graph->works[k].operation == work->operation;
                }
                if (work->kind != AR_TASK_COMPUTE && !is_again &&
                    work_engine(timing->job, work) == engines[i]) {
                    ar_append_text(row->engine_options, sizeof row->engine_options, "%s%s%s%s",
                                   before[0] == ':' && row->engine_options[0] != '\0' ? "; " : "",
                                   before[0] == ':' ? engines[i]->name : "", before,
                                   work->operation->command);
                    before = ", ";
                }
            }
        }
    }
    if (ar_engine_simulates(scenario->engine) && timing->graph->periods != NULL) {
        uint32_t batches = ar_layout_pipeline(layout).batches;
        snprintf(row->engine_options, sizeof row->engine_options,
                 "simulated %u of %u micro-batches; the others repeat a steady period",
                 batches - timing->graph->periods->batches, batches);
    }
    if (layout->recorded != NULL && layout->recorded->pp > 1) { /* one of the stages, alone */
        row->bubble_s = row->bubble_frac = row->exposed_pp_s = NAN;
    }
    row->contention_s = timing->contention_s > 0 ? timing->contention_s : NAN;
    row->iteration_ci95_s = ar_scenario_is_uneven(scenario) ? timing->iteration_ci95_s : NAN;
    if (layout->model == NULL) { /* recorded, or placed operators */
        return;
    }
    double gpus_s = timing->iteration_s * scenario->gpus;
    double peak = ar_device_peak_flops(scenario->cost, layout->precision);
    row->tokens_per_s = (double)layout->global_batch * layout->model->seq / timing->iteration_s;
    row->tflops_per_gpu = ar_layout_hardware_flop(layout) / gpus_s / 1e12;
    row->busiest_frac = timing->busiest_s / timing->iteration_s;
    row->mfu_frac = ar_layout_model_flop(layout) / gpus_s / peak;
    double flop_j = scenario->cost->value[AR_COST_FLOP_ENERGY][layout->precision];
    double flop = ar_layout_hardware_flop(layout) - ar_layout_masked_flop(layout);
    double byte_j = scenario->cost->value[AR_COST_MEMORY_ENERGY][layout->precision];
    if (flop_j > 0 && byte_j > 0) {
        row->energy_j = timing->moved_j + flop * flop_j +
                        scenario->gpus * traffic_bytes(scenario, layout) * byte_j;
    }
}

/* Says how axes lie that were named in another order than the one there is. */
static void note_order(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_mesh *mesh = &scenario->mesh;
    uint32_t in_order = 0;
    for (int axis = 0; axis < AR_AXES_COUNT; axis++) {
        in_order += in_order < mesh->axes_count &&
                    strcmp(ar_axis_names[axis], mesh->axes[in_order].name) == 0;
    }
    if (in_order < mesh->axes_count) {
        ar_note(
            notes,
            "--mesh %s: axes lie as pp, rep, dp, ep, cp, tp, the last one on consecutive GPUs, in "
            "whatever order they are named",
            AR_SHOW_MESH(mesh));
    }
}

void layout_note_idle(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_layout *layout = &scenario->layout;
    const struct ar_strategy *strategy = layout->strategy;
    bool has_places = layout->sizes[AR_AXIS_EP] > 1, is_laid_out = layout->model != NULL,
         has_experts = is_laid_out && layout->model->experts > 1,
         is_drawn = scenario->jitter_frac > 0 || strategy->is_asynchronous;
    bool is_fused = layout->attention != AR_ATTENTION_UNFUSED;
    const struct {
        enum ar_key key;
        bool has_effect;
        const char *why;
    } options[] = {
        {AR_KEY_PREFETCH, strategy->gathers_layers, "only zero3 gathers layers ahead"},
        {AR_KEY_OVERLAP_GATHER, strategy->shards_optimizer && !strategy->shards_all,
         "only zero1 and zero2 gather parameters once a step"},
        {AR_KEY_OVERLAP_PIPELINE, layout->sizes[AR_AXIS_PP] > 1, "--mesh has no pp above 1"},
        {AR_KEY_OVERLAP_EXPERTS, has_places, "--mesh has no ep above 1"},
        {AR_KEY_DISPATCHER, has_places, "--mesh has no ep above 1"},
        {AR_KEY_IMBALANCE, has_experts, "the model has no experts"},
        {AR_KEY_TOP_K, has_experts, "the model has no experts"},
        {AR_KEY_OVERLAP, !strategy->gathers_layers, "zero3 overlaps in any case"},
        {AR_KEY_ALGORITHM,
         !is_laid_out || !strategy->shards_optimizer || ar_layout_shards(layout) != scenario->gpus,
         "no all-reduce is sent"},
        {AR_KEY_RECOMPUTE, !is_fused || layout->recompute.modules != AR_AGAIN_CORE_ATTN,
         "fused attention is computed again in any case"},
        {AR_KEY_SEED, is_drawn, "nothing is drawn without --jitter"},
        {AR_KEY_ITERATIONS, is_drawn || strategy->ends_runs, "nothing is drawn without --jitter"},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (!options[i].has_effect && ar_scenario_has(scenario, options[i].key)) {
            ar_note(notes, "--%s changes nothing: %s", ar_key_name(options[i].key), options[i].why);
        }
    }
}

void ar_note_layout(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_layout *layout = &scenario->layout;
    struct ar_layout_memory memory = ar_layout_memory(layout);
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    uint32_t layers = layout->model->layers, stages = layout->sizes[AR_AXIS_PP];
    uint32_t places = stages * layout->chunks, first = ar_layout_place_layers(layout, 0);
    uint32_t last = ar_layout_place_layers(layout, places - 1);
    if (layout->sizes[AR_AXIS_CP] > 1) {
        ar_note(notes,
                "keys and values are gathered before each attention, which does not hide it: "
                "an estimate from above where software sends them round a ring");
    }
    if (layout->overlaps_tensor &&
        layout->sizes[AR_AXIS_TP] > facts->gpus_per_node * facts->nvlink_domain_nodes) {
        ar_note(notes, "tensor parallelism goes over the network: it is taken to run beside its "
                       "products as well as over NVLink (--overlap-tensor)");
    }
    if (layers % places != 0) {
        ar_note(notes,
                "%" PRIu32 " layers on %" PRIu32 " places of the pipeline: %" PRIu32
                " on the first, %" PRIu32 " on the last, since %s",
                layers, places, first, last,
                first > last ? "the first ones have one more"
                             : "embedding and loss count as a layer each");
    }
    uint32_t each = scenario->gpus / stages, per_node = facts->gpus_per_node;
    if (stages > 1 && each % per_node != 0 && per_node % each != 0 &&
        !ar_engine_simulates(scenario->engine)) {
        ar_note(notes,
                "stages of %" PRIu32 " GPUs lie unevenly on nodes of %" PRIu32
                ": what a stage exchanges is timed as that of the worst placed one, an estimate "
                "from above; --engine simgrid simulates each",
                each, per_node);
    }
    if (layout->sizes[AR_AXIS_EP] > 1 && !ar_scenario_has(scenario, AR_KEY_IMBALANCE)) {
        ar_note(notes,
                "the experts of all GPUs get as many tokens (--imbalance 1), which no router "
                "does of itself: the fullest GPU sets the time");
    }
    if (layout->sizes[AR_AXIS_EP] > 1 && !layout->overlaps_experts) {
        ar_note(notes, "nothing hides what experts exchange; --overlap-experts yes does, and "
                       "--dispatcher deepep sends less");
    }
    note_offload(notes, scenario);
    double needed = memory.states_bytes + memory.activations_bytes;
    if (needed <= facts->gpu_memory_bytes && RESERVED_RATIO * needed > facts->gpu_memory_bytes) {
        ar_note(
            notes,
            "%s of %s (gpu.memory) are used: that fits only if the allocator gives back what it "
            "caches, as it tends to take %g times as much",
            AR_SHOW_BYTES((uint64_t)needed), AR_SHOW_BYTES((uint64_t)facts->gpu_memory_bytes),
            RESERVED_RATIO);
    }
    note_memory(notes, scenario, memory.states_bytes, memory.activations_bytes);
    ar_note_choice(notes, scenario);
}

void ar_note_model(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_transformer *model = scenario->layout.model;
    if (model == NULL) { /* a step that another program wrote down */
        return;
    }
    if (model->digest != 0 && !ar_scenario_has(scenario, AR_KEY_SEQ)) {
        ar_note(notes,
                "sequences of %" PRIu32
                " tokens, the longest of %s without scaled positions; --seq "
                "says another length",
                model->seq, scenario->workload_name);
    }
    if (model->left_out != NULL) {
        ar_note(notes, "%s: left out, since its cost is not known here: %s",
                scenario->workload_name, model->left_out);
    }
    bool has_windows = model->window > 0 && model->window < model->seq;
    if (model->dense_layers > 0 ||
        (has_windows && model->window_layers > 0 && model->window_layers < model->layers)) {
        ar_note(notes, "its layers differ: each counts as the mean of all");
    }
}

void transformer_note(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_layout *layout = &scenario->layout;
    char recompute[AR_RECOMPUTE_TEXT], parameters[AR_UNIT_TEXT];
    snprintf(parameters, sizeof parameters, "%.4g", ar_transformer_parameters(layout->model) / 1e9);
    ar_note_model(notes, scenario);
    const char *left_out = ar_note_left_out(scenario);
    ar_note(notes, "%s: %s billion parameters; kernels by cost table %s%s%s%s",
            scenario->workload_name, parameters, scenario->cost->name,
            left_out != NULL ? ": what " : "", left_out != NULL ? left_out : "",
            left_out != NULL ? " is left out" : "");
    if (scenario->rate.batch > 0) {
        ar_note(notes, "kernels take %.4g times as long, by the measured rate of one replica",
                scenario->compute_factor);
    }
    note_order(notes, scenario);
    bool is_beside =
        ar_layout_replicas(layout) > 1 && (layout->overlaps || layout->strategy->gathers_layers);
    ar_note(notes,
            "as options or defaults have it: %s, attention %s, recompute %s, strategy %s with "
            "gradients in %s%s, collectives by %s",
            layout->schedule->name, ar_attention_names[layout->attention],
            ar_recompute_format(layout->recompute, recompute), layout->strategy->name,
            ar_precision_names[layout->gradients], is_beside ? " beside the backward pass" : "",
            ar_engine_choice(scenario->engine, scenario->algorithm, "rings"));
    if (find_spread(scenario) > 0 && scenario->gpus > 1) {
        ar_note(
            notes,
            "compute times of GPUs spread by %g %%, and all wait for the slowest one; --jitter 0 "
            "leaves that out",
            100 * find_spread(scenario));
    }
    ar_note_layout(notes, scenario);
    layout_note_idle(notes, scenario);
    note_library(notes, scenario);
    ar_note_links(notes, scenario, scenario->gpus);
    ar_note_framework(notes, scenario);
    note_end_of_run(notes, scenario);
    ar_note_step_errors(notes, scenario);
}

const struct ar_kind ar_kind_transformer = {.name = "a workload",
                                            .published = AR_STEP_OF_TRANSFORMER,
                                            .keys = AR_KEY_OF_LAYOUT,
                                            .has_layout = true,
                                            .load = transformer_load,
                                            .job = transformer_complete_job,
                                            .graph = layout_make_graph,
                                            .describe = layout_describe,
                                            .fill = layout_fill,
                                            .note = transformer_note,
                                            .cost_s = layout_cost_s};
