/* Collectives in which switches sum, or multicast. */
#include "algorithms.h"
#include "blocks.h"

static const char one_switch_help[] = "Nx1 (one switch joins all ranks)";
static const char nvlink_source[] =
    "Klenk et al., An in-network architecture for accelerating shared-memory multiprocessor "
    "collectives, ISCA (2020)";
static const char network_source[] =
    "Graham et al., Scalable hierarchical aggregation protocol (SHArP), COMHPC (2016)";

/* NVLink switches sum rows, each GPU has the sum of a part, which the switches of the network add
 * up; NVLink switches hand all to all. One row or one column is one level. */
const struct ar_algorithm ar_algorithm_in_network = {
    .name = "in-network",
    .title = "switches sum: those of NVLinks in rows, those of the network in columns; 8 parts",
    .formula = "2 alpha + alpha + n/(8 B) (2 + 1/X) + 7/8 max(n/B (1 + 1/X), n/(X B)); one row: "
               "without the network, one column: alpha + n/B",
    .source = network_source,
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_GROUPS,
    .wants_sums = true,
    .pipeline_parts = 8,
    STAGES({"row reduce-scatter", &block_sums_reduce_scatter, 0, LINES_ALL, false, COPIES},
           {"column all-reduce", &block_sums_all_reduce, 1, LINES_ALL, false, COPIES},
           {"row all-gather", &block_sums_reduce_scatter, 0, LINES_ALL, true, COPIES}),
};

/* Where NVLink switches do not sum. */
const struct ar_algorithm ar_algorithm_collnet_direct = {
    .name = "collnet-direct",
    .title = "direct reduce-scatter in groups, the network sums columns, direct all-gather",
    .formula = "3 alpha + 2 n/B (X-1)/X + n/(X B) + gamma n (X-1)/X",
    .source = network_source,
    .operation = &ar_operation_all_reduce,
    .shapes = AR_SHAPES_GROUPS,
    .wants_sums = true,
    STAGES({"group reduce-scatter", &block_direct_all_gather, 0, LINES_ALL, true, SUMS},
           {"column all-reduce", &block_sums_all_reduce, 1, LINES_ALL, false, COPIES},
           {"group all-gather", &block_direct_all_gather, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_reduce_scatter_in_network = {
    .name = "in-network",
    .title = "the switch sums, each rank gets its part",
    .formula = "alpha + n/B",
    .source = nvlink_source,
    .shape_help = one_switch_help,
    .operation = &ar_operation_reduce_scatter,
    .wants_sums = true,
    STAGES({"reduce-scatter by a switch", &block_sums_reduce_scatter, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_all_gather_in_network = {
    .name = "in-network",
    .title = "each rank sends its part once, the switch multicasts it",
    .formula = "alpha + n/B",
    .source = nvlink_source,
    .shape_help = one_switch_help,
    .operation = &ar_operation_all_gather,
    .wants_sums = true,
    STAGES({"all-gather by a switch", &block_sums_reduce_scatter, 0, LINES_ALL, true, COPIES}),
};

const struct ar_algorithm ar_algorithm_broadcast_in_network = {
    .name = "in-network",
    .title = "the root sends all once, the switch multicasts it",
    .formula = "alpha + n/B",
    .source = nvlink_source,
    .shape_help = one_switch_help,
    .operation = &ar_operation_broadcast,
    .wants_sums = true,
    STAGES({"multicast", &block_sums_broadcast, 0, LINES_ALL, false, COPIES}),
};

const struct ar_algorithm ar_algorithm_reduce_in_network = {
    .name = "in-network",
    .title = "the switch sums, the root gets it",
    .formula = "alpha + n/B",
    .source = nvlink_source,
    .shape_help = one_switch_help,
    .operation = &ar_operation_reduce,
    .wants_sums = true,
    STAGES({"reduce by a switch", &block_sums_reduce, 0, LINES_ALL, false, COPIES}),
};
