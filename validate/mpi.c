/* Ranks as processes of MPI: the processes and their nodes, the transport, the backend. */
#include "mpi_world.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "ar_numbers.h"
#include "runner.h"

/* --- processes and nodes ------------------------------------------------------------------ */

enum { NAP_NS = 200000 };

/* MPI has one per process. Without MPI it is this process alone. */
static struct mpi_world the_world = {.ranks = 1, .ranks_per_node = 1};
static bool is_started;

/* Variables that mpirun and srun give their processes: Open MPI, PMIx, PMI of MPICH and Slurm. */
static const char *const launcher_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};

static void find_nodes(struct mpi_world *world)
{
    MPI_Comm node;
    int local_rank;
    uint32_t first = world->rank;
    world->first_on_node = calloc(world->ranks, sizeof *world->first_on_node);
    ar_memory_require(world->first_on_node != NULL, "the nodes");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_rank);
    MPI_Bcast(&first, 1, MPI_UINT32_T, 0, node);
    MPI_Comm_free(&node);
    MPI_Allgather(&first, 1, MPI_UINT32_T, world->first_on_node, 1, MPI_UINT32_T, MPI_COMM_WORLD);
    world->local_rank = (uint32_t)local_rank;
    while (world->ranks_per_node < world->ranks &&
           world->first_on_node[world->ranks_per_node] == world->first_on_node[0]) {
        world->ranks_per_node++;
    }
    world->is_by_node = true; /* rank r is on node r / ranks_per_node */
    for (uint32_t rank = 0; rank < world->ranks; rank++) {
        world->is_by_node &= world->first_on_node[rank] == rank - rank % world->ranks_per_node;
    }
    world->ranks_per_node = world->is_by_node ? world->ranks_per_node : 1;
}

const struct mpi_world *mpi_world_start(bool is_needed)
{
    int rank;
    int ranks;
    for (size_t i = 0; i < sizeof launcher_variables / sizeof launcher_variables[0]; i++) {
        is_needed = is_needed || getenv(launcher_variables[i]) != NULL;
    }
    if (is_started || !is_needed) {
        return &the_world;
    }
    MPI_Init(NULL, NULL);
    is_started = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    the_world = (struct mpi_world){.rank = (uint32_t)rank, .ranks = (uint32_t)ranks};
    find_nodes(&the_world);
    return &the_world;
}

