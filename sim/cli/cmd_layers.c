/* compare of what was measured on one GPU and what cost tables say: layers, and single kernels. */
#include <string.h>

#include "ar_csv.h"
#include "ar_kernel_comparison.h"
#include "ar_layer_comparison.h"
#include "ar_row.h"
#include "commands.h"
#include "made_by.h"

/* Finds the work and the cost table that directives of the trace name. */
static enum ar_status find_layers(const struct options *options, const struct ar_trace *measured,
                                  const struct ar_input **work, const struct ar_input **cost,
                                  struct ar_error *err)
{
    AR_REFUSE(!measured->is_timed || measured->work == NULL || measured->cost_table == NULL, err,
              AR_BAD_DATA,
              "%s: found %s; expected a trace of measured times with directives \"work\", the "
              "trace of its layers' work, and \"cost_table\", that of its GPU",
              measured->name, measured->is_timed ? "a trace without both" : "a table of work");
    AR_TRY(ar_inputs_find(options->inputs, RESOURCE_TRACE, "work", measured->work, work, err));
    AR_TRY(ar_inputs_find(options->inputs, RESOURCE_COST, "cost_table", measured->cost_table, cost,
                          err));
    AR_REFUSE(
        (*work)->trace->trace.is_timed ||
            !ar_device_cost_has_group((*cost)->cost, measured->precision, AR_COST_OF_KERNELS),
        err, AR_BAD_DATA,
        "%s: found work %s in %s; expected a table of work, and a precision that cost table %s has",
        measured->name, measured->work, ar_precision_names[measured->precision],
        measured->cost_table);
    return AR_OK;
}

static enum ar_status compare_layers(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    const struct ar_input *input, *work = NULL, *cost = NULL;
    struct ar_trace *computed;
    struct ar_layer_comparison comparison;
    struct parameters parameters = {.arena = options->arena};
    AR_TRY(option_view(options, ar_compared_layer_columns, &view, err));
    AR_TRY(option_refuse_others(options, 0, "a trace of measured times", err));
    AR_REFUSE(
        options->algorithm != NULL || options->engine != NULL, err, AR_USAGE,
        "compare: found --algorithm or --engine; expected none with a trace of measured times");
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
        parameters_add(&parameters, inputs[i]);
    }
    ar_note(option_notes(options), "%s", subject);
    if (options->out != NULL) {
        AR_TRY(made_by_check_directory(options, "layers.csv kinds.csv", NULL, err));
        AR_TRY(ar_records_save(options->out, "layers.csv", ar_compared_layer_columns,
                               comparison.layers, comparison.layers_count, err));
        AR_TRY(ar_records_save(options->out, "kinds.csv", ar_compared_kind_columns,
                               comparison.kinds, comparison.kinds_count, err));
        AR_TRY(made_by_sign(options, NULL, &parameters, err));
        AR_TRY(option_draw(options, AR_PLOT_LAYERS, subject, err));
    }
    ar_note_flush(option_notes(options));
    ar_layer_comparison_write(stdout, &view, &comparison);
    return AR_OK;
}

/* --- single kernels ------------------------------------------------------------------------ */

static enum ar_status compare_kernels(const struct options *options, const struct ar_csv *csv,
                                      struct ar_error *err)
{
    struct ar_view view;
    struct ar_measured_kernels kernels;
    AR_TRY(option_view(options, ar_kernel_error_columns, &view, err));
    AR_TRY(option_refuse_others(options, 0, "a table of measured kernels", err));
    AR_REFUSE(
        options->algorithm != NULL || options->engine != NULL || options->out != NULL, err,
        AR_USAGE,
        "compare: found --algorithm, --engine or --out; expected none with a table of kernels");
    AR_TRY(ar_measured_kernels_read(csv, &kernels, err));
    double *errors = ar_arena_alloc(options->arena, kernels.count, sizeof *errors);
    struct ar_kernel_error *sums = ar_arena_alloc(options->arena, kernels.count, sizeof *sums);
    size_t sums_count = 0;
    for (size_t i = 0; i < kernels.count; i++) {
        const struct ar_measured_kernel *kernel = &kernels.list[i];
        const char *precision = ar_precision_names[kernel->precision];
        bool is_known = false;
        for (size_t j = 0; j < sums_count && !is_known; j++) {
            is_known =
                strcmp(sums[j].gpu, kernel->gpu) == 0 && strcmp(sums[j].precision, precision) == 0;
        }
        if (!is_known) {
            char where[AR_CSV_WHERE + 32];
            const struct ar_input *input;
            ar_csv_where(kernels.csv, i, where);
            strcat(where, ": column \"gpu\"");
            AR_TRY(ar_inputs_find(options->inputs, RESOURCE_COST, where,
                                  ar_kernel_cost_name(kernel->gpu), &input, err));
            bool has_products =
                ar_device_cost_has_group(input->cost, kernel->precision, AR_COST_OF_PRODUCTS);
            bool has_attention = ar_device_cost_has_group(
                input->cost, ar_attention_precision(kernel->precision), AR_COST_OF_ATTENTION);
            AR_CSV_REFUSE(!has_products || (kernels.are_attention && !has_attention), kernels.csv,
                          i, "precision", err, "a precision of cost table %s (%s)%s",
                          input->cost->name, AR_SHOW_PRECISIONS(input->cost),
                          kernels.are_attention ? " that has attention" : "");
            sums[sums_count++] = ar_kernel_error_of(
                &kernels, kernel, ar_device_cost_single(input->cost, options->arena), errors);
        }
    }
    ar_note_flush(option_notes(options));
    ar_records_write(stdout, &view, ar_kernel_error_columns, sums, sums_count);
    return AR_OK;
}

enum ar_status command_compare_one(const struct options *options, bool *is_taken,
                                   struct ar_error *err)
{
    const char *name = options->arguments[0];
    char path[RESOURCE_PATH];
    struct ar_csv *csv;
    *is_taken = true;
    if (options->arguments_count == 1 &&
        resource_find(RESOURCE_TRACE, "compare", name, path, AR_IGNORED) == AR_OK &&
        ar_csv_load(path, options->arena, &csv, AR_IGNORED) == AR_OK &&
        ar_csv_find_column(csv, "layer") != SIZE_MAX) {
        return compare_layers(options, err);
    }
    if (options->arguments_count == 1 &&
        ar_csv_load(name, options->arena, &csv, AR_IGNORED) == AR_OK && ar_kernels_are_in(csv)) {
        return compare_kernels(options, csv, err);
    }
    *is_taken = false;
    return AR_OK;
}
