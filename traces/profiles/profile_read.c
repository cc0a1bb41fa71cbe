/* Reads a profile: the text of a file, plain or of gzip, piece by piece; the events of its JSON, by
 * yajl, which keeps no more than one value; those of them that are needed. */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>
#include <zlib.h>

#include "ar_text.h"
#include "profile.h"

/* Size of a piece; texts of an event are cut; numbers and nested values beyond these are refused.
 */
enum { PIECE_BYTES = 1 << 16, EVENT_TEXT = 128, NUMBER_TEXT = 64, DEPTH_MAX = 64, GPUS_MAX = 64 };

/* Limits of the unpacked text (a gzip may be a thousand times as long as its file) and of a value,
 * which yajl keeps whole. */
static const uint64_t text_max = (uint64_t)4 << 30;
static const uint64_t value_max = (uint64_t)4 << 20;

/* Longest profile that is read: days, far above any. */
#define US_MAX 1e12L

/* The shape of an input of an operator; for a list of tensors, that of the first one. */
struct dims {
    uint64_t elements; /* 0: none */
    uint64_t first;    /* dimension */
    unsigned count;
    bool is_whole; /* what follows is about the list's other tensors */
};

/* One event as its JSON says it, before it is known whether it is kept. Numbers that are not given
 * are -1, texts empty. */
struct event {
    char phase[EVENT_TEXT]; /* "X": begin and duration */
    char category[EVENT_TEXT];
    char name[EVENT_TEXT];
    char collective[EVENT_TEXT];
    char dtype[EVENT_TEXT];
    char ranks[EVENT_TEXT];
    char input_type[EVENT_TEXT]; /* of the first input */
    long double start_us, duration_us;
    int64_t pid, tid;
    int64_t correlation, device;
    int64_t sequence, forward_thread;
    int64_t in_elements, out_elements, group_size;
    struct dims dims[2]; /* of the first inputs */
};

struct gpu {
    int64_t id;
    char name[EVENT_TEXT];
};

/* The place of a value in the document. The dims of inputs are lists in a list, the lists of
 * tensors one deeper. */
enum place { NOWHERE, TOP, EVENTS, EVENT, ARGS, DIMS, TYPES, DEVICES, DEVICE, DISTRIBUTED };
enum { INPUTS_DEPTH = 5 };

/* The use of a value: it holds further values, or becomes a field of struct json. */
enum value { INSIDE, TEXT, NUMBER, TIME };

struct key {
    enum place place;
    const char *name;
    enum value value;
    enum place inside;
    size_t offset;
};

struct json {
    struct ar_kineto *kineto;
    yajl_handle yajl;
    unsigned depth;
    enum place places[DEPTH_MAX + 1];      /* [depth] */
    const struct key *keys[DEPTH_MAX + 1]; /* [depth]: the key whose value comes, or NULL */
    struct event event;
    struct gpu gpu, gpus[GPUS_MAX];
    size_t gpus_count;
    int64_t world_size;
    unsigned input; /* whose dims or type is read */
    long double origin_us;
    bool has_events;
    uint64_t bytes, lines; /* before the piece that is read */
    uint64_t key_at;       /* place of the last key, or rather of its piece */
    bool is_refused;       /* by us, not by yajl: */
    struct ar_error err;   /* without the place */
};

