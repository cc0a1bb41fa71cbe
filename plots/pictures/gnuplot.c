/* Runs gnuplot on scripts, several at a time, and checks what it left. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_signals.h"
#include "ar_text.h"
#include "pictures.h"

enum { PATH_SIZE = 4096, MESSAGE_SIZE = 240, NOT_STARTED = 126, NOT_FOUND = 127 };

#define TICK_S 5e-3

/* All runs have the same program and directory. */
struct gnuplot {
    const char *program, *directory;
    bool has_values;
};

static FILE *open_output(const struct gnuplot *gnuplot, const char *name, const char *suffix)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s%s", gnuplot->directory, name, suffix);
    return fopen(path, "re");
}

/* Copies the last line of gnuplot's standard error with `wanted` in it. A message names its line of
 * the script; lines before it repeat the command with a caret under the fault. */
static void read_message(const struct gnuplot *gnuplot, const char *name, const char *wanted,
                         char message[MESSAGE_SIZE])
{
    char line[MESSAGE_SIZE];
    FILE *file = open_output(gnuplot, name, ".err");
    message[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0' && strstr(line, wanted) != NULL) {
            ar_copy_text(message, MESSAGE_SIZE, line);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* Runs in the child. The scripts are in UTF-8, which gnuplot reads only if the locale says so. */
static void become_gnuplot(const struct gnuplot *gnuplot, const char *name)
{
    const sigset_t mask = ar_signals_mask();
    char errors[PATH_SIZE];
    char file[PATH_SIZE];
    snprintf(errors, sizeof errors, "%s.err", name);
    snprintf(file, sizeof file, "%s.gp", name);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (chdir(gnuplot->directory) == 0 && setenv("LC_ALL", "C.UTF-8", 1) == 0 &&
        freopen("/dev/null", "r", stdin) != NULL && freopen("/dev/null", "w", stdout) != NULL &&
        freopen(errors, "w", stderr) != NULL) {
        /* -d: the user's gnuplotrc may set anything */
        execlp(gnuplot->program, gnuplot->program, "-d", "-e",
               gnuplot->has_values ? "has_values = 1" : "", file, (char *)NULL);
        if (errno == ENOENT) {
            _exit(NOT_FOUND); /* without a message, unlike a program that ends with that code */
        }
        dprintf(STDERR_FILENO, "cannot start: %s\n", strerror(errno));
    }
    _exit(NOT_STARTED);
}

static enum ar_status start_gnuplot(const struct gnuplot *gnuplot, struct ar_plot_drawing *drawing,
                                    struct ar_error *err)
{
    drawing->child = ar_fork();
    AR_REFUSE(drawing->child < 0, err, AR_NO_MEMORY, "%s: cannot start: %s", gnuplot->program,
              strerror(errno));
    if (drawing->child == 0) {
        become_gnuplot(gnuplot, drawing->name);
    }
    return AR_OK;
}

static enum ar_status check_exit(const struct gnuplot *gnuplot, const char *name, int end,
                                 struct ar_error *err)
{
    char message[MESSAGE_SIZE];
    if (WIFEXITED(end) && WEXITSTATUS(end) == 0) {
        return AR_OK;
    }
    read_message(gnuplot, name, "", message);
    AR_REFUSE(
        WIFEXITED(end) && WEXITSTATUS(end) == NOT_FOUND && message[0] == '\0', err, AR_IO,
        "%s: program not found in PATH; pictures need gnuplot 5.4 or newer (Debian: gnuplot-nox)",
        gnuplot->program);
    return ar_error_set(err, AR_INTERNAL, "%s: failed on %s.gp with %s %d: %s", gnuplot->program,
                        name, WIFSIGNALED(end) ? "signal" : "exit code",
                        WIFSIGNALED(end) ? WTERMSIG(end) : WEXITSTATUS(end),
                        message[0] == '\0' ? "it printed no message" : message);
}

/* Whether a picture ends as it should, but for some newlines. */
static enum ar_status check_picture(const struct gnuplot *gnuplot, const char *name,
                                    const char *suffix, const char *tail, struct ar_error *err)
{
    char last[12];
    FILE *file = open_output(gnuplot, name, suffix);
    AR_REFUSE(file == NULL, err, AR_IO, "%s%s: %s left no such picture", name, suffix,
              gnuplot->program);
    bool is_whole = fseek(file, -(long)sizeof last, SEEK_END) == 0 &&
                    fread(last, 1, sizeof last, file) == sizeof last &&
                    memmem(last, sizeof last, tail, strlen(tail)) != NULL;
    fclose(file);
    AR_REFUSE(
        !is_whole, err, AR_IO,
        "%s%s: %s ended in the middle of it; expected a whole picture (is there room on the disk?)",
        name, suffix, gnuplot->program);
    return AR_OK;
}

/* Waits for a run that was started, and checks the pictures that it left. */
static enum ar_status await_gnuplot(const struct gnuplot *gnuplot, struct ar_plot_drawing *drawing,
                                    struct ar_arena *arena, struct ar_error *err)
{
    const char *name = drawing->name;
    int end;
    char message[MESSAGE_SIZE];
    pid_t ended;
    while ((ended = waitpid(drawing->child, &end, WNOHANG)) == 0) {
        if (ar_signals_arrived()) {
            kill(drawing->child, SIGKILL);
        }
        ar_signals_let_in(TICK_S);
    }
    AR_REFUSE(ended < 0, err, AR_INTERNAL, "%s: cannot wait for it: %s", gnuplot->program,
              strerror(errno));
    ar_signals_let_in(0); /* a terminal sends them to gnuplot, too */
    AR_REFUSE(ar_signals_arrived(), err, AR_INTERRUPTED, "interrupted while drawing %s", name);
    AR_TRY(check_exit(gnuplot, name, end, err));
    AR_TRY(check_picture(gnuplot, name, ".svg", "</svg>", err));
    if (!gnuplot->has_values) { /* The last chunk of a PNG: its name and its checksum. */
        AR_TRY(check_picture(gnuplot, name, ".png", "IEND\xAE\x42\x60\x82", err));
    }
    read_message(gnuplot, name, "warning:", message);
    drawing->warning = message[0] == '\0' ? NULL : ar_arena_text(arena, message);
    return AR_OK;
}

enum ar_status ar_plot_gnuplot_run(const char *program, const char *directory, bool has_values,
                                   struct ar_plot_drawing *drawings, size_t count,
                                   struct ar_arena *arena, struct ar_error *err)
{
    const struct gnuplot gnuplot = {program, directory, has_values};
    enum ar_status status = AR_OK;
    for (size_t i = 0; i < count && status == AR_OK; i++) {
        status = drawings[i].rows.count > 0 ? start_gnuplot(&gnuplot, &drawings[i], err) : AR_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (drawings[i].child > 0) {
            enum ar_status end =
                await_gnuplot(&gnuplot, &drawings[i], arena, status == AR_OK ? err : AR_IGNORED);
            status = status == AR_OK ? end : status;
        }
    }
    return status;
}
