/* Parent side of a simulation: loads the module, writes the platform, forks, reads the results. */
#include "simgrid_task.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_file.h"
#include "ar_signals.h"
#include "ar_simgrid_xml.h"

enum { CAUSE_SIZE = 240 };

/* --- the module ------------------------------------------------------------------------------- */

/* Defined if the objects of the module are part of this program. */
extern const struct simgrid_module ar_simgrid_module __attribute__((weak));

/* The module, loaded by the first call and never unloaded. */
static enum ar_status module_get(const struct simgrid_module **module, struct ar_error *err)
{
    static const void *loaded;
    loaded = &ar_simgrid_module != NULL ? &ar_simgrid_module : loaded;
    if (loaded == NULL) {
        AR_TRY(ar_module_load("engine simgrid", "liballreckon-simgrid.so", "ar_simgrid_module",
                              &loaded, err));
    }
    *module = loaded;
    return AR_OK;
}

enum ar_status simgrid_describe(char *text, size_t size, struct ar_error *err)
{
    const struct simgrid_module *module;
    int major, minor, patch;
    AR_TRY(module_get(&module, err));
    module->version(&major, &minor, &patch);
#define BEHIND_BLANK(option) " " option
    snprintf(text, size, "simgrid %d.%d.%d" AR_SIMGRID_OPTIONS(BEHIND_BLANK), major, minor, patch);
    return AR_OK;
}

/* --- files in memory: nothing to clean up, nothing on the disk -------------------------------- */

static enum ar_status open_in_memory(const char *what, int *file, struct ar_error *err)
{
    *file = memfd_create(what, MFD_CLOEXEC);
    AR_REFUSE(*file < 0, err, AR_NO_MEMORY, "cannot hold the %s in memory: %s", what,
              strerror(errno));
    return AR_OK;
}

static enum ar_status write_task_platform(const struct simgrid_task *task, int platform,
                                          struct ar_error *err)
{
    uint32_t nodes = (task->ranks - 1) / ar_cluster_facts(task->cluster)->gpus_per_node + 1;
    int copy = dup(platform);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    if (file != NULL) {
        ar_cluster_write_simgrid(task->cluster, nodes, task->pairs, task->pairs_count, file);
    }
    bool has_failed = file == NULL || ferror(file) != 0;
    has_failed = (file != NULL && fclose(file) != 0) || has_failed;
    return has_failed ? ar_error_set(err, AR_NO_MEMORY, "cannot hold the platform in memory: %s",
                                     strerror(errno))
                      : AR_OK;
}

/* --- why a child died ------------------------------------------------------------------------- */

/* The first sentence that it left behind says why. */
static enum ar_status check_end(int wait_status, int log_file, struct ar_error *err)
{
    char cause[CAUSE_SIZE] = "";
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
        return AR_OK;
    }
    AR_REFUSE(pread(log_file, cause, sizeof cause - 1, 0) < 0, err, AR_INTERNAL,
              "cannot read the answer of a simulation");
    cause[strcspn(cause, ".\n")] = '\0';
    AR_REFUSE(strstr(cause, "alloc") != NULL, err, AR_NO_MEMORY, /* SimGrid aborts then */
              "the simulation has no memory: %s", cause);
    const char *colon = cause[0] != '\0' ? ": " : "";
    AR_REFUSE(WIFSIGNALED(wait_status), err, AR_INTERNAL,
              "the simulation was ended by signal %d (%s)%s%s", WTERMSIG(wait_status),
              strsignal(WTERMSIG(wait_status)), colon, cause);
    return ar_error_set(err, AR_INTERNAL, "the simulation exited with code %d%s%s",
                        WEXITSTATUS(wait_status), colon, cause);
}

/* --- the child -------------------------------------------------------------------------------- */

static enum ar_status fork_child(const struct simgrid_module *module, struct simgrid_task *task,
                                 int log, struct ar_error *err)
{
    int wait_status = 0;
    pid_t child = ar_fork();
    AR_REFUSE(child < 0, err, AR_NO_MEMORY, "cannot fork a simulation: %s", strerror(errno));
    if (child == 0) {
        dup2(log, STDERR_FILENO);
        dup2(log, STDOUT_FILENO);
        /* No handlers of atexit(): a process that ends needs no clean-up. */
        _exit(module->run(task) ? 0 : 1);
    }
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
    }
    return check_end(wait_status, log, err);
}

enum { PLATFORM, LOG, ANSWER, FILES };

static enum ar_status run_with_files(struct simgrid_task *task, int files[FILES],
                                     struct ar_error *err)
{
    const struct simgrid_module *module;
    char path[64];
    AR_TRY(open_in_memory("platform", &files[PLATFORM], err));
    AR_TRY(module_get(&module, err));
    AR_TRY(write_task_platform(task, files[PLATFORM], err));
    AR_TRY(open_in_memory("log", &files[LOG], err));
    AR_TRY(open_in_memory("answer", &files[ANSWER], err));
    snprintf(path, sizeof path, "/proc/self/fd/%d", files[PLATFORM]);
    task->platform_path = path;
    task->answer = files[ANSWER];
    task->is_whole = false;
    task->results[SIMGRID_RESULTS_MAX] =
        (struct iovec){task->usage, task->usage != NULL ? ar_usage_size(task->usage) : 0};
    task->results[SIMGRID_RESULTS_MAX + 1] = (struct iovec){&task->is_whole, sizeof task->is_whole};
    AR_TRY(fork_child(module, task, files[LOG], err));
    AR_REFUSE(preadv(task->answer, task->results, SIMGRID_ANSWERS, 0) < 0 || !task->is_whole, err,
              AR_INTERNAL, "cannot read the answer of a simulation");
    return AR_OK;
}

enum ar_status simgrid_task_run(struct simgrid_task *task, struct ar_error *err)
{
    int files[FILES] = {-1, -1, -1};
    enum ar_status status = run_with_files(task, files, err);
    for (int i = 0; i < FILES; i++) {
        if (files[i] >= 0) {
            close(files[i]);
        }
    }
    return status;
}