static const struct key keys[] = {
#define FIELD(place, name, value, field)                                                           \
    {                                                                                              \
        place, name, value, NOWHERE, offsetof(struct json, field)                                  \
    }
#define ENTER(place, name, inside)                                                                 \
    {                                                                                              \
        place, name, INSIDE, inside, 0                                                             \
    }
    ENTER(TOP, "traceEvents", EVENTS),
    ENTER(TOP, "deviceProperties", DEVICES),
    ENTER(TOP, "distributedInfo", DISTRIBUTED),
    FIELD(DISTRIBUTED, "world_size", NUMBER, world_size),
    FIELD(DEVICE, "id", NUMBER, gpu.id),
    FIELD(DEVICE, "name", TEXT, gpu.name),
    FIELD(EVENT, "ph", TEXT, event.phase),
    FIELD(EVENT, "cat", TEXT, event.category),
    FIELD(EVENT, "name", TEXT, event.name),
    FIELD(EVENT, "pid", NUMBER, event.pid),
    FIELD(EVENT, "tid", NUMBER, event.tid),
    FIELD(EVENT, "ts", TIME, event.start_us),
    FIELD(EVENT, "dur", TIME, event.duration_us),
    ENTER(EVENT, "args", ARGS),
    FIELD(ARGS, "correlation", NUMBER, event.correlation),
    FIELD(ARGS, "device", NUMBER, event.device),
    FIELD(ARGS, "Sequence number", NUMBER, event.sequence),
    FIELD(ARGS, "Fwd thread id", NUMBER, event.forward_thread),
    ENTER(ARGS, "Input Dims", DIMS),
    ENTER(ARGS, "Input type", TYPES),
    FIELD(ARGS, "Collective name", TEXT, event.collective),
    FIELD(ARGS, "dtype", TEXT, event.dtype),
    FIELD(ARGS, "In msg nelems", NUMBER, event.in_elements),
    FIELD(ARGS, "Out msg nelems", NUMBER, event.out_elements),
    FIELD(ARGS, "Group size", NUMBER, event.group_size),
    FIELD(ARGS, "Process Group Ranks", TEXT, event.ranks),
#undef FIELD
#undef ENTER
};

/* --- events that are kept ------------------------------------------------------------------ */

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The one copy of a text, in the arena of the profile. */
static const char *intern_text(struct ar_kineto *kineto, const char *text)
{
    const void *found = tfind(text, &kineto->names, compare_texts);
    if (found != NULL) {
        return *(const char *const *)found;
    }
    const char *copy = ar_arena_text(kineto->arena, text);
    if (tsearch(copy, &kineto->names, compare_texts) == NULL) {
        ar_memory_fail("the names of a trace");
    }
    return copy;
}

static void keep_op(struct ar_kineto *kineto, const struct kineto_op *op, const char *name)
{
    kineto->ops = ar_arena_grow(kineto->arena, kineto->ops, kineto->ops_count, 1, sizeof *op);
    struct kineto_op *kept = &kineto->ops[kineto->ops_count++];
    *kept = *op;
    kept->name = name != NULL ? intern_text(kineto, name) : NULL;
}

static uint64_t at_least_0(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

static void keep_comm(struct ar_kineto *kineto, const struct event *event)
{
    bool has_size = event->in_elements >= 0 || event->out_elements >= 0;
    kineto->comms =
        ar_arena_grow(kineto->arena, kineto->comms, kineto->comms_count, 1, sizeof *kineto->comms);
    kineto->comms[kineto->comms_count++] = (struct kineto_comm){
        .name = intern_text(kineto, event->collective),
        .dtype = intern_text(kineto, event->dtype),
        .ranks = intern_text(kineto, event->ranks),
        .in_elements = has_size ? at_least_0(event->in_elements) : event->dims[0].elements,
        .out_elements = at_least_0(event->out_elements),
        .group_size = at_least_0(event->group_size)};
}

/* The batch of an operator that reads one: the first dimension of an input. */
static uint64_t find_batch_read(const struct event *event)
{
    static const struct {
        const char *name;
        unsigned input;
    } readers[] = {{"aten::conv1d", 0},
                   {"aten::conv2d", 0},
                   {"aten::conv3d", 0},
                   {"aten::embedding", 1},
                   {"aten::linear", 0}};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        const struct dims *dims = &event->dims[readers[i].input];
        if (strcmp(event->name, readers[i].name) == 0 && dims->count >= 2) {
            return dims->first;
        }
    }
    return 0;
}

/* Keeps nodes of the backward pass, gradients, collectives, marks of steps and of their ends,
 * operators of the forward pass. */
