/** \file ar_library_table.h
 * The file of a fitted library: `NAME.library.csv`.
 *
 * Lines that begin with `#` say where the table comes from. Those of the form `# key: value` below
 * are read back, all others are for people:
 *
 *     format           version of this format, 2
 *     tuning           NCCL's own table that makes the choice: `nccl-2.5.6`; 2.8.4 without it
 *     node_bus_Bps     its rate in a node
 *     net_bus_Bps      across the network; 0 where there is none
 *     channels         its rings; 4 without it
 *     node_links       `nvlink`, `nvswitch`, or `pcie`, where a node has no NVLink; nvlink without
 *                      it
 *     hcas             of a node; 0 or without it: not known
 *     gpu_generation   `volta` and so on, volta without it
 *     cpu_vendor       `intel`, `amd` or `other`; intel without it
 *     near_hcas        yes where HCAs hang on the switches of their GPUs; no without it
 *     collnet          yes where the network sums (library.collnet); no without it
 *     net_latency_s    of the network's plug-in (library.net_latency); 0 without it
 *     residual_frac    spread of the measurements around the model
 *     rows             measurements that were fitted
 *     fitted_nodes     node counts, separated by spaces
 *     held_out_nodes   the same; may be empty
 *     fitted_operations  commands of the calls that were fitted; without it nobody knows
 *     row              one that was fitted, all of them or none: command, what it left to the
 *                      library (a number of enum ar_calls), nodes, ranks, bytes, seconds
 *
 * Then a CSV table with a row for each parameter of ar_library_fit.h, in any order, and the
 * columns parameter, value, unit, relative_standard_error, identified (yes or no), prior,
 * prior_source, and one `covariance.PARAMETER` for each parameter: the covariance of the logarithms
 * of the values. Numbers have all their digits: a table that is read predicts what was fitted.
 */
#pragma once

#include <stdio.h>

#include "ar_arena.h"
#include "ar_library_fit.h"

enum { AR_LIBRARY_NODES_MAX = 64 };

/** Node counts, ascending. */
struct ar_library_nodes {
    uint32_t counts[AR_LIBRARY_NODES_MAX];
    size_t count;
};

/** A fitted library and what it was fitted to. */
struct ar_library_table {
    struct ar_library library;
    struct ar_library_nodes fitted;
    struct ar_library_nodes held_out;
};

/** Writes a table; `comments` become comment lines below those that are read back. Write errors are
 * left in `file` for ferror(). */
void ar_library_table_write(const struct ar_library_table *table, const char *const *comments,
                            size_t comments_count, FILE *file);

/** Reads a table; the arena gets its rows. AR_NO_INPUT for a file that cannot be read, AR_BAD_DATA
 * for its content: a key, parameter or column that is missing or not known, a unit that is not the
 * parameter's, values that are not above zero. */
enum ar_status ar_library_table_read(const char *path, struct ar_arena *arena,
                                     struct ar_library_table *table, struct ar_error *err);

/** Whether a list has a node count. */
bool ar_library_nodes_have(const struct ar_library_nodes *nodes, uint32_t count);

/** The counts with blanks between them; returns `text`. */
enum { AR_LIBRARY_NODES_TEXT = 11 * AR_LIBRARY_NODES_MAX + 1 };
const char *ar_library_nodes_format(const struct ar_library_nodes *nodes,
                                    char text[AR_LIBRARY_NODES_TEXT]);

/** Adds a node count in its place, once; AR_BAD_DATA if there are too many. */
enum ar_status ar_library_nodes_add(struct ar_library_nodes *nodes, uint32_t count,
                                    struct ar_error *err);
