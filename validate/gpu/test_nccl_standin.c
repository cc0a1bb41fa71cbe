/* An NCCL on the runtime of test_cuda_runtime.h, built as libnccl.so.2: the functions that
 * nccl_ranks.h loads, for ranks of one process or of several.
 *
 * The ranks of a communicator share a file in memory with a mailbox for each pair. What a group
 * asks of a communicator is one host function in the stream of its rank; it passes messages until
 * all are through, and sums in the order of the ranks. A communicator made by ncclCommSplit uses
 * the mailboxes of the one it was made of, since a rank has one stream and thus one order. */
#include <fcntl.h>
#include <nccl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "test_cuda_runtime.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* nccl.h leaves out some (void) */

enum { RANKS_MAX = 16, SPLITS_MAX = 256, CHUNK_BYTES = 16384, CALLS_MAX = 1024 };

__extension__ typedef _Float16 half;

/* A message of at most a chunk from one rank to another. */
struct mailbox {
    _Atomic uint32_t sent, taken;
    unsigned char bytes[CHUNK_BYTES];
};

/* State that the ranks of a communicator share. */
struct shared {
    _Atomic int joined;
    _Atomic int error; /* ncclResult_t */
    struct split {
        _Atomic bool is_set;
        int color, key;
    } splits[SPLITS_MAX][RANKS_MAX];
    struct mailbox boxes[RANKS_MAX][RANKS_MAX];
};

struct ncclComm {
    struct shared *shared;
    int rank, ranks, device;
    int members[RANKS_MAX]; /* ranks in the mailboxes */
    int splits;             /* so far */
    ncclComm_t next_aborted;
};

enum kind { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, REDUCE, SEND, RECEIVE, SPLIT };

struct call {
    enum kind kind;
    ncclComm_t comm;
    cudaStream_t stream;
    const unsigned char *from;
    unsigned char *to;
    size_t count;
    ncclDataType_t type;
    int peer; /* or root */
    ncclComm_t *made;
    unsigned char *received; /* what all ranks gave, by rank, to be summed */
};

static __thread struct call calls[CALLS_MAX];
static __thread int calls_count, depth;
static _Atomic int alive;

int standin_communicators(void)
{
    return alive;
}

/* --- communicators ------------------------------------------------------------------------ */

/* Maps a file, or new memory for -1. */
static struct shared *map_shared(int file)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
    if (shared == MAP_FAILED) {
        abort();
    }
    return shared;
}

static ncclComm_t make_comm(struct shared *shared, int rank, int ranks, int device)
{
    ncclComm_t comm = calloc(1, sizeof *comm);
    *comm = (struct ncclComm){.shared = shared, .rank = rank, .ranks = ranks, .device = device};
    for (int i = 0; i < ranks; i++) {
        comm->members[i] = i;
    }
    alive++;
    return comm;
}

ncclResult_t ncclGetVersion(int *version)
{
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

/* The file stays open as long as the process; others open it by its number. */
ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    int file = memfd_create("nccl", MFD_CLOEXEC);
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "/proc/%d/fd/%d", (int)getpid(), file);
    return ftruncate(file, sizeof(struct shared)) == 0 ? ncclSuccess : ncclSystemError;
}

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    int devices_count;
    if (cudaGetDeviceCount(&devices_count) != cudaSuccess || count > devices_count) {
        return ncclInvalidUsage;
    }
    struct shared *shared = map_shared(-1);
    for (int i = 0; i < count; i++) {
        comms[i] = make_comm(shared, i, count, devices != NULL ? devices[i] : i);
    }
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    int device, file = open(id.internal, O_RDWR | O_CLOEXEC);
    if (file < 0 || cudaGetDevice(&device) != cudaSuccess) {
        return ncclSystemError;
    }
    *comm = make_comm(map_shared(file), rank, ranks, device);
    close(file);
    (*comm)->shared->joined++;
    while ((*comm)->shared->joined < ranks) {
        sched_yield();
    }
    return ncclSuccess;
}

/* Mailboxes stay mapped: communicators that were split off may use them. */
ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    free(comm);
    alive--;
    return ncclSuccess;
}

