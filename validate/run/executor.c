#include "executor.h"

#include <assert.h>
#include <inttypes.h>

#include "ar_clock.h"

/* A rank on one channel. */
struct cursor {
    const struct execution *execution;
    uint32_t channel;
    uint32_t position;
    struct ar_span part; /* of the payload */
    uint32_t steps;
    uint32_t step;
    struct ar_move move; /* of this step */
    uint32_t send_port;
    uint32_t receive_port;
    uint64_t sent; /* elements of this step */
    uint64_t received;
    bool has_sent;
    bool has_received;
};

static bool same_port(struct port a, struct port b)
{
    return a.channel == b.channel && a.peer == b.peer && a.sends == b.sends;
}

uint32_t ports_find(const struct ports *ports, struct port port)
{
    uint32_t i = 0;
    while (i < ports->count && !same_port(ports->ports[i], port)) {
        i++;
    }
    return i;
}

static enum ar_status add_port(struct port port, struct ar_arena *arena, struct ports *ports,
                               struct ar_error *err)
{
    uint32_t count = ports->count;
    if (ports_find(ports, port) < count) {
        return AR_OK;
    }
    if ((count & (count - 1)) == 0) { /* full at none and at powers of two */
        struct port *larger = ar_arena_alloc(arena, 2 * count + 1, sizeof *larger);
        if (larger == NULL) {
            return ar_error_no_memory(err, "the ports of a rank");
        }
        for (uint32_t i = 0; i < count; i++) {
            larger[i] = ports->ports[i];
        }
        ports->ports = larger;
    }
    ports->ports[ports->count++] = port;
    return AR_OK;
}

static enum ar_status add_ports(const struct measurement *measurement, uint32_t channel,
                                uint32_t position, struct ar_arena *arena, struct ports *ports,
                                struct ar_error *err)
{
    const struct ar_algorithm *algorithm = measurement->algorithm;
    struct ar_order order = measurement_order(measurement);
    uint32_t steps = ar_algorithm_steps(algorithm, &measurement->shape);
    uint64_t elements = measurement_part(measurement, channel).count;
    for (uint32_t step = 0; step < steps; step++) {
        struct ar_move move = algorithm->move(&measurement->shape, elements, position, step);
        if (move.sends) {
            struct port port = {channel, ar_order_rank(&order, channel, move.send_to), true};
            AR_TRY(add_port(port, arena, ports, err));
        }
        if (move.receive != AR_RECEIVE_NONE) {
            struct port port = {channel, ar_order_rank(&order, channel, move.receive_from), false};
            AR_TRY(add_port(port, arena, ports, err));
        }
    }
    return AR_OK;
}

enum ar_status ports_create(const struct measurement *measurement, uint32_t rank,
                            struct ar_arena *arena, struct ports *ports, struct ar_error *err)
{
    struct ar_order order = measurement_order(measurement);
    *ports = (struct ports){.ports = NULL, .count = 0};
    if (measurement->probe != PROBE_NONE) {
        bool is_from = rank == measurement->from;
        uint32_t peer = is_from ? measurement->to : measurement->from;
        if (probe_is_of_link(measurement->probe) && (is_from || rank == measurement->to)) {
            AR_TRY(add_port((struct port){0, peer, true}, arena, ports, err));
            AR_TRY(add_port((struct port){0, peer, false}, arena, ports, err));
        }
        return AR_OK;
    }
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        uint32_t position = ar_order_position(&order, channel, rank);
        AR_TRY(add_ports(measurement, channel, position, arena, ports, err));
    }
    return AR_OK;
}

enum ar_status ports_create_all(const struct measurement *measurement, struct ar_arena *arena,
                                struct ports **ports, struct ar_error *err)
{
    *ports = ar_arena_alloc(arena, measurement->ranks, sizeof **ports);
    if (*ports == NULL) {
        return ar_error_no_memory(err, "the ports of all ranks");
    }
    for (uint32_t rank = 0; rank < measurement->ranks; rank++) {
        AR_TRY(ports_create(measurement, rank, arena, &(*ports)[rank], err));
    }
    return AR_OK;
}

uint32_t ports_other_end(const struct ports *ports, uint32_t rank, uint32_t index)
{
    struct port port = ports[rank].ports[index];
    struct port other = {.channel = port.channel, .peer = rank, .sends = !port.sends};
    return ports_find(&ports[port.peer], other);
}

