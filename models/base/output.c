#include "ar_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_signals.h"

enum { NAMES_MAX = 100 };

/* Takes the first name that is free: a process of the same number that was killed, or one of
 * another machine, may have one. */
static bool take_name(struct ar_output *output, bool (*take)(struct ar_output *output))
{
    int number = 0;
    do {
        snprintf(output->temporary, sizeof output->temporary, "%s.%ld.%d.tmp", output->path,
                 (long)getpid(), number);
        errno = 0;
        output->has_name = take(output);
    } while (!output->has_name && errno == EEXIST && ++number < NAMES_MAX);
    return output->has_name;
}

static bool open_named(struct ar_output *output)
{
    FILE *file = fopen(output->temporary, "wxe");
    output->file = file != NULL ? file : output->file;
    return file != NULL;
}

/* /proc gives the file its name later. */
static FILE *open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[sizeof((struct ar_output *)0)->path] = ".";
    if (slash != NULL) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - path), path);
    }
    int file = access("/proc/self/fd", X_OK) == 0
                   ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666)
                   : -1;
    FILE *nameless = file >= 0 ? fdopen(file, "w+") : NULL;
    if (file >= 0 && nameless == NULL) {
        close(file);
    }
    return nameless;
}

static bool link_nameless(struct ar_output *output)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(output->file));
    return linkat(AT_FDCWD, path, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0;
}

/* For file systems that have nameless files and give them no name. */
static bool copy_nameless(struct ar_output *output)
{
    FILE *nameless = output->file;
    char bytes[1 << 12];
    if (!take_name(output, open_named)) {
        return false;
    }
    rewind(nameless);
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, nameless)) > 0;) {
        fwrite(bytes, 1, count, output->file);
    }
    bool failed = ferror(nameless) != 0 || ferror(output->file) != 0 || fflush(output->file) != 0;
    fclose(nameless);
    return !failed;
}

static bool name_file(struct ar_output *output)
{
    return output->has_name || take_name(output, link_nameless) || copy_nameless(output);
}

static void remove_temporary(struct ar_output *output)
{
    if (output->has_name) {
        unlink(output->temporary);
    }
}

enum ar_status ar_output_open(const char *path, struct ar_output *output, struct ar_error *err)
{
    if (strlen(path) >= sizeof output->path) {
        return ar_error_set(err, AR_IO, "%.100s...: path too long to write to", path);
    }
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        /* Renaming onto a device such as /dev/null would replace it. */
        return ar_error_set(err, AR_IO, "%s: cannot write: it is %s; expected a file name", path,
                            S_ISDIR(info.st_mode) ? "a directory" : "no regular file");
    }
    snprintf(output->path, sizeof output->path, "%s", path);
    output->has_name = false;
    output->file = open_nameless(path);
    if (output->file == NULL && !take_name(output, open_named)) {
        return ar_error_set(err, AR_IO, "%s: cannot write: %s", path, strerror(errno));
    }
    return AR_OK;
}

static void abort_output(void *output)
{
    ar_output_abort(output);
}

enum ar_status ar_output_begin(const char *path, struct ar_arena *arena, struct ar_output **output,
                               struct ar_error *err)
{
    struct ar_output *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_NEED(made && ar_arena_own(arena, made, abort_output), err, path);
    AR_TRY(ar_output_open(path, made, err));
    *output = made;
    return AR_OK;
}

enum ar_status ar_output_begin_in(const char *directory, const char *name, struct ar_arena *arena,
                                  struct ar_output **output, struct ar_error *err)
{
    const char *path = ar_arena_format(arena, "%s/%s", directory, name);
    return path != NULL ? ar_output_begin(path, arena, output, err) : ar_error_no_memory(err, name);
}

static enum ar_status finish(struct ar_output *output, struct ar_error *err)
{
    /* ferror() remembers a failed write; fflush and fclose report those still to come. */
    bool failed = ferror(output->file) != 0 || fflush(output->file) != 0 || !name_file(output);
    int cause = failed && errno != 0 ? errno : EIO;
    if (fclose(output->file) != 0 && !failed) {
        failed = true;
        cause = errno;
    }
    output->file = NULL;
    if (!failed && rename(output->temporary, output->path) != 0) {
        failed = true;
        cause = errno;
    }
    if (failed) {
        remove_temporary(output);
        return ar_error_set(err, AR_IO, "%s: cannot write: %s", output->path, strerror(cause));
    }
    return AR_OK;
}

enum ar_status ar_output_commit(struct ar_output *output, struct ar_error *err)
{
    struct ar_signals before;
    ar_signals_hold(&before);
    enum ar_status status = finish(output, err);
    ar_signals_restore(&before);
    return status;
}

void ar_output_abort(struct ar_output *output)
{
    if (output->file != NULL) {
        fclose(output->file);
        remove_temporary(output);
        output->file = NULL;
    }
}

enum ar_status ar_make_directory(const char *path, struct ar_error *err)
{
    char part[sizeof((struct ar_output *)0)->path];
    if (path[0] == '\0') {
        return ar_error_set(err, AR_IO, "found an empty path; expected a directory");
    }
    if (strlen(path) >= sizeof part) {
        return ar_error_set(err, AR_IO, "%.100s...: path too long for a directory", path);
    }
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part + 1;; slash++) {
        if (*slash != '/' && *slash != '\0') {
            continue;
        }
        char kept = *slash;
        *slash = '\0';
        struct stat info;
        bool is_there = stat(part, &info) == 0;
        if (is_there && !S_ISDIR(info.st_mode)) {
            return ar_error_set(err, AR_IO, "%s: found a file; expected a directory", part);
        }
        if (!is_there && mkdir(part, 0777) != 0 && errno != EEXIST) {
            return ar_error_set(err, AR_IO, "%s: cannot make the directory: %s", part,
                                strerror(errno));
        }
        *slash = kept;
        if (kept == '\0') {
            return AR_OK;
        }
    }
}
