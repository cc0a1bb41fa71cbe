#include "cuda_schedule.h"

#include <inttypes.h>

#include "cuda_device.h"
#include "cuda_kernels.h"
#include "transport.h"

/* Slots begin at multiples of this; a span lies in its slot as it lies in the buffer. */
enum { SLOT_ALIGNMENT = 16 };

/* A connection. */
struct cuda_link {
    uint32_t channel;
    uint32_t from;
    uint32_t to;
    unsigned char *slots; /* on the receiver's GPU */
    cudaEvent_t sent[AR_WINDOW_MAX];
    cudaEvent_t taken[AR_WINDOW_MAX];
    uint64_t sends; /* laid out so far */
    uint64_t receives;
};

struct cuda_rank {
    int device;
    cudaStream_t streams[AR_CHANNELS_MAX];
    cudaEvent_t done[AR_CHANNELS_MAX];
    uint32_t *links; /* [port] */
};

struct cuda_schedule {
    struct crew crew;
    const struct measurement *measurement;
    const struct run_config *config;
    struct ports *ports; /* [rank] */
    struct cuda_rank *ranks;
    struct cuda_link *links;
    uint32_t links_count;
    size_t slot_bytes;
    cudaEvent_t fork; /* all streams wait for it */
    cudaEvent_t begin;
    cudaEvent_t end;
    cudaGraphExec_t executable; /* a captured graph; NULL: work is laid out in each run */
};

/* --- making ------------------------------------------------------------------------------- */

static size_t slot_capacity(const struct measurement *measurement)
{
    size_t bytes = (measurement_message_max(measurement) + 1) * measurement->type->bytes;
    return (bytes / SLOT_ALIGNMENT + 2 + measurement->ranks) * SLOT_ALIGNMENT; /* spans, at most */
}

static enum ar_status make_cuda_rank(struct cuda_schedule *schedule, uint32_t gpus, uint32_t rank,
                                     struct ar_arena *arena, struct ar_error *err)
{
    const struct measurement *measurement = schedule->measurement;
    struct cuda_rank *made = &schedule->ranks[rank];
    made->device = cuda_device_of(gpus, measurement->ranks, rank);
    made->links = ar_arena_alloc(arena, schedule->ports[rank].count + 1, sizeof *made->links);
    CUDA_TRY(cudaSetDevice, made->device);
    AR_TRY(
        cuda_allocate(arena, measurement_bytes(measurement), &schedule->crew.buffers[rank], err));
    for (uint32_t channel = 0; channel < measurement->channels; channel++) {
        AR_TRY(cuda_make_stream(arena, &made->streams[channel], err));
        AR_TRY(cuda_make_event(arena, false, &made->done[channel], err));
    }
    return AR_OK;
}

static enum ar_status make_link(const struct cuda_schedule *schedule, struct cuda_link *link,
                                struct ar_arena *arena, struct ar_error *err)
{
    uint32_t window = schedule->config->window;
    CUDA_TRY(cudaSetDevice, schedule->ranks[link->from].device);
    for (uint32_t i = 0; i < window; i++) {
        AR_TRY(cuda_make_event(arena, false, &link->sent[i], err));
    }
    CUDA_TRY(cudaSetDevice, schedule->ranks[link->to].device);
    for (uint32_t i = 0; i < window; i++) {
        AR_TRY(cuda_make_event(arena, false, &link->taken[i], err));
    }
    return cuda_allocate(arena, window * schedule->slot_bytes, &link->slots, err);
}

/* Gives every sending port a link, and the same to the receiving port at its other end. */
static enum ar_status make_links(struct cuda_schedule *schedule, uint32_t from,
                                 struct ar_arena *arena, struct ar_error *err)
{
    for (uint32_t i = 0; i < schedule->ports[from].count; i++) {
        struct port port = schedule->ports[from].ports[i];
        if (port.sends) {
            uint32_t other = ports_other_end(schedule->ports, from, i);
            uint32_t index = schedule->links_count++;
            struct cuda_link *link = &schedule->links[index];
            *link = (struct cuda_link){.channel = port.channel, .from = from, .to = port.peer};
            schedule->ranks[from].links[i] = index;
            schedule->ranks[port.peer].links[other] = index;
            AR_TRY(make_link(schedule, link, arena, err));
        }
    }
    return AR_OK;
}

