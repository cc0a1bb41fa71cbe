#include "executor.h"

#include <inttypes.h>

#include "ar_numbers.h"

enum { FLIGHTS_MAX = 64 };

/* A message that the peer may still read. */
struct flight {
    uint32_t port;
    uint32_t number; /* of those of the port, from 1 */
    const unsigned char *from;
    size_t bytes;
};

/* A place in a slice: the rest of one of its spans, and which part is next. */
struct place {
    uint32_t part;
    struct ar_span span;
};

/* The message that a rank sends, or receives, in a step of a channel. */
struct side {
    uint32_t step;
    uint32_t port;
    struct ar_slice slice;
    struct place place; /* where its next piece begins */
    uint64_t done;      /* elements */
    bool is_done;
};

/* How the elements that a step sends lie to those that it receives. */
enum relation { APART, SAME, OVERLAPPING };

/* A rank on one channel: how far its sends and receives are, and which messages are in flight. */
struct cursor {
    const struct execution *execution;
    uint32_t channel;
    uint32_t position;
    struct ar_span part; /* of the payload */
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count;
    uint32_t steps;
    struct side send;
    struct side receive; /* never of a later step */
    bool reduces;
    uint32_t last_ahead;                /* last step that may be sent while this one is received */
    enum relation relation;             /* in the step of the sends */
    bool packs;                         /* messages are copied before they are sent */
    unsigned char *packed[FLIGHTS_MAX]; /* a slot for each flight that was ever packed */
    uint64_t flights_taken;             /* bits of the flights that are free */
    struct flight flights[FLIGHTS_MAX];
};

/* --- steps -------------------------------------------------------------------------------- */

static struct ar_move cursor_move(const struct cursor *cursor, uint32_t step)
{
    const struct measurement *measurement = cursor->execution->measurement;
    return ar_algorithm_move(measurement->algorithm, &measurement->shape, cursor->part.count,
                             cursor->position, step);
}

static struct side make_side(const struct cursor *cursor, uint32_t step, bool sends, uint32_t peer,
                             const struct ar_slice *slice)
{
    struct ar_order order = measurement_order(cursor->execution->measurement);
    struct port port = {cursor->channel, ar_order_rank(&order, cursor->channel, peer), sends};
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

bool slices_are_apart(const struct ar_slice *a, const struct ar_slice *b)
{
    uint32_t part_of_a = 0, part_of_b = 0;
    struct ar_span of_a, of_b;
    bool has_both = ar_slice_next(a, &part_of_a, &of_a) && ar_slice_next(b, &part_of_b, &of_b);
    while (has_both) {
        if (of_a.first + of_a.count <= of_b.first) {
            has_both = ar_slice_next(a, &part_of_a, &of_a);
        } else if (of_b.first + of_b.count <= of_a.first) {
            has_both = ar_slice_next(b, &part_of_b, &of_b);
        } else {
            return false;
        }
    }
    return true;
}

static bool slices_are_same(const struct ar_slice *a, const struct ar_slice *b)
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
    struct ar_move move = cursor_move(cursor, step);
    if (move.sends) {
        bool receives = move.receive != AR_RECEIVE_NONE;
        cursor->send = make_side(cursor, step, true, move.send_to, &move.send_span);
        cursor->relation = !receives || slices_are_apart(&move.send_span, &move.receive_span)
                               ? APART
                           : slices_are_same(&move.send_span, &move.receive_span) ? SAME
                                                                                  : OVERLAPPING;
        struct place place = {.part = 0};
        bool is_one_run =
            next_run(&move.send_span, &place, UINT64_MAX).count == move.send_span.count;
        cursor->packs = cursor->relation != APART || !is_one_run;
    }
}

static void begin_receive(struct cursor *cursor, uint32_t step)
{
    cursor->receive = (struct side){.step = step, .is_done = true};
    cursor->last_ahead = step;
    for (uint32_t i = 0, end = 0; i < cursor->phases_count && end <= step; i++) {
        end += cursor->phases[i].steps;
        if (step < end && cursor->phases[i].is_at_once) {
            cursor->last_ahead = end - 1; /* its sends do not wait for what it receives */
        }
    }
    if (step == cursor->steps) {
        return;
    }
    struct ar_move move = cursor_move(cursor, step);
    if (move.receive != AR_RECEIVE_NONE) {
        cursor->receive = make_side(cursor, step, false, move.receive_from, &move.receive_span);
        cursor->reduces = move.receive == AR_RECEIVE_REDUCE;
    }
}

