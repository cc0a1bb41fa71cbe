#include "cuda_schedule.h"

#include <inttypes.h>

#include "cuda_device.h"
#include "cuda_kernels.h"
#include "executor.h"

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
    uint32_t *links; /* of its ports */
};

struct cuda_schedule {
    struct crew crew;
    const struct measurement *measurement;
    const struct run_config *config;
    struct ports *ports; /* of all ranks */
    struct cuda_rank *ranks;
    struct cuda_link *links;
    uint32_t links_count;
    size_t slot_bytes;
    cudaEvent_t fork; /* all streams wait for it */
    cudaEvent_t begin;
    cudaEvent_t end;
    cudaGraphExec_t executable; /* of a graph; NULL: none */
};

/* --- making ------------------------------------------------------------------------------- */

static size_t slot_capacity(const struct measurement *measurement)
{
    size_t bytes = (measurement_message_max(measurement) + 1) * measurement->type->bytes;
    return (bytes / SLOT_ALIGNMENT + 2 + measurement->ranks) * SLOT_ALIGNMENT; /* spans, at most */
}

static enum ar_status make_rank(struct cuda_schedule *schedule, uint32_t gpus, uint32_t rank,
                                struct ar_arena *arena, struct ar_error *err)
{
    const struct measurement *measurement = schedule->measurement;
    struct cuda_rank *made = &schedule->ranks[rank];
    made->device = cuda_device_of(gpus, measurement->ranks, rank);
    made->links = ar_arena_alloc(arena, schedule->ports[rank].count + 1, sizeof *made->links);
    AR_NEED(made->links, err, "connections");
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

/* Gives every sending port a link, and the receiving port at its other end the same. */
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

static enum ar_status make_all(struct cuda_schedule *schedule, uint32_t gpus,
                               struct ar_arena *arena, struct ar_error *err)
{
    uint32_t ranks = schedule->measurement->ranks;
    uint32_t ports = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        AR_TRY(make_rank(schedule, gpus, rank, arena, err));
        ports += schedule->ports[rank].count;
    }
    schedule->links = ar_arena_alloc(arena, ports + 1, sizeof *schedule->links);
    AR_NEED(schedule->links, err, "connections");
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
struct turn {
    struct cuda_schedule *schedule;
    uint32_t rank;
    uint32_t channel;
    struct ar_span part;
    struct ar_move move;
};

static struct turn turn_of(struct cuda_schedule *schedule, uint32_t channel, uint32_t position,
                           uint32_t step)
{
    const struct measurement *measurement = schedule->measurement;
    struct ar_order order = measurement_order(measurement);
    struct ar_span part = measurement_part(measurement, channel);
    return (struct turn){
        .schedule = schedule,
        .rank = ar_order_rank(&order, channel, position),
        .channel = channel,
        .part = part,
        .move = ar_algorithm_move(measurement->algorithm, &measurement->shape, part.count, position,
                                  step),
    };
}

static struct cuda_link *link_of(const struct turn *turn, uint32_t peer_position, bool sends)
{
    struct ar_order order = measurement_order(turn->schedule->measurement);
    struct port port = {
        .channel = turn->channel,
        .peer = ar_order_rank(&order, turn->channel, peer_position),
        .sends = sends,
    };
    uint32_t index = ports_find(&turn->schedule->ports[turn->rank], port);
    return &turn->schedule->links[turn->schedule->ranks[turn->rank].links[index]];
}

/* Where a span begins in a buffer, in bytes. */
static size_t offset_of(const struct turn *turn, struct ar_span span)
{
    return (turn->part.first + span.first) * turn->schedule->measurement->type->bytes;
}

static unsigned char *slot_of(const struct turn *turn, const struct cuda_link *link, uint32_t slot)
{
    return link->slots + slot * turn->schedule->slot_bytes;
}

/* The next place in a slot where a span may lie: sender and receiver have the same spans, and
 * buffers begin alike. */
static unsigned char *place_of(const struct turn *turn, unsigned char *at, struct ar_span span)
{
    return at + (offset_of(turn, span) - (uintptr_t)at) % SLOT_ALIGNMENT;
}

static enum ar_status lay_out_copy(const struct turn *turn, int peer, unsigned char *to,
                                   const unsigned char *from, size_t bytes, struct ar_error *err)
{
    cudaStream_t stream = turn->schedule->ranks[turn->rank].streams[turn->channel];
    int device = turn->schedule->ranks[turn->rank].device;
    if (device == peer) {
        CUDA_TRY(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    } else {
        CUDA_TRY(cudaMemcpyPeerAsync, to, peer, from, device, bytes, stream);
    }
    return AR_OK;
}

/* All sends of a phase at once are laid out before its receives, so a slot would be waited for that
 * nobody has been told to take yet. */
static enum ar_status report_full(const struct turn *turn, struct ar_error *err)
{
    char text[MEASUREMENT_TEXT];
    return ar_error_set(err, AR_INTERNAL,
                        "%s: rank %" PRIu32 " sends more messages at once to one rank than a "
                        "window of %" PRIu32 " has; expected a larger --window",
                        measurement_text(turn->schedule->measurement, text), turn->rank,
                        turn->schedule->config->window);
}

static enum ar_status lay_out_send(const struct turn *turn, struct ar_error *err)
{
    const struct ar_slice *slice = &turn->move.send_span;
    struct cuda_link *link = link_of(turn, turn->move.send_to, true);
    uint32_t window = turn->schedule->config->window;
    uint32_t slot = (uint32_t)(link->sends % window);
    cudaStream_t stream = turn->schedule->ranks[turn->rank].streams[turn->channel];
    const unsigned char *buffer = turn->schedule->crew.buffers[turn->rank];
    unsigned char *to = slot_of(turn, link, slot);
    uint32_t part = 0;
    struct ar_span span;
    CUDA_TRY(cudaSetDevice, turn->schedule->ranks[turn->rank].device);
    if (link->sends - link->receives >= window) {
        return report_full(turn, err);
    }
    if (link->sends >= window) {
        CUDA_TRY(cudaStreamWaitEvent, stream, link->taken[slot], 0);
    }
    while (ar_slice_next(slice, &part, &span)) {
        size_t bytes = span.count * turn->schedule->measurement->type->bytes;
        to = place_of(turn, to, span);
        AR_TRY(lay_out_copy(turn, turn->schedule->ranks[link->to].device, to,
                            buffer + offset_of(turn, span), bytes, err));
        to += bytes;
    }
    link->sends++;
    CUDA_TRY(cudaEventRecord, link->sent[slot], stream);
    return AR_OK;
}

static enum ar_status lay_out_receive(const struct turn *turn, struct ar_error *err)
{
    const struct ar_slice *slice = &turn->move.receive_span;
    struct cuda_link *link = link_of(turn, turn->move.receive_from, false);
    uint32_t slot = (uint32_t)(link->receives % turn->schedule->config->window);
    cudaStream_t stream = turn->schedule->ranks[turn->rank].streams[turn->channel];
    int device = turn->schedule->ranks[turn->rank].device;
    unsigned char *from = slot_of(turn, link, slot);
    uint32_t element_bytes = turn->schedule->measurement->type->bytes;
    uint32_t part = 0;
    struct ar_span span;
    CUDA_TRY(cudaSetDevice, device);
    CUDA_TRY(cudaStreamWaitEvent, stream, link->sent[slot], 0);
    while (ar_slice_next(slice, &part, &span)) {
        unsigned char *to = turn->schedule->crew.buffers[turn->rank] + offset_of(turn, span);
        size_t bytes = span.count * element_bytes;
        from = place_of(turn, from, span);
        AR_TRY(turn->move.receive == AR_RECEIVE_REDUCE
                   ? cuda_check(kernels_reduce(element_bytes, to, from, span.count, stream),
                                "the launch of a sum", err)
                   : lay_out_copy(turn, device, to, from, bytes, err));
        from += bytes;
    }
    link->receives++;
    CUDA_TRY(cudaEventRecord, link->taken[slot], stream);
    return AR_OK;
}

/* All sends, or all receives, of a step of a channel. */
static enum ar_status lay_out_half(struct cuda_schedule *schedule, uint32_t channel, uint32_t step,
                                   bool sends, struct ar_error *err)
{
    for (uint32_t position = 0; position < schedule->measurement->ranks; position++) {
        struct turn turn = turn_of(schedule, channel, position, step);
        if (sends && turn.move.sends && turn.move.send_span.count > 0) {
            AR_TRY(lay_out_send(&turn, err));
        } else if (!sends && turn.move.receive != AR_RECEIVE_NONE &&
                   turn.move.receive_span.count > 0) {
            AR_TRY(lay_out_receive(&turn, err));
        }
    }
    return AR_OK;
}

/* Steps that are laid out together: those of a phase at once, with all sends first. */
static enum ar_status lay_out_steps(struct cuda_schedule *schedule, uint32_t first, uint32_t count,
                                    struct ar_error *err)
{
    for (uint32_t i = 0; i < 2 * count; i++) {
        for (uint32_t channel = 0; channel < schedule->measurement->channels; channel++) {
            AR_TRY(lay_out_half(schedule, channel, first + i % count, i < count, err));
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
static enum ar_status lay_out(struct cuda_schedule *schedule, struct ar_error *err)
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

static enum ar_status capture(struct cuda_schedule *schedule, struct ar_arena *arena,
                              struct ar_error *err)
{
    cudaStream_t first = schedule->ranks[0].streams[0];
    cudaGraph_t graph = NULL;
    struct ar_error later;
    CUDA_TRY(cudaStreamBeginCapture, first, cudaStreamCaptureModeThreadLocal);
    enum ar_status status = lay_out(schedule, err);
    enum ar_status ended = cuda_check(cudaStreamEndCapture(first, &graph), "cudaStreamEndCapture",
                                      status == AR_OK ? err : &later);
    if (graph != NULL && ar_arena_own(arena, graph, destroy_graph) == NULL) {
        return ar_error_no_memory(err, "a graph");
    }
    AR_TRY(status);
    AR_TRY(ended);
    CUDA_TRY(cudaGraphInstantiateWithFlags, &schedule->executable, graph, 0);
    schedule->executable = ar_arena_own(arena, schedule->executable, destroy_executable);
    return schedule->executable != NULL ? AR_OK : ar_error_no_memory(err, "a graph");
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

static enum ar_status run(struct crew *crew, double *time_s, struct ar_error *err)
{
    struct cuda_schedule *schedule = (struct cuda_schedule *)(void *)crew; /* its first member */
    cudaStream_t first = schedule->ranks[0].streams[0];
    float time_ms;
    CUDA_TRY(cudaSetDevice, schedule->ranks[0].device);
    CUDA_TRY(cudaEventRecord, schedule->begin, first);
    if (schedule->executable != NULL) {
        CUDA_TRY(cudaGraphLaunch, schedule->executable, first);
    } else {
        AR_TRY(lay_out(schedule, err));
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
    struct cuda_rank *members = ar_arena_alloc(arena, ranks, sizeof *members);
    unsigned char **buffers = ar_arena_alloc(arena, ranks, sizeof *buffers);
    AR_NEED(made && members && buffers, err, "a schedule");
    *made = (struct cuda_schedule){
        .crew = {.memory = &memory_device, .count = ranks, .buffers = buffers, .run = run},
        .measurement = measurement,
        .config = config,
        .ranks = members,
        .slot_bytes = slot_capacity(measurement),
    };
    AR_TRY(ports_create_all(measurement, arena, &made->ports, err));
    AR_TRY(make_all(made, gpus, arena, err));
    if (config->uses_graph) {
        AR_TRY(capture(made, arena, err));
    }
    *crew = &made->crew;
    return AR_OK;
}