/* Streams may still be in their messages, which they leave soon; so it is not freed. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    static ncclComm_t aborted;
    comm->shared->error = ncclRemoteError;
    comm->next_aborted = aborted;
    aborted = comm;
    alive--;
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    *error = (ncclResult_t)comm->shared->error;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t code)
{
    return code == ncclRemoteError ? "remote process exited or there was a network error"
                                   : "an error of the stand-in";
}

/* Makes the communicator of those with the same color, in the order of their keys. */
static void make_split(const struct call *call)
{
    ncclComm_t parent = call->comm, comm = make_comm(parent->shared, 0, 0, parent->device);
    const struct split *splits = parent->shared->splits[parent->splits++];
    for (int i = 0; i < parent->ranks; i++) {
        while (!splits[i].is_set) {
            sched_yield();
        }
        if (splits[i].color == splits[parent->members[parent->rank]].color) {
            int at = comm->ranks++;
            for (; at > 0 && splits[comm->members[at - 1]].key > splits[i].key; at--) {
                comm->members[at] = comm->members[at - 1];
            }
            comm->members[at] = i;
        }
    }
    while (comm->members[comm->rank] != parent->rank) {
        comm->rank++;
    }
    *call->made = comm;
}

/* --- messages ----------------------------------------------------------------------------- */

/* The rest of a message to, or from, a rank. */
struct transfer {
    struct mailbox *box;
    bool sends;
    unsigned char *at;
    size_t left;
};

/* The work of a stream for a communicator: calls, and their messages. */
struct batch {
    ncclComm_t comm;
    struct call *calls;
    int calls_count;
    struct transfer *transfers;
    size_t transfers_count;
};

static size_t type_bytes(const struct call *call)
{
    return call->type == ncclFloat32 ? sizeof(float) : sizeof(half);
}

static void add_transfer(struct batch *batch, int peer, bool sends, const unsigned char *at,
                         size_t bytes)
{
    ncclComm_t comm = batch->comm;
    int own = comm->members[comm->rank], other = comm->members[peer];
    struct mailbox *box =
        sends ? &comm->shared->boxes[own][other] : &comm->shared->boxes[other][own];
    batch->transfers =
        realloc(batch->transfers, (batch->transfers_count + 1) * sizeof *batch->transfers);
    batch->transfers[batch->transfers_count++] =
        (struct transfer){.box = box, .sends = sends, .at = (unsigned char *)at, .left = bytes};
}

/* Whether a call sends something from one rank to another; a rank may send to itself. */
static bool sends_between(const struct call *call, int from, int to)
{
    return (call->kind != REDUCE || to == call->peer) &&
           (call->kind != BROADCAST || from == call->peer);
}

static void add_messages(struct batch *batch, struct call *call)
{
    size_t bytes = call->count * type_bytes(call);
    int rank = batch->comm->rank, ranks = batch->comm->ranks;
    if (call->kind == SEND || call->kind == RECEIVE) {
        bool sends = call->kind == SEND;
        add_transfer(batch, call->peer, sends, sends ? call->from : call->to, bytes);
        return;
    }
    bool is_scatter = call->kind == REDUCE_SCATTER;
    if (call->kind == ALL_REDUCE || call->kind == REDUCE || is_scatter) {
        call->received = malloc(bytes * (size_t)ranks);
    }
    for (int peer = 0; peer < ranks; peer++) {
        size_t part = (size_t)peer * bytes;
        unsigned char *to = call->received != NULL ? call->received : call->to;
        if (sends_between(call, rank, peer)) {
            add_transfer(batch, peer, true, call->from + (is_scatter ? part : 0), bytes);
        }
        if (sends_between(call, peer, rank)) {
            add_transfer(batch, peer, false, to + (call->kind == BROADCAST ? 0 : part), bytes);
        }
    }
}

/* Passes a chunk if the mailbox allows it. */
static bool pass_chunk(struct transfer *transfer)
{
    struct mailbox *box = transfer->box;
    bool is_full = box->sent != box->taken;
    size_t bytes = transfer->left < CHUNK_BYTES ? transfer->left : CHUNK_BYTES;
    if (is_full == transfer->sends) {
        return false;
    }
    memcpy(transfer->sends ? box->bytes : transfer->at, transfer->sends ? transfer->at : box->bytes,
           bytes);
    transfer->at += bytes;
    transfer->left -= bytes;
    atomic_fetch_add(transfer->sends ? &box->sent : &box->taken, 1);
    return true;
}

/* Passes all messages, those of a mailbox in order; false if the communicator was aborted. */
static bool pass_messages(struct batch *batch)
{
    size_t first = 0;
    while (first < batch->transfers_count) {
        bool has_passed = false;
        for (size_t i = first; i < batch->transfers_count; i++) {
            struct transfer *transfer = &batch->transfers[i];
            bool is_next = transfer->left > 0;
            for (size_t k = first; k < i && is_next; k++) {
                const struct transfer *before = &batch->transfers[k];
                is_next = before->left == 0 || before->box != transfer->box ||
                          before->sends != transfer->sends;
            }
            has_passed = (is_next && pass_chunk(transfer)) || has_passed;
        }
        while (first < batch->transfers_count && batch->transfers[first].left == 0) {
            first++;
        }
        if (batch->comm->shared->error != ncclSuccess) {
            return false;
        }
        if (!has_passed) {
            nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
        }
    }
    return true;
}

