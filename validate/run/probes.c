#include "probes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ar_clock.h"

enum { ROUND_TRIPS = 100, PORT_OUT = 0, PORT_IN = 1 };

/* A rank in a probe. */
struct prober {
    const struct measurement *measurement;
    const struct run_config *config;
    struct transport *transport;
    unsigned char *buffer;
    unsigned char *other; /* of copies and sums */
};

const char *probe_name(enum probe probe)
{
    static const char *const names[] = {"",           "probe-latency", "probe-bandwidth",
                                        "probe-copy", "probe-reduce",  "probe-launch"};
    return names[probe];
}

static bool is_link_probe(const struct measurement *measurement)
{
    return measurement->probe == PROBE_LATENCY || measurement->probe == PROBE_BANDWIDTH;
}

enum ar_status probe_ports(const struct measurement *measurement, uint32_t rank,
                           struct ports *ports, struct ar_error *err)
{
    bool is_from = rank == measurement->from;
    struct ports made = {.ports = NULL, .count = 0};
    if (is_link_probe(measurement) && (is_from || rank == measurement->to)) {
        uint32_t peer = is_from ? measurement->to : measurement->from;
        made.ports = calloc(2, sizeof *made.ports);
        if (made.ports == NULL) {
            return ar_error_no_memory(err, "the ports of a rank");
        }
        made.count = 2;
        made.ports[PORT_OUT] = (struct port){.channel = 0, .peer = peer, .sends = true};
        made.ports[PORT_IN] = (struct port){.channel = 0, .peer = peer, .sends = false};
    }
    *ports = made;
    return AR_OK;
}

/* Waits until a port has a slot to send into or to receive from. */
static enum ar_status await(const struct prober *prober, uint32_t port, struct ar_error *err)
{
    struct transport *transport = prober->transport;
    double until_s = ar_clock_s() + prober->config->timeout_s;
    for (;;) {
        uint32_t ticket = transport->calls->ticket(transport);
        if (port == PORT_OUT ? transport->calls->send_slot(transport, port) != NULL
                             : transport->calls->receive_slot(transport, port) != NULL) {
            return AR_OK;
        }
        if (!transport->calls->wait(transport, ticket)) {
            return ar_error_set(err, AR_INTERRUPTED, "another rank failed");
        }
        if (ar_clock_s() > until_s) {
            const struct measurement *measurement = prober->measurement;
            uint32_t peer =
                transport->rank == measurement->from ? measurement->to : measurement->from;
            return ar_error_set(err, AR_INTERNAL,
                                "%s: rank %" PRIu32 " waited %g s for rank %" PRIu32 " to %s a "
                                "message; expected progress",
                                measurement->name, transport->rank, prober->config->timeout_s, peer,
                                port == PORT_OUT ? "take" : "send");
        }
    }
}

/* Sends, or receives, the first `bytes` of the buffer in pieces of a slot; one empty piece if
 * none. */
static enum ar_status pass(const struct prober *prober, uint32_t port, size_t bytes,
                           struct ar_error *err)
{
    struct transport *transport = prober->transport;
    const struct transport_calls *calls = transport->calls;
    const struct memory *memory = prober->config->memory;
    enum ar_status status = AR_OK;
    size_t done = 0;
    do {
        size_t left = bytes - done;
        size_t count = left < transport->slot_bytes ? left : transport->slot_bytes;
        unsigned char *at = prober->buffer + done;
        status = await(prober, port, err);
        if (status == AR_OK && port == PORT_OUT) {
            status = memory->copy(calls->send_slot(transport, port), at, count, err);
            calls->send(transport, port, count);
        } else if (status == AR_OK) {
            status = memory->copy(at, calls->receive_slot(transport, port), count, err);
            calls->release(transport, port);
        }
        done += count;
    } while (status == AR_OK && done < bytes);
    return status;
}

