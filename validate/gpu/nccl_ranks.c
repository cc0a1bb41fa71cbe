/* NCCL: its own collectives as the reference, and the 2D torus made of them. One process drives all
 * GPUs of the machine; under mpirun each process drives one. */
#include "nccl_ranks.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#include "ar_numbers.h"
#include "backend.h"
#include "cuda_device.h"
#include "mpi_world.h"

enum { CALLS = 20 };                /* timed at once; as many as nccl-tests */
static const double AWAIT_S = 0.05; /* after which NCCL is asked for errors */

/* A group of calls, one of each rank: an operation, or a part of the 2D torus. */
enum nccl_call {
    CALL_ALL_REDUCE,
    CALL_REDUCE_SCATTER,
    CALL_ALL_GATHER,
    CALL_BROADCAST,
    CALL_REDUCE,
    CALL_GATHER, /* here and below messages, as NCCL has no such call */
    CALL_SCATTER,
    CALL_ALL_TO_ALL,
    CALL_SEND,
    CALL_MEET, /* the barrier: a sum of one element */
    CALL_SPLIT_ROWS,
    CALL_SPLIT_COLUMNS,
    CALL_SCATTER_ROW,
    CALL_REDUCE_COLUMN,
    CALL_GATHER_ROW
};

/* The functions of NCCL, for error lines, and the operations that are one call. */
static const struct {
    const char *name;
    const struct ar_operation *operation;
} call_facts[] = {[CALL_ALL_REDUCE] = {"ncclAllReduce", &ar_operation_all_reduce},
                  [CALL_REDUCE_SCATTER] = {"ncclReduceScatter", &ar_operation_reduce_scatter},
                  [CALL_ALL_GATHER] = {"ncclAllGather", &ar_operation_all_gather},
                  [CALL_BROADCAST] = {"ncclBroadcast", &ar_operation_broadcast},
                  [CALL_REDUCE] = {"ncclReduce", &ar_operation_reduce},
                  [CALL_GATHER] = {"ncclSend and ncclRecv", &ar_operation_gather},
                  [CALL_SCATTER] = {"ncclSend and ncclRecv", &ar_operation_scatter},
                  [CALL_ALL_TO_ALL] = {"ncclSend and ncclRecv", &ar_operation_all_to_all},
                  [CALL_SEND] = {"ncclSend and ncclRecv", &ar_operation_send},
                  [CALL_MEET] = {"ncclAllReduce", NULL},
                  [CALL_SPLIT_ROWS] = {"ncclCommSplit", NULL},
                  [CALL_SPLIT_COLUMNS] = {"ncclCommSplit", NULL},
                  [CALL_SCATTER_ROW] = {"ncclReduceScatter", NULL},
                  [CALL_REDUCE_COLUMN] = {"ncclAllReduce", NULL},
                  [CALL_GATHER_ROW] = {"ncclAllGather", NULL}};

struct nccl_rank {
    uint32_t rank;
    int device;
    ncclComm_t all, row, column; /* the last two NULL unless the torus runs */
    cudaStream_t stream;
    cudaEvent_t begin;
    cudaEvent_t end;
    unsigned char *buffer; /* X shards */
    unsigned char *result; /* where an all-to-all ends */
    unsigned char *token;  /* the one element that a barrier sums */
};

struct nccl_ranks {
    struct crew crew;
    const struct nccl_library *library;
    const struct measurement *measurement;
    struct nccl_communicators *communicators;
    ncclDataType_t type;
    uint64_t shard; /* elements */
    enum nccl_call operation_call;
    struct nccl_rank *ranks;
    double timeout_s;
};

/* --- the library -------------------------------------------------------------------------- */

