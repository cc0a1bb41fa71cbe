/* What the engines of a communication library share: jobs one after the other, each as long as the
 * calls of the library that make it, from the time at which it is ready on all ranks. They know
 * nodes and ranks of the cluster, and nothing of its links. */
#include "library_engine.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "engines.h"

/* --- the algorithm auto ------------------------------------------------------------------- */

static enum ar_status check_auto(const struct ar_shape *shape, struct ar_error *err)
{
    if (shape->y != 1) {
        return ar_error_set(err, AR_USAGE,
                            "shape %" PRIu32 "x%" PRIu32 ": expected Nx1, the library makes its "
                            "own choice",
                            shape->x, shape->y);
    }
    return AR_OK;
}

static struct ar_shape shape_of_auto(uint32_t ranks, uint32_t gpus_per_node)
{
    (void)gpus_per_node;
    return (struct ar_shape){.x = ranks, .y = 1};
}

/* Other engines refuse it before they ask what it does. */
static uint32_t no_phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX])
{
    (void)shape;
    (void)phases;
    return 0;
}

static struct ar_move no_move(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                              uint32_t step)
{
    (void)shape;
    (void)elements;
    (void)position;
    (void)step;
    return (struct ar_move){.sends = false};
}

const struct ar_algorithm ar_algorithm_auto = {
    .name = "auto",
    .lanes = 1,
    .title = "the choice of the communication library, engines 'library' and 'nccl' only",
    .formula = "see models/README.md",
    .source = "NVIDIA/nccl, src/graph/tuning.cc",
    .shape_help = "Nx1 (the library makes its own)",
    .check = check_auto,
    .default_shape = shape_of_auto,
    .phases = no_phases,
    .move = no_move,
};

