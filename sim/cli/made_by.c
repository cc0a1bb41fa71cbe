#include "made_by.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_numbers.h"
#include "ar_text.h"

/* The command line without the options that change nothing in files. */
static const char *write_command_line(const struct options *options)
{
    struct option_row rows[OPTIONS_MAX];
    size_t count = options_list(options->command, rows), bytes = 0;
    char *text = NULL;
    FILE *file = open_memstream(&text, &bytes);
    ar_memory_require(file != NULL, "the command line");
    fprintf(file, "allreckon %s", options->command->name);
    for (size_t i = 0; i < options->arguments_count; i++) {
        fputs(options->arguments[i][0] == '-' ? " ./" : " ", file); /* it is no option */
        ar_write_shell_word(file, options->arguments[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const char *value;
        for (size_t j = 0;
             !rows[i].is_shown_only && (value = option_given(options, &rows[i], j)) != NULL; j++) {
            fprintf(file, " --%s%s", rows[i].name, rows[i].placeholder != NULL ? " " : "");
            if (rows[i].placeholder != NULL) {
                ar_write_shell_word(file, value);
            }
        }
    }
    fclose(file);
    return ar_arena_own(options->arena, text, free);
}

const char *made_by(const struct options *options)
{
    uint64_t hash = AR_HASH_BEGIN;
    ar_hash_text(&hash, write_command_line(options));
    return ar_arena_format(options->arena, "allreckon %s, command %016" PRIx64,
                           options->command->name, hash);
}

/* Whether a mark is in the first or the last bytes of a file. */
static bool file_has_mark(const char *path, const char *mark)
{
    enum { LOOKED_AT_BYTES = 4096 };
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

static enum ar_status refuse_file(const char *path, struct ar_error *err)
{
    return made_by_is_file(path)
               ? ar_error_set(err, AR_USAGE,
                              "%.300s: found the output of another command, or a file of your own; "
                              "expected --force to overwrite it, or another --out",
                              path)
               : AR_OK;
}

enum ar_status made_by_check_file(const struct options *options, const char *path,
                                  struct ar_error *err)
{
    return path == NULL || options->force || file_has_mark(path, made_by(options))
               ? AR_OK
               : refuse_file(path, err);
}

static const char *path_in_out(const struct options *options, const char *name)
{
    return ar_arena_format(options->arena, "%s/%s", options->out, name);
}

bool made_by_has_mark(const struct options *options, const char *mark)
{
    return file_has_mark(path_in_out(options, "command.txt"), mark);
}

AR_DESTROYER(remove_if_empty, rmdir)

/* Files that commands leave in a directory; besides, pictures: NAME.gp and what has its name. */
#define FILES_OF_COMMANDS                                                                          \
    "accuracy.csv advice.csv answer.csv compare.csv coverage.csv expect.csv factors.csv "          \
    "families.csv kinds.csv layers.csv layouts.csv parameters.csv payload.csv pipeline.csv "       \
    "report.html reproduce.csv sent.csv sets.csv step.csv step_errors.csv suspects.csv sweep.csv " \
    "sweep.journal trace.json trace.paje train.csv"

/* A file that another command had left when this one began with --force. */
struct leftover {
    const char *path, *command_path, *mark;
    struct stat info;
};

/* Removes it if this command has signed the directory and not written it anew; ends the arena. */
static void remove_leftover(void *context)
{
    const struct leftover *leftover = context;
    struct stat now;
    if (file_has_mark(leftover->command_path, leftover->mark) && stat(leftover->path, &now) == 0 &&
        now.st_ino == leftover->info.st_ino &&
        now.st_mtim.tv_sec == leftover->info.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == leftover->info.st_mtim.tv_nsec) {
        unlink(leftover->path);
    }
}

static void find_leftovers(const struct options *options)
{
    DIR *directory = opendir(options->out);
    for (const struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        const char *script = ar_arena_format(
            options->arena, "%.*s.gp", dot != NULL ? (int)(dot - entry->d_name) : 0, entry->d_name);
        struct leftover *leftover = ar_arena_alloc(options->arena, 1, sizeof *leftover);
        *leftover = (struct leftover){.path = path_in_out(options, entry->d_name),
                                      .command_path = path_in_out(options, "command.txt"),
                                      .mark = made_by(options)};
        if ((ar_text_has_word(FILES_OF_COMMANDS, entry->d_name) ||
             made_by_is_file(path_in_out(options, script))) &&
            stat(leftover->path, &leftover->info) == 0 && S_ISREG(leftover->info.st_mode)) {
            ar_arena_own(options->arena, leftover, remove_leftover);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
}

enum ar_status made_by_check_directory(const struct options *options, const char *names,
                                       const char *more, struct ar_error *err)
{
    if (options->out == NULL) {
        return AR_OK;
    }
    bool is_ours = options->force || made_by_has_mark(options, made_by(options)) ||
                   (more != NULL && made_by_has_mark(options, more));
    names = ar_arena_format(options->arena, "command.txt %s", names);
    AR_EACH_WORD(name, is_ours ? NULL : names) {
        AR_TRY(refuse_file(path_in_out(options, name), err));
    }
    if (options->force && made_by_has_mark(options, ", command ") &&
        !made_by_has_mark(options, made_by(options))) {
        find_leftovers(options);
    }
    bool is_there = access(options->out, F_OK) == 0;
    AR_TRY(ar_make_directory(options->out, err));
    AR_REFUSE(access(options->out, W_OK | X_OK) != 0, err, AR_IO, "%s: cannot write: %s",
              options->out, strerror(errno));
    if (!is_there) { /* made anew with the first file; removed at the end if it is empty */
        (void)rmdir(options->out);
        ar_arena_own(options->arena, ar_arena_text(options->arena, options->out), remove_if_empty);
    }
    return AR_OK;
}

enum ar_status made_by_sign(const struct options *options, const char *more,
                            const struct parameters *parameters, struct ar_error *err)
{
    static const char begin[] = "allreckon: ";
    struct ar_output *output;
    struct parameters all = {.arena = options->arena};
    struct option_row rows[OPTIONS_MAX]; /* those that were given and decide the contents */
    size_t count = options_list(options->command, rows);
    for (size_t i = 0; i < count; i++) {
        const char *name = ar_arena_format(options->arena, "--%s", rows[i].name);
        const char *text = NULL, *next; /* several are joined by blanks */
        for (size_t j = 0; (next = option_given(options, &rows[i], j)) != NULL; j++) {
            text = text == NULL ? next : ar_arena_format(options->arena, "%s %s", text, next);
        }
        if (text != NULL && !rows[i].is_shown_only) {
            parameters_add(&all, (struct parameter){name, text, "command line"});
        }
    }
    for (size_t i = 0; parameters != NULL && i < parameters->count; i++) {
        parameters_add(&all, parameters->list[i]);
    }
    AR_TRY(ar_records_save(options->out, "parameters.csv", parameter_columns, all.list, all.count,
                           err));
    AR_TRY(ar_output_begin_in(options->out, "command.txt", options->arena, &output, err));
    fprintf(output->file, "%s\n%s\n%s\n", write_command_line(options), made_by(options),
            more != NULL ? more : "");
    fflush(options->notes);
    for (const char *at = *options->notes_text; at != NULL && *at != '\0';) {
        at += strncmp(at, begin, sizeof begin - 1) == 0 ? sizeof begin - 1 : 0;
        size_t size = strcspn(at, "\n"); /* a line each, as `note: ...` */
        fprintf(output->file, "%.*s\n", (int)size, at);
        at += size + (at[size] == '\n');
    }
    return ar_output_commit(output, err);
}

enum ar_status made_by_begin(const struct options *options, struct ar_output **output,
                             const char **mark, struct ar_error *err)
{
    *mark = made_by(options);
    if (options->out != NULL) {
        return ar_output_begin(options->out, options->arena, output, err);
    }
    *output = ar_arena_alloc(options->arena, 1, sizeof **output);
    (*output)->file = stdout;
    return AR_OK;
}

enum ar_status made_by_end(struct ar_output *output, struct ar_error *err)
{
    return output->file == stdout ? AR_OK : ar_output_commit(output, err);
}
