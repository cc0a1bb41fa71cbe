/** \file cmd_run.h
 * What the commands about one scenario share: from the command line to a loaded scenario.
 */
#ifndef AR_CMD_RUN_H
#define AR_CMD_RUN_H

#include "ar_kind.h"
#include "ar_plot.h"
#include "options.h"

/** Whether the command line is about a step that needs no trace, or no all-reduce: a workload,
 * operators, or a strategy that puts parts of a model on workers. */
bool option_is_laid_out(const struct options *options);

/** Requires a trace, unless the command line is about such a step. */
enum ar_status option_require_step(const struct options *options, struct ar_error *err);

/** Requires, unless the command line is about such a step, either --payload, for one collective, or
 * --trace, for a training step. */
enum ar_status option_require_work(const struct options *options, struct ar_error *err);

/** Refuses an engine without messages, for commands that are about them. */
enum ar_status option_check_messages(const struct options *options,
                                     const struct ar_scenario *scenario, struct ar_error *err);

/** The scenario of a command line that has at least a cluster, GPUs and an algorithm, loaded. */
enum ar_status options_load(const struct options *options, struct ar_scenario *scenario,
                            struct ar_error *err);

/** Draws the files in --out, and notes what was drawn, or why not. */
enum ar_status option_draw(const struct options *options, enum ar_plot_set set, const char *subject,
                           struct ar_error *err);

#endif
