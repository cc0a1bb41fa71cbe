/** \file ar_key.h
 * The keys of a scenario: one table of what a prediction can be asked with.
 *
 * A key has a name, says how its text is parsed and its value printed, and where it may stand. The
 * command line (`--batch 32`), run files (`# batch = 32`), columns and ranges of published runs,
 * the axes of a sweep, the column `settings` of a row and the fingerprint of a journal read this
 * table; a new parameter is a row here, a field of the scenario, and what reacts to it. Names have
 * dashes; in files underscores stand for them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ar_error.h"

struct ar_scenario;
struct ar_origin;

/** In the order in which they are listed and set: algorithms are of an operation, axes of a mesh.
 * Settings of a row stand in this order among them. */
enum ar_key {
    AR_KEY_CLUSTER,
    AR_KEY_SET,
    AR_KEY_SLOW_LINK,
    AR_KEY_DOWN_LINK,
    AR_KEY_OPERATION,
    AR_KEY_GPUS,
    AR_KEY_MESH,
    AR_KEY_ALONG,
    AR_KEY_ALGORITHM,
    AR_KEY_SHAPE,
    AR_KEY_RUNNABLE_BY,
    AR_KEY_ROOT,
    AR_KEY_PAYLOAD,
    AR_KEY_TRACE,
    AR_KEY_WORKLOAD,
    AR_KEY_LAYERS,
    AR_KEY_HIDDEN,
    AR_KEY_HEADS,
    AR_KEY_KV_HEADS,
    AR_KEY_FFN,
    AR_KEY_SEQ,
    AR_KEY_VOCAB,
    AR_KEY_EXPERTS,
    AR_KEY_TOP_K,
    AR_KEY_LORA,
    AR_KEY_IMBALANCE,
    AR_KEY_GLOBAL_BATCH,
    AR_KEY_MICRO_BATCH,
    AR_KEY_STRATEGY,
    AR_KEY_SERVERS,
    AR_KEY_SERVERS_AT,
    AR_KEY_WORKER,
    AR_KEY_PUSH_EVERY,
    AR_KEY_PULL,
    AR_KEY_UNITS,
    AR_KEY_BACKUPS,
    AR_KEY_TAIL,
    AR_KEY_SCHEDULE,
    AR_KEY_RECOMPUTE,
    AR_KEY_OFFLOAD,
    AR_KEY_SEQUENCE_PARALLEL,
    AR_KEY_ATTENTION,
    AR_KEY_OVERLAP,
    AR_KEY_OVERLAP_TENSOR,
    AR_KEY_OVERLAP_EXPERTS,
    AR_KEY_DISPATCHER,
    AR_KEY_OVERLAP_GATHER,
    AR_KEY_OVERLAP_PIPELINE,
    AR_KEY_PREFETCH,
    AR_KEY_OPERATORS,
    AR_KEY_PLACEMENT,
    AR_KEY_DEPTH,
    AR_KEY_ROUNDS,
    AR_KEY_GRADIENTS,
    AR_KEY_SPARSE,
    AR_KEY_BATCH,
    AR_KEY_PRECISION,
    AR_KEY_BUCKET,
    AR_KEY_STRAGGLER,
    AR_KEY_FRAMEWORK,
    AR_KEY_TERM,
    AR_KEY_SAMPLES_PER_S_AT,
    AR_KEY_GRADIENT_SCALE,
    AR_KEY_ENGINE,
    AR_KEY_BASELINE,
    AR_KEY_CHANNELS,
    AR_KEY_WINDOW,
    AR_KEY_TUNING,
    AR_KEY_JITTER,
    AR_KEY_ITERATIONS,
    AR_KEY_SEED,
    AR_KEYS_COUNT
};

/** Where a key may stand, and what it is. */
enum ar_key_use {
    AR_KEY_OF_CLUSTER = 1,    /**< it changes the machine, not what runs on it */
    AR_KEY_OF_COLLECTIVE = 2, /**< bare collectives and training steps react to it */
    AR_KEY_OF_STEP = 4,       /**< training steps of traces */
    AR_KEY_IN_RUN = 8,        /**< a line of a run file */
    AR_KEY_IN_PUBLISHED = 16, /**< a column of published runs, and a range of what is unknown */
    AR_KEY_IS_CHOICE = 64,   /**< of an axis: a way to tune, of which --best takes the best value */
    AR_KEY_REPEATS = 128,    /**< every text counts; else a scenario has one value */
    AR_KEY_IS_SETTING = 256, /**< stands in the column `settings` of a row */
    AR_KEY_IS_PATH = 512,    /**< names a file; a relative path in a file starts at that file */
    AR_KEY_IS_NUMBER = 1024, /**< any number between two values is one: ranges have ends */
    AR_KEY_OF_BARE = 2048,   /**< bare collectives; not the all-reduces of traces, of all GPUs */
    AR_KEY_OF_LAYOUT = 4096, /**< steps of a workload that is laid out on a mesh */
    AR_KEY_OF_PLACED = 8192, /**< steps of operators that have a device each */
};

/** How the values of an axis may be written in short. */
enum ar_key_list { AR_LIST_OF_TEXTS, AR_LIST_OF_COUNTS, AR_LIST_OF_SIZES };

struct ar_key_row {
    const char *option;      /**< `--samples-per-s-at`; ar_key_name() is without the dashes */
    const char *placeholder; /**< `B=V` */
    const char *standard;    /**< default for people; NULL: none, or said in the help */
    const char *help;
    unsigned uses;
    enum ar_key_list list;

    /** Sets the value of a scenario. An error begins with origin->where; its status is
     * ar_scenario_set()'s matter. */
    enum ar_status (*parse)(struct ar_scenario *scenario, enum ar_key key,
                            const struct ar_origin *origin, const char *text, struct ar_error *err);
    size_t field;             /**< offset in the scenario, of types of any key; else 0 */
    double min, max;          /**< of a count or a number */
    const char *const *words; /**< of a choice, NULL ends them: names of an enum, from 0 on */
};

extern const struct ar_key_row ar_keys[AR_KEYS_COUNT];

/** Writes ` name=text` of a key that is set; `text` as often as it was. */
void ar_key_print(const struct ar_scenario *scenario, enum ar_key key, FILE *file);

/** The key of a name, with dashes or underscores; AR_KEYS_COUNT if there is none. */
enum ar_key ar_key_find(const char *name);

/** A name of a key as files write it, with underscores; returns `text`. */
enum { AR_KEY_TEXT = 32 };
const char *ar_key_directive(const char *name, char text[AR_KEY_TEXT]);

const char *ar_key_name(enum ar_key key);
bool ar_key_is(enum ar_key key, enum ar_key_use use);
