/* The program: finds the command, runs it, turns its status into an exit code. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "ranks.h"

/* Why stdout could not be written the first time; 0: it could. */
static void flush_stdout(int *cause)
{
    if (fflush(stdout) != 0 && *cause == 0) {
        *cause = errno;
    }
}

/* Reports output that could not be written, also after the command has succeeded. */
static enum ar_status finish_stdout(int cause, struct ar_error *err)
{
    flush_stdout(&cause);
    return ferror(stdout) ? ar_error_set(err, AR_IO, "stdout: cannot write: %s",
                                         strerror(cause != 0 ? cause : EIO))
                          : AR_OK;
}

struct notes {
    FILE *stream; /* that commands write to */
    FILE *kept;
    int stdout_cause;
    char *text; /* of `kept` */
    size_t bytes;
};

/* Notes do not cut into a table that is not written yet. */
static ssize_t write_notes(void *cookie, const char *text, size_t size)
{
    struct notes *notes = cookie;
    flush_stdout(&notes->stdout_cause);
    fwrite(text, 1, size, notes->kept);
    fflush(notes->kept);
    return (ssize_t)fwrite(text, 1, size, stderr);
}

/* Forgets notes that were not flushed. */
static void close_notes(void *object)
{
    struct notes *notes = object;
    __fpurge(notes->stream);
    fclose(notes->stream);
    fclose(notes->kept);
    free(notes->text);
}

/* Tells whoever waits that the command has not died; sweeps tell how far they are. */
static void note_wait(int number)
{
    static const char text[] = "allreckon: note: still computing after 5 s\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
}

struct request {
    int argc;
    char **argv;
    struct ar_arena *arena;
};

static enum ar_status run_request(void *context, struct ar_error *err)
{
    enum { NOTES_BYTES = 1 << 16 };
    const struct request *request = context;
    const int argc = request->argc;
    char **argv = request->argv;
    struct command command;
    struct options options;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_write(stdout, NULL);
        return AR_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("allreckon " AR_VERSION);
        return AR_OK;
    }
    AR_TRY(command_find(argv[1], &command, err));
    AR_TRY(options_parse(&command, request->arena, argc - 1, argv + 1, &options, err));
    if (launcher_find().rank > 0 && (options.help || command.run != command_sweep)) {
        return AR_OK; /* rank 0 does it */
    }
    if (options.help) {
        help_write(stdout, &command);
        return AR_OK;
    }
    /* Notes wait in the buffer of their stream, until they are flushed or the command fails. */
    struct notes *notes = ar_arena_alloc(options.arena, 1, sizeof *notes);
    notes->kept = open_memstream(&notes->text, &notes->bytes);
    notes->stream = fopencookie(notes, "w", (cookie_io_functions_t){.write = write_notes});
    if (notes->kept == NULL || notes->stream == NULL ||
        setvbuf(notes->stream, NULL, _IOFBF, NOTES_BYTES) != 0) {
        ar_memory_fail("the notes");
    }
    ar_arena_own(options.arena, notes, close_notes);
    options.notes = notes->stream;
    options.notes_text = &notes->text;
    bool is_sweep = command.run == command_sweep || command.run == command_advise ||
                    command.run == command_train || command.run == command_reproduce;
    if (!is_sweep && !options.quiet) {
        signal(SIGALRM, note_wait); /* calls of the system go on behind it */
        alarm(5);
    }
    AR_TRY(command.run(&options, err));
    fflush(notes->stream);
    return finish_stdout(notes->stdout_cause, err);
}

int main(int argc, char **argv)
{
    struct ar_error err = {.status = AR_OK};
    /* The number of a stream that the caller closed would go to the next file or pipe that is
     * opened, and text would be printed there. Such a stream becomes one that can only fail. */
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0) {
            int flags = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
            if (open("/dev/null", flags) != stream) {
                _exit(ar_status_exit_code(AR_IO)); /* nowhere to say why */
            }
        }
    }
    /* Keeps freed memory for the next prediction. The kernel clears memory page by page whenever it
     * is taken again, which was half of the system time of a sweep of layouts. Larger arrays go
     * back at once: of those that come next only a part may ever be touched. */
    enum { KEPT_BYTES = 512 << 20, ALONE_BYTES = 1 << 20 };
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, ALONE_BYTES);
    if (argc < 2) {
        help_write(stderr, NULL);
        return ar_status_exit_code(AR_USAGE);
    }
    struct ar_arena arena = {.bytes_max = AR_ARENA_BYTES_MAX};
    struct request request = {argc, argv, &arena};
    enum ar_status status = ar_memory_guard(run_request, &request, &err);
    ar_arena_end(&arena);
    if (status == AR_OK) {
        status = finish_stdout(0, &err);
    }
    fflush(stdout);
    /* Other ranks fail for the same reason, but for memory; an empty line was printed before. */
    bool is_told = launcher_find().rank == 0 || status == AR_NO_MEMORY;
    if (status != AR_OK && is_told && err.text[0] != '\0') {
        fprintf(stderr, "allreckon: %s\n", err.text);
    }
    return status == AR_OK ? 0 : ar_status_exit_code(status);
}
