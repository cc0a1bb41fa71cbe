#include "simgrid_fork.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_text.h"

enum { LOG_SIZE = 8192 };

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
    FILE *file = fdopen(answer, "w");
    bool is_written = file != NULL && module->run(task, file) && fclose(file) == 0;
    _exit(is_written ? 0 : 1); /* no atexit handlers: a process that ends needs no clean-up */
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

enum ar_status simgrid_open(const char *what, int *file, struct ar_error *err)
{
    *file = memfd_create(what, MFD_CLOEXEC);
    return *file >= 0 ? AR_OK
                      : ar_error_set(err, AR_NO_MEMORY, "cannot hold the %s in memory: %s", what,
                                     strerror(errno));
}

/* Runs the task with files for its answer and for what it prints. */
static enum ar_status run_task(const struct simgrid_module *module, struct simgrid_task *task,
                               int answer_file, int log_file, struct simgrid_answer *answer,
                               struct ar_error *err)
{
    char log[LOG_SIZE] = "";
    int wait_status = 0;
    fflush(NULL);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0) {
        return ar_error_set(err, AR_NO_MEMORY, "cannot fork a simulation: %s", strerror(errno));
    }
    if (child == 0) {
        run_child(module, task, answer_file, log_file, parent);
    }
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
    }
    off_t size = lseek(answer_file, 0, SEEK_END);
    answer->data = malloc((size_t)size + 1);
    AR_NEED(answer->data, err, "the answer of a simulation");
    if (size < 0 || pread(answer_file, answer->data, (size_t)size, 0) != size ||
        pread(log_file, log, sizeof log - 1, 0) < 0) {
        return ar_error_set(err, AR_INTERNAL, "cannot read the answer of a simulation");
    }
    answer->size = (size_t)size;
    return judge_end(wait_status, answer, log, err);
}

enum ar_status simgrid_fork(struct simgrid_task *task, struct simgrid_answer *answer,
                            struct ar_error *err)
{
    int answer_file;
    int log_file;
    const struct simgrid_module *module;
    *answer = (struct simgrid_answer){.data = NULL};
    AR_TRY(simgrid_module_get(&module, err));
    AR_TRY(simgrid_open("answer", &answer_file, err));
    enum ar_status status = simgrid_open("log", &log_file, err);
    if (status == AR_OK) {
        status = run_task(module, task, answer_file, log_file, answer, err);
        close(log_file);
    }
    close(answer_file);
    return status;
}
