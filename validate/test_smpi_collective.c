/* One collective on SimGrid's SMPI, in simulated time: an oracle that shares no line with the
 * engines. Compiled by smpicc, run by smpirun on a platform that `allreckon export` wrote; which
 * algorithm it takes is SMPI's option --cfg=smpi/OPERATION:ALGORITHM.
 *
 *   smpirun -np N -platform FILE.xml -hostfile HOSTS collective OPERATION BYTES...
 *
 * prints, for each payload in BYTES as nccl-tests counts it, the seconds from a common start to the
 * end of the last rank. All ranks sleep until the start, since a barrier would leave them apart. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MAX = 1024 };

/* Calls an operation on buffers of `elements` elements, of which a rank's equal share is `share`;
 * 64 if none has this name. */
static int call_operation(const char *name, int elements, int share, float *from, float *to)
{
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_FLOAT;
    if (strcmp(name, "allreduce") == 0) {
        return MPI_Allreduce(from, to, elements, type, MPI_SUM, all);
    } else if (strcmp(name, "reducescatter") == 0) {
        int counts[RANKS_MAX];
        for (int rank = 0; rank < RANKS_MAX; rank++) {
            counts[rank] = share;
        }
        return MPI_Reduce_scatter(from, to, counts, type, MPI_SUM, all);
    } else if (strcmp(name, "allgather") == 0) {
        return MPI_Allgather(from, share, type, to, share, type, all);
    } else if (strcmp(name, "broadcast") == 0) {
        return MPI_Bcast(from, elements, type, 0, all);
    } else if (strcmp(name, "reduce") == 0) {
        return MPI_Reduce(from, to, elements, type, MPI_SUM, 0, all);
    } else if (strcmp(name, "gather") == 0) {
        return MPI_Gather(from, share, type, to, share, type, 0, all);
    } else if (strcmp(name, "scatter") == 0) {
        return MPI_Scatter(from, share, type, to, share, type, 0, all);
    } else if (strcmp(name, "alltoall") == 0) {
        return MPI_Alltoall(from, share, type, to, share, type, all);
    }
    return 64;
}

/* Measures each payload; all ranks begin at the same time, which lies in the future. Returns the
 * exit code. */
static int run_payloads(const char *operation, int payloads, char **bytes)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < payloads; i++) {
        int elements = atoi(bytes[i]) / (int)sizeof(float);
        float *from = calloc((size_t)elements + 1, sizeof(float));
        float *to = calloc((size_t)elements + 1, sizeof(float));
        usleep((useconds_t)((1000.0 * (i + 1) - MPI_Wtime()) * 1e6));
        double begin_s = MPI_Wtime(), slowest_s;
        int code = call_operation(operation, elements, elements / ranks, from, to);
        double own_s = MPI_Wtime() - begin_s;
        if (code != MPI_SUCCESS) {
            return code;
        }
        MPI_Reduce(&own_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("%s,%.12g\n", bytes[i], slowest_s);
        }
        free(from);
        free(to);
    }
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int code = argc > 2 ? run_payloads(argv[1], argc - 2, argv + 2) : 64;
    MPI_Finalize();
    return code;
}
