/* Execution traces of Chakra: messages of protobuf, each behind its length; the first one is
 * metadata, each other one a node. Tasks of one kind run one after the other, in the order of the
 * file where needs allow it, so that of the needs of a node the last of each kind is enough. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_arena.h"
#include "ar_numbers.h"
#include "ar_units.h"
#include "chakra.pb-c.h"
#include "recorded.h"

enum node_type { MEMORY_LOAD = 2, MEMORY_STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE };

#define NONE UINT32_MAX

/* A node as it was read. */
struct node {
    uint64_t id;
    const char *operation; /* of a collective */
    uint64_t bytes;
    double time_s;
    bool is_skipped; /* of the processor or memory: it takes no time here */
    uint32_t deps_first, deps_count;
    uint32_t state; /* of the walk: deps that were looked at, and one more; 0: not begun */
    bool is_done;
    uint32_t compute, sent; /* the last task of each kind that whoever needs it has to wait for */
};

/* The node of a number. */
struct place {
    uint64_t id;
    uint32_t node;
};

struct chakra_reader {
    struct ar_recorded *recorded;
    struct ar_arena *scratch;
    struct ar_error *err;
    const uint8_t *at, *end;
    struct node *nodes;
    uint32_t nodes_count;
    uint64_t *deps; /* ids */
    uint32_t deps_count;
    struct place *places;
    uint32_t *stack;
    double skipped_s;
};

static enum ar_status refuse_node(const struct chakra_reader *reader, uint64_t id,
                                  const char *found, const char *expected)
{
    return ar_error_set(reader->err, AR_BAD_DATA,
                        "%.200s: node %" PRIu64 ": found %.80s; expected %s",
                        reader->recorded->path, id, found, expected);
}

static enum ar_status refuse_rest(const struct chakra_reader *reader)
{
    return ar_error_set(reader->err, AR_BAD_DATA,
                        "%.200s: found no whole message behind %u nodes; expected a trace of "
                        "Chakra (.et), or a workload of ASTRA-sim (DATA, ...)",
                        reader->recorded->path, reader->nodes_count);
}

/* The next message. */
static enum ar_status read_chakra_message(struct chakra_reader *reader, const uint8_t **bytes,
                                          size_t *count)
{
    uint64_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
        AR_REFUSE_BY(reader->at == reader->end || shift > 28, refuse_rest(reader));
        length |= (uint64_t)(*reader->at & 0x7f) << shift;
        if ((*reader->at++ & 0x80) == 0) {
            break;
        }
    }
    AR_REFUSE_BY(length > (uint64_t)(reader->end - reader->at), refuse_rest(reader));
    *bytes = reader->at;
    *count = (size_t)length;
    reader->at += length;
    return AR_OK;
}

/* --- a node -------------------------------------------------------------------------------- */

static const Chakra__Attribute *node_attribute(const Chakra__Node *message, const char *name)
{
    for (size_t i = 0; i < message->n_attr; i++) {
        if (strcmp(message->attr[i]->name, name) == 0) {
            return message->attr[i];
        }
    }
    return NULL;
}

/* A whole number of any width, from 0 on; false: there is none. */
static bool node_count(const Chakra__Node *message, const char *name, uint64_t *count)
{
    const Chakra__Attribute *attribute = node_attribute(message, name);
    int64_t number = -1;
    switch (attribute != NULL ? attribute->value_case : CHAKRA__ATTRIBUTE__VALUE__NOT_SET) {
    case CHAKRA__ATTRIBUTE__VALUE_INT32_VAL:
        number = attribute->int32_val;
        break;
    case CHAKRA__ATTRIBUTE__VALUE_INT64_VAL:
        number = attribute->int64_val;
        break;
    case CHAKRA__ATTRIBUTE__VALUE_UINT32_VAL:
        number = attribute->uint32_val;
        break;
    case CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL:
        number = attribute->uint64_val <= INT64_MAX ? (int64_t)attribute->uint64_val : -1;
        break;
    default:
        break;
    }
    *count = (uint64_t)number;
    return number >= 0;
}

/* Collectives by their numbers. In all dimensions of the network: which GPUs are in a part of them
 * a trace does not say. */
