/** \file platform_child.h
 * Private to this folder: what a forked child answers about a platform file (simgrid_fork.h), and
 * the functions of the module that do so. Child and parent are one program, so answers are structs
 * as they lie in memory.
 */
#ifndef AR_PLATFORM_CHILD_H
#define AR_PLATFORM_CHILD_H

#include "ar_platform_file.h"
#include "simgrid_fork.h"

enum { PLATFORM_NAME_SIZE = 1024 };

/** Answers platform_counts; for each host its name; for each link its bandwidth (double), a byte
 * that says whether it is shared, and its name. Names end with a zero byte. */
struct platform_content_task {
    struct simgrid_task task;
    const char *path;
};

struct platform_counts {
    uint32_t hosts;
    uint32_t links;
};

/** Answers one byte once SimGrid runs, then for each pair platform_route_head and the numbers of
 * its links; without links there is no route. The child dies of some pairs without a route. */
struct platform_routes_task {
    struct simgrid_task task;
    const struct ar_cluster *cluster;
    const struct ar_flow *pairs;
    size_t pairs_count;
};

struct platform_route_head {
    double latency_s;
    uint32_t links_count;
};

/** Answers the rate of each flow. */
struct platform_rates_task {
    struct simgrid_task task;
    const struct ar_cluster *cluster;
    const struct ar_flow *flows;
    size_t flows_count;
    const double *guesses_Bps;
};

/** The three tasks; in the child. */
bool platform_answer_content(struct simgrid_task *task, int answer);
bool platform_answer_routes(struct simgrid_task *task, int answer);
bool platform_answer_rates(struct simgrid_task *task, int answer);

/** For a child: loads the platform file in SimGrid and makes the slow links of the cluster slow. */
void platform_open(const struct ar_cluster *cluster, const char *path);

#endif
