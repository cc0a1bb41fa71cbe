#include "ar_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
    ar_arena_own(arena, made, abort_output);
    AR_TRY(ar_output_open(path, made, err));
    *output = made;
    return AR_OK;
}

enum ar_status ar_output_begin_in(const char *directory, const char *name, struct ar_arena *arena,
                                  struct ar_output **output, struct ar_error *err)
{
    const char *path = ar_arena_format(arena, "%s/%s", directory, name);
    return ar_output_begin(path, arena, output, err);
}

static enum ar_status finish_file(struct ar_output *output, struct ar_error *err)
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
    enum ar_status status = finish_file(output, err);
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

/* --- scratch directories ---------------------------------------------------------------------- */

#define NAME   ".allreckon-scratch-"
#define RANDOM "XXXXXX"

enum { OPEN_MAX_AT_ONCE = 8 };

struct scratch {
    char *path;
    int lock; /* -1: the file system has none */
    struct ar_signals before;
};

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_all(const char *path)
{
    (void)nftw(path, remove_entry, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* -1 if another process has it or removed it (*is_lost), or there are no locks. */
static int lock_directory(const char *path, bool *is_lost)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool has_lock = directory >= 0 && flock(directory, LOCK_EX | LOCK_NB) == 0;
    *is_lost = has_lock         ? access(path, F_OK) != 0
               : directory >= 0 ? errno == EWOULDBLOCK
                                : errno == ENOENT;
    if (directory >= 0 && (!has_lock || *is_lost)) {
        close(directory);
        directory = -1;
    }
    return directory;
}

/* As mkdtemp() makes it, for this user. */
static bool is_ours(const char *name, int directory)
{
    struct stat info;
    return strlen(name) == strlen(NAME RANDOM) && fstat(directory, &info) == 0 &&
           info.st_uid == geteuid() && (info.st_mode & 0777) == 0700;
}

/* Removes what killed processes left. */
static void remove_left(const char *folder, struct ar_arena *arena)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        bool is_named = strncmp(entry->d_name, NAME, strlen(NAME)) == 0, is_lost;
        char *path = is_named ? ar_arena_format(arena, "%s/%s", folder, entry->d_name) : NULL;
        int lock = path != NULL ? lock_directory(path, &is_lost) : -1;
        if (lock >= 0 && is_ours(entry->d_name, lock)) {
            remove_all(path);
        }
        if (lock >= 0) {
            close(lock);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

static void end_scratch(void *object)
{
    struct scratch *scratch = object;
    remove_all(scratch->path);
    if (scratch->lock >= 0) {
        close(scratch->lock);
    }
    ar_signals_restore(&scratch->before);
}

enum ar_status ar_scratch_make(const char *folder, struct ar_arena *arena, const char **path,
                               struct ar_error *err)
{
    struct scratch *scratch = ar_arena_alloc(arena, 1, sizeof *scratch);
    char *made = ar_arena_format(arena, "%s/" NAME RANDOM, folder);
    remove_left(folder, arena);
    ar_signals_catch(&scratch->before);
    for (bool is_lost = true; is_lost;) {
        memcpy(strrchr(made, '-') + 1, RANDOM, strlen(RANDOM));
        if (mkdtemp(made) == NULL) {
            (void)ar_error_set(err, AR_IO, "%.300s: cannot write there: %s", folder,
                               strerror(errno));
            ar_signals_restore(&scratch->before);
            return err->status;
        }
        /* Until it is locked, another process may take it for one that was left. */
        scratch->lock = lock_directory(made, &is_lost);
        if (is_lost) {
            (void)rmdir(made);
        }
    }
    scratch->path = made;
    *path = made;
    ar_arena_own(arena, scratch, end_scratch);
    return AR_OK;
}
