#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_text.h"

enum { NAME_SIZE = 64, PATH_SIZE = 4096, MESSAGE_SIZE = 240, TEXT_ROWS = 28 };

/* What all runs share. */
struct place {
    const char *program, *directory;
};

static void path_of(const struct place *place, const struct ar_plot_run *run, const char *suffix,
                    char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s%s", place->directory, run->name, suffix);
}

/* A picture and its text version may run side by side. */
static const char *errors_suffix(const struct ar_plot_run *run)
{
    return run->text_columns > 0 ? ".txt.err" : ".err";
}

/* --- messages ----------------------------------------------------------------------------- */

static void trim(char *line)
{
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL) {
        line[--length] = '\0';
    }
    size_t start = strspn(line, " \t^");
    memmove(line, line + start, length - start + 1);
}

/* Of gnuplot's standard error: the line that names the script's line, or else the last one. The
 * lines before it repeat the command with a caret under the fault. */
static void read_message(const struct place *place, const struct ar_plot_run *run,
                         const char *wanted, bool falls_back, char message[MESSAGE_SIZE])
{
    char path[PATH_SIZE];
    char line[MESSAGE_SIZE];
    message[0] = '\0';
    path_of(place, run, errors_suffix(run), path);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return;
    }
    bool is_found = false;
    while (!is_found && fgets(line, sizeof line, file) != NULL) {
        trim(line);
        is_found = strstr(line, wanted) != NULL;
        if (is_found || (falls_back && line[0] != '\0')) {
            ar_copy_text(message, MESSAGE_SIZE, line);
        }
    }
    fclose(file);
}

/* --- running ------------------------------------------------------------------------------ */

static int prepare(posix_spawn_file_actions_t *actions, const struct place *place,
                   const struct ar_plot_run *run)
{
    char errors[NAME_SIZE];
    char output[NAME_SIZE];
    snprintf(errors, sizeof errors, "%s%s", run->name, errors_suffix(run));
    snprintf(output, sizeof output, "%s%s", run->name, run->text_columns > 0 ? ".txt" : ".out");
    int cause = posix_spawn_file_actions_addchdir_np(actions, place->directory);
    int flags = O_WRONLY | O_CREAT | O_TRUNC;
    if (cause == 0) {
        cause = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (cause == 0) {
        cause = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, output, flags, 0666);
    }
    if (cause == 0) {
        cause = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, errors, flags, 0666);
    }
    return cause;
}

/* The environment with a locale of UTF-8, which the scripts are written in: gnuplot warns about
 * each picture otherwise. The array is the caller's (free), its texts are not. NULL without memory.
 */
static char **utf8_environment(void)
{
    static char locale[] = "LC_ALL=C.UTF-8";
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **copy = calloc(count + 2, sizeof *copy);
    size_t kept = 0;
    for (size_t i = 0; copy != NULL && i < count; i++) {
        if (strncmp(environ[i], "LC_ALL=", strlen("LC_ALL=")) != 0) {
            copy[kept++] = environ[i];
        }
    }
    if (copy != NULL) {
        copy[kept] = locale;
    }
    return copy;
}

static int spawn(const struct place *place, struct ar_plot_run *run, char *const *arguments)
{
    posix_spawn_file_actions_t actions;
    int cause = posix_spawn_file_actions_init(&actions);
    if (cause != 0) {
        return cause;
    }
    char **environment = utf8_environment();
    cause = environment == NULL ? ENOMEM : prepare(&actions, place, run);
    if (cause == 0) {
        cause = posix_spawnp(&run->child, place->program, &actions, NULL, arguments, environment);
    }
    free(environment);
    posix_spawn_file_actions_destroy(&actions);
    return cause;
}

static enum ar_status start(const struct place *place, struct ar_plot_run *run,
                            struct ar_error *err)
{
    char program[PATH_SIZE];
    char settings[96] = "";
    char file[NAME_SIZE];
    char without_rc[] = "-d"; /* the user's gnuplotrc may set anything */
    char evaluate[] = "-e";
    snprintf(program, sizeof program, "%s", place->program);
    snprintf(file, sizeof file, "%s.gp", run->name);
    if (run->text_columns > 0) {
        snprintf(settings, sizeof settings, "ascii_columns = %" PRIu32 "; ascii_rows = %d",
                 run->text_columns, TEXT_ROWS);
    }
    char *arguments[] = {program, without_rc, evaluate, settings, file, NULL};
    int cause = spawn(place, run, arguments);
    if (cause == ENOENT) {
        return ar_error_set(err, AR_IO,
                            "%s: program not found in PATH; pictures need gnuplot 5.4 or newer "
                            "(Debian: gnuplot-nox)",
                            place->program);
    }
    if (cause != 0) {
        return ar_error_set(err, AR_IO, "%s: cannot start: %s", place->program, strerror(cause));
    }
    return AR_OK;
}

