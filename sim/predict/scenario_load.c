/* The inputs of a scenario, and what follows from them where no key says. */
#include <inttypes.h>
#include <string.h>

#include "ar_row.h"
#include "ar_scenario.h"

/* --- the cluster ------------------------------------------------------------------------------ */

enum ar_status ar_scenario_make_cluster(const struct ar_scenario *scenario,
                                        struct ar_inputs *inputs, struct ar_cluster **made,
                                        struct ar_error *err)
{
    const struct ar_input *input;
    const struct ar_link_settings links = {.slow = scenario->slow_links,
                                           .down = scenario->down_links};
    AR_TRY(ar_scenario_require(scenario, AR_KEY_CLUSTER, err));
    AR_TRY(ar_inputs_find(inputs, RESOURCE_CLUSTER, ar_scenario_where(scenario, AR_KEY_CLUSTER),
                          scenario->cluster_name, &input, err));
    AR_TRY(ar_cluster_create(input->topo, scenario->settings, scenario->arena, made, err));
    return ar_cluster_change_links(*made, &links, err);
}

enum ar_status ar_scenario_load_cluster(struct ar_scenario *scenario, struct ar_inputs *inputs,
                                        struct ar_error *err)
{
    struct ar_cluster *cluster = NULL;
    AR_TRY(ar_scenario_make_cluster(scenario, inputs, &cluster, err));
    scenario->cluster = cluster;
    return ar_scenario_load_library(scenario, inputs, err);
}

/* --- the framework ---------------------------------------------------------------------------- */

static enum ar_status load_framework(struct ar_scenario *scenario, struct ar_inputs *inputs,
                                     struct ar_error *err)
{
    const char *name = scenario->framework_name;
    const struct ar_framework *base = NULL;
    const struct ar_input *input;
    struct ar_framework *framework;
    if (name != NULL && strcmp(name, "none") != 0) {
        AR_TRY(ar_inputs_find(inputs, RESOURCE_FRAMEWORK,
                              ar_scenario_where(scenario, AR_KEY_FRAMEWORK), name, &input, err));
        base = input->framework;
    }
    if (base != NULL && scenario->terms.count == 0) {
        scenario->framework = base;
        return AR_OK;
    }
    AR_TRY(ar_framework_create(base, scenario->terms, scenario->arena, &framework, err));
    scenario->framework = framework;
    return AR_OK;
}

/* --- what follows ------------------------------------------------------------------------------
 */

/* The rule of the key, else the framework's. */
static enum ar_status fill_fusion(struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_term_value *rule = &scenario->framework->terms[AR_TERM_FUSION_RULE];
    if (ar_scenario_has(scenario, AR_KEY_BUCKET)) {
        return AR_OK;
    }
    if (rule->text[0] == '\0') {
        return ar_fusion_parse(ar_keys[AR_KEY_BUCKET].option, "ddp", &scenario->fusion, err);
    }
    return ar_error_blame(ar_fusion_parse(rule->where, rule->text, &scenario->fusion, err),
                          rule->status, err);
}

/* Ranks that differ: the keys, else the framework's. */
static void fill_jitter(struct ar_scenario *scenario)
{
    if (!ar_scenario_has(scenario, AR_KEY_JITTER)) {
        scenario->jitter_frac = ar_framework_number(scenario->framework, AR_TERM_JITTER);
    }
    if (!ar_scenario_has(scenario, AR_KEY_ITERATIONS)) {
        scenario->iterations_count =
            scenario->jitter_frac > 0 ? scenario->iterations_with_jitter : 1;
    }
}

