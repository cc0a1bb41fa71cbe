#include "ar_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_BYTES = 65536 };

static enum ar_status cannot_read(const char *path, const char *expected, struct ar_error *err)
{
    return ar_error_set(err, AR_NO_INPUT, "%.300s: %s; expected %s", path, strerror(errno),
                        expected);
}

/* Reads until the end, or one byte past the limit. */
static enum ar_status read_bytes(FILE *file, const char *path, size_t max_bytes,
                                 const char *expected, char **text, size_t *bytes,
                                 struct ar_error *err)
{
    size_t capacity = 0;
    for (size_t got = 1; got > 0; *bytes += got) {
        if (*bytes + 1 >= capacity) {
            capacity = capacity == 0 ? FIRST_BYTES : 2 * capacity;
            char *larger = realloc(*text, capacity);
            if (larger == NULL) {
                return ar_error_no_memory(err, path);
            }
            *text = larger;
        }
        got = fread(*text + *bytes, 1, capacity - 1 - *bytes, file);
        if (ferror(file)) {
            return cannot_read(path, expected, err);
        }
        if (*bytes + got > max_bytes) {
            return ar_error_set(err, AR_BAD_DATA, "%.300s: larger than %zu bytes; expected %s",
                                path, max_bytes, expected);
        }
    }
    (*text)[*bytes] = '\0';
    return AR_OK;
}

enum ar_status ar_file_read(const char *path, size_t max_bytes, const char *expected, char **text,
                            size_t *bytes, struct ar_error *err)
{
    struct stat facts;
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return cannot_read(path, expected, err);
    }
    if (fstat(fileno(file), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        fclose(file);
        return ar_error_set(err, AR_NO_INPUT, "%.300s: is a directory; expected %s", path,
                            expected);
    }
    char *read = NULL;
    size_t read_count = 0;
    enum ar_status status = read_bytes(file, path, max_bytes, expected, &read, &read_count, err);
    fclose(file);
    if (status != AR_OK) {
        free(read);
        return status;
    }
    if (read_count >= 3 && memcmp(read, "\xef\xbb\xbf", 3) == 0) {
        read_count -= 3;
        memmove(read, read + 3, read_count + 1);
    }
    *text = read;
    *bytes = read_count;
    return AR_OK;
}