/* Elements of the next piece of a message. */
static uint64_t piece_elements(const struct cursor *cursor, const struct side *side)
{
    uint64_t max =
        cursor->execution->transport->slot_bytes / cursor->execution->measurement->type->bytes;
    uint64_t left = side->slice.count - side->done;
    return left < max ? left : max;
}

static unsigned char *buffer_at(const struct cursor *cursor, struct ar_span run)
{
    const struct execution *execution = cursor->execution;
    return execution->buffer +
           (cursor->part.first + run.first) * execution->measurement->type->bytes;
}

/* --- messages in flight ------------------------------------------------------------------- */

static void cursor_drop_flights(struct cursor *cursor)
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

static bool cursor_is_free(const struct cursor *cursor, const unsigned char *at, size_t bytes)
{
    for (uint64_t left = ~cursor->flights_taken; left != 0; left &= left - 1) {
        const struct flight *flight = &cursor->flights[__builtin_ctzll(left)];
        if (at < flight->from + flight->bytes && flight->from < at + bytes) {
            return false;
        }
    }
    return true;
}

/* Copies the next elements to the place of a flight, so that the buffer may be written. */
static enum ar_status pack_piece(struct cursor *cursor, uint32_t flight, uint64_t count,
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
        AR_TRY(memory->copy(to, buffer_at(cursor, run), bytes, err));
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
    uint64_t count = piece_elements(cursor, send);
    size_t bytes = count * cursor->execution->measurement->type->bytes;
    const unsigned char *from;
    bool is_eager = cursor->execution->config->memory->is_host && bytes <= transport->eager_bytes;
    if (count > 0 && (cursor->packs || is_eager)) {
        AR_TRY(pack_piece(cursor, index, count, &from, err));
    } else {
        from = buffer_at(cursor, next_run(&send->slice, &send->place, count));
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
static bool cursor_may_receive(struct cursor *cursor, uint64_t count)
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
        if (!cursor_is_free(cursor, buffer_at(cursor, run), run.count * bytes)) {
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
        unsigned char *at = buffer_at(cursor, run);
        AR_TRY(cursor->reduces ? memory->reduce(type, at, message, run.count, err)
                               : memory->copy(at, message, run.count * type->bytes, err));
        message += run.count * type->bytes;
        count -= run.count;
    }
    transport->calls->release(transport, receive->port);
    return AR_OK;
}

/* --- progress ----------------------------------------------------------------------------- */

/* Sends as much as may be in flight. */
static enum ar_status advance_send(struct cursor *cursor, bool *progressed, struct ar_error *err)
{
    while (cursor->send.step < cursor->steps && cursor->send.step <= cursor->last_ahead) {
        while (!cursor->send.is_done) {
            bool may_send = transport_may_send(cursor->execution->transport, cursor->send.port);
            if (may_send && cursor->flights_taken == 0) {
                cursor_drop_flights(cursor);
            }
            if (!may_send || cursor->flights_taken == 0) {
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
        uint64_t count = piece_elements(cursor, &cursor->receive);
        if (message == NULL || !cursor_may_receive(cursor, count)) {
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

static enum ar_status cursor_advance(struct cursor *cursor, bool *has_advanced,
                                     struct ar_error *err)
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

static void cursor_begin(struct cursor *cursor, const struct execution *execution, uint32_t channel)
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

/* --- all channels of a rank --------------------------------------------------------------- */

size_t execution_slot_bytes(const struct measurement *measurement, const struct run_config *config)
{
    uint64_t bytes = measurement_message_max(measurement) * measurement->type->bytes;
    uint64_t max = config->slot_bytes - config->slot_bytes % measurement->type->bytes;
    return bytes < max ? bytes : max;
}

enum ar_status execution_create(struct ar_arena *arena, struct execution *execution,
                                struct ar_error *err)
{
    uint32_t channels = execution->measurement->channels;
    execution->arena = arena;
    execution->cursors = ar_arena_alloc(arena, channels, sizeof *execution->cursors);
    for (uint32_t channel = 0; channel < channels; channel++) {
        execution->cursors[channel] = (struct cursor){.flights_taken = UINT64_MAX};
    }
    return execution->config->memory->allocate(arena, measurement_bytes(execution->measurement),
                                               &execution->buffer, err);
}

/* Says who waits for whom. Without a cursor all steps are done, but a peer has messages left. */
static enum ar_status report_stuck(const struct execution *execution, const struct cursor *cursor,
                                   struct ar_error *err)
{
    char text[MEASUREMENT_TEXT];
    measurement_text(execution->measurement, text);
    AR_REFUSE(cursor == NULL, err, AR_INTERNAL,
              "%s: rank %" PRIu32
              " waited %g s for others to take its last messages; expected progress",
              text, execution->transport->rank, execution->config->timeout_s);
    bool receives = !cursor->receive.is_done;
    const struct side *side = receives ? &cursor->receive : &cursor->send;
    uint32_t peer = execution->ports->ports[side->port].peer;
    return ar_error_set(err, AR_INTERNAL,
                        "%s: rank %" PRIu32 " waited %g s for rank %" PRIu32 " to %s step %" PRIu32
                        " of %" PRIu32 " on channel %" PRIu32 "; expected progress",
                        text, execution->transport->rank, execution->config->timeout_s, peer,
                        receives ? "send" : "take", side->step, cursor->steps, cursor->channel);
}

/* The first cursor that is not at its end; NULL if all are. */
static const struct cursor *find_unfinished(const struct execution *execution)
{
    for (uint32_t i = 0; i < execution->measurement->channels; i++) {
        if (execution->cursors[i].receive.step < execution->cursors[i].steps) {
            return &execution->cursors[i];
        }
    }
    return NULL;
}

/* Whether steps are done and nothing reads the buffer; at the end, whether messages are taken. */
static bool are_steps_done(const struct execution *execution, bool is_end)
{
    bool are_done = is_end || find_unfinished(execution) == NULL;
    for (uint32_t i = 0; i < execution->measurement->channels && are_done; i++) {
        struct cursor *cursor = &execution->cursors[i];
        cursor_drop_flights(cursor);
        are_done = is_end ? cursor->flights_taken == UINT64_MAX
                          : cursor_is_free(cursor, execution->buffer,
                                           measurement_bytes(execution->measurement));
    }
    return are_done;
}

/* Advances all channels in turn. */
static enum ar_status advance_until_done(const struct execution *execution, bool is_end,
                                         struct ar_error *err)
{
    struct transport *transport = execution->transport;
    double stuck_since_s = -1;
    while (!are_steps_done(execution, is_end)) {
        uint32_t ticket = transport->calls->ticket(transport);
        bool progressed = false;
        for (uint32_t i = 0; i < execution->measurement->channels; i++) {
            AR_TRY(cursor_advance(&execution->cursors[i], &progressed, err));
        }
        if (progressed) {
            stuck_since_s = -1;
            continue;
        }
        double now_s = ar_clock_s();
        stuck_since_s = stuck_since_s < 0 ? now_s : stuck_since_s;
        AR_REFUSE_BY(now_s - stuck_since_s > execution->config->timeout_s,
                     report_stuck(execution, find_unfinished(execution), err));
        AR_REFUSE(!transport->calls->wait(transport, ticket), err, AR_INTERRUPTED,
                  "another rank failed");
    }
    return AR_OK;
}

enum ar_status execution_run(const struct execution *execution, struct ar_error *err)
{
    for (uint32_t channel = 0; channel < execution->measurement->channels; channel++) {
        cursor_begin(&execution->cursors[channel], execution, channel);
    }
    return advance_until_done(execution, false, err);
}

enum ar_status execution_end(const struct execution *execution, struct ar_error *err)
{
    return advance_until_done(execution, true, err);
}
