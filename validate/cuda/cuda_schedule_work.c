/* The work of a schedule: what the host lays out onto the streams. */
#include "cuda_kernels.h"
#include "cuda_schedule_parts.h"

/* A rank at one step of a channel. */
struct turn {
    struct cuda_schedule *schedule;
    struct cuda_rank *rank;
    unsigned char *buffer;
    const struct ports *ports;
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
    uint32_t rank = ar_order_rank(&order, channel, position);
    return (struct turn){
        .schedule = schedule,
        .rank = &schedule->ranks[rank],
        .buffer = schedule->crew.buffers[rank],
        .ports = &schedule->ports[rank],
        .channel = channel,
        .part = part,
        .move = measurement->algorithm->move(&measurement->shape, part.count, position, step),
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
    return &turn->schedule->links[turn->rank->links[ports_find(turn->ports, port)]];
}

/* Where a span begins in a buffer, in bytes. */
static size_t offset_of(const struct turn *turn, struct ar_span span)
{
    return (turn->part.first + span.first) * turn->schedule->measurement->type->bytes;
}

/* Where a message lies: sender and receiver have the same span, and buffers begin alike. */
static unsigned char *slot_of(const struct turn *turn, const struct cuda_link *link,
                              struct ar_span span, uint32_t slot)
{
    return link->slots + slot * turn->schedule->slot_bytes + offset_of(turn, span) % SLOT_ALIGNMENT;
}

static enum ar_status wait_for(cudaStream_t stream, cudaEvent_t event, struct ar_error *err)
{
    return cuda_check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent", err);
}

static enum ar_status record(cudaEvent_t event, cudaStream_t stream, struct ar_error *err)
{
    return cuda_check(cudaEventRecord(event, stream), "cudaEventRecord", err);
}

static enum ar_status lay_out_send(const struct turn *turn, struct ar_error *err)
{
    struct ar_span span = turn->move.send_span;
    struct cuda_link *link = link_of(turn, turn->move.send_to, true);
    uint32_t window = turn->schedule->config->window;
    uint32_t slot = (uint32_t)(link->sends % window);
    cudaStream_t stream = turn->rank->streams[turn->channel];
    int device = turn->rank->device;
    int peer = turn->schedule->ranks[link->to].device;
    const unsigned char *from = turn->buffer + offset_of(turn, span);
    unsigned char *to = slot_of(turn, link, span, slot);
    size_t bytes = span.count * turn->schedule->measurement->type->bytes;
    CUDA_TRY(cudaSetDevice, device);
    if (link->sends >= window) {
        AR_TRY(wait_for(stream, link->taken[slot], err));
    }
    if (device == peer) {
        CUDA_TRY(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    } else {
        CUDA_TRY(cudaMemcpyPeerAsync, to, peer, from, device, bytes, stream);
    }
    link->sends++;
    return record(link->sent[slot], stream, err);
}

static enum ar_status lay_out_receive(const struct turn *turn, struct ar_error *err)
{
    struct ar_span span = turn->move.receive_span;
    struct cuda_link *link = link_of(turn, turn->move.receive_from, false);
    uint32_t slot = (uint32_t)(link->receives % turn->schedule->config->window);
    cudaStream_t stream = turn->rank->streams[turn->channel];
    unsigned char *to = turn->buffer + offset_of(turn, span);
    const unsigned char *from = slot_of(turn, link, span, slot);
    uint32_t element_bytes = turn->schedule->measurement->type->bytes;
    CUDA_TRY(cudaSetDevice, turn->rank->device);
    AR_TRY(wait_for(stream, link->sent[slot], err));
    if (turn->move.receive == AR_RECEIVE_REDUCE) {
        AR_TRY(cuda_check(kernels_reduce(element_bytes, to, from, span.count, stream),
                          "the launch of a sum", err));
    } else {
        CUDA_TRY(cudaMemcpyAsync, to, from, span.count * element_bytes, cudaMemcpyDeviceToDevice,
                 stream);
    }
    link->receives++;
    return record(link->taken[slot], stream, err);
}

/* One step of a channel: all sends, then all receives. */
static enum ar_status lay_out_step(struct cuda_schedule *schedule, uint32_t channel, uint32_t step,
                                   struct ar_error *err)
{
    uint32_t ranks = schedule->measurement->ranks;
    for (uint32_t i = 0; i < 2 * ranks; i++) {
        struct turn turn = turn_of(schedule, channel, i % ranks, step);
        if (i < ranks && turn.move.sends && turn.move.send_span.count > 0) {
            AR_TRY(lay_out_send(&turn, err));
        } else if (i >= ranks && turn.move.receive != AR_RECEIVE_NONE &&
                   turn.move.receive_span.count > 0) {
            AR_TRY(lay_out_receive(&turn, err));
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
    AR_TRY(record(schedule->fork, first, err));
    for (uint32_t rank = 0; rank < measurement->ranks; rank++) {
        for (uint32_t channel = 0; channel < measurement->channels; channel++) {
            cudaStream_t stream = schedule->ranks[rank].streams[channel];
            if (stream != first) {
                AR_TRY(wait_for(stream, schedule->fork, err));
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
            AR_TRY(record(member->done[channel], member->streams[channel], err));
            AR_TRY(wait_for(first, member->done[channel], err));
        }
    }
    return AR_OK;
}

enum ar_status cuda_schedule_lay_out(struct cuda_schedule *schedule, struct ar_error *err)
{
    const struct measurement *measurement = schedule->measurement;
    uint32_t steps = ar_algorithm_steps(measurement->algorithm, &measurement->shape);
    for (uint32_t i = 0; i < schedule->links_count; i++) {
        schedule->links[i].sends = 0;
        schedule->links[i].receives = 0;
    }
    AR_TRY(fork_streams(schedule, err));
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t channel = 0; channel < measurement->channels; channel++) {
            AR_TRY(lay_out_step(schedule, channel, step, err));
        }
    }
    return join_streams(schedule, err);
}
