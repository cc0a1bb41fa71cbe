/** \file ar_maxmin.h
 * Max-min fair sharing of the links of a cluster among messages.
 *
 * Every flow gets the largest rate such that no link is overfull and no flow can have more without
 * taking from one that has less or as much: the links fill up together; when one is full, its flows
 * are settled and the rest goes on. This is what SimGrid does without latencies (tested).
 *
 * Source: D. Bertsekas and R. Gallager, Data Networks (1992), section 6.5.2.
 */
#pragma once

#include "ar_arena.h"
#include "ar_cluster.h"

/** The paths of some flows, each asked for once. Begins as zeros; keeps its room for others. */
struct ar_paths {
    size_t count;
    uint32_t *links;       /**< numbers of those of all paths, one after the other */
    uint32_t *begin;       /**< [flow]: its first one; and the end */
    double *switches_s;    /**< [flow]: latency of its switches */
    double *bandwidth_Bps; /**< [flow]: of its narrowest link */
    enum ar_tier *tiers;   /**< [flow] */
    /** [as links]: the periods that a link was moved into the first one, or links it stands for. */
    uint32_t *turns;
    size_t flows_room, links_room;
};

/** Who uses a link in all exchanges so far: one more than their place; 0: nobody yet. */
struct ar_link_users {
    uint32_t sender, receiver;
};

/** Room to share out the links of a cluster, for any flows in turn. Links that are or were in use
 * have numbers, by which arrays go; others cost nothing. */
struct ar_maxmin {
    const struct ar_cluster *cluster;
    struct ar_arena *arena;  /**< for all of it, kept from flows to flows */
    bool has_equal_gpus;     /**< links are taken as those of the first GPU of their node */
    uint32_t like_ranks;     /**< not 0: they are taken as the first like them on these ranks */
    const uint32_t *repeats; /**< [flow]: it stands for so many, if like_ranks is not 0 */
    struct ar_paths paths;
    double *rates_Bps;     /**< [flow]: the result */
    uint32_t *numbers;     /**< [link of the cluster]: its number, plus one; 0: it has none */
    uint32_t *known;       /**< [link]: its place in the cluster */
    double *bandwidth_Bps; /**< [link] */
    uint32_t known_count;
    /* [link]: noted by callers; 0 when a link gets its number. */
    double *carried; /* in all phases so far, in buffers of a channel */
    double *folded;  /* of the first period: each link that comes from it carries as much more */
    double *loads;   /* buffers of a channel, in the phase that goes at once; and messages */
    uint32_t *messages;
    struct ar_link_users *users;
    uint32_t *flows; /**< [link]: of those shared out last */
    uint32_t *used;  /**< the links that carry them */
    uint32_t used_count;
    uint32_t *tight_of; /* [link]: its number among those that several flows share */
    uint32_t tight_count;
    /* By this number, while rates are found. */
    uint32_t *waiting;  /* flows not yet settled */
    double *lowest_Bps; /* the least that one of these gets on some link of its own */
    double *left_Bps;   /* not yet given to settled flows */
    double *share_Bps;  /* for each of the waiting flows; infinite where nobody waits */
    double *final_Bps;  /* the same, where all that wait get no more elsewhere; else infinite */
    /* The rest of the paths: links with several flows, by this number; bandwidths of others. */
    uint32_t *links_left;
    uint32_t *begin;
    double *bounds_Bps;
    uint32_t *open; /* flows not yet settled */
    double *levels;
    size_t flows_room, links_room;
};

/** Makes room for flows on at most `taken_max` of the first `links_count` links of a cluster. */
void ar_maxmin_create(struct ar_arena *arena, const struct ar_cluster *cluster, size_t links_count,
                      size_t taken_max, struct ar_maxmin *maxmin);

/** The paths of flows alone. With `period` above 0 all their links are moved into the first period
 * of the cluster (ar_cluster_period()): for flows of the first period that stand for those of all
 * others, since what they put on a link together, all put on each of its kind. */
void ar_maxmin_find_paths(struct ar_maxmin *maxmin, const struct ar_flow *flows, size_t count,
                          uint32_t period);

/** The rate of each flow of `paths` in bytes per second; a path may leave out links that no other
 * flow uses but the narrowest one. The time is that of going through all paths, for as many rounds
 * as full links wait for each other. False if that are several and flows stand for others: they may
 * then be unlike. */
bool ar_maxmin_share(struct ar_maxmin *maxmin);

/** Counts the flows of `paths` on each link; returns whether they would send more over some link,
 * each as fast as its path alone, than it can carry. */
bool ar_maxmin_is_overfull(struct ar_maxmin *maxmin);

/** The link of the cluster on a flow's path that has the least bandwidth for each flow on it; the
 * number of these. */
uint32_t ar_maxmin_narrowest(const struct ar_maxmin *maxmin, size_t flow, uint32_t *flows);