static void keep_cpu_op(struct ar_kineto *kineto, const struct event *event, struct kineto_op *op)
{
    static const char node_prefix[] = "autograd::engine::evaluate_function: ";
    static const char accumulate[] = "torch::autograd::AccumulateGrad";
    static const char step_prefix[] = "ProfilerStep#";
    const char *name = event->name;
    if (begins_with(name, node_prefix)) {
        name += sizeof node_prefix - 1;
        op->kind = strcmp(name, accumulate) == 0 ? KINETO_ACCUMULATE : KINETO_NODE;
        keep_op(kineto, op, name);
    } else if (strcmp(name, accumulate) == 0) {
        op->kind = KINETO_SHAPE;
        op->elements = event->dims[0].elements;
        keep_op(kineto, op, event->input_type);
    } else if (strcmp(name, "record_param_comms") == 0) {
        op->kind = KINETO_COLLECTIVE;
        op->comm = (uint32_t)kineto->comms_count;
        keep_comm(kineto, event);
        keep_op(kineto, op, NULL);
    } else if (begins_with(name, step_prefix)) {
        op->kind = KINETO_STEP;
        op->number = 0;
        for (name += sizeof step_prefix - 1; *name >= '0' && *name <= '9' && op->number < INT32_MAX;
             name++) {
            op->number = 10 * op->number + (*name - '0');
        }
        keep_op(kineto, op, NULL);
    } else if (begins_with(name, "Optimizer.step#")) {
        op->kind = KINETO_OPTIMIZER;
        keep_op(kineto, op, NULL);
    } else if (event->sequence >= 0) {
        op->kind = KINETO_FORWARD;
        op->batch = find_batch_read(event);
        keep_op(kineto, op, NULL);
    }
}

static void keep_launch(struct ar_kineto *kineto, const struct event *event, struct kineto_op *op)
{
    if (event->correlation < 0) {
        return;
    }
    kineto->launches = ar_arena_grow(kineto->arena, kineto->launches, kineto->launches_count, 1,
                                     sizeof *kineto->launches);
    kineto->launches[kineto->launches_count++] = (struct kineto_launch){
        .at_s = op->start_s, .thread = op->thread, .correlation = event->correlation};
}

static void keep_kernel(struct ar_kineto *kineto, const struct event *event, struct kineto_op *op)
{
    kineto->kernels = ar_arena_grow(kineto->arena, kineto->kernels, kineto->kernels_count, 1,
                                    sizeof *kineto->kernels);
    kineto->kernels[kineto->kernels_count++] =
        (struct kineto_kernel){.start_s = op->start_s,
                               .end_s = op->end_s,
                               .correlation = event->correlation,
                               .device = event->device >= 0 ? event->device : event->pid,
                               .is_collective = begins_with(event->name, "nccl")};
}

/* The categories that are kept; those with a capital are of older profilers. */
static const struct category {
    const char *name;
    void (*keep)(struct ar_kineto *kineto, const struct event *event, struct kineto_op *op);
} categories[] = {
    {"cpu_op", keep_cpu_op},     {"cuda_runtime", keep_launch},    {"kernel", keep_kernel},
    {"gpu_memcpy", keep_kernel}, {"gpu_memset", keep_kernel},      {"cuda_driver", keep_launch},
    {"Operator", keep_cpu_op},   {"user_annotation", keep_cpu_op}, {"Runtime", keep_launch},
    {"Kernel", keep_kernel},     {"Memcpy", keep_kernel},          {"Memset", keep_kernel}};

/* Keeps an event that is complete, if it is of a category that is needed. */
static enum ar_status keep_event(struct json *json)
{
    const struct event *event = &json->event;
    const struct category *category = categories,
                          *end = category + sizeof categories / sizeof *category;
    while (category < end && strcmp(event->category, category->name) != 0) {
        category++;
    }
    if (strcmp(event->phase, "X") != 0 || category == end) {
        return AR_OK;
    }
    if (json->origin_us < 0) {
        json->origin_us = event->start_us;
    }
    long double start_us = event->start_us - json->origin_us;
    if (!(event->start_us >= 0) || !(event->duration_us >= 0) || !(start_us < US_MAX) ||
        !(start_us > -US_MAX) || !(event->duration_us < US_MAX)) {
        return ar_error_set(&json->err, AR_BAD_DATA,
                            "event \"%.60s\" begins at %.17Lg and takes %.17Lg; expected "
                            "microseconds, at most 1e12 of the whole trace",
                            event->name, event->start_us, event->duration_us);
    }
    struct kineto_op op = {
        .start_s = (double)(start_us / 1e6L),
        .end_s = (double)((start_us + event->duration_us) / 1e6L),
        .thread = (int64_t)((uint64_t)event->pid << 32 ^ (uint64_t)event->tid),
        .number = event->sequence,
        .forward_thread = event->forward_thread,
        .parent = KINETO_NONE,
        .comm = KINETO_NONE,
    };
    category->keep(json->kineto, event, &op);
    return AR_OK;
}

