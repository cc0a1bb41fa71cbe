/** \file parameters.h
 * What predictions were made with: every value of the cluster, the trace and the framework, with
 * its source.
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

/** Adds one; all texts are copied. If it is there with another value, that is "varies". */
enum ar_status parameters_add(struct parameters *parameters, struct parameter parameter,
                              struct ar_arena *arena, struct ar_error *err);

/** Adds those of a loaded scenario. */
enum ar_status parameters_add_scenario(struct parameters *parameters,
                                       const struct ar_scenario *scenario, struct ar_arena *arena,
                                       struct ar_error *err);

#endif
