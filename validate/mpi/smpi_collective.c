/* One collective on SimGrid's SMPI, in simulated time: an oracle that shares no line with the
 * engines. Compiled by smpicc, run by smpirun on a platform that `allreckon export` wrote; which
 * algorithm it takes is SMPI's option --cfg=smpi/OPERATION:ALGORITHM.
 *
 *   smpirun -np N -platform FILE.xml -hostfile HOSTS collective OPERATION BYTES...
 *
 * prints, for each payload in BYTES as nccl-tests counts it, the seconds from a common start to the
 * end of the last rank. All ranks sleep until the start, since a barrier would leave them apart. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MAX = 1024 };

/* Buffers of `elements` elements, of which a rank's equal share is `share`. */
struct call {
    const char *operation;
    int rank;
    int ranks;
    int elements;
    int share;
    float *from;
    float *to;
};

/* Makes the call; false if no operation has this name. */
static bool call_operation(const struct call *call)
{
    const MPI_Comm all = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_FLOAT;
    const char *name = call->operation;
    const int elements = call->elements;
    const int share = call->share;
    float *from = call->from;
    float *to = call->to;
    if (strcmp(name, "allreduce") == 0) {
        MPI_Allreduce(from, to, elements, type, MPI_SUM, all);
    } else if (strcmp(name, "reducescatter") == 0) {
        int counts[RANKS_MAX];
        for (int rank = 0; rank < call->ranks; rank++) {
            counts[rank] = share;
        }
        MPI_Reduce_scatter(from, to, counts, type, MPI_SUM, all);
    } else if (strcmp(name, "allgather") == 0) {
        MPI_Allgather(from, share, type, to, share, type, all);
    } else if (strcmp(name, "broadcast") == 0) {
        MPI_Bcast(from, elements, type, 0, all);
    } else if (strcmp(name, "reduce") == 0) {
        MPI_Reduce(from, to, elements, type, MPI_SUM, 0, all);
    } else if (strcmp(name, "gather") == 0) {
        MPI_Gather(from, share, type, to, share, type, 0, all);
    } else if (strcmp(name, "scatter") == 0) {
        MPI_Scatter(from, share, type, to, share, type, 0, all);
    } else if (strcmp(name, "alltoall") == 0) {
        MPI_Alltoall(from, share, type, to, share, type, all);
    } else {
        return false;
    }
    return true;
}

/* Measures each payload; all ranks begin at the same time, which lies in the future. Returns the
 * exit code. */
static int run_payloads(const char *operation, int payloads, char **bytes)
{
    struct call call = {.operation = operation};
    MPI_Comm_rank(MPI_COMM_WORLD, &call.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &call.ranks);
    for (int i = 0; i < payloads; i++) {
        call.elements = atoi(bytes[i]) / (int)sizeof(float);
        call.share = call.elements / call.ranks;
        call.from = calloc((size_t)call.elements + 1, sizeof(float));
        call.to = calloc((size_t)call.elements + 1, sizeof(float));
        if (call.from == NULL || call.to == NULL) {
            return 1;
        }
        usleep((useconds_t)((1000.0 * (i + 1) - MPI_Wtime()) * 1e6));
        double begin_s = MPI_Wtime();
        if (!call_operation(&call)) {
            return 64;
        }
        double own_s = MPI_Wtime() - begin_s;
        double slowest_s;
        MPI_Reduce(&own_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (call.rank == 0) {
            printf("%s,%.12g\n", bytes[i], slowest_s);
        }
        free(call.from);
        free(call.to);
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