static enum ar_status fill_step(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    const struct ar_strategy *strategy = scenario->layout.strategy;
    struct ar_workload *workload;
    if (strategy->needs_transformer) {
        return ar_scenario_refuse(scenario, AR_KEY_STRATEGY, err,
                                  "found %s with a trace; expected another strategy",
                                  strategy->name);
    }
    AR_TRY(ar_error_blame(
        ar_layout_check_sparse(ar_scenario_where(scenario, AR_KEY_SPARSE), &scenario->layout, err),
        scenario->origins[AR_KEY_SPARSE].status, err));
    scenario->wire = ar_scenario_has(scenario, AR_KEY_GRADIENTS)
                         ? scenario->layout.gradients
                         : ar_framework_wire(scenario->framework, scenario->precision);
    AR_TRY(fill_fusion(scenario, err));
    const struct ar_workload_request request = {.trace = scenario->trace,
                                                .fusion = &scenario->fusion,
                                                .element_bytes = ar_scenario_fused_bytes(scenario)};
    AR_TRY(ar_workload_make(&request, &scratch, &workload, err));
    scenario->buckets_count = workload->buckets_count;
    return AR_OK;
}

/* The column `settings`. A text cut short would make rows that say what they are not. */
static enum ar_status join_settings(struct ar_scenario *scenario, struct ar_error *err)
{
    char *text = ar_arena_alloc(scenario->arena, 2 * AR_ROW_TEXT, 1);
    FILE *file = text != NULL ? fmemopen(text, 2 * AR_ROW_TEXT, "w") : NULL;
    AR_NEED(file, err, "the settings");
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        if (ar_key_is((enum ar_key)i, AR_KEY_IS_SETTING)) {
            ar_keys[i].print(scenario, (enum ar_key)i, file);
        }
    }
    fclose(file);
    if (strlen(text) >= AR_ROW_TEXT) {
        return ar_error_set(err, AR_USAGE,
                            "--set: found settings of more than %d characters in all, "
                            "--slow-link, --down-link, --straggler and --term among them; expected "
                            "fewer, and the rest in a cluster file",
                            AR_ROW_TEXT - 1);
    }
    scenario->settings_text = text;
    return AR_OK;
}

/* What a scenario is of, as uses of keys. */
static unsigned kinds_of(const struct ar_scenario *scenario)
{
    if (ar_scenario_is_placed(scenario)) {
        return AR_KEY_OF_PLACED | (ar_scenario_has(scenario, AR_KEY_TRACE) ? AR_KEY_OF_STEP : 0);
    }
    return ar_scenario_is_laid_out(scenario) ? AR_KEY_OF_LAYOUT : AR_KEY_OF_STEP | AR_KEY_OF_BARE;
}

/* Keys of another kind of scenario are refused. Steps of traces are all-reduces of all GPUs. */
static enum ar_status check_kind(const struct ar_scenario *scenario, struct ar_error *err)
{
    const unsigned any = AR_KEY_OF_STEP | AR_KEY_OF_BARE | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED;
    unsigned kinds = kinds_of(scenario);
    bool is_laid_out = ar_scenario_is_laid_out(scenario);
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        enum ar_key key = (enum ar_key)i;
        unsigned uses = ar_keys[i].uses;
        bool is_of_others = (uses & any) != 0 && (uses & kinds) == 0;
        if (!ar_scenario_has(scenario, key) ||
            !(is_of_others || (is_laid_out && key == AR_KEY_SHAPE))) {
            continue;
        }
        if (ar_scenario_is_placed(scenario)) {
            return ar_scenario_refuse(scenario, key, err, "found with %s %s; expected none there",
                                      scenario->operators_name != NULL ? "operators" : "strategy",
                                      scenario->operators_name != NULL
                                          ? scenario->operators_name
                                          : scenario->layout.strategy->name);
        }
        if (is_laid_out && (uses & (AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED)) == 0) {
            return ar_scenario_refuse(scenario, AR_KEY_WORKLOAD, err,
                                      "found with --%s, which is for a trace or a payload; "
                                      "expected one or the other",
                                      ar_key_name(key));
        }
        return ar_scenario_refuse(
            scenario, key, err,
            (uses & AR_KEY_OF_LAYOUT) != 0
                ? "found without a workload; expected --workload"
                : "found without operators; expected --operators, or strategy "
                  "partitioned, rotate or star");
    }
    return AR_OK;
}

