#include "plot_gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_text.h"

enum { NAME_SIZE = 64, PATH_SIZE = 4096, MESSAGE_SIZE = 240 };

static void path_of(const struct ar_plot_script *script, const char *suffix, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s%s", script->directory, script->name, suffix);
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
static void read_message(const struct ar_plot_script *script, const char *wanted, bool falls_back,
                         char message[MESSAGE_SIZE])
{
    char path[PATH_SIZE];
    char line[MESSAGE_SIZE];
    message[0] = '\0';
    path_of(script, ".err", path);
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

static int prepare(posix_spawn_file_actions_t *actions, const struct ar_plot_script *script,
                   const char *output)
{
    char errors[NAME_SIZE];
    snprintf(errors, sizeof errors, "%s.err", script->name);
    int cause = posix_spawn_file_actions_addchdir_np(actions, script->directory);
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

static int start(const struct ar_plot_script *script, char *const *arguments, const char *output,
                 pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int cause = posix_spawn_file_actions_init(&actions);
    if (cause != 0) {
        return cause;
    }
    char **environment = utf8_environment();
    cause = environment == NULL ? ENOMEM : prepare(&actions, script, output);
    if (cause == 0) {
        cause = posix_spawnp(child, script->program, &actions, NULL, arguments, environment);
    }
    free(environment);
    posix_spawn_file_actions_destroy(&actions);
    return cause;
}

static enum ar_status judge(const struct ar_plot_script *script, int end, struct ar_error *err)
{
    if (WIFSIGNALED(end)) {
        return ar_error_set(err, AR_INTERNAL, "%s: killed by signal %d while drawing %s",
                            script->program, WTERMSIG(end), script->name);
    }
    if (WEXITSTATUS(end) == 0) {
        return AR_OK;
    }
    char wanted[NAME_SIZE];
    char message[MESSAGE_SIZE];
    snprintf(wanted, sizeof wanted, "\"%s.gp\" line ", script->name);
    read_message(script, wanted, true, message);
    return ar_error_set(err, AR_INTERNAL, "%s: failed on %s.gp with exit code %d: %s",
                        script->program, script->name, WEXITSTATUS(end),
                        message[0] == '\0' ? "it printed no message" : message);
}

static enum ar_status run(const struct ar_plot_script *script, const char *settings,
                          const char *output, struct ar_error *err)
{
    char file[NAME_SIZE];
    snprintf(file, sizeof file, "%s.gp", script->name);
    /* -d: without the user's gnuplotrc, which may set anything. */
    char *arguments[] = {(char *)(uintptr_t)script->program, "-d", "-e",
                         (char *)(uintptr_t)settings,        file, NULL};
    pid_t child;
    int cause = start(script, arguments, output, &child);
    if (cause == ENOENT) {
        return ar_error_set(err, AR_IO,
                            "%s: program not found in PATH; pictures need gnuplot 5.4 or newer "
                            "(Debian: gnuplot-nox)",
                            script->program);
    }
    if (cause != 0) {
        return ar_error_set(err, AR_IO, "%s: cannot start: %s", script->program, strerror(cause));
    }
    int end;
    while (waitpid(child, &end, 0) < 0) {
        if (errno != EINTR) {
            return ar_error_set(err, AR_INTERNAL, "%s: cannot wait for it: %s", script->program,
                                strerror(errno));
        }
    }
    return judge(script, end, err);
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

static enum ar_status check_picture(const struct ar_plot_script *script, const char *suffix,
                                    const char *tail, size_t tail_size, long slack,
                                    struct ar_error *err)
{
    char path[PATH_SIZE];
    path_of(script, suffix, path);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return ar_error_set(err, AR_IO, "%s%s: %s left no such picture", script->name, suffix,
                            script->program);
    }
    long size;
    bool is_whole = ends_with(file, tail, tail_size, slack, &size);
    fclose(file);
    if (!is_whole) {
        return ar_error_set(err, AR_IO,
                            "%s%s: %s wrote %ld bytes, which end in the middle; expected a whole "
                            "picture (is there room on the disk?)",
                            script->name, suffix, script->program, size);
    }
    return AR_OK;
}

enum ar_status ar_plot_gnuplot_draw(const struct ar_plot_script *script, char *warning,
                                    size_t warning_size, struct ar_error *err)
{
    char output[NAME_SIZE];
    snprintf(output, sizeof output, "%s.out", script->name);
    enum ar_status status = run(script, "", output, err);
    if (status == AR_OK) {
        status = check_picture(script, ".svg", "</svg>", 6, 4, err);
    }
    if (status == AR_OK) {
        /* The last chunk of a PNG: its name and its checksum. */
        status = check_picture(script, ".png", "IEND\xAE\x42\x60\x82", 8, 0, err);
    }
    if (status == AR_OK) {
        char message[MESSAGE_SIZE];
        read_message(script, "warning:", false, message);
        ar_copy_text(warning, warning_size, message);
    }
    return status;
}

enum ar_status ar_plot_gnuplot_draw_text(const struct ar_plot_script *script, uint32_t columns,
                                         uint32_t rows, struct ar_error *err)
{
    char settings[96];
    char output[NAME_SIZE];
    snprintf(settings, sizeof settings, "ascii_columns = %" PRIu32 "; ascii_rows = %" PRIu32,
             columns, rows);
    snprintf(output, sizeof output, "%s.txt", script->name);
    return run(script, settings, output, err);
}
