#include "ar_scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ar_signals.h"

#define NAME ".allreckon-"

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
    (void)nftw(path, remove_entry, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}

/* -1 if another process has it, or there are no locks. */
static int lock_directory(const char *path)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory >= 0 && flock(directory, LOCK_EX | LOCK_NB) != 0) {
        close(directory);
        directory = -1;
    }
    return directory;
}

/* Removes what killed processes left. */
static void remove_left(const char *folder, struct ar_arena *arena)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        bool is_ours = strncmp(entry->d_name, NAME, strlen(NAME)) == 0;
        char *path = is_ours ? ar_arena_format(arena, "%s/%s", folder, entry->d_name) : NULL;
        int lock = path != NULL ? lock_directory(path) : -1;
        if (lock >= 0) {
            remove_all(path);
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
    char *made = ar_arena_format(arena, "%s/" NAME "XXXXXX", folder);
    if (scratch == NULL || made == NULL) {
        return ar_error_no_memory(err, folder);
    }
    remove_left(folder, arena);
    ar_signals_catch(&scratch->before);
    if (mkdtemp(made) == NULL) {
        (void)ar_error_set(err, AR_IO, "%.300s: cannot write there: %s", folder, strerror(errno));
        ar_signals_restore(&scratch->before);
        return err->status;
    }
    scratch->path = made;
    scratch->lock = lock_directory(made);
    *path = made;
    return ar_arena_own(arena, scratch, end) != NULL ? AR_OK : ar_error_no_memory(err, folder);
}
