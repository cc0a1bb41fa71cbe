#include "nccl_ranks.h"

#include <inttypes.h>

#include "cuda_device.h"
#include "nccl_calls.h"

/* The calls of all ranks of this process as one group, as NCCL wants it from one thread. */
static enum ar_status call_all(struct nccl_ranks *ranks, nccl_call *function, const char *name,
                               struct ar_error *err)
{
    const struct nccl_library *library = ranks->library;
    AR_TRY(nccl_check(library, library->group_start(), "ncclGroupStart", err));
    for (uint32_t i = 0; i < ranks->crew.count; i++) {
        CUDA_TRY(cudaSetDevice, ranks->ranks[i].device);
        AR_TRY(nccl_check(library, function(ranks, &ranks->ranks[i]), name, err));
    }
    return nccl_check(library, library->group_end(), name, err);
}

static unsigned char *shard_of(const struct nccl_ranks *ranks, const struct nccl_rank *rank)
{
    uint32_t column = rank->rank % ranks->measurement->shape.x;
    return rank->buffer + column * ranks->shard * ranks->measurement->type->bytes;
}

static ncclResult_t split_row(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    uint32_t x = ranks->measurement->shape.x;
    return ranks->library->comm_split(rank->all, (int)(rank->rank / x), (int)(rank->rank % x),
                                      &rank->row, NULL);
}

static ncclResult_t split_column(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    uint32_t x = ranks->measurement->shape.x;
    return ranks->library->comm_split(rank->all, (int)(rank->rank % x), (int)(rank->rank / x),
                                      &rank->column, NULL);
}

static ncclResult_t meet(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    return ranks->library->all_reduce(rank->token, rank->token, 1, ranks->type, ncclSum, rank->all,
                                      rank->stream);
}

static ncclResult_t scatter_row(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    return ranks->library->reduce_scatter(rank->buffer, shard_of(ranks, rank), ranks->shard,
                                          ranks->type, ncclSum, rank->row, rank->stream);
}

static ncclResult_t reduce_column(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    unsigned char *shard = shard_of(ranks, rank);
    return ranks->library->all_reduce(shard, shard, ranks->shard, ranks->type, ncclSum,
                                      rank->column, rank->stream);
}

static ncclResult_t gather_row(const struct nccl_ranks *ranks, struct nccl_rank *rank)
{
    return ranks->library->all_gather(shard_of(ranks, rank), rank->buffer, ranks->shard,
                                      ranks->type, rank->row, rank->stream);
}

static enum ar_status run_torus(struct nccl_ranks *ranks, struct ar_error *err)
{
    const struct ar_shape *shape = &ranks->measurement->shape;
    if (shape->x > 1) {
        AR_TRY(call_all(ranks, scatter_row, "ncclReduceScatter", err));
    }
    if (shape->y > 1) {
        AR_TRY(call_all(ranks, reduce_column, "ncclAllReduce", err));
    }
    if (shape->x > 1) {
        AR_TRY(call_all(ranks, gather_row, "ncclAllGather", err));
    }
    return AR_OK;
}

/* All ranks are in this process. */
static enum ar_status connect_alone(struct nccl_ranks *ranks, struct ar_arena *arena,
                                    struct ar_error *err)
{
    const struct nccl_library *library = ranks->library;
    uint32_t all = ranks->measurement->ranks;
    ncclComm_t *comms = ar_arena_alloc(arena, all, sizeof(ncclComm_t));
    AR_NEED(comms, err, "communicators");
    AR_TRY(
        nccl_check(library, library->comm_init_all(comms, (int)all, NULL), "ncclCommInitAll", err));
    for (uint32_t i = 0; i < all; i++) {
        ranks->ranks[i].all = comms[i];
    }
    return AR_OK;
}

static enum ar_status connect(struct nccl_ranks *ranks, const struct nccl_place *place,
                              struct ar_arena *arena, struct ar_error *err)
{
    const struct nccl_library *library = ranks->library;
    if (place->is_alone) {
        AR_TRY(connect_alone(ranks, arena, err));
    } else {
        CUDA_TRY(cudaSetDevice, place->device);
        AR_TRY(
            nccl_check(library,
                       library->comm_init_rank(&ranks->ranks[0].all, (int)ranks->measurement->ranks,
                                               place->id, (int)place->first),
                       "ncclCommInitRank", err));
    }
    if (ranks->measurement->algorithm != NULL) {
        AR_TRY(call_all(ranks, split_row, "ncclCommSplit", err));
        AR_TRY(call_all(ranks, split_column, "ncclCommSplit", err));
    }
    return AR_OK;
}