static enum ar_status read_collective(const struct chakra_reader *reader,
                                      const Chakra__Node *message, struct node *node)
{
    static const char *const operations[] = {"allreduce", "reduce",        "allgather",
                                             "gather",    "scatter",       "broadcast",
                                             "alltoall",  "reducescatter", "reducescatter"};
    uint64_t type = 0;
    const Chakra__Attribute *dimensions = node_attribute(message, "involved_dim");
    bool has_list =
        dimensions != NULL && dimensions->value_case == CHAKRA__ATTRIBUTE__VALUE_BOOL_LIST;
    for (size_t i = 0; has_list && i < dimensions->bool_list->n_values; i++) {
        AR_REFUSE_BY(!dimensions->bool_list->values[i],
                     refuse_node(reader, node->id,
                                 "involved_dim with a dimension that takes no part",
                                 "collectives of all GPUs"));
    }
    AR_REFUSE_BY(!node_count(message, "comm_type", &type) ||
                     type >= sizeof operations / sizeof operations[0],
                 refuse_node(reader, node->id, "no known comm_type",
                             "0 (all-reduce) to 8 (reduce-scatter)"));
    AR_REFUSE_BY(
        !node_count(message, "comm_size", &node->bytes) || node->bytes > UINT64_C(1) << 50,
        refuse_node(reader, node->id, "no usable comm_size", "the bytes of the collective"));
    node->operation = operations[type];
    return AR_OK;
}

static enum ar_status read_node(const struct chakra_reader *reader, const Chakra__Node *message,
                                struct node *node)
{
    uint64_t operations;
    const Chakra__Attribute *processor = node_attribute(message, "is_cpu_op");
    *node = (struct node){.id = message->id,
                          .time_s = (double)message->duration_micros * 1e-6,
                          .compute = NONE,
                          .sent = NONE};
    bool is_of_processor = processor != NULL &&
                           processor->value_case == CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL &&
                           processor->bool_val;
    switch (message->type) {
    case COMPUTE:
        node->is_skipped = is_of_processor;
        AR_REFUSE_BY(
            !is_of_processor && message->duration_micros == 0 &&
                node_count(message, "num_ops", &operations) && operations > 0,
            refuse_node(reader, node->id, "num_ops without duration_micros", "a measured time"));
        return AR_OK;
    case COLLECTIVE:
        node->is_skipped = is_of_processor && node_attribute(message, "comm_size") == NULL;
        return node->is_skipped ? AR_OK : read_collective(reader, message, node);
    case SEND:
    case RECEIVE:
        return refuse_node(reader, node->id, "a message", "computations and collectives alone");
    default:
        node->is_skipped = true;
        return AR_OK;
    }
}

enum { DEPS_MAX = 4 * AR_RECORDED_TASKS_MAX };

static enum ar_status add_deps(struct chakra_reader *reader, const uint64_t *ids, size_t count)
{
    AR_REFUSE(count > (size_t)DEPS_MAX - reader->deps_count, reader->err, AR_BAD_DATA,
              "%s: found more than %d dependencies; expected fewer", reader->recorded->path,
              DEPS_MAX);
    reader->deps = ar_arena_grow(reader->scratch, reader->deps, reader->deps_count, count + 1,
                                 sizeof *reader->deps);
    for (size_t i = 0; i < count; i++) {
        reader->deps[reader->deps_count++] = ids[i];
    }
    return AR_OK;
}

static enum ar_status add_node(struct chakra_reader *reader, const Chakra__Node *message)
{
    AR_REFUSE(reader->nodes_count == AR_RECORDED_TASKS_MAX, reader->err, AR_BAD_DATA,
              "%s: found more than %d nodes; expected fewer", reader->recorded->path,
              AR_RECORDED_TASKS_MAX);
    struct node *node = AR_ARENA_ADD(reader->scratch, reader->nodes, reader->nodes_count);
    AR_TRY(read_node(reader, message, node));
    node->deps_first = reader->deps_count;
    AR_TRY(add_deps(reader, message->ctrl_deps, message->n_ctrl_deps));
    AR_TRY(add_deps(reader, message->data_deps, message->n_data_deps));
    node->deps_count = reader->deps_count - node->deps_first;
    reader->skipped_s += node->is_skipped ? node->time_s : 0;
    return AR_OK;
}

static enum ar_status read_chakra_nodes(struct chakra_reader *reader)
{
    const uint8_t *bytes = NULL;
    size_t count = 0;
    AR_TRY(read_chakra_message(reader, &bytes, &count));
    Chakra__Metadata *metadata = chakra__metadata__unpack(NULL, count, bytes);
    AR_REFUSE_BY(metadata == NULL, refuse_rest(reader));
    chakra__metadata__free_unpacked(metadata, NULL);
    while (reader->at < reader->end) {
        AR_TRY(read_chakra_message(reader, &bytes, &count));
        Chakra__Node *message = chakra__node__unpack(NULL, count, bytes);
        AR_REFUSE_BY(message == NULL, refuse_rest(reader));
        enum ar_status status = add_node(reader, message);
        chakra__node__free_unpacked(message, NULL);
        AR_TRY(status);
    }
    return AR_OK;
}

/* --- the step ------------------------------------------------------------------------------ */

AR_ORDER(compare_places, struct place, AR_RISES(id))