/* --- values -------------------------------------------------------------------------------- */

/* The answer of a callback of yajl: 0 stops the parser. */
static int go_on(struct json *json, enum ar_status status)
{
    json->is_refused = status != AR_OK;
    return status == AR_OK;
}

static void take_dimension(struct json *json, int64_t length)
{
    if (json->input >= sizeof json->event.dims / sizeof json->event.dims[0] ||
        json->depth == INPUTS_DEPTH || length < 0) {
        return;
    }
    struct dims *dims = &json->event.dims[json->input];
    if (dims->is_whole) {
        return;
    }
    uint64_t size = (uint64_t)length;
    if (dims->count++ == 0) {
        dims->first = dims->elements = size;
        return;
    }
    bool is_huge = size > 0 && dims->elements > AR_TRACE_ELEMENTS_MAX / size;
    dims->elements = is_huge ? AR_TRACE_ELEMENTS_MAX + 1 : dims->elements * size;
}

static int on_number(void *context, const char *text, size_t length)
{
    struct json *json = context;
    const struct key *key = json->keys[json->depth];
    char number[NUMBER_TEXT];
    if (length >= sizeof number) {
        return go_on(json, ar_error_set(&json->err, AR_BAD_DATA,
                                        "a number of %zu characters; expected at most %d", length,
                                        NUMBER_TEXT - 1));
    }
    memcpy(number, text, length);
    number[length] = '\0';
    if (json->places[json->depth] == DIMS) {
        take_dimension(json, strtoll(number, NULL, 10));
    } else if (key != NULL && key->value == NUMBER) {
        *(int64_t *)(void *)((char *)json + key->offset) = strtoll(number, NULL, 10);
    } else if (key != NULL && key->value == TIME) {
        *(long double *)(void *)((char *)json + key->offset) = strtold(number, NULL);
    }
    return 1;
}

static int on_string(void *context, const unsigned char *bytes, size_t length)
{
    struct json *json = context;
    const struct key *key = json->keys[json->depth];
    char text[EVENT_TEXT];
    size_t count = length < EVENT_TEXT ? length : EVENT_TEXT - 1;
    for (size_t i = 0; i < count; i++) {
        text[i] = bytes[i] < ' ' ? '?' : (char)bytes[i]; /* it may come to stand in a line */
    }
    text[count] = '\0';
    if (json->places[json->depth] == TYPES && json->depth == INPUTS_DEPTH && json->input++ == 0) {
        memcpy(json->event.input_type, text, sizeof text);
    } else if (key != NULL && key->value == NUMBER) { /* threads, in old files */
        *(int64_t *)(void *)((char *)json + key->offset) = strtoll(text, NULL, 10);
    } else if (key != NULL && key->value == TEXT) {
        memcpy((char *)json + key->offset, text, count + 1);
    }
    return 1;
}

/* --- structure ----------------------------------------------------------------------------- */

static int on_key(void *context, const unsigned char *bytes, size_t length)
{
    struct json *json = context;
    enum place place = json->places[json->depth];
    json->keys[json->depth] = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].place == place && strncmp(keys[i].name, (const char *)bytes, length) == 0 &&
            keys[i].name[length] == '\0') {
            json->keys[json->depth] = &keys[i];
        }
    }
    if (json->depth < INPUTS_DEPTH) {
        json->input = 0;
        json->key_at = json->bytes;
    }
    return 1;
}

