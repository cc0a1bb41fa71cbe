#include "executor.h"

#include <inttypes.h>

#include "ar_clock.h"

enum { FLIGHTS_MAX = 64 };

/* A message that the peer may still read. */
struct flight {
    uint32_t port;
    uint32_t number; /* of those of the port, from 1 */
    const unsigned char *from;
    size_t bytes;
};

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
    bool packs;             /* what this step sends is copied first: it receives there, too */
    unsigned char *packed;  /* a slot for each flight; NULL until one packs */
    uint64_t flights_taken; /* those that are not in flight, as bits */
    struct flight flights[FLIGHTS_MAX];
};

size_t execution_slot_bytes(const struct measurement *measurement, const struct run_config *config)
{
    uint64_t bytes =
        measurement_part(measurement, measurement->channels - 1).count * measurement->type->bytes;
    uint64_t max = config->slot_bytes - config->slot_bytes % measurement->type->bytes;
    return bytes < max ? bytes : max;
}

enum ar_status execution_create(struct ar_arena *arena, struct execution *execution,
                                struct ar_error *err)
{
    uint32_t channels = execution->measurement->channels;
    execution->arena = arena;
    execution->cursors = ar_arena_alloc(arena, channels, sizeof *execution->cursors);
    if (execution->cursors == NULL) {
        return ar_error_no_memory(err, "the channels of a rank");
    }
    for (uint32_t channel = 0; channel < channels; channel++) {
        execution->cursors[channel] = (struct cursor){.flights_taken = UINT64_MAX};
    }
    return execution->config->memory->allocate(arena, measurement_bytes(execution->measurement),
                                               &execution->buffer, err);
}

static uint32_t peer_rank(const struct cursor *cursor, uint32_t position)
{
    struct ar_order order = measurement_order(cursor->execution->measurement);
    return ar_order_rank(&order, cursor->channel, position);
}

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
    struct ar_move move = ar_algorithm_move(measurement->algorithm, &measurement->shape,
                                            cursor->part.count, cursor->position, cursor->step);
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
    cursor->packs = move.sends && move.receive != AR_RECEIVE_NONE &&
                    !are_apart(move.send_span.whole, move.receive_span.whole);
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

/* Forgets the messages that their peers have taken. */
static void drop_flights(struct cursor *cursor)
{
    struct transport *transport = cursor->execution->transport;
    for (uint64_t left = ~cursor->flights_taken; left != 0; left &= left - 1) {
        const struct flight *flight = &cursor->flights[__builtin_ctzll(left)];
        uint32_t taken = transport->calls->taken(transport, flight->port);
        if ((int32_t)(taken - flight->number) >= 0) {
            cursor->flights_taken |= left & -left;
        }
    }
}

/* Whether nothing in flight is read from where the next piece goes. */
static bool may_write(struct cursor *cursor, const unsigned char *at, size_t bytes)
{
    drop_flights(cursor);
    for (uint64_t left = ~cursor->flights_taken; left != 0; left &= left - 1) {
        const struct flight *flight = &cursor->flights[__builtin_ctzll(left)];
        if (at < flight->from + flight->bytes && flight->from < at + bytes) {
            return false;
        }
    }
    return true;
}

/* Whether another message can be in flight at the port of the step. */
static bool may_send(struct cursor *cursor)
{
    if (!transport_may_send(cursor->execution->transport, cursor->send_port)) {
        return false;
    }
    if (cursor->flights_taken == 0) {
        drop_flights(cursor);
    }
    return cursor->flights_taken != 0;
}

/* Copies a message to the place of a flight, so that the buffer may be written. */
static enum ar_status pack(struct cursor *cursor, uint32_t flight, size_t bytes,
                           const unsigned char **from, struct ar_error *err)
{
    const struct execution *execution = cursor->execution;
    const struct memory *memory = execution->config->memory;
    size_t slot_bytes = execution->transport->slot_bytes;
    if (cursor->packed == NULL) {
        AR_TRY(memory->allocate(execution->arena, FLIGHTS_MAX * slot_bytes, &cursor->packed, err));
    }
    unsigned char *place = cursor->packed + flight * slot_bytes;
    AR_TRY(memory->copy(place, *from, bytes, err));
    *from = place;
    return AR_OK;
}

/* Sends as much as may be in flight. */
static enum ar_status advance_send(struct cursor *cursor, bool *progressed, struct ar_error *err)
{
    struct transport *transport = cursor->execution->transport;
    while (!cursor->has_sent && may_send(cursor)) {
        uint32_t index = (uint32_t)__builtin_ctzll(cursor->flights_taken);
        uint64_t count = piece(cursor, cursor->move.send_span.whole, cursor->sent);
        size_t bytes = count * cursor->execution->measurement->type->bytes;
        const unsigned char *from = element_at(cursor, cursor->move.send_span.whole, cursor->sent);
        if (cursor->packs || bytes <= transport->eager_bytes) {
            AR_TRY(pack(cursor, index, bytes, &from, err));
        }
        transport->calls->send(transport, cursor->send_port, from, bytes);
        cursor->flights[index] = (struct flight){.port = cursor->send_port,
                                                 .number = transport->sent[cursor->send_port],
                                                 .from = from,
                                                 .bytes = bytes};
        cursor->flights_taken &= cursor->flights_taken - 1;
        cursor->sent += count;
        cursor->has_sent = cursor->sent == cursor->move.send_span.count;
        *progressed = true;
    }
    return AR_OK;
}

