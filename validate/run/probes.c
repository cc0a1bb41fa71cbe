#include "rank.h"

#include <inttypes.h>

#include "ar_clock.h"
#include "crew.h"

enum { ROUND_TRIPS = 100, PORT_OUT = 0, PORT_IN = 1 };

/* A rank in a probe. */
struct prober {
    struct crew crew;
    struct execution execution;
    unsigned char *other; /* of copies and sums */
};

const char *probe_name(enum probe probe)
{
    static const char *const names[] = {"",           "probe-latency", "probe-bandwidth",
                                        "probe-copy", "probe-reduce",  "probe-launch"};
    return names[probe];
}

/* Waits until a port can send or has a message. */
static enum ar_status await(const struct prober *prober, uint32_t port, struct ar_error *err)
{
    struct transport *transport = prober->execution.transport;
    double timeout_s = prober->execution.config->timeout_s;
    double until_s = ar_clock_s() + timeout_s;
    for (;;) {
        uint32_t ticket = transport->calls->ticket(transport);
        if (port == PORT_OUT ? transport_may_send(transport, port)
                             : transport->calls->receive(transport, port) != NULL) {
            return AR_OK;
        }
        if (!transport->calls->wait(transport, ticket)) {
            return ar_error_set(err, AR_INTERRUPTED, "another rank failed");
        }
        if (ar_clock_s() > until_s) {
            const struct measurement *measurement = prober->execution.measurement;
            uint32_t peer =
                transport->rank == measurement->from ? measurement->to : measurement->from;
            return ar_error_set(err, AR_INTERNAL,
                                "%s: rank %" PRIu32 " waited %g s for rank %" PRIu32 " to %s a "
                                "message; expected progress",
                                measurement->name, transport->rank, timeout_s, peer,
                                port == PORT_OUT ? "take" : "send");
        }
    }
}

/* Sends, or receives, the first `bytes` of the buffer in pieces of a slot; one empty piece if
 * none. */
static enum ar_status pass(const struct prober *prober, uint32_t port, size_t bytes,
                           struct ar_error *err)
{
    struct transport *transport = prober->execution.transport;
    const struct transport_calls *calls = transport->calls;
    const struct memory *memory = prober->execution.config->memory;
    size_t done = 0;
    do {
        size_t left = bytes - done;
        size_t count = left < transport->slot_bytes ? left : transport->slot_bytes;
        unsigned char *at = prober->execution.buffer + done;
        AR_TRY(await(prober, port, err));
        if (port == PORT_OUT) {
            calls->send(transport, port, at, count);
        } else {
            AR_TRY(memory->copy(at, calls->receive(transport, port), count, err));
            calls->release(transport, port);
        }
        done += count;
    } while (done < bytes);
    return AR_OK;
}

static enum ar_status exchange(const struct prober *prober, size_t there, size_t back,
                               uint32_t rounds, struct ar_error *err)
{
    bool is_from = prober->execution.transport->rank == prober->execution.measurement->from;
    for (uint32_t i = 0; i < rounds; i++) {
        AR_TRY(pass(prober, is_from ? PORT_OUT : PORT_IN, there, err));
        AR_TRY(pass(prober, is_from ? PORT_IN : PORT_OUT, back, err));
    }
    return AR_OK;
}

static enum ar_status meet(const struct prober *prober, struct ar_error *err)
{
    struct transport *transport = prober->execution.transport;
    double timeout_s = barrier_timeout_s(prober->execution.config->timeout_s);
    return transport->calls->barrier(transport, timeout_s, err);
}

/* What is timed, on a rank that takes part. */
static enum ar_status perform(const struct prober *prober, struct ar_error *err)
{
    const struct measurement *measurement = prober->execution.measurement;
    const struct memory *memory = prober->execution.config->memory;
    unsigned char *buffer = prober->execution.buffer;
    size_t bytes = measurement_bytes(measurement);
    switch (measurement->probe) {
    case PROBE_LATENCY:
        return exchange(prober, bytes, bytes, ROUND_TRIPS, err);
    case PROBE_BANDWIDTH:
        return exchange(prober, bytes, 0, 1, err);
    case PROBE_COPY:
        return memory->copy(buffer, prober->other, bytes, err);
    case PROBE_REDUCE:
        return memory->reduce(measurement->type, buffer, prober->other, measurement->elements, err);
    case PROBE_LAUNCH:
        return meet(prober, err);
    case PROBE_NONE:
        break;
    }
    return AR_OK;
}

static bool takes_part(const struct measurement *measurement, uint32_t rank)
{
    return measurement->probe == PROBE_LAUNCH || rank == measurement->from ||
           (probe_is_of_link(measurement->probe) && rank == measurement->to);
}

static enum ar_status run(struct crew *crew, double *time_s, struct ar_error *err)
{
    const struct prober *prober = (const struct prober *)(const void *)crew;
    const struct measurement *measurement = prober->execution.measurement;
    uint32_t rank = prober->execution.transport->rank;
    AR_TRY(meet(prober, err));
    if (!takes_part(measurement, rank)) {
        return AR_OK;
    }
    double begin_s = ar_clock_s();
    AR_TRY(perform(prober, err));
    if (rank == measurement->from) {
        *time_s = ar_clock_s() - begin_s;
        *time_s /= measurement->probe == PROBE_LATENCY ? 2 * ROUND_TRIPS : 1;
    }
    return AR_OK;
}

/* Touches every page before it is timed; zeros stay zeros when they are added. */
static enum ar_status create_buffer(const struct memory *memory, size_t bytes,
                                    struct ar_arena *arena, unsigned char **buffer,
                                    struct ar_error *err)
{
    AR_TRY(memory->allocate(arena, bytes, buffer, err));
    unsigned char *zeros = ar_arena_alloc(arena, bytes + 1, 1);
    return zeros != NULL ? memory->copy(*buffer, zeros, bytes, err)
                         : ar_error_no_memory(err, "a buffer");
}

enum ar_status probe_run(const struct execution *execution, struct ar_arena *arena,
                         struct measurement *own, struct ar_error *err)
{
    struct prober prober = {.crew = {.run = run}, .execution = *execution};
    const struct memory *memory = execution->config->memory;
    uint32_t rank = execution->transport->rank;
    size_t bytes = measurement_bytes(own);
    if (takes_part(own, rank)) {
        AR_TRY(create_buffer(memory, bytes, arena, &prober.execution.buffer, err));
    }
    if (rank == own->from) {
        AR_TRY(create_buffer(memory, bytes, arena, &prober.other, err));
    }
    return crew_repeat(&prober.crew, execution->config, NULL, arena, own, err);
}
