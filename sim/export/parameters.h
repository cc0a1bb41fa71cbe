/** \file parameters.h
 * The inputs of a prediction: every value of the cluster, the trace and the framework, with its
 * source.
 */
#ifndef AR_PARAMETERS_H
#define AR_PARAMETERS_H

#include "ar_record.h"
#include "ar_scenario.h"

struct parameter {
    const char *parameter; /**< `hca.bandwidth` */
    const char *value;     /**< as written */
    const char *source;
};

struct parameters {
    struct parameter *list;
    size_t count;
};

extern const struct ar_columns parameter_columns;

/** Adds one; all texts are copied. A parameter that has another value already becomes "varies". */
void parameters_add(struct parameters *parameters, struct parameter parameter,
                    struct ar_arena *arena);

/** Adds the values of the cluster and the trace of a loaded scenario. */
void parameters_add_inputs(struct parameters *parameters, const struct ar_scenario *scenario,
                           struct ar_arena *arena);

/** The same, and the terms of its framework. */
void parameters_add_scenario(struct parameters *parameters, const struct ar_scenario *scenario,
                             struct ar_arena *arena);

#endif