static enum ar_status make_rank(struct nccl_ranks *ranks, struct nccl_rank *rank,
                                struct ar_arena *arena, struct ar_error *err)
{
    const struct measurement *measurement = ranks->measurement;
    size_t bytes = (ranks->shard * measurement->shape.x + 1) * measurement->type->bytes;
    CUDA_TRY(cudaSetDevice, rank->device);
    AR_TRY(cuda_make_stream(arena, &rank->stream, err));
    AR_TRY(cuda_make_event(arena, true, &rank->begin, err));
    AR_TRY(cuda_make_event(arena, true, &rank->end, err));
    AR_TRY(cuda_allocate(arena, bytes, &rank->buffer, err));
    CUDA_TRY(cudaMemset, rank->buffer, 0, bytes);
    if (ranks->library_call->has_result) {
        AR_TRY(cuda_allocate(arena, bytes, &rank->result, err));
    }
    AR_TRY(cuda_allocate(arena, sizeof(float), &rank->token, err));
    CUDA_TRY(cudaMemset, rank->token, 0, sizeof(float));
    CUDA_TRY(cudaDeviceSynchronize);
    return AR_OK;
}

static enum ar_status record_all(struct nccl_ranks *ranks, bool is_end, struct ar_error *err)
{
    for (uint32_t i = 0; i < ranks->crew.count; i++) {
        struct nccl_rank *rank = &ranks->ranks[i];
        CUDA_TRY(cudaSetDevice, rank->device);
        CUDA_TRY(cudaEventRecord, is_end ? rank->end : rank->begin, rank->stream);
    }
    return AR_OK;
}

/* Keeps the longest time. */
static enum ar_status await_rank(const struct nccl_ranks *ranks, const struct nccl_rank *rank,
                                 double *time_s, struct ar_error *err)
{
    float time_ms;
    cudaError_t code = cuda_await(rank->end, ranks->timeout_s);
    if (code == cudaErrorNotReady) {
        char text[MEASUREMENT_TEXT];
        return ar_error_set(err, AR_INTERNAL,
                            "%s: rank %" PRIu32 " waited %g s in NCCL for others of %" PRIu32
                            " ranks; expected them to come",
                            measurement_text(ranks->measurement, text), rank->rank,
                            ranks->timeout_s, ranks->measurement->ranks);
    }
    AR_TRY(cuda_check(code, "the collective", err));
    CUDA_TRY(cudaEventElapsedTime, &time_ms, rank->begin, rank->end);
    if (1e-3 * (double)time_ms > *time_s) {
        *time_s = 1e-3 * (double)time_ms;
    }
    return AR_OK;
}

static enum ar_status run(struct crew *crew, double *time_s, struct ar_error *err)
{
    struct nccl_ranks *ranks = (struct nccl_ranks *)(void *)crew; /* its first member */
    AR_TRY(call_all(ranks, meet, "ncclAllReduce", err));
    AR_TRY(record_all(ranks, false, err));
    if (ranks->measurement->elements > 0) {
        AR_TRY(
            ranks->measurement->algorithm != NULL
                ? run_torus(ranks, err)
                : call_all(ranks, ranks->library_call->function, ranks->library_call->name, err));
    }
    AR_TRY(record_all(ranks, true, err));
    for (uint32_t i = 0; i < crew->count; i++) {
        AR_TRY(await_rank(ranks, &ranks->ranks[i], time_s, err));
    }
    return AR_OK;
}

static void destroy_communicators(void *destroyed)
{
    struct nccl_ranks *ranks = destroyed;
    for (uint32_t i = 0; i < ranks->crew.count; i++) {
        struct nccl_rank *rank = &ranks->ranks[i];
        ncclComm_t comms[] = {rank->row, rank->column, rank->all};
        cudaSetDevice(rank->device);
        for (size_t k = 0; k < sizeof comms / sizeof comms[0]; k++) {
            if (comms[k] != NULL) {
                ranks->library->comm_destroy(comms[k]);
            }
        }
    }
}

enum ar_status nccl_ranks_create(const struct nccl_library *library,
                                 const struct measurement *measurement,
                                 const struct nccl_place *place, double timeout_s,
                                 struct ar_arena *arena, struct crew **crew, struct ar_error *err)
{
    uint32_t x = measurement->shape.x;
    struct nccl_ranks *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct nccl_rank *members = ar_arena_alloc(arena, place->count, sizeof *members);
    unsigned char **buffers = ar_arena_alloc(arena, place->count, sizeof *buffers);
    unsigned char **results = ar_arena_alloc(arena, place->count, sizeof *results);
    const struct nccl_call_row *library_call = nccl_call_find(measurement->operation);
    AR_NEED(made && members && buffers && results, err, "ranks");
    *made = (struct nccl_ranks){
        .crew = {.memory = &memory_device,
                 .first = place->first,
                 .count = place->count,
                 .buffers = buffers,
                 .results = library_call->has_result ? results : NULL,
                 .run = run},
        .library = library,
        .measurement = measurement,
        .type = measurement->type->bytes == sizeof(float) ? ncclFloat32 : ncclFloat16,
        .shard = (measurement->elements + x - 1) / x,
        .library_call = library_call,
        .ranks = members,
        .timeout_s = timeout_s,
    };
    for (uint32_t i = 0; i < place->count; i++) {
        members[i].rank = place->first + i;
        members[i].device = place->device + (int)i;
        AR_TRY(make_rank(made, &members[i], arena, err));
        buffers[i] = members[i].buffer;
        results[i] = members[i].result;
    }
    AR_NEED(ar_arena_own(arena, made, destroy_communicators), err, "ranks");
    AR_TRY(connect(made, place, arena, err));
    *crew = &made->crew;
    return AR_OK;
}
