#include "made_by.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_hash.h"
#include "ar_text.h"

enum { LOOKED_AT_BYTES = 4096 };

static void write_option(FILE *file, const struct options *options, const struct option_row *row)
{
    const char *text;
    for (size_t i = 0; !row->is_shown_only && (text = option_given(options, row, i)) != NULL; i++) {
        fprintf(file, " --%s%s", row->name, row->placeholder != NULL ? " " : "");
        if (row->placeholder != NULL) {
            ar_write_shell_word(file, text);
        }
    }
}

/* The command line without the options that change nothing in files. */
static char *command_line(const struct options *options)
{
    struct option_row rows[OPTIONS_MAX];
    char *text = NULL;
    size_t bytes = 0;
    size_t count = options_list(options->command, rows);
    FILE *file = open_memstream(&text, &bytes);
    if (file == NULL) {
        return NULL;
    }
    fprintf(file, "allreckon %s", options->command->name);
    for (size_t i = 0; i < options->arguments_count; i++) {
        fputs(options->arguments[i][0] == '-' ? " ./" : " ", file); /* no option */
        ar_write_shell_word(file, options->arguments[i]);
    }
    for (size_t i = 0; i < count; i++) {
        write_option(file, options, &rows[i]);
    }
    fclose(file);
    return ar_arena_own(options->arena, text, free);
}

const char *made_by(const struct options *options)
{
    uint64_t hash = AR_HASH_BEGIN;
    const char *line = command_line(options);
    if (line == NULL) {
        return NULL;
    }
    ar_hash_text(&hash, line);
    return ar_arena_format(options->arena, "allreckon %s, command %016" PRIx64,
                           options->command->name, hash);
}

const char *made_by_with_command(const struct options *options, const char *comment)
{
    const char *line = command_line(options), *mark = made_by(options);
    return line == NULL || mark == NULL || strchr(line, '\n') != NULL
               ? mark
               : ar_arena_format(options->arena, "%s\n%s%s", mark, comment, line);
}

/* Whether a mark stands in the first or the last bytes of a file. */
static bool has_mark(const char *path, const char *mark)
{
    char bytes[2 * LOOKED_AT_BYTES];
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size_t count = fread(bytes, 1, LOOKED_AT_BYTES, file);
    if (fseek(file, -LOOKED_AT_BYTES, SEEK_END) == 0) {
        count += fread(bytes + count, 1, LOOKED_AT_BYTES, file);
    }
    fclose(file);
    return memmem(bytes, count, mark, strlen(mark)) != NULL;
}

bool made_by_is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static enum ar_status refuse(const char *path, struct ar_error *err)
{
    return ar_error_set(
        err, AR_USAGE,
        "%.300s: found the output of another command%s; expected --force to overwrite "
        "it, or another --out",
        path, has_mark(path, ", command ") ? "" : ", or a file of your own");
}

/* The mark, if the output has a name. */
static enum ar_status make_mark(const struct options *options, const char *path,
                                const char *expected, const char **mark, struct ar_error *err)
{
    if (path[0] == '\0') {
        return ar_error_set(err, AR_USAGE, "--out: found \"\"; expected %s", expected);
    }
    *mark = made_by(options);
    return *mark != NULL ? AR_OK : ar_error_no_memory(err, "the command line");
}

enum ar_status made_by_check_file(const struct options *options, const char *path,
                                  struct ar_error *err)
{
    const char *mark;
    if (path == NULL) {
        return AR_OK;
    }
    AR_TRY(make_mark(options, path, "a file name", &mark, err));
    bool is_kept = !options->force && made_by_is_file(path) && !has_mark(path, mark);
    return is_kept ? refuse(path, err) : AR_OK;
}

static char *path_in(const struct options *options, const char *name)
{
    return ar_arena_format(options->arena, "%s/%s", options->out, name);
}

bool made_by_has_mark(const struct options *options, const char *mark)
{
    const char *path = path_in(options, "command.txt");
    return path != NULL && has_mark(path, mark);
}

static void remove_if_empty(void *path)
{
    rmdir(path);
}

/* Makes the directory, which goes again if the command leaves nothing in it. */
static enum ar_status make_directory(const struct options *options, struct ar_error *err)
{
    char *path = ar_arena_text(options->arena, options->out);
    bool is_there = access(options->out, F_OK) == 0;
    AR_TRY(ar_make_directory(options->out, err));
    if (!is_there &&
        (path == NULL || ar_arena_own(options->arena, path, remove_if_empty) == NULL)) {
        return ar_error_no_memory(err, "the directory");
    }
    return access(options->out, W_OK | X_OK) == 0
               ? AR_OK
               : ar_error_set(err, AR_IO, "%s: cannot write: %s", options->out, strerror(errno));
}

static enum ar_status refuse_file(const struct options *options, const char *name,
                                  struct ar_error *err)
{
    const char *path = path_in(options, name);
    AR_NEED(path, err, options->out);
    return made_by_is_file(path) ? refuse(path, err) : AR_OK;
}

