/** \file layouts.h
 * Layouts of a workload: all meshes of some numbers of GPUs, with lists of micro-batches,
 * strategies, schedules and what else is a choice; those that divide and fit into the memory of the
 * GPUs are predicted, the fastest comes first.
 */
#ifndef AR_LAYOUTS_H
#define AR_LAYOUTS_H

#include "ar_scenario.h"
#include "journal.h"

/** Keys that may be lists here. */
#define LAYOUTS_AXIS_LIST(X)                                                                       \
    X(AR_KEY_MICRO_BATCH)                                                                          \
    X(AR_KEY_STRATEGY)                                                                             \
    X(AR_KEY_SCHEDULE)                                                                             \
    X(AR_KEY_RECOMPUTE)                                                                            \
    X(AR_KEY_SEQUENCE_PARALLEL)                                                                    \
    X(AR_KEY_ATTENTION)                                                                            \
    X(AR_KEY_OVERLAP)                                                                              \
    X(AR_KEY_OVERLAP_TENSOR)                                                                       \
    X(AR_KEY_GRADIENTS)                                                                            \
    X(AR_KEY_SPARSE)                                                                               \
    X(AR_KEY_PLACEMENT)                                                                            \
    X(AR_KEY_DEPTH)                                                                                \
    X(AR_KEY_ROUNDS)

enum {
    LAYOUTS_AXES = 0
#define X(key) +1
    LAYOUTS_AXIS_LIST(X)
#undef X
};
extern const enum ar_key layouts_axes[LAYOUTS_AXES];

struct layouts_request {
    struct ar_scenario base; /**< all keys but those axes, the mesh and the GPUs */
    struct ar_inputs *inputs;
    const char *mesh;     /**< `all`, or one; NULL: all GPUs are replicas */
    const uint64_t *gpus; /**< counts; none with one mesh */
    size_t gpus_count;
    const char *lists[LAYOUTS_AXES]; /**< values separated by commas; NULL: the default */
    uint32_t jobs;
    bool shows_progress;
    const char *directory; /**< of the journal; NULL: none is kept */
    bool resumes, forces;  /**< what an earlier sweep left there */
    FILE *notes;
};

struct layouts_search;

struct layouts {
    struct layouts_search *search;
    size_t count;         /**< that divide and fit */
    size_t tried;         /**< that divide */
    size_t too_large;     /**< of them, those that do not fit */
    uint64_t fingerprint; /**< same for same rows */
    struct ar_row *rows;  /**< by number of GPUs, the fastest first; in the arena of the base */
};

/** Finds all layouts of a request, which stays the caller's. AR_USAGE if there is none that divides
 * and fits, with the reason of the last one. */
enum ar_status layouts_find(const struct layouts_request *request, struct layouts *layouts,
                            struct ar_error *err);

/** Predicts them. Rows are kept in a journal as they come, until `layouts_close()`. */
enum ar_status layouts_run(struct layouts *layouts, struct ar_error *err);

/** Leaves the fastest of each number of GPUs. */
void layouts_keep_best(struct layouts *layouts);

/** Ends the journal, which goes if the sweep `is_finished`. */
void layouts_close(struct layouts *layouts, bool is_finished);

#endif
