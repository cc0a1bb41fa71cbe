/* Notes: what a reader should know beside the rows. */
#include <inttypes.h>
#include <string.h>

#include "ar_library_engine.h"
#include "ar_machine_factors.h"
#include "ar_row.h"
#include "ar_step_errors.h"
#include "ar_text.h"
#include "ar_units.h"
#include "kinds.h"

/* Longer runs are announced. */
#define LONG_S 5.0
/* HCAs of 1.6 Tb/s are the fastest that are announced. */
#define HCA_MAX_BPS 200e9
/* Chosen: these bytes take 1.3 us at 50 GB/s, the order of what software takes for a message. */
enum { SMALL_BYTES = 65536 };

bool ar_scenario_is_ideal(const struct ar_scenario *scenario)
{
    bool is_on = scenario->jitter_frac > 0 || scenario->stragglers_count > 0;
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        is_on = is_on || ar_framework_is_on(scenario->framework, (enum ar_term)i);
    }
    return !is_on;
}

void ar_note_how_sure(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_trace *trace = scenario->trace;
    if (trace != NULL && trace->is_timed && scenario->rate.batch == 0) {
        ar_note(notes,
                "layers take the times of trace %s (%s), whatever the GPUs of the cluster; "
                "--samples-per-s-at scales them to a rate of others",
                trace->name, trace->source);
    }
    if (ar_scenario_is_ideal(scenario)) {
        ar_note(notes,
                "no --framework: compute and messages alone take time; what is left out makes a "
                "step longer, %sthe efficiency lower; --framework typical adds what any run has",
                scenario->baseline == AR_BASELINE_GPU ? "and " : "not always ");
    }
    ar_note_step_errors(notes, scenario);
}

void ar_note_points(FILE *notes, const struct ar_scenario *scenario, size_t points_count)
{
    ar_note(notes,
            "%zu point%s: batch %" PRIu32 " per GPU, %s, %s%s, %" PRIu32
            " channel%s; efficiency: 100 %% is %s",
            points_count, points_count == 1 ? "" : "s", scenario->trace->batch,
            ar_precision_names[scenario->precision],
            scenario->layout.strategy->ends_runs ? "" : "buckets ",
            scenario->layout.strategy->ends_runs ? "one gather" : scenario->fusion.text,
            scenario->channels, scenario->channels == 1 ? "" : "s",
            ar_note_baseline(scenario->baseline));
}

const char *ar_note_baseline(enum ar_baseline baseline)
{
    return baseline == AR_BASELINE_GPU ? "one GPU that computes alone (--baseline gpu)"
                                       : "one full node, a flat ring (--baseline node)";
}

static void note_sparse(FILE *notes, const struct ar_scenario *scenario)
{
    if (scenario->layout.sparse_frac > 0) {
        ar_note(notes,
                "--sparse: values and places are gathered by %s, whatever --algorithm sums with; "
                "choosing the largest gradients and adding them up is left out",
                ar_engine_choice(scenario->engine, NULL, "rings"));
    }
}

void note_end_of_run(FILE *notes, const struct ar_scenario *scenario)
{
    if (scenario->layout.strategy->ends_runs) {
        ar_note(notes,
                "strategy %s: the gather follows %" PRIu32 " step%s (--iterations), each of which "
                "counts its part",
                scenario->layout.strategy->name, scenario->iterations_count,
                scenario->iterations_count == 1 ? "" : "s");
    }
}

void ar_note_framework(FILE *notes, const struct ar_scenario *scenario)
{
    note_sparse(notes, scenario);
    for (enum ar_term term = 0; term < AR_TERMS_COUNT; term++) {
        enum ar_term needed = ar_terms[term].needs;
        if (!ar_framework_is_on(scenario->framework, term)) {
            continue;
        }
        if (needed != AR_TERMS_COUNT && !ar_framework_is_on(scenario->framework, needed)) {
            ar_note(notes, "term %s changes nothing without %s", ar_terms[term].key,
                    ar_terms[needed].key);
        } else if (term == AR_TERM_KERNEL_FLOOR && scenario->trace->is_timed) {
            ar_note(notes, "term %s does not change the layers of %s, which is timed",
                    ar_terms[term].key, scenario->trace->name);
        }
    }
}

const char *ar_note_left_out(const struct ar_scenario *scenario)
{
    const struct ar_framework *framework = scenario->framework;
    bool has_host = ar_framework_is_on(framework, AR_TERM_HOST_KERNEL) ||
                    ar_framework_is_on(framework, AR_TERM_HOST_BATCH) ||
                    ar_framework_is_on(framework, AR_TERM_HOST_COLLECTIVE);
    bool has_tensor = ar_framework_is_on(framework, AR_TERM_HOST_TENSOR);
    return has_host && has_tensor           ? NULL
           : has_host                       ? "the host does in the optimizer"
           : has_tensor                     ? "the host does but in the optimizer"
           : ar_scenario_is_ideal(scenario) ? "a framework adds between them"
                                            : "the host takes to launch them (host terms)";
}

