/* Reads a profile: the text of a file, plain or of gzip; of its JSON the events that are needed,
 * one after the other by yajl, so that no more than the text and one event are kept. yajl, unlike
 * jansson, hands over numbers as they are written: times have more digits than a double. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_tree.h>
#include <zlib.h>

#include "ar_text.h"
#include "profile.h"

enum { PIECE_BYTES = 1 << 20, DEPTH_MAX = 64 };

/* Longest text (a gzip may be a thousand times as long as its file), and longest profile, days. */
static const size_t text_max = (size_t)2 << 30;
#define US_MAX 1e12L

struct reader {
    struct ar_kineto *kineto;
    struct ar_arena *scratch;
    char *text;
    long double origin_us; /* begin of the first event; below 0: none yet */
    yajl_val devices;      /* NULL: not there */
    bool has_events;
    struct ar_error *err;
};

static enum ar_status refuse_at(const struct reader *reader, const char *at, const char *found,
                                const char *expected)
{
    size_t line = 1;
    for (const char *next = reader->text; (next = memchr(next, '\n', (size_t)(at - next)));
         next++) {
        line++;
    }
    return ar_error_set(reader->err, AR_BAD_DATA, "%.300s:%zu: %.200s; expected %s",
                        reader->kineto->path, line, found, expected);
}

/* --- values -------------------------------------------------------------------------------- */

static yajl_val find_member(yajl_val object, const char *name)
{
    const char *path[] = {name, NULL};
    return yajl_tree_get(object, path, yajl_t_any);
}

static const char *text_of(yajl_val object, const char *name)
{
    yajl_val value = find_member(object, name);
    return YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : "";
}

/* A whole number, or -1. */
static int64_t read_whole(yajl_val object, const char *name)
{
    yajl_val value = find_member(object, name);
    return YAJL_IS_NUMBER(value) ? strtoll(YAJL_GET_NUMBER(value), NULL, 10) : -1;
}

static long double time_us_of(yajl_val object, const char *name)
{
    yajl_val value = find_member(object, name);
    return YAJL_IS_NUMBER(value) ? strtold(YAJL_GET_NUMBER(value), NULL) : -1;
}

/* A copy that may come to stand in a line. */
static const char *copy_text(const struct reader *reader, const char *text)
{
    char *copy = ar_arena_format(reader->kineto->arena, "%.127s", text);
    ar_text_to_line(copy);
    return copy;
}

/* Elements of the shape of an input, and its first dimension; of a list of tensors those of the
 * first one. The dimensions are counted. */
static unsigned read_shape(yajl_val args, size_t input, uint64_t *elements, uint64_t *first)
{
    yajl_val shape = find_member(args, "Input Dims");
    shape =
        YAJL_IS_ARRAY(shape) && input < shape->u.array.len ? shape->u.array.values[input] : NULL;
    while (YAJL_IS_ARRAY(shape) && shape->u.array.len > 0 &&
           YAJL_IS_ARRAY(shape->u.array.values[0])) {
        shape = shape->u.array.values[0];
    }
    unsigned count = 0;
    *elements = *first = 0;
    for (size_t i = 0; YAJL_IS_ARRAY(shape) && i < shape->u.array.len; i++) {
        yajl_val length = shape->u.array.values[i];
        uint64_t size = YAJL_IS_INTEGER(length) ? (uint64_t)YAJL_GET_INTEGER(length) : 0;
        if (count++ == 0) {
            *first = *elements = size;
        } else {
            bool is_huge = size > 0 && *elements > AR_TRACE_ELEMENTS_MAX / size;
            *elements = is_huge ? AR_TRACE_ELEMENTS_MAX + 1 : *elements * size;
        }
    }
    return count;
}

/* --- events that are kept ------------------------------------------------------------------ */

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The batch of an operator that reads one: the first dimension of an input. */
static uint64_t find_batch_read(const char *name, yajl_val args)
{
    static const struct {
        const char *name;
        size_t input;
    } readers[] = {{"aten::conv1d", 0},
                   {"aten::conv2d", 0},
                   {"aten::conv3d", 0},
                   {"aten::embedding", 1},
                   {"aten::linear", 0}};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        uint64_t elements, first;
        if (strcmp(name, readers[i].name) == 0 &&
            read_shape(args, readers[i].input, &elements, &first) >= 2) {
            return first;
        }
    }
    return 0;
}

/* A call of c10d, such as `_allgather_base_`; false: it is no collective. Shapes of the output and
 * the input of some say the ranks. */
