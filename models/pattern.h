/** \file pattern.h
 * The flows of a phase: which hops its messages take, at which rate, in which order.
 *
 * In a phase every position keeps its peers, so the messages of a step are a fixed set of flows on
 * the links of the cluster. A hop's rate is the least of bandwidth / flows over the links of its
 * path, all channels together.
 */
#ifndef AR_PATTERN_H
#define AR_PATTERN_H

#include "ar_collective.h"

struct hop {
    double latency_s;
    double rate_Bps;
    enum ar_tier tier;
    uint32_t link;  /* the one that limits the rate */
    uint32_t flows; /* on that link */
};

/* Hops that follow each other: around a ring, or along a chain. */
struct walk {
    uint32_t first;
    uint32_t count;
    bool is_ring;
};

struct pattern {
    struct hop *hops; /* in the order of the walks */
    uint32_t hops_count;
    struct walk *walks;
    uint32_t walks_count;
    bool is_uniform; /* all hops alike */
    bool is_shared;  /* some link carries two flows or more */
};

/** Room to resolve the patterns of one collective, reused from phase to phase. */
struct pattern_scratch;

enum ar_status pattern_scratch_create(const struct ar_collective *collective,
                                      struct pattern_scratch **scratch, struct ar_error *err);
void pattern_scratch_destroy(struct pattern_scratch *scratch);

/** Resolves the phase of `steps` > 0 steps that begins at `first_step`. `pattern` must be zeroed
 * and is freed with pattern_destroy(), also after a failure. */
enum ar_status pattern_resolve(const struct ar_collective *collective, uint32_t first_step,
                               uint32_t steps, struct pattern_scratch *scratch,
                               struct pattern *pattern, struct ar_error *err);
void pattern_destroy(struct pattern *pattern);

#endif
