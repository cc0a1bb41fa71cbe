#include "test_fake_nccl.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"

enum { RANKS_MAX = 16, CALLS_MAX = 1024 };

enum kind { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, REDUCE, SPLIT, SEND, RECEIVE };

struct ncclComm {
    int family; /* that all ranks of a communicator share */
    int rank;
    int ranks;
};

struct asked {
    enum kind kind;
    ncclComm_t comm;
    const unsigned char *from;
    unsigned char *to;
    size_t count;
    ncclDataType_t type;
    int peer; /* or root */
    int color;
    int key;
    ncclComm_t *made;
};

static struct {
    struct asked calls[CALLS_MAX];
    int calls_count;
    int depth;
    int families;
    int alive;
} fake;

int fake_nccl_leaks(void)
{
    return fake.alive;
}

static ncclComm_t make(int family, int rank, int ranks)
{
    ncclComm_t comm = malloc(sizeof *comm);
    cr_assert_not_null(comm);
    *comm = (struct ncclComm){.family = family, .rank = rank, .ranks = ranks};
    fake.alive++;
    return comm;
}

static ncclResult_t get_version(int *version)
{
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

static ncclResult_t get_unique_id(ncclUniqueId *id)
{
    memset(id, 0, sizeof *id);
    return ncclSuccess;
}

static const char *get_error_string(ncclResult_t code)
{
    return code == ncclSuccess ? "no error" : "an error";
}

static ncclResult_t comm_init_all(ncclComm_t *comms, int count, const int *devices)
{
    cr_assert_null(devices);
    fake.families++;
    for (int i = 0; i < count; i++) {
        comms[i] = make(fake.families, i, count);
    }
    return ncclSuccess;
}

static ncclResult_t comm_init_rank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    (void)id;
    *comm = make(++fake.families, rank, ranks);
    return ncclSuccess;
}

static ncclResult_t comm_destroy(ncclComm_t comm)
{
    free(comm);
    fake.alive--;
    return ncclSuccess;
}

static ncclResult_t add_call(struct asked call)
{
    cr_assert(fake.depth > 0 && fake.calls_count < CALLS_MAX);
    fake.calls[fake.calls_count++] = call;
    return ncclSuccess;
}

static ncclResult_t ask(enum kind kind, const void *from, void *to, size_t count,
                        ncclDataType_t type, int peer, ncclComm_t comm)
{
    return add_call((struct asked){.kind = kind,
                                   .comm = comm,
                                   .from = from,
                                   .to = to,
                                   .count = count,
                                   .type = type,
                                   .peer = peer});
}

static ncclResult_t comm_split(ncclComm_t comm, int color, int key, ncclComm_t *made,
                               ncclConfig_t *config)
{
    (void)config;
    return add_call(
        (struct asked){.kind = SPLIT, .comm = comm, .color = color, .key = key, .made = made});
}

static ncclResult_t all_reduce(const void *from, void *to, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    cr_expect_eq(operation, ncclSum);
    return ask(ALL_REDUCE, from, to, count, type, 0, comm);
}

static ncclResult_t reduce_scatter(const void *from, void *to, size_t count, ncclDataType_t type,
                                   ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    cr_expect_eq(operation, ncclSum);
    return ask(REDUCE_SCATTER, from, to, count, type, 0, comm);
}

static ncclResult_t all_gather(const void *from, void *to, size_t count, ncclDataType_t type,
                               ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    return ask(ALL_GATHER, from, to, count, type, 0, comm);
}

static ncclResult_t broadcast(const void *from, void *to, size_t count, ncclDataType_t type,
                              int root, ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    return ask(BROADCAST, from, to, count, type, root, comm);
}

static ncclResult_t reduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    cr_expect_eq(operation, ncclSum);
    return ask(REDUCE, from, to, count, type, root, comm);
}

static ncclResult_t send(const void *from, size_t count, ncclDataType_t type, int peer,
                         ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    return ask(SEND, from, NULL, count, type, peer, comm);
}

static ncclResult_t recv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                         cudaStream_t stream)
{
    (void)stream;
    return ask(RECEIVE, NULL, to, count, type, peer, comm);
}

static ncclResult_t group_start(void)
{
    fake.depth++;
    return ncclSuccess;
}

