#include "cursor.h"

/* --- steps ---------------------------------------------------------------------------------- */

static uint32_t peer_rank(const struct cursor *cursor, uint32_t position)
{
    struct ar_order order = measurement_order(cursor->execution->measurement);
    return ar_order_rank(&order, cursor->channel, position);
}

static struct ar_move move_in(const struct cursor *cursor, uint32_t step)
{
    const struct measurement *measurement = cursor->execution->measurement;
    return ar_algorithm_move(measurement->algorithm, &measurement->shape, cursor->part.count,
                             cursor->position, step);
}

static struct side begin_side(const struct cursor *cursor, uint32_t step, bool sends, uint32_t peer,
                              const struct ar_slice *slice)
{
    struct port port = {cursor->channel, peer_rank(cursor, peer), sends};
    return (struct side){
        .step = step, .port = ports_find(cursor->execution->ports, port), .slice = *slice};
}

/* The next run of a slice, of at most `max` elements; an empty one at its end. */
static struct ar_span next_run(const struct ar_slice *slice, struct place *place, uint64_t max)
{
    while (place->span.count == 0 && ar_slice_next(slice, &place->part, &place->span)) {
    }
    struct ar_span run = place->span;
    run.count = run.count < max ? run.count : max;
    place->span.first += run.count;
    place->span.count -= run.count;
    return run;
}

static bool is_one_run(const struct ar_slice *slice)
{
    struct place place = {.part = 0};
    return next_run(slice, &place, UINT64_MAX).count == slice->count;
}

/* Goes through the spans of both in the order of their elements. */
static bool are_apart(const struct ar_slice *a, const struct ar_slice *b)
{
    struct place place_a = {.part = 0};
    struct place place_b = {.part = 0};
    struct ar_span run_a = next_run(a, &place_a, UINT64_MAX);
    struct ar_span run_b = next_run(b, &place_b, UINT64_MAX);
    while (run_a.count > 0 && run_b.count > 0) {
        if (run_a.first + run_a.count <= run_b.first) {
            run_a = next_run(a, &place_a, UINT64_MAX);
        } else if (run_b.first + run_b.count <= run_a.first) {
            run_b = next_run(b, &place_b, UINT64_MAX);
        } else {
            return false;
        }
    }
    return true;
}

static bool are_same(const struct ar_slice *a, const struct ar_slice *b)
{
    return a->count == b->count && a->whole.first == b->whole.first &&
           a->whole.count == b->whole.count && a->parts == b->parts && a->first == b->first &&
           a->run == b->run && a->period == b->period;
}

static void begin_send(struct cursor *cursor, uint32_t step)
{
    cursor->send = (struct side){.step = step, .is_done = true};
    if (step == cursor->steps) {
        return;
    }
    struct ar_move move = move_in(cursor, step);
    if (move.sends) {
        bool receives = move.receive != AR_RECEIVE_NONE;
        cursor->send = begin_side(cursor, step, true, move.send_to, &move.send_span);
        cursor->relation = !receives || are_apart(&move.send_span, &move.receive_span) ? APART
                           : are_same(&move.send_span, &move.receive_span)             ? SAME
                                                                           : OVERLAPPING;
        cursor->packs = cursor->relation != APART || !is_one_run(&move.send_span);
    }
}

/* Sends of a phase that is at once do not wait for what it receives. */
static uint32_t last_ahead(const struct cursor *cursor, uint32_t step)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < cursor->phases_count; i++) {
        end += cursor->phases[i].steps;
        if (step < end) {
            return cursor->phases[i].is_at_once ? end - 1 : step;
        }
    }
    return step;
}

static void begin_receive(struct cursor *cursor, uint32_t step)
{
    cursor->receive = (struct side){.step = step, .is_done = true};
    cursor->last_ahead = last_ahead(cursor, step);
    if (step == cursor->steps) {
        return;
    }
    struct ar_move move = move_in(cursor, step);
    if (move.receive != AR_RECEIVE_NONE) {
        cursor->receive = begin_side(cursor, step, false, move.receive_from, &move.receive_span);
        cursor->reduces = move.receive == AR_RECEIVE_REDUCE;
    }
}

/* Elements of the next piece of a message. */
static uint64_t piece(const struct cursor *cursor, const struct side *side)
{
    uint64_t max =
        cursor->execution->transport->slot_bytes / cursor->execution->measurement->type->bytes;
    uint64_t left = side->slice.count - side->done;
    return left < max ? left : max;
}

static unsigned char *memory_at(const struct cursor *cursor, struct ar_span run)
{
    const struct execution *execution = cursor->execution;
    return execution->buffer +
           (cursor->part.first + run.first) * execution->measurement->type->bytes;
}

/* --- messages in flight --------------------------------------------------------------------- */

void cursor_drop_flights(struct cursor *cursor)
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

bool cursor_is_free(const struct cursor *cursor, const unsigned char *at, size_t bytes)
{
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
    if (!transport_may_send(cursor->execution->transport, cursor->send.port)) {
        return false;
    }
    if (cursor->flights_taken == 0) {
        cursor_drop_flights(cursor);
    }
    return cursor->flights_taken != 0;
}

/* Copies the next elements to the place of a flight, so that the buffer may be written. */
static enum ar_status pack(struct cursor *cursor, uint32_t flight, uint64_t count,
                           const unsigned char **from, struct ar_error *err)
{
    const struct execution *execution = cursor->execution;
    const struct memory *memory = execution->config->memory;
    uint32_t element_bytes = execution->measurement->type->bytes;
    size_t slot_bytes = execution->transport->slot_bytes;
    if (cursor->packed[flight] == NULL) {
        AR_TRY(memory->allocate(execution->arena, slot_bytes, &cursor->packed[flight], err));
    }
    unsigned char *to = cursor->packed[flight];
    *from = to;
    while (count > 0) {
        struct ar_span run = next_run(&cursor->send.slice, &cursor->send.place, count);
        size_t bytes = run.count * element_bytes;
        AR_TRY(memory->copy(to, memory_at(cursor, run), bytes, err));
        to += bytes;
        count -= run.count;
    }
    return AR_OK;
}

