/* Prints how far the engines recurrence and closed are from simgrid: the table of
 * sim/engine/README.md.
 *
 *     build/release/sim/step/compare_engines topologies/machines/abci-v100.topo [RANKS_MAX]
 *
 * Cases: all grids of 16, 32, ... RANKS_MAX ranks (256), fp16, two channels, window 8; trees once
 * more in the shape that they have if none is given. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ar_engines.h"
#include "ar_quantile.h"

enum { CASES_MAX = 256 };

/* The differences of an engine from simgrid. */
struct errors {
    double values[CASES_MAX];
    size_t count;
    size_t exact_count;
    double exact_worst;
};

static void print(const char *name, double payload_MB, const struct ar_engine *engine,
                  struct errors *errors)
{
    printf("| %s | %.3g MB | %s | %zu", name, payload_MB, engine->name, errors->exact_count);
    if (errors->exact_count > 0) {
        printf(", within %.0e", errors->exact_worst);
    }
    printf(" | %zu |", errors->count);
    if (errors->count == 0) {
        puts(" | | |");
        return;
    }
    ar_sort(errors->values, errors->count);
    double lowest = errors->values[0];
    double highest = errors->values[errors->count - 1];
    for (size_t i = 0; i < errors->count; i++) {
        errors->values[i] = fabs(errors->values[i]);
    }
    ar_sort(errors->values, errors->count);
    printf(" %.1f %% | %+.1f %% | %+.1f %% |\n", 100 * errors->values[errors->count / 2],
           100 * lowest, 100 * highest);
}

static double run(const struct ar_collective *collective, const struct ar_engine *engine,
                  uint64_t elements, bool *exact)
{
    struct ar_error err;
    struct ar_job job = {.elements = elements};
    struct ar_job_time time;
    struct ar_trial trial = {
        .collective = *collective, .jobs = &job, .jobs_count = 1, .times = &time};
    if (ar_trial_run(&trial, engine, &err) != AR_OK) {
        fprintf(stderr, "compare_engines: %s\n", err.text);
        exit(ar_status_exit_code(err.status));
    }
    *exact = trial.exact;
    return time.finish_s;
}

/* Adds the errors of a collective; `engines` and their errors are two. */
static void add(const struct ar_collective *collective, const struct ar_engine *const *engines,
                uint64_t elements, struct errors *errors)
{
    bool exact;
    double simulated_s = run(collective, &ar_engine_simgrid, elements, &exact);
    for (int i = 0; i < 2; i++) {
        double error = run(collective, engines[i], elements, &exact) / simulated_s - 1;
        errors[i].exact_count += exact;
        if (exact) {
            errors[i].exact_worst = fmax(errors[i].exact_worst, fabs(error));
        } else if (errors[i].count < CASES_MAX) {
            errors[i].values[errors[i].count++] = error;
        }
    }
}

static void compare(struct ar_collective collective, uint32_t ranks_max, bool are_default,
                    uint64_t elements)
{
    static const struct ar_engine *const engines[] = {&ar_engine_recurrence, &ar_engine_closed};
    struct errors errors[2] = {{.count = 0}};
    uint32_t gpus_per_node = ar_cluster_facts(collective.cluster)->gpus_per_node;
    for (uint32_t ranks = 16; ranks <= ranks_max; ranks *= 2) {
        struct ar_shape usual =
            ar_algorithm_default_shape(collective.algorithm, ranks, gpus_per_node);
        for (uint32_t x = 1; x <= ranks; x *= 2) {
            struct ar_error refused;
            collective.shape = (struct ar_shape){.x = x, .y = ranks / x};
            if (ar_collective_check(&collective, &refused) == AR_OK &&
                (!are_default || x == usual.x)) {
                add(&collective, engines, elements, errors);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        print(are_default ? "tree of nodes" : collective.algorithm->name, 2e-6 * (double)elements,
              engines[i], &errors[i]);
    }
}

int main(int argc, char **argv)
{
    struct ar_cluster *cluster;
    struct ar_error err;
    const char *path = argc > 1 ? argv[1] : "CLUSTER.topo";
    if (ar_cluster_load(path, (struct ar_settings){.count = 0}, &cluster, &err) != AR_OK) {
        fprintf(stderr, "compare_engines CLUSTER.topo [RANKS_MAX]: %s\n", err.text);
        return ar_status_exit_code(err.status);
    }
    uint32_t ranks_max = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 256;
    puts("| algorithm | payload | engine | called exact | estimates | median | lowest | highest |");
    puts("|---|---|---|---|--:|--:|--:|--:|");
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        uint32_t channels_each = ar_algorithm_channels(ar_algorithms[i]);
        struct ar_collective collective = {.cluster = cluster,
                                           .operation = &ar_operation_all_reduce,
                                           .algorithm = ar_algorithms[i],
                                           .channels = 2 * channels_each,
                                           .window = 8,
                                           .element_bytes = 2};
        for (uint32_t round = 0; round < channels_each; round++) {
            compare(collective, ranks_max, round > 0, 500000);
            compare(collective, ranks_max, round > 0, 25557032);
        }
    }
    ar_cluster_destroy(cluster);
    return 0;
}
