#include "ar_library_engine.h"

enum ar_status ar_library_engine_tuning(const struct ar_cluster *cluster, const char *release,
                                        const struct ar_library_table *table,
                                        struct ar_tuning *tuning, struct ar_error *err)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(cluster);
    struct ar_tuning found = ar_tuning_nccl_2_8_4(0, 0);
    const char *where = release != NULL ? "--tuning" : "library.release";
    const char *named = release != NULL ? release : facts->library_release;
    if (named[0] == '\0' && release == NULL) {
        named = (table != NULL ? &table->library.tuning : &found)->release->release;
    }
    enum ar_status status = ar_tuning_find(where, named, facts->library_node_bus_Bps,
                                           facts->library_net_bus_Bps, &found, err);
    if (status != AR_OK) {
        return release != NULL ? ar_error_as_usage(status, err) : status;
    }
    *tuning = found;
    tuning->is_pcie = !facts->has_nvlink;
    if (facts->library_channels > 0) {
        tuning->channels = facts->library_channels;
    }
    return AR_OK;
}
