#include "runner.h"

#include <inttypes.h>

#include "ar_numbers.h"

/* The expected contents of the buffers of a crew. Where the processor cannot read its memory,
 * images of them lie there, too: a GPU then fills and compares in a moment what would take longer
 * to copy than to execute. */
struct views {
    const struct crew *crew;
    struct payload_view *ranks;
    struct images {
        unsigned char *begin, *end, *verdict;
    } * images; /* [rank of the crew]; NULL in host memory */
    size_t bytes;
    unsigned char *seen; /* a copy that the host can read; in host memory the buffer itself */
};

static enum ar_status find_views(const struct crew *crew, const struct payload *payload,
                                 struct ar_arena *arena, struct views *views, struct ar_error *err)
{
    *views = (struct views){.crew = crew, .bytes = measurement_bytes(payload->measurement)};
    views->ranks = ar_arena_alloc(arena, crew->count, sizeof *views->ranks);
    for (uint32_t i = 0; i < crew->count; i++) {
        views->ranks[i] = payload_see(payload, crew->first + i, arena);
    }
    if (crew->memory->is_host) {
        views->seen = crew->buffers[0];
        return AR_OK;
    }
    views->images = ar_arena_alloc(arena, crew->count, sizeof *views->images);
    AR_TRY(memory_host.allocate(arena, views->bytes, &views->seen, err));
    for (uint32_t i = 0; i < crew->count; i++) {
        const struct memory *memory = views->crew->memory;
        struct images *images = &views->images[i];
        AR_TRY(memory->enter(views->crew->buffers[i], err));
        AR_TRY(memory->allocate(arena, views->bytes, &images->begin, err));
        AR_TRY(memory->allocate(arena, views->bytes, &images->end, err));
        AR_TRY(memory->allocate(arena, sizeof(uint32_t), &images->verdict, err));
        payload_fill(&views->ranks[i], views->seen);
        AR_TRY(memory->copy(images->begin, views->seen, views->bytes, err));
        payload_expect(&views->ranks[i], views->seen);
        AR_TRY(memory->copy(images->end, views->seen, views->bytes, err));
    }
    return AR_OK;
}

static enum ar_status fill_buffers(const struct views *views, struct ar_error *err)
{
    const struct crew *crew = views->crew;
    for (uint32_t i = 0; i < crew->count; i++) {
        if (views->images == NULL) {
            payload_fill(&views->ranks[i], views->seen);
        } else {
            AR_TRY(crew->memory->copy(crew->buffers[i], views->images[i].begin, views->bytes, err));
        }
    }
    return AR_OK;
}

static enum ar_status check_results(const struct views *views, struct measurement *measurement,
                                    struct ar_error *err)
{
    const struct crew *crew = views->crew;
    const struct memory *memory = crew->memory;
    unsigned char **results = crew->results != NULL ? crew->results : crew->buffers;
    for (uint32_t i = 0; i < crew->count; i++) {
        bool is_equal = false;
        if (views->images != NULL) {
            AR_TRY(memory->enter(results[i], err));
            AR_TRY(memory->compare(measurement->type, results[i], views->images[i].end,
                                   measurement->elements, views->images[i].verdict, &is_equal,
                                   err));
            if (is_equal) {
                continue;
            }
            AR_TRY(memory->copy(views->seen, results[i], views->bytes, err));
        }
        payload_check(&views->ranks[i], views->seen, &measurement->mismatch);
    }
    return AR_OK;
}

enum ar_status crew_repeat(struct crew *crew, const struct run_config *config,
                           const struct payload *payload, struct ar_arena *arena,
                           struct measurement *measurement, struct ar_error *err)
{
    uint32_t warmup = measurement->is_check ? 0 : config->warmup;
    struct views views = {.crew = crew};
    if (crew->count > 0) {
        AR_TRY(find_views(crew, payload, arena, &views, err));
    }
    for (uint32_t i = 0; i < warmup + measurement->repetitions; i++) {
        double time_s = 0;
        AR_TRY(fill_buffers(&views, err));
        AR_TRY(crew->run(crew, 1, &time_s, err));
        AR_TRY(check_results(&views, measurement, err));
        if (crew->calls > 1 && i >= warmup && !measurement->is_check) {
            time_s = 0;
            AR_TRY(crew->run(crew, crew->calls, &time_s, err));
        }
        if (i >= warmup) {
            measurement->times_s[i - warmup] = time_s;
        }
    }
    return AR_OK;
}

/* --- probes over a transport -------------------------------------------------------------- */

/* A barrier, which says who is missing. It waits longer than that rank may wait for a message. */
static enum ar_status meet_ranks(const struct execution *execution, struct ar_error *err)
{
    struct transport *transport = execution->transport;
    return transport->calls->barrier(transport, 2 * execution->config->timeout_s, err);
}

enum { ROUND_TRIPS = 100, PORT_OUT = 0, PORT_IN = 1 };

/* A rank of a probe, or of a collective. */
struct prober {
    struct crew crew;
    struct execution execution;
    unsigned char *other; /* of copies and sums */
};

