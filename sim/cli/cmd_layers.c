/* compare of a trace of measured times: its layers beside those that a cost table predicts. */
#include <string.h>

#include "ar_csv.h"
#include "ar_file.h"
#include "ar_layer_comparison.h"
#include "ar_note.h"
#include "commands.h"
#include "made_by.h"

bool command_layers_takes(const struct options *options)
{
    char path[RESOURCE_PATH];
    struct ar_csv *csv;
    struct ar_error ignored;
    return options->arguments_count == 1 &&
           resource_find(RESOURCE_TRACE, "compare", options->arguments[0], path, &ignored) ==
               AR_OK &&
           ar_csv_load(path, options->arena, &csv, &ignored) == AR_OK &&
           ar_csv_has_column(csv, "layer");
}

/* Finds the work and the cost table that directives of the trace name. */
static enum ar_status find_layers(const struct options *options, const struct ar_trace *measured,
                                  const struct ar_input **work, const struct ar_input **cost,
                                  struct ar_error *err)
{
    if (!measured->is_timed || measured->work == NULL || measured->cost_table == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found %s; expected a trace of measured times with directives "
                            "\"work\", the trace of its layers' work, and \"cost_table\", that of "
                            "its GPU",
                            measured->name,
                            measured->is_timed ? "a trace without both" : "a table of work");
    }
    AR_TRY(ar_inputs_find(options->inputs, RESOURCE_TRACE, "work", measured->work, work, err));
    AR_TRY(ar_inputs_find(options->inputs, RESOURCE_COST, "cost_table", measured->cost_table, cost,
                          err));
    return !(*work)->trace->trace.is_timed && ar_device_cost_has((*cost)->cost, measured->precision)
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "%s: found work %s in %s; expected a table of work, and a precision "
                              "that cost table %s has",
                              measured->name, measured->work,
                              ar_precision_names[measured->precision], measured->cost_table);
}

static enum ar_status save_layers(const struct options *options,
                                  const struct ar_layer_comparison *comparison,
                                  struct ar_error *err)
{
    struct ar_output *rows, *kinds;
    const struct ar_view *view = AR_VIEW(AR_FORMAT_CSV);
    AR_TRY(ar_output_begin_in(options->out, "layers.csv", options->arena, &rows, err));
    AR_TRY(ar_output_begin_in(options->out, "kinds.csv", options->arena, &kinds, err));
    ar_layer_comparison_write(rows->file, view, comparison);
    ar_layer_comparison_write_kinds(kinds->file, view, comparison);
    AR_TRY(ar_output_commit(rows, err));
    return ar_output_commit(kinds, err);
}

enum ar_status command_layers(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    const struct ar_input *input, *work = NULL, *cost = NULL;
    struct ar_trace *computed;
    struct ar_layer_comparison comparison;
    struct parameters parameters = {0};
    AR_TRY(option_view(options, ar_compared_layer_columns, &view, err));
    AR_TRY(option_refuse_others(options, 0, "a trace of measured times", err));
    if (options->algorithm != NULL || options->engine != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "compare: found --algorithm or --engine; expected none with a "
                            "trace of measured times");
    }
    AR_TRY(ar_inputs_find(options->inputs, RESOURCE_TRACE, "compare", options->arguments[0], &input,
                          err));
    const struct ar_trace *measured = &input->trace->trace;
    const char *precision = ar_precision_names[measured->precision];
    const struct ar_trace_request request = {.batch = measured->batch,
                                             .precision = measured->precision};
    AR_TRY(find_layers(options, measured, &work, &cost, err));
    AR_TRY(ar_trace_create(work->trace, cost->cost, &request, options->arena, &computed, err));
    AR_TRY(ar_layer_comparison_make(measured, computed, work->trace, options->arena, &comparison,
                                    err));
    const char *subject =
        ar_arena_format(options->arena, "%s, %s, batch of %u, computed by cost table %.60s",
                        measured->name, precision, measured->batch, cost->cost->name);
    const struct parameter inputs[] = {
        {"measured times", measured->name, measured->source},
        {"layers", work->trace->trace.name, work->trace->trace.source},
        {"cost table", cost->cost->name, cost->cost->source}};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        parameters_add(&parameters, inputs[i], options->arena);
    }
    ar_note(option_notes(options), "%s", subject);
    if (options->out != NULL) {
        AR_TRY(made_by_check_directory(
            options, (const char *const[]){"layers.csv", "kinds.csv", NULL}, NULL, err));
        AR_TRY(save_layers(options, &comparison, err));
        AR_TRY(made_by_sign(options, NULL, &parameters, err));
        AR_TRY(option_draw(options, AR_PLOT_LAYERS, subject, err));
    }
    ar_note_flush(option_notes(options));
    ar_layer_comparison_write(stdout, &view, &comparison);
    return AR_OK;
}