/* A map or a list begins: what it is follows from what is around it. */
static int enter_value(struct json *json, bool is_map)
{
    enum place around = json->places[json->depth], inside = NOWHERE;
    const struct key *key = json->keys[json->depth];
    if (json->depth == DEPTH_MAX) {
        return go_on(json,
                     ar_error_set(&json->err, AR_BAD_DATA,
                                  "values within more than %d others; expected fewer", DEPTH_MAX));
    }
    if (json->depth == 0) {
        inside = TOP;
    } else if (key != NULL && key->value == INSIDE) {
        inside = key->inside;
    } else if (around == DIMS || around == TYPES) {
        inside = around;
    } else if (around == EVENTS && is_map) {
        inside = EVENT;
        json->event = (struct event){.start_us = -1,
                                     .duration_us = -1,
                                     .pid = -1,
                                     .tid = -1,
                                     .correlation = -1,
                                     .device = -1,
                                     .sequence = -1,
                                     .forward_thread = -1,
                                     .in_elements = -1,
                                     .out_elements = -1,
                                     .group_size = -1};
    } else if (around == DEVICES && is_map) {
        inside = DEVICE;
        json->gpu = (struct gpu){.id = -1};
    }
    json->has_events = json->has_events || (inside == EVENTS && !is_map);
    json->depth++;
    json->places[json->depth] = inside;
    json->keys[json->depth] = NULL;
    return 1;
}

static int on_map(void *context)
{
    return enter_value(context, true);
}

static int on_array(void *context)
{
    struct json *json = context;
    if (json->depth == 0) {
        return go_on(json, ar_error_set(&json->err, AR_BAD_DATA,
                                        "a list; expected an object with traceEvents, as the "
                                        "PyTorch profiler writes it"));
    }
    return enter_value(json, false);
}

static int on_array_end(void *context)
{
    struct json *json = context;
    json->depth--;
    if (json->depth == INPUTS_DEPTH + 1 && json->input < 2) { /* a tensor of a list of them */
        json->event.dims[json->input].is_whole = true;
    }
    json->input += json->depth == INPUTS_DEPTH; /* an input */
    return 1;
}

static int on_map_end(void *context)
{
    struct json *json = context;
    enum place ended = json->places[json->depth--];
    if (ended == EVENT) {
        return go_on(json, keep_event(json));
    }
    if (ended == DEVICE && json->gpu.name[0] != '\0' && json->gpus_count < GPUS_MAX) {
        json->gpus[json->gpus_count++] = json->gpu;
    }
    return 1;
}

/* --- the text ------------------------------------------------------------------------------ */

static uint64_t count_lines(const unsigned char *bytes, size_t count)
{
    uint64_t lines = 0;
    const unsigned char *end = bytes + count;
    for (; (bytes = memchr(bytes, '\n', (size_t)(end - bytes))) != NULL; bytes++) {
        lines++;
    }
    return lines;
}

/* Says what is wrong, and where in the piece. */
static enum ar_status refuse_text(struct json *json, const unsigned char *bytes, size_t count,
                                  struct ar_error *err)
{
    size_t at = yajl_get_bytes_consumed(json->yajl);
    at = at < count ? at : count;
    if (!json->is_refused) {
        unsigned char *text = yajl_get_error(json->yajl, 0, bytes, count);
        ar_copy_text(json->err.text, sizeof json->err.text,
                     text != NULL ? (const char *)text : "no JSON");
        json->err.text[strcspn(json->err.text, "\n")] = '\0';
        yajl_free_error(json->yajl, text);
    }
    return ar_error_set(err, AR_BAD_DATA, "%.300s:%llu: byte %llu: %.300s%s", json->kineto->path,
                        (unsigned long long)(json->lines + 1 + count_lines(bytes, at)),
                        (unsigned long long)(json->bytes + at), json->err.text,
                        json->is_refused ? "" : "; expected JSON of the PyTorch profiler");
}

static enum ar_status feed_json(struct json *json, const void *bytes, size_t count,
                                struct ar_error *err)
{
    if (json->bytes + count > text_max || json->bytes + count - json->key_at > value_max) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: found a text of more than %" PRIu64 " bytes, or %" PRIu64
                            " without a key; expected a trace of the PyTorch profiler",
                            json->kineto->path, text_max, value_max);
    }
    if (yajl_parse(json->yajl, bytes, count) != yajl_status_ok) {
        return refuse_text(json, bytes, count, err);
    }
    json->bytes += count;
    json->lines += count_lines(bytes, count);
    return AR_OK;
}