/* Whether a piece may be received: nothing reads or has yet to send what was there before. */
static bool may_receive(struct cursor *cursor, const unsigned char *at, uint64_t count)
{
    bool is_behind = cursor->packs && !cursor->has_sent && cursor->received + count > cursor->sent;
    return !is_behind && may_write(cursor, at, count * cursor->execution->measurement->type->bytes);
}

/* Adds or copies a piece that has arrived. */
static enum ar_status advance_receive(struct cursor *cursor, bool *progressed, struct ar_error *err)
{
    struct transport *transport = cursor->execution->transport;
    const struct memory *memory = cursor->execution->config->memory;
    const struct element_type *type = cursor->execution->measurement->type;
    struct ar_span span = cursor->move.receive_span.whole;
    const unsigned char *message = transport->calls->receive(transport, cursor->receive_port);
    uint64_t count = piece(cursor, span, cursor->received);
    unsigned char *at = element_at(cursor, span, cursor->received);
    if (message == NULL || !may_receive(cursor, at, count)) {
        return AR_OK;
    }
    AR_TRY(cursor->move.receive == AR_RECEIVE_REDUCE
               ? memory->reduce(type, at, message, count, err)
               : memory->copy(at, message, count * type->bytes, err));
    transport->calls->release(transport, cursor->receive_port);
    cursor->received += count;
    cursor->has_received = cursor->received == span.count;
    *progressed = true;
    return AR_OK;
}

/* Goes on until it has to wait. Between pieces that are received it sends, so that its peer does
 * not wait for more. */
static enum ar_status advance(struct cursor *cursor, bool *has_advanced, struct ar_error *err)
{
    bool progressed = true;
    while (cursor->step < cursor->steps && progressed) {
        progressed = false;
        AR_TRY(advance_send(cursor, &progressed, err));
        if (!cursor->has_received) {
            AR_TRY(advance_receive(cursor, &progressed, err));
        }
        if (cursor->has_sent && cursor->has_received) {
            cursor->step++;
            begin_step(cursor);
            progressed = true;
        }
        *has_advanced = *has_advanced || progressed;
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

static void begin(const struct execution *execution)
{
    const struct measurement *measurement = execution->measurement;
    struct ar_order order = measurement_order(measurement);
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        struct cursor *cursor = &execution->cursors[channel];
        cursor->execution = execution;
        cursor->channel = channel;
        cursor->position = ar_order_position(&order, channel, execution->transport->rank);
        cursor->part = measurement_part(measurement, channel);
        cursor->steps = ar_algorithm_steps(measurement->algorithm, &measurement->shape);
        cursor->step = 0;
        begin_step(cursor);
    }
}

/* The first cursor that is not at its end; NULL if all are. */
static const struct cursor *unfinished(const struct execution *execution)
{
    for (uint32_t i = 0; i < execution->measurement->channels; i++) {
        if (execution->cursors[i].step < execution->cursors[i].steps) {
            return &execution->cursors[i];
        }
    }
    return NULL;
}

/* Whether the steps are done and nothing is read from the buffer any more. */
static bool is_done(const struct execution *execution)
{
    bool is_free = unfinished(execution) == NULL;
    for (uint32_t i = 0; i < execution->measurement->channels; i++) {
        is_free = is_free && may_write(&execution->cursors[i], execution->buffer,
                                       measurement_bytes(execution->measurement));
    }
    return is_free;
}

static bool is_all_taken(const struct execution *execution)
{
    bool is_all = true;
    for (uint32_t i = 0; i < execution->measurement->channels; i++) {
        drop_flights(&execution->cursors[i]);
        is_all = is_all && execution->cursors[i].flights_taken == UINT64_MAX;
    }
    return is_all;
}

/* Goes on with all channels. */
static enum ar_status advance_until(bool (*is_over)(const struct execution *execution),
                                    const struct execution *execution, struct ar_error *err)
{
    struct transport *transport = execution->transport;
    double stuck_since_s = -1;
    while (!is_over(execution)) {
        uint32_t ticket = transport->calls->ticket(transport);
        bool progressed = false;
        for (uint32_t i = 0; i < execution->measurement->channels; i++) {
            AR_TRY(advance(&execution->cursors[i], &progressed, err));
        }
        if (progressed) {
            stuck_since_s = -1;
            continue;
        }
        double now_s = ar_clock_s();
        stuck_since_s = stuck_since_s < 0 ? now_s : stuck_since_s;
        if (now_s - stuck_since_s > execution->config->timeout_s) {
            return report_stuck(execution, unfinished(execution), err);
        }
        if (!transport->calls->wait(transport, ticket)) {
            return ar_error_set(err, AR_INTERRUPTED, "another rank failed");
        }
    }
    return AR_OK;
}

enum ar_status execution_run(const struct execution *execution, struct ar_error *err)
{
    begin(execution);
    return advance_until(is_done, execution, err);
}

enum ar_status execution_end(const struct execution *execution, struct ar_error *err)
{
    return advance_until(is_all_taken, execution, err);
}
