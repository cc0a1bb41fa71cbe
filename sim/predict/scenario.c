/* Scenarios: keys as they are set, the inputs they name, and what follows where no key says. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ar_library_engine.h"
#include "ar_machine_factors.h"
#include "ar_numbers.h"
#include "ar_units.h"
#include "kinds.h"

enum { ITERATIONS_STANDARD = 20, WINDOW_STANDARD = 8 };

struct ar_scenario ar_scenario_begin(struct ar_arena *arena, struct ar_inputs *inputs)
{
    return (struct ar_scenario){.arena = arena,
                                .inputs = inputs,
                                .operation = &ar_operation_all_reduce,
                                .engine = &ar_engine_recurrence,
                                .precision = AR_FP16,
                                .gradient_scale = 1,
                                .compute_factor = 1,
                                .layout = {.micro_batch = 1,
                                           .schedule = ar_schedules[1],
                                           .chunks = 1,
                                           .strategy = &ar_strategy_data,
                                           .attention = AR_ATTENTION_FLASH2,
                                           .prefetch = 1,
                                           .overlaps = true},
                                .async = {.every = 1, .gpus_each = 1},
                                .units = {.has_backups = true},
                                .placement = "greedy",
                                .depth = 1,
                                .rounds = 1,
                                .baseline = AR_BASELINE_NODE,
                                .window = WINDOW_STANDARD,
                                .seed = 1,
                                .iterations_count = 1,
                                .iterations_with_jitter = ITERATIONS_STANDARD};
}

/* --- keys ----------------------------------------------------------------------------------- */

enum ar_status ar_scenario_set(struct ar_scenario *scenario, enum ar_key key,
                               const struct ar_origin *origin, const char *text,
                               struct ar_error *err)
{
    const struct ar_origin option = {.where = ar_keys[key].option, .status = AR_USAGE};
    origin = origin != NULL ? origin : &option;
    AR_TRY(
        ar_error_blame(ar_keys[key].parse(scenario, key, origin, text, err), origin->status, err));
    const char *before = ar_key_is(key, AR_KEY_REPEATS) ? scenario->origins[key].text : NULL;
    scenario->origins[key] = *origin;
    scenario->origins[key].text = before == NULL ? ar_arena_text(scenario->arena, text)
                                                 : ar_arena_format(scenario->arena, "%s %s=%s",
                                                                   before, ar_key_name(key), text);
    return AR_OK;
}

bool ar_scenario_has(const struct ar_scenario *scenario, enum ar_key key)
{
    return scenario->origins[key].where != NULL;
}

uint32_t ar_scenario_groups(const struct ar_scenario *scenario)
{
    return scenario->mesh.axes_count > 0 ? ar_mesh_groups(&scenario->mesh) : 1;
}

uint32_t ar_scenario_group_ranks(const struct ar_scenario *scenario)
{
    return scenario->gpus / ar_scenario_groups(scenario);
}

enum ar_spread ar_scenario_spread(const struct ar_scenario *scenario,
                                  const struct ar_algorithm *algorithm)
{
    uint32_t members =
        scenario->cluster != NULL ? ar_scenario_node_members(scenario, algorithm) : 0;
    return members == 1                                   ? AR_NODES_OF_ONE_RANK
           : members >= ar_scenario_group_ranks(scenario) ? AR_ONE_NODE
                                                          : AR_NODES;
}

const char *ar_scenario_where(const struct ar_scenario *scenario, enum ar_key key)
{
    return ar_scenario_has(scenario, key) ? scenario->origins[key].where : ar_keys[key].option;
}

enum ar_status ar_scenario_refuse(const struct ar_scenario *scenario, enum ar_key key,
                                  struct ar_error *err, const char *format, ...)
{
    char text[sizeof err->text];
    AR_PRINT_ARGUMENTS(text, format);
    return ar_error_set(err,
                        ar_scenario_has(scenario, key) ? scenario->origins[key].status : AR_USAGE,
                        "%s: %s", ar_scenario_where(scenario, key), text);
}