static enum ar_status check_bare(const struct ar_scenario *scenario, struct ar_error *err)
{
    for (int i = 0; i < AR_KEYS_COUNT && ar_scenario_has(scenario, AR_KEY_TRACE); i++) {
        enum ar_key key = (enum ar_key)i;
        if (ar_key_is(key, AR_KEY_OF_BARE) && ar_scenario_has(scenario, key)) {
            return ar_scenario_refuse(scenario, key, err,
                                      "found with a trace, whose steps are all-reduces of all "
                                      "GPUs; expected it with a payload alone");
        }
    }
    return AR_OK;
}

/* A mesh says how many GPUs there are, and along which axis if it has one only. */
static enum ar_status settle_mesh(struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_mesh *mesh = &scenario->mesh;
    char text[AR_MESH_TEXT];
    uint64_t ranks = ar_mesh_ranks(mesh);
    if (mesh->axes_count == 0) {
        return AR_OK;
    }
    if (scenario->gpus > 0 && scenario->gpus != ranks) {
        return ar_scenario_refuse(scenario, AR_KEY_MESH, err,
                                  "%s has %" PRIu64 " places; expected %" PRIu32
                                  ", the number of --gpus",
                                  ar_mesh_format(mesh, text), ranks, scenario->gpus);
    }
    if (mesh->axes_count > 1 && !ar_scenario_has(scenario, AR_KEY_ALONG)) {
        return ar_scenario_refuse(scenario, AR_KEY_MESH, err,
                                  "found %s without --along; expected --along with the axis, or "
                                  "axes, along which the collective runs",
                                  ar_mesh_format(mesh, text));
    }
    if (mesh->axes_count == 1) {
        mesh->axes[0].is_along = true;
    }
    scenario->gpus = (uint32_t)ranks;
    return AR_OK;
}

enum ar_status ar_scenario_load(struct ar_scenario *scenario, struct ar_inputs *inputs,
                                struct ar_error *err)
{
    AR_TRY(check_kind(scenario, err));
    AR_TRY(check_bare(scenario, err));
    if (!ar_scenario_is_laid_out(scenario)) {
        AR_TRY(settle_mesh(scenario, err));
    }
    if (scenario->cluster == NULL) {
        AR_TRY(ar_scenario_load_cluster(scenario, inputs, err));
    }
    if (!ar_scenario_has(scenario, AR_KEY_CHANNELS)) {
        uint32_t hcas = ar_cluster_facts(scenario->cluster)->hcas_per_node;
        scenario->channels = hcas > 0 ? hcas : 1;
    }
    AR_TRY(load_framework(scenario, inputs, err));
    AR_TRY(join_settings(scenario, err));
    fill_jitter(scenario);
    if (ar_scenario_is_placed(scenario)) {
        return ar_scenario_load_placed(scenario, inputs, err);
    }
    if (ar_scenario_is_laid_out(scenario)) {
        AR_TRY(ar_scenario_load_workload(scenario, inputs, err));
        return ar_scenario_load_servers(scenario, err);
    }
    if (ar_scenario_has(scenario, AR_KEY_TRACE)) {
        AR_TRY(ar_scenario_load_trace(scenario, inputs, err));
        AR_TRY(fill_step(scenario, err));
    }
    AR_TRY(ar_scenario_load_servers(scenario, err));
    if (scenario->layout.strategy->is_asynchronous) {
        return AR_OK;
    }
    bool has_algorithm = ar_scenario_has(scenario, AR_KEY_ALGORITHM);
    if (!scenario->layout.strategy->sends_buckets) { /* no all-reduce reacts to it */
        scenario->algorithm = ar_scenario_ring(scenario);
        has_algorithm = true;
    }
    return has_algorithm && scenario->gpus > 0 ? ar_scenario_settle(scenario, err) : AR_OK;
}

/* --- checks ------------------------------------------------------------------------------------
 */

