/** \file ar_scenario.h
 * A scenario: everything that one prediction depends on, typed.
 *
 * Its keys are set one by one (ar_scenario_set()), its inputs are loaded (ar_scenario_load()), and
 * then it is run (ar_kind.h). A key that was not set takes what follows from the inputs: the
 * precision of the trace, the channels of the HCAs of a node, the jitter of the framework.
 *
 * A scenario is a small value: a copy may be changed and loaded again, with another arena too. What
 * it points to lies in the arena of the time or is borrowed from the inputs, and never changes.
 */
#pragma once

#include "ar_arena.h"
#include "ar_inputs.h"
#include "ar_job.h"
#include "ar_key.h"
#include "ar_library_table.h"
#include "ar_runnable.h"
#include "ar_text.h"

/** Where the value of a key stood. */
struct ar_origin {
    const char *where; /**< begins error lines: `--batch`, `a.run.csv:12: batch`; NULL: not set */
    enum ar_status status; /**< of errors of the value: AR_USAGE, or AR_BAD_DATA in a file */
    const char *text;      /**< that was set; ar_scenario_set() copies it */
};

/** The key samples-per-s-at, `B=V`: one GPU was measured to train V samples per second at batch B,
 * alone. All compute times are multiplied by the factor that gives the model this rate there: B
 * over all compute of a step, terms of the framework included, its input limit not.
 *
 * For a workload (a transformer on a mesh) V is the rate of one replica: pp x ep x cp x tp GPUs
 * with B sequences in a step. Its messages are not scaled, so the factor is found by trying. */
struct compute_rate {
    uint32_t batch; /**< 0: none was measured */
    double samples_per_s;
};

/* Compute times times others are those of no GPU: the rate has another unit. */
#define COMPUTE_FACTOR_MIN 1e-3
#define COMPUTE_FACTOR_MAX 1e5

struct ar_scenario {
    struct ar_arena *arena;
    struct ar_inputs *inputs; /**< files that it names, read once (ar_inputs.h) */
    struct ar_origin origins[AR_KEYS_COUNT];

    /* As the keys say, or what follows where they say nothing. */
    const char *cluster_name;
    struct ar_settings settings;
    struct ar_settings slow_links, down_links;
    const struct ar_operation *operation;
    uint32_t gpus;                        /**< of all groups; 0: not set */
    struct ar_mesh mesh;                  /**< without axes: one group */
    const struct ar_algorithm *algorithm; /**< NULL: `auto`, see ar_scenario_settle() */
    struct ar_runner runner;     /**< only what it runs by itself; no library: everything */
    struct ar_shape shape;       /**< of one group; 0 x 0: not set, ar_scenario_load() does */
    bool has_best_shape;         /**< `best`, see ar_scenario_settle() */
    uint32_t root;               /**< its place in each group */
    uint64_t payload_bytes;      /**< of a bare collective; 0: a training step */
    const char *workload_name;   /**< NULL: none */
    struct ar_transformer model; /**< sizes that keys say, 0 where they do not; loaded: all */
    struct ar_layout layout;     /**< as keys say; loaded: all */
    struct ar_async async;       /**< servers, as keys say */
    struct ar_units units;       /**< work units, as keys say */
    const char *operators_name;  /**< NULL: none */
    const char *placement;       /**< `greedy`, `anneal` or a file */
    uint32_t depth, rounds;      /**< of strategies that put parts of a model on workers */
    const char *trace_name;
    uint32_t batch; /**< samples per GPU; 0: the trace's, or 32 */
    enum ar_precision precision;
    struct ar_fusion fusion;
    const char *framework_name;
    struct ar_settings terms;
    struct compute_rate rate;
    double gradient_scale;
    const struct ar_engine *engine;
    enum ar_baseline baseline;
    uint32_t channels;
    uint32_t window;
    const char *release; /**< of the library whose own cost model is meant; NULL: the cluster's */
    double jitter_frac;
    uint32_t iterations_count;
    uint32_t iterations_with_jitter; /**< where that key is not set */
    uint32_t seed;
    const struct ar_straggler *stragglers;
    uint32_t stragglers_count;

