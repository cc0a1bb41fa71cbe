/** \file ar_tier.h
 * The kinds of path between two GPUs, nearest first.
 */
#ifndef AR_TIER_H
#define AR_TIER_H

#define AR_TIER_LIST(X)                                                                            \
    X(AR_TIER_NVLINK, "nvlink", "GPU to GPU of a node over NVLink")                                \
    X(AR_TIER_PCIE, "pcie", "GPU to GPU of a node over PCIe")                                      \
    X(AR_TIER_RACK, "rack", "node to node within a rack")                                          \
    X(AR_TIER_SPINE, "spine", "node to node over several switches")

enum ar_tier {
#define X(symbol, name, text) symbol,
    AR_TIER_LIST(X)
#undef X
        AR_TIERS_COUNT
};

const char *ar_tier_name(enum ar_tier tier);

#endif
