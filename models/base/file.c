#include "ar_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_signals.h"

enum { FIRST_BYTES = 4096 }; /* a pipe does not say how much there is */

static enum ar_status cannot_read(const char *path, const char *expected, struct ar_error *err)
{
    return ar_error_set(err, AR_NO_INPUT, "%.300s: %s; expected %s", path, strerror(errno),
                        expected);
}

enum ar_status ar_file_read(const char *path, size_t max_bytes, const char *expected,
                            struct ar_arena *arena, char **text, size_t *bytes,
                            struct ar_error *err)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return cannot_read(path, expected, err);
    }
    arena->input = ar_arena_text(arena, path);
    /* Reads until the end, or one byte past the limit. */
    struct stat stat;
    bool is_known = fstat(file, &stat) == 0 && S_ISREG(stat.st_mode);
    size_t known = is_known ? (size_t)stat.st_size : 0, capacity = 0, count = 0;
    char *content = NULL;
    enum ar_status status = AR_OK;
    for (ssize_t got = 1; got > 0 && status == AR_OK; count += (size_t)got) {
        if (count + 1 >= capacity) {
            capacity =
                capacity > 0 ? 2 * capacity : FIRST_BYTES + (known < max_bytes ? known : max_bytes);
            char *larger = ar_arena_room(arena, capacity, 1);
            content = memcpy(larger, count > 0 ? content : "", count);
        }
        got = read(file, content + count, capacity - 1 - count);
        if (got < 0) {
            status = cannot_read(path, expected, err);
        } else if (count + (size_t)got > max_bytes) {
            status = ar_error_set(err, AR_BAD_DATA, "%.300s: larger than %zu bytes; expected %s",
                                  path, max_bytes, expected);
        }
    }
    close(file);
    AR_TRY(status);
    content[count] = '\0';
    size_t mark = count >= 3 && memcmp(content, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* of UTF-8 */
    *text = content + mark;
    *bytes = count - mark;
    return AR_OK;
}

bool ar_file_is_below(const char *name)
{
    bool is_below = name[0] != '/';
    for (const char *at = name; is_below && at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        is_below = strncmp(at, "..", 2) != 0 || (at[2] != '/' && at[2] != '\0');
    }
    return is_below;
}

/* dladdr() says how a program was called, and where a library lies. Each thread asks once: commands
 * that list what is shipped look for a hundred files. */
const char *ar_own_folder(void)
{
    static _Thread_local char path[PATH_MAX];
    if (path[0] == '\0') {
        Dl_info own = {.dli_fname = ""};
        (void)dladdr((const void *)ar_own_folder, &own);
        if (strchr(own.dli_fname, '/') == NULL || realpath(own.dli_fname, path) == NULL) {
            ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
            length = length > 0 ? length : snprintf(path, sizeof path, "./");
            path[length] = '\0';
        }
        *strrchr(path, '/') = '\0';
    }
    return path;
}

enum ar_status ar_module_load(const char *what, const char *name, const char *symbol,
                              const void **found, struct ar_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", ar_own_folder(), name);
    if (access(path, R_OK) != 0) {
        snprintf(path, sizeof path, "%s/%s/%s", ar_own_folder(), AR_MODULE_FOLDER, name);
    }
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL); /* few of its functions are called */
    *found = library != NULL ? dlsym(library, symbol) : NULL;
    AR_REFUSE(*found == NULL, err, AR_UNAVAILABLE,
              "%s: %.300s; expected %s beside the program or in %s of it", what, dlerror(), name,
              AR_MODULE_FOLDER);
    return AR_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

enum { TEMPORARY_NAME = sizeof((struct ar_output *)NULL)->path + 40 };

/* Makes a file beside the one to write. */
static FILE *open_beside(const struct ar_output *output, char name[TEMPORARY_NAME])
{
    snprintf(name, TEMPORARY_NAME, "%s.%ld.tmp", output->path, (long)getpid());
    return fopen(name, "w+xe");
}

AR_DESTROYER(abort_output, ar_output_abort)

