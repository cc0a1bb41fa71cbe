/** \file commands.h
 * The commands: a name here, a row of help in commands.c, a function in a source file cmd_*.c.
 * `collective` is the command of every operation, by its name.
 */
#pragma once

#include "ar_kind.h"
#include "ar_plot.h"
#include "options.h"

#define COMMAND_LIST(X)                                                                            \
    X(list)                                                                                        \
    X(collective)                                                                                  \
    X(predict)                                                                                     \
    X(boxing)                                                                                      \
    X(train)                                                                                       \
    X(sweep)                                                                                       \
    X(plot)                                                                                        \
    X(report)                                                                                      \
    X(explain)                                                                                     \
    X(advise)                                                                                      \
    X(diagnose)                                                                                    \
    X(links)                                                                                       \
    X(calibrate)                                                                                   \
    X(compare)                                                                                     \
    X(expect)                                                                                      \
    X(accuracy)                                                                                    \
    X(reproduce)                                                                                   \
    X(trace)                                                                                       \
    X(discover)                                                                                    \
    X(export)                                                                                      \
    X(verify)

#define COMMAND_NUMBER(name) COMMAND_##name,
enum command_number { COMMAND_LIST(COMMAND_NUMBER) };

#define DECLARE_COMMAND(name)                                                                      \
    enum ar_status command_##name(const struct options *options, struct ar_error *err);
COMMAND_LIST(DECLARE_COMMAND)
/** Runs a sweep whose rows are handed over (sweep_request.take) in place of being printed, and that
 * begins anew where one was interrupted. `given`: the options of the command line, which the files
 * of the sweep name. */
typedef enum ar_status (*sweep_taker)(void *taker, const struct ar_row *row,
                                      const struct ar_scenario *scenario, struct ar_error *err);
enum ar_status command_sweep_for(const struct options *options, const struct options *given,
                                 sweep_taker take, void *taker, struct ar_error *err);
/** Compares the only argument with what cost tables say, if it is (`*is_taken`) a trace of measured
 * times or a table of measured kernels. */
enum ar_status command_compare_one(const struct options *options, bool *is_taken,
                                   struct ar_error *err);

/* --- what commands about one scenario share: from the command line to a loaded one --- */

/** Whether the command line is about a step that needs no trace, or no all-reduce: a workload,
 * operators, or a strategy that puts parts of a model on workers. */
bool option_needs_no_trace(const struct options *options);

/** Requires a cluster, and a trace, unless the command line is about such a step. */
enum ar_status option_require_step(const struct options *options, struct ar_error *err);

/** Requires a cluster and, unless the command line is about such a step, either --payload, for one
 * collective, or
 * --trace, for a training step. */
enum ar_status option_require_work(const struct options *options, struct ar_error *err);

/** Refuses an engine without messages, for commands that are about them. */
enum ar_status option_check_messages(const struct options *options,
                                     const struct ar_scenario *scenario, struct ar_error *err);

/** The scenario of a command line that has at least a cluster, GPUs and an algorithm, loaded. */
enum ar_status options_load(const struct options *options, struct ar_scenario *scenario,
                            struct ar_error *err);

/** Runs the job of a scenario, for timeline_write_trace(): with marks of some ranks where buckets
 * are sent, else its tasks are shown. All is the arena's of the options. */
enum ar_status options_run_timeline(const struct options *options,
                                    const struct ar_scenario *scenario, struct ar_job *job,
                                    struct ar_timing *timing, struct ar_row *row,
                                    struct ar_error *err);

/** Writes DIR/step.csv of --out, rows of steps or collectives, and signs the directory. */
#define OPTION_ROWS_FILE "step.csv"
enum ar_status option_save_rows(const struct options *options, const struct ar_scenario *scenario,
                                const struct ar_row *rows, size_t count, struct ar_error *err);

/** Draws the files in --out, and notes what was drawn, or why not. */
enum ar_status option_draw(const struct options *options, enum ar_plot_set set, const char *subject,
                           struct ar_error *err);