void note_memory(FILE *notes, const struct ar_scenario *scenario, double states_bytes,
                 double activations_bytes)
{
    double there = ar_cluster_facts(scenario->cluster)->gpu_memory_bytes;
    double needed = states_bytes + activations_bytes;
    const char *all = AR_SHOW_BYTES((uint64_t)needed);
    char activations[80] = "";
    if (activations_bytes > 0) {
        snprintf(activations, sizeof activations, ", %s of them activations",
                 AR_SHOW_BYTES((uint64_t)activations_bytes));
    }
    if (needed > 0 && there <= 0) {
        ar_note(notes,
                "nobody knows whether the %s of the fullest GPU fit: the cluster has no gpu.memory "
                "(--set gpu.memory=80GB)",
                all);
    } else if (needed > there) {
        ar_note(notes, "does not fit: %s on the fullest GPU%s; expected at most %s, gpu.memory",
                all, activations, AR_SHOW_BYTES((uint64_t)there));
    }
}

/* Values that the cluster file marks as assumed. */
void ar_note_assumed(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_cluster *cluster = scenario->cluster;
    char assumed[256] = "";
    double rate_Bps;
    for (size_t i = 0; i < ar_cluster_parameters_count(cluster); i++) {
        struct ar_cluster_parameter parameter = ar_cluster_parameter(cluster, i);
        if (strcmp(parameter.source, "assumed") == 0) {
            ar_append_text(assumed, sizeof assumed, "%s %s=%s",
                           assumed[0] != '\0' ? "," : "assumed, to be changed by --set:",
                           parameter.key, parameter.text);
        }
        if (strcmp(parameter.key, "hca.bandwidth") == 0 &&
            ar_parse_quantity("", parameter.text, AR_QUANTITY_RATE, &rate_Bps, AR_IGNORED) ==
                AR_OK &&
            rate_Bps > HCA_MAX_BPS) {
            ar_note(notes, "hca.bandwidth=%s is %.4g Gb/s of one HCA: are Gbps, bits, meant?",
                    parameter.text, 8e-9 * rate_Bps);
        }
    }
    if (assumed[0] != '\0') {
        ar_note(notes, "%s", assumed);
    }
}

void note_library(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_engine *engine = scenario->engine;
    const struct ar_library *library = ar_scenario_library(scenario);
    const char *fitted = ar_cluster_facts(scenario->cluster)->library_cost;
    if (!ar_engine_times_calls(engine) && fitted[0] != '\0' && scenario->gpus > 1) {
        ar_note(notes,
                "cluster %s has times that were fitted to measured calls (library.cost_table), "
                "which engine %s does not use: --engine library does",
                ar_cluster_facts(scenario->cluster)->name, engine->name);
    }
    if (library == NULL) {
        return;
    }
    uint32_t per_node = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    uint32_t nodes = (scenario->gpus + per_node - 1) / per_node;
    bool is_measured = library == ar_scenario_fitted(scenario);
    if (scenario->machines != NULL) {
        ar_note(notes,
                "nothing is fitted to cluster %s: calls are what %" PRIu64 " sets of other "
                "machines and %s tell, in bands of machines that were left out",
                ar_cluster_facts(scenario->cluster)->name, scenario->machines->told.sets_count,
                scenario->constants->tuning.release->name);
    }
    uint32_t measured = 0;
    for (int i = 0; i < 2 && is_measured; i++) {
        const struct ar_library_nodes *known =
            i == 0 ? &scenario->table->fitted : &scenario->table->held_out;
        uint32_t last = known->count > 0 ? known->counts[known->count - 1] : 0;
        measured = last > measured ? last : measured;
    }
    if (is_measured && nodes > measured) {
        ar_note(notes,
                "%" PRIu32 " nodes are beyond the %" PRIu32 " that were measured: the "
                "band does not know what is new there, such as a second rack",
                nodes, measured);
    }
    enum ar_library_call call;
    uint32_t calls = is_measured ? scenario->table->library.calls : 0; /* 0: not known */
    if (calls != 0 && ar_scenario_kind(scenario)->is_collective &&
        ar_library_call_find(scenario->operation, &call) && (calls >> call & 1) == 0) {
        ar_note(notes, "no %s was measured: its times follow from the operations that were",
                scenario->operation->name);
    }
    /* Does a key set what the library's times do not react to? */
    bool is_without_effect = ar_scenario_has(scenario, AR_KEY_SLOW_LINK) ||
                             ar_scenario_has(scenario, AR_KEY_DOWN_LINK) ||
                             ar_scenario_has(scenario, AR_KEY_CHANNELS) ||
                             ar_scenario_has(scenario, AR_KEY_WINDOW);
    for (size_t i = 0; i < scenario->settings.count; i++) {
        is_without_effect =
            is_without_effect || ar_library_engine_ignores(engine, scenario->settings.list[i].text);
    }
    if (is_without_effect) {
        ar_note(notes, "engine %s knows %s times; links, channels and window do not change them",
                engine->name, is_measured ? "measured" : "NCCL's own");
    }
}