/* Waits until a port can send or has a message. */
static enum ar_status await_port(const struct prober *prober, uint32_t port, struct ar_error *err)
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
        AR_REFUSE(!transport->calls->wait(transport, ticket), err, AR_INTERRUPTED,
                  "another rank failed");
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

/* Sends or receives the first `bytes` of the buffer in pieces of a slot; none: an empty piece. */
static enum ar_status pass_message(const struct prober *prober, uint32_t port, size_t bytes,
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
        AR_TRY(await_port(prober, port, err));
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

static enum ar_status exchange_messages(const struct prober *prober, size_t there, size_t back,
                                        uint32_t rounds, struct ar_error *err)
{
    bool is_from = prober->execution.transport->rank == prober->execution.measurement->from;
    for (uint32_t i = 0; i < rounds; i++) {
        AR_TRY(pass_message(prober, is_from ? PORT_OUT : PORT_IN, there, err));
        AR_TRY(pass_message(prober, is_from ? PORT_IN : PORT_OUT, back, err));
    }
    return AR_OK;
}

/* The timed part of a probe, on a rank that takes part. */
static enum ar_status perform_probe(const struct prober *prober, struct ar_error *err)
{
    const struct measurement *measurement = prober->execution.measurement;
    const struct memory *memory = prober->execution.config->memory;
    unsigned char *buffer = prober->execution.buffer;
    size_t bytes = measurement_bytes(measurement);
    switch (measurement->probe) {
    case PROBE_LATENCY:
        return exchange_messages(prober, bytes, bytes, ROUND_TRIPS, err);
    case PROBE_BANDWIDTH:
        return exchange_messages(prober, bytes, 0, 1, err);
    case PROBE_COPY:
        return memory->copy(buffer, prober->other, bytes, err);
    case PROBE_REDUCE:
        return memory->reduce(measurement->type, buffer, prober->other, measurement->elements, err);
    case PROBE_LAUNCH:
        return meet_ranks(&prober->execution, err);
    case PROBE_NONE:
        break;
    }
    return AR_OK;
}

static bool rank_takes_part(const struct measurement *measurement, uint32_t rank)
{
    return measurement->probe == PROBE_LAUNCH || rank == measurement->from ||
           (probe_is_of_link(measurement->probe) && rank == measurement->to);
}

static enum ar_status run_probe_once(struct crew *crew, uint32_t calls, double *time_s,
                                     struct ar_error *err)
{
    (void)calls;
    const struct prober *prober = (const struct prober *)(const void *)crew;
    const struct measurement *measurement = prober->execution.measurement;
    uint32_t rank = prober->execution.transport->rank;
    AR_TRY(meet_ranks(&prober->execution, err));
    if (!rank_takes_part(measurement, rank)) {
        return AR_OK;
    }
    double begin_s = ar_clock_s();
    AR_TRY(perform_probe(prober, err));
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
    return memory->copy(*buffer, ar_arena_alloc(arena, bytes + 1, 1), bytes, err);
}

static enum ar_status run_probe(const struct execution *execution, struct ar_arena *arena,
                                struct measurement *own, struct ar_error *err)
{
    struct prober prober = {.crew = {.run = run_probe_once}, .execution = *execution};
    const struct memory *memory = execution->config->memory;
    uint32_t rank = execution->transport->rank;
    size_t bytes = measurement_bytes(own);
    if (rank_takes_part(own, rank)) {
        AR_TRY(create_buffer(memory, bytes, arena, &prober.execution.buffer, err));
    }
    if (rank == own->from) {
        AR_TRY(create_buffer(memory, bytes, arena, &prober.other, err));
    }
    return crew_repeat(&prober.crew, execution->config, NULL, arena, own, err);
}

/* --- a rank over a transport -------------------------------------------------------------- */

static enum ar_status run_collective_once(struct crew *crew, uint32_t calls, double *time_s,
                                          struct ar_error *err)
{
    (void)calls;
    const struct execution *execution = &((const struct prober *)(const void *)crew)->execution;
    AR_TRY(meet_ranks(execution, err));
    double begin_s = ar_clock_s();
    AR_TRY(execution_run(execution, err));
    *time_s = ar_clock_s() - begin_s;
    return AR_OK;
}

enum ar_status rank_run(const struct execution *execution, const struct payload *payload,
                        struct ar_arena *arena, struct measurement *own, struct ar_error *err)
{
    const struct run_config *config = execution->config;
    struct prober rank = {.execution = *execution};
    if (own->probe != PROBE_NONE) {
        return run_probe(execution, arena, own, err);
    }
    AR_TRY(execution_create(arena, &rank.execution, err));
    rank.crew = (struct crew){.memory = config->memory,
                              .first = execution->transport->rank,
                              .count = 1,
                              .buffers = &rank.execution.buffer,
                              .run = run_collective_once};
    AR_TRY(crew_repeat(&rank.crew, config, payload, arena, own, err));
    return execution_end(&rank.execution, err);
}
