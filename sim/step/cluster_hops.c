#include "ar_cluster_hops.h"

static struct ar_hop find(const void *context, uint32_t from, uint32_t to, uint64_t bytes)
{
    const struct ar_cluster *cluster = context;
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    struct ar_path path;
    (void)ar_cluster_path(cluster, from, to, &path);
    return (struct ar_hop){
        .time_s = (double)bytes / path.bandwidth_Bps + ar_message_gap_s(&facts->message, path.tier),
        .latency_s = facts->collective_setup_s + path.latency_s +
                     ar_message_extra_s(&facts->message, path.tier, (double)bytes)};
}

struct ar_hops ar_cluster_hops(const struct ar_cluster *cluster)
{
    return (struct ar_hops){.find = find, .context = cluster};
}
