/* The inputs of a prediction with their sources, and what each term of a framework costs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_kind.h"
#include "exports.h"

/* --- parameters ------------------------------------------------------------------------------- */

#define COLUMN(field, help) AR_COLUMN(string, struct parameter, field, #field, help)
static const struct ar_column columns[] = {
    COLUMN(parameter, "a key of the cluster file, an option, or what was read"),
    COLUMN(value, "as it is written there"),
    COLUMN(source, "where the value is from"),
};
const struct ar_columns parameter_columns = AR_COLUMNS(columns);

void parameters_add(struct parameters *parameters, struct parameter parameter)
{
    struct ar_arena *arena = parameters->arena;
    AR_EACH(struct parameter, known, parameters->list, parameters->count) {
        if (strcmp(known->parameter, parameter.parameter) == 0) {
            known->value = strcmp(known->value, parameter.value) == 0 ? known->value : "varies";
            return;
        }
    }
    *AR_ARENA_ADD(arena, parameters->list, parameters->count) = (struct parameter){
        ar_arena_text(arena, parameter.parameter), ar_arena_text(arena, parameter.value),
        ar_arena_text(arena, parameter.source)};
}

void parameters_add_inputs(struct parameters *parameters, const struct ar_scenario *scenario)
{
    for (size_t i = 0; i < ar_cluster_parameters_count(scenario->cluster); i++) {
        struct ar_cluster_parameter of = ar_cluster_parameter(scenario->cluster, i);
        const char *source = of.source[0] != '\0' ? of.source : "not stated";
        if (strcmp(of.key, "description") != 0) {
            parameters_add(parameters, (struct parameter){of.key, of.text, source});
        }
    }
    if (scenario->trace != NULL) {
        const struct ar_trace *trace = scenario->trace;
        parameters_add(parameters, (struct parameter){"layer times", trace->name, trace->source});
    }
}

void parameters_add_scenario(struct parameters *parameters, const struct ar_scenario *scenario)
{
    parameters_add_inputs(parameters, scenario);
    for (int i = 0; scenario->framework != NULL && i < AR_TERMS_COUNT; i++) {
        const struct ar_term_value *term = &scenario->framework->terms[i];
        if (ar_framework_is_on(scenario->framework, (enum ar_term)i)) {
            parameters_add(parameters,
                           (struct parameter){ar_terms[i].key, term->text, term->source});
        }
    }
}

/* --- terms of a framework --------------------------------------------------------------------- */

static enum ar_status run_without(const struct ar_scenario *scenario, enum ar_term term,
                                  double *iteration_s, struct ar_error *err)
{
    static const struct ar_origin origin = {.where = "--term", .status = AR_USAGE};
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_scenario changed = *scenario;
    struct ar_timing timing;
    changed.arena = &arena;
    const char *text = ar_arena_format(&arena, "%s=off", ar_terms[term].key);
    AR_TRY(ar_scenario_replace(&changed, AR_KEY_TERM, &origin, text, err));
    AR_TRY(ar_scenario_load(&changed, err));
    struct ar_job job = ar_scenario_job(&changed);
    job.baseline = AR_BASELINE_GPU; /* which takes no time to run */
    job.is_row_alone = true;
    AR_TRY(ar_predict(&job, &arena, &timing, err));
    *iteration_s = timing.iteration_s;
    return AR_OK;
}

enum ar_status explain_terms(const struct ar_scenario *scenario, double iteration_s,
                             struct ar_error *err)
{
    printf("\nFramework %s", scenario->framework->name);
    if (scenario->rate.batch > 0) {
        printf(", compute times multiplied by %.4f for --samples-per-s-at %u=%.10g",
               scenario->compute_factor, scenario->rate.batch, scenario->rate.samples_per_s);
    }
    printf("\n  %-20s %-10s %10s  %s\n", "term", "value", "costs ms", "source");
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        const struct ar_term_value *value = &scenario->framework->terms[i];
        char cost[32] = "needed";
        double without_s = NAN;
        if (!ar_framework_is_on(scenario->framework, (enum ar_term)i)) {
            continue;
        }
        enum ar_status status = run_without(scenario, (enum ar_term)i, &without_s, err);
        if (status == AR_OK) {
            double cost_s = iteration_s - without_s;
            snprintf(cost, sizeof cost, "%.3f", fabs(cost_s) < 5e-7 ? 0 : cost_s * 1e3);
        } else if (status != AR_USAGE) { /* such as a timed trace without memory.rate */
            return status;
        }
        printf("  %-20s %-10s %10s  %s\n", ar_terms[i].key, value->text, cost, value->source);
    }
    puts("  costs: this step less the step with that term alone switched off; terms that work\n"
         "  together share a cost, so the sum is another one");
    return AR_OK;
}
