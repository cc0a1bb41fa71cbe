/* Runs a stream of equal all-reduces on an engine and prints what it cost, or writes the platform
 * or SimGrid's options that the peers need. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ar_engines.h"
#include "ar_simgrid_xml.h"
#include "ar_units.h"
#include "simgrid_child.h"

enum { ELEMENT_BYTES = 2, WINDOW = 8, SETTINGS_MAX = 8, ARGUMENTS = 5 };

static const char usage_text[] =
    "usage: bench_engine [-e ENGINE] [-w WINDOW] [-j JOBS] [-s KEY=VALUE]... [-p PLATFORM.xml]\n"
    "                    CLUSTER ALGORITHM RANKS CHANNELS ELEMENTS\n"
    "       bench_engine -o\n"
    "  prints: simulated_s messages_count cpu_s memory_bytes run_cpu_s\n"
    "  -p  writes the platform instead\n"
    "  -o  prints SimGrid's options of the engine simgrid instead\n";

struct command {
    const char *engine;
    const char *platform_path; /* NULL: run */
    uint64_t window;
    uint64_t jobs;
    struct ar_setting list[SETTINGS_MAX];
    struct ar_settings settings; /* those of the list */
};

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

/* A line of figures: what was simulated, and the cost of the program so far and of the run alone.
 */
static enum ar_status run_engine(const struct ar_collective *collective, uint64_t elements,
                                 const struct command *command, struct ar_error *err)
{
    const struct ar_engine *engine;
    enum ar_status status = ar_engine_find("-e", command->engine, &engine, err);
    if (status != AR_OK) {
        return status;
    }
    struct ar_job *jobs = calloc(command->jobs, sizeof *jobs);
    struct ar_job_time *times = calloc(command->jobs, sizeof *times);
    if (jobs == NULL || times == NULL) {
        status = ar_error_no_memory(err, "the stream of all-reduces");
    } else {
        for (uint64_t i = 0; i < command->jobs; i++) {
            jobs[i].elements = elements;
        }
        struct ar_trial trial = {.collective = *collective,
                                 .jobs = jobs,
                                 .jobs_count = (uint32_t)command->jobs,
                                 .times = times};
        double began_s = cpu_s();
        status = ar_trial_run(&trial, engine, err);
        if (status == AR_OK) {
            double ended_s = cpu_s();
            printf("%.17g %" PRIu64 " %.6f %" PRIu64 " %.6f\n", times[command->jobs - 1].finish_s,
                   trial.messages_count, ended_s, memory_bytes(), ended_s - began_s);
        }
    }
    free(jobs);
    free(times);
    return status;
}

/* The five arguments of a run. */
static enum ar_status read_collective(char **arguments, const struct command *command,
                                      struct ar_cluster **cluster, struct ar_collective *collective,
                                      uint64_t *elements, struct ar_error *err)
{
    uint64_t ranks, channels;
    AR_TRY(ar_parse_count("RANKS", arguments[2], 2, UINT32_MAX, &ranks, err));
    AR_TRY(ar_parse_count("CHANNELS", arguments[3], 1, UINT32_MAX, &channels, err));
    AR_TRY(ar_parse_count("ELEMENTS", arguments[4], 0, UINT32_MAX, elements, err));
    AR_TRY(ar_cluster_load(arguments[0], command->settings, cluster, err));
    AR_TRY(ar_algorithm_find("ALGORITHM", arguments[1], &collective->algorithm, err));
    collective->cluster = *cluster;
    collective->shape = ar_algorithm_default_shape(collective->algorithm, (uint32_t)ranks,
                                                   ar_cluster_facts(*cluster)->gpus_per_node);
    collective->channels = (uint32_t)channels;
    collective->window = (uint32_t)command->window;
    return ar_collective_check(collective, err);
}

/* As arguments of smpirun. */
static void print_simgrid_options(void)
{
#define X(option) "--cfg=" option " "
    puts(AR_SIMGRID_OPTIONS(X));
#undef X
}

static enum ar_status read_option(int letter, struct command *command, struct ar_error *err)
{
    switch (letter) {
    case 'e':
        command->engine = optarg;
        return AR_OK;
    case 'w':
        return ar_parse_count("-w", optarg, 1, UINT32_MAX, &command->window, err);
    case 'j':
        return ar_parse_count("-j", optarg, 1, UINT32_MAX, &command->jobs, err);
    case 'p':
        command->platform_path = optarg;
        return AR_OK;
    default:
        if (letter != 's' || command->settings.count == SETTINGS_MAX) {
            return ar_error_set(err, AR_USAGE, "unknown option, or more than %d -s", SETTINGS_MAX);
        }
        command->list[command->settings.count++] = (struct ar_setting){optarg, "-s", AR_USAGE};
        command->settings.list = command->list;
        return AR_OK;
    }
}

static enum ar_status run_command(char **arguments, const struct command *command,
                                  struct ar_error *err)
{
    struct ar_cluster *cluster = NULL;
    struct ar_collective collective = {.operation = &ar_operation_all_reduce,
                                       .element_bytes = ELEMENT_BYTES};
    uint64_t elements;
    enum ar_status status =
        read_collective(arguments, command, &cluster, &collective, &elements, err);
    if (status == AR_OK) {
        status = command->platform_path != NULL
                     ? write_platform(&collective, command->platform_path, err)
                     : run_engine(&collective, elements, command, err);
    }
    ar_cluster_destroy(cluster);
    return status;
}

int main(int argc, char **argv)
{
    struct ar_error err;
    struct command command = {.engine = "simgrid", .window = WINDOW, .jobs = 1};
    enum ar_status status = AR_OK;
    int letter;
    while (status == AR_OK && (letter = getopt(argc, argv, "e:w:j:s:p:o")) != -1) {
        if (letter == 'o') {
            print_simgrid_options();
            return 0;
        }
        status = read_option(letter, &command, &err);
    }
    if (status == AR_OK && argc - optind != ARGUMENTS) {
        fputs(usage_text, stderr);
        return ar_status_exit_code(AR_USAGE);
    }
    if (status == AR_OK) {
        status = run_command(argv + optind, &command, &err);
    }
    if (status != AR_OK) {
        fprintf(stderr, "bench_engine: %s\n", err.text);
    }
    return ar_status_exit_code(status);
}