    /* Loaded. */
    const struct ar_cluster *cluster;
    const struct ar_library_table *table; /**< fitted; NULL: the cluster has none */
    const struct ar_library
        *constants; /**< NCCL's own; NULL: not loaded, or without library.node_bus */
    const struct ar_machine_factors
        *machines; /**< what others tell of this one; NULL: it is fitted, or nobody tells */
    const struct ar_framework *framework; /**< `none` if none was named */
    const struct ar_trace *trace;         /**< NULL: bare collectives, or a workload */
    const struct ar_device_cost *cost;    /**< of a workload */
    double compute_factor;                /**< of measured rates, in the trace already */
    enum ar_precision wire;               /**< of gradients */
    uint32_t buckets_count;               /**< without cycles, which depend on the ranks */
    const char *settings_text;            /**< the column `settings` */
    const char *choice;                   /**< which shape and algorithm were chosen; NULL: none */
};

/** A scenario in which nothing is set; what is set later lies in `arena`. */
struct ar_scenario ar_scenario_begin(struct ar_arena *arena, struct ar_inputs *inputs);

/** Whether a key was given, or is by a file that was. */
bool ar_scenario_has(const struct ar_scenario *scenario, enum ar_key key);

/** Sets a key, or adds to one that repeats. `origin->where` and, where the value keeps it, `text`
 * are borrowed. An error of the value has the origin's status. Without an origin (NULL) it stood
 * on the command line. */
enum ar_status ar_scenario_set(struct ar_scenario *scenario, enum ar_key key,
                               const struct ar_origin *origin, const char *text,
                               struct ar_error *err);

/** Puts a `KEY=VALUE` among those of AR_KEY_SET or AR_KEY_TERM, in place of one of the same KEY. */
enum ar_status ar_scenario_replace(struct ar_scenario *scenario, enum ar_key key,
                                   const struct ar_origin *origin, const char *text,
                                   struct ar_error *err);

/** Whether two texts `KEY=VALUE` are of the same KEY. */
bool ar_setting_is_same(const char *text, const char *other);

/** The setting of the KEY of `text`; NULL: none. */
const struct ar_setting *ar_settings_find(const struct ar_settings *settings, const char *text);

/** Refuses a value that does not fit the others: `where: ` and the text, with the origin's status.
 * A key that was not set is named as on the command line. */
