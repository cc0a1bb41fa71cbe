/* The events of a trace from its JSON, piece by piece, by yajl. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "ar_text.h"
#include "event.h"

/* Depths of what is read: the document, its lists, an event or a device, its args, their values. */
enum { TOP = 1, PART = 2, ENTRY = 3, ARGS = 4, VALUES = 5, DEPTH_MAX = 64 };
enum { NUMBER_TEXT = 64 };

/* Of text, unpacked: a gzip may be a thousand times as long as its file. yajl keeps a value whole.
 */
static const uint64_t text_max = (uint64_t)4 << 30;
static const uint64_t value_max = (uint64_t)4 << 20;

/* What a key means, by the depth at which it stands. */
enum key {
    KEY_OTHER,
    KEY_EVENTS,
    KEY_DEVICES,
    KEY_DISTRIBUTED,
    KEY_ARGS,
    KEY_TEXT,   /* of an event, at `offset` */
    KEY_NUMBER, /* the same */
    KEY_TIME,   /* the same */
    KEY_DIMS,
    KEY_TYPES,
    KEY_RANK,
    KEY_WORLD,
    KEY_GPU_ID,
    KEY_GPU_NAME
};

struct key_row {
    const char *name;
    size_t offset;
    enum key key;
};

#define TEXT(name, field)                                                                          \
    {                                                                                              \
        name, offsetof(struct kineto_event, field), KEY_TEXT                                       \
    }
#define NUMBER(name, field)                                                                        \
    {                                                                                              \
        name, offsetof(struct kineto_event, field), KEY_NUMBER                                     \
    }
#define TIME(name, field)                                                                          \
    {                                                                                              \
        name, offsetof(struct kineto_event, field), KEY_TIME                                       \
    }

static const struct key_row top_keys[] = {{"traceEvents", 0, KEY_EVENTS},
                                          {"deviceProperties", 0, KEY_DEVICES},
                                          {"distributedInfo", 0, KEY_DISTRIBUTED},
                                          {NULL, 0, KEY_OTHER}};
static const struct key_row rank_keys[] = {
    {"rank", 0, KEY_RANK}, {"world_size", 0, KEY_WORLD}, {NULL, 0, KEY_OTHER}};
static const struct key_row gpu_keys[] = {
    {"id", 0, KEY_GPU_ID}, {"name", 0, KEY_GPU_NAME}, {NULL, 0, KEY_OTHER}};
static const struct key_row event_keys[] = {
    TEXT("ph", phase),        TEXT("cat", category), TEXT("name", name),
    NUMBER("pid", pid),       NUMBER("tid", tid),    TIME("ts", start_us),
    TIME("dur", duration_us), {"args", 0, KEY_ARGS}, {NULL, 0, KEY_OTHER}};
static const struct key_row arg_keys[] = {NUMBER("correlation", correlation),
                                          NUMBER("device", device),
                                          NUMBER("Sequence number", sequence),
                                          NUMBER("Fwd thread id", forward_thread),
                                          {"Input Dims", 0, KEY_DIMS},
                                          {"Input type", 0, KEY_TYPES},
                                          TEXT("Collective name", collective),
                                          TEXT("dtype", dtype),
                                          NUMBER("In msg nelems", in_elements),
                                          NUMBER("Out msg nelems", out_elements),
                                          NUMBER("Group size", group_size),
                                          TEXT("Process Group Ranks", ranks),
                                          {NULL, 0, KEY_OTHER}};
static const struct key_row other = {NULL, 0, KEY_OTHER};

struct kineto_json {
    struct ar_kineto *kineto;
    yajl_handle yajl;
    unsigned depth;
    const struct key_row *keys[VALUES]; /* that stand at the depths up to ARGS */
    struct kineto_event event;
    struct kineto_gpu gpu;
    unsigned input; /* whose dims or type is read */
    long double origin_us;
    bool has_events;
    uint64_t bytes, lines; /* before the piece that is read */
    uint64_t key_at;       /* where the last key was, but for its piece */
    enum ar_status status; /* of a callback; its error without the place */
    struct ar_error err;
};

