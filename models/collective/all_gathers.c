/* All-gathers, and reduce-scatters, which are most of them backwards. */
#include "algorithms.h"
#include "blocks.h"

static const char neighbour_source[] =
    "Chen et al., Performance evaluation of allgather algorithms on terascale Linux cluster with "
    "fast Ethernet, HPC-Asia (2005)";
static const char direct_source[] = "one message for each pair of ranks";
static const char two_level_source[] = "a reduce-scatter or all-gather in each level of links";

const struct ar_algorithm ar_algorithm_reduce_scatter_ring = {
    .name = "ring",
    .scratch = 1,
    .title = "around all ranks",
    .formula = "(N-1) (alpha + n/(N B)) + gamma n (N-1)/N",
    .source = AR_SOURCE_RING,
    .operation = &ar_operation_reduce_scatter,
    .calls = AR_CALLS_RING,
    STAGES({"ring reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS}),
};

const struct ar_algorithm ar_algorithm_all_gather_ring = {
    .name = "ring",
    .title = "around all ranks",
    .formula = "(N-1) (alpha + n/(N B))",
    .source = AR_SOURCE_RING,
    .operation = &ar_operation_all_gather,
    .calls = AR_CALLS_RING,
    STAGES({"ring all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_reduce_scatter_halving = {
    .name = "recursive-halving",
    .scratch = 2,
    .title = "at distances ..., 4, 2, 1; other than powers of two are folded",
    .formula = "log2 N alpha + n/B (N-1)/N, and 2 alpha + n/B to fold + gamma n (N-1)/N",
    .source = AR_SOURCE_DOUBLING,
    .operation = &ar_operation_reduce_scatter,
    STAGES({"fold", &block_fold, 0, LINES_ALL, false, SUMS},
           {"halving", &block_doubling_all_gather, 0, LINES_ALL, true, SUMS},
           {"unfold", &block_fold_parts, 0, LINES_ALL, true, COPIES}),
};

const struct ar_algorithm ar_algorithm_all_gather_doubling = {
    .name = "recursive-doubling",
    .title = "at distances 1, 2, 4, ...; other than powers of two are folded",
    .formula = "log2 N alpha + n/B (N-1)/N, and 2 alpha + n/B to fold",
    .source = AR_SOURCE_DOUBLING,
    .operation = &ar_operation_all_gather,
    STAGES({"fold", &block_fold_parts, 0, LINES_ALL, false, COPIES},
           {"doubling", &block_doubling_all_gather, 0, LINES_ALL, false, COPIES},
           {"unfold", &block_fold, 0, LINES_ALL, true, COPIES}),
};

const struct ar_algorithm ar_algorithm_reduce_scatter_bruck = {
    .name = "bruck",
    .title = "in log2 N steps for any number of ranks",
    .formula = "log2 N alpha + n/B (N-1)/N + gamma n (N-1)/N",
    .source = AR_SOURCE_BRUCK,
    .operation = &ar_operation_reduce_scatter,
    STAGES({"bruck reduce-scatter", &block_bruck_all_gather, 0, LINES_ALL, true, SUMS}),
};

const struct ar_algorithm ar_algorithm_all_gather_bruck = {
    .name = "bruck",
    .scratch = 0.5,
    .title = "in log2 N steps for any number of ranks",
    .formula = "log2 N alpha + n/B (N-1)/N",
    .source = AR_SOURCE_BRUCK,
    .operation = &ar_operation_all_gather,
    STAGES({"bruck all-gather", &block_bruck_all_gather, 0, LINES_ALL, false, MOVES_ONCE}),
};

const struct ar_algorithm ar_algorithm_reduce_scatter_direct = {
    .name = "direct",
    .title = "all messages at once",
    .formula = "alpha + n/B (N-1)/N + gamma n (N-1)/N",
    .source = direct_source,
    .operation = &ar_operation_reduce_scatter,
    STAGES({"direct reduce-scatter", &block_direct_all_gather, 0, LINES_ALL, true, SUMS}),
};

const struct ar_algorithm ar_algorithm_all_gather_direct = {
    .name = "direct",
    .title = "all messages at once",
    .formula = "alpha + n/B (N-1)/N",
    .source = direct_source,
    .operation = &ar_operation_all_gather,
    STAGES({"direct all-gather", &block_direct_all_gather, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_reduce_scatter_hierarchical = {
    .name = "hierarchical",
    .title = "rings in the groups, then in the network",
    .formula = "(Y-1) (alpha + n/(N B)) + (X-1) (alpha + n/(X B)) + gamma n (N-1)/N",
    .source = two_level_source,
    .operation = &ar_operation_reduce_scatter,
    .shapes = AR_SHAPES_GROUPS,
    STAGES({"group reduce-scatter", &block_ring_reduce_scatter, 0, LINES_ALL, false, SUMS},
           {"column reduce-scatter", &block_ring_reduce_scatter, 1, LINES_ALL, false, SUMS}),
};

const struct ar_algorithm ar_algorithm_all_gather_hierarchical = {
    .name = "hierarchical",
    .title = "rings in the network, then in the groups",
    .formula = "(Y-1) (alpha + n/(N B)) + (X-1) (alpha + n/(X B))",
    .source = two_level_source,
    .operation = &ar_operation_all_gather,
    .shapes = AR_SHAPES_GROUPS,
    STAGES({"column all-gather", &block_ring_all_gather, 1, LINES_ALL, false, COPIES},
           {"group all-gather", &block_ring_all_gather, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_reduce_scatter_neighbour = {
    .name = "neighbour",
    .title = "pairs of neighbours, then to both sides in turn; an even number of ranks",
    .formula = "N/2 alpha + n/B (N-1)/N + gamma n (N-1)/N",
    .source = neighbour_source,
    .operation = &ar_operation_reduce_scatter,
    .shapes = AR_SHAPES_EVEN,
    STAGES({"neighbour reduce-scatter", &block_neighbour_all_gather, 0, LINES_ALL, true, SUMS}),
};

const struct ar_algorithm ar_algorithm_all_gather_neighbour = {
    .name = "neighbour",
    .title = "pairs of neighbours, then to both sides in turn; an even number of ranks",
    .formula = "N/2 alpha + n/B (N-1)/N",
    .source = neighbour_source,
    .operation = &ar_operation_all_gather,
    .shapes = AR_SHAPES_EVEN,
    STAGES({"neighbour all-gather", &block_neighbour_all_gather, 0, LINES_ALL, false, COPIES}),
};
