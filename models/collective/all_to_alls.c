/* All-to-alls. */
#include "algorithms.h"
#include "blocks.h"

const struct ar_algorithm ar_algorithm_all_to_all_linear = {
    .name = "linear",
    .title = "all messages at once",
    .formula = "alpha + n/B (N-1)/N",
    .source = "one message for each pair of ranks, as grouped sends of NCCL",
    .operation = &ar_operation_all_to_all,
    STAGES({"linear all-to-all", &block_linear_all_to_all, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_all_to_all_pairwise = {
    .name = "pairwise",
    .title = "step by step: in step k to the k-th next rank",
    .formula = "(N-1) (alpha + n/(N B))",
    .source = AR_SOURCE_DOUBLING,
    .operation = &ar_operation_all_to_all,
    STAGES({"pairwise all-to-all", &block_pairwise_all_to_all, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_all_to_all_bruck = {
    .name = "bruck",
    .scratch = 1,
    .title = "in log2 N steps, in each about half of the buffer",
    .formula = "log2 N (alpha + n/(2 B))",
    .source = AR_SOURCE_BRUCK,
    .operation = &ar_operation_all_to_all,
    STAGES({"bruck all-to-all", &block_bruck_all_to_all, 0, LINES_ALL, false, MOVES_TWICE}),
};

const struct ar_algorithm ar_algorithm_all_to_all_two_level = {
    .name = "two-level",
    .title = "pairwise in the groups, to the member of the same number, then between groups",
    .formula = "(X-1) (alpha + n/(X B)) + (Y-1) (alpha + n/(Y B))",
    .source = "messages gathered in a node first, as NCCL does with PXN",
    .operation = &ar_operation_all_to_all,
    .shapes = AR_SHAPES_GROUPS,
    STAGES({"group all-to-all", &block_pairwise_all_to_all, 0, LINES_WHOLE, false, COPIES},
           {"column all-to-all", &block_pairwise_all_to_all, 1, LINES_STRIPES, false, COPIES}),
};
