/** \file link_table.h
 * The links that an all-reduce uses, busiest first: a table for people, CSV and JSON.
 *
 * A link of bandwidth B that carries b bytes is busy for b / B, whatever the engine. Its busy
 * fraction is that over the time in which the communication stream is busy (`allreduce_s` of a
 * row), which is the engine's.
 */
#ifndef AR_LINK_TABLE_H
#define AR_LINK_TABLE_H

#include "ar_link_load.h"
#include "ar_row.h"
#include "ar_trial.h"

struct link_line {
    uint32_t link;
    struct ar_link_load load;
    double bandwidth_Bps;
    double busy_s; /**< bytes / bandwidth */
};

/** The links that carry messages. */
struct link_table {
    const struct ar_cluster *cluster;
    size_t lines_count;
    struct link_line *lines; /**< busiest first, then by number */
};

/** Makes the table of the loads of all links of a cluster; freed with link_table_destroy(). */
enum ar_status link_table_create(const struct ar_cluster *cluster, const struct ar_link_load *loads,
                                 struct link_table *table, struct ar_error *err);
void link_table_destroy(struct link_table *table);

/** Writes the table for the rows, one for each engine that timed the same all-reduces: what the
 * bottleneck is, then the busiest `top` links. */
void link_table_write(FILE *file, const struct link_table *table, const struct ar_row *rows,
                      size_t rows_count, uint64_t top);

/** Writes all links of each row; the columns explain themselves. */
void link_table_write_csv(FILE *file, const struct link_table *table, const struct ar_row *rows,
                          size_t rows_count);
void link_table_write_json(FILE *file, const struct link_table *table, const struct ar_row *rows,
                           size_t rows_count);

#endif
