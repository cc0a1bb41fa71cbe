/** \file link_table.h
 * The links that an all-reduce uses, busiest first: a table for people, CSV and JSON.
 *
 * A link of bandwidth B that carries b bytes is busy for b / B, whatever the engine. Its busy
 * fraction is that over the time in which the communication stream is busy (`allreduce_s` of a
 * row), which is the engine's.
 */
#ifndef AR_LINK_TABLE_H
#define AR_LINK_TABLE_H

#include "ar_arena.h"
#include "ar_link_load.h"
#include "ar_row.h"

enum { LINK_TABLE_ROWS_MAX = 4 };

/** Writes the links that carry some of `loads`, of all links of a cluster, for up to
 * LINK_TABLE_ROWS_MAX rows, one for each engine that timed the same all-reduces. A table is what
 * the bottleneck is, then the busiest `top` links; CSV and JSON are all links of each row, and
 * their columns explain themselves. */
void link_table_write(FILE *file, const struct ar_view *view, const struct ar_cluster *cluster,
                      const struct ar_link_load *loads, const struct ar_row *rows,
                      size_t rows_count, uint64_t top, struct ar_arena *arena);

#endif