static enum ar_status check_end(const struct place *place, const struct ar_plot_run *run, int end,
                                struct ar_error *err)
{
    if (WIFSIGNALED(end)) {
        return ar_error_set(err, AR_INTERNAL, "%s: killed by signal %d while drawing %s",
                            place->program, WTERMSIG(end), run->name);
    }
    if (WEXITSTATUS(end) == 0) {
        return AR_OK;
    }
    char wanted[NAME_SIZE];
    char message[MESSAGE_SIZE];
    snprintf(wanted, sizeof wanted, "\"%s.gp\" line ", run->name);
    read_message(place, run, wanted, true, message);
    return ar_error_set(err, AR_INTERNAL, "%s: failed on %s.gp with exit code %d: %s",
                        place->program, run->name, WEXITSTATUS(end),
                        message[0] == '\0' ? "it printed no message" : message);
}

/* --- checking ----------------------------------------------------------------------------- */

static bool ends_with(FILE *file, const char *tail, size_t tail_size, long slack, long *size)
{
    char last[64] = "";
    *size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    long wanted = (long)tail_size + slack;
    if (*size < wanted || fseek(file, -wanted, SEEK_END) != 0) {
        return false;
    }
    size_t count = fread(last, 1, (size_t)wanted, file);
    return count == (size_t)wanted && memmem(last, count, tail, tail_size) != NULL;
}

static enum ar_status check_picture(const struct place *place, const struct ar_plot_run *run,
                                    const char *suffix, const char *tail, size_t tail_size,
                                    long slack, struct ar_error *err)
{
    char path[PATH_SIZE];
    path_of(place, run, suffix, path);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return ar_error_set(err, AR_IO, "%s%s: %s left no such picture", run->name, suffix,
                            place->program);
    }
    long size;
    bool is_whole = ends_with(file, tail, tail_size, slack, &size);
    fclose(file);
    if (!is_whole) {
        return ar_error_set(err, AR_IO,
                            "%s%s: %s wrote %ld bytes, which end in the middle; expected a whole "
                            "picture (is there room on the disk?)",
                            run->name, suffix, place->program, size);
    }
    return AR_OK;
}

/* Waits for a run that was started, and looks at what it left. */
static enum ar_status finish(const struct place *place, struct ar_plot_run *run,
                             struct ar_error *err)
{
    int end;
    while (waitpid(run->child, &end, 0) < 0) {
        if (errno != EINTR) {
            return ar_error_set(err, AR_INTERNAL, "%s: cannot wait for it: %s", place->program,
                                strerror(errno));
        }
    }
    AR_TRY(check_end(place, run, end, err));
    if (run->text_columns > 0) {
        return AR_OK;
    }
    AR_TRY(check_picture(place, run, ".svg", "</svg>", 6, 4, err));
    /* The last chunk of a PNG: its name and its checksum. */
    AR_TRY(check_picture(place, run, ".png", "IEND\xAE\x42\x60\x82", 8, 0, err));
    char message[MESSAGE_SIZE];
    read_message(place, run, "warning:", false, message);
    ar_copy_text(run->warning, run->warning_size, message);
    return AR_OK;
}

enum ar_status ar_plot_gnuplot_run(const char *program, const char *directory,
                                   struct ar_plot_run *runs, size_t count, struct ar_error *err)
{
    const struct place place = {program, directory};
    struct ar_error later; /* of runs after the first that failed */
    enum ar_status status = AR_OK;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t at_once = processors < 1 ? 1 : (size_t)processors;
    size_t started = 0;
    for (size_t done = 0; done < count; done++) {
        for (; status == AR_OK && started < count && started - done < at_once; started++) {
            status = start(&place, &runs[started], err);
            if (status != AR_OK) {
                break;
            }
        }
        if (done == started) {
            return status;
        }
        enum ar_status end = finish(&place, &runs[done], status == AR_OK ? err : &later);
        status = status == AR_OK ? end : status;
    }
    return status;
}
