#include "simgrid_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_text.h"
#include "simgrid_module.h"

enum { LOG_SIZE = 8192, ANSWER_SIZE = 1 << 16 };

bool simgrid_write(int descriptor, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t written = write(descriptor, at, size);
        if (written <= 0) {
            return false;
        }
        at += written;
        size -= (size_t)written;
    }
    return true;
}

/* Never returns. */
static void run_child(const struct simgrid_module *module, struct simgrid_task *task, int answer,
                      int log, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1); /* it died before it could be asked to take this process along */
    }
    dup2(log, STDERR_FILENO);
    dup2(log, STDOUT_FILENO);
    bool is_written = module->run(task, answer);
    _exit(is_written ? 0 : 1); /* no atexit handlers: a process that ends needs no clean-up */
}

/* Reads once and appends; false at the end of the pipe. `capacity` is of the answer's data. */
static bool read_answer(int descriptor, struct simgrid_answer *answer, size_t *capacity)
{
    if (answer->size == *capacity) {
        size_t larger = *capacity > 0 ? 2 * *capacity : ANSWER_SIZE;
        char *data = realloc(answer->data, larger);
        if (data == NULL) {
            return false;
        }
        answer->data = data;
        *capacity = larger;
    }
    ssize_t count = read(descriptor, answer->data + answer->size, *capacity - answer->size);
    answer->size += count > 0 ? (size_t)count : 0;
    return count > 0;
}

/* Reads once; a log that is longer than its room is read and dropped. */
static bool read_log(int descriptor, char text[LOG_SIZE], size_t *size)
{
    char rest[512];
    size_t capacity = LOG_SIZE - 1 - *size;
    ssize_t count = read(descriptor, capacity == 0 ? rest : text + *size,
                         capacity == 0 ? sizeof rest : capacity);
    *size += count > 0 && capacity > 0 ? (size_t)count : 0;
    return count > 0;
}

/* Reads the answer and the log until both pipes are closed, and closes its ends of them. */
static void read_child(int answer_end, int log_end, struct simgrid_answer *answer,
                       char text[LOG_SIZE])
{
    size_t capacity = 0;
    size_t text_size = 0;
    struct pollfd ends[2] = {{.fd = answer_end, .events = POLLIN},
                             {.fd = log_end, .events = POLLIN}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        if (poll(ends, 2, -1) < 0) {
            continue;
        }
        if (ends[0].fd >= 0 && ends[0].revents != 0 &&
            !read_answer(ends[0].fd, answer, &capacity)) {
            close(answer_end); /* a child whose answer has no room must not wait for a reader */
            ends[0].fd = -1;
        }
        if (ends[1].fd >= 0 && ends[1].revents != 0 && !read_log(ends[1].fd, text, &text_size)) {
            close(log_end);
            ends[1].fd = -1;
        }
    }
    text[text_size] = '\0';
}

/* Does a text begin with something that explains nothing? */
static bool is_empty_talk(const char *text)
{
    static const char *const talk[] = {" Current backtrace", " Exiting now"};
    for (size_t i = 0; i < sizeof talk / sizeof talk[0]; i++) {
        if (strncmp(text, talk[i], strlen(talk[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* The text of the last line of a level that explains something; NULL if there is none. */
static const char *last_of_level(const char *text, const char *level)
{
    const char *found = NULL;
    for (const char *at = strstr(text, level); at != NULL; at = strstr(at, level)) {
        at += strlen(level);
        found = is_empty_talk(at) ? found : at;
    }
    return found;
}

/* Cuts the end of the first line, and before it a headline between asterisks with the line after it
 * in its place. */
static void keep_first_line(char *text)
{
    char *stars = strstr(text, "*******");
    size_t end = strcspn(text, "\n");
    if (stars != NULL && stars < text + end && text[end] == '\n') {
        const char *next = text + end + 1;
        next += strspn(next, " ");
        memmove(stars, next, strlen(next) + 1);
    }
    text[strcspn(text, "\n")] = '\0';
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == '.') {
        text[length - 1] = '\0';
    }
}

/* The last line that SimGrid calls critical, else an error, else the first line, else nothing. */
static void find_cause(const char *text, char cause[SIMGRID_CAUSE])
{
    static const char exception[] = "Uncaught exception ";
    const char *line = last_of_level(text, "CRITICAL]");
    line = line != NULL ? line : last_of_level(text, "ERROR]");
    line = line != NULL ? line : text;
    line += strspn(line, " ");
    ar_copy_text(cause, SIMGRID_CAUSE, line);
    keep_first_line(cause);
    const char *colon = strstr(cause, ": ");
    if (strncmp(cause, exception, strlen(exception)) == 0 && colon != NULL) {
        memmove(cause, colon + 2, strlen(colon + 2) + 1); /* the type of an exception is C++'s */
    }
}

static enum ar_status judge_end(int wait_status, struct simgrid_answer *answer, const char *log,
                                struct ar_error *err)
{
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
        return AR_OK;
    }
    find_cause(log, answer->cause);
    const char *colon = answer->cause[0] != '\0' ? ": " : "";
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == ar_status_exit_code(AR_NO_MEMORY)) {
        return ar_error_set(err, AR_NO_MEMORY, "the simulation has no memory for %s",
                            answer->cause);
    }
    if (WIFSIGNALED(wait_status)) {
        return ar_error_set(err, AR_INTERNAL, "the simulation was ended by signal %d (%s)%s%s",
                            WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)), colon,
                            answer->cause);
    }
    return ar_error_set(err, AR_INTERNAL, "the simulation exited with code %d%s%s",
                        WEXITSTATUS(wait_status), colon, answer->cause);
}

static enum ar_status open_pipes(int answer[2], int log[2], struct ar_error *err)
{
    if (pipe2(answer, O_CLOEXEC) != 0) {
        return ar_error_set(err, AR_NO_MEMORY, "cannot open a pipe: %s", strerror(errno));
    }
    if (pipe2(log, O_CLOEXEC) != 0) {
        ar_error_set(err, AR_NO_MEMORY, "cannot open a pipe: %s", strerror(errno));
        close(answer[0]);
        close(answer[1]);
        return AR_NO_MEMORY;
    }
    return AR_OK;
}

enum ar_status simgrid_fork(struct simgrid_task *task, struct simgrid_answer *answer,
                            struct ar_error *err)
{
    char text[LOG_SIZE];
    int answer_ends[2];
    int log_ends[2];
    const struct simgrid_module *module;
    *answer = (struct simgrid_answer){.data = NULL};
    AR_TRY(simgrid_module_get(&module, err));
    AR_TRY(open_pipes(answer_ends, log_ends, err));
    fflush(NULL);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        run_child(module, task, answer_ends[1], log_ends[1], parent);
    }
    close(answer_ends[1]);
    close(log_ends[1]);
    if (child < 0) {
        close(answer_ends[0]);
        close(log_ends[0]);
        return ar_error_set(err, AR_NO_MEMORY, "cannot fork a simulation: %s", strerror(errno));
    }
    int wait_status = 0;
    read_child(answer_ends[0], log_ends[0], answer, text);
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
    }
    return judge_end(wait_status, answer, text, err);
}
