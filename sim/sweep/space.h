/** \file space.h
 * The design space of a sweep: its points.
 *
 * Points are small and many: neither their rows nor the scenarios of their variants are held.
 */
#pragma once

#include "variants.h"

/** One row to compute; of a layout the variant says it all. */
struct point {
    const struct ar_operation *operation; /**< NULL: a layout */
    const struct ar_algorithm *algorithm;
    struct ar_shape shape;
    uint64_t payload_bytes; /**< bare collective; 0: a training step */
    uint32_t variant;
    float cost_s;   /**< estimated */
    double least_s; /**< of a layout: its step takes longer (ar_scenario_least_s()) */
    /** The point that sends the same messages and so has the same times; itself if there is none. A
     * 2D torus of one column (1xN) is the ring of N, move by move. So is one of one row (Nx1), but
     * the closed form splits its time into other parts. */
    uint32_t same_as;
};

/** A growing array of points. */
struct points {
    struct point *list;
    size_t count;
};

/** Layouts that divide the model and do not fit into the memory of a GPU. */
struct unfit {
    size_t count;          /**< layouts that do not fit; in a plan meshes without one that fits */
    size_t fit_recomputed; /**< layouts that would fit if all activations were recomputed */
    size_t fit_sharded;    /**< layouts that would fit if replicas also sharded what they hold */
    bool is_asked;         /**< there are layouts of transformers, whose memory is known */
    double room_bytes;     /**< of a GPU; 0: the cluster does not say */
    double least_bytes;    /**< memory of the smallest layout, which is described below */
    char least_mesh[AR_MESH_TEXT];
    const char *least_strategy;
    char least_recompute[AR_RECOMPUTE_TEXT];
};

struct space {
    const struct space_request *request;
    struct variants variants;
    bool has_steps;             /**< there is a trace */
    bool draws, has_same_seeds; /**< a variant does; one repeats another but for its seed */
    const struct ar_operation **operations;
    size_t operations_count;
    const struct ar_algorithm **algorithms; /**< of all of them */
    size_t algorithms_count;
    uint64_t *gpus; /**< the GPU counts, as given */
    size_t gpus_count;
    uint64_t *sizes; /**< of bare collectives */
    size_t sizes_count;
    struct ar_arena lists;      /**< of the variant whose points were added last */
    struct points steps;        /**< variant by variant; in the end `bare` is behind them */
    struct points bare;         /**< collectives */
    const struct point *points; /**< training steps first, then bare collectives */
    size_t points_count;
    size_t steps_count;
    struct unfit unfit;
    /** Same for same rows: all points, the values of the clusters and the traces. */
    uint64_t fingerprint;
};

/** Reads the axes, checks variants and points. Freed with space_destroy(), also after a failure. */
enum ar_status space_create(const struct space_request *request, struct space *space,
                            struct ar_error *err);
void space_destroy(struct space *space);

/** The first axis of layouts: all meshes of each number of GPUs in the list, of which `cp`, twice
 * as many and so on up to `cp_max` are those of a sequence, and those of copies that NVLinks of the
 * one cluster hold; or (0) those numbers. AR_USAGE where `cp` does not divide one. */
enum ar_status space_list_meshes(const struct space_request *request, uint32_t cp, uint32_t cp_max,
                                 struct axis *first, struct ar_error *err);

/** Appends a point; AR_USAGE where there are too many. */
enum ar_status point_append(struct space *space, struct points *points, const struct point *point,
                            struct ar_error *err);

/** The range in which a plan looks next for something faster than this variant: in the first of
 * PLAN_ROUNDS at all schedules, in the second at all overlaps of its schedule; always with as
 * little recomputation as fits. */
enum { PLAN_ROUNDS = 2 };
struct refined layouts_refine(const struct space *space, uint32_t variant, unsigned round);

/** The limit of layouts; NULL: there is none. */
struct limit *layouts_limit(const struct space_request *request, uint64_t gpus, uint32_t condition);

/** The scenario of a point; valid until that of another variant is asked for. */
enum ar_status space_scenario(struct space *space, const struct point *point,
                              struct ar_scenario *scenario, struct ar_error *err);