#define LOAD(member, function)                                                                     \
    {                                                                                              \
        void *found = dlsym(handle, #function);                                                    \
        AR_REFUSE(found == NULL, err, AR_UNAVAILABLE,                                              \
                  "libnccl.so.2 has no " #function "; expected NCCL 2.18 or later");               \
        memcpy(&library->member, &found, sizeof found);                                            \
    }

enum ar_status nccl_library_load(struct nccl_library *library, struct ar_error *err)
{
    void *handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    AR_REFUSE(handle == NULL, err, AR_UNAVAILABLE, "found no NCCL (%.200s); expected libnccl.so.2",
              dlerror());
    NCCL_FUNCTIONS(LOAD)
    return AR_OK;
}

/* AR_OK, or AR_INTERNAL with what NCCL says about `call`. */
static enum ar_status nccl_check(const struct nccl_library *library, ncclResult_t code,
                                 const char *call, struct ar_error *err)
{
    AR_REFUSE(code != ncclSuccess, err, AR_INTERNAL, "%s: %s", call,
              library->get_error_string(code));
    return AR_OK;
}

/* --- calls -------------------------------------------------------------------------------- */

/* Where the part of a position begins in the buffer at `base`, and its elements. */
static unsigned char *part_at(const struct nccl_ranks *ranks, unsigned char *base,
                              uint32_t position, uint64_t *count)
{
    const struct measurement *measurement = ranks->measurement;
    struct ar_span all = {.first = 0, .count = measurement->elements};
    struct ar_span part = ar_span_part(all, measurement->ranks, position);
    *count = part.count;
    return base + part.first * measurement->type->bytes;
}

/* Sends elements to a position, or receives them; a message of none is left out at both ends. */
static ncclResult_t pass_elements(const struct nccl_ranks *ranks, const struct nccl_rank *rank,
                                  bool sends, unsigned char *at, uint64_t count,
                                  uint32_t peer_position)
{
    struct ar_order order = measurement_order(ranks->measurement);
    int peer = (int)ar_order_rank(&order, 0, peer_position % ranks->measurement->ranks);
    if (count == 0) {
        return ncclSuccess;
    }
    return sends ? ranks->library->send(at, count, ranks->type, peer, rank->all, rank->stream)
                 : ranks->library->recv(at, count, ranks->type, peer, rank->all, rank->stream);
}

static ncclResult_t pass_part(const struct nccl_ranks *ranks, const struct nccl_rank *rank,
                              bool sends, unsigned char *base, uint32_t part,
                              uint32_t peer_position)
{
    uint64_t count;
    unsigned char *at = part_at(ranks, base, part, &count);
    return pass_elements(ranks, rank, sends, at, count, peer_position);
}

/* The messages of a rank at a position: gather and scatter go to and from the root, which is at
 * position 0; part k of an all-to-all goes k positions on, also to the rank itself; send goes from
 * the root to the last position. */
static ncclResult_t pass_messages(const struct nccl_ranks *ranks, const struct nccl_rank *rank,
                                  enum nccl_call call)
{
    struct ar_order order = measurement_order(ranks->measurement);
    uint32_t position = ar_order_position(&order, 0, rank->rank);
    uint32_t count = ranks->measurement->ranks;
    ncclResult_t code = ncclSuccess;
    if (call == CALL_SEND) {
        bool takes_part = count > 1 && (position == 0 || position == count - 1);
        return pass_elements(ranks, rank, position == 0, rank->buffer,
                             takes_part ? ranks->measurement->elements : 0,
                             position == 0 ? count - 1 : 0);
    }
    if (call != CALL_ALL_TO_ALL && position > 0) {
        return pass_part(ranks, rank, call == CALL_GATHER, rank->buffer, position, 0);
    }
    for (uint32_t i = call == CALL_ALL_TO_ALL ? 0 : 1; i < count && code == ncclSuccess; i++) {
        bool sends = call != CALL_GATHER;
        code = pass_part(ranks, rank, sends, rank->buffer, i, position + i);
        if (call == CALL_ALL_TO_ALL && code == ncclSuccess) {
            code = pass_part(ranks, rank, false, rank->result, i, position + count - i);
        }
    }
    return code;
}

static ncclResult_t make_nccl_call(const struct nccl_ranks *ranks, struct nccl_rank *rank,
                                   enum nccl_call call)
{
    const struct nccl_library *nccl = ranks->library;
    const struct measurement *measurement = ranks->measurement;
    const ncclDataType_t type = ranks->type;
    const uint64_t all = measurement->elements;
    const int root = (int)measurement->root;
    const uint32_t x = measurement->shape.x; /* ranks of a row of the torus */
    unsigned char *buffer = rank->buffer;
    unsigned char *shard = buffer + rank->rank % x * ranks->shard * measurement->type->bytes;
    uint64_t count;
    unsigned char *part = part_at(ranks, buffer, rank->rank, &count);
    switch (call) {
    case CALL_ALL_REDUCE:
        return nccl->all_reduce(buffer, buffer, all, type, ncclSum, rank->all, rank->stream);
    case CALL_REDUCE_SCATTER:
        return nccl->reduce_scatter(buffer, part, count, type, ncclSum, rank->all, rank->stream);
    case CALL_ALL_GATHER:
        return nccl->all_gather(part, buffer, count, type, rank->all, rank->stream);
    case CALL_BROADCAST:
        return nccl->broadcast(buffer, buffer, all, type, root, rank->all, rank->stream);
    case CALL_REDUCE:
        return nccl->reduce(buffer, buffer, all, type, ncclSum, root, rank->all, rank->stream);
    case CALL_GATHER:
    case CALL_SCATTER:
    case CALL_ALL_TO_ALL:
    case CALL_SEND:
        return pass_messages(ranks, rank, call);
    case CALL_MEET:
        return nccl->all_reduce(rank->token, rank->token, 1, type, ncclSum, rank->all,
                                rank->stream);
    case CALL_SPLIT_ROWS:
        return nccl->comm_split(rank->all, (int)(rank->rank / x), (int)(rank->rank % x),
                                &ranks->communicators->row[rank - ranks->ranks], NULL);
    case CALL_SPLIT_COLUMNS:
        return nccl->comm_split(rank->all, (int)(rank->rank % x), (int)(rank->rank / x),
                                &ranks->communicators->column[rank - ranks->ranks], NULL);
    case CALL_SCATTER_ROW:
        return nccl->reduce_scatter(buffer, shard, ranks->shard, type, ncclSum, rank->row,
                                    rank->stream);
    case CALL_REDUCE_COLUMN:
        return nccl->all_reduce(shard, shard, ranks->shard, type, ncclSum, rank->column,
                                rank->stream);
    case CALL_GATHER_ROW:
        return nccl->all_gather(shard, buffer, ranks->shard, type, rank->row, rank->stream);
    }
    return ncclInvalidArgument;
}

/* Makes the calls of all ranks of this process as one group, as NCCL wants it from one thread. */
static enum ar_status call_all(struct nccl_ranks *ranks, enum nccl_call call, struct ar_error *err)
{
    const struct nccl_library *library = ranks->library;
    AR_TRY(nccl_check(library, library->group_start(), "ncclGroupStart", err));
    for (uint32_t i = 0; i < ranks->crew.count; i++) {
        CUDA_TRY(cudaSetDevice, ranks->ranks[i].device);
        AR_TRY(nccl_check(library, make_nccl_call(ranks, &ranks->ranks[i], call),
                          call_facts[call].name, err));
    }
    return nccl_check(library, library->group_end(), call_facts[call].name, err);
}

/* --- ranks -------------------------------------------------------------------------------- */

/* Ends communicators: orderly, or, where a rank hangs, at once. */
static void end_communicators(struct nccl_communicators *ended, bool aborts)
{
    ncclComm_t *const lists[] = {ended->row, ended->column,
                                 aborts || ended->owns_all ? ended->all : NULL};
    for (uint32_t i = 0; i < 3 * ended->count; i++) {
        ncclComm_t *comm = lists[i % 3] != NULL ? &lists[i % 3][i / 3] : NULL;
        if (comm != NULL && *comm != NULL) {
            aborts ? ended->library->comm_abort(*comm) : ended->library->comm_destroy(*comm);
            *comm = NULL;
        }
    }
}

static void destroy_communicators(void *destroyed)
{
    end_communicators(destroyed, false);
}

/* Makes those of all ranks: for the ranks of this process, or its one rank of several processes. */
static enum ar_status make_all(const struct nccl_communicators *made,
                               const struct nccl_place *place, struct ar_error *err)
{
    int ranks = (int)made->ranks;
    if (place->is_alone) {
        return nccl_check(made->library, made->library->comm_init_all(made->all, ranks, NULL),
                          "ncclCommInitAll", err);
    }
    CUDA_TRY(cudaSetDevice, place->device);
    return nccl_check(made->library,
                      made->library->comm_init_rank(made->all, ranks, place->id, (int)place->first),
                      "ncclCommInitRank", err);
}

/* Finds or makes the communicators of the ranks. */
static enum ar_status connect_ranks(struct nccl_ranks *ranks, const struct nccl_place *place,
                                    struct ar_arena *keep, struct nccl_communicators **list,
                                    struct ar_error *err)
{
    const struct measurement *measurement = ranks->measurement;
    uint32_t x = measurement->algorithm != NULL ? measurement->shape.x : 0;
    struct nccl_communicators *found = *list, *alike = NULL;
    while (found != NULL && (found->ranks != measurement->ranks || found->x != x)) {
        alike = found->ranks == measurement->ranks ? found : alike;
        found = found->next;
    }
    bool is_new = found == NULL;
    if (is_new) {
        found = ar_arena_alloc(keep, 1, sizeof *found);
        *found = (struct nccl_communicators){
            .ranks = measurement->ranks,
            .x = x,
            .count = place->count,
            .library = ranks->library,
            .all =
                alike != NULL ? alike->all : ar_arena_alloc(keep, place->count, sizeof *found->all),
            .row = ar_arena_alloc(keep, place->count, sizeof *found->row),
            .column = ar_arena_alloc(keep, place->count, sizeof *found->column),
            .owns_all = alike == NULL,
            .next = *list};
        *list = ar_arena_own(keep, found, destroy_communicators);
        AR_TRY(alike == NULL ? make_all(found, place, err) : AR_OK);
    }
    ranks->communicators = found;
    for (uint32_t i = 0; i < place->count; i++) {
        ranks->ranks[i].all = found->all[i];
    }
    if (is_new && x > 0) {
        AR_TRY(call_all(ranks, CALL_SPLIT_ROWS, err));
        AR_TRY(call_all(ranks, CALL_SPLIT_COLUMNS, err));
    }
    for (uint32_t i = 0; i < place->count; i++) {
        ranks->ranks[i].row = found->row[i];
        ranks->ranks[i].column = found->column[i];
    }
    return AR_OK;
}

static enum ar_status make_nccl_rank(struct nccl_ranks *ranks, struct nccl_rank *rank,
                                     struct ar_arena *arena, struct ar_error *err)
{
    const struct measurement *measurement = ranks->measurement;
    size_t bytes = (ranks->shard * measurement->shape.x + 1) * measurement->type->bytes;
    CUDA_TRY(cudaSetDevice, rank->device);
    AR_TRY(cuda_make_stream(arena, &rank->stream, err));
    AR_TRY(cuda_make_event(arena, &rank->begin, err));
    AR_TRY(cuda_make_event(arena, &rank->end, err));
    AR_TRY(cuda_allocate(arena, bytes, &rank->buffer, err));
    CUDA_TRY(cudaMemset, rank->buffer, 0, bytes);
    if (ranks->operation_call == CALL_ALL_TO_ALL) {
        AR_TRY(cuda_allocate(arena, bytes, &rank->result, err));
    }
    AR_TRY(cuda_allocate(arena, sizeof(float), &rank->token, err));
    CUDA_TRY(cudaMemset, rank->token, 0, sizeof(float));
    CUDA_TRY(cudaDeviceSynchronize);
    return AR_OK;
}

/* Keeps the longest time. */
static enum ar_status await_rank(const struct nccl_ranks *ranks, const struct nccl_rank *rank,
                                 double *time_s, struct ar_error *err)
{
    const double until_s = ar_clock_s() + ranks->timeout_s;
    ncclResult_t state = ncclSuccess;
    cudaError_t code;
    float time_ms;
    do {
        code = cuda_await(rank->end, AWAIT_S);
        ranks->library->comm_get_async_error(rank->all, &state);
    } while (code == cudaErrorNotReady && state == ncclSuccess && ar_clock_s() < until_s);
    if (code == cudaErrorNotReady) { /* aborted, so that streams end and memory can be freed */
        end_communicators(ranks->communicators, true);
        char text[MEASUREMENT_TEXT];
        AR_TRY(nccl_check(ranks->library, state, "ncclCommGetAsyncError", err));
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

static enum ar_status run_nccl(struct crew *crew, uint32_t calls, double *time_s,
                               struct ar_error *err)
{
    struct nccl_ranks *ranks = (struct nccl_ranks *)(void *)crew; /* its first member */
    const struct ar_shape *shape = &ranks->measurement->shape;
    bool has_elements = ranks->measurement->elements > 0;
    bool is_torus = has_elements && ranks->measurement->algorithm != NULL;
    AR_TRY(call_all(ranks, CALL_MEET, err));
    for (uint32_t i = 0; i < crew->count; i++) {
        CUDA_TRY(cudaSetDevice, ranks->ranks[i].device);
        CUDA_TRY(cudaEventRecord, ranks->ranks[i].begin, ranks->ranks[i].stream);
    }
    for (uint32_t i = 0; i < calls; i++) {
        if (is_torus) {
            AR_TRY(shape->x > 1 ? call_all(ranks, CALL_SCATTER_ROW, err) : AR_OK);
            AR_TRY(shape->y > 1 ? call_all(ranks, CALL_REDUCE_COLUMN, err) : AR_OK);
            AR_TRY(shape->x > 1 ? call_all(ranks, CALL_GATHER_ROW, err) : AR_OK);
        } else if (has_elements) {
            AR_TRY(call_all(ranks, ranks->operation_call, err));
        }
    }
    for (uint32_t i = 0; i < crew->count; i++) {
        CUDA_TRY(cudaSetDevice, ranks->ranks[i].device);
        CUDA_TRY(cudaEventRecord, ranks->ranks[i].end, ranks->ranks[i].stream);
    }
    for (uint32_t i = 0; i < crew->count; i++) {
        AR_TRY(await_rank(ranks, &ranks->ranks[i], time_s, err));
    }
    *time_s /= calls;
    return AR_OK;
}

enum ar_status nccl_ranks_create(const struct nccl_library *library,
                                 const struct measurement *measurement,
                                 const struct nccl_place *place, double timeout_s,
                                 struct ar_arena *keep, struct nccl_communicators **list,
                                 struct ar_arena *arena, struct crew **crew, struct ar_error *err)
{
    uint32_t x = measurement->shape.x;
    struct nccl_ranks *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct nccl_rank *members = ar_arena_alloc(arena, place->count, sizeof *members);
    unsigned char **buffers = ar_arena_alloc(arena, place->count, sizeof *buffers);
    unsigned char **results = ar_arena_alloc(arena, place->count, sizeof *results);
    unsigned call = CALL_ALL_REDUCE;
    while (call <= CALL_SEND && call_facts[call].operation != measurement->operation) {
        call++;
    }
    AR_REFUSE(call > CALL_SEND, err, AR_UNAVAILABLE, "NCCL: found no calls for operation %s",
              measurement->operation->name);
    *made = (struct nccl_ranks){
        .crew = {.memory = &memory_device,
                 .first = place->first,
                 .count = place->count,
                 .buffers = buffers,
                 .results = call == CALL_ALL_TO_ALL ? results : NULL,
                 .calls = CALLS,
                 .run = run_nccl},
        .library = library,
        .measurement = measurement,
        .type = measurement->type->bytes == sizeof(float) ? ncclFloat32 : ncclFloat16,
        .shard = (measurement->elements + x - 1) / x,
        .operation_call = call,
        .ranks = members,
        .timeout_s = timeout_s,
    };
    for (uint32_t i = 0; i < place->count; i++) {
        members[i].rank = place->first + i;
        members[i].device = place->device + (int)i;
        AR_TRY(make_nccl_rank(made, &members[i], arena, err));
        buffers[i] = members[i].buffer;
        results[i] = members[i].result;
    }
    AR_TRY(connect_ranks(made, place, keep, list, err));
    *crew = &made->crew;
    return AR_OK;
}

/* --- the backend -------------------------------------------------------------------------- */

static struct nccl_library library;
static struct nccl_communicators *communicators;
static struct ar_arena communicators_arena;
static uint32_t gpus;

static const struct mpi_world *world;

static enum ar_status nccl_start(const struct run_config *config, struct machine *machine,
                                 struct ar_error *err)
{
    (void)config;
    world = mpi_world_start(false);
    *machine = mpi_world_machine(world);
    AR_TRY(cuda_count(&gpus, err));
    if (world->ranks == 1) {
        machine->ranks_max = gpus;
        machine->ranks_standard = gpus;
        machine->ranks_per_node = gpus;
    }
    return nccl_library_load(&library, err);
}

static void nccl_stop(int code)
{
    if (code == 0) { /* else NCCL might wait for the others */
        ar_arena_end(&communicators_arena);
    }
#ifdef VALIDATE_HAS_MPI
    mpi_world_stop(code);
#endif
}

static void nccl_describe(FILE *file)
{
    int version = 0;
    library.get_version(&version);
    fprintf(file, "# nccl: %d.%d.%d\n", version / 10000, version % 10000 / 100, version % 100);
    cuda_describe(file, gpus);
    mpi_world_describe(file);
}

static bool nccl_can_run(const struct ar_algorithm *algorithm)
{
    return algorithm->calls == AR_CALLS_TORUS;
}

/* Finds the ranks of this process. With MPI, process 0 draws an id and gives it to all. */
static enum ar_status find_ranks(const struct measurement *measurement, struct nccl_place *place,
                                 struct ar_error *err)
{
    *place = (struct nccl_place){.count = measurement->ranks, .is_alone = world->ranks == 1};
    if (world->ranks > 1) {
        const struct nccl_communicators *made = communicators;
        while (made != NULL && made->ranks != measurement->ranks) {
            made = made->next;
        }
        if (world->rank == 0 && made == NULL) {
            AR_TRY(nccl_check(&library, library.get_unique_id(&place->id), "ncclGetUniqueId", err));
        }
        mpi_world_broadcast(&place->id, sizeof place->id);
        place->first = world->rank;
        place->count = world->rank < measurement->ranks;
        place->device = (int)(world->local_rank % gpus);
    }
    return AR_OK;
}

static enum ar_status nccl_run(const struct run_config *config, struct ar_arena *arena,
                               struct measurement *measurement, struct ar_error *err)
{
    struct payload payload;
    struct nccl_place place;
    struct crew *crew;
    AR_TRY(payload_create(measurement, arena, &payload, err));
    AR_TRY(find_ranks(measurement, &place, err));
    if (place.count > 0) {
        AR_TRY(nccl_ranks_create(&library, measurement, &place, config->timeout_s,
                                 &communicators_arena, &communicators, arena, &crew, err));
        AR_TRY(crew_repeat(crew, config, &payload, arena, measurement, err));
    }
    measurement->nodes = mpi_world_nodes(world, world->ranks == 1 ? 1 : measurement->ranks);
    mpi_world_collect(measurement->ranks, measurement);
    return AR_OK;
}

const struct backend backend_nccl = {
    .name = "nccl",
    .summary = "NCCL's collectives, and torus2d made of them; one GPU per rank",
    .memories = {&memory_device},
    .is_library = true,
    .can_run = nccl_can_run,
    .start = nccl_start,
    .stop = nccl_stop,
    .describe = nccl_describe,
    .run = nccl_run,
};
