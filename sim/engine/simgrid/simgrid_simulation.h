/** \file simgrid_simulation.h
 * Private to this folder: a simulation on a cluster, in a child, and what the program does for it.
 *
 * The parent writes the platform and forks; the child has a copy of the parent's memory, starts its
 * actors, runs them, and what it leaves in the results comes back.
 */
#ifndef AR_SIMGRID_SIMULATION_H
#define AR_SIMGRID_SIMULATION_H

#include <sys/uio.h>

#include "ar_graph_trial.h"
#include "simgrid_fork.h"

/** SimGrid's settings that matter to a result: pinned, and recorded with every row. Its defaults
 * model TCP: LV08 multiplies latency by 13.01 and bandwidth by 0.97; cross traffic takes 5 % for
 * acknowledgements; TCP-gamma limits a flow to a window over its round trip. None of that exists on
 * NVLink or InfiniBand. Latencies are the actors' matter, who pay them after a message has left: so
 * messages of a connection follow each other, and flows share links equally (SimGrid would share by
 * the inverse of latency, as TCP does). The lazy update of shares depends on the order of events
 * and may give a flow too much where many start at once. Times are told apart to 1e-12 s instead of
 * 1e-9 s, which moves contended times by up to 1e-3. */
#define AR_SIMGRID_OPTIONS(X)                                                                      \
    X("network/model:CM02")                                                                        \
    X("network/crosstraffic:0")                                                                    \
    X("network/TCP-gamma:0")                                                                       \
    X("network/latency-factor:0")                                                                  \
    X("network/optim:Full")                                                                        \
    X("surf/precision:1e-12")

/** To be the first member of the struct of its kind. */
struct simgrid_simulation {
    struct simgrid_task task;
    const struct ar_cluster *cluster;
    uint32_t ranks; /**< whose nodes the platform has */
    const struct ar_flow
        *pairs; /**< routes that the platform must have; NULL: those of all pairs */
    size_t pairs_count;
    const struct iovec *results; /**< some of which may be empty */
    int results_count;
    uint64_t memory_bytes;     /**< result: the child's peak */
    const char *platform_path; /**< private */
};

/** Writes the platform of a cluster, forks the simulation on it and copies its results back. */
enum ar_status simgrid_simulate(struct simgrid_simulation *simulation, struct ar_error *err);

/** The pairs of ranks that send to each other, and of ranks and switches: a platform need not have
 * other routes. In the arena. */
enum ar_status simgrid_find_pairs(const struct ar_collective *collective, struct ar_arena *arena,
                                  struct ar_flow **pairs, size_t *count, struct ar_error *err);

/** Runs a graph rank by rank, in the program. */
enum ar_status engine_graph_run(struct ar_graph_trial *trial, struct ar_error *err);

/** Writes SimGrid's version and the pinned settings. */
enum ar_status simgrid_describe(char *text, size_t size, struct ar_error *err);

/** In the child: loads the platform, before the actors are started. */
void simulation_open(const struct simgrid_simulation *simulation);

/** In the child: runs the actors. */
void simulation_run(struct simgrid_simulation *simulation);

/** In the child: answers with memory and results. */
bool simulation_answer(const struct simgrid_simulation *simulation, FILE *answer);

#endif
