/* Messages between ranks by MPI. */
#include <mpi.h>
#include <stddef.h>

#include "ranks_transport.h"

static void begin(int *rank, int *count)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, count);
}

static void end(void)
{
    MPI_Finalize();
}

static void abort_all(int exit_code)
{
    MPI_Abort(MPI_COMM_WORLD, exit_code);
}

static void gather(const void *own, int bytes_count, void *all)
{
    MPI_Gather(own, bytes_count, MPI_BYTE, all, bytes_count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void share(int *value)
{
    MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void send(int to, int tag, const void *bytes, int bytes_count)
{
    MPI_Send(bytes, bytes_count, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static bool probe(struct ranks_message *message)
{
    int is_there;
    MPI_Status sent;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &sent);
    if (is_there) {
        message->from = sent.MPI_SOURCE;
        message->tag = sent.MPI_TAG;
        MPI_Get_count(&sent, MPI_BYTE, &message->bytes_count);
    }
    return is_there;
}

static void receive(const struct ranks_message *message, void *bytes)
{
    MPI_Recv(bytes, message->bytes_count, MPI_BYTE, message->from, message->tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

const struct ranks_transport *ranks_mpi(void)
{
    static const struct ranks_transport transport = {.begin = begin,
                                                     .end = end,
                                                     .abort = abort_all,
                                                     .gather = gather,
                                                     .share = share,
                                                     .send = send,
                                                     .probe = probe,
                                                     .receive = receive};
    return &transport;
}