static enum ar_status exchange(const struct prober *prober, size_t there, size_t back,
                               uint32_t rounds, struct ar_error *err)
{
    bool is_from = prober->transport->rank == prober->measurement->from;
    for (uint32_t i = 0; i < rounds; i++) {
        AR_TRY(pass(prober, is_from ? PORT_OUT : PORT_IN, there, err));
        AR_TRY(pass(prober, is_from ? PORT_IN : PORT_OUT, back, err));
    }
    return AR_OK;
}

/* What is timed, on a rank that takes part. */
static enum ar_status perform(const struct prober *prober, struct ar_error *err)
{
    const struct measurement *measurement = prober->measurement;
    const struct memory *memory = prober->config->memory;
    size_t bytes = measurement_bytes(measurement);
    switch (measurement->probe) {
    case PROBE_LATENCY:
        return exchange(prober, bytes, bytes, ROUND_TRIPS, err);
    case PROBE_BANDWIDTH:
        return exchange(prober, bytes, 0, 1, err);
    case PROBE_COPY:
        return memory->copy(prober->buffer, prober->other, bytes, err);
    case PROBE_REDUCE:
        return memory->reduce(measurement->type, prober->buffer, prober->other,
                              measurement->elements, err);
    case PROBE_LAUNCH:
        return prober->transport->calls->barrier(prober->transport,
                                                 barrier_timeout_s(prober->config->timeout_s), err);
    case PROBE_NONE:
        break;
    }
    return AR_OK;
}

static bool takes_part(const struct measurement *measurement, uint32_t rank)
{
    return measurement->probe == PROBE_LAUNCH || rank == measurement->from ||
           (is_link_probe(measurement) && rank == measurement->to);
}

static enum ar_status repeat(const struct prober *prober, double *time_s, struct ar_error *err)
{
    const struct measurement *measurement = prober->measurement;
    struct transport *transport = prober->transport;
    enum ar_status status =
        transport->calls->barrier(transport, barrier_timeout_s(prober->config->timeout_s), err);
    if (status != AR_OK || !takes_part(measurement, transport->rank)) {
        return status;
    }
    double begin_s = ar_clock_s();
    status = perform(prober, err);
    if (transport->rank == measurement->from) {
        *time_s = ar_clock_s() - begin_s;
        *time_s /= measurement->probe == PROBE_LATENCY ? 2 * ROUND_TRIPS : 1;
    }
    return status;
}

/* Touches every page before it is timed; zeros stay zeros when they are added. */
static enum ar_status create_buffer(const struct prober *prober, unsigned char **buffer,
                                    struct ar_error *err)
{
    const struct memory *memory = prober->config->memory;
    size_t bytes = measurement_bytes(prober->measurement);
    enum ar_status status = memory->allocate(bytes, buffer, err);
    unsigned char *zeros = status == AR_OK ? calloc(bytes + 1, 1) : NULL;
    if (status == AR_OK) {
        status = zeros != NULL ? memory->write(*buffer, zeros, bytes, err)
                               : ar_error_no_memory(err, "a buffer");
    }
    free(zeros);
    return status;
}

enum ar_status probe_run(const struct measurement *measurement, const struct run_config *config,
                         struct transport *transport, struct rank_result *result,
                         struct ar_error *err)
{
    struct prober prober = {.measurement = measurement, .config = config, .transport = transport};
    enum ar_status status = AR_OK;
    if (takes_part(measurement, transport->rank)) {
        status = create_buffer(&prober, &prober.buffer, err);
    }
    if (status == AR_OK && transport->rank == measurement->from) {
        status = create_buffer(&prober, &prober.other, err);
    }
    for (uint32_t i = 0; status == AR_OK && i < config->warmup + measurement->repetitions; i++) {
        double time_s = 0;
        status = repeat(&prober, &time_s, err);
        if (i >= config->warmup) {
            result->times_s[i - config->warmup] = time_s;
        }
    }
    if (prober.buffer != NULL) {
        config->memory->release(prober.buffer);
    }
    if (prober.other != NULL) {
        config->memory->release(prober.other);
    }
    return status;
}
