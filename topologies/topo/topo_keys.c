#include "topo_keys.h"

#include <string.h>

#include "ar_text.h"
#include "ar_topo.h"

const struct ar_topo_key_row ar_topo_keys[AR_TOPO_KEYS_COUNT] = {
#define X(symbol, name, kind, is_open, min, max) {name, kind, is_open, min, max},
    AR_TOPO_KEY_LIST(X)
#undef X
};

const size_t ar_topo_keys_count = AR_TOPO_KEYS_COUNT;

const char *ar_topo_key_name(size_t index)
{
    return ar_topo_keys[index].name;
}

enum ar_status ar_topo_key_find(const char *where, const char *name, enum ar_topo_key *key,
                                struct ar_error *err)
{
    const char *names[AR_TOPO_KEYS_COUNT];
    for (size_t i = 0; i < AR_TOPO_KEYS_COUNT; i++) {
        names[i] = ar_topo_keys[i].name;
        if (strcmp(name, names[i]) == 0) {
            *key = (enum ar_topo_key)i;
            return AR_OK;
        }
    }
    const char *nearest = ar_nearest_name(name, names, AR_TOPO_KEYS_COUNT);
    if (nearest == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: key \"%.60s\": found an unknown key; expected one of "
                            "topologies/README.md, such as \"hca.bandwidth\"",
                            where, name);
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: key \"%.60s\": found an unknown key; expected perhaps \"%s\"", where,
                        name, nearest);
}