enum ar_status ar_scenario_check_strategy(const struct ar_scenario *scenario,
                                          const struct ar_key_check *checks, size_t count,
                                          struct ar_error *err)
{
    for (size_t i = 0; i < count; i++) {
        AR_SCENARIO_REFUSE(checks[i].is_wrong, scenario, checks[i].key, err,
                           "found with strategy %s; expected %s", scenario->layout.strategy->name,
                           checks[i].expected);
    }
    return AR_OK;
}

enum ar_status ar_scenario_require(const struct ar_scenario *scenario, enum ar_key key,
                                   struct ar_error *err)
{
    if (ar_scenario_has(scenario, key)) {
        return AR_OK;
    }
    const struct ar_key_row *row = &ar_keys[key];
    return ar_error_set(err, AR_USAGE, "option %s is missing; expected %s %s, %s", row->option,
                        row->option, row->placeholder, row->help);
}

/* Length of KEY in `KEY = VALUE`, and where it begins. */
static size_t take_key(const char **text)
{
    *text += strspn(*text, " \t");
    return strcspn(*text, "= \t");
}

bool ar_setting_is_same(const char *text, const char *other)
{
    size_t length = take_key(&text);
    return take_key(&other) == length && strncmp(text, other, length) == 0;
}

const struct ar_setting *ar_settings_find(const struct ar_settings *settings, const char *text)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (ar_setting_is_same(settings->list[i].text, text)) {
            return &settings->list[i];
        }
    }
    return NULL;
}

enum ar_status ar_scenario_replace(struct ar_scenario *scenario, enum ar_key key,
                                   const struct ar_origin *origin, const char *text,
                                   struct ar_error *err)
{
    struct ar_settings *settings = key == AR_KEY_TERM ? &scenario->terms : &scenario->settings;
    const struct ar_setting *old = ar_settings_find(settings, text);
    if (old == NULL) {
        return ar_scenario_set(scenario, key, origin, text, err);
    }
    struct ar_setting *list =
        ar_arena_copy(scenario->arena, settings->list, settings->count, sizeof *list);
    list[old - settings->list] =
        (struct ar_setting){.text = text, .where = origin->where, .status = origin->status};
    settings->list = list;
    return AR_OK;
}

/* --- what is to be run ------------------------------------------------------------------------ */

struct ar_collective ar_scenario_collective(const struct ar_scenario *scenario)
{
    const struct ar_kind *kind = ar_scenario_kind(scenario);
    enum ar_precision precision = kind->has_wire        ? scenario->wire
                                  : kind->is_collective ? scenario->precision
                                                        : ar_precisions[scenario->precision].stored;
    uint32_t channels = scenario->channels * ar_algorithm_channels(scenario->algorithm);
    return (struct ar_collective){.cluster = scenario->cluster,
                                  .operation = scenario->operation,
                                  .algorithm = scenario->algorithm,
                                  .shape = scenario->shape,
                                  .mesh = scenario->mesh,
                                  .root = scenario->root,
                                  .channels = channels,
                                  .window = scenario->window,
                                  .element_bytes = ar_precisions[precision].unit_bytes};
}

double ar_scenario_fused_bytes(const struct ar_scenario *scenario)
{
    bool is_later = scenario->fusion.closes_when_reached != 0;
    double wire = ar_precisions[scenario->wire].bytes;
    double kept = ar_precisions[ar_framework_wire(scenario->framework, scenario->precision)].bytes;
    return is_later && kept > wire ? kept : wire;
}

/* --- the library of the cluster --------------------------------------------------------------- */