static enum key key_at(const struct kineto_json *json, unsigned depth)
{
    return json->depth >= depth ? json->keys[depth]->key : KEY_OTHER;
}

/* Whether what comes is inside of an event. */
static bool is_in_event(const struct kineto_json *json)
{
    return json->depth >= ENTRY && key_at(json, TOP) == KEY_EVENTS;
}

static int stop(struct kineto_json *json, enum ar_status status)
{
    json->status = status;
    return status == AR_OK;
}

/* --- values --------------------------------------------------------------------------------- */

/* The key whose value comes: of the event, its args, or other entries. */
static const struct key_row *key_of_value(const struct kineto_json *json)
{
    if (json->depth == PART && key_at(json, TOP) == KEY_DISTRIBUTED) {
        return json->keys[PART];
    }
    if (json->depth == ENTRY || (json->depth == ARGS && key_at(json, ENTRY) == KEY_ARGS)) {
        return json->keys[json->depth];
    }
    return &other;
}

/* The list of the args that is read, KEY_DIMS or KEY_TYPES. */
static enum key list_of_value(const struct kineto_json *json)
{
    bool is_arg = is_in_event(json) && json->depth >= VALUES && key_at(json, ENTRY) == KEY_ARGS;
    return is_arg ? key_at(json, ARGS) : KEY_OTHER;
}

static void take_dimension(struct kineto_json *json, int64_t length)
{
    if (json->input >= KINETO_DIMS || json->depth == VALUES || length < 0) {
        return;
    }
    struct kineto_dims *dims = &json->event.dims[json->input];
    if (dims->is_whole) {
        return;
    }
    uint64_t size = (uint64_t)length;
    dims->first = dims->count == 0 ? size : dims->first;
    dims->elements = dims->count == 0 ? size : dims->elements;
    if (dims->count++ > 0) {
        bool is_huge = size > 0 && dims->elements > AR_TRACE_ELEMENTS_MAX / size;
        dims->elements = is_huge ? AR_TRACE_ELEMENTS_MAX + 1 : dims->elements * size;
    }
}

static int on_number(void *context, const char *text, size_t length)
{
    struct kineto_json *json = context;
    char number[NUMBER_TEXT];
    if (length >= sizeof number) {
        return stop(json, ar_error_set(&json->err, AR_BAD_DATA,
                                       "a number of %zu characters; expected at most %d", length,
                                       NUMBER_TEXT - 1));
    }
    memcpy(number, text, length);
    number[length] = '\0';
    const struct key_row *key = key_of_value(json);
    if (list_of_value(json) == KEY_DIMS) {
        take_dimension(json, strtoll(number, NULL, 10));
    } else if (key->key == KEY_NUMBER) {
        *(int64_t *)((char *)&json->event + key->offset) = strtoll(number, NULL, 10);
    } else if (key->key == KEY_TIME) {
        *(long double *)((char *)&json->event + key->offset) = strtold(number, NULL);
    } else if (key->key == KEY_RANK) {
        json->kineto->rank = strtoll(number, NULL, 10);
    } else if (key->key == KEY_WORLD) {
        json->kineto->world_size = strtoll(number, NULL, 10);
    } else if (key->key == KEY_GPU_ID) {
        json->gpu.id = strtoll(number, NULL, 10);
    }
    return 1;
}

static void copy_text(char text[KINETO_TEXT], const unsigned char *bytes, size_t length)
{
    size_t count = length < KINETO_TEXT ? length : KINETO_TEXT - 1;
    for (size_t i = 0; i < count; i++) {
        text[i] = bytes[i] < ' ' ? '?' : (char)bytes[i]; /* it may come to stand in a line */
    }
    text[count] = '\0';
}

