/* What a reader should know beside the rows. */
#include <inttypes.h>
#include <string.h>

#include "ar_library_engine.h"
#include "ar_note.h"
#include "ar_platform.h"
#include "ar_run.h"
#include "ar_units.h"

/* Longer runs are announced. */
#define LONG_S 5.0

/* Nothing happens between the layers, and all GPUs are equally fast. */
static bool is_ideal(const struct ar_scenario *scenario)
{
    bool is_on = scenario->jitter_frac > 0 || scenario->stragglers_count > 0;
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        is_on = is_on || ar_framework_is_on(scenario->framework, (enum ar_term)i);
    }
    return !is_on;
}

void ar_note_points(FILE *notes, const struct ar_scenario *scenario, size_t points_count)
{
    char scale[48] = "";
    if (scenario->gradient_scale != 1) {
        snprintf(scale, sizeof scale, " gradients %g times as large,", scenario->gradient_scale);
    }
    ar_note(notes,
            "%zu point%s: batch %" PRIu32 " per GPU, %s,%s buckets %s, %" PRIu32
            " channel%s; efficiency: 100 %% is one %s%s",
            points_count, points_count == 1 ? "" : "s", scenario->trace->batch,
            ar_precision_names[scenario->precision], scale, scenario->fusion.text,
            scenario->channels, scenario->channels == 1 ? "" : "s",
            scenario->baseline == AR_BASELINE_GPU ? "GPU (--baseline gpu)"
                                                  : "node (--baseline node)",
            is_ideal(scenario) ? "; no --framework: an upper bound" : "");
}

/* Terms that nothing reacts to are a mistake. */
void ar_note_framework(FILE *notes, const struct ar_scenario *scenario)
{
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        enum ar_term term = (enum ar_term)i;
        enum ar_term needed = ar_terms[term].needs;
        if (!ar_framework_is_on(scenario->framework, term)) {
            continue;
        }
        if (needed != AR_TERMS_COUNT && !ar_framework_is_on(scenario->framework, needed)) {
            ar_note(notes, "term %s changes nothing without %s", ar_terms[term].key,
                    ar_terms[needed].key);
        } else if (term == AR_TERM_FUSION_RULE && ar_scenario_has(scenario, AR_KEY_BUCKET)) {
            ar_note(notes, "term %s changes nothing beside --bucket", ar_terms[term].key);
        } else if (term == AR_TERM_JITTER && ar_scenario_has(scenario, AR_KEY_JITTER)) {
            ar_note(notes, "term %s changes nothing beside --jitter", ar_terms[term].key);
        } else if (term == AR_TERM_KERNEL_FLOOR && scenario->trace->is_timed) {
            ar_note(notes, "term %s does not change the layers of %s, which is timed",
                    ar_terms[term].key, scenario->trace->name);
        }
    }
}

/* What a platform file leaves open is easily forgotten. */
void ar_note_platform(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_cluster *cluster = scenario->cluster;
    char assumed[256] = "";
    char first[64];
    char last[64];
    size_t used = 0;
    if (ar_cluster_platform_path(cluster) == NULL) {
        return;
    }
    uint32_t gpus = (uint32_t)ar_cluster_gpus_count(cluster);
    for (size_t i = 0; i < ar_cluster_parameters_count(cluster); i++) {
        struct ar_cluster_parameter parameter = ar_cluster_parameter(cluster, i);
        if (strcmp(parameter.source, "assumed") == 0 && used < sizeof assumed) {
            used += (size_t)snprintf(assumed + used, sizeof assumed - used, "%s %s=%s",
                                     used > 0 ? "," : "; assumed, to be changed by --set:",
                                     parameter.key, parameter.text);
        }
    }
    ar_note(notes, "GPUs 0 to %" PRIu32 " are the hosts of %s by name, %s to %s%s", gpus - 1,
            ar_cluster_platform_path(cluster),
            ar_cluster_host_name(cluster, 0, first, sizeof first),
            ar_cluster_host_name(cluster, gpus - 1, last, sizeof last), assumed);
}

/* Whether a key sets what the library's times do not react to. */
static bool is_without_effect(const struct ar_scenario *scenario)
{
    for (size_t i = 0; i < scenario->settings.count; i++) {
        if (ar_library_engine_ignores(scenario->settings.list[i].text)) {
            return true;
        }
    }
    return ar_scenario_has(scenario, AR_KEY_SLOW_LINK) ||
           ar_scenario_has(scenario, AR_KEY_DOWN_LINK) ||
           ar_scenario_has(scenario, AR_KEY_CHANNELS) || ar_scenario_has(scenario, AR_KEY_WINDOW);
}

static uint32_t last_count(const struct ar_library_nodes *nodes)
{
    return nodes->count > 0 ? nodes->counts[nodes->count - 1] : 0;
}

static void note_library(FILE *notes, const struct ar_scenario *scenario)
{
    const struct ar_engine *engine = scenario->engine;
    if (!engine->needs_library || ar_scenario_library(scenario) == NULL) {
        return;
    }
    uint32_t per_node = ar_cluster_facts(scenario->cluster)->gpus_per_node;
    uint32_t nodes = (ar_shape_ranks(&scenario->shape) + per_node - 1) / per_node;
    if (engine->is_fitted) {
        uint32_t fitted = last_count(&scenario->table->fitted);
        uint32_t held_out = last_count(&scenario->table->held_out);
        uint32_t measured = fitted > held_out ? fitted : held_out;
        if (nodes > measured) {
            ar_note(notes,
                    "%" PRIu32 " nodes are beyond the %" PRIu32 " that were measured: the "
                    "band does not know what is new there, such as a second rack",
                    nodes, measured);
        }
    }
    if (is_without_effect(scenario)) {
        ar_note(notes, "engine %s knows %s times; links, channels and window do not change them",
                engine->name, engine->is_fitted ? "measured" : "NCCL's own");
    }
}

void ar_note_before(FILE *notes, const struct ar_scenario *scenario, double cost_s)
{
    char text[AR_UNIT_TEXT];
    note_library(notes, scenario);
    ar_note_choice(notes, scenario);
    if (scenario->trace != NULL) {
        ar_note_framework(notes, scenario);
        ar_note_trace(notes, scenario);
    }
    if (cost_s > LONG_S) {
        ar_note(notes, "engine %s takes about %s; --engine closed estimates at once",
                scenario->engine->name, ar_format_duration(cost_s, text));
    }
}

void ar_note_estimates(FILE *notes, size_t estimates, size_t count)
{
    if (estimates > 0) {
        ar_note(notes,
                "%zu of %zu rows are estimates (\"no\" in column exact); "
                "--engine simgrid simulates",
                estimates, count);
    }
}

size_t ar_rows_estimates(const struct ar_row *rows, size_t count)
{
    size_t estimates = 0;
    for (size_t i = 0; i < count; i++) {
        estimates += rows[i].exact == 0;
    }
    return estimates;
}
