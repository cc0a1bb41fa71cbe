/* trace: what other programs recorded becomes a trace. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ar_csv.h"
#include "ar_inputs.h"
#include "ar_kineto.h"
#include "ar_note.h"
#include "ar_text.h"
#include "ar_units.h"
#include "cmd_run.h"
#include "commands.h"
#include "made_by.h"

static enum ar_status read_arguments(const struct options *options, const char **path,
                                     struct ar_error *err)
{
    bool is_import = options->arguments_count > 0 && strcmp(options->arguments[0], "import") == 0;
    if (!is_import) {
        return ar_error_set(err, AR_USAGE, "trace: found %s%.100s; expected import FILE",
                            options->arguments_count > 0 ? "argument " : "no argument",
                            options->arguments_count > 0 ? options->arguments[0] : "");
    }
    if (options->arguments_count < 2) {
        return ar_error_set(
            err, AR_USAGE, "trace import: found no file; expected a trace of the PyTorch profiler");
    }
    *path = options->arguments[1];
    if (options->out == NULL && access(*path, F_OK) != 0) {
        struct ar_kineto *none; /* its error comes first */
        return ar_kineto_load(*path, options->arena, &none, err);
    }
    return option_required(options, "out", options->out, err);
}

/* The trace whose tensors are the parameters; the cost table of the GPU. */
static enum ar_status find_inputs(const struct options *options, struct ar_kineto_request *request,
                                  struct ar_error *err)
{
    const struct ar_input *input;
    if (options->cost_table != NULL) {
        AR_TRY(ar_inputs_find(options->inputs, RESOURCE_COST, "--cost-table", options->cost_table,
                              &input, err));
        request->cost_table = options->cost_table;
    }
    if (options->parameters == NULL) {
        return AR_OK;
    }
    AR_TRY(ar_inputs_find(options->inputs, RESOURCE_TRACE, "--parameters", options->parameters,
                          &input, err));
    request->parameters = &input->trace->trace;
    return AR_OK;
}

static enum ar_status read_request(const struct options *options, struct ar_kineto_request *request,
                                   struct ar_error *err)
{
    unsigned times = 0, precision = 0;
    uint64_t batch = 0;
    *request = (struct ar_kineto_request){.has_precision = options->precision != NULL};
    AR_TRY(option_count("--batch", options->batch, 1, AR_TRACE_BATCH_MAX, &batch, err));
    if (options->precision != NULL) {
        AR_TRY(ar_error_as_usage(
            ar_parse_choice("--precision", options->precision, ar_precision_names, &precision, err),
            err));
    }
    AR_TRY(ar_error_as_usage(
        ar_parse_choice("--times", options->times, ar_kineto_times_names, &times, err), err));
    request->batch = (uint32_t)batch;
    request->precision = (enum ar_precision)precision;
    request->times = (enum ar_kineto_times)times;
    return find_inputs(options, request, err);
}

/* The file: who made it, and from what, is in its comments. */
static enum ar_status write_trace(const struct options *options, const char *path,
                                  const struct ar_kineto_step *step, struct ar_error *err)
{
    char shown[64];
    const char *folder = strrchr(path, '/');
    struct ar_output *output;
    const char *mark;
    AR_TRY(made_by_begin(options, &output, &mark, err));
    FILE *file = output->file;
    ar_csv_show(folder != NULL ? folder + 1 : path, shown);
    fprintf(file, "# %s\n# trace of the PyTorch profiler: %s\n# GPU: %s\n", mark, shown, step->gpu);
    for (size_t i = 0; i < step->collectives_count; i++) {
        const struct ar_kineto_collective *row = &step->collectives[i];
        if (row->payload_bytes != AR_NO_COUNT && row->ready_s >= 0) {
            fprintf(file, "# collective: %s, %" PRIu64 " B of %s, ready after %.9g s\n",
                    row->operation, row->payload_bytes, row->datatype, row->ready_s);
        }
    }
    ar_trace_write(file, &step->trace);
    return made_by_end(output, err);
}

enum ar_status command_trace(const struct options *options, struct ar_error *err)
{
    const char *path = NULL;
    struct ar_kineto_request request;
    struct ar_kineto *kineto;
    struct ar_kineto_step *step;
    struct ar_view view;
    AR_TRY(read_arguments(options, &path, err));
    AR_TRY(read_request(options, &request, err));
    AR_TRY(option_view(options, ar_kineto_collective_columns, &view, err));
    AR_TRY(made_by_check_file(options, options->out, err));
    AR_TRY(ar_kineto_load(path, options->arena, &kineto, err));
    AR_TRY(ar_kineto_step_create(kineto, &request, options->arena, &step, err));
    if (step->trace.work != NULL) {
        step->trace.work = options->parameters; /* a path stays one */
    }
    AR_TRY(write_trace(options, path, step, err));
    for (size_t i = 0; i < step->notes_count; i++) {
        ar_note(option_notes(options), "%s", step->notes[i]);
    }
    ar_records_write(stdout, &view, ar_kineto_collective_columns, step->collectives,
                     step->collectives_count, sizeof *step->collectives);
    return AR_OK;
}