/* --- what was made of the GPUs and the cluster ------------------------------------------- */

void ar_note_shape(FILE *notes, const struct ar_scenario *scenario)
{
    const char *name = ar_algorithm_name(scenario->algorithm),
               *text = AR_SHOW_SHAPE(&scenario->shape);
    uint32_t ranks = ar_shape_ranks(&scenario->shape);
    uint32_t x = scenario->shape.x;
    uint32_t full = ar_scenario_node_members(scenario, scenario->algorithm);
    enum ar_shapes shapes = ar_algorithm_shapes(scenario->algorithm);
    if (ar_scenario_has(scenario, AR_KEY_SHAPE) || scenario->choice != NULL) {
        return;
    }
    if (shapes == AR_SHAPES_GRIDS && x == 1 && ranks > 3) {
        ar_note(notes, "%s on %" PRIu32 " GPUs is %s, a ring: there is no other grid", name, ranks,
                text);
    } else if (shapes == AR_SHAPES_GROUPS && ranks > full && x < full) {
        ar_note(notes,
                "%s on %" PRIu32 " GPUs is %s: groups of %" PRIu32
                ", since groups of a node's %" PRIu32 " do not divide them",
                name, ranks, text, x, full);
    } else if (shapes == AR_SHAPES_GRIDS && x > 1 && x < ranks) {
        ar_note(notes, "%s is %s, the squarest grid; --shape best tries all", name, text);
    }
}

/* Says how HCAs that are down or slow act: a slow one may cost more than one that is down, in place
 * of which another one carries twice as much. */
static void note_hcas(FILE *notes, const struct ar_scenario *scenario, uint32_t ranks)
{
    const struct ar_cluster *cluster = scenario->cluster;
    const struct ar_settings *slow = &scenario->slow_links;
    bool has_down = false;
    for (size_t i = 0; i < scenario->down_links.count; i++) {
        has_down = has_down || ar_cluster_idle_link(cluster, slow->count + i, ranks) == NULL;
    }
    if (has_down) {
        ar_note(notes, "--down-link: as in a communicator made anew, the other HCAs of the node "
                       "share what those that are down would carry");
    }
    for (size_t i = 0; i < slow->count; i++) {
        unsigned node, hca;
        double factor = 0;
        if (sscanf(slow->list[i].text, "node-%u.hca-%u:%lf", &node, &hca, &factor) == 3 &&
            factor > 2 && ar_cluster_facts(cluster)->hcas_per_node > 1 &&
            ar_cluster_idle_link(cluster, i, ranks) == NULL) {
            ar_note(notes,
                    "--slow-link %s: all channels have equal parts, so the slowest HCA decides; "
                    "down (--down-link node-%u.hca-%u) it would cost less",
                    slow->list[i].text, node, hca);
        }
    }
}

void ar_note_links(FILE *notes, const struct ar_scenario *scenario, uint32_t ranks)
{
    if (ar_engine_times_calls(scenario->engine)) {
        return; /* which has said so */
    }
    for (size_t i = 0; i < scenario->slow_links.count + scenario->down_links.count; i++) {
        const struct ar_cluster_parameter *idle = ar_cluster_idle_link(scenario->cluster, i, ranks);
        if (idle != NULL) {
            ar_note(notes, "--%s %s changes nothing: no message among %" PRIu32 " GPUs takes it",
                    idle->key, idle->text, ranks);
        }
    }
    note_hcas(notes, scenario, ranks);
    const char *routes = ar_cluster_idle_routes(scenario->cluster, ranks);
    if (routes != NULL) {
        ar_note(notes,
                "fabric.routes=%s changes nothing: no message among %" PRIu32 " GPUs goes over "
                "cables between switches",
                routes, ranks);
    }
}

void ar_note_duration(FILE *notes, const struct ar_scenario *scenario, double cost_s)
{
    struct ar_scenario closed = *scenario;
    closed.engine = &ar_engine_closed;
    if (cost_s > LONG_S) {
        ar_note(notes, "engine %s takes about %s%s", scenario->engine->name,
                AR_SHOW_DURATION(cost_s),
                ar_run_cost_s(&closed) < 1 ? "; --engine closed estimates at once" : "");
    }
}

