/* Prints how far the engines recurrence and closed are from simgrid: the table of sim/README.md.
 *
 *     build/release/sim/compare_engines topologies/machines/abci-v100.topo [RANKS_MAX]
 *
 * Cases: all grids of 16, 32, ... RANKS_MAX ranks (256), fp16, two channels, window 8; trees once
 * more in the shape that they have if none is given. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ar_engines.h"
#include "ar_quantile.h"

enum { CASES_MAX = 256 };

struct errors {
    double values[CASES_MAX];
    size_t count;
    size_t exact_count;
    double exact_worst;
};

static double magnitude(double value)
{
    return value < 0 ? -value : value;
}

static void add(struct errors *errors, double error, bool exact)
{
    if (exact) {
        errors->exact_count++;
        errors->exact_worst =
            magnitude(error) > errors->exact_worst ? magnitude(error) : errors->exact_worst;
    } else if (errors->count < CASES_MAX) {
        errors->values[errors->count++] = error;
    }
}

static void print(const char *name, const char *payload, const char *engine, struct errors *errors)
{
    printf("| %s | %s | %s | %zu, within %.0e | %zu |", name, payload, engine, errors->exact_count,
           errors->exact_worst, errors->count);
    if (errors->count == 0) {
        puts(" | | |");
        return;
    }
    ar_sort(errors->values, errors->count);
    double lowest = errors->values[0];
    double highest = errors->values[errors->count - 1];
    for (size_t i = 0; i < errors->count; i++) {
        errors->values[i] = magnitude(errors->values[i]);
    }
    ar_sort(errors->values, errors->count);
    printf(" %.1f %% | %+.1f %% | %+.1f %% |\n", 100 * errors->values[errors->count / 2],
           100 * lowest, 100 * highest);
}

static double run(struct ar_collective collective, const struct ar_engine *engine,
                  uint64_t elements, bool *exact)
{
    struct ar_error err;
    struct ar_job job = {.elements = elements};
    struct ar_job_time time;
    struct ar_trial trial = {
        .collective = collective, .jobs = &job, .jobs_count = 1, .times = &time};
    if (ar_trial_run(&trial, engine, &err) != AR_OK) {
        fprintf(stderr, "compare_engines: %s\n", err.text);
        exit(ar_status_exit_code(err.status));
    }
    *exact = trial.exact;
    return time.finish_s;
}

/* The cases of the table. */
struct cases {
    const struct ar_cluster *cluster;
    const struct ar_algorithm *algorithm;
    const char *name;
    uint32_t ranks_max;
    bool are_default; /* only the default shapes */
};

static bool has_case(const struct cases *cases, const struct ar_collective *collective)
{
    struct ar_error refused;
    struct ar_shape shape =
        ar_algorithm_default_shape(cases->algorithm, ar_shape_ranks(&collective->shape),
                                   ar_cluster_facts(cases->cluster)->gpus_per_node);
    return ar_collective_check(collective, &refused) == AR_OK &&
           (!cases->are_default || shape.x == collective->shape.x);
}

static void compare(const struct cases *cases, uint64_t elements, const char *payload)
{
    struct errors recurrence = {.count = 0};
    struct errors closed = {.count = 0};
    for (uint32_t ranks = 16; ranks <= cases->ranks_max; ranks *= 2) {
        for (uint32_t x = 1; x <= ranks; x *= 2) {
            struct ar_collective collective = {.cluster = cases->cluster,
                                               .operation = &ar_operation_all_reduce,
                                               .algorithm = cases->algorithm,
                                               .shape = {.x = x, .y = ranks / x},
                                               .channels =
                                                   2 * ar_algorithm_channels(cases->algorithm),
                                               .window = 8,
                                               .element_bytes = 2};
            bool exact;
            if (!has_case(cases, &collective)) {
                continue;
            }
            double simulated_s = run(collective, &ar_engine_simgrid, elements, &exact);
            double time_s = run(collective, &ar_engine_recurrence, elements, &exact);
            add(&recurrence, time_s / simulated_s - 1, exact);
            time_s = run(collective, &ar_engine_closed, elements, &exact);
            add(&closed, time_s / simulated_s - 1, exact);
        }
    }
    print(cases->name, payload, "recurrence", &recurrence);
    print(cases->name, payload, "closed", &closed);
}

int main(int argc, char **argv)
{
    struct ar_cluster *cluster;
    struct ar_error err;
    if (argc < 2) {
        fputs("usage: compare_engines CLUSTER.topo [RANKS_MOST]\n", stderr);
        return ar_status_exit_code(AR_USAGE);
    }
    enum ar_status status =
        ar_cluster_load(argv[1], (struct ar_settings){.count = 0}, &cluster, &err);
    if (status != AR_OK) {
        fprintf(stderr, "compare_engines: %s\n", err.text);
        return ar_status_exit_code(status);
    }
    uint32_t ranks_max = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 256;
    puts("| algorithm | payload | engine | called exact | estimates | median | lowest | highest |");
    puts("|---|---|---|---|--:|--:|--:|--:|");
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        struct cases cases = {.cluster = cluster,
                              .algorithm = ar_algorithms[i],
                              .name = ar_algorithms[i]->name,
                              .ranks_max = ranks_max};
        for (uint32_t round = 0; round < ar_algorithm_channels(ar_algorithms[i]); round++) {
            compare(&cases, 500000, "1 MB");
            compare(&cases, 25557032, "51.1 MB");
            cases.are_default = true;
            cases.name = "tree of nodes";
        }
    }
    ar_cluster_destroy(cluster);
    return 0;
}
