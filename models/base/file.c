#include "ar_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_text.h"

enum { FIRST_BYTES = 65536 };

static enum ar_status cannot_read(const char *path, const char *expected, struct ar_error *err)
{
    return ar_error_set(err, AR_NO_INPUT, "%.300s: %s; expected %s", path, strerror(errno),
                        expected);
}

/* Reads until the end, or one byte past the limit; a pipe does not say how much there is. */
static enum ar_status read_bytes(FILE *file, const char *path, size_t max_bytes,
                                 const char *expected, struct ar_arena *arena, char **text,
                                 size_t *bytes, struct ar_error *err)
{
    size_t capacity = 0;
    size_t count = 0;
    char *read = NULL;
    for (size_t got = 1; got > 0; count += got) {
        if (count + 1 >= capacity) {
            capacity = capacity == 0 ? FIRST_BYTES : 2 * capacity;
            char *larger = ar_arena_alloc(arena, capacity, 1);
            read = memcpy(larger, count > 0 ? read : "", count);
        }
        got = fread(read + count, 1, capacity - 1 - count, file);
        if (ferror(file)) {
            return cannot_read(path, expected, err);
        }
        if (count + got > max_bytes) {
            return ar_error_set(err, AR_BAD_DATA, "%.300s: larger than %zu bytes; expected %s",
                                path, max_bytes, expected);
        }
    }
    size_t mark = count >= 3 && memcmp(read, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* of UTF-8 */
    *text = read + mark;
    *bytes = count - mark;
    return AR_OK;
}

enum ar_status ar_file_read(const char *path, size_t max_bytes, const char *expected,
                            struct ar_arena *arena, char **text, size_t *bytes,
                            struct ar_error *err)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return cannot_read(path, expected, err);
    }
    arena->input = ar_arena_text(arena, path);
    enum ar_status status = read_bytes(file, path, max_bytes, expected, arena, text, bytes, err);
    fclose(file);
    return status;
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

/* dladdr() says how a program was called, and where a library lies. */
void ar_own_folder(char folder[AR_OWN_FOLDER])
{
    char path[PATH_MAX] = "";
    Dl_info own = {.dli_fname = ""};
    (void)dladdr((const void *)ar_own_folder, &own);
    if (strchr(own.dli_fname, '/') == NULL || realpath(own.dli_fname, path) == NULL) {
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
    }
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    ar_copy_text(folder, AR_OWN_FOLDER, slash != NULL ? path : ".");
}