bool library_engine_ignores(const char *key)
{
    static const char *const keys[] = {"nvlink.", "pcie.", "hca", "net.", "rack.", "collective."};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strncmp(key, keys[i], strlen(keys[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* --- calls -------------------------------------------------------------------------------- */

static bool is_named(const struct ar_collective *collective, const char *name)
{
    return strcmp(collective->algorithm->name, name) == 0;
}

static bool is_one_call(const struct ar_collective *collective)
{
    return is_named(collective, "auto") || is_named(collective, "ring") ||
           is_named(collective, "tree");
}

size_t library_engine_calls(const struct ar_collective *collective, uint64_t elements,
                            struct ar_library_run runs[AR_GRID_CALLS_MAX])
{
    const struct ar_shape *shape = &collective->shape;
    uint32_t gpus = ar_cluster_facts(collective->cluster)->gpus_per_node;
    uint32_t ranks = ar_shape_ranks(shape);
    double bytes = (double)elements * collective->element_bytes;
    if (!is_one_call(collective)) {
        enum ar_library_grid grid =
            is_named(collective, "torus2d") ? AR_GRID_TORUS : AR_GRID_LEADERS;
        return ar_library_grid_calls(grid, shape->x, shape->y, gpus, bytes, runs);
    }
    runs[0] =
        (struct ar_library_run){.nodes = (ranks + gpus - 1) / gpus, .ranks = ranks, .bytes = bytes};
    return 1;
}

const char *library_engine_algorithm(const struct ar_collective *collective)
{
    bool is_limited = is_named(collective, "ring") || is_named(collective, "tree");
    return is_limited ? collective->algorithm->name : NULL;
}

/* --- checks ------------------------------------------------------------------------------- */

static enum ar_status refuse_cluster(const struct ar_engine *engine, const char *cluster,
                                     struct ar_error *err)
{
    if (!engine->is_fitted) {
        return ar_error_set(err, AR_USAGE,
                            "engine %s: cluster %s has no library.node_bus; expected the bandwidth "
                            "of the rings that NCCL finds in a node and across the network, such "
                            "as --set library.node_bus=132GB/s --set library.net_bus=24GB/s",
                            engine->name, cluster);
    }
    return ar_error_set(err, AR_USAGE,
                        "engine library: cluster %s has no library.cost_table; expected a "
                        "cluster from 'allreckon calibrate LOG... --cluster %s --out "
                        "NAME.topo', or --engine nccl",
                        cluster, cluster);
}

/* A tree needs a release that has it, and nodes. */
static enum ar_status check_tree(const struct ar_engine *engine, const struct ar_tuning *tuning,
                                 const struct ar_library_run *run, struct ar_error *err)
{
    if (!ar_tuning_has_trees(tuning)) {
        return ar_error_set(err, AR_USAGE,
                            "engine %s: found algorithm tree, which %s does not have; expected "
                            "auto, ring, torus2d or hierarchical",
                            engine->name, tuning->name);
    }
    if (run->nodes == 1 && run->ranks > 1) {
        return ar_error_set(err, AR_USAGE,
                            "engine %s: found algorithm tree on one node, where %s has none; "
                            "expected auto or ring",
                            engine->name, tuning->name);
    }
    return AR_OK;
}

enum ar_status library_engine_check(const struct ar_engine *engine,
                                    const struct ar_collective *collective,
                                    const struct ar_library *library, struct ar_error *err)
{
    const char *cluster = ar_cluster_facts(collective->cluster)->name;
    struct ar_library_run runs[AR_GRID_CALLS_MAX];
    if (library == NULL) {
        return refuse_cluster(engine, cluster, err);
    }
    const struct ar_tuning *tuning = &library->tuning;
    if (!is_one_call(collective) && !is_named(collective, "torus2d") &&
        !is_named(collective, "hierarchical")) {
        return ar_error_set(err, AR_USAGE,
                            "engine %s: found algorithm %s, which %s does not have; expected "
                            "auto, ring, tree, torus2d or hierarchical",
                            engine->name, collective->algorithm->name, tuning->name);
    }
    size_t count = library_engine_calls(collective, 1, runs);
    if (is_named(collective, "tree")) {
        enum ar_status status = check_tree(engine, tuning, &runs[0], err);
        if (status != AR_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (runs[i].nodes > 1 && !(tuning->net_bus_Bps > 0)) {
            return ar_error_set(err, AR_USAGE,
                                engine->is_fitted
                                    ? "engine %s: the cost table of cluster %s is of one node; "
                                      "expected one that was fitted with library.net_bus"
                                    : "engine %s: cluster %s has no library.net_bus; expected the "
                                      "bandwidth of the rings that NCCL finds across the network",
                                engine->name, cluster);
        }
    }
    return AR_OK;
}

/* --- running ------------------------------------------------------------------------------ */

static double time_in_band(const struct ar_library_prediction *prediction, enum ar_band band)
{
    return band == AR_BAND_LOW    ? prediction->low_s
           : band == AR_BAND_HIGH ? prediction->high_s
                                  : prediction->time_s;
}

/* Names the choices that were made. */
static void write_options(struct ar_trial *trial, const char *head,
                          const bool is_made[AR_CHOICES_COUNT])
{
    int used = snprintf(trial->options, sizeof trial->options, "%s:", head);
    for (int i = 0; i < AR_CHOICES_COUNT && used < AR_OPTIONS_TEXT; i++) {
        if (is_made[i]) {
            used += snprintf(trial->options + used, sizeof trial->options - (size_t)used, " %s/%s",
                             ar_choice_algorithm((enum ar_choice)i),
                             ar_choice_protocol((enum ar_choice)i));
        }
    }
}

/* The calls of a job one after the other. Their errors are of the same fit: the ends of their bands
 * add up, as if they always erred together. */
static double job_time(const struct ar_trial *trial, const struct ar_engine *engine,
                       uint64_t elements, bool is_made[AR_CHOICES_COUNT])
{
    struct ar_library_run runs[AR_GRID_CALLS_MAX];
    const char *algorithm = library_engine_algorithm(&trial->collective);
    size_t count = elements > 0 ? library_engine_calls(&trial->collective, elements, runs) : 0;
    double time_s = 0;
    for (size_t i = 0; i < count; i++) {
        struct ar_library_prediction prediction =
            engine->predict(trial->library, algorithm, &runs[i]);
        time_s += time_in_band(&prediction, trial->band);
        is_made[prediction.choice] = true;
    }
    return time_s;
}

void library_engine_run(struct ar_trial *trial, const struct ar_engine *engine, const char *head)
{
    assert(trial->timeline == NULL);
    bool is_made[AR_CHOICES_COUNT] = {false};
    double free_s = 0;
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        bool is_even;
        double ready_s = ar_trial_ready_on_all(trial, i, &is_even);
        double start_s = ready_s > free_s ? ready_s : free_s;
        free_s = start_s + trial->jobs[i].copy_s +
                 job_time(trial, engine, trial->jobs[i].elements, is_made);
        trial->times[i] = (struct ar_job_time){.start_s = start_s, .finish_s = free_s};
    }
    if (trial->rank_finish_s != NULL) {
        for (uint32_t rank = 0; rank < ar_shape_ranks(&trial->collective.shape); rank++) {
            trial->rank_finish_s[rank] = free_s;
        }
    }
    trial->messages_count = 0;
    trial->exact = false;
    write_options(trial, head, is_made);
}
