/* The program: finds the command, runs it, turns its status into an exit code. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "launcher.h"

/* A stream that was closed by the caller would be the number of the next file or pipe that is
 * opened, and what is printed would go there. Such a stream becomes one that can only fail. */
static void occupy_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0) {
            int flags = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
            if (open("/dev/null", flags) != stream) {
                _exit(ar_status_exit_code(AR_IO)); /* nowhere to say why */
            }
        }
    }
}

/* An error is one line, even where it quotes a text with a newline in it. */
static int fail(enum ar_status status, struct ar_error *err)
{
    for (char *at = err->text; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            *at = '?';
        }
    }
    /* Other ranks have the same to say; an empty line was said before. */
    if (launcher_find().rank == 0 && err->text[0] != '\0') {
        fprintf(stderr, "allreckon: %s\n", err->text);
    }
    return ar_status_exit_code(status);
}

/* Nothing is said to have been written until it was. */
static enum ar_status finish_stdout(struct ar_error *err)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return ar_error_set(err, AR_IO, "stdout: cannot write: %s",
                            strerror(errno != 0 ? errno : EIO));
    }
    return AR_OK;
}

static enum ar_status show_help(const char *name, struct ar_error *err)
{
    const struct command *command = NULL;
    enum ar_status status = name != NULL ? command_find(name, &command, err) : AR_OK;
    if (status == AR_OK) {
        help_write(stdout, command);
    }
    return status;
}

static enum ar_status run(int argc, char **argv, struct ar_arena *arena, struct ar_error *err)
{
    const struct command *command;
    struct options options;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        return show_help(argc > 2 ? argv[2] : NULL, err);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("allreckon " AR_VERSION);
        return AR_OK;
    }
    AR_TRY(command_find(argv[1], &command, err));
    AR_TRY(options_parse(command, arena, argc - 1, argv + 1, &options, err));
    if (launcher_find().rank > 0 && (options.help || command->run != command_sweep)) {
        return AR_OK; /* rank 0 does it */
    }
    if (options.help) {
        help_write(stdout, command);
        return AR_OK;
    }
    return command->run(&options, err);
}

int main(int argc, char **argv)
{
    struct ar_error err = {.status = AR_OK};
    occupy_standard_streams();
    if (argc < 2) {
        help_write(stderr, NULL);
        return ar_status_exit_code(AR_USAGE);
    }
    struct ar_arena arena = {NULL};
    enum ar_status status = run(argc, argv, &arena, &err);
    ar_arena_end(&arena);
    if (status == AR_OK) {
        status = finish_stdout(&err);
    }
    return status == AR_OK ? 0 : fail(status, &err);
}
