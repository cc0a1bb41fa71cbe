/** \file explain.h
 * A step, or one collective, that was run, split into its terms, each parameter with its source.
 */
#ifndef AR_EXPLAIN_H
#define AR_EXPLAIN_H

#include "ar_run.h"

/** Writes where the time of a step goes, to stdout: the iteration, its buckets, the all-reduces by
 * the closed form or by calls of the library, all buckets summed up, and the parameters; of a
 * strategy without buckets what it sends. */
enum ar_status explain_step(const struct ar_scenario *scenario, const struct ar_timing *timing,
                            struct ar_error *err);

/** Writes the graph of a step: where the time of each role goes, and what is sent. */
enum ar_status explain_graph(const struct ar_timing *timing, struct ar_error *err);

/** Writes where the time of a step of a workload goes, to stdout: stages, what is sent, kernels of
 * a layer; of placed operators devices, and what is sent. */
enum ar_status explain_layout(const struct ar_scenario *scenario, const struct ar_timing *timing,
                              const struct ar_row *row, struct ar_error *err);

/** Writes where the time of a step with servers goes, to stdout: workers, what they send, bounds.
 */
void explain_servers(const struct ar_timing *timing, const struct ar_row *row);

/** Writes where the time of one collective goes, to stdout: as above without a step, and who shares
 * the link that is the busiest. */
enum ar_status explain_collective(const struct ar_scenario *scenario,
                                  const struct ar_timing *timing, const struct ar_row *row,
                                  struct ar_error *err);

/** Writes every term of the framework that is on, its value and source, and how much longer the
 * step takes than with that term alone at its default, everything else being the same. Each such
 * step is really run, several at a time; `shows_progress` draws how far they are on a terminal.
 * `iteration_s` is that of the step with all terms. */
enum ar_status explain_terms(const struct ar_scenario *scenario, struct ar_inputs *inputs,
                             double iteration_s, bool shows_progress, struct ar_error *err);

/** How long that will take, in estimated seconds. */
double explain_terms_cost_s(const struct ar_scenario *scenario);

#endif
