/* compare of a trace of measured times: its layers beside those that a cost table predicts. */
#include <string.h>

#include "ar_csv.h"
#include "ar_layer_comparison.h"
#include "ar_note.h"
#include "ar_output.h"
#include "cmd_run.h"
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

/* A trace of measured times, and the layers that its cost table predicts. */
struct compared_layers {
    const struct ar_trace *measured;
    const struct ar_trace_file *work; /* of its layers */
    const struct ar_device_cost *cost;
    struct ar_trace *computed;
    struct ar_layer_comparison comparison;
};

/* Computes the layers from the work and the cost table that directives of the trace name. */
static enum ar_status compare_layers(const struct options *options, struct compared_layers *layers,
                                     struct ar_error *err)
{
    const struct ar_trace *measured = layers->measured;
    const struct ar_trace_request request = {.batch = measured->batch,
                                             .precision = measured->precision};
    const struct ar_input *work, *cost;
    if (!measured->is_timed || measured->work == NULL || measured->cost_table == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found %s; expected a trace of measured times with directives "
                            "\"work\", the trace of its layers' work, and \"cost_table\", that of "
                            "its GPU",
                            measured->name,
                            measured->is_timed ? "a trace without both" : "a table of work");
    }
    AR_TRY(ar_inputs_find(options->inputs, RESOURCE_TRACE, "work", measured->work, &work, err));
    AR_TRY(ar_inputs_find(options->inputs, RESOURCE_COST, "cost_table", measured->cost_table, &cost,
                          err));
    if (work->trace->trace.is_timed || !ar_device_cost_has(cost->cost, measured->precision)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found work %s in %s; expected a table of work, and a precision "
                            "that cost table %s has",
                            measured->name, measured->work, ar_precision_names[measured->precision],
                            measured->cost_table);
    }
    layers->work = work->trace;
    layers->cost = cost->cost;
    AR_TRY(ar_trace_create(layers->work, layers->cost, &request, options->arena, &layers->computed,
                           err));
    return ar_layer_comparison_make(measured, layers->computed, layers->work, options->arena,
                                    &layers->comparison, err);
}

/* Adds the values of the cost table that hold in the precision of the trace. */
static enum ar_status add_cost_values(const struct ar_trace *measured,
                                      struct parameters *parameters, struct ar_arena *arena,
                                      struct ar_error *err)
{
    static const char *const names[] = {"quantity", "precision", "value", "unit", "source"};
    const char *cells[sizeof names / sizeof names[0]], *precision;
    char path[RESOURCE_PATH];
    struct ar_csv *csv;
    precision = ar_precision_names[measured->precision];
    AR_TRY(resource_find(RESOURCE_COST, "cost_table", measured->cost_table, path, err));
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            cells[i] = ar_csv_cell(csv, row, ar_csv_find_column(csv, names[i]));
        }
        if (strcmp(cells[1], "any") == 0 || strcmp(cells[1], precision) == 0) {
            bool has_unit = strcmp(cells[3], "1") != 0;
            const char *value = ar_arena_format(arena, "%s%s%s", cells[2], has_unit ? " " : "",
                                                has_unit ? cells[3] : "");
            parameters_add(parameters, (struct parameter){cells[0], value, cells[4]}, arena);
        }
    }
    return AR_OK;
}

static enum ar_status save_layers(const struct options *options,
                                  const struct compared_layers *layers, struct ar_error *err)
{
    struct ar_output *rows, *kinds;
    const struct ar_view *view = AR_VIEW(AR_FORMAT_CSV);
    const struct ar_trace *measured = layers->measured, *work = &layers->work->trace;
    const struct parameter inputs[] = {{"measured times", measured->name, measured->source},
                                       {"layers", work->name, work->source},
                                       {"cost table", layers->cost->name, layers->cost->source}};
    struct parameters parameters = {0};
    AR_TRY(ar_output_begin_in(options->out, "layers.csv", options->arena, &rows, err));
    AR_TRY(ar_output_begin_in(options->out, "kinds.csv", options->arena, &kinds, err));
    ar_layer_comparison_write(rows->file, view, &layers->comparison);
    ar_layer_comparison_write_kinds(kinds->file, view, &layers->comparison);
    AR_TRY(ar_output_commit(rows, err));
    AR_TRY(ar_output_commit(kinds, err));
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        parameters_add(&parameters, inputs[i], options->arena);
    }
    AR_TRY(add_cost_values(measured, &parameters, options->arena, err));
    AR_TRY(made_by_sign(options, NULL, &parameters, err));
    return option_draw(options, AR_PLOT_LAYERS,
                       ar_arena_format(options->arena,
                                       "%s, %s, batch of %u, computed by cost table %.60s",
                                       measured->name, ar_precision_names[measured->precision],
                                       measured->batch, measured->cost_table),
                       err);
}

/* Refuses the own options of compare that are for collectives. */
static enum ar_status refuse_collective_options(const struct options *options, struct ar_error *err)
{
    const char *name = options->algorithm != NULL ? "--algorithm"
                       : options->engine != NULL  ? "--engine"
                                                  : NULL;
    return name == NULL ? AR_OK
                        : ar_error_set(err, AR_USAGE,
                                       "compare: found %s; expected none with a trace of measured "
                                       "times, see 'allreckon compare --help'",
                                       name);
}

enum ar_status command_layers(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    const struct ar_input *input;
    AR_TRY(option_view(options, ar_compared_layer_columns, &view, err));
    AR_TRY(option_refuse_others(options, 0, "a trace of measured times", err));
    AR_TRY(refuse_collective_options(options, err));
    AR_TRY(ar_inputs_find(options->inputs, RESOURCE_TRACE, "compare", options->arguments[0], &input,
                          err));
    struct compared_layers layers = {.measured = &input->trace->trace};
    AR_TRY(compare_layers(options, &layers, err));
    ar_note(option_notes(options), "%s beside %s by cost table %s, batch %u, %s",
            layers.measured->name, layers.computed->name, layers.cost->name, layers.measured->batch,
            ar_precision_names[layers.measured->precision]);
    if (options->out != NULL) {
        AR_TRY(made_by_check_directory(
            options, (const char *const[]){"layers.csv", "kinds.csv", NULL}, NULL, err));
        AR_TRY(save_layers(options, &layers, err));
    }
    ar_note_flush(option_notes(options));
    ar_layer_comparison_write(stdout, &view, &layers.comparison);
    return AR_OK;
}