static enum ar_status make_schedule(struct cuda_schedule *schedule, uint32_t gpus,
                                    struct ar_arena *arena, struct ar_error *err)
{
    uint32_t ranks = schedule->measurement->ranks;
    uint32_t ports = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        AR_TRY(make_cuda_rank(schedule, gpus, rank, arena, err));
        ports += schedule->ports[rank].count;
    }
    schedule->links = ar_arena_alloc(arena, ports + 1, sizeof *schedule->links);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        AR_TRY(make_links(schedule, rank, arena, err));
    }
    CUDA_TRY(cudaSetDevice, schedule->ranks[0].device);
    AR_TRY(cuda_make_event(arena, false, &schedule->fork, err));
    AR_TRY(cuda_make_event(arena, true, &schedule->begin, err));
    return cuda_make_event(arena, true, &schedule->end, err);
}

/* --- work --------------------------------------------------------------------------------- */

/* A rank at one step of a channel. */
struct rank_step {
    struct cuda_schedule *schedule;
    uint32_t rank;
    uint32_t channel;
    struct ar_span part;
    struct ar_move move;
};

static struct rank_step step_of_rank(struct cuda_schedule *schedule, uint32_t channel,
                                     uint32_t position, uint32_t step)
{
    const struct measurement *measurement = schedule->measurement;
    struct ar_order order = measurement_order(measurement);
    struct ar_span part = measurement_part(measurement, channel);
    return (struct rank_step){
        .schedule = schedule,
        .rank = ar_order_rank(&order, channel, position),
        .channel = channel,
        .part = part,
        .move = ar_algorithm_move(measurement->algorithm, &measurement->shape, part.count, position,
                                  step),
    };
}

static struct cuda_link *find_link(const struct rank_step *step, uint32_t peer_position, bool sends)
{
    struct ar_order order = measurement_order(step->schedule->measurement);
    struct port port = {
        .channel = step->channel,
        .peer = ar_order_rank(&order, step->channel, peer_position),
        .sends = sends,
    };
    uint32_t index = ports_find(&step->schedule->ports[step->rank], port);
    return &step->schedule->links[step->schedule->ranks[step->rank].links[index]];
}

/* Where a span begins in a buffer, in bytes. */
static size_t span_offset(const struct rank_step *step, struct ar_span span)
{
    return (step->part.first + span.first) * step->schedule->measurement->type->bytes;
}

static unsigned char *link_slot_at(const struct rank_step *step, const struct cuda_link *link,
                                   uint32_t slot)
{
    return link->slots + slot * step->schedule->slot_bytes;
}

/* The next place in a slot where a span may lie: sender and receiver have the same spans, and
 * buffers begin alike. */
static unsigned char *aligned_place(const struct rank_step *step, unsigned char *at,
                                    struct ar_span span)
{
    return at + (span_offset(step, span) - (uintptr_t)at) % SLOT_ALIGNMENT;
}

