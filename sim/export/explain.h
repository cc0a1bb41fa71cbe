/** \file explain.h
 * Where the time of a step, or of one collective, that was run goes; the inputs of a prediction
 * with their sources; the load of links.
 */
#ifndef AR_EXPLAIN_H
#define AR_EXPLAIN_H

#include "ar_arena.h"
#include "ar_kind.h"
#include "ar_link_load.h"
#include "ar_record.h"
#include "ar_timing.h"

/** Writes where the time goes, to stdout. A collective: the closed form or the calls of the
 * library, who shares the busiest link, and the parameters. A step of a trace: also the iteration
 * and its buckets, all summed up. A strategy without buckets, a workload, placed operators: roles
 * and messages. Servers: workers, messages, bounds. */
enum ar_status explain_timing(const struct ar_scenario *scenario, const struct ar_timing *timing,
                              const struct ar_row *row, struct ar_error *err);

/** The parts of that: the task graph of a step, a step of a workload or of operators, a step with
 * servers. */
void explain_graph(const struct ar_timing *timing, struct ar_arena *arena);
void explain_layout(const struct ar_scenario *scenario, const struct ar_timing *timing,
                    const struct ar_row *row);
void explain_servers(const struct ar_timing *timing, const struct ar_row *row);

/** Writes every term of the framework that is on, its value and source, and how much longer the
 * step, of `iteration_s` with all terms, takes than with that term alone at its default. */
enum ar_status explain_terms(const struct ar_scenario *scenario, struct ar_inputs *inputs,
                             double iteration_s, struct ar_error *err);

/** How long that will take, in estimated seconds. */
double explain_terms_cost_s(const struct ar_scenario *scenario);

/* --- parameters ------------------------------------------------------------------------------- */

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

/* --- loads of links --------------------------------------------------------------------------- */

/** Writes the link that is busy for the longest time of the row, and who shares it, without the end
 * of the line; false if no link carries a message. */
bool link_table_write_busiest(FILE *file, const struct ar_cluster *cluster,
                              const struct ar_link_load *loads, const struct ar_row *row);

/** Writes the links that carry some of `loads`, of all links of a cluster, for the row whose
 * all-reduces they are of. A table is the busiest link, then the busiest `top` of them; CSV and
 * JSON are all links. */
void link_table_write(FILE *file, const struct ar_view *view, const struct ar_cluster *cluster,
                      const struct ar_link_load *loads, const struct ar_row *row, uint64_t top,
                      struct ar_arena *arena);

#endif