enum ar_status made_by_check_directory(const struct options *options, const char *const *names,
                                       const char *more, struct ar_error *err)
{
    const char *mark;
    if (options->out == NULL) {
        return AR_OK;
    }
    AR_TRY(make_mark(options, options->out, "a directory", &mark, err));
    bool is_ours =
        made_by_has_mark(options, mark) || (more != NULL && made_by_has_mark(options, more));
    if (options->force || is_ours) {
        return make_directory(options, err);
    }
    AR_TRY(refuse_file(options, "command.txt", err));
    AR_TRY(refuse_file(options, "parameters.csv", err));
    for (; *names != NULL; names++) {
        AR_TRY(refuse_file(options, *names, err));
    }
    return make_directory(options, err);
}

/* The text of an option, of several joined by blanks; NULL: it is not given and has no default. */
static const char *text_of(const struct options *options, const struct option_row *row,
                           bool *is_given)
{
    const char *text = NULL, *next;
    for (size_t i = 0; (next = option_given(options, row, i)) != NULL; i++) {
        text = text == NULL ? next : ar_arena_format(options->arena, "%s %s", text, next);
    }
    *is_given = text != NULL;
    return text != NULL ? text : row->standard;
}

/* Whether a default counts: that of an option of what the command line asks for. A run file, or a
 * published row, may have others. */
static bool is_default_known(const struct options *options, const struct option_row *row)
{
    bool is_bare = option_key(options, AR_KEY_PAYLOAD) != NULL || options->payloads != NULL;
    unsigned uses = option_key(options, AR_KEY_WORKLOAD) != NULL ? AR_KEY_OF_LAYOUT
                    : option_key(options, AR_KEY_TRACE) != NULL  ? AR_KEY_OF_STEP
                    : is_bare                                    ? AR_KEY_OF_BARE
                                                                 : 0;
    uses |= uses != 0 ? AR_KEY_OF_COLLECTIVE : 0;
    return !row->is_key || (ar_keys[row->key].uses & uses) != 0;
}

/* Whether the command itself says what an option stands for. */
static bool is_said(const struct parameters *more, const char *name)
{
    for (size_t i = 0; more != NULL && i < more->count; i++) {
        if (strcmp(more->list[i].parameter, name) == 0) {
            return true;
        }
    }
    return false;
}

static enum ar_status add_options(const struct options *options, const struct parameters *more,
                                  struct parameters *parameters, struct ar_error *err)
{
    struct option_row rows[OPTIONS_MAX];
    size_t count = options_list(options->command, rows);
    for (size_t i = 0; i < count; i++) {
        char name[80];
        bool is_given = false;
        const char *text = rows[i].is_shown_only ? NULL : text_of(options, &rows[i], &is_given);
        snprintf(name, sizeof name, "--%s", rows[i].name);
        if (text != NULL && !is_said(more, name) &&
            (is_given || is_default_known(options, &rows[i]))) {
            const struct parameter option = {name, text, is_given ? "command line" : "default"};
            AR_TRY(parameters_add(parameters, option, options->arena, err));
        }
    }
    return AR_OK;
}

static enum ar_status write_parameters(const struct options *options, const struct parameters *more,
                                       struct ar_error *err)
{
    struct parameters parameters = {0};
    AR_TRY(add_options(options, more, &parameters, err));
    for (size_t i = 0; more != NULL && i < more->count; i++) {
        AR_TRY(parameters_add(&parameters, more->list[i], options->arena, err));
    }
    return ar_records_save(options->out, "parameters.csv", parameter_columns, parameters.list,
                           parameters.count, sizeof *parameters.list, err);
}

/* What was noted so far, a line each, as `note: ...`. */
static void write_notes(FILE *file, const struct options *options)
{
    static const char begin[] = "allreckon: ";
    fflush(options->notes);
    for (const char *at = *options->notes_text; at != NULL && *at != '\0';) {
        at += strncmp(at, begin, sizeof begin - 1) == 0 ? sizeof begin - 1 : 0;
        size_t size = strcspn(at, "\n");
        fprintf(file, "%.*s\n", (int)size, at);
        at += size + (at[size] == '\n');
    }
}

enum ar_status made_by_sign(const struct options *options, const char *more,
                            const struct parameters *parameters, struct ar_error *err)
{
    struct ar_output *output;
    const char *line = command_line(options);
    const char *mark = made_by(options);
    AR_NEED(line && mark, err, "the command line");
    AR_TRY(write_parameters(options, parameters, err));
    AR_TRY(ar_output_begin_in(options->out, "command.txt", options->arena, &output, err));
    fprintf(output->file, "%s\n%s\n%s\n", line, mark, more != NULL ? more : "");
    write_notes(output->file, options);
    return ar_output_commit(output, err);
}

enum ar_status made_by_begin(const struct options *options, struct ar_output **output,
                             const char **mark, struct ar_error *err)
{
    *mark = made_by(options);
    AR_NEED(*mark, err, "the command line");
    if (options->out != NULL) {
        return ar_output_begin(options->out, options->arena, output, err);
    }
    *output = ar_arena_alloc(options->arena, 1, sizeof **output);
    AR_NEED(*output, err, "stdout");
    (*output)->file = stdout;
    return AR_OK;
}

enum ar_status made_by_end(struct ar_output *output, struct ar_error *err)
{
    return output->file == stdout ? AR_OK : ar_output_commit(output, err);
}
