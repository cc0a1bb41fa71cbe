/* The inputs of a prediction with their sources, and what each term of a framework costs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_kind.h"
#include "ar_pool.h"
#include "explain.h"

/* --- parameters ------------------------------------------------------------------------------- */

#define COLUMN(field, help) AR_COLUMN(string, struct parameter, field, #field, help)
static const struct ar_column columns[] = {
    COLUMN(parameter, "a key of the cluster file, an option, or what was read"),
    COLUMN(value, "as it is written there"),
    COLUMN(source, "where the value is from"),
};
const struct ar_columns parameter_columns = AR_COLUMNS(columns);

void parameters_add(struct parameters *parameters, struct parameter parameter,
                    struct ar_arena *arena)
{
    for (size_t i = 0; i < parameters->count; i++) {
        struct parameter *known = &parameters->list[i];
        if (strcmp(known->parameter, parameter.parameter) == 0) {
            known->value = strcmp(known->value, parameter.value) == 0 ? known->value : "varies";
            return;
        }
    }
    parameters->list =
        ar_arena_grow(arena, parameters->list, parameters->count, 1, sizeof *parameters->list);
    parameters->list[parameters->count++] = (struct parameter){
        ar_arena_text(arena, parameter.parameter), ar_arena_text(arena, parameter.value),
        ar_arena_text(arena, parameter.source)};
}

void parameters_add_inputs(struct parameters *parameters, const struct ar_scenario *scenario,
                           struct ar_arena *arena)
{
    for (size_t i = 0; i < ar_cluster_parameters_count(scenario->cluster); i++) {
        struct ar_cluster_parameter of = ar_cluster_parameter(scenario->cluster, i);
        const char *source = of.source[0] != '\0' ? of.source : "not stated";
        if (strcmp(of.key, "description") != 0) {
            parameters_add(parameters, (struct parameter){of.key, of.text, source}, arena);
        }
    }
    if (scenario->trace != NULL) {
        const struct ar_trace *trace = scenario->trace;
        parameters_add(parameters, (struct parameter){"layer times", trace->name, trace->source},
                       arena);
    }
}

void parameters_add_scenario(struct parameters *parameters, const struct ar_scenario *scenario,
                             struct ar_arena *arena)
{
    parameters_add_inputs(parameters, scenario, arena);
    for (int i = 0; scenario->framework != NULL && i < AR_TERMS_COUNT; i++) {
        const struct ar_term_value *term = &scenario->framework->terms[i];
        if (ar_framework_is_on(scenario->framework, (enum ar_term)i)) {
            parameters_add(parameters,
                           (struct parameter){ar_terms[i].key, term->text, term->source}, arena);
        }
    }
}

/* --- terms of a framework --------------------------------------------------------------------- */

/* The terms that are on, and what each costs. */
struct term_costs {
    const struct ar_scenario *scenario;
    struct ar_inputs *inputs;
    double iteration_s;
    enum ar_term terms[AR_TERMS_COUNT];
    double costs_s[AR_TERMS_COUNT]; /* NAN: others need the term */
    uint32_t count;
};

/* The step without a term. */
struct step_answer {
    double iteration_s;  /* NAN: others need the term */
    struct ar_error err; /* AR_OK: none */
};

static enum ar_status run_without(struct ar_scenario *scenario, struct ar_inputs *inputs,
                                  enum ar_term term, double *iteration_s, struct ar_error *err)
{
    static const struct ar_origin origin = {.where = "--term", .status = AR_USAGE};
    char text[64];
    snprintf(text, sizeof text, "%s=off", ar_terms[term].key);
    AR_TRY(ar_scenario_replace(scenario, AR_KEY_TERM, &origin, text, err));
    AR_TRY(ar_scenario_load(scenario, inputs, err));
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    struct ar_job job = ar_scenario_job(scenario);
    job.baseline = AR_BASELINE_GPU; /* which takes no time to run */
    AR_TRY(ar_predict(&job, &arena, &timing, err));
    *iteration_s = timing.iteration_s;
    return AR_OK;
}