static enum ar_status lay_out_copy(const struct rank_step *step, int peer, unsigned char *to,
                                   const unsigned char *from, size_t bytes, struct ar_error *err)
{
    cudaStream_t stream = step->schedule->ranks[step->rank].streams[step->channel];
    int device = step->schedule->ranks[step->rank].device;
    if (device == peer) {
        CUDA_TRY(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    } else {
        CUDA_TRY(cudaMemcpyPeerAsync, to, peer, from, device, bytes, stream);
    }
    return AR_OK;
}

/* All sends of steps at once are laid out before their receives, so that this send would wait for a
 * slot that no receive has been laid out to take. */
static enum ar_status report_full(const struct rank_step *step, struct ar_error *err)
{
    char text[MEASUREMENT_TEXT];
    return ar_error_set(err, AR_INTERNAL,
                        "%s: rank %" PRIu32 " sends more messages at once to one rank than a "
                        "window of %" PRIu32 " has; expected a larger --window",
                        measurement_text(step->schedule->measurement, text), step->rank,
                        step->schedule->config->window);
}

static enum ar_status lay_out_send(const struct rank_step *step, struct ar_error *err)
{
    const struct ar_slice *slice = &step->move.send_span;
    struct cuda_link *link = find_link(step, step->move.send_to, true);
    uint32_t window = step->schedule->config->window;
    uint32_t slot = (uint32_t)(link->sends % window);
    cudaStream_t stream = step->schedule->ranks[step->rank].streams[step->channel];
    const unsigned char *buffer = step->schedule->crew.buffers[step->rank];
    unsigned char *to = link_slot_at(step, link, slot);
    uint32_t part = 0;
    struct ar_span span;
    CUDA_TRY(cudaSetDevice, step->schedule->ranks[step->rank].device);
    if (link->sends - link->receives >= window) {
        return report_full(step, err);
    }
    if (link->sends >= window) {
        CUDA_TRY(cudaStreamWaitEvent, stream, link->taken[slot], 0);
    }
    while (ar_slice_next(slice, &part, &span)) {
        size_t bytes = span.count * step->schedule->measurement->type->bytes;
        to = aligned_place(step, to, span);
        AR_TRY(lay_out_copy(step, step->schedule->ranks[link->to].device, to,
                            buffer + span_offset(step, span), bytes, err));
        to += bytes;
    }
    link->sends++;
    CUDA_TRY(cudaEventRecord, link->sent[slot], stream);
    return AR_OK;
}

static enum ar_status lay_out_receive(const struct rank_step *step, struct ar_error *err)
{
    const struct ar_slice *slice = &step->move.receive_span;
    struct cuda_link *link = find_link(step, step->move.receive_from, false);
    uint32_t slot = (uint32_t)(link->receives % step->schedule->config->window);
    cudaStream_t stream = step->schedule->ranks[step->rank].streams[step->channel];
    int device = step->schedule->ranks[step->rank].device;
    unsigned char *from = link_slot_at(step, link, slot);
    uint32_t element_bytes = step->schedule->measurement->type->bytes;
    uint32_t part = 0;
    struct ar_span span;
    CUDA_TRY(cudaSetDevice, device);
    CUDA_TRY(cudaStreamWaitEvent, stream, link->sent[slot], 0);
    while (ar_slice_next(slice, &part, &span)) {
        unsigned char *to = step->schedule->crew.buffers[step->rank] + span_offset(step, span);
        size_t bytes = span.count * element_bytes;
        from = aligned_place(step, from, span);
        AR_TRY(step->move.receive == AR_RECEIVE_REDUCE
                   ? cuda_check(kernels_reduce(element_bytes, to, from, span.count, stream),
                                "the launch of a sum", err)
                   : lay_out_copy(step, device, to, from, bytes, err));
        from += bytes;
    }
    link->receives++;
    CUDA_TRY(cudaEventRecord, link->taken[slot], stream);
    return AR_OK;
}

/* All sends, or all receives, of a step of a channel. */
static enum ar_status lay_out_direction(struct cuda_schedule *schedule, uint32_t channel,
                                        uint32_t step, bool sends, struct ar_error *err)
{
    for (uint32_t position = 0; position < schedule->measurement->ranks; position++) {
        struct rank_step rank_step = step_of_rank(schedule, channel, position, step);
        if (sends && rank_step.move.sends && rank_step.move.send_span.count > 0) {
            AR_TRY(lay_out_send(&rank_step, err));
        } else if (!sends && rank_step.move.receive != AR_RECEIVE_NONE &&
                   rank_step.move.receive_span.count > 0) {
            AR_TRY(lay_out_receive(&rank_step, err));
        }
    }
    return AR_OK;
}

/* Lays out steps together, all sends first: the steps of a phase that are at once, or a single one.
 */
static enum ar_status lay_out_steps(struct cuda_schedule *schedule, uint32_t first, uint32_t count,
                                    struct ar_error *err)
{
    for (uint32_t i = 0; i < 2 * count; i++) {
        for (uint32_t channel = 0; channel < schedule->measurement->channels; channel++) {
            AR_TRY(lay_out_direction(schedule, channel, first + i % count, i < count, err));
        }
    }
    return AR_OK;
}

/* All streams wait for the first one. */
static enum ar_status fork_streams(struct cuda_schedule *schedule, struct ar_error *err)
{
    const struct measurement *measurement = schedule->measurement;
    cudaStream_t first = schedule->ranks[0].streams[0];
    CUDA_TRY(cudaSetDevice, schedule->ranks[0].device);
    CUDA_TRY(cudaEventRecord, schedule->fork, first);
    for (uint32_t rank = 0; rank < measurement->ranks; rank++) {
        for (uint32_t channel = 0; channel < measurement->channels; channel++) {
            cudaStream_t stream = schedule->ranks[rank].streams[channel];
            if (stream != first) {
                CUDA_TRY(cudaStreamWaitEvent, stream, schedule->fork, 0);
            }
        }
    }
    return AR_OK;
}

/* The first stream waits for all others. */
static enum ar_status join_streams(struct cuda_schedule *schedule, struct ar_error *err)
{
    const struct measurement *measurement = schedule->measurement;
    cudaStream_t first = schedule->ranks[0].streams[0];
    for (uint32_t rank = 0; rank < measurement->ranks; rank++) {
        struct cuda_rank *member = &schedule->ranks[rank];
        CUDA_TRY(cudaSetDevice, member->device);
        for (uint32_t channel = 0; channel < measurement->channels; channel++) {
            if (member->streams[channel] == first) {
                continue;
            }
            CUDA_TRY(cudaEventRecord, member->done[channel], member->streams[channel]);
            CUDA_TRY(cudaStreamWaitEvent, first, member->done[channel], 0);
        }
    }
    return AR_OK;
}

/* Lays out the whole collective behind what is in the first rank's first stream, and ends there. */
static enum ar_status lay_out_all(struct cuda_schedule *schedule, struct ar_error *err)
{
    const struct measurement *measurement = schedule->measurement;
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t count = ar_algorithm_phases(measurement->algorithm, &measurement->shape, phases);
    uint32_t step = 0;
    for (uint32_t i = 0; i < schedule->links_count; i++) {
        schedule->links[i].sends = 0;
        schedule->links[i].receives = 0;
    }
    AR_TRY(fork_streams(schedule, err));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t together = phases[i].is_at_once ? phases[i].steps : 1;
        for (uint32_t end = step + phases[i].steps; step < end; step += together) {
            AR_TRY(lay_out_steps(schedule, step, together, err));
        }
    }
    return join_streams(schedule, err);
}