/* The communicators of all colors, in the order of the keys. */
static void split(struct asked *const *calls, int count)
{
    int first_family = fake.families + 1;
    for (int i = 0; i < count; i++) {
        int ranks = 0;
        int rank = 0;
        for (int j = 0; j < count; j++) {
            bool is_same = calls[j]->color == calls[i]->color;
            ranks += is_same;
            rank += is_same && calls[j]->key < calls[i]->key;
        }
        *calls[i]->made = make(first_family + calls[i]->color, rank, ranks);
    }
    fake.families += RANKS_MAX;
}

static const struct element_type *type_of(const struct asked *call)
{
    return call->type == ncclFloat32 ? &element_fp32 : &element_fp16;
}

/* The result of a rank, in memory of its own, since buffers overlap. */
static unsigned char *outcome(struct asked *const *calls, size_t count, size_t rank, size_t *bytes)
{
    const struct asked *call = calls[0];
    const struct element_type *type = type_of(call);
    size_t part = call->count * type->bytes;
    *bytes = call->kind == ALL_GATHER ? count * part : part;
    unsigned char *capacity = calloc(*bytes + 1, 1);
    cr_assert_not_null(capacity);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *from = calls[i]->from;
        if (call->kind == ALL_GATHER) {
            memcpy(capacity + i * part, from, part);
        } else if (call->kind == BROADCAST) {
            memcpy(capacity, calls[call->peer]->from, part);
        } else {
            from += call->kind == REDUCE_SCATTER ? rank * part : 0;
            type->reduce(capacity, from, call->count);
        }
    }
    return capacity;
}

/* `calls` are those of all ranks of a communicator, by rank. */
static void perform(struct asked *const *calls, int count)
{
    unsigned char *rooms[RANKS_MAX];
    size_t bytes = 0;
    if (calls[0]->kind == SPLIT) {
        split(calls, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        cr_assert(calls[i]->kind == calls[0]->kind && calls[i]->count == calls[0]->count);
        rooms[i] = outcome(calls, (size_t)count, (size_t)i, &bytes);
    }
    for (int i = 0; i < count; i++) {
        if (calls[i]->kind != REDUCE || calls[i]->peer == i) {
            memcpy(calls[i]->to, rooms[i], bytes);
        }
        free(rooms[i]);
    }
}

/* The send that a receive is for: the first one left between the two. */
static struct asked *find_send(const struct asked *receive)
{
    for (int i = 0; i < fake.calls_count; i++) {
        struct asked *call = &fake.calls[i];
        if (call->kind == SEND && call->comm != NULL &&
            call->comm->family == receive->comm->family && call->comm->rank == receive->peer &&
            call->peer == receive->comm->rank) {
            return call;
        }
    }
    cr_assert_fail("rank %d receives what nobody sends", receive->comm->rank);
    return NULL;
}

static void pass_messages(void)
{
    for (int i = 0; i < fake.calls_count; i++) {
        struct asked *call = &fake.calls[i];
        if (call->kind == RECEIVE) {
            struct asked *sent = find_send(call);
            cr_assert_eq(sent->count, call->count);
            memcpy(call->to, sent->from, call->count * type_of(call)->bytes);
            sent->comm = NULL;
            call->comm = NULL;
        }
    }
    for (int i = 0; i < fake.calls_count; i++) {
        cr_assert(fake.calls[i].kind != SEND || fake.calls[i].comm == NULL,
                  "a message that nobody receives");
    }
}

static ncclResult_t group_end(void)
{
    cr_assert_eq(fake.depth--, 1);
    pass_messages();
    for (int i = 0; i < fake.calls_count; i++) {
        struct asked *calls[RANKS_MAX] = {NULL};
        ncclComm_t comm = fake.calls[i].comm;
        if (comm == NULL) {
            continue; /* done with another rank's */
        }
        int family = comm->family;
        int ranks = comm->ranks;
        for (int j = i; j < fake.calls_count; j++) {
            if (fake.calls[j].comm != NULL && fake.calls[j].comm->family == family) {
                calls[fake.calls[j].comm->rank] = &fake.calls[j];
            }
        }
        for (int j = 0; j < ranks; j++) {
            cr_assert_not_null(calls[j], "rank %d of a communicator did not call", j);
        }
        perform(calls, ranks);
        for (int j = 0; j < ranks; j++) {
            calls[j]->comm = NULL;
        }
    }
    fake.calls_count = 0;
    return ncclSuccess;
}

struct nccl_library fake_nccl(void)
{
    memset(&fake, 0, sizeof fake);
    return (struct nccl_library){
#define X(member, function) .member = member,
        NCCL_FUNCTIONS(X)
#undef X
    };
}
