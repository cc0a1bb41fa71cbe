#include "explain_terms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Time of the step of a scenario whose inputs changed. */
static enum ar_status run(struct ar_scenario *scenario, struct ar_inputs *inputs,
                          double *iteration_s, struct ar_error *err)
{
    AR_TRY(ar_scenario_load(scenario, inputs, err));
    struct ar_step step = ar_scenario_step(scenario);
    step.baseline = AR_BASELINE_GPU; /* which takes no time to run */
    AR_TRY(ar_step_run(&step, err));
    *iteration_s = step.iteration_s;
    ar_step_destroy(&step);
    return AR_OK;
}

/* Time of the step without a term. */
static enum ar_status run_without(const struct ar_scenario *scenario, struct ar_inputs *inputs,
                                  enum ar_term term, double *iteration_s, struct ar_error *err)
{
    static const struct ar_origin origin = {.where = "--term", .status = AR_USAGE};
    char text[64];
    struct ar_arena arena = {NULL};
    struct ar_scenario changed = *scenario;
    snprintf(text, sizeof text, "%s=off", ar_term_key(term));
    changed.arena = &arena;
    enum ar_status status = ar_scenario_replace(&changed, AR_KEY_TERM, &origin, text, err);
    if (status == AR_OK) {
        status = run(&changed, inputs, iteration_s, err);
    }
    ar_arena_end(&arena);
    return status;
}

static enum ar_status write_term(const struct ar_scenario *scenario, struct ar_inputs *inputs,
                                 enum ar_term term, double iteration_s, struct ar_error *err)
{
    const struct ar_term_value *value = &scenario->framework->terms[term];
    struct ar_error cause;
    double without_s = NAN;
    enum ar_status status = run_without(scenario, inputs, term, &without_s, &cause);
    if (status == AR_USAGE) { /* such as a timed trace without memory.rate: others need the term */
        printf("  %-20s %-10s %10s  %s\n", ar_term_key(term), value->text, "needed", value->source);
        return AR_OK;
    }
    if (status != AR_OK) {
        *err = cause;
        return status;
    }
    double cost_s = iteration_s - without_s;
    printf("  %-20s %-10s %10.3f  %s\n", ar_term_key(term), value->text,
           fabs(cost_s) < 5e-7 ? 0 : cost_s * 1e3, value->source); /* no "-0.000" */
    return AR_OK;
}

enum ar_status explain_terms_write(const struct ar_scenario *scenario, struct ar_inputs *inputs,
                                   double iteration_s, struct ar_error *err)
{
    printf("\nFramework %s", scenario->framework->name);
    if (scenario->rates != NULL) {
        printf(", compute times multiplied by %.4f for --images-per-s-at %s",
               scenario->compute_factor, scenario->rates_text);
    }
    puts("");
    printf("  %-20s %-10s %10s  %s\n", "term", "value", "costs ms", "source");
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        if (ar_framework_is_on(scenario->framework, (enum ar_term)i)) {
            AR_TRY(write_term(scenario, inputs, (enum ar_term)i, iteration_s, err));
        }
    }
    puts("  costs: this step less the step with that term alone switched off; terms that work\n"
         "  together share a cost, so the sum is another one");
    return AR_OK;
}