static void destroy_graph(void *graph)
{
    cudaGraphDestroy(graph);
}

static void destroy_executable(void *executable)
{
    cudaGraphExecDestroy(executable);
}

static enum ar_status capture_graph(struct cuda_schedule *schedule, struct ar_arena *arena,
                                    struct ar_error *err)
{
    cudaStream_t first = schedule->ranks[0].streams[0];
    cudaGraph_t graph = NULL;
    struct ar_error later;
    CUDA_TRY(cudaStreamBeginCapture, first, cudaStreamCaptureModeThreadLocal);
    enum ar_status status = lay_out_all(schedule, err);
    enum ar_status ended = cuda_check(cudaStreamEndCapture(first, &graph), "cudaStreamEndCapture",
                                      status == AR_OK ? err : &later);
    if (graph != NULL) {
        ar_arena_own(arena, graph, destroy_graph);
    }
    AR_TRY(status);
    AR_TRY(ended);
    CUDA_TRY(cudaGraphInstantiateWithFlags, &schedule->executable, graph, 0);
    ar_arena_own(arena, schedule->executable, destroy_executable);
    return AR_OK;
}

static enum ar_status await_end(const struct cuda_schedule *schedule, struct ar_error *err)
{
    cudaError_t code = cuda_await(schedule->end, schedule->config->timeout_s);
    if (code == cudaErrorNotReady) {
        char text[MEASUREMENT_TEXT];
        return ar_error_set(err, AR_INTERNAL,
                            "%s: the host waited %g s for %" PRIu32
                            " ranks on the GPUs; expected them to end",
                            measurement_text(schedule->measurement, text),
                            schedule->config->timeout_s, schedule->measurement->ranks);
    }
    return cuda_check(code, "the collective", err);
}