enum ar_status ar_scenario_load_library(struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    scenario->table = NULL;
    if (facts->library_cost[0] != '\0') {
        AR_TRY(ar_inputs_library(scenario->inputs, scenario->cluster_name, facts->library_cost,
                                 &scenario->table, err));
        /* Rates and the choice of a table do not react to the cluster: it must be the same. */
        const struct ar_tuning *fitted = &scenario->table->library.tuning;
        const char *key = "library.release", *found = facts->library_release;
        const char *expected = fitted->release->release;
        struct ar_tuning named = *fitted;
        const struct {
            const char *key;
            double found_Bps, table_Bps;
        } rates[] = {
            {"library.node_bus", facts->library_node_bus_Bps, fitted->node_bus_Bps},
            {"library.net_bus", ar_library_engine_net_bus(facts), fitted->net_bus_Bps},
        };
        if (found[0] != '\0') {
            AR_TRY(ar_tuning_find(key, found, 0, 0, &named, err));
        }
        bool differs = named.release != fitted->release;
        char rate_texts[2][AR_UNIT_TEXT];
        for (int i = 0; i < 2 && !differs; i++) {
            differs = rates[i].found_Bps != 0 && rates[i].table_Bps > 0 &&
                      fabs(rates[i].found_Bps / rates[i].table_Bps - 1) > 1e-9;
            key = rates[i].key;
            found = ar_format_rate(rates[i].found_Bps, rate_texts[0]);
            expected = ar_format_rate(rates[i].table_Bps, rate_texts[1]);
        }
        AR_REFUSE(differs, err, AR_BAD_DATA,
                  "%s: found %s; expected %s, with which the table %s was fitted "
                  "(see 'allreckon calibrate --help')",
                  key, found, expected, facts->library_cost);
    }
    struct ar_tuning tuning;
    scenario->constants = NULL;
    AR_TRY(ar_library_engine_tuning(scenario->cluster, scenario->release, scenario->table, &tuning,
                                    err));
    if (tuning.node_bus_Bps > 0) {
        struct ar_library *constants = ar_arena_alloc(scenario->arena, 1, sizeof *constants);
        ar_library_start(&tuning, constants);
        scenario->constants = constants;
    }
    return AR_OK;
}

enum ar_status ar_scenario_ask_machines(struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    bool is_fitted = scenario->table != NULL || facts->links_fitted[0] != '\0';
    bool has_release = scenario->release != NULL || facts->library_release[0] != '\0';
    if (is_fitted || scenario->constants == NULL || !has_release || !facts->has_gpu_generation) {
        return AR_OK;
    }
    struct ar_library *told = ar_arena_copy(scenario->arena, scenario->constants, 1, sizeof *told);
    struct ar_machine_factors *machines = ar_arena_alloc(scenario->arena, 1, sizeof *machines);
    AR_TRY(ar_machine_factors_read(facts, told->tuning.release, machines, err));
    told->told = &machines->told;
    scenario->constants = told;
    scenario->machines = machines;
    return AR_OK;
}

/* --- the cluster ------------------------------------------------------------------------------ */

enum ar_status ar_scenario_make_cluster(const struct ar_scenario *scenario,
                                        struct ar_cluster **made, struct ar_error *err)
{
    const struct ar_input *input;
    AR_TRY(ar_scenario_require(scenario, AR_KEY_CLUSTER, err));
    AR_TRY(ar_inputs_find(scenario->inputs, RESOURCE_CLUSTER,
                          ar_scenario_where(scenario, AR_KEY_CLUSTER), scenario->cluster_name,
                          &input, err));
    AR_TRY(ar_cluster_create(input->topo, scenario->settings, scenario->arena, made, err));
    const struct ar_settings slow = scenario->slow_links, down = scenario->down_links;
    AR_TRY(slow.count > 0 ? ar_cluster_slow_links(*made, slow, err) : AR_OK);
    return down.count > 0 ? ar_cluster_down_links(*made, down, err) : AR_OK;
}

enum ar_status ar_scenario_load_cluster(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_cluster *cluster = NULL;
    AR_TRY(ar_scenario_make_cluster(scenario, &cluster, err));
    scenario->cluster = cluster;
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    bool is_wanted = scenario->release != NULL || facts->library_release[0] != '\0' ||
                     facts->library_cost[0] != '\0' || ar_engine_times_calls(scenario->engine);
    return is_wanted ? ar_scenario_load_library(scenario, err) : AR_OK;
}