void ar_note_before(FILE *notes, const struct ar_scenario *scenario, double cost_s)
{
    if (notes != NULL) {
        ar_scenario_kind(scenario)->note(notes, scenario);
        ar_note_duration(notes, scenario, cost_s);
    }
}

void collective_note(FILE *notes, const struct ar_scenario *scenario)
{
    note_library(notes, scenario);
    /* Which ranks run together, and which one is the root. */
    const struct ar_operation *operation = scenario->operation;
    uint32_t groups = ar_scenario_groups(scenario);
    uint32_t ranks = ar_shape_ranks(&scenario->shape);
    if (scenario->mesh.axes_count > 0) {
        ar_note(notes, "%s along %s%s: %" PRIu32 " group%s of %" PRIu32 " GPU%s%s",
                AR_SHOW_MESH(&scenario->mesh), AR_SHOW_ALONG(&scenario->mesh),
                ar_scenario_has(scenario, AR_KEY_ALONG) ? "" : ", the only axis", groups,
                groups == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s",
                groups == 1 ? "" : " at once, whose messages share the links");
    }
    if (operation->has_root && !ar_scenario_has(scenario, AR_KEY_ROOT) && ranks > 1) {
        ar_note(notes, "the root of the %s is rank 0%s (--root)", operation->name,
                groups > 1 ? " of each group" : "");
    }
    ar_note_choice(notes, scenario);
    ar_note_shape(notes, scenario);
    ar_note_sweep(notes, scenario, &(const uint64_t){scenario->gpus}, 1);
}

void ar_note_sweep(FILE *notes, const struct ar_scenario *scenario, const uint64_t *gpus,
                   size_t gpus_count)
{
    uint64_t min = gpus[0], max = gpus[0];
    uint32_t full = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    for (size_t i = 1; i < gpus_count; i++) {
        min = gpus[i] < min ? gpus[i] : min;
        max = gpus[i] > max ? gpus[i] : max;
    }
    if (ar_scenario_kind(scenario)->has_baseline && scenario->baseline == AR_BASELINE_NODE &&
        min < full) {
        ar_note(notes,
                "%" PRIu64 " GPU%s of a node of %" PRIu32 ": efficiency compares with a full node "
                "and may be above 100 %%; --baseline gpu compares with one GPU",
                min, min == 1 ? "" : "s", full);
    }
    ar_note_links(notes, scenario, (uint32_t)max);
    /* Defaults for what the cluster does not give, where the answer depends on them. */
    uint32_t ranks = (uint32_t)max;
    const struct ar_cluster *cluster = scenario->cluster;
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    const struct ar_library *own =
        ar_engine_pick_library(scenario->engine, NULL, scenario->constants);
    const struct ar_tuning *tuning = own != NULL ? &own->tuning : NULL;
    bool is_sent = ar_scenario_library(scenario) == NULL && ranks > 1;
    bool wants_sums = scenario->algorithm != NULL && scenario->algorithm->wants_sums;
    struct ar_phase phases[AR_PHASES_MAX] = {{.is_at_once = false}};
    (void)ar_algorithm_phases(scenario->algorithm, &scenario->shape, phases);
    bool are_many =
        phases[0].is_at_once && ranks > full && scenario->payload_bytes / ranks < SMALL_BYTES;
    char channels[24] = "";
    snprintf(channels, sizeof channels, "%" PRIu32, tuning != NULL ? tuning->channels : 0);
    const struct {
        bool is_missing;
        const char *key, *taken;
    } defaults[] = {
        {is_sent && !ar_cluster_has_link_cost(cluster, AR_LINK_REDUCE_COST), "gpu.reduce_cost",
         "0"},
        {is_sent && !ar_cluster_has_link_cost(cluster, AR_LINK_SETUP), "collective.setup", "0"},
        {is_sent && are_many && !ar_cluster_has_link_cost(cluster, AR_LINK_MESSAGE_GAP),
         "net.message_gap",
         "0, though many small messages are sent at once; try --set net.message_gap=0.2us"},
        {tuning != NULL && facts->library_channels == 0, "library.channels", channels},
        {tuning != NULL && !facts->has_gpu_generation, "gpu.generation",
         tuning != NULL ? ar_gpu_generation_names[tuning->generation] : ""},
        {tuning != NULL && !facts->has_cpu_vendor, "cpu.vendor",
         tuning != NULL ? ar_cpu_vendor_names[tuning->cpu] : ""},
        {wants_sums && facts->has_nvlink_sums && !facts->are_nvlink_sums_given, "nvlink.sums",
         "yes, as from Hopper on"},
    };
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (defaults[i].is_missing) {
            ar_note(notes, "cluster %s gives no %s: taken as %s", facts->name, defaults[i].key,
                    defaults[i].taken);
        }
    }
}