static bool read_call(const char *name, yajl_val args, struct kineto_op *op)
{
    static const char *const calls[] = {"allgather", "reduce_scatter", "allreduce", "alltoall",
                                        "broadcast"};
    enum { REDUCE_SCATTER = 1, CALLS = 5 }; /* up to it shapes say the ranks */
    size_t call = 0;
    uint64_t first, other;
    name += name[0] == '_';
    while (call < CALLS && !begins_with(name, calls[call])) {
        call++;
    }
    if (call == CALLS) {
        return false;
    }
    op->kind = KINETO_CALL;
    op->operation = call == REDUCE_SCATTER ? "reducescatter" : calls[call];
    op->is_flat = read_shape(args, 0, &op->elements, &first) < 2;
    read_shape(args, 1, &other, &first);
    uint64_t smaller = other < op->elements ? other : op->elements;
    op->elements = other > op->elements ? other : op->elements;
    if (call <= REDUCE_SCATTER && smaller > 0 && op->elements / smaller <= UINT32_MAX) {
        op->ranks = (uint32_t)(op->elements / smaller);
    }
    return true;
}

/* The type of the first input, "" where there is none, as of lists. */
static const char *read_type(const struct reader *reader, yajl_val args)
{
    yajl_val types = find_member(args, "Input type");
    bool has_types = YAJL_IS_ARRAY(types) && types->u.array.len > 0;
    char *type = has_types ? YAJL_GET_STRING(types->u.array.values[0]) : NULL;
    return copy_text(reader, type != NULL ? type : "");
}

/* Keeps nodes of the backward pass, gradients, collectives, marks of steps and of their ends,
 * operators of the forward pass. */
static void keep_cpu_op(const struct reader *reader, const char *name, yajl_val args,
                        struct kineto_op *op)
{
    static const char node_prefix[] = "autograd::engine::evaluate_function: ";
    static const char accumulate[] = "torch::autograd::AccumulateGrad";
    static const char step_prefix[] = "ProfilerStep#";
    struct ar_kineto *kineto = reader->kineto;
    uint64_t ignored;
    if (begins_with(name, node_prefix)) {
        name += sizeof node_prefix - 1;
        op->kind = strcmp(name, accumulate) == 0 ? KINETO_ACCUMULATE : KINETO_NODE;
        op->name = copy_text(reader, name);
    } else if (strcmp(name, accumulate) == 0) {
        op->kind = KINETO_SHAPE;
        op->type = read_type(reader, args);
        read_shape(args, 0, &op->elements, &ignored);
    } else if (strcmp(name, "record_param_comms") == 0) {
        int64_t sent = read_whole(args, "In msg nelems");
        op->kind = KINETO_COLLECTIVE;
        op->type = copy_text(reader, text_of(args, "dtype"));
        op->elements = sent > 0 ? (uint64_t)sent : 0;
        if (sent < 0 && read_whole(args, "Out msg nelems") < 0) {
            read_shape(args, 0, &op->elements, &ignored);
        }
    } else if (begins_with(name, "c10d::") && read_call(name + 6, args, op)) {
        op->type = read_type(reader, args);
    } else if (begins_with(name, step_prefix)) {
        op->kind = KINETO_STEP;
        op->number = 0;
        for (name += sizeof step_prefix - 1; *name >= '0' && *name <= '9' && op->number < INT32_MAX;
             name++) {
            op->number = 10 * op->number + (*name - '0');
        }
    } else if (begins_with(name, "Optimizer.step#")) {
        op->kind = KINETO_OPTIMIZER;
    } else if (op->number >= 0) {
        op->kind = KINETO_FORWARD;
        op->batch = find_batch_read(name, args);
    } else {
        return;
    }
    *AR_ARENA_ADD(kineto->arena, kineto->ops, kineto->ops_count) = *op;
}

