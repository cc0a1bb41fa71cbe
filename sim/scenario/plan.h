/** \file plan.h
 * What allreduce, predict, sweep, explain, links and export share: cluster, trace and settings of a
 * command line, and the points to run with them.
 */
#ifndef AR_PLAN_H
#define AR_PLAN_H

#include "ar_library_table.h"
#include "ar_row.h"
#include "ar_step.h"
#include "options.h"

/** One row to compute. */
struct point {
    const struct ar_algorithm *algorithm;
    struct ar_shape shape;
    uint64_t payload_bytes; /**< bare all-reduce; 0: a training step */
    const struct ar_engine *engine;
    uint32_t variant; /**< of a sweep (axes.h), else 0 */
    float cost_s;     /**< estimated (cost.h), of a sweep, else 0 */
};

struct plan {
    struct ar_cluster *cluster;
    struct ar_trace *trace;           /**< NULL: bare all-reduces only */
    struct ar_library_table *library; /**< NULL: the cluster has no fitted one */
    double gradient_scale;            /**< of the trace, see ar_trace_scale_gradients() */
    struct ar_library *constants;     /**< NCCL's own; NULL: the cluster has no library.node_bus */
    struct ar_framework *framework;   /**< `none` if none was named */
    double compute_factor;            /**< of --images-per-s-at, in the trace already */
    struct ar_fusion fusion;
    uint32_t buckets_count; /**< without cycles, see plan_buckets() */
    const struct ar_engine *engine;
    enum ar_baseline baseline;
    enum ar_precision precision;
    enum ar_precision wire; /**< of gradients */
    uint32_t channels;
    uint32_t window;
    double jitter_frac;
    uint64_t seed;
    uint32_t iterations_count;
    struct ar_straggler stragglers[SETTINGS_MAX];
    uint32_t stragglers_count;
    char settings[AR_ROW_TEXT];
};

/** Reads the cluster, the trace if `has_trace`, and the common options. Freed with plan_destroy().
 */
enum ar_status plan_create(const struct options *options, bool has_trace, struct plan *plan,
                           struct ar_error *err);
void plan_destroy(struct plan *plan);

/** Loads `--cluster` with `--set`, `--slow-link` and `--down-link`; freed with
 * ar_cluster_destroy().
 */
enum ar_status plan_load_cluster(const struct options *options, struct ar_cluster **cluster,
                                 struct ar_error *err);

/** Reads the cost table that a cluster of the command line names; NULL if it names none. It lies
 * beside the cluster file or is a shipped one. Owned by the caller (free). */
enum ar_status plan_load_library(const struct options *options, const struct ar_cluster *cluster,
                                 struct ar_library_table **library, struct ar_error *err);

/** Refuses an engine without messages, for commands that are about them. */
enum ar_status plan_check_messages(const struct plan *plan, const char *command,
                                   struct ar_error *err);

/** Says on stderr, for the engine library, if points are beyond what was measured and if options
 * were given that it does not react to. */
void plan_note_library(const struct plan *plan, const struct options *options,
                       const struct point *points, size_t count);

/** Parses what makes ranks and steps differ: `--jitter`, `--seed`, `--iterations`, `--straggler`.
 */
enum ar_status plan_parse_uneven(const struct options *options, struct plan *plan,
                                 struct ar_error *err);

/** Refuses a straggler that is not among `gpus` ranks. */
enum ar_status plan_check_stragglers(const struct plan *plan, uint32_t gpus, struct ar_error *err);

/** Reads `--framework` and `--term`; owned by the caller (free). */
enum ar_status plan_load_framework(const struct options *options, struct ar_framework **framework,
                                   struct ar_error *err);

/** Says on stderr which terms change nothing. The plan has a trace. */
void plan_note_framework(const struct plan *plan, const struct options *options);

/** Reads the trace into a plan that has a cluster and a framework, with what the framework and
 * `--images-per-s-at` do to its times. */
enum ar_status plan_load_trace(const struct options *options, struct plan *plan,
                               struct ar_error *err);

/** Makes a plan with the files of `base`, which it does not outlive, and the other options parsed
 * anew: all but `--cluster`, `--set`, `--trace`, `--batch`, `--precision`, `--gradient-scale` and
 * what says how the times of the trace are changed may differ. It has nothing to free. */