/* --- what follows ----------------------------------------------------------------------------- */

enum ar_status ar_scenario_load(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_scenario keys = *scenario;
    keys.payload_bytes = 0; /* of a sweep with a trace it belongs to further points */
    const struct ar_kind *kind = ar_scenario_kind(&keys);
    AR_TRY(kind_check_keys(scenario, kind, err));
    if (scenario->cluster == NULL) {
        AR_TRY(ar_scenario_load_cluster(scenario, err));
    }
    scenario->machines = NULL;
    AR_TRY(ar_engine_is_fitted(scenario->engine) ? ar_scenario_ask_machines(scenario, err) : AR_OK);
    if (!ar_scenario_has(scenario, AR_KEY_CHANNELS)) {
        uint32_t hcas = ar_cluster_facts(scenario->cluster)->hcas_per_node;
        scenario->channels = hcas > 0 ? hcas : 1;
    }
    const char *name = scenario->framework_name;
    const struct ar_framework *base = NULL;
    const struct ar_input *input;
    if (name != NULL && strcmp(name, "none") != 0) {
        AR_TRY(ar_inputs_find(scenario->inputs, RESOURCE_FRAMEWORK,
                              ar_scenario_where(scenario, AR_KEY_FRAMEWORK), name, &input, err));
        base = input->framework;
    }
    scenario->framework = base;
    if (base == NULL || scenario->terms.count > 0) {
        struct ar_framework *framework;
        AR_TRY(ar_framework_create(base, scenario->terms, scenario->arena, &framework, err));
        scenario->framework = framework;
    }
    /* The column `settings`. A text cut short would make rows that say what they are not. */
    char *text = ar_arena_alloc(scenario->arena, 2 * AR_ROW_TEXT, 1);
    FILE *file = fmemopen(text, 2 * AR_ROW_TEXT, "w");
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        if (ar_key_is((enum ar_key)i, AR_KEY_IS_SETTING)) {
            ar_key_print(scenario, (enum ar_key)i, file);
        }
    }
    fclose(file);
    AR_REFUSE(strlen(text) >= AR_ROW_TEXT, err, AR_USAGE,
              "--set: found settings of more than %d characters in all, --slow-link, --down-link, "
              "--straggler and --term among them; expected fewer, and the rest in a cluster file",
              AR_ROW_TEXT - 1);
    scenario->settings_text = text;
    if (!ar_scenario_has(scenario, AR_KEY_JITTER)) {
        scenario->jitter_frac = scenario->framework->terms[AR_TERM_JITTER].number;
    }
    if (!ar_scenario_has(scenario, AR_KEY_ITERATIONS)) {
        scenario->iterations_count =
            scenario->jitter_frac > 0 ? scenario->iterations_with_jitter : 1;
    }
    return kind->load(scenario, err);
}

/* --- checks ----------------------------------------------------------------------------------- */

/* Refuses stragglers that are not among the ranks. */
static enum ar_status check_stragglers(const struct ar_scenario *scenario, struct ar_error *err)
{
    for (uint32_t i = 0; i < scenario->stragglers_count; i++) {
        AR_SCENARIO_REFUSE(scenario->stragglers[i].rank >= scenario->gpus, scenario,
                           AR_KEY_STRAGGLER, err,
                           "found rank %" PRIu32 " of %" PRIu32 " GPUs; expected 0 to %" PRIu32,
                           scenario->stragglers[i].rank, scenario->gpus, scenario->gpus - 1);
    }
    return AR_OK;
}

