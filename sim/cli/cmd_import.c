/* trace: a profile becomes a trace. discover: the texts of a machine become a cluster file. */
#include <string.h>

#include "ar_csv.h"
#include "ar_discover.h"
#include "ar_kineto.h"
#include "ar_row.h"
#include "ar_text.h"
#include "ar_units.h"
#include "commands.h"
#include "made_by.h"

enum ar_status command_trace(const struct options *options, struct ar_error *err)
{
    const char *path = options->arguments[1], *mark;
    char shown[64];
    struct ar_output *output;
    struct ar_kineto_request request;
    struct ar_kineto_step *step = NULL;
    AR_REFUSE(strcmp(options->arguments[0], "import") != 0, err, AR_USAGE,
              "trace: found argument %s; expected import FILE", options->arguments[0]);
    AR_TRY(option_required(options, "out", options->out, err));
    unsigned times = 0, precision = 0;
    uint64_t batch = 0;
    request = (struct ar_kineto_request){.has_precision = options->precision != NULL};
    AR_TRY(option_count("--batch", options->batch, 1, AR_TRACE_BATCH_MAX, &batch, err));
    if (options->precision != NULL) {
        AR_TRY(ar_error_blame(
            ar_parse_choice("--precision", options->precision, ar_precision_names, &precision, err),
            AR_USAGE, err));
    }
    AR_TRY(ar_error_blame(
        ar_parse_choice("--times", options->times, ar_kineto_times_names, &times, err), AR_USAGE,
        err));
    request.batch = (uint32_t)batch;
    request.precision = (enum ar_precision)precision;
    request.times = (enum ar_kineto_times)times;
    AR_TRY(made_by_check_file(options, options->out, err));
    AR_TRY(ar_kineto_load(path, &request, options->arena, &step, err));
    AR_TRY(made_by_begin(options, &output, &mark, err));
    ar_csv_show(basename(path), shown);
    fprintf(output->file, "# %s\n# trace of the PyTorch profiler: %s\n# GPU: %s\n", mark, shown,
            step->gpu);
    ar_trace_write(output->file, &step->trace);
    AR_TRY(made_by_end(output, err));
    for (size_t i = 0; i < step->notes_count; i++) {
        ar_note(option_notes(options), "%s", step->notes[i]);
    }
    return AR_OK;
}

/* --- discover --------------------------------------------------------------------------------- */

enum ar_status command_discover(const struct options *options, struct ar_error *err)
{
    char name[64] = "discovered";
    struct ar_settings settings;
    struct ar_discovery *discovery = NULL;
    struct ar_output *output;
    const char *mark;
    struct ar_topo *topo = NULL;
    if (options->out != NULL) {
        ar_copy_stem(name, sizeof name, options->out, ".topo");
        AR_TRY(made_by_check_file(options, options->out, err));
    }
    /* The settings of --nodes, --fabric, a word for a setting of a key, and --set. */
    const struct option_values *sets = &options->keys[AR_KEY_SET];
    struct ar_setting *list = ar_arena_alloc(options->arena, sets->count + 2, sizeof *list);
    size_t count = 0;
    if (options->nodes != NULL) {
        const char *text = ar_arena_format(options->arena, "nodes=%s", options->nodes);
        list[count++] = (struct ar_setting){text, "--nodes", AR_USAGE};
    }
    if (options->fabric != NULL) {
        const char *words[AR_DISCOVER_FABRICS_COUNT + 1] = {NULL};
        unsigned place;
        for (size_t i = 0; i < AR_DISCOVER_FABRICS_COUNT; i++) {
            words[i] = ar_discover_fabrics[i].word;
        }
        AR_TRY(ar_error_blame(ar_parse_choice("--fabric", options->fabric, words, &place, err),
                              AR_USAGE, err));
        list[count++] =
            (struct ar_setting){ar_discover_fabrics[place].setting, "--fabric", AR_USAGE};
    }
    for (size_t i = 0; i < sets->count; i++) {
        list[count++] = (struct ar_setting){sets->texts[i], "--set", AR_USAGE};
    }
    settings = (struct ar_settings){list, count};
    AR_TRY(ar_discover_begin(settings, options->arena, &discovery, err));
    for (size_t i = 0; i < options->arguments_count; i++) {
        AR_TRY(ar_discover_read(discovery, options->arguments[i], err));
    }
    enum ar_status status = ar_discover_finish(discovery, name, &topo, err);
    for (const char *const *note = ar_discover_notes(discovery); *note != NULL; note++) {
        ar_note(option_notes(options), "%s", *note); /* they say why something is missing, too */
    }
    ar_note_flush(option_notes(options));
    AR_TRY(status);
    AR_TRY(made_by_begin(options, &output, &mark, err));
    fprintf(output->file, "# %s\n", mark);
    ar_topo_write(topo, output->file);
    return made_by_end(output, err);
}