/* Sends a piece. */
static enum ar_status send_piece(struct cursor *cursor, struct ar_error *err)
{
    struct transport *transport = cursor->execution->transport;
    struct side *send = &cursor->send;
    uint32_t index = (uint32_t)__builtin_ctzll(cursor->flights_taken);
    uint64_t count = piece(cursor, send);
    size_t bytes = count * cursor->execution->measurement->type->bytes;
    const unsigned char *from;
    if (count > 0 && (cursor->packs || bytes <= transport->eager_bytes)) {
        AR_TRY(pack(cursor, index, count, &from, err));
    } else {
        from = memory_at(cursor, next_run(&send->slice, &send->place, count));
    }
    transport->calls->send(transport, send->port, from, bytes);
    cursor->flights[index] = (struct flight){
        .port = send->port, .number = transport->sent[send->port], .from = from, .bytes = bytes};
    cursor->flights_taken &= cursor->flights_taken - 1;
    send->done += count;
    send->is_done = send->done == send->slice.count;
    return AR_OK;
}

/* Whether the next piece may be received: nothing reads, or has yet to send, what was there. */
static bool may_receive(struct cursor *cursor, uint64_t count)
{
    const struct side *receive = &cursor->receive;
    uint32_t bytes = cursor->execution->measurement->type->bytes;
    if (cursor->send.step == receive->step && !cursor->send.is_done && cursor->relation != APART &&
        (cursor->relation != SAME || receive->done + count > cursor->send.done)) {
        return false;
    }
    cursor_drop_flights(cursor);
    struct place place = receive->place;
    while (count > 0) {
        struct ar_span run = next_run(&receive->slice, &place, count);
        if (!cursor_is_free(cursor, memory_at(cursor, run), run.count * bytes)) {
            return false;
        }
        count -= run.count;
    }
    return true;
}

/* Adds or copies a piece that has arrived. */
static enum ar_status receive_piece(struct cursor *cursor, const unsigned char *message,
                                    uint64_t count, struct ar_error *err)
{
    struct transport *transport = cursor->execution->transport;
    const struct memory *memory = cursor->execution->config->memory;
    const struct element_type *type = cursor->execution->measurement->type;
    struct side *receive = &cursor->receive;
    receive->done += count;
    receive->is_done = receive->done == receive->slice.count;
    while (count > 0) {
        struct ar_span run = next_run(&receive->slice, &receive->place, count);
        unsigned char *at = memory_at(cursor, run);
        AR_TRY(cursor->reduces ? memory->reduce(type, at, message, run.count, err)
                               : memory->copy(at, message, run.count * type->bytes, err));
        message += run.count * type->bytes;
        count -= run.count;
    }
    transport->calls->release(transport, receive->port);
    return AR_OK;
}

/* --- progress ------------------------------------------------------------------------------- */

/* Sends as much as may be in flight. */
static enum ar_status advance_send(struct cursor *cursor, bool *progressed, struct ar_error *err)
{
    while (cursor->send.step < cursor->steps && cursor->send.step <= cursor->last_ahead) {
        while (!cursor->send.is_done) {
            if (!may_send(cursor)) {
                return AR_OK;
            }
            AR_TRY(send_piece(cursor, err));
            *progressed = true;
        }
        begin_send(cursor, cursor->send.step + 1);
        *progressed = true;
    }
    return AR_OK;
}

/* A piece, so that its peer does not wait for more that could be sent. */
static enum ar_status advance_receive(struct cursor *cursor, bool *progressed, struct ar_error *err)
{
    struct transport *transport = cursor->execution->transport;
    if (!cursor->receive.is_done) {
        const unsigned char *message = transport->calls->receive(transport, cursor->receive.port);
        uint64_t count = piece(cursor, &cursor->receive);
        if (message == NULL || !may_receive(cursor, count)) {
            return AR_OK;
        }
        AR_TRY(receive_piece(cursor, message, count, err));
        *progressed = true;
    }
    if (cursor->receive.is_done && cursor->receive.step < cursor->send.step) {
        begin_receive(cursor, cursor->receive.step + 1);
        *progressed = true;
    }
    return AR_OK;
}

enum ar_status cursor_advance(struct cursor *cursor, bool *has_advanced, struct ar_error *err)
{
    bool progressed = true;
    while (cursor->receive.step < cursor->steps && progressed) {
        progressed = false;
        AR_TRY(advance_send(cursor, &progressed, err));
        AR_TRY(advance_receive(cursor, &progressed, err));
        *has_advanced = *has_advanced || progressed;
    }
    return AR_OK;
}

void cursor_begin(struct cursor *cursor, const struct execution *execution, uint32_t channel)
{
    const struct measurement *measurement = execution->measurement;
    struct ar_order order = measurement_order(measurement);
    cursor->execution = execution;
    cursor->channel = channel;
    cursor->position = ar_order_position(&order, channel, execution->transport->rank);
    cursor->part = measurement_part(measurement, channel);
    cursor->phases_count =
        ar_algorithm_phases(measurement->algorithm, &measurement->shape, cursor->phases);
    cursor->steps = ar_algorithm_steps(measurement->algorithm, &measurement->shape);
    begin_send(cursor, 0);
    begin_receive(cursor, 0);
}