static enum ar_status run_schedule_once(struct crew *crew, double *time_s, struct ar_error *err)
{
    struct cuda_schedule *schedule = (struct cuda_schedule *)(void *)crew; /* its first member */
    cudaStream_t first = schedule->ranks[0].streams[0];
    float time_ms;
    CUDA_TRY(cudaSetDevice, schedule->ranks[0].device);
    CUDA_TRY(cudaEventRecord, schedule->begin, first);
    if (schedule->executable != NULL) {
        CUDA_TRY(cudaGraphLaunch, schedule->executable, first);
    } else {
        AR_TRY(lay_out_all(schedule, err));
    }
    CUDA_TRY(cudaSetDevice, schedule->ranks[0].device);
    CUDA_TRY(cudaEventRecord, schedule->end, first);
    AR_TRY(await_end(schedule, err));
    CUDA_TRY(cudaEventElapsedTime, &time_ms, schedule->begin, schedule->end);
    *time_s = 1e-3 * (double)time_ms;
    return AR_OK;
}

enum ar_status cuda_schedule_create(const struct measurement *measurement,
                                    const struct run_config *config, uint32_t gpus,
                                    struct ar_arena *arena, struct crew **crew,
                                    struct ar_error *err)
{
    uint32_t ranks = measurement->ranks;
    struct cuda_schedule *made = ar_arena_alloc(arena, 1, sizeof *made);
    *made = (struct cuda_schedule){
        .crew = {.memory = &memory_device,
                 .count = ranks,
                 .buffers = ar_arena_alloc(arena, ranks, sizeof(unsigned char *)),
                 .run = run_schedule_once},
        .measurement = measurement,
        .config = config,
        .ports = ports_create_all(measurement, arena),
        .ranks = ar_arena_alloc(arena, ranks, sizeof *made->ranks),
        .slot_bytes = slot_capacity(measurement),
    };
    AR_TRY(make_schedule(made, gpus, arena, err));
    if (config->uses_graph) {
        AR_TRY(capture_graph(made, arena, err));
    }
    *crew = &made->crew;
    return AR_OK;
}

/* --- probes ------------------------------------------------------------------------------- */

enum { ROUND_TRIPS = 100, LAUNCHES = 1000, ENDS = 2 };

/* One end: a buffer on a GPU, and a stream with an event that tells the other end. */
struct end {
    int device;
    unsigned char *buffer;
    cudaStream_t stream;
    cudaEvent_t sent;
};

/* Both ends of a probe, which may be on one GPU; the first one keeps the time. */
struct prober {
    struct crew crew;
    const struct measurement *measurement;
    struct end ends[ENDS];
    cudaEvent_t begin;
    cudaEvent_t finish;
};

static enum ar_status make_end(struct ar_arena *arena, size_t bytes, struct end *end,
                               struct ar_error *err)
{
    CUDA_TRY(cudaSetDevice, end->device);
    AR_TRY(cuda_allocate(arena, bytes, &end->buffer, err));
    CUDA_TRY(cudaMemset, end->buffer, 0, bytes);
    AR_TRY(cuda_make_stream(arena, &end->stream, err));
    return cuda_make_event(arena, false, &end->sent, err);
}

/* Copies from one end to the other; the other end's stream goes on when it is there. */
static enum ar_status copy_to_end(struct end *from, struct end *to, size_t bytes,
                                  struct ar_error *err)
{
    CUDA_TRY(cudaSetDevice, from->device);
    if (from->device == to->device) {
        CUDA_TRY(cudaMemcpyAsync, to->buffer, from->buffer, bytes, cudaMemcpyDeviceToDevice,
                 from->stream);
    } else {
        CUDA_TRY(cudaMemcpyPeerAsync, to->buffer, to->device, from->buffer, from->device, bytes,
                 from->stream);
    }
    CUDA_TRY(cudaEventRecord, from->sent, from->stream);
    return cuda_check(cudaStreamWaitEvent(to->stream, from->sent, 0), "cudaStreamWaitEvent", err);
}

