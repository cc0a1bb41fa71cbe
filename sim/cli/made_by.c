#include "made_by.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ar_hash.h"
#include "ar_output.h"
#include "option_rows.h"

enum { LOOKED_AT_BYTES = 4096, PATH_SIZE = sizeof((struct ar_output *)0)->path };

/* Writes a word as a shell would read it. */
static void write_word(FILE *file, const char *prefix, const char *word)
{
    bool is_plain = word[0] != '\0';
    for (const char *at = word; *at != '\0'; at++) {
        is_plain = is_plain && (isalnum((unsigned char)*at) || strchr("_@%+=:,./-", *at) != NULL);
    }
    fprintf(file, " %s", prefix);
    fputs(is_plain ? "" : "'", file);
    for (const char *at = word; *at != '\0'; at++) {
        fputs(*at == '\'' ? "'\\''" : (char[]){*at, '\0'}, file);
    }
    fputs(is_plain ? "" : "'", file);
}

static void write_option(FILE *file, const struct options *options, const struct option_row *row)
{
    const char *place = (const char *)options + row->offset;
    const struct option_values *values = &options->keys[row->key % AR_KEYS_COUNT];
    char prefix[48];
    snprintf(prefix, sizeof prefix, "--%s ", row->name);
    if (row->is_shown_only) {
        return;
    }
    for (size_t i = 0; row->is_key && i < values->count; i++) {
        write_word(file, prefix, values->texts[i]);
    }
    if (!row->is_key && row->placeholder == NULL && *(const bool *)place) {
        fprintf(file, " --%s", row->name);
    } else if (!row->is_key && row->placeholder != NULL) {
        const char *text = *(const char *const *)place;
        bool is_standard = row->standard != NULL && strcmp(text, row->standard) == 0;
        if (text != NULL && !is_standard) {
            write_word(file, prefix, text);
        }
    }
}

/* The command line without the options that change nothing in files. */
static char *command_line(const struct options *options)
{
    struct option_row rows[OPTIONS_MAX];
    char *text = NULL;
    size_t bytes = 0;
    size_t count = option_rows_of(options->command, rows);
    FILE *file = open_memstream(&text, &bytes);
    if (file == NULL) {
        return NULL;
    }
    fprintf(file, "allreckon %s", options->command->name);
    for (size_t i = 0; i < options->arguments_count; i++) {
        write_word(file, "", options->arguments[i]);
    }
    for (size_t i = 0; i < count; i++) {
        write_option(file, options, &rows[i]);
    }
    fclose(file);
    return ar_arena_own(options->arena, text, free);
}

const char *made_by(const struct options *options)
{
    uint64_t hash = ar_hash_begin();
    const char *line = command_line(options);
    if (line == NULL) {
        return NULL;
    }
    ar_hash_text(&hash, line);
    return ar_arena_format(options->arena, "allreckon %s, command %016" PRIx64,
                           options->command->name, hash);
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

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static enum ar_status refuse(const char *path, struct ar_error *err)
{
    return ar_error_set(
        err, AR_USAGE,
        "%.300s: found the output of another command; expected --force to overwrite "
        "it, or another --out",
        path);
}

enum ar_status made_by_check_file(const struct options *options, const char *path,
                                  struct ar_error *err)
{
    const char *mark = made_by(options);
    if (mark == NULL) {
        return ar_error_no_memory(err, "the command line");
    }
    bool is_kept = !options->force && is_file(path) && !has_mark(path, mark);
    return is_kept ? refuse(path, err) : AR_OK;
}

static enum ar_status path_in(const char *directory, const char *name, char path[PATH_SIZE],
                              struct ar_error *err)
{
    return snprintf(path, PATH_SIZE, "%s/%s", directory, name) < PATH_SIZE
               ? AR_OK
               : ar_error_set(err, AR_IO, "%.100s...: path too long", directory);
}

bool made_by_has_mark(const struct options *options, const char *mark)
{
    char path[PATH_SIZE];
    struct ar_error ignored;
    return path_in(options->out, "command.txt", path, &ignored) == AR_OK && has_mark(path, mark);
}

enum ar_status made_by_check_directory(const struct options *options, const char *const *names,
                                       const char *more, struct ar_error *err)
{
    char path[PATH_SIZE];
    const char *mark = made_by(options);
    if (mark == NULL) {
        return ar_error_no_memory(err, "the command line");
    }
    AR_TRY(path_in(options->out, "command.txt", path, err));
    if (options->force || has_mark(path, mark) || (more != NULL && has_mark(path, more))) {
        return AR_OK;
    }
    if (is_file(path)) {
        return refuse(path, err);
    }
    for (; *names != NULL; names++) {
        AR_TRY(path_in(options->out, *names, path, err));
        if (is_file(path)) {
            return refuse(path, err);
        }
    }
    return AR_OK;
}

enum ar_status made_by_sign(const struct options *options, const char *more, struct ar_error *err)
{
    char path[PATH_SIZE];
    struct ar_output output;
    const char *line = command_line(options);
    const char *mark = made_by(options);
    if (line == NULL || mark == NULL) {
        return ar_error_no_memory(err, "the command line");
    }
    AR_TRY(path_in(options->out, "command.txt", path, err));
    AR_TRY(ar_output_open(path, &output, err));
    fprintf(output.file, "%s\n%s\n%s%s", line, mark, more != NULL ? more : "",
            more != NULL ? "\n" : "");
    return ar_output_commit(&output, err);
}
