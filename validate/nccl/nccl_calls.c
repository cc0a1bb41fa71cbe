/* Operations as the library has them. */
#include "nccl_calls.h"

static ncclResult_t all_reduce(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    return ranks->library->all_reduce(rank->buffer, rank->buffer, ranks->measurement->elements,
                                      ranks->type, ncclSum, rank->all, rank->stream);
}

/* The part of a position, at `base`. */
static unsigned char *part_at(const struct nccl_ranks *ranks, unsigned char *base,
                              uint32_t position, uint64_t *count)
{
    const struct measurement *measurement = ranks->measurement;
    struct ar_span all = {.first = 0, .count = measurement->elements};
    struct ar_span part = ar_span_part(all, measurement->ranks, position);
    *count = part.count;
    return base + part.first * measurement->type->bytes;
}

static ncclResult_t reduce_scatter(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    uint64_t count;
    unsigned char *own = part_at(ranks, rank->buffer, rank->rank, &count);
    return ranks->library->reduce_scatter(rank->buffer, own, count, ranks->type, ncclSum, rank->all,
                                          rank->stream);
}

static ncclResult_t all_gather(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    uint64_t count;
    unsigned char *own = part_at(ranks, rank->buffer, rank->rank, &count);
    return ranks->library->all_gather(own, rank->buffer, count, ranks->type, rank->all,
                                      rank->stream);
}

static ncclResult_t broadcast(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    return ranks->library->broadcast(rank->buffer, rank->buffer, ranks->measurement->elements,
                                     ranks->type, (int)ranks->measurement->root, rank->all,
                                     rank->stream);
}

static ncclResult_t reduce(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    return ranks->library->reduce(rank->buffer, rank->buffer, ranks->measurement->elements,
                                  ranks->type, ncclSum, (int)ranks->measurement->root, rank->all,
                                  rank->stream);
}

static uint32_t position_of(const struct nccl_ranks *ranks, const struct nccl_rank *rank)
{
    struct ar_order order = measurement_order(ranks->measurement);
    return ar_order_position(&order, 0, rank->rank);
}

/* Sends, or receives, a part; parts without elements are left out at both ends. */
static ncclResult_t pass(const struct nccl_ranks *ranks, struct nccl_rank *rank, bool sends,
                         unsigned char *base, uint32_t part, uint32_t peer_position)
{
    uint64_t count;
    unsigned char *at = part_at(ranks, base, part, &count);
    struct ar_order order = measurement_order(ranks->measurement);
    int peer = (int)ar_order_rank(&order, 0, peer_position % ranks->measurement->ranks);
    if (count == 0) {
        return ncclSuccess;
    }
    return sends ? ranks->library->send(at, count, ranks->type, peer, rank->all, rank->stream)
                 : ranks->library->recv(at, count, ranks->type, peer, rank->all, rank->stream);
}

/* The root, at position 0, gives each its part, or gets it. */
static ncclResult_t pass_parts(const struct nccl_ranks *ranks, struct nccl_rank *rank,
                               bool root_sends)
{
    uint32_t position = position_of(ranks, rank);
    ncclResult_t code = ncclSuccess;
    if (position > 0) {
        return pass(ranks, rank, !root_sends, rank->buffer, position, 0);
    }
    for (uint32_t i = 1; i < ranks->measurement->ranks && code == ncclSuccess; i++) {
        code = pass(ranks, rank, root_sends, rank->buffer, i, i);
    }
    return code;
}

static ncclResult_t gather(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    return pass_parts(ranks, rank, false);
}

static ncclResult_t scatter(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    return pass_parts(ranks, rank, true);
}

/* Part k goes k ranks on; its own part a rank sends to itself. */
static ncclResult_t all_to_all(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    uint32_t position = position_of(ranks, rank);
    uint32_t count = ranks->measurement->ranks;
    ncclResult_t code = ncclSuccess;
    for (uint32_t i = 0; i < count && code == ncclSuccess; i++) {
        code = pass(ranks, rank, true, rank->buffer, i, position + i);
        code = code == ncclSuccess ? pass(ranks, rank, false, rank->result, i, position + count - i)
                                   : code;
    }
    return code;
}

static ncclResult_t send(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    const struct measurement *measurement = ranks->measurement;
    struct ar_order order = measurement_order(measurement);
    uint32_t last = ar_order_rank(&order, 0, measurement->ranks - 1);
    if (measurement->ranks > 1 && rank->rank == measurement->root) {
        return ranks->library->send(rank->buffer, measurement->elements, ranks->type, (int)last,
                                    rank->all, rank->stream);
    }
    return measurement->ranks > 1 && rank->rank == last
               ? ranks->library->recv(rank->buffer, measurement->elements, ranks->type,
                                      (int)measurement->root, rank->all, rank->stream)
               : ncclSuccess;
}

static const struct nccl_call_row calls[] = {
    {&ar_operation_all_reduce, all_reduce, "ncclAllReduce", false},
    {&ar_operation_reduce_scatter, reduce_scatter, "ncclReduceScatter", false},
    {&ar_operation_all_gather, all_gather, "ncclAllGather", false},
    {&ar_operation_broadcast, broadcast, "ncclBroadcast", false},
    {&ar_operation_reduce, reduce, "ncclReduce", false},
    {&ar_operation_gather, gather, "ncclSend and ncclRecv", false},
    {&ar_operation_scatter, scatter, "ncclSend and ncclRecv", false},
    {&ar_operation_all_to_all, all_to_all, "ncclSend and ncclRecv", true},
    {&ar_operation_send, send, "ncclSend and ncclRecv", false},
};

const struct nccl_call_row *nccl_call_find(const struct ar_operation *operation)
{
    size_t i = 0;
    while (i + 1 < sizeof calls / sizeof calls[0] && calls[i].operation != operation) {
        i++;
    }
    return &calls[i];
}