size_t execution_slot_bytes(const struct measurement *measurement, const struct run_config *config)
{
    uint64_t bytes =
        measurement_part(measurement, measurement->channels - 1).count * measurement->type->bytes;
    uint64_t max = config->slot_bytes - config->slot_bytes % measurement->type->bytes;
    return bytes < max ? bytes : max;
}

static uint32_t peer_rank(const struct cursor *cursor, uint32_t position)
{
    struct ar_order order = measurement_order(cursor->execution->measurement);
    return ar_order_rank(&order, cursor->channel, position);
}

/* Spans that a step sends and receives are apart, so that pieces may come and go in any order. */
static bool are_apart(struct ar_span a, struct ar_span b)
{
    return a.first + a.count <= b.first || b.first + b.count <= a.first;
}

static void begin_step(struct cursor *cursor)
{
    const struct execution *execution = cursor->execution;
    if (cursor->step == cursor->steps) {
        return;
    }
    const struct measurement *measurement = execution->measurement;
    struct ar_move move = measurement->algorithm->move(&measurement->shape, cursor->part.count,
                                                       cursor->position, cursor->step);
    cursor->move = move;
    cursor->sent = 0;
    cursor->received = 0;
    cursor->has_sent = !move.sends;
    cursor->has_received = move.receive == AR_RECEIVE_NONE;
    if (move.sends) {
        struct port port = {cursor->channel, peer_rank(cursor, move.send_to), true};
        cursor->send_port = ports_find(execution->ports, port);
    }
    if (move.receive != AR_RECEIVE_NONE) {
        struct port port = {cursor->channel, peer_rank(cursor, move.receive_from), false};
        cursor->receive_port = ports_find(execution->ports, port);
    }
    assert(cursor->has_sent || cursor->has_received ||
           are_apart(move.send_span, move.receive_span));
}

/* Elements of the next piece of a span of which `done` elements are done. */
static uint64_t piece(const struct cursor *cursor, struct ar_span span, uint64_t done)
{
    uint64_t max =
        cursor->execution->transport->slot_bytes / cursor->execution->measurement->type->bytes;
    uint64_t left = span.count - done;
    return left < max ? left : max;
}

static unsigned char *element_at(const struct cursor *cursor, struct ar_span span, uint64_t done)
{
    const struct execution *execution = cursor->execution;
    return execution->buffer +
           (cursor->part.first + span.first + done) * execution->measurement->type->bytes;
}

/* Sends what there are free slots for. */
static enum ar_status advance_send(struct cursor *cursor, bool *progressed, struct ar_error *err)
{
    struct transport *transport = cursor->execution->transport;
    const struct memory *memory = cursor->execution->config->memory;
    struct ar_span span = cursor->move.send_span;
    while (!cursor->has_sent) {
        unsigned char *slot = transport->calls->send_slot(transport, cursor->send_port);
        if (slot == NULL) {
            return AR_OK;
        }
        uint64_t count = piece(cursor, span, cursor->sent);
        size_t bytes = count * cursor->execution->measurement->type->bytes;
        const unsigned char *from = element_at(cursor, span, cursor->sent);
        if (transport->calls->send_from != NULL) {
            transport->calls->send_from(transport, cursor->send_port, from, bytes);
        } else {
            AR_TRY(memory->copy(slot, from, bytes, err));
            transport->calls->send(transport, cursor->send_port, bytes);
        }
        cursor->sent += count;
        cursor->has_sent = cursor->sent == span.count;
        *progressed = true;
    }
    return AR_OK;
}

/* An earlier message may still be read from where the next piece goes. */
static bool may_write(const struct execution *execution, const unsigned char *at, size_t bytes)
{
    struct transport *transport = execution->transport;
    return transport->calls->is_free == NULL || transport->calls->is_free(transport, at, bytes);
}