static void sum_received(const struct call *call, int ranks)
{
    for (size_t i = 0; i < call->count; i++) {
        float total = 0;
        for (int rank = 0; rank < ranks; rank++) {
            const unsigned char *all =
                call->received + (size_t)rank * call->count * type_bytes(call);
            total += call->type == ncclFloat32 ? ((const float *)(const void *)all)[i]
                                               : (float)((const half *)(const void *)all)[i];
        }
        if (call->type == ncclFloat32) {
            ((float *)(void *)call->to)[i] = total;
        } else {
            ((half *)(void *)call->to)[i] = (half)total;
        }
    }
}

static void run_batch(void *context)
{
    struct batch *batch = context;
    for (int i = 0; i < batch->calls_count; i++) {
        if (batch->calls[i].count > 0) {
            add_messages(batch, &batch->calls[i]);
        }
    }
    bool is_through = pass_messages(batch);
    for (int i = 0; i < batch->calls_count; i++) {
        const struct call *call = &batch->calls[i];
        bool is_mine = call->kind != REDUCE || batch->comm->rank == call->peer;
        if (call->received != NULL && is_mine && is_through) {
            sum_received(call, batch->comm->ranks);
        }
        free(call->received);
    }
    free(batch->transfers);
    free(batch->calls);
    free(batch);
}

/* --- calls -------------------------------------------------------------------------------- */

static ncclResult_t end_group(void)
{
    for (int i = 0; i < calls_count; i++) {
        if (calls[i].kind == SPLIT) {
            make_split(&calls[i]);
            calls[i].comm = NULL;
        }
        ncclComm_t comm = calls[i].comm;
        if (comm == NULL) {
            continue; /* a split, or given with another call of its communicator */
        }
        struct batch *batch = calloc(1, sizeof *batch);
        *batch = (struct batch){.comm = comm, .calls = calloc(CALLS_MAX, sizeof *batch->calls)};
        for (int j = i; j < calls_count; j++) {
            if (calls[j].comm == comm) {
                batch->calls[batch->calls_count++] = calls[j];
                calls[j].comm = NULL;
            }
        }
        if (cudaLaunchHostFunc(calls[i].stream, run_batch, batch) != cudaSuccess) {
            return ncclUnhandledCudaError;
        }
    }
    calls_count = 0;
    return ncclSuccess;
}

/* Every call belongs to the current device, as NCCL wants it. */
static ncclResult_t add_call(struct call call)
{
    int device;
    if (cudaGetDevice(&device) != cudaSuccess || device != call.comm->device ||
        calls_count == CALLS_MAX) {
        return ncclInvalidUsage;
    }
    calls[calls_count++] = call;
    return depth > 0 ? ncclSuccess : end_group();
}

ncclResult_t ncclGroupStart(void)
{
    depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    return --depth > 0 ? ncclSuccess : end_group();
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made,
                           ncclConfig_t *config)
{
    (void)config;
    if (comm->splits == SPLITS_MAX) {
        return ncclInvalidUsage;
    }
    struct split *own = &comm->shared->splits[comm->splits][comm->members[comm->rank]];
    own->color = color;
    own->key = key;
    own->is_set = true;
    return add_call((struct call){.kind = SPLIT, .comm = comm, .made = made});
}

static ncclResult_t ask(enum kind kind, const void *from, void *to, size_t count,
                        ncclDataType_t type, ncclRedOp_t operation, int peer, ncclComm_t comm,
                        cudaStream_t stream)
{
    struct call call = {.kind = kind,
                        .comm = comm,
                        .stream = stream,
                        .from = from,
                        .to = to,
                        .count = count,
                        .type = type,
                        .peer = peer};
    return operation != ncclSum ? ncclInvalidArgument : add_call(call);
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream)
{
    return ask(ALL_REDUCE, from, to, count, type, operation, 0, comm, stream);
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream)
{
    return ask(REDUCE_SCATTER, from, to, count, type, operation, 0, comm, stream);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream)
{
    return ask(REDUCE, from, to, count, type, operation, root, comm, stream);
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    return ask(ALL_GATHER, from, to, count, type, ncclSum, 0, comm, stream);
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream)
{
    return ask(BROADCAST, from, to, count, type, ncclSum, root, comm, stream);
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    return ask(SEND, from, NULL, count, type, ncclSum, peer, comm, stream);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    return ask(RECEIVE, NULL, to, count, type, ncclSum, peer, comm, stream);
}
