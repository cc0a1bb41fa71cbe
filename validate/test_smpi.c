/* Our algorithms beside those of SimGrid's SMPI, which others wrote: on the exported platform of
 * cluster flat the same algorithm takes the same simulated time. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/cli/test_cli.h"

enum { RANKS_MAX = 16 };

/* No time is spent outside of the network, and every message is a rendezvous, as with our window
 * of one. */
#define SMPI_OPTIONS                                                                               \
    "--cfg=network/model:CM02 --cfg=network/crosstraffic:0 --cfg=network/TCP-gamma:0 "             \
    "--cfg=smpi/os:0:0:0 --cfg=smpi/or:0:0:0 --cfg=smpi/ois:0:0:0 --cfg=smpi/wtime:0 "             \
    "--cfg=smpi/async-small-thresh:0 --cfg=smpi/send-is-detached-thresh:0 "                        \
    "--cfg=smpi/simulate-computation:no --log=root.thresh:critical "

struct pair {
    const char *smpi;      /* operation:algorithm, as in --cfg=smpi/... */
    const char *operation; /* as in `allreckon OPERATION` */
    const char *algorithm;
    const int (*ranks)[2]; /* 0: no more; and how many latencies SMPI waits for besides */
};

static const int any_number[][2] = {{7, 0}, {16, 0}, {0, 0}};
static const int even_numbers[][2] = {{6, 0}, {16, 0}, {0, 0}};
static const int powers_of_two[][2] = {{16, 0}, {0, 0}};
static const int one_less[][2] = {{7, -1}, {16, 0}, {0, 0}};
static const int all_but_one[][2] = {{7, 5}, {16, 14}, {0, 0}};

static void enter(void)
{
    cli_enter();
    cli_good("$AR export --format simgrid-xml --cluster flat --gpus %d --out flat.xml", RANKS_MAX);
    cli_good("seq -f gpu-%%g 0 %d > hosts", RANKS_MAX - 1);
}

TestSuite(smpi, .init = enter, .fini = cli_leave, .timeout = 240);

enum { PAYLOADS = 2 };

static void ask_smpi(const struct pair *pair, int ranks, const int payloads[PAYLOADS],
                     double times_s[PAYLOADS])
{
    struct cli_run run =
        cli_run("'" AR_TEST_SMPIRUN "' -np %d -platform flat.xml -hostfile hosts " SMPI_OPTIONS
                "--cfg=smpi/%s '" AR_TEST_COLLECTIVE "' %s %d %d",
                ranks, pair->smpi, pair->operation, payloads[0], payloads[1]);
    cr_assert_eq(run.code, 0, "%s, %d ranks: %s", pair->smpi, ranks, run.err);
    const char *at = run.out;
    for (size_t i = 0; i < PAYLOADS; i++) {
        at = strchr(at, ',');
        cr_assert_not_null(at, "%s", run.out);
        times_s[i] = strtod(++at, NULL);
    }
}

/* The network latency of cluster flat. */
#define LATENCY_S 10e-6

/* SMPI takes as long as we do and some latencies more. */
static void expect_latencies_more(const struct pair *pair, int ranks, int latencies)
{
    static const char *const engines[] = {"recurrence", "simgrid"};
    /* A few bytes, where latency is all, and a mebibyte and more; equal parts for every rank. */
    const int payloads[PAYLOADS] = {16 * ranks, 131072 / ranks * ranks * 16};
    double smpi_s[PAYLOADS];
    ask_smpi(pair, ranks, payloads, smpi_s);
    for (size_t j = 0; j < sizeof engines / sizeof engines[0]; j++) {
        struct cli_table *table =
            cli_rows("%s --cluster flat --gpus %d --algorithm %s --payload %dB,%dB "
                     "--precision fp32 --channels 1 --window 1 --engine %s",
                     pair->operation, ranks, pair->algorithm, payloads[0], payloads[1], engines[j]);
        cr_assert_eq(table->rows_count, 1 + PAYLOADS);
        for (size_t i = 0; i < PAYLOADS; i++) {
            double our_s = cli_number(table, 1 + i, "allreduce_s");
            cr_expect_float_eq((our_s + latencies * LATENCY_S) / smpi_s[i], 1, 0.01,
                               "%s %s, %d ranks, %d bytes: %s says %g us, SMPI's %s %g us; "
                               "expected %d latencies more",
                               pair->operation, pair->algorithm, ranks, payloads[i], engines[j],
                               our_s * 1e6, pair->smpi, smpi_s[i] * 1e6, latencies);
        }
    }
}

Test(smpi, what_both_have_takes_the_same_simulated_time)
{
    static const struct pair pairs[] = {
        {"allreduce:lr", "allreduce", "ring", any_number},
        {"allreduce:rdb", "allreduce", "recursive-doubling", any_number},
        {"allreduce:rab_rdb", "allreduce", "halving-doubling", any_number},
        {"allreduce:rab2 --cfg=smpi/alltoall:basic_linear --cfg=smpi/allgather:spreading_simple",
         "allreduce", "direct", any_number},
        {"allgather:ring", "allgather", "ring", any_number},
        {"allgather:bruck", "allgather", "bruck", any_number},
        {"allgather:rdb", "allgather", "recursive-doubling", powers_of_two},
        {"allgather:spreading_simple", "allgather", "direct", any_number},
        {"allgather:ompi_neighborexchange", "allgather", "neighbour", even_numbers},
        {"reduce_scatter:ompi_ring", "reducescatter", "ring", any_number},
        {"reduce_scatter:ompi_basic_recursivehalving", "reducescatter", "recursive-halving",
         any_number},
        {"bcast:binomial_tree", "broadcast", "binomial", any_number},
        {"bcast:scatter_LR_allgather", "broadcast", "scatter-allgather", any_number},
        {"reduce:binomial", "reduce", "binomial", any_number},
        {"reduce:scatter_gather", "reduce", "reducescatter-gather", powers_of_two},
        {"gather:ompi_binomial", "gather", "binomial", any_number},
        {"scatter:ompi_linear_nb", "scatter", "linear", any_number},
        {"alltoall:basic_linear", "alltoall", "linear", any_number},
        {"alltoall:ring", "alltoall", "pairwise", any_number},
        {"alltoall:pair", "alltoall", "pairwise", powers_of_two},
        {"alltoall:bruck", "alltoall", "bruck", any_number},
        /* Where SMPI's collective takes other latencies than ours, it is known how many. */
        {"gather:ompi_basic_linear", "gather", "linear", all_but_one},
        {"scatter:ompi_basic_linear", "scatter", "linear", all_but_one},
        {"reduce:ompi_binomial", "reduce", "binomial", one_less},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (const int(*ranks)[2] = pairs[i].ranks; (*ranks)[0] > 0; ranks++) {
            expect_latencies_more(&pairs[i], (*ranks)[0], (*ranks)[1]);
        }
    }
}
