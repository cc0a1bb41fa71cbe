/* The reference engine, parent side: writes the platform, forks the simulation, reads its results.
 *
 * The child answers over a pipe: its peak memory, the job times and, if asked for, the finish of
 * each rank and the timeline. What it prints to stderr is SimGrid's business and is read from a
 * second pipe; if the child dies, the line that says why becomes the error. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/engine.h>
#include <simgrid/version.h>

#include "ar_text.h"
#include "engines.h"
#include "simgrid_child.h"

enum { LOG_ROOM = 8192, ACTORS_WITH_GUARD_PAGES = 12000 };

/* What a child answers: its peak memory, then the parts of the results. */
enum { PARTS_COUNT = 3 };

struct part {
    void *data;
    size_t size;
};

static void list_parts(const struct ar_trial *trial, struct part parts[PARTS_COUNT])
{
    size_t ranks_size = ar_shape_ranks(&trial->collective.shape) * sizeof *trial->rank_finish_s;
    parts[0] = (struct part){trial->times, trial->jobs_count * sizeof *trial->times};
    parts[1] = (struct part){trial->rank_finish_s, trial->rank_finish_s == NULL ? 0 : ranks_size};
    parts[2] = (struct part){NULL, 0};
    if (trial->timeline != NULL) {
        parts[2] =
            (struct part){trial->timeline->marks_s, ar_timeline_size(trial) * sizeof(double)};
    }
}

/* The platform as an unnamed file in memory: nothing to clean up, nothing on the disk. */
static enum ar_status write_platform(const struct ar_collective *collective, int *platform,
                                     struct ar_error *err)
{
    uint32_t gpus_per_node = ar_cluster_facts(collective->cluster)->gpus_per_node;
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    int descriptor = memfd_create("allreckon-platform", MFD_CLOEXEC);
    int copy = descriptor < 0 ? -1 : dup(descriptor);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    if (file == NULL) {
        return ar_error_set(err, AR_NO_MEMORY, "cannot hold the platform in memory: %s",
                            strerror(errno));
    }
    ar_cluster_write_simgrid(collective->cluster, (ranks + gpus_per_node - 1) / gpus_per_node,
                             file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        close(descriptor);
        return ar_error_set(err, AR_NO_MEMORY, "cannot hold the platform in memory: %s",
                            strerror(errno));
    }
    *platform = descriptor;
    return AR_OK;
}

static bool write_all(int descriptor, const void *data, size_t size)
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

static void start_simgrid(const struct ar_trial *trial)
{
    /* An argv of its own: simgrid_init() would eat the user's --help. */
    char *arguments[] = {
        "allreckon",
#define X(option) "--cfg=" option,
        AR_SIMGRID_OPTIONS(X)
#undef X
            "--cfg=contexts/stack-size:128",
        "--log=root.thresh:critical",
        "--cfg=contexts/guard-size:0",
        NULL,
    };
    uint64_t actors =
        (uint64_t)ar_shape_ranks(&trial->collective.shape) * trial->collective.channels;
    /* Each guard page splits a mapping, and a process may have about 65,000 of them. */
    int arguments_count = sizeof arguments / sizeof arguments[0] - 1;
    if (actors <= ACTORS_WITH_GUARD_PAGES) {
        arguments[--arguments_count] = NULL; /* keep the guard pages */
    }
    simgrid_init(&arguments_count, arguments);
}

/* Never returns. */
static void run_child(struct ar_trial *trial, int platform, int answer, int log)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(log, STDERR_FILENO);
    dup2(log, STDOUT_FILENO);
    start_simgrid(trial);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", platform);
    simgrid_child_run(trial, path);

    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t memory_bytes = (uint64_t)usage.ru_maxrss * 1024;
    struct part parts[PARTS_COUNT];
    list_parts(trial, parts);
    bool is_written = write_all(answer, &memory_bytes, sizeof memory_bytes);
    for (int i = 0; i < PARTS_COUNT; i++) {
        is_written = is_written && write_all(answer, parts[i].data, parts[i].size);
    }
    _exit(is_written ? 0 : 1); /* no atexit handlers: a process that ends needs no clean-up */
}

/* Reads the answer and the log until both pipes are closed. */
static void read_child(int answer, int log, char *data, size_t data_size, size_t *data_got,
                       char *text, size_t text_size)
{
    size_t text_got = 0;
    struct pollfd ends[2] = {{.fd = answer, .events = POLLIN}, {.fd = log, .events = POLLIN}};
    *data_got = 0;
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        if (poll(ends, 2, -1) < 0) {
            continue;
        }
        for (int i = 0; i < 2; i++) {
            if (ends[i].fd < 0 || ends[i].revents == 0) {
                continue;
            }
            char rest[512]; /* a log that is longer than its room is read and dropped */
            size_t *got = i == 0 ? data_got : &text_got;
            size_t room = i == 0 ? data_size - *got : text_size - 1 - *got;
            char *at = room == 0 ? rest : (i == 0 ? data : text) + *got;
            ssize_t count = read(ends[i].fd, at, room == 0 ? sizeof rest : room);
            if (count <= 0) {
                ends[i].fd = -1;
            } else if (room > 0) {
                *got += (size_t)count;
            }
        }
    }
    text[text_got] = '\0';
}