enum ar_status ar_scenario_check_gpus(const struct ar_scenario *scenario, struct ar_error *err)
{
    uint64_t max = ar_cluster_gpus_count(scenario->cluster);
    AR_TRY(scenario->gpus > 0 ? AR_OK : ar_scenario_require(scenario, AR_KEY_GPUS, err));
    enum ar_key counted_by = ar_scenario_has(scenario, AR_KEY_MESH) ? AR_KEY_MESH : AR_KEY_GPUS;
    AR_SCENARIO_REFUSE(scenario->gpus > max, scenario, counted_by, err,
                       "found \"%" PRIu32 "\"; expected a whole number from 1 to %" PRIu64
                       ", the GPUs of cluster %s (--set nodes=... for more)",
                       scenario->gpus, max, ar_cluster_facts(scenario->cluster)->name);
    uint32_t ranks = ar_scenario_group_ranks(scenario);
    const char *whole =
        scenario->mesh.axes_count > 0 ? "GPUs of a group of the mesh" : "number of --gpus";
    AR_SCENARIO_REFUSE(ar_scenario_has(scenario, AR_KEY_SHAPE) && !scenario->has_best_shape &&
                           ar_shape_ranks(&scenario->shape) != ranks,
                       scenario, AR_KEY_SHAPE, err,
                       "%s has %" PRIu32 " places; expected X*Y = %" PRIu32 ", the %s",
                       AR_SHOW_SHAPE(&scenario->shape), ar_shape_ranks(&scenario->shape), ranks,
                       whole);
    AR_SCENARIO_REFUSE(scenario->root >= ranks, scenario, AR_KEY_ROOT, err,
                       "found \"%" PRIu32 "\"; expected a whole number from 0 to %" PRIu32
                       ", below the %s",
                       scenario->root, ranks - 1, whole);
    AR_SCENARIO_REFUSE(ar_scenario_has(scenario, AR_KEY_ROOT) && !scenario->operation->has_root,
                       scenario, AR_KEY_ROOT, err, "found with %s; expected none there",
                       scenario->operation->command);
    return check_stragglers(scenario, err);
}

enum ar_status ar_scenario_take_mesh(struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_mesh *mesh = &scenario->mesh;
    const char *text = AR_SHOW_MESH(mesh);
    char hint[32] = "";
    uint64_t ranks = mesh->axes_count > 0 ? ar_mesh_ranks(mesh) : scenario->gpus;
    if (scenario->workload_name != NULL && strstr(text, "dp=") == NULL && ranks > 0 &&
        scenario->gpus % ranks == 0) { /* Megatron derives it */
        snprintf(hint, sizeof hint, "; dp=%" PRIu64 " is missing", scenario->gpus / ranks);
    }
    AR_SCENARIO_REFUSE(scenario->gpus > 0 && scenario->gpus != ranks, scenario, AR_KEY_MESH, err,
                       "%s has %" PRIu64 " places; expected %" PRIu32 ", the number of --gpus%s",
                       text, ranks, scenario->gpus, hint);
    scenario->gpus = (uint32_t)ranks;
    return AR_OK;
}

uint32_t ar_scenario_node_members(const struct ar_scenario *scenario,
                                  const struct ar_algorithm *algorithm)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    bool has_sums = algorithm != NULL && algorithm->wants_sums;
    uint32_t gpus = facts->gpus_per_node * (has_sums ? facts->nvlink_domain_nodes : 1);
    return scenario->mesh.axes_count > 0 ? ar_mesh_node_members(&scenario->mesh, gpus) : gpus;
}

struct ar_shape ar_scenario_default_shape(const struct ar_scenario *scenario,
                                          const struct ar_algorithm *algorithm)
{
    return ar_algorithm_default_shape(algorithm, ar_scenario_group_ranks(scenario),
                                      ar_scenario_node_members(scenario, algorithm));
}

enum ar_status ar_scenario_check_runner(const struct ar_scenario *scenario,
                                        const struct ar_algorithm *algorithm, struct ar_error *err)
{
    char others[AR_RUNNERS_TEXT];
    enum ar_spread spread = ar_scenario_spread(scenario, algorithm);
    if (ar_runner_runs(&scenario->runner, algorithm, spread)) {
        return AR_OK;
    }
    bool has_others = ar_runners_format(algorithm, spread, others)[0] != '\0';
    return ar_scenario_refuse(scenario, AR_KEY_RUNNABLE_BY, err,
                              "found %s, which does not run %s of %s%s%s; expected another",
                              scenario->runner.text, algorithm->name, algorithm->operation->command,
                              has_others ? " by itself, unlike " : ", as no library does there",
                              others);
}

