#include "mpi_transport.h"

#include <inttypes.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>

#include "ar_clock.h"

static const double BARRIER_PATIENCE_S = 0.2;

/* A port's slots are used in turn. */
struct mpi_port {
    struct port port;
    unsigned char *slots;
    MPI_Request requests[AR_WINDOW_MAX];      /* of each slot; null: free, or arrived */
    const unsigned char *data[AR_WINDOW_MAX]; /* what each sends */
    size_t bytes[AR_WINDOW_MAX];
    uint32_t next;
};

struct mpi_transport {
    struct transport transport;
    const struct memory *memory;
    uint32_t window;
    MPI_Comm ranks;
    struct mpi_port *ports;
    uint32_t ports_count;
};

static struct mpi_transport *owner_of(struct transport *transport)
{
    return (struct mpi_transport *)(void *)transport; /* its first member */
}

static unsigned char *slot_at(const struct mpi_transport *mpi, const struct mpi_port *port,
                              uint32_t slot)
{
    return port->slots + slot * mpi->transport.slot_bytes;
}

/* The next slot if nothing is under way in it. */
static unsigned char *next_slot(struct transport *transport, uint32_t index)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    int is_done;
    MPI_Test(&port->requests[port->next], &is_done, MPI_STATUS_IGNORE);
    return is_done ? slot_at(mpi, port, port->next) : NULL;
}

static const unsigned char *receive_slot(struct transport *transport, uint32_t index)
{
    return next_slot(transport, index);
}

static void send_from(struct transport *transport, uint32_t index, const unsigned char *data,
                      size_t bytes)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    port->data[port->next] = data;
    port->bytes[port->next] = bytes;
    MPI_Isend(data, (int)bytes, MPI_BYTE, (int)port->port.peer, (int)port->port.channel, mpi->ranks,
              &port->requests[port->next]);
    port->next = (port->next + 1) % mpi->window;
}

static void send(struct transport *transport, uint32_t index, size_t bytes)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    send_from(transport, index, slot_at(mpi, port, port->next), bytes);
}

static bool is_free(struct transport *transport, const unsigned char *memory, size_t bytes)
{
    struct mpi_transport *mpi = owner_of(transport);
    for (uint32_t i = 0; i < mpi->ports_count * mpi->window; i++) {
        struct mpi_port *port = &mpi->ports[i / mpi->window];
        uint32_t slot = i % mpi->window;
        int is_done = 1;
        if (port->port.sends && port->requests[slot] != MPI_REQUEST_NULL &&
            port->data[slot] < memory + bytes && memory < port->data[slot] + port->bytes[slot]) {
            MPI_Test(&port->requests[slot], &is_done, MPI_STATUS_IGNORE);
        }
        if (!is_done) {
            return false;
        }
    }
    return true;
}

/* Posts the receive of the next slot; messages of a peer and tag find them in this order. */
static void release(struct transport *transport, uint32_t index)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    MPI_Irecv(slot_at(mpi, port, port->next), (int)mpi->transport.slot_bytes, MPI_BYTE,
              (int)port->port.peer, (int)port->port.channel, mpi->ranks,
              &port->requests[port->next]);
    port->next = (port->next + 1) % mpi->window;
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
    .send_slot = next_slot,
    .send = send,
    .send_from = send_from,
    .is_free = is_free,
    .receive_slot = receive_slot,
    .release = release,
    .ticket = ticket,
    .wait = wait,
    .barrier = barrier,
};

static enum ar_status open_port(struct mpi_transport *mpi, struct port port, struct ar_error *err)
{
    struct mpi_port *opened = &mpi->ports[mpi->ports_count];
    enum ar_status status =
        mpi->memory->allocate(mpi->window * mpi->transport.slot_bytes, &opened->slots, err);
    if (status != AR_OK) {
        return status;
    }
    opened->port = port;
    for (uint32_t i = 0; i < mpi->window; i++) {
        opened->requests[i] = MPI_REQUEST_NULL;
    }
    uint32_t index = mpi->ports_count++;
    for (uint32_t i = 0; i < mpi->window && !port.sends; i++) {
        release(&mpi->transport, index);
    }
    return AR_OK;
}

enum ar_status mpi_transport_create(const struct ports *ports, uint32_t ranks,
                                    const struct run_config *config, size_t slot_bytes,
                                    struct mpi_transport **transport, struct ar_error *err)
{
    struct mpi_transport *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ar_error_no_memory(err, "a transport");
    }
    int rank;
    MPI_Group world;
    MPI_Group members;
    int range[1][3] = {{0, (int)ranks - 1, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &members);
    MPI_Comm_create_group(MPI_COMM_WORLD, members, 0, &made->ranks);
    MPI_Group_free(&members);
    MPI_Group_free(&world);
    MPI_Comm_rank(made->ranks, &rank);
    made->transport = (struct transport){
        .calls = &calls, .rank = (uint32_t)rank, .ranks = ranks, .slot_bytes = slot_bytes};
    made->memory = config->memory;
    made->window = config->window;
    made->ports = calloc(ports->count + 1, sizeof *made->ports);
    enum ar_status status =
        made->ports != NULL ? AR_OK : ar_error_no_memory(err, "the ports of a rank");
    for (uint32_t i = 0; status == AR_OK && i < ports->count; i++) {
        status = open_port(made, ports->ports[i], err);
    }
    if (status != AR_OK) {
        mpi_transport_destroy(made);
        return status;
    }
    *transport = made;
    return AR_OK;
}

static void close_port(struct mpi_transport *mpi, struct mpi_port *port)
{
    for (uint32_t i = 0; i < mpi->window; i++) {
        if (!port->port.sends && port->requests[i] != MPI_REQUEST_NULL) {
            MPI_Cancel(&port->requests[i]);
        }
        MPI_Wait(&port->requests[i], MPI_STATUS_IGNORE);
    }
    mpi->memory->release(port->slots);
}

void mpi_transport_destroy(struct mpi_transport *transport)
{
    for (uint32_t i = 0; i < transport->ports_count; i++) {
        close_port(transport, &transport->ports[i]);
    }
    MPI_Comm_free(&transport->ranks);
    free(transport->ports);
    free(transport);
}

struct transport *mpi_transport_base(struct mpi_transport *transport)
{
    return &transport->transport;
}
