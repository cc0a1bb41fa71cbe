/* Ranks as threads of this process. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "host_transport.h"
#include "probes.h"
#include "rank.h"

enum { RANKS_STANDARD = 4 };

/* One rank's thread, with what it found. */
struct member {
    const struct measurement *measurement;
    const struct run_config *config;
    const struct payload *payload;
    const struct ports *ports;
    struct host_group *group;
    uint32_t rank;
    pthread_t thread;
    struct rank_result result;
};

/* All of them. */
struct team {
    struct member *members;
    struct ports *ports;
    struct payload payload;
    struct host_group *group;
};

static enum ar_status start(const struct run_config *config, struct machine *machine,
                            struct ar_error *err)
{
    (void)config;
    (void)err;
    *machine = (struct machine){
        .is_first = true, .ranks_max = HOST_RANKS_MAX, .ranks_standard = RANKS_STANDARD};
    return AR_OK;
}

static void stop(int code)
{
    (void)code;
}

static void describe(FILE *file)
{
    fputs("# ranks: threads of one process, mailboxes in shared memory\n", file);
}

static const char *tier(uint32_t ranks, uint32_t from, uint32_t to)
{
    (void)ranks;
    (void)from;
    (void)to;
    return "shared-memory";
}

static void *run_member(void *argument)
{
    struct member *member = argument;
    struct ar_error err;
    struct transport *transport = host_group_transport(member->group, member->rank);
    bool is_probe = member->measurement->probe != PROBE_NONE;
    enum ar_status status =
        is_probe ? probe_run(member->measurement, member->config, transport, &member->result, &err)
                 : rank_run(member->measurement, member->config, member->payload, member->ports,
                            transport, &member->result, &err);
    if (status != AR_OK) {
        host_group_fail(member->group, &err);
    }
    return NULL;
}

static enum ar_status create_member(const struct run_config *config,
                                    const struct measurement *measurement, uint32_t rank,
                                    struct team *team, struct ar_error *err)
{
    struct member *member = &team->members[rank];
    *member = (struct member){.measurement = measurement,
                              .config = config,
                              .payload = &team->payload,
                              .ports = &team->ports[rank],
                              .rank = rank};
    member->result.times_s = calloc(measurement->repetitions, sizeof(double));
    if (member->result.times_s == NULL) {
        return ar_error_no_memory(err, "times");
    }
    return measurement->probe != PROBE_NONE
               ? probe_ports(measurement, rank, &team->ports[rank], err)
               : ports_create(measurement, rank, &team->ports[rank], err);
}

static enum ar_status team_create(const struct run_config *config,
                                  const struct measurement *measurement, struct team *team,
                                  struct ar_error *err)
{
    AR_TRY(payload_create(measurement->type, measurement->ranks, measurement->elements,
                          &team->payload, err));
    team->members = calloc(measurement->ranks, sizeof *team->members);
    team->ports = calloc(measurement->ranks, sizeof *team->ports);
    if (team->members == NULL || team->ports == NULL) {
        return ar_error_no_memory(err, "ranks");
    }
    for (uint32_t rank = 0; rank < measurement->ranks; rank++) {
        AR_TRY(create_member(config, measurement, rank, team, err));
    }
    return host_group_create(team->ports, measurement->ranks, config->window,
                             execution_slot_bytes(measurement, config), &team->group, err);
}

static void team_destroy(uint32_t ranks, struct team *team)
{
    if (team->group != NULL) {
        host_group_destroy(team->group);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (team->members != NULL) {
            free(team->members[rank].result.times_s);
        }
        if (team->ports != NULL) {
            ports_destroy(&team->ports[rank]);
        }
    }
    free(team->members);
    free(team->ports);
    payload_destroy(&team->payload);
}

/* Runs all threads to their end. */
static enum ar_status run_threads(uint32_t ranks, struct team *team, struct ar_error *err)
{
    uint32_t started = 0;
    for (; started < ranks; started++) {
        struct member *member = &team->members[started];
        member->group = team->group;
        int failure = pthread_create(&member->thread, NULL, run_member, member);
        if (failure != 0) {
            struct ar_error cause;
            ar_error_set(&cause, AR_NO_MEMORY, "cannot start a thread for rank %u: %s", started,
                         strerror(failure));
            host_group_fail(team->group, &cause);
            break;
        }
    }
    for (uint32_t rank = 0; rank < started; rank++) {
        pthread_join(team->members[rank].thread, NULL);
    }
    return host_group_status(team->group, err);
}

/* A repetition takes as long as its slowest rank. */
static void collect(const struct team *team, struct measurement *measurement)
{
    for (uint32_t rank = 0; rank < measurement->ranks; rank++) {
        const struct rank_result *result = &team->members[rank].result;
        for (uint32_t i = 0; i < measurement->repetitions; i++) {
            double slowest_s = measurement->times_s[i];
            measurement->times_s[i] =
                result->times_s[i] > slowest_s ? result->times_s[i] : slowest_s;
        }
        uint64_t wrong = measurement->mismatch.wrong + result->mismatch.wrong;
        if (measurement->mismatch.wrong == 0) {
            measurement->mismatch = result->mismatch;
        }
        measurement->mismatch.wrong = wrong;
    }
}

static enum ar_status run(const struct run_config *config, struct measurement *measurement,
                          struct ar_error *err)
{
    struct team team = {.members = NULL};
    enum ar_status status = team_create(config, measurement, &team, err);
    if (status == AR_OK) {
        status = run_threads(measurement->ranks, &team, err);
    }
    if (status == AR_OK) {
        collect(&team, measurement);
        measurement->nodes = 1;
    }
    team_destroy(measurement->ranks, &team);
    return status;
}

const struct backend backend_host = {
    .name = "host",
    .summary = "threads and shared memory, any number of ranks",
    .memories = {&memory_host},
    .start = start,
    .stop = stop,
    .describe = describe,
    .tier = tier,
    .run = run,
};
