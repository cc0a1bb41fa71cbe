#include "explain_terms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The command line with a term switched off: `text` takes the place of the term's own, or comes
 * behind the others. There are fewer terms than SETTINGS_MAX, each at most once. */
static struct options without(const struct options *options, const char *text)
{
    struct options changed = *options;
    size_t length = strcspn(text, "=") + 1;
    size_t place = 0;
    while (place < changed.terms.count && strncmp(changed.terms.texts[place], text, length) != 0) {
        place++;
    }
    changed.terms.texts[place] = text;
    changed.terms.count += place == changed.terms.count;
    return changed;
}

/* Time of the step without a term. */
static enum ar_status run_without(const struct options *options, enum ar_term term,
                                  double *iteration_s, struct ar_error *err)
{
    char text[64];
    struct plan plan;
    struct point point;
    snprintf(text, sizeof text, "%s=off", ar_term_key(term));
    struct options changed = without(options, text);
    enum ar_status status = plan_create(&changed, true, &plan, err);
    if (status != AR_OK) {
        return status;
    }
    status = plan_point(&plan, &changed, &point, err);
    if (status == AR_OK) {
        struct ar_step step = plan_step(&plan, &point);
        step.baseline = AR_BASELINE_GPU; /* which takes no time to run */
        status = ar_step_run(&step, err);
        if (status == AR_OK) {
            *iteration_s = step.iteration_s;
            ar_step_destroy(&step);
        }
    }
    plan_destroy(&plan);
    return status;
}

static enum ar_status write_term(const struct options *options, const struct plan *plan,
                                 enum ar_term term, double iteration_s, struct ar_error *err)
{
    const struct ar_term_value *value = &plan->framework->terms[term];
    struct ar_error cause;
    double without_s = NAN;
    enum ar_status status = run_without(options, term, &without_s, &cause);
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

enum ar_status explain_terms_write(const struct options *options, const struct plan *plan,
                                   double iteration_s, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    printf("\nFramework %s", plan->framework->name);
    if (options->images_per_s_at != NULL) {
        printf(", compute times multiplied by %.4f for --images-per-s-at %s", plan->compute_factor,
               options->images_per_s_at);
    }
    puts("");
    printf("  %-20s %-10s %10s  %s\n", "term", "value", "costs ms", "source");
    for (int i = 0; status == AR_OK && i < AR_TERMS_COUNT; i++) {
        if (ar_framework_is_on(plan->framework, (enum ar_term)i)) {
            status = write_term(options, plan, (enum ar_term)i, iteration_s, err);
        }
    }
    if (status == AR_OK) {
        puts("  costs: this step less the step with that term alone switched off; terms that work\n"
             "  together share a cost, so the sum is another one");
    }
    return status;
}