static int on_string(void *context, const unsigned char *bytes, size_t length)
{
    struct kineto_json *json = context;
    char text[KINETO_TEXT];
    const struct key_row *key = key_of_value(json);
    if (list_of_value(json) == KEY_TYPES && json->depth == VALUES && json->input++ == 0) {
        copy_text(json->event.input_type, bytes, length);
    } else if (key->key == KEY_NUMBER) { /* threads, in old files */
        copy_text(text, bytes, length);
        *(int64_t *)((char *)&json->event + key->offset) = strtoll(text, NULL, 10);
    } else if (key->key == KEY_TEXT) {
        copy_text((char *)&json->event + key->offset, bytes, length);
    } else if (key->key == KEY_GPU_NAME) {
        copy_text(text, bytes, length);
        json->gpu.name = kineto_intern(json->kineto, text);
        return json->gpu.name != NULL || stop(json, ar_error_no_memory(&json->err, "a trace"));
    }
    return 1;
}

/* --- structure ------------------------------------------------------------------------------ */

static const struct key_row *keys_at(const struct kineto_json *json)
{
    enum key top = json->depth > TOP ? key_at(json, TOP) : KEY_OTHER;
    if (json->depth == TOP) {
        return top_keys;
    }
    if (json->depth == PART && top == KEY_DISTRIBUTED) {
        return rank_keys;
    }
    if (json->depth == ENTRY && top == KEY_DEVICES) {
        return gpu_keys;
    }
    if (json->depth == ENTRY && top == KEY_EVENTS) {
        return event_keys;
    }
    return json->depth == ARGS && top == KEY_EVENTS && key_at(json, ENTRY) == KEY_ARGS ? arg_keys
                                                                                       : &other;
}

static int on_key(void *context, const unsigned char *bytes, size_t length)
{
    struct kineto_json *json = context;
    if (json->depth > ARGS) {
        return 1;
    }
    const struct key_row *row = keys_at(json);
    while (row->name != NULL &&
           (strncmp(row->name, (const char *)bytes, length) != 0 || row->name[length] != '\0')) {
        row++;
    }
    json->keys[json->depth] = row;
    json->input = 0;
    json->key_at = json->bytes;
    return 1;
}

static int begin(struct kineto_json *json)
{
    if (json->depth == DEPTH_MAX) {
        return stop(json,
                    ar_error_set(&json->err, AR_BAD_DATA,
                                 "values within more than %d others; expected fewer", DEPTH_MAX));
    }
    json->depth++;
    if (json->depth < VALUES) {
        json->keys[json->depth] = &other;
    }
    return 1;
}

static int on_map(void *context)
{
    struct kineto_json *json = context;
    if (json->depth == PART) {
        json->event = (struct kineto_event){.start_us = -1,
                                            .duration_us = -1,
                                            .pid = -1,
                                            .tid = -1,
                                            .id = -1,
                                            .correlation = -1,
                                            .device = -1,
                                            .sequence = -1,
                                            .forward_thread = -1,
                                            .in_elements = -1,
                                            .out_elements = -1,
                                            .group_size = -1};
        json->gpu = (struct kineto_gpu){.id = -1};
    }
    return begin(json);
}

static int on_array(void *context)
{
    struct kineto_json *json = context;
    if (json->depth == 0) {
        return stop(json, ar_error_set(&json->err, AR_BAD_DATA,
                                       "a list; expected an object with traceEvents, as the "
                                       "PyTorch profiler writes it"));
    }
    json->has_events = json->has_events || (json->depth == TOP && key_at(json, TOP) == KEY_EVENTS);
    return begin(json);
}

static int on_array_end(void *context)
{
    struct kineto_json *json = context;
    json->depth--;
    if (json->depth == VALUES + 1 && json->input < KINETO_DIMS) { /* a tensor of a list of them */
        json->event.dims[json->input].is_whole = true;
    }
    json->input += json->depth == VALUES; /* an input */
    return 1;
}

static int on_map_end(void *context)
{
    struct kineto_json *json = context;
    struct ar_kineto *kineto = json->kineto;
    enum key top = key_at(json, TOP);
    json->depth--;
    if (json->depth == PART && top == KEY_EVENTS) {
        return stop(json, kineto_event_keep(kineto, &json->event, &json->origin_us, &json->err));
    }
    bool is_gpu = json->depth == PART && top == KEY_DEVICES && json->gpu.name != NULL;
    if (is_gpu && kineto->gpus_count < KINETO_GPUS_MAX) {
        kineto->gpus[kineto->gpus_count++] = json->gpu;
    }
    return 1;
}

