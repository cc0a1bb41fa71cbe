/* Lists of node counts. */
#include "ar_library_table.h"

bool ar_library_nodes_have(const struct ar_library_nodes *nodes, uint32_t count)
{
    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->counts[i] == count) {
            return true;
        }
    }
    return false;
}

enum ar_status ar_library_nodes_add(struct ar_library_nodes *nodes, uint32_t count,
                                    struct ar_error *err)
{
    if (ar_library_nodes_have(nodes, count)) {
        return AR_OK;
    }
    if (nodes->count == AR_LIBRARY_NODES_MAX) {
        return ar_error_set(err, AR_BAD_DATA,
                            "found more than %d different node counts; expected fewer",
                            AR_LIBRARY_NODES_MAX);
    }
    size_t place = nodes->count++;
    for (; place > 0 && nodes->counts[place - 1] > count; place--) {
        nodes->counts[place] = nodes->counts[place - 1];
    }
    nodes->counts[place] = count;
    return AR_OK;
}