enum ar_status ar_scenario_check_runs(const struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_collective collective = ar_scenario_collective(scenario);
    AR_TRY(ar_collective_check(&collective, err));
    return check_stragglers(scenario, err);
}

enum ar_status ar_scenario_check(struct ar_scenario *scenario, struct ar_error *err)
{
    AR_TRY(ar_scenario_check_gpus(scenario, err));
    if (!ar_scenario_has(scenario, AR_KEY_SHAPE)) {
        scenario->shape = ar_scenario_default_shape(scenario, scenario->algorithm);
    }
    struct ar_collective collective = ar_scenario_collective(scenario);
    AR_TRY(ar_scenario_check_runner(scenario, scenario->algorithm, err));
    AR_TRY(ar_collective_check(&collective, err));
    return ar_engine_check(scenario->engine, &collective, ar_scenario_library(scenario), err);
}

enum ar_status ar_scenario_check_payload(const struct ar_scenario *scenario, struct ar_error *err)
{
    uint32_t element_bytes = ar_precisions[scenario->precision].unit_bytes;
    AR_SCENARIO_REFUSE(
        scenario->payload_bytes % element_bytes != 0, scenario, AR_KEY_PAYLOAD, err,
        "found %" PRIu64 " bytes; expected a multiple of %" PRIu32 ", the size of a %s element",
        scenario->payload_bytes, element_bytes, ar_precision_names[scenario->precision]);
    return AR_OK;
}

/* --- fingerprints ----------------------------------------------------------------------------- */

#define ADD(value) ar_hash_bytes(hash, &(value), sizeof(value))

void ar_scenario_hash(const struct ar_scenario *scenario, uint64_t *hash)
{
    static const enum ar_key of_points[] = {AR_KEY_OPERATION, AR_KEY_GPUS,    AR_KEY_ALGORITHM,
                                            AR_KEY_SHAPE,     AR_KEY_PAYLOAD, AR_KEY_ENGINE};
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        bool is_of_points = false;
        for (size_t j = 0; j < sizeof of_points / sizeof of_points[0]; j++) {
            is_of_points = is_of_points || of_points[j] == (enum ar_key)i;
        }
        if (!is_of_points && scenario->origins[i].text != NULL) {
            ar_hash_text(hash, ar_keys[i].option);
            ar_hash_text(hash, scenario->origins[i].text);
        }
    }
    ar_hash_text(hash, scenario->fusion.text);
    ADD(scenario->wire);
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        double number = scenario->framework->terms[i].number;
        ADD(number);
    }
    const struct ar_library *library = ar_scenario_fitted(scenario);
    const struct ar_trace *trace = scenario->trace;
    for (size_t i = 0; i < ar_cluster_parameters_count(scenario->cluster); i++) {
        struct ar_cluster_parameter parameter = ar_cluster_parameter(scenario->cluster, i);
        ar_hash_text(hash, parameter.key);
        ar_hash_text(hash, parameter.text);
    }
    if (library != NULL) {
        ADD(library->values);
        ADD(library->covariance);
        ADD(library->residual_frac);
    }
    if (scenario->layout.model != NULL && scenario->layout.model->digest != 0) {
        ADD(scenario->layout.model->digest);
    }
    if (trace != NULL) {
        ADD(trace->optimizer_s);
        ADD(trace->step_overhead_s);
        ADD(trace->layers_count);
        AR_EACH(const struct ar_layer, layer, trace->layers, trace->layers_count) {
            ADD(layer->forward_s);
            ADD(layer->backward_s);
            ADD(layer->tensors_first);
            ADD(layer->tensors_count);
        }
        ar_hash_bytes(hash, trace->tensor_elements,
                      trace->tensors_count * sizeof *trace->tensor_elements);
    }
}