/* Finds a node by its number. A need outside the file, as the whole program, does not count. */
static struct node *find_node(const struct chakra_reader *reader, uint64_t id)
{
    const struct place key = {.id = id};
    const struct place *place =
        bsearch(&key, reader->places, reader->nodes_count, sizeof *reader->places, compare_places);
    return place != NULL ? &reader->nodes[place->node] : NULL;
}

static uint32_t later_task(uint32_t a, uint32_t b)
{
    return a == NONE || (b != NONE && b > a) ? b : a;
}

/* All that a node needs is there: it becomes a task, or passes on what it needs. */
static void end_node(struct chakra_reader *reader, struct node *node)
{
    uint32_t compute = NONE, sent = NONE;
    for (uint32_t i = 0; i < node->deps_count; i++) {
        const struct node *other = find_node(reader, reader->deps[node->deps_first + i]);
        compute = other != NULL ? later_task(compute, other->compute) : compute;
        sent = other != NULL ? later_task(sent, other->sent) : sent;
    }
    node->is_done = true;
    node->compute = compute;
    node->sent = sent;
    if (node->is_skipped) {
        return;
    }
    bool is_sent = node->operation != NULL;
    uint32_t task = ar_recorded_add(
        reader->recorded,
        &(struct ar_recorded_task){
            .operation = node->operation,
            .time_s = node->time_s,
            .bytes = node->bytes,
            .is_part = is_sent && strcmp(node->operation, "allgather") == 0,
            .groups = is_sent ? AR_RECORDED_DP | AR_RECORDED_EP | AR_RECORDED_TP : 0,
            .is_beside = is_sent,
            .duty = AR_RECORDED_FORWARD,
            .line = node->id});
    uint32_t other = is_sent ? compute : sent; /* the other kind; its own runs in order */
    if (other != NONE) {
        ar_recorded_need(reader->recorded, other);
    }
    node->compute = is_sent ? NONE : task;
    node->sent = is_sent ? task : NONE;
}

/* Goes through a node and what it needs, deepest first. */
static enum ar_status walk_needs(struct chakra_reader *reader, uint32_t first)
{
    uint32_t depth = 0;
    reader->stack[depth++] = first;
    while (depth > 0) {
        struct node *node = &reader->nodes[reader->stack[depth - 1]];
        if (node->state == node->deps_count) {
            end_node(reader, node);
            depth--;
            continue;
        }
        struct node *other = find_node(reader, reader->deps[node->deps_first + node->state++]);
        if (other == NULL || other->is_done) {
            continue;
        }
        AR_REFUSE_BY(other->state > 0 || other == node, /* it is on the stack */
                     refuse_node(reader, other->id, "a circle of needs", "an order"));
        reader->stack[depth++] = (uint32_t)(other - reader->nodes);
    }
    return AR_OK;
}

static enum ar_status make_chakra_step(struct chakra_reader *reader, struct ar_arena *arena)
{
    struct ar_recorded *recorded = reader->recorded;
    /* Numbers in order; one that is there twice is refused. */
    uint32_t count = reader->nodes_count;
    reader->places = ar_arena_alloc(arena, count + 1, sizeof *reader->places);
    reader->stack = ar_arena_alloc(arena, count + 1, sizeof *reader->stack);
    for (uint32_t i = 0; i < count; i++) {
        reader->places[i] = (struct place){.id = reader->nodes[i].id, .node = i};
    }
    qsort(reader->places, count, sizeof *reader->places, compare_places);
    for (uint32_t i = 1; i < count; i++) {
        AR_REFUSE_BY(
            reader->places[i].id == reader->places[i - 1].id,
            refuse_node(reader, reader->places[i].id, "its number a second time", "each once"));
    }
    AR_TRY(recorded_room(recorded, reader->nodes_count, reader->nodes_count, arena, reader->err));
    for (uint32_t i = 0; i < reader->nodes_count; i++) {
        if (!reader->nodes[i].is_done) {
            AR_TRY(walk_needs(reader, i));
        }
    }
    if (reader->skipped_s > 0) {
        recorded->notes[recorded->notes_count++] = ar_arena_format(
            arena, "%.200s: %s of nodes of the processor and of memory are not counted",
            recorded->path, AR_SHOW_SECONDS(reader->skipped_s));
    }
    return AR_OK;
}

enum ar_status chakra_read(struct ar_recorded *recorded, const char *bytes, size_t count,
                           struct ar_arena *arena, struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {.bytes_max = AR_ARENA_BYTES_MAX};
    struct chakra_reader reader = {.recorded = recorded,
                                   .scratch = &scratch,
                                   .err = err,
                                   .at = (const uint8_t *)bytes,
                                   .end = (const uint8_t *)bytes + count};
    recorded->form = "Chakra";
    AR_TRY(read_chakra_nodes(&reader));
    return make_chakra_step(&reader, arena);
}