static uint32_t compute_without_term(void *context, uint32_t item, char *bytes)
{
    const struct term_costs *own = context;
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_scenario changed = *own->scenario;
    struct step_answer answer = {.iteration_s = NAN, .err.status = AR_OK};
    changed.arena = &arena;
    enum ar_status status =
        run_without(&changed, own->inputs, own->terms[item], &answer.iteration_s, &answer.err);
    if (status == AR_USAGE) { /* such as a timed trace without memory.rate: others need the term */
        answer.err.status = AR_OK;
    }
    memcpy(bytes, &answer, sizeof answer);
    return sizeof answer;
}

static enum ar_status take_answer(void *context, const struct ar_pool_answer *answer,
                                  struct ar_error *err)
{
    struct term_costs *own = context;
    struct step_answer taken;
    if (answer->is_lost) {
        return ar_error_set(err, AR_INTERNAL, "without %s: %s",
                            ar_terms[own->terms[answer->item]].key, answer->bytes);
    }
    memcpy(&taken, answer->bytes, sizeof taken);
    if (taken.err.status != AR_OK) {
        *err = taken.err;
        return taken.err.status;
    }
    double cost_s = own->iteration_s - taken.iteration_s;
    own->costs_s[answer->item] = fabs(cost_s) < 5e-7 ? 0 : cost_s; /* no "-0.000" */
    return AR_OK;
}

/* Without one of its terms a step takes about as long to run as with them. */
static double estimate_cost_s(const void *context, uint32_t item)
{
    const struct term_costs *own = context;
    (void)item;
    return ar_run_cost_s(own->scenario);
}

static enum ar_status run_without_each(struct term_costs *context, struct ar_arena *arena,
                                       bool shows_progress, struct ar_error *err)
{
    const struct ar_pool_work work = {.context = context,
                                      .items_name = "terms",
                                      .bytes_max = sizeof(struct step_answer),
                                      .compute = compute_without_term,
                                      .take = take_answer,
                                      .cost_s = estimate_cost_s,
                                      .shows_progress = shows_progress};
    struct ar_pool_queue queue = ar_pool_queue_create(arena, &work, NULL, context->count);
    return ar_pool_run(&work, ar_pool_processors(), &queue, err);
}

static void write_term(const struct term_costs *context, uint32_t item)
{
    enum ar_term term = context->terms[item];
    const struct ar_term_value *value = &context->scenario->framework->terms[term];
    char cost[32] = "needed";
    if (!isnan(context->costs_s[item])) {
        snprintf(cost, sizeof cost, "%.3f", context->costs_s[item] * 1e3);
    }
    printf("  %-20s %-10s %10s  %s\n", ar_terms[term].key, value->text, cost, value->source);
}

static uint32_t list_terms(const struct ar_scenario *scenario, enum ar_term terms[AR_TERMS_COUNT])
{
    uint32_t count = 0;
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        if (ar_framework_is_on(scenario->framework, (enum ar_term)i)) {
            terms[count++] = (enum ar_term)i;
        }
    }
    return count;
}

double explain_terms_cost_s(const struct ar_scenario *scenario)
{
    enum ar_term terms[AR_TERMS_COUNT];
    return list_terms(scenario, terms) * ar_run_cost_s(scenario) / ar_pool_processors();
}

enum ar_status explain_terms(const struct ar_scenario *scenario, struct ar_inputs *inputs,
                             double iteration_s, bool shows_progress, struct ar_error *err)
{
    struct term_costs context = {
        .scenario = scenario, .inputs = inputs, .iteration_s = iteration_s};
    context.count = list_terms(scenario, context.terms);
    AR_TRY(run_without_each(&context, scenario->arena, shows_progress, err));
    printf("\nFramework %s", scenario->framework->name);
    if (scenario->rate.batch > 0) {
        printf(", compute times multiplied by %.4f for --samples-per-s-at %u=%.10g",
               scenario->compute_factor, scenario->rate.batch, scenario->rate.samples_per_s);
    }
    printf("\n  %-20s %-10s %10s  %s\n", "term", "value", "costs ms", "source");
    for (uint32_t i = 0; i < context.count; i++) {
        write_term(&context, i);
    }
    puts("  costs: this step less the step with that term alone switched off; terms that work\n"
         "  together share a cost, so the sum is another one");
    return AR_OK;
}
