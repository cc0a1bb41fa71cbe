/** \file platform_cluster.h
 * Private to this folder: the inside of a cluster with a platform file.
 */
#ifndef AR_PLATFORM_CLUSTER_H
#define AR_PLATFORM_CLUSTER_H

#include "routes.h"

struct ar_platform {
    char *path;
    char **hosts; /**< names by rank; owned, as all below */
    uint32_t hosts_count;
    struct ar_platform_link *links;
    uint32_t links_count;
    const struct ar_platform_source *source;
    struct ar_route_table routes;
    struct ar_rates_list rates;
};

void ar_platform_destroy(struct ar_platform *platform);

/** The path of a prepared pair. */
struct ar_path ar_platform_find_path(const struct ar_platform *platform, uint32_t source,
                                     uint32_t destination);

#endif