enum ar_status ar_output_begin(const char *path, struct ar_arena *arena, struct ar_output **output,
                               struct ar_error *err)
{
    struct ar_output *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_REFUSE(strlen(path) >= sizeof made->path, err, AR_IO, "%.100s...: path too long to write to",
              path);
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        /* Renaming onto a device such as /dev/null would replace it. */
        return ar_error_set(err, AR_IO, "%s: cannot write: it is %s; expected a file name", path,
                            S_ISDIR(info.st_mode) ? "a directory" : "no regular file");
    }
    char name[TEMPORARY_NAME];
    snprintf(made->path, sizeof made->path, "%s", path);
    made->file = open_beside(made, name);
    AR_REFUSE(made->file == NULL, err, AR_IO, "%s: cannot write: %s", path, strerror(errno));
    unlink(name); /* so that nothing stays of a process that is killed */
    *output = ar_arena_own(arena, made, abort_output);
    return AR_OK;
}

enum ar_status ar_output_begin_in(const char *directory, const char *name, struct ar_arena *arena,
                                  struct ar_output **output, struct ar_error *err)
{
    const char *path = ar_arena_format(arena, "%s/%s", directory, name);
    AR_TRY(ar_make_directory(directory, err));
    return ar_output_begin(path, arena, output, err);
}

enum ar_status ar_output_commit(struct ar_output *output, struct ar_error *err)
{
    struct ar_signals before;
    enum ar_status status = AR_OK;
    ar_signals_hold(&before);
    /* Copies what was written to a file with a name, which then replaces that of the path. */
    char name[TEMPORARY_NAME], bytes[1 << 14];
    FILE *named = NULL;
    /* ferror() remembers a failed write; fflush and fclose report those still to come */
    bool is_whole = ferror(output->file) == 0 && fflush(output->file) == 0 &&
                    fseek(output->file, 0, SEEK_SET) == 0 &&
                    (named = open_beside(output, name)) != NULL;
    for (size_t count; is_whole && (count = fread(bytes, 1, sizeof bytes, output->file)) > 0;) {
        fwrite(bytes, 1, count, named);
    }
    is_whole = is_whole && ferror(output->file) == 0 && ferror(named) == 0;
    is_whole = (named == NULL || fclose(named) == 0) && is_whole;
    if (!is_whole || rename(name, output->path) != 0) {
        status = ar_error_set(err, AR_IO, "%s: cannot write: %s", output->path,
                              strerror(errno != 0 ? errno : EIO));
        unlink(named != NULL ? name : "");
    }
    ar_output_abort(output);
    ar_signals_restore(&before);
    return status;
}

void ar_output_abort(struct ar_output *output)
{
    if (output->file != NULL) {
        fclose(output->file);
        output->file = NULL;
    }
}

enum ar_status ar_make_directory(const char *path, struct ar_error *err)
{
    char part[sizeof((struct ar_output *)0)->path];
    AR_REFUSE(path[0] == '\0', err, AR_IO, "found an empty path; expected a directory");
    AR_REFUSE(strlen(path) >= sizeof part, err, AR_IO, "%.100s...: path too long for a directory",
              path);
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part + 1;; slash++) {
        if (*slash != '/' && *slash != '\0') {
            continue;
        }
        char kept = *slash;
        *slash = '\0';
        struct stat info;
        bool is_there = stat(part, &info) == 0;
        AR_REFUSE(is_there && !S_ISDIR(info.st_mode), err, AR_IO,
                  "%s: found a file; expected a directory", part);
        AR_REFUSE(!is_there && mkdir(part, 0777) != 0 && errno != EEXIST, err, AR_IO,
                  "%s: cannot make the directory: %s", part, strerror(errno));
        *slash = kept;
        if (kept == '\0') {
            return AR_OK;
        }
    }
}

/* --- scratch directories ---------------------------------------------------------------------- */

enum { OPEN_MAX_AT_ONCE = 8 };

struct scratch {
    char *path;
    struct ar_signals before;
};

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

static void end_scratch(void *object)
{
    struct scratch *scratch = object;
    (void)nftw(scratch->path, remove_entry, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    ar_signals_restore(&scratch->before);
}

enum ar_status ar_scratch_make(const char *folder, struct ar_arena *arena, const char **path,
                               struct ar_error *err)
{
    struct scratch *scratch = ar_arena_alloc(arena, 1, sizeof *scratch);
    scratch->path = ar_arena_format(arena, "%s/.allreckon-scratch-XXXXXX", folder);
    ar_signals_catch(&scratch->before);
    if (mkdtemp(scratch->path) == NULL) {
        (void)ar_error_set(err, AR_IO, "%.300s: cannot write there: %s", folder, strerror(errno));
        ar_signals_restore(&scratch->before);
        return AR_IO;
    }
    *path = scratch->path;
    ar_arena_own(arena, scratch, end_scratch);
    return AR_OK;
}
