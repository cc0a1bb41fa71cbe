/* discover: a cluster file from what machines say of themselves. */
#include "ar_discover.h"
#include "ar_note.h"
#include "ar_text.h"
#include "commands.h"
#include "made_by.h"

/* --fabric is a word for a key. */
static enum ar_status read_fabric(const char *word, const char **setting, struct ar_error *err)
{
    const char *words[AR_DISCOVER_FABRICS_COUNT + 1] = {NULL};
    unsigned place;
    for (size_t i = 0; i < AR_DISCOVER_FABRICS_COUNT; i++) {
        words[i] = ar_discover_fabrics[i].word;
    }
    AR_TRY(ar_error_as_usage(ar_parse_choice("--fabric", word, words, &place, err), err));
    *setting = ar_discover_fabrics[place].setting;
    return AR_OK;
}

static enum ar_status take_settings(const struct options *options, struct ar_settings *settings,
                                    struct ar_error *err)
{
    const struct option_values *sets = &options->keys[AR_KEY_SET];
    struct ar_setting *list = ar_arena_alloc(options->arena, sets->count + 2, sizeof *list);
    size_t count = 0;
    AR_NEED(list, err, "settings");
    if (options->nodes != NULL) {
        list[count++] = (struct ar_setting){
            ar_arena_format(options->arena, "nodes=%s", options->nodes), "--nodes", AR_USAGE};
        AR_NEED(list[0].text, err, "settings");
    }
    if (options->fabric != NULL) {
        list[count] = (struct ar_setting){NULL, "--fabric", AR_USAGE};
        AR_TRY(read_fabric(options->fabric, &list[count++].text, err));
    }
    for (size_t i = 0; i < sets->count; i++) {
        list[count++] = (struct ar_setting){sets->texts[i], "--set", AR_USAGE};
    }
    *settings = (struct ar_settings){list, count};
    return AR_OK;
}

enum ar_status command_discover(const struct options *options, struct ar_error *err)
{
    char name[64] = "discovered";
    struct ar_settings settings;
    struct ar_discovery *discovery = NULL;
    struct ar_output *output;
    const char *mark;
    struct ar_topo *topo = NULL;
    if (options->arguments_count == 0) {
        return ar_error_set(err, AR_USAGE,
                            "discover: found no file; expected what a machine says of itself, such "
                            "as a topology file of NCCL");
    }
    if (options->out != NULL) {
        ar_copy_stem(name, sizeof name, options->out, ".topo");
        AR_TRY(made_by_check_file(options, options->out, err));
    }
    AR_TRY(take_settings(options, &settings, err));
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