enum ar_status ar_scenario_refuse(const struct ar_scenario *scenario, enum ar_key key,
                                  struct ar_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define AR_SCENARIO_REFUSE(found, ...) AR_REFUSE_BY(found, ar_scenario_refuse(__VA_ARGS__))

/** A key that must not be set with the strategy, and what is expected in place of it. */
struct ar_key_check {
    bool is_wrong;
    enum ar_key key;
    const char *expected;
};

/** Refuses the first of `count` keys that is wrong. */
enum ar_status ar_scenario_check_strategy(const struct ar_scenario *scenario,
                                          const struct ar_key_check *checks, size_t count,
                                          struct ar_error *err);

/** Refuses a scenario without a key that is needed. */
enum ar_status ar_scenario_require(const struct ar_scenario *scenario, enum ar_key key,
                                   struct ar_error *err);

/** Where the value of a key stood; `--name` if nowhere. */
const char *ar_scenario_where(const struct ar_scenario *scenario, enum ar_key key);

/** Calls ar_scenario_load_cluster(), unless that was done, loads the framework, if AR_KEY_TRACE
 * is set the trace, and works out what no key says. If `gpus` and `algorithm` are set, also the
 * shape, and what cannot run is refused. Objects lie in the scenario's arena or in its inputs. */
enum ar_status ar_scenario_load(struct ar_scenario *scenario, struct ar_error *err);

/** Whether something is drawn, so that seeds give other results; of a loaded scenario. */
bool ar_scenario_draws(const struct ar_scenario *scenario);

/** The part of it that depends on the number of GPUs, which is set. */
enum ar_status ar_scenario_settle_servers(struct ar_scenario *scenario, struct ar_error *err);

/** A cluster of one's own with the settings and the changed links, in the scenario's arena. */
enum ar_status ar_scenario_make_cluster(const struct ar_scenario *scenario,
                                        struct ar_cluster **made, struct ar_error *err);

/** The cluster alone, and its library if one is named or the engine times its calls. */
enum ar_status ar_scenario_load_cluster(struct ar_scenario *scenario, struct ar_error *err);

/** Loads what the cluster names of its library: the fitted table and NCCL's own constants. */
enum ar_status ar_scenario_load_library(struct ar_scenario *scenario, struct ar_error *err);

/** Lets the engine of a library predict a machine that nothing is fitted to by what others tell, if
 * the release of its library and its GPUs are known. */
enum ar_status ar_scenario_ask_machines(struct ar_scenario *scenario, struct ar_error *err);

/** Seconds that a step takes at least: the layers of the fullest stage, computed. 0: not a
 * transformer, nothing is known. */
double ar_scenario_least_s(const struct ar_scenario *scenario);

/** As ar_scenario_check(), but first chooses the fastest shape (`best`) and, where the engine
 * leaves none to a library, the fastest algorithm (`auto`): all of them in all shapes that a sweep
 * has are run. Without trace and payload the choice is left to a later call. Part of
 * ar_scenario_load(). */
enum ar_status ar_scenario_settle(struct ar_scenario *scenario, struct ar_error *err);

/** The mesh, if there is one, says how many GPUs there are. */
enum ar_status ar_scenario_take_mesh(struct ar_scenario *scenario, struct ar_error *err);

/** Refuses more GPUs than the cluster has, a shape of another number than a group's, a root that no
 * group has, and stragglers that are not among the GPUs. */
enum ar_status ar_scenario_check_gpus(const struct ar_scenario *scenario, struct ar_error *err);

/** Refuses a payload that is not of whole elements. */
enum ar_status ar_scenario_check_payload(const struct ar_scenario *scenario, struct ar_error *err);

/** Refuses an algorithm that the library of --runnable-by does not run. */
enum ar_status ar_scenario_check_runner(const struct ar_scenario *scenario,
                                        const struct ar_algorithm *algorithm, struct ar_error *err);

/** Refuses an algorithm, a shape and stragglers that the cluster cannot run; not by engine. */
enum ar_status ar_scenario_check_runs(const struct ar_scenario *scenario, struct ar_error *err);

/** Checks `gpus`, and fills in the shape if it is not set; refuses what the engine cannot run. */
enum ar_status ar_scenario_check(struct ar_scenario *scenario, struct ar_error *err);

/** Groups in which a collective runs at once, and the ranks of each. */
uint32_t ar_scenario_groups(const struct ar_scenario *scenario);
uint32_t ar_scenario_group_ranks(const struct ar_scenario *scenario);

/** GPUs of a group that share a node, or, if switches sum, an NVLink domain: those of the groups in
 * two-level shapes. */
uint32_t ar_scenario_node_members(const struct ar_scenario *scenario,
                                  const struct ar_algorithm *algorithm);

/** Where the ranks of a group are; on nodes of several before the cluster is loaded. */
enum ar_spread ar_scenario_spread(const struct ar_scenario *scenario,
                                  const struct ar_algorithm *algorithm);

/** The shape of an algorithm if nobody names one. */
struct ar_shape ar_scenario_default_shape(const struct ar_scenario *scenario,
                                          const struct ar_algorithm *algorithm);

/** The fitted library, and that of the engine (ar_engine_pick_library()): fitted, by what other
 * machines tell or NCCL's own; NULL if there is none. */
static inline const struct ar_library *ar_scenario_fitted(const struct ar_scenario *scenario)
{
    return scenario->table != NULL ? &scenario->table->library : NULL;
}

static inline const struct ar_library *ar_scenario_library(const struct ar_scenario *scenario)
{
    return ar_engine_pick_library(scenario->engine,
                                  scenario->machines == NULL ? ar_scenario_fitted(scenario)
                                                             : scenario->constants,
                                  scenario->constants);
}

/** Whether ranks of a step differ, if only in when they begin the second one. */
static inline bool ar_scenario_is_uneven(const struct ar_scenario *scenario)
{
    return scenario->jitter_frac > 0 || scenario->stragglers_count > 0 ||
           scenario->iterations_count > 1;
}

/** The collective. */
struct ar_collective ar_scenario_collective(const struct ar_scenario *scenario);

/** Bytes of an element of a trace's gradients as they are fused: Horovod fuses what is compressed
 * already, DDP's hooks compress whole buckets; what is wider on the wire is so in memory. */
double ar_scenario_fused_bytes(const struct ar_scenario *scenario);

/** Adds the values of all keys that a prediction depends on to a hash (ar_numbers.h), and what was
 * loaded; not the algorithm, the shape, the payload and the engine. */
void ar_scenario_hash(const struct ar_scenario *scenario, uint64_t *hash);
