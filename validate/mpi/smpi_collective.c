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

/* Of one rank: elements of the large buffer, and of a rank's equal share of it. */
struct call {
    int rank;
    int ranks;
    int elements;
    int share;
    float *from;
    float *to;
};

static void allreduce(const struct call *call)
{
    MPI_Allreduce(call->from, call->to, call->elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void reducescatter(const struct call *call)
{
    int counts[RANKS_MAX];
    for (int rank = 0; rank < call->ranks; rank++) {
        counts[rank] = call->share;
    }
    MPI_Reduce_scatter(call->from, call->to, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void allgather(const struct call *call)
{
    MPI_Allgather(call->from, call->share, MPI_FLOAT, call->to, call->share, MPI_FLOAT,
                  MPI_COMM_WORLD);
}

static void broadcast(const struct call *call)
{
    MPI_Bcast(call->from, call->elements, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void reduce(const struct call *call)
{
    MPI_Reduce(call->from, call->to, call->elements, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void gather(const struct call *call)
{
    MPI_Gather(call->from, call->share, MPI_FLOAT, call->to, call->share, MPI_FLOAT, 0,
               MPI_COMM_WORLD);
}

static void scatter(const struct call *call)
{
    MPI_Scatter(call->from, call->share, MPI_FLOAT, call->to, call->share, MPI_FLOAT, 0,
                MPI_COMM_WORLD);
}

static void alltoall(const struct call *call)
{
    MPI_Alltoall(call->from, call->share, MPI_FLOAT, call->to, call->share, MPI_FLOAT,
                 MPI_COMM_WORLD);
}

static const struct operation {
    const char *name;
    void (*run)(const struct call *call);
} operations[] = {
    {"allreduce", allreduce}, {"reducescatter", reducescatter},
    {"allgather", allgather}, {"broadcast", broadcast},
    {"reduce", reduce},       {"gather", gather},
    {"scatter", scatter},     {"alltoall", alltoall},
};

/* Seconds of this rank from `start_s`, in the future, on. */
static double timed(const struct operation *operation, const struct call *call, double start_s)
{
    usleep((useconds_t)((start_s - MPI_Wtime()) * 1e6));
    double begin_s = MPI_Wtime();
    operation->run(call);
    return MPI_Wtime() - begin_s;
}

static int run(const struct operation *operation, int payloads, char **bytes)
{
    struct call call;
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
        double slowest_s;
        double own_s = timed(operation, &call, 1000.0 * (i + 1));
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
    int code = 64;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0] && argc > 2; i++) {
        if (strcmp(argv[1], operations[i].name) == 0) {
            code = run(&operations[i], argc - 2, argv + 2);
        }
    }
    MPI_Finalize();
    return code;
}
