#include "ar_scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_signals.h"

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

static void end(void *object)
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
    if (scratch == NULL || made == NULL) {
        return ar_error_no_memory(err, folder);
    }
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
    return ar_arena_own(arena, scratch, end) != NULL ? AR_OK : ar_error_no_memory(err, folder);
}
