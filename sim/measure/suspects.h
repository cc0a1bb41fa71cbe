/** \file suspects.h
 * Suspects: faults of a machine that is slower, or faster, than expected, a row for each.
 *
 * A suspect is a change of the scenario, so that its times are predictions like any other. Changes
 * of the specification (bandwidths of links, HCAs on the host, no NVLinks) act on messages by the
 * links of the changed cluster, and on calls of a library by one rule: bandwidths of its rings, in
 * a node and across the network, are multiplied by what the changed links make of a ring of
 * messages, or a tree, on as many nodes (find_ratio()). The library knows what its specification
 * says and chooses by it; it does not know of other jobs or slow cables.
 */
#pragma once

#include "ar_measured.h"

/** The number that the factors of a suspect multiply. */
enum suspect_target {
    SUSPECT_NOTHING,
    SUSPECT_HCA,         /**< hca.bandwidth */
    SUSPECT_PCIE,        /**< pcie.bandwidth */
    SUSPECT_NVLINK,      /**< nvlink.bandwidth */
    SUSPECT_NO_NVLINK,   /**< nothing; hops in a node take as long as by PCIe */
    SUSPECT_UPLINKS,     /**< rack.uplink_bandwidth */
    SUSPECT_SLOW_LINK,   /**< the first HCA of the first node has this share of its bandwidth */
    SUSPECT_CHANNELS,    /**< channels of the library, with what its rings carry */
    SUSPECT_NET_LATENCY, /**< of a hop across the network */
    SUSPECT_SOCKETS,     /**< the bandwidth that sockets leave to an HCA */
    SUSPECT_BASE,        /**< what each call of the library costs before any hop */
    SUSPECT_LL_SHARE,    /**< of the bandwidth that protocol LL has */
    SUSPECT_TIME,        /**< the times as they were written down */
    SUSPECT_AS_BUSBW     /**< the same: rates of the log are busbw, and were read as algbw */
};

enum { SUSPECT_FACTORS_MAX = 6, SUSPECT_CLUES_MAX = 8 };

struct suspect {
    const char *name;     /**< `gpudirect-off` */
    const char *sentence; /**< "GPUDirect RDMA is off" */
    const char *look;     /**< what to look at or to set next */
    const char *source;   /**< where that is documented */
    enum suspect_target target;
    /** Messages of NCCL: patterns of a shell, in letters of any case, behind a sign: + it is so, -
     * it is not, < it is so if fewer are counted than the cluster has. The earlier outweigh the
     * later; after the last one NULL. */
    const char *clues[SUSPECT_CLUES_MAX + 1];
    /** Values that are tried; the first 0 ends them. More than one: it is a free parameter. */
    double factors[SUSPECT_FACTORS_MAX];
    const char *setting;      /**< of the cluster, beside it; NULL: none */
    double net_latency;       /**< a further factor of that latency; 0: none */
    uint32_t choices;         /**< of the library, a bit for each, that are left; 0: all */
    int collnet;              /**< 1: the network's switches sum, -1: they do not, 0: as it is */
    double rarity;            /**< how much less often it is than others; 0: as often */
    double scatter_frac;      /**< of its change, from row to row, as a deviation; 0: as others */
    double hca_bandwidth_Bps; /**< at most, times the factor of SUSPECT_SOCKETS; 0: as it is */
    bool is_hidden; /**< links are slow, unseen by the library, trees maybe less than rings */
};

/** The suspects; the first one is none of them: nothing is wrong, or nothing that is listed. */
extern const struct suspect suspects[];
extern const size_t suspects_count;

/** Whether a row tells of suspects: calls and messages of few ranks (ar_estimate_takes()), or any
 * if there are no such rows. Messages of many ranks would take most of the time. */
bool suspect_asks(const struct ar_measured *measured, const struct ar_measured_row *row);

/** Times of the second 4 GiB: [ring, tree][nodes]; 0: not known yet. More nodes: as the last. */
enum { RING_NODES_MAX = 16 };
struct suspect_rings {
    double taken_s[2][RING_NODES_MAX + 1];
};

/** Predicts the rows of `measured` as they were if one factor of a suspect were true, in the order
 * of the rows, the arena's; times are NAN of rows that are not asked. Messages on links that the
 * suspect leaves as they are keep what is `expected`; `known` is of the links as they are.
 * `by_trees`: trees wait less for a slow link of the first node than rings, else as long.
 * AR_BAD_DATA: the cluster cannot be so. */
enum ar_status suspect_predict(const struct ar_measured *measured, const struct suspect *suspect,
                               double factor, bool by_trees,
                               const struct ar_library_prediction *expected,
                               struct suspect_rings *known, struct ar_arena *arena,
                               struct ar_library_prediction **predictions, struct ar_error *err);