static void free_parser(void *parser)
{
    yajl_free(parser);
}

static void keep_text(void *text)
{
    (void)text; /* the arena's */
}

static void free_names(void *object)
{
    struct ar_kineto *kineto = object;
    tdestroy(kineto->names, keep_text);
}

static struct json *begin_profile(const char *path, struct ar_arena *arena,
                                  struct ar_arena *scratch)
{
    static const yajl_callbacks callbacks = {.yajl_number = on_number,
                                             .yajl_string = on_string,
                                             .yajl_start_map = on_map,
                                             .yajl_map_key = on_key,
                                             .yajl_end_map = on_map_end,
                                             .yajl_start_array = on_array,
                                             .yajl_end_array = on_array_end};
    struct json *json = ar_arena_alloc(scratch, 1, sizeof *json);
    struct ar_kineto *kineto = ar_arena_alloc(arena, 1, sizeof *kineto);
    *kineto = (struct ar_kineto){.arena = arena, .path = ar_arena_text(arena, path)};
    ar_arena_own(arena, kineto, free_names);
    json->kineto = kineto;
    json->origin_us = -1;
    json->world_size = -1;
    json->yajl = ar_arena_own(scratch, yajl_alloc(&callbacks, NULL, json), free_parser);
    yajl_config(json->yajl, yajl_dont_validate_strings, 1); /* names of kernels may be any bytes */
    return json;
}

/* The end of the text: what was read becomes a profile. */
static enum ar_status end_profile(struct json *json, struct ar_kineto **kineto,
                                  struct ar_error *err)
{
    struct ar_kineto *made = json->kineto;
    if (json->bytes == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: empty; expected JSON of the PyTorch profiler", made->path);
    }
    if (yajl_complete_parse(json->yajl) != yajl_status_ok) {
        return refuse_text(json, (const unsigned char *)"", 0, err);
    }
    if (!json->has_events) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s: no traceEvents; expected JSON of the PyTorch profiler",
                            made->path);
    }
    made->world_size = json->world_size;
    kineto_nest(made);
    made->gpu = "a GPU without a name";
    for (size_t i = 0; i < json->gpus_count && made->kernels_count > 0; i++) {
        if (json->gpus[i].id == made->kernels[0].device) {
            made->gpu = ar_arena_text(made->arena, json->gpus[i].name);
        }
    }
    *kineto = made;
    return AR_OK;
}

enum ar_status ar_kineto_parse(const char *path, const void *text, size_t bytes,
                               struct ar_arena *arena, struct ar_kineto **kineto,
                               struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct json *json = begin_profile(path, arena, &scratch);
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t count = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        AR_TRY(feed_json(json, (const char *)text + at, count, err));
    }
    return end_profile(json, kineto, err);
}

static void close_file(void *file)
{
    gzclose(file);
}

/* zlib begins its messages with the path. */
static enum ar_status refuse_file(const char *path, gzFile file, uint64_t bytes,
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

enum ar_status ar_kineto_load(const char *path, struct ar_arena *arena, struct ar_kineto **kineto,
                              struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct json *json = begin_profile(path, arena, &scratch);
    unsigned char piece[PIECE_BYTES];
    gzFile file = gzopen(path, "rbe");
    if (file == NULL) {
        return ar_error_set(
            err, AR_NO_INPUT,
            "%.300s: %s; expected a trace of the PyTorch profiler, .json or .json.gz", path,
            strerror(errno));
    }
    ar_arena_own(&scratch, file, close_file);
    gzbuffer(file, PIECE_BYTES);
    for (;;) {
        int code;
        int count = gzread(file, piece, sizeof piece);
        /* Also asked for a file that is cut off; zlib 1.3.2 forgets it with the next read. */
        gzerror(file, &code);
        if (count < 0 || code != Z_OK) {
            return refuse_file(json->kineto->path, file, json->bytes, err);
        }
        if (count == 0) {
            return end_profile(json, kineto, err);
        }
        AR_TRY(feed_json(json, piece, (size_t)count, err));
    }
}
