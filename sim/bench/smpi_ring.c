/* The peer: the same all-reduce as an MPI program on SimGrid's SMPI; see README.md.
 *
 * Nothing of the data is of interest, so all ranks share one buffer of SMPI's folded memory, which
 * SMPI neither fills nor copies, and the operator does nothing: what is left is the simulation. */
#include <stdlib.h>

#include <mpi.h>

#include "usage.h"

static void reduce_nothing(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)count;
    (void)type;
}

/* Prints simulated_s messages_count cpu_s memory_bytes. */
int main(int argc, char **argv)
{
    static float *buffer; /* one for all ranks: smpirun -no-privatize */
    int count = argc == 2 ? atoi(argv[1]) : 0;
    int rank, ranks;
    MPI_Op operation;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count < ranks || count % ranks != 0) {
        fprintf(stderr, "usage: smpi_ring COUNT; a multiple of the ranks\n");
        return 64;
    }
    if (buffer == NULL) {
        buffer = SMPI_SHARED_MALLOC((size_t)count * sizeof *buffer);
    }
    MPI_Op_create(reduce_nothing, 1, &operation);
    double began_s = MPI_Wtime();
    MPI_Allreduce(buffer, buffer, count, MPI_FLOAT, operation, MPI_COMM_WORLD);
    double finish_s = MPI_Wtime() - began_s;
    double latest_s;
    MPI_Reduce(&finish_s, &latest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("%.17g %" PRIu64 " ", latest_s, 2 * ((uint64_t)ranks - 1) * (uint64_t)ranks);
        write_usage(stdout, &usage);
    }
    MPI_Op_free(&operation);
    MPI_Finalize();
    return 0;
}