enum ar_status ar_scenario_check_gpus(const struct ar_scenario *scenario, struct ar_error *err)
{
    char text[AR_SHAPE_TEXT];
    uint64_t max = ar_cluster_gpus_count(scenario->cluster);
    AR_TRY(scenario->gpus > 0 ? AR_OK : ar_scenario_require(scenario, AR_KEY_GPUS, err));
    if (scenario->gpus > max) {
        return ar_scenario_refuse(scenario, AR_KEY_GPUS, err,
                                  "found \"%" PRIu32 "\"; expected a whole number from 1 to "
                                  "%" PRIu64 ", the GPUs of cluster %s",
                                  scenario->gpus, max, ar_cluster_facts(scenario->cluster)->name);
    }
    uint32_t ranks = ar_scenario_group_ranks(scenario);
    const char *whole =
        scenario->mesh.axes_count > 0 ? "GPUs of a group of the mesh" : "number of --gpus";
    if (ar_scenario_has(scenario, AR_KEY_SHAPE) && !scenario->has_best_shape &&
        ar_shape_ranks(&scenario->shape) != ranks) {
        return ar_scenario_refuse(scenario, AR_KEY_SHAPE, err,
                                  "%s has %" PRIu32 " places; expected X*Y = %" PRIu32 ", the %s",
                                  ar_shape_format(&scenario->shape, text),
                                  ar_shape_ranks(&scenario->shape), ranks, whole);
    }
    if (scenario->root >= ranks) {
        return ar_scenario_refuse(scenario, AR_KEY_ROOT, err,
                                  "found \"%" PRIu32 "\"; expected a whole number from 0 to "
                                  "%" PRIu32 ", below the %s",
                                  scenario->root, ranks - 1, whole);
    }
    if (ar_scenario_has(scenario, AR_KEY_ROOT) && !scenario->operation->has_root) {
        return ar_scenario_refuse(scenario, AR_KEY_ROOT, err, "found with %s; expected none there",
                                  scenario->operation->command);
    }
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

enum ar_status ar_scenario_check_stragglers(const struct ar_scenario *scenario, uint32_t ranks,
                                            struct ar_error *err)
{
    for (uint32_t i = 0; i < scenario->stragglers_count; i++) {
        if (scenario->stragglers[i].rank >= ranks) {
            return ar_scenario_refuse(scenario, AR_KEY_STRAGGLER, err,
                                      "found rank %" PRIu32 " of %" PRIu32
                                      " GPUs; expected 0 to %" PRIu32,
                                      scenario->stragglers[i].rank, ranks, ranks - 1);
        }
    }
    return AR_OK;
}

enum ar_status ar_scenario_check_runs(const struct ar_scenario *scenario, struct ar_error *err)
{
    struct ar_collective collective = ar_scenario_collective(scenario);
    AR_TRY(ar_collective_check(&collective, err));
    return ar_scenario_check_stragglers(scenario, ar_shape_ranks(&scenario->shape), err);
}

enum ar_status ar_scenario_check(struct ar_scenario *scenario, struct ar_error *err)
{
    AR_TRY(ar_scenario_check_gpus(scenario, err));
    if (!ar_scenario_has(scenario, AR_KEY_SHAPE)) {
        scenario->shape = ar_scenario_default_shape(scenario, scenario->algorithm);
    }
    AR_TRY(ar_scenario_check_runs(scenario, err));
    struct ar_collective collective = ar_scenario_collective(scenario);
    return ar_engine_check(scenario->engine, &collective, ar_scenario_library(scenario), err);
}

enum ar_status ar_scenario_check_payload(const struct ar_scenario *scenario, struct ar_error *err)
{
    uint32_t element_bytes = ar_precision_bytes(scenario->precision);
    if (scenario->payload_bytes % element_bytes != 0) {
        return ar_scenario_refuse(
            scenario, AR_KEY_PAYLOAD, err,
            "found %" PRIu64 " bytes; expected a multiple of %" PRIu32 ", the size of a %s element",
            scenario->payload_bytes, element_bytes, ar_precision_names[scenario->precision]);
    }
    return AR_OK;
}
