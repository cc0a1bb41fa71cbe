/** \file variants.h
 * The axes of a sweep besides GPU counts, algorithms, shapes and payloads, and its variants: every
 * combination of the values of the axes.
 *
 * `--batch`, `--precision`, `--gradient-scale`, `--bucket`, `--channels`, `--window`, `--engine`,
 * `--jitter`, `--seed`, `--cluster` and `--set KEY=` take a list (lists.h; ranges where the values
 * are counts or sizes). A variant is a number that says which value of which axis. The last axis
 * varies fastest; settings of the cluster come first. A value of `--set` is split at its commas
 * unless the cluster takes it as it is: a description may hold commas, a rate may not. Layouts have
 * other axes (those of their `sweep_kind`), and the meshes of some numbers of GPUs as the first
 * one.
 *
 * The scenario of a variant is made when it is asked for. The last one and its cluster stay in
 * memory; files are read once.
 */
#pragma once

#include <stdint.h>

#include "ar_scenario.h"

enum { AXES_MAX = 64 + AR_KEYS_COUNT };

struct axis {
    const char *name; /**< `batch`, `hca.bandwidth` */
    enum ar_key key;
    size_t setting; /**< of AR_KEY_SET: which of the settings */
    const char **values;
    size_t count;
};

struct space;

/** A kind of sweep: its axes, and how its rows are ordered. */
struct sweep_kind {
    const char *items_name;  /**< for messages: `points` */
    const char *file;        /**< of its rows, in the directory of a sweep */
    const enum ar_key *axes; /**< keys that may be lists; AR_KEYS_COUNT ends them */
    bool is_ranked;          /**< rows come by number of GPUs, the fastest first */
    enum ar_status (*add_points)(struct space *space, struct ar_error *err);
};

/** Steps of a trace and collectives, by algorithm and shape; layouts, a variant each. */
extern const struct sweep_kind sweep_of_points, sweep_of_layouts;

/** Keys of layouts that say which job is asked about; each of their values has a fastest layout. */
extern const enum ar_key layout_conditions[];

/** A key of layouts that --mesh all with --best varies where it is not given, and its values, the
 * likeliest to be fast first. NULL ends the list. */
struct planned_key {
    enum ar_key key;
    const char *values;
};
extern const struct planned_key planned_keys[];

/** A sweep as it was asked for; lists are texts as in lists.h. */
struct space_request {
    const struct sweep_kind *kind;
    struct axis first;                /**< the first axis, of layouts: meshes, or numbers of GPUs;
                                           without values there is none */
    const char *lists[AR_KEYS_COUNT]; /**< of keys that are axes; NULL: not given */
    struct ar_settings settings;      /**< of the cluster that may be lists; none: as in the base */
    struct ar_scenario base;          /**< keys that are no axes */
    const char *operations;           /**< of bare collectives; NULL: all-reduce */
    const char *gpus; /**< NULL: those of the mesh; of layouts they are the first axis */
    const char *algorithms;
    const char *shapes;
    const char *payloads; /**< of bare collectives: without a trace all points, with one all-reduces
                               beside the steps; NULL: none */
    /** Planned keys are chosen by the program: variants that differ in them alone are a group, of
     * which the first one that fits is a point. Within a range of `refined`, a group has `group`
     * variants; the last range that holds a variant decides. */
    bool is_planned;
    struct refined {
        uint32_t begin, end, group;
    } * refined;
    size_t refined_count;
    /** Layouts of a number of GPUs and a condition that compute longer are no points of a plan. */
    struct limit {
        uint64_t gpus;
        uint32_t condition;
        double most_s;
    } * limits;
    size_t limits_count;
    FILE *notes; /**< where points that are left out are said (ar_row.h) */
};

/** A scenario that is in memory. */
struct variant_slot {
    struct ar_arena arena;
    struct ar_scenario scenario;
    uint32_t number; /**< UINT32_MAX: nothing yet */
};

struct variants {
    const struct space_request *request;
    struct axis axes[AXES_MAX];
    size_t axes_count;
    uint32_t count;
    struct ar_arena arena;       /**< of the axes */
    struct variant_slot cluster; /**< the last one; its number is that of its axes alone */
    struct variant_slot loaded;  /**< the variant that was asked for last */
};

/** Reads the axes; errors are AR_USAGE. Freed with variants_destroy(), also after a failure. The
 * request is borrowed. */
enum ar_status variants_create(const struct space_request *request, struct variants *variants,
                               struct ar_error *err);
void variants_destroy(struct variants *variants);

/** Whether some keys, which AR_KEYS_COUNT ends, have this one among them. */
bool keys_have(const enum ar_key *keys, enum ar_key key);

/** Whether the text of a key has several values: a comma, or a range of counts or sizes. */
bool key_is_list(enum ar_key key, const char *text);

/** Appends a value to an axis. */
void axis_append(struct ar_arena *arena, struct axis *axis, const char *value);

/** The scenario of a variant, loaded, without GPUs and algorithm; valid until the next call. */
enum ar_status variants_scenario(struct variants *variants, uint32_t variant,
                                 const struct ar_scenario **scenario, struct ar_error *err);

/** The same with its cluster alone: of the rest what was set. */
enum ar_status variants_cluster(struct variants *variants, uint32_t variant,
                                const struct ar_scenario **scenario, struct ar_error *err);

/** The value of an axis in a variant. */
const char *variants_value(const struct variants *variants, size_t axis, uint32_t variant);

/** Says whether the bare all-reduces of a variant only repeat those of another one: it has another
 * value of an axis that they do not react to. */
bool variants_repeats_bare(const struct variants *variants, uint32_t variant);

/** The place of its seed among those of the axis; 0: the first one, or there is no such axis. */
size_t variants_seed(const struct variants *variants, uint32_t variant);

/** Numbers the combinations of conditions: two variants have the same number if they differ only in
 * choices, layouts if they differ in no key of layout_conditions. At most as many as variants. */
uint32_t variants_condition(const struct variants *variants, uint32_t variant);
