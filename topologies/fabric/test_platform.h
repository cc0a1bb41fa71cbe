/** \file test_platform.h
 * Loads the platform of a cluster in SimGrid and asks it about routes and transfers.
 *
 * SimGrid's engine is one per process, so each question runs in a forked child; a crash or abort of
 * the child fails the test.
 */
#pragma once

#include "ar_cluster.h"

/** One transfer that starts at time 0, and when it has left. */
struct test_flow {
    uint32_t source, destination;
    long bytes;
    double finish_s;
};

/** Simulates the flows together on the first `nodes_count` nodes, no latency; sets finish_s. */
void test_platform_transfer(const struct ar_cluster *cluster, uint32_t nodes_count,
                            struct test_flow *flows, size_t flows_count);

/** Checks the hosts and all routes (one in some if there are more than 10000) of the first nodes in
 * SimGrid: latency, bandwidth and links of their paths. */
void test_platform_check_routes(const struct ar_cluster *cluster, uint32_t nodes_count);

enum { TEST_ZONE_LINKS_MAX = 64 };

/** The links of one route of a platform that is not ours, by numbers of their own. */
struct test_zone_route {
    uint32_t source, destination; /**< of hosts `gpu-N` */
    uint32_t links_count;
    uint32_t links[TEST_ZONE_LINKS_MAX];
};

/** Looks up the links of routes in the text of a platform file; `links_count` is 0 before. */
void test_zone_look_up(const char *platform, struct test_zone_route *routes, size_t routes_count);