/* The last line that SimGrid calls critical, else the first line, else nothing; cut to its text. */
static const char *cause_in_log(char *text)
{
    char *cause = NULL;
    for (char *at = strstr(text, "CRITICAL]"); at != NULL; at = strstr(at, "CRITICAL]")) {
        at += strlen("CRITICAL]");
        if (strncmp(at, " Current backtrace", strlen(" Current backtrace")) != 0) {
            cause = at;
        }
    }
    if (cause == NULL) {
        cause = text;
    }
    cause += strspn(cause, " ");
    cause[strcspn(cause, "\n")] = '\0';
    return cause;
}

static enum ar_status report_death(int wait_status, char *log, struct ar_error *err)
{
    const char *cause = cause_in_log(log);
    if (WIFSIGNALED(wait_status)) {
        return ar_error_set(err, AR_INTERNAL, "the simulation was ended by signal %d (%s)%s%s",
                            WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)),
                            cause[0] != '\0' ? ": " : "", cause);
    }
    return ar_error_set(err, AR_INTERNAL, "the simulation exited with code %d%s%s",
                        WEXITSTATUS(wait_status), cause[0] != '\0' ? ": " : "", cause);
}

static enum ar_status take_results(struct ar_trial *trial, int wait_status, const char *data,
                                   size_t data_size, size_t data_got, char *log,
                                   struct ar_error *err)
{
    if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0 || data_got != data_size) {
        return report_death(wait_status, log, err);
    }
    struct part parts[PARTS_COUNT];
    list_parts(trial, parts);
    memcpy(&trial->memory_bytes, data, sizeof trial->memory_bytes);
    data += sizeof trial->memory_bytes;
    for (int i = 0; i < PARTS_COUNT; i++) {
        if (parts[i].size > 0) {
            memcpy(parts[i].data, data, parts[i].size);
        }
        data += parts[i].size;
    }
    return AR_OK;
}

static enum ar_status fork_child(struct ar_trial *trial, int platform, struct ar_error *err)
{
    struct part parts[PARTS_COUNT];
    list_parts(trial, parts);
    size_t data_size = sizeof trial->memory_bytes;
    for (int i = 0; i < PARTS_COUNT; i++) {
        data_size += parts[i].size;
    }
    size_t data_got;
    char log[LOG_ROOM];
    int answer[2];
    int logs[2];
    char *data = malloc(data_size);
    if (data == NULL) {
        return ar_error_no_memory(err, "the results of a simulation");
    }
    if (pipe2(answer, O_CLOEXEC) != 0) {
        free(data);
        return ar_error_set(err, AR_NO_MEMORY, "cannot open a pipe: %s", strerror(errno));
    }
    if (pipe2(logs, O_CLOEXEC) != 0) {
        ar_error_set(err, AR_NO_MEMORY, "cannot open a pipe: %s", strerror(errno));
        close(answer[0]);
        close(answer[1]);
        free(data);
        return AR_NO_MEMORY;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_child(trial, platform, answer[1], logs[1]);
    }
    close(answer[1]);
    close(logs[1]);
    int wait_status = 0;
    enum ar_status status = AR_OK;
    if (child < 0) {
        status = ar_error_set(err, AR_NO_MEMORY, "cannot fork a simulation: %s", strerror(errno));
    } else {
        read_child(answer[0], logs[0], data, data_size, &data_got, log, sizeof log);
        while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
        }
        status = take_results(trial, wait_status, data, data_size, data_got, log, err);
    }
    close(answer[0]);
    close(logs[0]);
    free(data);
    return status;
}

static enum ar_status run(struct ar_trial *trial, struct ar_error *err)
{
    int platform = -1;
    enum ar_status status = write_platform(&trial->collective, &platform, err);
    if (status != AR_OK) {
        return status;
    }
    status = fork_child(trial, platform, err);
    close(platform);
    if (status != AR_OK) {
        return status;
    }
    int major;
    int minor;
    int patch;
    sg_version_get(&major, &minor, &patch);
#define X(option) " " option
    snprintf(trial->options, sizeof trial->options, "simgrid %d.%d.%d" AR_SIMGRID_OPTIONS(X), major,
             minor, patch);
#undef X
    trial->messages_count = trial->jobs_count * ar_collective_messages(&trial->collective);
    trial->exact = true;
    return AR_OK;
}

const struct ar_engine ar_engine_simgrid = {
    .name = "simgrid",
    .title = "SimGrid: every rank an actor, every message a communication; the reference",
    .run = run,
};
