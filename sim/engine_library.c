/* What was measured, as an engine: jobs one after the other, each as long as the fitted model of
 * the communication library says, from the time at which it is ready on all ranks. It knows nodes
 * and ranks of the cluster, and nothing of its links. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "engines.h"

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
static uint32_t no_phases(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MOST])
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
    .title = "the choice of the communication library, engine 'library' only",
    .formula = "see models/README.md",
    .source = "NVIDIA/nccl, src/graph/tuning.cc",
    .shape_help = "Nx1 (the library makes its own)",
    .check = check_auto,
    .default_shape = shape_of_auto,
    .phases = no_phases,
    .move = no_move,
};

/* The run that a collective is for the library. */
static struct ar_library_run run_of(const struct ar_collective *collective, uint64_t elements)
{
    uint32_t gpus = ar_cluster_facts(collective->cluster)->gpus_per_node;
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    return (struct ar_library_run){.nodes = (ranks + gpus - 1) / gpus,
                                   .ranks = ranks,
                                   .bytes = (double)elements * collective->element_bytes};
}

enum ar_status ar_library_engine_check(const struct ar_collective *collective,
                                       const struct ar_library *library, struct ar_error *err)
{
    const char *algorithm = collective->algorithm->name;
    const char *cluster = ar_cluster_facts(collective->cluster)->name;
    struct ar_library_run run = run_of(collective, 1);
    if (library == NULL) {
        return ar_error_set(err, AR_USAGE,
                            "engine library: cluster %s has no library.cost_table; expected a "
                            "cluster from 'allreckon calibrate LOG... --cluster %s --out "
                            "NAME.topo'",
                            cluster, cluster);
    }
    if (strcmp(algorithm, "auto") != 0 && strcmp(algorithm, "ring") != 0 &&
        strcmp(algorithm, "tree") != 0) {
        return ar_error_set(err, AR_USAGE,
                            "engine library: found algorithm %s, which %s does not have; expected "
                            "auto, ring or tree",
                            algorithm, library->tuning.name);
    }
    if (strcmp(algorithm, "tree") == 0 && run.nodes == 1 && run.ranks > 1) {
        return ar_error_set(err, AR_USAGE,
                            "engine library: found algorithm tree on one node, where %s has none; "
                            "expected auto or ring",
                            library->tuning.name);
    }
    if (run.nodes > 1 && !(library->tuning.net_bus_Bps > 0)) {
        return ar_error_set(err, AR_USAGE,
                            "engine library: the cost table of cluster %s is of one node; expected "
                            "one that was fitted with library.net_bus",
                            cluster);
    }
    return AR_OK;
}

static double time_in_band(const struct ar_library_prediction *prediction, enum ar_band band)
{
    return band == AR_BAND_LOW    ? prediction->low_s
           : band == AR_BAND_HIGH ? prediction->high_s
                                  : prediction->time_s;
}

/* Names the choices that were made. */
static void write_options(struct ar_trial *trial, const bool is_made[AR_CHOICES_COUNT])
{
    int used = snprintf(trial->options, sizeof trial->options,
                        "library %s, fitted to %" PRIu32 " rows:", trial->library->tuning.name,
                        trial->library->rows_count);
    for (int i = 0; i < AR_CHOICES_COUNT && used < AR_OPTIONS_TEXT; i++) {
        if (is_made[i]) {
            used += snprintf(trial->options + used, sizeof trial->options - (size_t)used, " %s/%s",
                             ar_choice_algorithm((enum ar_choice)i),
                             ar_choice_protocol((enum ar_choice)i));
        }
    }
}

static enum ar_status run(struct ar_trial *trial, struct ar_error *err)
{
    (void)err;
    assert(trial->timeline == NULL);
    const char *name = trial->collective.algorithm->name;
    const char *algorithm = strcmp(name, "auto") == 0 ? NULL : name;
    bool is_made[AR_CHOICES_COUNT] = {false};
    double free_s = 0;
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        bool is_even;
        struct ar_library_run what = run_of(&trial->collective, trial->jobs[i].elements);
        double ready_s = ar_trial_ready_on_all(trial, i, &is_even);
        double start_s = ready_s > free_s ? ready_s : free_s;
        free_s = start_s + trial->jobs[i].copy_s;
        if (what.bytes > 0) {
            struct ar_library_prediction prediction =
                ar_library_predict(trial->library, algorithm, &what);
            free_s += time_in_band(&prediction, trial->band);
            is_made[prediction.choice] = true;
        }
        trial->times[i] = (struct ar_job_time){.start_s = start_s, .finish_s = free_s};
    }
    if (trial->rank_finish_s != NULL) {
        for (uint32_t rank = 0; rank < ar_shape_ranks(&trial->collective.shape); rank++) {
            trial->rank_finish_s[rank] = free_s;
        }
    }
    trial->messages_count = 0;
    trial->exact = false;
    ar_copy_text(trial->note, sizeof trial->note, "a model fitted to measurements");
    write_options(trial, is_made);
    return AR_OK;
}

const struct ar_engine ar_engine_library = {
    .name = "library",
    .title = "measured: what 'calibrate' fitted to the communication library, with its error",
    .needs_library = true,
    .run = run,
};
