/* Runs one all-reduce on the `simgrid` engine and prints what it cost, or writes its platform. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ar_trial.h"
#include "ar_units.h"

enum { ELEMENT_BYTES = 2, WINDOW = 8 };

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

/* Of this process and of the simulation it forked. */
static double cpu_s(void)
{
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds_of(&self.ru_utime) + seconds_of(&self.ru_stime) +
           seconds_of(&children.ru_utime) + seconds_of(&children.ru_stime);
}

static enum ar_status write_platform(const struct ar_collective *collective, const char *path,
                                     struct ar_error *err)
{
    uint32_t gpus_per_node = ar_cluster_facts(collective->cluster)->gpus_per_node;
    uint32_t ranks = ar_shape_ranks(&collective->shape);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return ar_error_set(err, AR_IO, "%s: cannot write the platform", path);
    }
    ar_cluster_write_simgrid(collective->cluster, (ranks + gpus_per_node - 1) / gpus_per_node,
                             file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        return ar_error_set(err, AR_IO, "%s: cannot write the platform", path);
    }
    return AR_OK;
}

/* Of both processes, so that pages they share count twice: the forked one alone would leave out the
 * pages of the libraries that this one has touched. */
static uint64_t memory_bytes(void)
{
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return (uint64_t)(self.ru_maxrss + children.ru_maxrss) * 1024;
}

/* simulated_s messages_count cpu_s wall_s memory_bytes, as bare_ring prints them. */
static enum ar_status run_engine(const struct ar_collective *collective, uint64_t elements,
                                 struct ar_error *err)
{
    const struct ar_engine *engine;
    struct ar_job job = {.ready_s = 0, .elements = elements};
    struct ar_job_time time;
    struct ar_trial trial = {
        .collective = *collective, .jobs = &job, .jobs_count = 1, .times = &time};
    enum ar_status status = ar_engine_find("bench_engine", "simgrid", &engine, err);
    if (status == AR_OK) {
        status = ar_trial_run(&trial, engine, err);
    }
    if (status == AR_OK) {
        printf("%.17g %" PRIu64 " %.6f %.6f %" PRIu64 "\n", time.finish_s, trial.messages_count,
               cpu_s(), trial.wall_s, memory_bytes());
    }
    return status;
}

/* argv: CLUSTER.topo ALGORITHM RANKS CHANNELS ELEMENTS */
static enum ar_status read_collective(char **argv, struct ar_cluster **cluster,
                                      struct ar_collective *collective, uint64_t *elements,
                                      struct ar_error *err)
{
    uint64_t ranks, channels;
    enum ar_status status = ar_parse_count("RANKS", argv[3], 2, UINT32_MAX, &ranks, err);
    if (status == AR_OK) {
        status = ar_parse_count("CHANNELS", argv[4], 1, UINT32_MAX, &channels, err);
    }
    if (status == AR_OK) {
        status = ar_parse_count("ELEMENTS", argv[5], 0, UINT32_MAX, elements, err);
    }
    if (status == AR_OK) {
        status = ar_cluster_load(argv[1], NULL, 0, cluster, err);
    }
    if (status == AR_OK) {
        status = ar_algorithm_find("ALGORITHM", argv[2], &collective->algorithm, err);
    }
    if (status != AR_OK) {
        return status;
    }
    collective->cluster = *cluster;
    collective->shape = collective->algorithm->default_shape(
        (uint32_t)ranks, ar_cluster_facts(*cluster)->gpus_per_node);
    collective->channels = (uint32_t)channels;
    return ar_collective_check(collective, err);
}

int main(int argc, char **argv)
{
    struct ar_error err;
    struct ar_cluster *cluster = NULL;
    struct ar_collective collective = {.window = WINDOW, .element_bytes = ELEMENT_BYTES};
    uint64_t elements;
    if (argc != 6 && argc != 7) {
        fprintf(stderr, "usage: bench_engine CLUSTER.topo ALGORITHM RANKS CHANNELS ELEMENTS "
                        "[PLATFORM.xml to write instead]\n");
        return ar_status_exit_code(AR_USAGE);
    }
    enum ar_status status = read_collective(argv, &cluster, &collective, &elements, &err);
    if (status == AR_OK) {
        status = argc == 7 ? write_platform(&collective, argv[6], &err)
                           : run_engine(&collective, elements, &err);
    }
    if (status != AR_OK) {
        fprintf(stderr, "bench_engine: %s\n", err.text);
    }
    ar_cluster_destroy(cluster);
    return ar_status_exit_code(status);
}
