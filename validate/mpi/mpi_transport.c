/* A rank as a process of MPI: non-blocking point-to-point messages, the channel as tag.
 *
 * A port has a window of requests, one that receives a slot for each. Receives are posted ahead for
 * all slots, so that a message finds its slot when it arrives; the slots are in the memory of the
 * run, so a CUDA-aware library sends from one GPU's memory to another's.
 */
#include "mpi_world.h"

#include <inttypes.h>
#include <mpi.h>
#include <sched.h>

#include "ar_clock.h"

static const double BARRIER_PATIENCE_S = 0.2;

/* Requests, and the slots of a receiving port, are used in turn. */
struct mpi_port {
    struct port port;
    unsigned char *slots;
    MPI_Request requests[AR_WINDOW_MAX]; /* null: free, or arrived */
    uint32_t taken;                      /* messages, sent or received, modulo 2^32 */
};

struct mpi_transport {
    struct transport transport;
    const struct memory *memory;
    MPI_Comm ranks;
    struct mpi_port *ports;
    uint32_t ports_count;
};

static struct mpi_transport *owner_of(struct transport *transport)
{
    return (struct mpi_transport *)(void *)transport; /* its first member */
}

static unsigned char *slot_at(const struct mpi_transport *mpi, const struct mpi_port *port)
{
    return port->slots + port->taken % mpi->transport.window * mpi->transport.slot_bytes;
}

static MPI_Request *request_at(const struct mpi_transport *mpi, struct mpi_port *port,
                               uint32_t number)
{
    return &port->requests[number % mpi->transport.window];
}

static void send(struct transport *transport, uint32_t index, const unsigned char *data,
                 size_t bytes)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    MPI_Isend(data, (int)bytes, MPI_BYTE, (int)port->port.peer, (int)port->port.channel, mpi->ranks,
              request_at(mpi, port, transport->sent[index]++));
}

static uint32_t taken(struct transport *transport, uint32_t index)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    int is_done = 1;
    while (port->taken != transport->sent[index] && is_done) {
        MPI_Test(request_at(mpi, port, port->taken), &is_done, MPI_STATUS_IGNORE);
        port->taken += is_done != 0;
    }
    return port->taken;
}

static const unsigned char *receive(struct transport *transport, uint32_t index)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    int is_done;
    MPI_Test(request_at(mpi, port, port->taken), &is_done, MPI_STATUS_IGNORE);
    return is_done ? slot_at(mpi, port) : NULL;
}

/* Posts the receive of the next slot; messages of a peer and tag find them in this order. */
static void release(struct transport *transport, uint32_t index)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    MPI_Irecv(slot_at(mpi, port), (int)transport->slot_bytes, MPI_BYTE, (int)port->port.peer,
              (int)port->port.channel, mpi->ranks, request_at(mpi, port, port->taken));
    port->taken++;
}

static uint32_t ticket(struct transport *transport)
{
    (void)transport;
    return 0;
}

/* Looking again is how MPI makes progress; another process may need the core for it. */
static bool wait(struct transport *transport, uint32_t seen)
{
    (void)transport;
    (void)seen;
    sched_yield();
    return true;
}

/* One round: tells a rank ahead, waits for one behind. The later the round, the longer it waits in
 * vain: who is behind may itself wait, and the rank that waits for the missing one speaks first. */
static enum ar_status barrier_round(struct mpi_transport *mpi, uint32_t distance, uint32_t round,
                                    double timeout_s, struct ar_error *err)
{
    uint32_t rank = mpi->transport.rank;
    uint32_t ranks = mpi->transport.ranks;
    uint32_t behind = (rank + ranks - distance) % ranks;
    int tag = AR_CHANNELS_MAX + (int)round;
    double until_s = ar_clock_s() + timeout_s + round * BARRIER_PATIENCE_S;
    MPI_Request requests[2];
    int is_done = 0;
    MPI_Irecv(NULL, 0, MPI_BYTE, (int)behind, tag, mpi->ranks, &requests[0]);
    MPI_Isend(NULL, 0, MPI_BYTE, (int)((rank + distance) % ranks), tag, mpi->ranks, &requests[1]);
    MPI_Testall(2, requests, &is_done, MPI_STATUSES_IGNORE);
    while (!is_done) {
        if (ar_clock_s() > until_s) {
            return ar_error_set(err, AR_INTERNAL,
                                "rank %" PRIu32 " waited %g s at a barrier for rank %" PRIu32
                                "; expected all %" PRIu32 " ranks",
                                rank, timeout_s, behind, ranks);
        }
        sched_yield();
        MPI_Testall(2, requests, &is_done, MPI_STATUSES_IGNORE);
    }
    return AR_OK;
}