void mpi_world_stop(int code)
{
    if (!is_started) {
        return;
    }
    free(the_world.first_on_node);
    the_world.first_on_node = NULL;
    if (code != 0 && the_world.ranks > 1) { /* what MPI says of it would hide the error */
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
}

uint32_t mpi_world_nodes(const struct mpi_world *world, uint32_t ranks)
{
    uint32_t nodes = is_started ? 0 : 1;
    for (uint32_t rank = 0; is_started && rank < ranks; rank++) {
        nodes += world->first_on_node[rank] == rank;
    }
    return nodes;
}

struct machine mpi_world_machine(const struct mpi_world *world)
{
    return (struct machine){.is_first = world->rank == 0,
                            .ranks_max = world->ranks,
                            .ranks_standard = world->ranks,
                            .ranks_per_node = world->ranks_per_node};
}

void mpi_world_describe(FILE *file)
{
    const struct mpi_world *world = &the_world;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    int version;
    int minor;
    if (!is_started) {
        return;
    }
    MPI_Get_version(&version, &minor);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n,")] = '\0';
    fprintf(file, "# mpi: %s, MPI %d.%d\n", library, version, minor);
    fprintf(file, "# processes: %u on %u nodes, %s\n", world->ranks,
            mpi_world_nodes(world, world->ranks),
            world->is_by_node ? "ranks placed node by node"
                              : "ranks not placed node by node: channels share one rank order");
}

void mpi_world_broadcast(void *data, uint32_t bytes)
{
    if (is_started) {
        MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
}

void mpi_world_gather(const void *own, uint32_t bytes, void *all)
{
    if (is_started) {
        MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
}

/* Waits for all processes of a communicator, with naps if others compute; false: timed out. */
static bool await_processes(MPI_Comm processes, double timeout_s, bool naps)
{
    double until_s = ar_clock_s() + timeout_s;
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(processes, &request);
    for (;;) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (is_done || ar_clock_s() > until_s) {
            return is_done;
        } else if (naps) {
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        } else {
            sched_yield();
        }
    }
}

void mpi_world_collect(uint32_t ranks, struct measurement *measurement)
{
    const struct mpi_world *world = &the_world;
    struct mismatch *mismatch = &measurement->mismatch;
    bool is_member = world->rank < ranks;
    int first = is_member && mismatch->wrong > 0 ? (int)world->rank : INT_MAX;
    uint64_t wrong = mismatch->wrong;
    if (!is_started) {
        return;
    }
    await_processes(MPI_COMM_WORLD, INFINITY, true);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first != INT_MAX) {
        MPI_Bcast(mismatch, sizeof *mismatch, MPI_BYTE, first, MPI_COMM_WORLD);
    }
    mismatch->wrong = wrong;
    bool is_first = world->rank == 0;
    MPI_Reduce(is_first ? MPI_IN_PLACE : measurement->times_s, measurement->times_s,
               (int)measurement->repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

/* --- the transport ------------------------------------------------------------------------ */

/* Messages are non-blocking point-to-point messages, with the channel as tag. A port has a window
 * of requests, one that receives also a slot for each. Receives are posted ahead for all slots, so
 * that a message finds its slot when it arrives. The slots are in the memory of the run, so a
 * CUDA-aware library sends from one GPU's memory to another's. Buffers are in GPU memory if the
 * program was built with CUDA, and the library says that it is CUDA-aware. */

/* Requests, and the slots of a receiving port, are used in turn. */
struct mpi_port {
    struct port port;
    unsigned char *slots;
    MPI_Request requests[AR_WINDOW_MAX]; /* null: free, or arrived */
    uint32_t taken;                      /* messages, sent or received, modulo 2^32 */
};

struct mpi_transport {
    struct transport transport;
    MPI_Comm ranks;
    struct mpi_port *ports;
    uint32_t ports_count;
};

static struct mpi_transport *owner_of(struct transport *transport)
{
    return (struct mpi_transport *)(void *)transport; /* its first member */
}

static unsigned char *port_slot_at(const struct mpi_transport *mpi, const struct mpi_port *port)
{
    return port->slots + port->taken % mpi->transport.window * mpi->transport.slot_bytes;
}

static MPI_Request *request_at(const struct mpi_transport *mpi, struct mpi_port *port,
                               uint32_t number)
{
    return &port->requests[number % mpi->transport.window];
}

static void mpi_transport_send(struct transport *transport, uint32_t index,
                               const unsigned char *data, size_t bytes)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    MPI_Isend(data, (int)bytes, MPI_BYTE, (int)port->port.peer, (int)port->port.channel, mpi->ranks,
              request_at(mpi, port, transport->sent[index]++));
}

static uint32_t mpi_taken(struct transport *transport, uint32_t index)
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

static const unsigned char *mpi_receive(struct transport *transport, uint32_t index)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    int is_done;
    MPI_Test(request_at(mpi, port, port->taken), &is_done, MPI_STATUS_IGNORE);
    return is_done ? port_slot_at(mpi, port) : NULL;
}

/* Posts the receive of the next slot; messages of a peer and tag find them in this order. */
static void mpi_release(struct transport *transport, uint32_t index)
{
    struct mpi_transport *mpi = owner_of(transport);
    struct mpi_port *port = &mpi->ports[index];
    MPI_Irecv(port_slot_at(mpi, port), (int)transport->slot_bytes, MPI_BYTE, (int)port->port.peer,
              (int)port->port.channel, mpi->ranks, request_at(mpi, port, port->taken));
    port->taken++;
}

static uint32_t mpi_ticket(struct transport *transport)
{
    (void)transport;
    return 0;
}

/* Looking again is how MPI makes progress; another process may need the core for it. */
static bool mpi_wait(struct transport *transport, uint32_t seen)
{
    (void)transport;
    (void)seen;
    sched_yield();
    return true;
}

/* MPI does not say which rank is missing. */
static enum ar_status mpi_barrier(struct transport *transport, double timeout_s,
                                  struct ar_error *err)
{
    AR_REFUSE(!await_processes(owner_of(transport)->ranks, timeout_s, false), err, AR_INTERNAL,
              "rank %" PRIu32 " waited %g s at a barrier; expected all %" PRIu32 " ranks",
              transport->rank, timeout_s, transport->ranks);
    return AR_OK;
}

static const struct transport_calls calls = {
    .send = mpi_transport_send,
    .taken = mpi_taken,
    .receive = mpi_receive,
    .release = mpi_release,
    .ticket = mpi_ticket,
    .wait = mpi_wait,
    .barrier = mpi_barrier,
};

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

/* Opens the ports of this process among the first `ranks` processes, which all call it. They are
 * closed when the arena ends, by which time all that was sent must have been received. */
static enum ar_status open_transport(const struct ports *ports, uint32_t ranks,
                                     const struct run_config *config, size_t slot_bytes,
                                     struct ar_arena *arena, struct transport **transport,
                                     struct ar_error *err)
{
    struct mpi_transport *made = ar_arena_alloc(arena, 1, sizeof *made);
    MPI_Comm processes;
    MPI_Group world, members;
    int range[1][3] = {{0, (int)ranks - 1, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &members);
    MPI_Comm_create_group(MPI_COMM_WORLD, members, 0, &processes);
    MPI_Group_free(&members);
    MPI_Group_free(&world);
    *made = (struct mpi_transport){
        .ranks = processes,
        .ports = ar_arena_alloc(arena, ports->count + 1, sizeof *made->ports),
        .transport = {.calls = &calls,
                      .rank = the_world.rank,
                      .ranks = ranks,
                      .window = config->window,
                      .slot_bytes = slot_bytes,
                      .sent = ar_arena_alloc(arena, ports->count + 1, sizeof(uint32_t))}};
    for (uint32_t i = 0; i < ports->count; i++) {
        struct mpi_port *port = &made->ports[made->ports_count++];
        port->port = ports->ports[i];
        for (uint32_t k = 0; k < config->window; k++) {
            port->requests[k] = MPI_REQUEST_NULL;
        }
        if (!port->port.sends) {
            AR_TRY(config->memory->allocate(arena, config->window * slot_bytes, &port->slots, err));
            for (uint32_t k = 0; k < config->window; k++) {
                mpi_release(&made->transport, i);
            }
        }
    }
    ar_arena_own(arena, made, close_ports); /* ends before the slots, which were made before */
    *transport = &made->transport;
    return AR_OK;
}

/* --- the backend -------------------------------------------------------------------------- */

/* MPICH cannot be asked; whoever wants GPU memory with it has built it for GPUs. */
static bool is_cuda_aware(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#elif defined(OPEN_MPI)
    return false;
#else
    return true;
#endif
}

static enum ar_status mpi_start(const struct run_config *config, struct machine *machine,
                                struct ar_error *err)
{
    const struct memory *memory = config->memory;
    const struct mpi_world *world = mpi_world_start(true);
    *machine = mpi_world_machine(world);
    AR_REFUSE(
        !memory->is_host && !is_cuda_aware(), err, AR_UNAVAILABLE,
        "--memory %s: this MPI library is not CUDA-aware; expected one that is, or --memory host",
        memory->name);
    return memory->select != NULL ? memory->select(world->local_rank, err) : AR_OK;
}

static const char *mpi_tier(uint32_t from, uint32_t to)
{
    bool is_same_node = the_world.first_on_node[from] == the_world.first_on_node[to];
    return is_same_node ? "node" : "network";
}

static enum ar_status mpi_run(const struct run_config *config, struct ar_arena *arena,
                              struct measurement *measurement, struct ar_error *err)
{
    if (the_world.rank < measurement->ranks) { /* this process is one of the ranks */
        struct ports ports = ports_create(measurement, the_world.rank, arena);
        struct payload payload;
        struct execution execution = {
            .measurement = measurement, .config = config, .ports = &ports};
        AR_TRY(payload_create(measurement, arena, &payload, err));
        AR_TRY(open_transport(&ports, measurement->ranks, config,
                              execution_slot_bytes(measurement, config), arena,
                              &execution.transport, err));
        AR_TRY(rank_run(&execution, &payload, arena, measurement, err));
    }
    measurement->nodes = mpi_world_nodes(&the_world, measurement->ranks);
    mpi_world_collect(measurement->ranks, measurement);
    return AR_OK;
}

const struct backend backend_mpi = {
    .name = "mpi",
    .summary = "processes of MPI, one rank each; start with mpirun",
#ifdef VALIDATE_HAS_CUDA
    .memories = {&memory_host, &memory_device},
#else
    .memories = {&memory_host},
#endif
    .start = mpi_start,
    .stop = mpi_world_stop,
    .describe = mpi_world_describe,
    .tier = mpi_tier,
    .run = mpi_run,
};
