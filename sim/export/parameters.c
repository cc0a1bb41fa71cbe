#include "parameters.h"

#include <string.h>

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