/* Adds or copies what has arrived. */
static enum ar_status advance_receive(struct cursor *cursor, bool *progressed, struct ar_error *err)
{
    struct transport *transport = cursor->execution->transport;
    const struct memory *memory = cursor->execution->config->memory;
    const struct element_type *type = cursor->execution->measurement->type;
    struct ar_span span = cursor->move.receive_span;
    while (!cursor->has_received) {
        const unsigned char *slot = transport->calls->receive_slot(transport, cursor->receive_port);
        uint64_t count = piece(cursor, span, cursor->received);
        unsigned char *at = element_at(cursor, span, cursor->received);
        if (slot == NULL || !may_write(cursor->execution, at, count * type->bytes)) {
            return AR_OK;
        }
        AR_TRY(cursor->move.receive == AR_RECEIVE_REDUCE
                   ? memory->reduce(type, at, slot, count, err)
                   : memory->copy(at, slot, count * type->bytes, err));
        transport->calls->release(transport, cursor->receive_port);
        cursor->received += count;
        cursor->has_received = cursor->received == span.count;
        *progressed = true;
    }
    return AR_OK;
}

/* Goes on until a slot is missing. */
static enum ar_status advance(struct cursor *cursor, bool *progressed, struct ar_error *err)
{
    while (cursor->step < cursor->steps) {
        AR_TRY(advance_send(cursor, progressed, err));
        AR_TRY(advance_receive(cursor, progressed, err));
        if (!cursor->has_sent || !cursor->has_received) {
            return AR_OK;
        }
        cursor->step++;
        begin_step(cursor);
    }
    return AR_OK;
}

/* The watchdog's line: who waits for whom. Without a cursor all is done but for messages that a
 * peer has not taken. */
static enum ar_status report_stuck(const struct execution *execution, const struct cursor *cursor,
                                   struct ar_error *err)
{
    char text[MEASUREMENT_TEXT];
    measurement_text(execution->measurement, text);
    if (cursor == NULL) {
        return ar_error_set(err, AR_INTERNAL,
                            "%s: rank %" PRIu32
                            " waited %g s for others to take its last messages; expected progress",
                            text, execution->transport->rank, execution->config->timeout_s);
    }
    bool receives = !cursor->has_received;
    uint32_t peer = peer_rank(cursor, receives ? cursor->move.receive_from : cursor->move.send_to);
    return ar_error_set(err, AR_INTERNAL,
                        "%s: rank %" PRIu32 " waited %g s for rank %" PRIu32 " to %s step %" PRIu32
                        " of %" PRIu32 " on channel %" PRIu32 "; expected progress",
                        text, execution->transport->rank, execution->config->timeout_s, peer,
                        receives ? "send" : "take", cursor->step, cursor->steps, cursor->channel);
}

static void begin(const struct execution *execution, struct cursor cursors[AR_CHANNELS_MAX])
{
    const struct measurement *measurement = execution->measurement;
    struct ar_order order = measurement_order(measurement);
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        cursors[channel] = (struct cursor){
            .execution = execution,
            .channel = channel,
            .position = ar_order_position(&order, channel, execution->transport->rank),
            .part = measurement_part(measurement, channel),
            .steps = ar_algorithm_steps(measurement->algorithm, &measurement->shape),
        };
        begin_step(&cursors[channel]);
    }
}

/* The first cursor that is not at its end; NULL if all are. */
static const struct cursor *unfinished(const struct cursor *cursors, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (cursors[i].step < cursors[i].steps) {
            return &cursors[i];
        }
    }
    return NULL;
}

/* Whether the buffer may be written again. */
static bool is_all_sent(const struct execution *execution)
{
    return may_write(execution, execution->buffer, measurement_bytes(execution->measurement));
}

enum ar_status execution_run(const struct execution *execution, struct ar_error *err)
{
    struct cursor cursors[AR_CHANNELS_MAX];
    struct transport *transport = execution->transport;
    uint32_t channels = execution->measurement->channels;
    double stuck_since_s = -1;
    begin(execution, cursors);
    while (unfinished(cursors, channels) != NULL || !is_all_sent(execution)) {
        uint32_t ticket = transport->calls->ticket(transport);
        bool progressed = false;
        for (uint32_t channel = 0; channel < channels; channel++) {
            AR_TRY(advance(&cursors[channel], &progressed, err));
        }
        if (progressed) {
            stuck_since_s = -1;
            continue;
        }
        double now_s = ar_clock_s();
        stuck_since_s = stuck_since_s < 0 ? now_s : stuck_since_s;
        if (now_s - stuck_since_s > execution->config->timeout_s) {
            return report_stuck(execution, unfinished(cursors, channels), err);
        }
        if (!transport->calls->wait(transport, ticket)) {
            return ar_error_set(err, AR_INTERRUPTED, "another rank failed");
        }
    }
    return AR_OK;
}