/* Keeps an event that is complete, if it is of a category that is needed. */
static enum ar_status keep_event(struct reader *reader, const char *at, yajl_val event)
{
    struct ar_kineto *kineto = reader->kineto;
    const char *category = text_of(event, "cat"), *name = text_of(event, "name");
    yajl_val args = find_member(event, "args");
    bool is_cpu_op = strcmp(category, "cpu_op") == 0 || strcmp(category, "user_annotation") == 0;
    bool is_launch = strcmp(category, "cuda_runtime") == 0 || strcmp(category, "cuda_driver") == 0;
    bool is_kernel = strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 ||
                     strcmp(category, "gpu_memset") == 0;
    if (strcmp(text_of(event, "ph"), "X") != 0 || !(is_cpu_op || is_launch || is_kernel)) {
        return AR_OK;
    }
    long double begin_us = time_us_of(event, "ts"), duration_us = time_us_of(event, "dur");
    reader->origin_us = reader->origin_us < 0 ? begin_us : reader->origin_us;
    long double start_us = begin_us - reader->origin_us;
    if (!(begin_us >= 0) || !(duration_us >= 0) || !(start_us < US_MAX) || !(start_us > -US_MAX) ||
        !(duration_us < US_MAX)) {
        char found[160];
        snprintf(found, sizeof found, "event \"%.60s\" begins at %.17Lg and takes %.17Lg", name,
                 begin_us, duration_us);
        return refuse_at(reader, at, found, "microseconds, at most 1e12 of the whole trace");
    }
    int64_t pid = read_whole(event, "pid");
    int64_t correlation = read_whole(args, "correlation"), device = read_whole(args, "device");
    struct kineto_op op = {
        .start_s = (double)(start_us / 1e6L),
        .end_s = (double)((start_us + duration_us) / 1e6L),
        .thread = (int64_t)((uint64_t)pid << 32 ^ (uint64_t)read_whole(event, "tid")),
        .number = read_whole(args, "Sequence number"),
        .forward_thread = read_whole(args, "Fwd thread id"),
        .parent = KINETO_NONE,
    };
    if (is_cpu_op) {
        keep_cpu_op(reader, name, args, &op);
    } else if (is_kernel) {
        *AR_ARENA_ADD(kineto->arena, kineto->kernels, kineto->kernels_count) =
            (struct kineto_kernel){.start_s = op.start_s,
                                   .end_s = op.end_s,
                                   .correlation = correlation,
                                   .device = device >= 0 ? device : pid,
                                   .is_collective = begins_with(name, "nccl")};
    } else if (correlation >= 0) {
        *AR_ARENA_ADD(kineto->arena, kineto->launches, kineto->launches_count) =
            (struct kineto_launch){
                .at_s = op.start_s, .thread = op.thread, .correlation = correlation};
    }
    return AR_OK;
}

/* --- the document -------------------------------------------------------------------------- */

/* Commas count as blanks where lists are gone through. */
static char *skip_blanks(char *at)
{
    return at + strspn(at, " \t\r\n,");
}