enum ar_status plan_vary(const struct options *options, const struct plan *base, struct plan *plan,
                         struct ar_error *err);

/** Writes `--set`, `--slow-link`, `--down-link`, `--straggler`, `--term` and `--images-per-s-at` as
 * one text, for the rows; it is refused if it is too long. */
enum ar_status plan_join_settings(const struct options *options, char settings[AR_ROW_TEXT],
                                  struct ar_error *err);

/** Parses `--gpus` of a single point: from 1 to all that the cluster has. */
enum ar_status plan_gpus(const struct ar_cluster *cluster, const char *text, uint32_t *gpus,
                         struct ar_error *err);

/** Parses `--payload`: sizes of whole elements; owned by the caller (free). */
enum ar_status plan_payloads(const struct plan *plan, const char *text, uint64_t **sizes,
                             size_t *count, struct ar_error *err);

/** The single point of allreduce, predict and explain: `--gpus`, `--algorithm`, `--shape`. */
enum ar_status plan_point(const struct plan *plan, const struct options *options,
                          struct point *point, struct ar_error *err);

/** Makes NCCL's own cost model of a plan; NULL where the cluster has no `library.node_bus`. */
enum ar_status plan_load_constants(const struct options *options, struct plan *plan,
                                   struct ar_error *err);

/** The fitted library of a plan, NULL if there is none. */
static inline const struct ar_library *plan_fitted(const struct plan *plan)
{
    return plan->library != NULL ? &plan->library->library : NULL;
}

/** The library of a plan's engine, fitted or NCCL's own; NULL if there is none. */
static inline const struct ar_library *plan_library(const struct plan *plan)
{
    if (plan->engine != NULL && plan->engine->needs_library && !plan->engine->is_fitted) {
        return plan->constants;
    }
    return plan_fitted(plan);
}

struct ar_collective plan_collective(const struct plan *plan, const struct point *point);

/** The buckets of a point's step, without the slowdown of contention, and how many there are; 1 for
 * a bare all-reduce. The workload is owned by the caller, freed with ar_workload_destroy(). */
enum ar_status plan_workload(const struct plan *plan, const struct point *point,
                             struct ar_workload **workload, struct ar_error *err);
uint32_t plan_buckets(const struct plan *plan, const struct point *point);

/** Messages of a point, all buckets; what its simulation costs. */
uint64_t plan_messages(const struct plan *plan, const struct point *point);

/** Says on stderr if points that are run one after the other take long. */
void plan_begin(const struct plan *plan, const struct options *options, const struct point *points,
                size_t count);

/** The step of a point, ready to run. */
struct ar_step plan_step(const struct plan *plan, const struct point *point);

/** Fills in the parameters of a row; there are no results yet. */
void plan_row(const struct plan *plan, const struct point *point, struct ar_row *row);

/** Computes a row. On failure the row has the parameters and the error as its status. */
enum ar_status plan_run(const struct plan *plan, const struct point *point, struct ar_row *row,
                        struct ar_error *err);

enum { PLAN_CHECKED_ROWS = 2 };

/** Computes the row of a point and, for `--check`, one by the other engine: the simulation, or if
 * the point has that the recurrence. They go to `rows` from `*rows_count` on, which counts up. */
enum ar_status plan_run_checked(const struct options *options, const struct plan *plan,
                                struct point point, struct ar_row *rows, size_t *rows_count,
                                struct ar_error *err);

/** Runs the step of a point, which is plan_step() with or without a timeline, and fills the row. On
 * success the step is freed with ar_step_destroy(). */
enum ar_status plan_run_step(const struct plan *plan, const struct point *point,
                             struct ar_step *step, struct ar_row *row, struct ar_error *err);

/** Says on stderr what all points have in common, the baseline of efficiency among it. */
void plan_describe(const struct plan *plan, const struct options *options, size_t points_count);

/** Says on stderr how many rows their engine calls approximate, if any. */
void plan_note_estimates(const struct options *options, const struct ar_row *rows, size_t count);
void plan_note_estimates_count(const struct options *options, size_t estimates, size_t count);

/** Says on stderr what a reader of the rows should know, unless `--quiet`. */
void plan_note(const struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
