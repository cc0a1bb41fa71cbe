#include "parameters.h"

#include <string.h>

#define COLUMN(field, help) AR_COLUMN(string, struct parameter, field, #field, help)
static const struct ar_column columns[] = {
    COLUMN(parameter, "a key of the cluster file, an option, or what was read"),
    COLUMN(value, "as it is written there"),
    COLUMN(source, "where the value is from"),
};
const struct ar_columns parameter_columns = AR_COLUMNS(columns);

enum ar_status parameters_add(struct parameters *parameters, struct parameter parameter,
                              struct ar_arena *arena, struct ar_error *err)
{
    for (size_t i = 0; i < parameters->count; i++) {
        struct parameter *known = &parameters->list[i];
        if (strcmp(known->parameter, parameter.parameter) == 0) {
            known->value = strcmp(known->value, parameter.value) == 0 ? known->value : "varies";
            return AR_OK;
        }
    }
    struct parameter *list =
        ar_arena_grow(arena, parameters->list, parameters->count, 1, sizeof *list);
    AR_NEED(list, err, "the parameters");
    parameters->list = list;
    const struct parameter copy = {ar_arena_text(arena, parameter.parameter),
                                   ar_arena_text(arena, parameter.value),
                                   ar_arena_text(arena, parameter.source)};
    AR_NEED(copy.parameter && copy.value && copy.source, err, "the parameters");
    parameters->list[parameters->count++] = copy;
    return AR_OK;
}

static enum ar_status add_terms(struct parameters *parameters, const struct ar_framework *framework,
                                struct ar_arena *arena, struct ar_error *err)
{
    for (size_t i = 0; i < AR_TERMS_COUNT; i++) {
        const struct ar_term_value *term = &framework->terms[i];
        if (ar_framework_is_on(framework, (enum ar_term)i)) {
            AR_TRY(parameters_add(parameters,
                                  (struct parameter){ar_terms[i].key, term->text, term->source},
                                  arena, err));
        }
    }
    return AR_OK;
}

enum ar_status parameters_add_scenario(struct parameters *parameters,
                                       const struct ar_scenario *scenario, struct ar_arena *arena,
                                       struct ar_error *err)
{
    for (size_t i = 0; i < ar_cluster_parameters_count(scenario->cluster); i++) {
        struct ar_cluster_parameter of = ar_cluster_parameter(scenario->cluster, i);
        if (strcmp(of.key, "description") == 0) {
            continue;
        }
        const char *source = of.source[0] != '\0' ? of.source : "not stated";
        AR_TRY(parameters_add(parameters, (struct parameter){of.key, of.text, source}, arena, err));
    }
    if (scenario->trace != NULL) {
        AR_TRY(parameters_add(
            parameters,
            (struct parameter){"layer times", scenario->trace->name, scenario->trace->source},
            arena, err));
    }
    return scenario->framework != NULL ? add_terms(parameters, scenario->framework, arena, err)
                                       : AR_OK;
}
