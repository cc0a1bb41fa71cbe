/** \file ar_platform.h
 * A cluster whose machine is a user's own SimGrid platform file.
 *
 * The hosts of the platform are the GPUs; what a platform does not say (GPUs per node, costs of a
 * GPU) comes from settings. This folder does not know SimGrid: whoever loads such a cluster
 * supplies a source, which answers what routes the platform has and how it shares links. Answers
 * are kept, so that a route or a pattern of flows is asked for once.
 *
 * To a cluster of this kind everything of ar_cluster.h applies, with these differences:
 *
 * - Paths must have been asked for with ar_cluster_prepare_paths() before ar_cluster_path(); their
 *   tier is AR_TIER_ROUTE.
 * - A link may bound the messages on it without being shared (FATPIPE), and a path may use a link
 *   twice.
 * - How flows share links is SimGrid's matter: rates come from ar_cluster_platform_rates(), not
 * from max-min sharing.
 * - Links can be slow but not down, and no platform is written.
 */
#ifndef AR_PLATFORM_H
#define AR_PLATFORM_H

#include "ar_cluster.h"

/** What a platform file holds. */
struct ar_platform_content {
    const char *const *hosts; /**< in the order of their ranks */
    uint32_t hosts_count;
    const struct ar_platform_link *links;
    uint32_t links_count;
};

/** Who answers for the platform of a cluster. */
struct ar_platform_source {
    /** Fills in the latency and the links, in the arena, of routes whose pairs are there. A pair
     * without a route is an error of AR_BAD_DATA. */
    enum ar_status (*routes)(const struct ar_cluster *cluster, struct ar_platform_route *routes,
                             size_t routes_count, struct ar_arena *arena, struct ar_error *err);
    /** Replaces the rates of flows that are under way together, a good guess, by what the platform
     * gives them. Their paths are prepared. */
    enum ar_status (*rates)(const struct ar_cluster *cluster, const struct ar_flow *flows,
                            size_t flows_count, double *rates_Bps, struct ar_error *err);
};

/** Makes the cluster of a platform file in an arena; path, content, source and settings are
 * borrowed. Settings are those of ar_cluster_create() that a platform does not say itself: name
 * (default: of the file), description, gpus_per_node (1), gpu.model, gpu.cost_table (none),
 * gpu.memory (unknown), gpu.reduce_cost (0), collective.setup (0), hcas (1; only the default number
 * of channels). What was assumed is a parameter with the source "assumed". A wrong setting is
 * reported where it stood; a link whose bandwidth is not above zero is AR_BAD_DATA. */
enum ar_status ar_cluster_from_platform(const char *path, const struct ar_platform_content *content,
                                        const struct ar_platform_source *source,
                                        struct ar_settings settings, struct ar_arena *arena,
                                        struct ar_cluster **cluster, struct ar_error *err);

/** Gets the paths of pairs of ranks from the source, if they are not known yet; does nothing for a
 * cluster of another kind. */
enum ar_status ar_cluster_prepare_paths(const struct ar_cluster *cluster,
                                        const struct ar_flow *pairs, size_t pairs_count,
                                        struct ar_error *err);

/** Replaces the rates of flows that are under way together, a good guess, by those that the source
 * answers. Only for a cluster with a platform. */
enum ar_status ar_cluster_platform_rates(const struct ar_cluster *cluster,
                                         const struct ar_flow *flows, size_t flows_count,
                                         double *rates_Bps, struct ar_error *err);

#endif