static enum ar_status lay_out_round_trips(struct prober *prober, struct ar_error *err)
{
    size_t bytes = measurement_bytes(prober->measurement);
    for (uint32_t i = 0; i < 2 * ROUND_TRIPS; i++) {
        AR_TRY(copy_to_end(&prober->ends[i % 2], &prober->ends[1 - i % 2], bytes, err));
    }
    return AR_OK;
}

static enum ar_status lay_out_launches(struct prober *prober, struct ar_error *err)
{
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        AR_TRY(cuda_check(kernels_nothing(prober->ends[0].stream), "an empty launch", err));
    }
    return AR_OK;
}

/* Lays out the timed work; `times` says how many times the measured property is in it. */
static enum ar_status lay_out_probe(struct prober *prober, double *times, struct ar_error *err)
{
    const struct measurement *measurement = prober->measurement;
    struct end *ends = prober->ends;
    size_t bytes = measurement_bytes(measurement);
    *times = 1;
    switch (measurement->probe) {
    case PROBE_LATENCY:
        *times = 2 * ROUND_TRIPS;
        return lay_out_round_trips(prober, err);
    case PROBE_BANDWIDTH:
        return copy_to_end(&ends[0], &ends[1], bytes, err);
    case PROBE_COPY:
        return cuda_check(cudaMemcpyAsync(ends[0].buffer, ends[1].buffer, bytes,
                                          cudaMemcpyDeviceToDevice, ends[0].stream),
                          "cudaMemcpyAsync", err);
    case PROBE_REDUCE:
        return cuda_check(kernels_reduce(measurement->type->bytes, ends[0].buffer, ends[1].buffer,
                                         measurement->elements, ends[0].stream),
                          "the launch of a sum", err);
    case PROBE_LAUNCH:
        *times = LAUNCHES;
        return lay_out_launches(prober, err);
    case PROBE_NONE:
        break;
    }
    return AR_OK;
}

/* The first end's stream waits for the last message back, so its events enclose everything. */
static enum ar_status run_cuda_probe_once(struct crew *crew, double *time_s, struct ar_error *err)
{
    struct prober *prober = (struct prober *)(void *)crew; /* its first member */
    cudaStream_t stream = prober->ends[0].stream;
    double times;
    float time_ms;
    CUDA_TRY(cudaSetDevice, prober->ends[0].device);
    CUDA_TRY(cudaEventRecord, prober->begin, stream);
    AR_TRY(lay_out_probe(prober, &times, err));
    CUDA_TRY(cudaSetDevice, prober->ends[0].device);
    CUDA_TRY(cudaEventRecord, prober->finish, stream);
    AR_TRY(cuda_check(cudaEventSynchronize(prober->finish), "a probe", err));
    CUDA_TRY(cudaEventElapsedTime, &time_ms, prober->begin, prober->finish);
    *time_s = 1e-3 * (double)time_ms / times;
    return AR_OK;
}

static enum ar_status make_prober(const struct measurement *measurement, uint32_t gpus,
                                  struct ar_arena *arena, struct prober *prober,
                                  struct ar_error *err)
{
    uint32_t other = probe_is_of_link(measurement->probe) ? measurement->to : measurement->from;
    *prober = (struct prober){.crew = {.run = run_cuda_probe_once}, .measurement = measurement};
    prober->ends[0].device = cuda_device_of(gpus, measurement->ranks, measurement->from);
    prober->ends[1].device = cuda_device_of(gpus, measurement->ranks, other);
    for (uint32_t i = ENDS; i-- > 0;) { /* so that the GPU of the first end is current then */
        AR_TRY(make_end(arena, measurement_bytes(measurement), &prober->ends[i], err));
    }
    AR_TRY(cuda_make_event(arena, true, &prober->begin, err));
    return cuda_make_event(arena, true, &prober->finish, err);
}

enum ar_status cuda_probe_run(const struct run_config *config, uint32_t gpus,
                              struct ar_arena *arena, struct measurement *measurement,
                              struct ar_error *err)
{
    struct prober prober;
    AR_TRY(make_prober(measurement, gpus, arena, &prober, err));
    return crew_repeat(&prober.crew, config, NULL, arena, measurement, err);
}
