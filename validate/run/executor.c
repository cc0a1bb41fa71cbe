#include "executor.h"

#include <inttypes.h>

#include "ar_clock.h"
#include "cursor.h"

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
    AR_NEED(execution->cursors, err, "the channels of a rank");
    for (uint32_t channel = 0; channel < channels; channel++) {
        execution->cursors[channel] = (struct cursor){.flights_taken = UINT64_MAX};
    }
    return execution->config->memory->allocate(arena, measurement_bytes(execution->measurement),
                                               &execution->buffer, err);
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
    bool receives = !cursor->receive.is_done;
    const struct side *side = receives ? &cursor->receive : &cursor->send;
    uint32_t peer = execution->ports->ports[side->port].peer;
    return ar_error_set(err, AR_INTERNAL,
                        "%s: rank %" PRIu32 " waited %g s for rank %" PRIu32 " to %s step %" PRIu32
                        " of %" PRIu32 " on channel %" PRIu32 "; expected progress",
                        text, execution->transport->rank, execution->config->timeout_s, peer,
                        receives ? "send" : "take", side->step, cursor->steps, cursor->channel);
}

static void begin(const struct execution *execution)
{
    for (uint32_t channel = 0; channel < execution->measurement->channels; channel++) {
        cursor_begin(&execution->cursors[channel], execution, channel);
    }
}

/* The first cursor that is not at its end; NULL if all are. */
static const struct cursor *unfinished(const struct execution *execution)
{
    for (uint32_t i = 0; i < execution->measurement->channels; i++) {
        if (execution->cursors[i].receive.step < execution->cursors[i].steps) {
            return &execution->cursors[i];
        }
    }
    return NULL;
}

/* Whether the steps are done and nothing is read from the buffer any more. */
static bool is_over(const struct execution *execution)
{
    bool is_all_free = unfinished(execution) == NULL;
    for (uint32_t i = 0; i < execution->measurement->channels && is_all_free; i++) {
        cursor_drop_flights(&execution->cursors[i]);
        is_all_free = cursor_is_free(&execution->cursors[i], execution->buffer,
                                     measurement_bytes(execution->measurement));
    }
    return is_all_free;
}

static bool is_all_taken(const struct execution *execution)
{
    bool is_all = true;
    for (uint32_t i = 0; i < execution->measurement->channels; i++) {
        cursor_drop_flights(&execution->cursors[i]);
        is_all = is_all && execution->cursors[i].flights_taken == UINT64_MAX;
    }
    return is_all;
}

/* Goes on with all channels. */
static enum ar_status advance_until(bool (*is_enough)(const struct execution *execution),
                                    const struct execution *execution, struct ar_error *err)
{
    struct transport *transport = execution->transport;
    double stuck_since_s = -1;
    while (!is_enough(execution)) {
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
    return advance_until(is_over, execution, err);
}

enum ar_status execution_end(const struct execution *execution, struct ar_error *err)
{
    return advance_until(is_all_taken, execution, err);
}
