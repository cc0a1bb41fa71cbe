/* Reads a trace, and says which operator launched what. */
#include <errno.h>
#include <search.h>
#include <string.h>
#include <zlib.h>

#include "ar_arena.h"
#include "kineto.h"

enum { PIECE_BYTES = 1 << 16 };

void *kineto_grow(const struct ar_kineto *kineto, void *list, size_t count, size_t size)
{
    return count < KINETO_NONE / 2 ? ar_arena_grow(kineto->arena, list, count, 1, size) : NULL;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

const char *kineto_intern(struct ar_kineto *kineto, const char *text)
{
    void *found = tfind(text, &kineto->names, compare_texts);
    if (found != NULL) {
        return *(const char *const *)found;
    }
    const char *copy = ar_arena_text(kineto->arena, text);
    found = copy != NULL ? tsearch(copy, &kineto->names, compare_texts) : NULL;
    return found != NULL ? copy : NULL;
}

static void keep_text(void *text)
{
    (void)text; /* the arena's */
}

static void forget_names(void *object)
{
    struct ar_kineto *kineto = object;
    tdestroy(kineto->names, keep_text);
}

static enum ar_status create(const char *path, struct ar_arena *arena, struct ar_kineto **kineto,
                             struct ar_error *err)
{
    struct ar_kineto *made = ar_arena_alloc(arena, 1, sizeof *made);
    const char *kept = ar_arena_text(arena, path);
    AR_NEED(made && kept && ar_arena_own(arena, made, forget_names), err, path);
    made->arena = arena;
    made->path = kept;
    made->rank = -1;
    made->world_size = -1;
    *kineto = made;
    return AR_OK;
}

/* --- text in memory, or in a file ----------------------------------------------------------- */

static enum ar_status parse(const char *path, const void *text, size_t bytes,
                            struct kineto_json *json, struct ar_error *err)
{
    if (bytes == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: empty; expected JSON of the PyTorch profiler", path);
    }
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t count = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        AR_TRY(kineto_json_feed(json, (const char *)text + at, count, err));
    }
    return kineto_json_finish(json, err);
}

enum ar_status ar_kineto_parse(const char *path, const void *text, size_t bytes,
                               struct ar_arena *arena, struct ar_kineto **kineto,
                               struct ar_error *err)
{
    struct ar_kineto *made = NULL;
    struct kineto_json *json = NULL;
    AR_TRY(create(path, arena, &made, err));
    AR_TRY(kineto_json_begin(made, &json, err));
    enum ar_status status = parse(made->path, text, bytes, json, err);
    kineto_json_destroy(json);
    AR_TRY(status);
    kineto_nest(made);
    *kineto = made;
    return AR_OK;
}

/* zlib begins its messages with the path. */
static enum ar_status cannot_unpack(const char *path, gzFile file, uint64_t bytes,
                                    struct ar_error *err)
{
    int code;
    const char *what = gzerror(file, &code);
    if (code == Z_ERRNO) {
        return ar_error_set(err, AR_NO_INPUT, "%.300s: cannot be read: %s", path, strerror(errno));
    }
    size_t length = strlen(path);
    what += strncmp(what, path, length) == 0 && what[length] == ':' ? length + 2 : 0;
    return ar_error_set(err, AR_BAD_DATA,
                        "%.300s: gzip is broken behind byte %llu of the text: %.100s; expected a "
                        "whole file",
                        path, (unsigned long long)bytes, what);
}

static enum ar_status read_pieces(const char *path, gzFile file, struct kineto_json *json,
                                  struct ar_error *err)
{
    unsigned char piece[PIECE_BYTES];
    uint64_t bytes = 0;
    for (;;) {
        int code;
        int count = gzread(file, piece, sizeof piece);
        /* Of a file that is cut off; zlib 1.3.2 forgets it with the next read. */
        gzerror(file, &code);
        if (count < 0 || code != Z_OK) {
            return cannot_unpack(path, file, bytes, err);
        }
        if (count == 0) {
            return bytes == 0 ? parse(path, "", 0, json, err) : kineto_json_finish(json, err);
        }
        AR_TRY(kineto_json_feed(json, piece, (size_t)count, err));
        bytes += (uint64_t)count;
    }
}

static enum ar_status cannot_open(const char *path, struct ar_error *err)
{
    return ar_error_set(err, AR_NO_INPUT,
                        "%.300s: %s; expected a trace of the PyTorch profiler, .json or .json.gz",
                        path, strerror(errno));
}

enum ar_status ar_kineto_load(const char *path, struct ar_arena *arena, struct ar_kineto **kineto,
                              struct ar_error *err)
{
    struct ar_kineto *made = NULL;
    struct kineto_json *json = NULL;
    AR_TRY(create(path, arena, &made, err));
    gzFile file = gzopen(path, "rbe");
    if (file == NULL) {
        return cannot_open(path, err);
    }
    gzbuffer(file, PIECE_BYTES);
    enum ar_status status = kineto_json_begin(made, &json, err);
    if (status == AR_OK) {
        status = read_pieces(made->path, file, json, err);
        kineto_json_destroy(json);
    }
    gzclose(file);
    AR_TRY(status);
    kineto_nest(made);
    *kineto = made;
    return AR_OK;
}
