/** \file plan.h
 * What allreduce, predict, sweep and explain share: cluster, trace and settings of a command line,
 * and the points to run with them.
 */
#ifndef AR_PLAN_H
#define AR_PLAN_H

#include "ar_row.h"
#include "options.h"

/** One row to compute. */
struct point {
    const struct ar_algorithm *algorithm;
    struct ar_shape shape;
    uint64_t payload_bytes;         /**< bare all-reduce; 0: a training step */
    const struct ar_engine *engine; /**< set by plan_choose_engines() */
};

struct plan {
    struct ar_cluster *cluster;
    struct ar_trace *trace; /**< NULL: bare all-reduces only */
    struct ar_fusion fusion;
    uint32_t buckets_count;
    const struct ar_engine *engine; /**< NULL: auto */
    enum ar_baseline baseline;
    enum ar_precision precision;
    uint32_t channels;
    uint32_t window;
    char settings[AR_ROW_TEXT];
};

/** Reads the cluster, the trace if `has_trace`, and the common options. Freed with plan_destroy().
 */
enum ar_status plan_create(const struct options *options, bool has_trace, struct plan *plan,
                           struct ar_error *err);
void plan_destroy(struct plan *plan);

/** The single point of allreduce, predict and explain: `--gpus`, `--algorithm`, `--shape`. */
enum ar_status plan_point(const struct plan *plan, const struct options *options,
                          struct point *point, struct ar_error *err);

struct ar_collective plan_collective(const struct plan *plan, const struct point *point);

/** Messages of a point, all buckets; what its simulation costs. */
uint64_t plan_messages(const struct plan *plan, const struct point *point);

/** Gives every point its engine. `auto` takes simgrid for a GPU count if all points of that count
 * have at most 5 million messages, else closed for all of them: rows that are compared with each
 * other come from one engine. Returns how many points auto gave to closed. */
size_t plan_choose_engines(const struct plan *plan, struct point *points, size_t count);

/** The step of a point, ready to run. */
struct ar_step plan_step(const struct plan *plan, const struct point *point);

/** Computes a row. On failure the row has the parameters and the error as its status. */
enum ar_status plan_run(const struct plan *plan, const struct point *point, struct ar_row *row,
                        struct ar_error *err);

/** Says on stderr what a reader of the rows should know, unless `--quiet`. */
void plan_note(const struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