/* The end of the value that begins at `at`; NULL: there is none. */
static char *find_value_end(char *at)
{
    unsigned depth = 0;
    do {
        at += depth > 0 ? strspn(at, " \t\r\n,:") : 0;
        if (*at == '"') {
            for (at++; *at != '"'; at++) {
                at += *at == '\\';
                if (*at == '\0') {
                    return NULL;
                }
            }
            at++;
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (depth > 0 && (*at == '}' || *at == ']')) {
            depth--;
            at++;
        } else {
            size_t size = strcspn(at, ",:{}[]\" \t\r\n");
            if (size == 0) {
                return NULL;
            }
            at += size;
        }
    } while (depth > 0 && depth <= DEPTH_MAX);
    return depth == 0 ? at : NULL;
}

AR_DESTROYER(free_tree, yajl_tree_free)

/* Parses the value from `*at` on, and goes behind it; without `tree` it is only skipped. */
static enum ar_status read_value(const struct reader *reader, char **at, yajl_val *tree)
{
    static const char expected[] = "whole JSON of the PyTorch profiler";
    char message[256] = "";
    char *begin = *at, *end = find_value_end(begin);
    AR_REFUSE_BY(
        end == NULL,
        refuse_at(reader, begin, "no value that ends, or one deeper than 64 others", expected));
    *at = end;
    if (tree != NULL) {
        char behind = *end;
        *end = '\0';
        *tree = yajl_tree_parse(begin, message, sizeof message);
        *end = behind;
        message[strcspn(message, "\n")] = '\0';
        return *tree != NULL ? AR_OK : refuse_at(reader, begin, message, expected);
    }
    return AR_OK;
}

static enum ar_status read_events(struct reader *reader, char **at)
{
    reader->has_events = true;
    for (*at = skip_blanks(*at + 1); **at != ']'; *at = skip_blanks(*at)) {
        const char *begin = *at;
        yajl_val event;
        AR_TRY(read_value(reader, at, &event));
        enum ar_status status = keep_event(reader, begin, event);
        yajl_tree_free(event);
        AR_TRY(status);
    }
    (*at)++;
    return AR_OK;
}

/* A member of the document: its key, and behind it the value. */
static enum ar_status read_top_member(struct reader *reader, char **at)
{
    const char *key = *at;
    yajl_val tree = NULL;
    AR_TRY(read_value(reader, at, NULL));
    *at += strspn(*at, " \t\r\n");
    AR_REFUSE_BY(*key != '"' || **at != ':',
                 refuse_at(reader, key, "no key with a value", "JSON of the PyTorch profiler"));
    *at = skip_blanks(*at + 1);
    if (begins_with(key, "\"traceEvents\"") && **at == '[') {
        return read_events(reader, at);
    }
    bool is_devices = begins_with(key, "\"deviceProperties\"");
    bool is_wanted = is_devices || begins_with(key, "\"distributedInfo\"");
    AR_TRY(read_value(reader, at, is_wanted ? &tree : NULL));
    if (is_wanted) {
        ar_arena_own(reader->scratch, tree, free_tree);
        reader->devices = is_devices ? tree : reader->devices;
        if (!is_devices) {
            reader->kineto->world_size = read_whole(tree, "world_size");
            reader->kineto->is_fake = strstr(text_of(tree, "backend"), "fake") != NULL;
        }
    }
    return AR_OK;
}

enum ar_status kineto_read(const char *path, char *text, size_t bytes, struct ar_arena *arena,
                           struct ar_kineto *kineto, struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct reader reader = {
        .kineto = kineto, .scratch = &scratch, .text = text, .origin_us = -1, .err = err};
    *kineto = (struct ar_kineto){.arena = arena, .path = path, .world_size = -1};
    static const char expected[] = "JSON of the PyTorch profiler: an object with traceEvents";
    char *at = skip_blanks(reader.text);
    AR_REFUSE_BY(*at != '{', refuse_at(&reader, at, bytes == 0 ? "empty" : "no object", expected));
    for (at = skip_blanks(at + 1); *at != '}'; at = skip_blanks(at)) {
        AR_TRY(read_top_member(&reader, &at));
    }
    at = skip_blanks(at + 1);
    AR_REFUSE_BY(at != reader.text + bytes,
                 refuse_at(&reader, at, "more behind the object", expected));
    AR_TRY(reader.has_events ? AR_OK : refuse_at(&reader, at, "no traceEvents", expected));
    kineto_nest(kineto);
    kineto->gpu = "a GPU without a name";
    for (size_t i = 0; kineto->kernels_count > 0 && YAJL_IS_ARRAY(reader.devices) &&
                       i < reader.devices->u.array.len;
         i++) {
        yajl_val device = reader.devices->u.array.values[i];
        if (read_whole(device, "id") == kineto->kernels[0].device) {
            kineto->gpu = copy_text(&reader, text_of(device, "name"));
        }
    }
    return AR_OK;
}

/* --- the file ------------------------------------------------------------------------------ */

AR_DESTROYER(close_file, gzclose)

enum ar_status kineto_read_text(const char *path, struct ar_arena *arena, char **text,
                                size_t *bytes, struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    gzFile file = gzopen(path, "rbe");
    AR_REFUSE(file == NULL, err, AR_NO_INPUT,
              "%.300s: %s; expected a trace of the PyTorch profiler, .json or .json.gz", path,
              strerror(errno));
    ar_arena_own(&scratch, file, close_file);
    size_t length = strlen(path);
    *text = NULL;
    for (*bytes = 0;;) {
        int code;
        *text = ar_arena_grow(arena, *text, *bytes, PIECE_BYTES + 1, 1);
        int count = gzread(file, *text + *bytes, PIECE_BYTES);
        /* Also asked for a file that is cut off; zlib 1.3.2 forgets it with the next read. */
        const char *what = gzerror(file, &code);
        AR_REFUSE(code == Z_ERRNO, err, AR_NO_INPUT, "%.300s: cannot be read: %s", path,
                  strerror(errno));
        /* zlib begins its messages with the path. */
        what += strncmp(what, path, length) == 0 && what[length] == ':' ? length + 2 : 0;
        AR_REFUSE(count < 0 || code != Z_OK, err, AR_BAD_DATA,
                  "%.300s: gzip is broken: %.100s; expected a whole file", path, what);
        *bytes += (size_t)count;
        (*text)[*bytes] = '\0';
        if (count == 0) {
            return AR_OK;
        }
        AR_REFUSE(*bytes > text_max, err, AR_BAD_DATA,
                  "%.300s: a text of more than %zu bytes; expected a profile of a few steps", path,
                  text_max);
    }
}
