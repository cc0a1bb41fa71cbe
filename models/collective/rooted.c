/* Collectives with a root, which stands at position 0, and the send. Chains and trees are in
 * algorithm_tree.c. */
#include "algorithms.h"
#include "blocks.h"

static const char long_source[] =
    "Barnett et al., Interprocessor collective communication library (InterCom), SHPCC (1994)";
static const char linear_source[] = "one message for each rank, all at once";

const struct ar_algorithm ar_algorithm_broadcast_binomial = {
    .name = "binomial",
    .title = "binomial tree: the farthest half first",
    .formula = "log2 N (alpha + n/B)",
    .source = AR_SOURCE_DOUBLING,
    .operation = &ar_operation_broadcast,
    STAGES({"binomial broadcast", &block_binomial_broadcast, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_broadcast_scatter = {
    .name = "scatter-allgather",
    .title = "binomial scatter, then the all-gather of a ring",
    .formula = "(log2 N + N-1) alpha + 2 n/B (N-1)/N",
    .source = long_source,
    .operation = &ar_operation_broadcast,
    STAGES({"binomial scatter", &block_binomial_scatter, 0, LINES_ALL, false, COPIES},
           {"ring all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_reduce_binomial = {
    .name = "binomial",
    .scratch = 2,
    .title = "binomial tree: neighbours first",
    .formula = "log2 N (alpha + n/B + gamma n)",
    .source = AR_SOURCE_DOUBLING,
    .operation = &ar_operation_reduce,
    STAGES({"binomial reduce", &block_binomial_broadcast, 0, LINES_ALL, true, SUMS}),
};

const struct ar_algorithm ar_algorithm_reduce_gather = {
    .name = "reducescatter-gather",
    .scratch = 2,
    .title =
        "reduce-scatter by halves, then a binomial gather; other than powers of two are folded",
    .formula =
        "2 log2 N alpha + 2 n/B (N-1)/N + gamma n (N-1)/N, and alpha + n/B + gamma n to fold",
    .source = long_source,
    .operation = &ar_operation_reduce,
    STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
           {"halving", &block_doubling_all_gather, 0, LINES_ALL, true, SUMS},
           {"binomial gather", &block_folded_scatter, 0, LINES_ALL, true, COPIES}),
};

const struct ar_algorithm ar_algorithm_gather_linear = {
    .name = "linear",
    .title = "all messages at once",
    .formula = "alpha + n/B (N-1)/N",
    .source = linear_source,
    .operation = &ar_operation_gather,
    STAGES({"linear gather", &block_linear_scatter, 0, LINES_ALL, true, COPIES}),
};

const struct ar_algorithm ar_algorithm_gather_binomial = {
    .name = "binomial",
    .scratch = 0.5,
    .title = "binomial tree",
    .formula = "log2 N alpha + n/B (N-1)/N",
    .source = AR_SOURCE_DOUBLING,
    .operation = &ar_operation_gather,
    STAGES({"binomial gather", &block_binomial_scatter, 0, LINES_ALL, true, COPIES}),
};

const struct ar_algorithm ar_algorithm_scatter_linear = {
    .name = "linear",
    .title = "all messages at once",
    .formula = "alpha + n/B (N-1)/N",
    .source = linear_source,
    .operation = &ar_operation_scatter,
    STAGES({"linear scatter", &block_linear_scatter, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_scatter_binomial = {
    .name = "binomial",
    .scratch = 0.5,
    .title = "binomial tree",
    .formula = "log2 N alpha + n/B (N-1)/N",
    .source = AR_SOURCE_DOUBLING,
    .operation = &ar_operation_scatter,
    STAGES({"binomial scatter", &block_binomial_scatter, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_send = {
    .name = "message",
    .title = "one message from the root to the rank before it, the last one from rank 0",
    .formula = "alpha + n/B",
    .source = "one message",
    .operation = &ar_operation_send,
    STAGES({"send", &block_send, 0, LINES_ALL, false, COPIES}),
};