/* --- the text ------------------------------------------------------------------------------- */

static const yajl_callbacks callbacks = {.yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_map,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_map_end,
                                         .yajl_start_array = on_array,
                                         .yajl_end_array = on_array_end};

enum ar_status kineto_json_begin(struct ar_kineto *kineto, struct kineto_json **json,
                                 struct ar_error *err)
{
    struct kineto_json *made = calloc(1, sizeof *made);
    AR_NEED(made, err, kineto->path);
    *made = (struct kineto_json){.kineto = kineto, .origin_us = -1, .status = AR_OK};
    for (unsigned i = 0; i < VALUES; i++) {
        made->keys[i] = &other;
    }
    made->yajl = yajl_alloc(&callbacks, NULL, made);
    if (made->yajl == NULL) {
        free(made);
        return ar_error_no_memory(err, kineto->path);
    }
    yajl_config(made->yajl, yajl_dont_validate_strings, 1); /* names of kernels may be any bytes */
    *json = made;
    return AR_OK;
}

void kineto_json_destroy(struct kineto_json *json)
{
    yajl_free(json->yajl);
    free(json);
}

static uint64_t lines_of(const unsigned char *bytes, size_t count)
{
    uint64_t lines = 0;
    const unsigned char *end = bytes + count;
    for (; (bytes = memchr(bytes, '\n', (size_t)(end - bytes))) != NULL; bytes++) {
        lines++;
    }
    return lines;
}

/* What is wrong, and where in the piece. */
static enum ar_status fail(struct kineto_json *json, const unsigned char *bytes, size_t count,
                           struct ar_error *err)
{
    char what[sizeof err->text];
    enum ar_status status = json->status != AR_OK ? json->status : AR_BAD_DATA;
    size_t at = yajl_get_bytes_consumed(json->yajl);
    at = at < count ? at : count;
    if (status == AR_NO_MEMORY) {
        *err = json->err;
        return status;
    }
    if (json->status != AR_OK) {
        ar_copy_text(what, sizeof what, json->err.text);
    } else {
        unsigned char *text = yajl_get_error(json->yajl, 0, bytes, count);
        ar_copy_text(what, sizeof what, text != NULL ? (const char *)text : "no JSON");
        what[strcspn(what, "\n")] = '\0';
        yajl_free_error(json->yajl, text);
    }
    return ar_error_set(err, status, "%.300s:%llu: byte %llu: %.300s%s", json->kineto->path,
                        (unsigned long long)(json->lines + 1 + lines_of(bytes, at)),
                        (unsigned long long)(json->bytes + at), what,
                        json->status != AR_OK ? "" : "; expected JSON of the PyTorch profiler");
}

enum ar_status kineto_json_feed(struct kineto_json *json, const void *bytes, size_t count,
                                struct ar_error *err)
{
    if (json->bytes + count > text_max || json->bytes + count - json->key_at > value_max) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: found a text of more than %" PRIu64 " bytes, or %" PRIu64
                            " without a key; expected a trace of the PyTorch profiler",
                            json->kineto->path, text_max, value_max);
    }
    if (yajl_parse(json->yajl, bytes, count) != yajl_status_ok) {
        return fail(json, bytes, count, err);
    }
    json->bytes += count;
    json->lines += lines_of(bytes, count);
    return AR_OK;
}

enum ar_status kineto_json_finish(struct kineto_json *json, struct ar_error *err)
{
    if (yajl_complete_parse(json->yajl) != yajl_status_ok) {
        return fail(json, (const unsigned char *)"", 0, err);
    }
    if (!json->has_events) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: no traceEvents; expected JSON of the PyTorch profiler",
                            json->kineto->path);
    }
    return AR_OK;
}