/* Dissemination: after round k a rank knows of 2^(k+1) ranks that they are here. MPI_Barrier would
 * not say who is not. */
static enum ar_status barrier(struct transport *transport, double timeout_s, struct ar_error *err)
{
    uint32_t round = 0;
    for (uint32_t distance = 1; distance < transport->ranks; distance *= 2) {
        AR_TRY(barrier_round(owner_of(transport), distance, round, timeout_s, err));
        round++;
    }
    return AR_OK;
}

static const struct transport_calls calls = {
    .send = send,
    .taken = taken,
    .receive = receive,
    .release = release,
    .ticket = ticket,
    .wait = wait,
    .barrier = barrier,
};

static enum ar_status open_port(struct mpi_transport *mpi, struct port port, struct ar_arena *arena,
                                struct ar_error *err)
{
    uint32_t window = mpi->transport.window;
    uint32_t index = mpi->ports_count++;
    struct mpi_port *opened = &mpi->ports[index];
    opened->port = port;
    for (uint32_t i = 0; i < window; i++) {
        opened->requests[i] = MPI_REQUEST_NULL;
    }
    if (!port.sends) {
        AR_TRY(
            mpi->memory->allocate(arena, window * mpi->transport.slot_bytes, &opened->slots, err));
        for (uint32_t i = 0; i < window; i++) {
            release(&mpi->transport, index);
        }
    }
    return AR_OK;
}

/* All that was sent has been received. */
static void close_ports(void *transport)
{
    struct mpi_transport *mpi = transport;
    uint32_t window = mpi->transport.window;
    for (uint32_t i = 0; i < mpi->ports_count * window; i++) {
        struct mpi_port *port = &mpi->ports[i / window];
        MPI_Request *request = &port->requests[i % window];
        if (!port->port.sends && *request != MPI_REQUEST_NULL) {
            MPI_Cancel(request);
        }
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&mpi->ranks);
}

static MPI_Comm first_processes(uint32_t ranks)
{
    MPI_Comm comm;
    MPI_Group world;
    MPI_Group members;
    int range[1][3] = {{0, (int)ranks - 1, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &members);
    MPI_Comm_create_group(MPI_COMM_WORLD, members, 0, &comm);
    MPI_Group_free(&members);
    MPI_Group_free(&world);
    return comm;
}

enum ar_status mpi_transport_create(const struct ports *ports, uint32_t ranks,
                                    const struct run_config *config, size_t slot_bytes,
                                    struct ar_arena *arena, struct transport **transport,
                                    struct ar_error *err)
{
    int rank;
    struct mpi_transport *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct mpi_port *opened = ar_arena_alloc(arena, ports->count + 1, sizeof *opened);
    uint32_t *sent = ar_arena_alloc(arena, ports->count + 1, sizeof *sent);
    AR_NEED(made && opened && sent, err, "the ports of a rank");
    *made = (struct mpi_transport){
        .memory = config->memory, .ranks = first_processes(ranks), .ports = opened};
    MPI_Comm_rank(made->ranks, &rank);
    made->transport = (struct transport){.calls = &calls,
                                         .rank = (uint32_t)rank,
                                         .ranks = ranks,
                                         .window = config->window,
                                         .slot_bytes = slot_bytes,
                                         .sent = sent};
    for (uint32_t i = 0; i < ports->count; i++) {
        AR_TRY(open_port(made, ports->ports[i], arena, err));
    }
    if (ar_arena_own(arena, made, close_ports) == NULL) { /* before slots are freed */
        return ar_error_no_memory(err, "a transport");
    }
    *transport = &made->transport;
    return AR_OK;
}
