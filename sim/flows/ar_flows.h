/** \file ar_flows.h
 * The flows of a collective: which messages share which links of the cluster, and at which rate.
 *
 * They are resolved once for buffers of all sizes, and shared by all that put times on the
 * collective: the closed form, the engines, the loads of links. What is known of a phase depends on
 * its kind (ar_algorithm.h):
 *
 * - **walks**: every position keeps its peers, so the messages of a step are a fixed set of flows.
 *   The rate of a hop is its max-min fair share while all these flows of all lanes are under way
 *   together (ar_maxmin.h).
 * - **trees**: hops like those of walks. The rate of each part on each hop depends on its size, and
 *   is found when somebody asks for it (ar_flows_tree_shares()).
 * - **exchanges**: peers change from step to step. The messages of a step, on all lanes, are taken
 *   to begin together, each at its max-min fair share of the links while others are under way; its
 *   rate is the mean one. In a phase in which all go at once,
 *   all messages of the phase are, and a message arrives when the busiest link of its path can have
 *   carried all that goes over it: its rate is its size over that time.
 * - **sums**: in a stage of a line all members send to the switch and get from it at the same time:
 *   a switch passes on what it sums while more of it comes. So a part takes as long as the busiest
 *   link of the line, and a latency. What members send goes up the tree of switches that joins
 *   them, once over each link, and comes down so (AR_SWITCH). While other stages are at work on
 *   other parts, they take their share of the links: every stage of the pipeline is then as fast as
 *   the busiest link of its line can carry a part of all stages.
 */
#pragma once

#include "ar_arena.h"
#include "ar_collective.h"

/* --- kinds of messages ---------------------------------------------------------------------- */

/** Messages that are alike, of a step, so that one in which all are takes O(1), or on hops. */
struct ar_message_kind {
    double switches_s, rate_Bps; /**< latency beyond that of its tier; share of its links */
    uint32_t turns;  /**< messages whose gaps its HCAs work on together (ar_message_cost.h) */
    uint32_t pieces; /**< of ar_phase.pieces of the buffer of a channel; 0 of hops */
    enum ar_tier tier;
    uint32_t link;  /**< of the path of the first one: that with the least bandwidth for each, */
    uint32_t flows; /**< of these messages */
};

/** The time that a message of `bytes` spends on its way, */
static inline double ar_message_latency_s(const struct ar_message_kind *kind,
                                          const struct ar_message_cost *cost, double bytes)
{
    return cost->path_s[kind->tier] + kind->switches_s +
           ar_message_extra_s(cost, kind->tier, bytes);
}

/** and that for which it occupies its links. */
static inline double ar_message_busy_s(const struct ar_message_kind *kind,
                                       const struct ar_message_cost *cost, double bytes)
{
    return bytes / kind->rate_Bps + kind->turns * ar_message_gap_s(cost, kind->tier);
}

/* --- walks and trees ------------------------------------------------------------------------ */

struct ar_hop {
    uint32_t from; /**< position that sends */
    uint32_t to;
    const struct ar_message_kind *kind;
};

/** Hops that follow each other: around a ring, or along a chain. */
struct ar_walk {
    uint32_t first; /**< in ar_pattern.hops */
    uint32_t count;
    uint32_t period; /**< so many of its hops are there; hop i is like hop i % period */
    bool is_ring;
};

/** The shares of links that the parts have in a phase that is a tree, for one size of message. */
struct ar_tree_shares {
    double bytes;            /**< of a message */
    const double *rates_Bps; /**< [part][like]: its size over the time for which it is under way */
    const uint32_t *like;    /**< [hop] */
    uint32_t rates_count;    /**< of each part; 0: all parts have the same */
    double slowest_Bps;      /**< the least share that a hop ever has */
    uint32_t slowest_link;   /**< where it is the share of a link */
    uint32_t slowest_flows;  /**< under way on that link then */
    uint32_t followed;       /**< ranks on all lanes, or those that stand for all (fast_tree.c) */
};

static inline double ar_tree_rate_Bps(const struct ar_tree_shares *shares, uint32_t part,
                                      uint32_t hop)
{
    return shares->rates_Bps[(size_t)part * shares->rates_count + shares->like[hop]];
}

/* --- exchanges ------------------------------------------------------------------------------ */

struct ar_exchange_step {
    uint32_t ahead; /**< every position sends to the one so many ahead; 0: see `peers` */
    /** Senders lie among the positions first, first + stride, ..., so many: their places. */
    uint32_t first, stride, count;
    const uint32_t *peers; /**< [place]; AR_NEVER: it does not send */
    uint32_t first_kind, kinds_count;
    bool is_shared;  /**< some message has less than the bandwidth of its path */
    uint32_t period; /**< after so many places kinds repeat, and paths of a shift; else `count` */
    /** [lane][place % period]: number of the kind of its message; NULL if all are of one kind. */
    const uint32_t *kind_of;
};

struct ar_exchange {
    struct ar_exchange_step *steps; /**< [step of the phase] */
    const struct ar_message_kind *kinds;
    uint32_t smallest, largest; /**< pieces of a message */
    bool is_uniform;            /**< the messages of each step are alike */
    bool is_full;               /**< all positions send in every step */
    bool is_shared;             /**< some message has less than the bandwidth of its path */
    /** In this phase and the exchanges before it, every link carries messages of one sender or for
     * one receiver only, so that never two are on it, whoever is late. */
    bool is_private;
    bool has_lanes_alike; /**< so far, kinds are the same on all lanes */
};

/* --- sums ----------------------------------------------------------------------------------- */

/** A line of members in a stage, on a lane. */
struct ar_line_sum {
    struct ar_line line;
    double latency_s;
    double alone_s_per_byte; /**< of the largest message, while no other stage is at work */
    double pace_s_per_byte;  /**< while all are: from part to part */
    uint32_t pieces;         /**< of ar_phase.pieces: the largest message */
    uint32_t turns;          /**< messages whose gaps its HCAs work on together */
    enum ar_tier tier;
    uint32_t link;  /**< the busiest one of the line while all stages are at work */
    uint32_t flows; /**< messages that it carries for each part */
};

/** The latency of a part whose largest message has so many bytes. */
static inline double ar_line_latency_s(const struct ar_line_sum *sum,
                                       const struct ar_message_cost *cost, double bytes)
{
    return sum->latency_s + ar_message_extra_s(cost, sum->tier, bytes);
}

/** The bytes for which such a part keeps links busy, with what the software of the members adds. */
static inline double ar_line_busy_bytes(const struct ar_line_sum *sum,
                                        const struct ar_message_cost *cost, double bytes)
{
    return bytes + sum->turns * ar_message_gap_s(cost, sum->tier) / sum->alone_s_per_byte;
}

struct ar_line_sums {
    uint32_t stages;
    struct ar_line_sum *lines; /**< lane after lane, stage after stage */
    uint32_t *first;           /**< [lane * stages + stage]: its first line, and the end */
    bool is_uniform;           /**< the lines of each stage are alike */
    bool is_shared;            /**< some link has messages of several lines, or stages */
    bool is_met;               /**< some link has messages of several stages */
};

/** Elements that the largest message of a line has in a step, of a part of the buffer: those of
 * the move of its first member. */
uint64_t ar_line_elements(const struct ar_collective *collective, const struct ar_line *line,
                          uint64_t elements, uint32_t step);

/* --- a collective --------------------------------------------------------------------------- */

/** The flows of a phase; all zero if it has no steps. */
struct ar_pattern {
    struct ar_hop *hops; /**< lane after lane, in the order of the walks, or of the steps in
                              which the hops of a tree begin: none before what leads to it */
    uint32_t hops_count;
    uint32_t *lane_hops; /**< first hop of each lane, and the end */
    struct ar_walk *walks;
    uint32_t walks_count;       /**< 0 in a tree */
    uint32_t *lane_walks;       /**< first walk of each lane, and the end */
    uint32_t *step_hops;        /**< in a tree: first hop of a lane that begins in each step of the
                                     phase, and the end, counted from the lane's first; else NULL */
    struct ar_tree_rates *tree; /**< of a tree, for ar_flows_tree_shares(); else NULL */
    struct ar_exchange *exchange; /**< of an exchange, which has nothing of the above; else NULL */
    struct ar_line_sums *line_sums; /**< of sums, which have nothing of the above either */
    bool is_uniform;                /**< all hops, messages of a step or lines of a stage alike */
    bool is_shared; /**< some hop or message has less than the bandwidth of its path */
};

/** Arrays that the engine `recurrence` keeps for flows from step to step where ranks are unlike;
 * they end with the flows. */
struct ar_kept {
    struct recurrence *recurrence;
    struct ar_arena memory; /**< empty: nothing is laid out */
    struct ar_flows *whole; /**< ar_flows_whole(), once asked for */
};

struct flows_scratch;

struct ar_flows {
    struct ar_collective collective;
    /** The collective of the lanes that are resolved: patterns have its lanes. Lane i of it stands
     * for the lanes of `collective` from i * lanes_each on, so many, and for those that are a
     * multiple of `lanes_count` further on (fast_lanes.c). */
    struct ar_collective resolved;
    uint32_t lanes_each, lanes_count;
    /** Patterns are those of so many positions, the first ones: position i does what i % period
     * does (fast_steps.c). All positions where that is not so. */
    uint32_t period;
    uint32_t phases_count;
    struct ar_phase phases[AR_PHASES_MAX];
    struct ar_pattern patterns[AR_PHASES_MAX];
    /** How long the busiest link needs for what all phases send over it, for each byte of the
     * buffer of a channel, if messages have equal sizes. */
    double busiest_s_per_byte;
    /** Energy of the links for each byte of the buffer of a channel; NAN: not known of all. */
    double energy_j_per_byte;
    uint64_t even_elements; /**< of such a buffer, whose messages have equal sizes in all phases */
    bool is_plain;          /**< made without the short cuts of fast_*.c */
    struct ar_kept *kept;   /**< what changes, where engines see the flows as const */
    struct ar_arena memory;
};

/** The lane of the patterns that stands for a lane of the collective. */
static inline uint32_t ar_flows_lane(const struct ar_flows *flows, uint32_t lane)
{
    return lane % flows->lanes_count / flows->lanes_each;
}

/** How many lanes of a collective, beside each other, one can stand for, with the links of all GPUs
 * of a node taken as those of the first one (fast_lanes.c); 1: none but itself. */
uint32_t ar_flows_lanes_each(const struct ar_collective *collective);

/** Checks the collective and resolves its flows; O(ranks * lanes) time and memory for a phase of
 * walks. They do not outlive the cluster. Freed with ar_flows_destroy(). */
enum ar_status ar_flows_create(const struct ar_collective *collective, struct ar_flows **flows,
                               struct ar_error *err);

/** The same with what rates of links do not change, such as paths: it is kept in the arena for the
 * next flows of one collective on one cluster. `*kept` begins as NULL. */
enum ar_status ar_flows_create_kept(const struct ar_collective *collective, struct ar_arena *arena,
                                    struct flows_scratch **kept, struct ar_flows **flows,
                                    struct ar_error *err);

/** The same without the short cuts of fast_*.c, which engines leave out for these flows, too: for
 * tests that the results are the same. */
enum ar_status ar_flows_create_plain(const struct ar_collective *collective,
                                     struct ar_flows **flows, struct ar_error *err);

/** The same flows with patterns of all positions: for ranks or messages that are unlike. */
const struct ar_flows *ar_flows_whole(const struct ar_flows *flows);

/** For how long the message that a position sends in a step of a phase keeps its HCAs busy besides
 * its bytes (ar_message_cost.h); 0 of sums, whose lines have it. O(hops of the lane). */
double ar_flows_gap_s(const struct ar_flows *flows, uint32_t phase, uint32_t step, uint32_t lane,
                      uint32_t from, uint32_t to);

/** Frees flows; NULL is allowed. */
void ar_flows_destroy(void *flows);

/** The shares in a phase that is a tree and whose messages are `bytes` long; valid until
 * another size is asked for. At once for the same size again; else for each part
 * on each hop O(hops that share links with it), if any does. */
const struct ar_tree_shares *ar_flows_tree_shares(const struct ar_flows *flows, uint32_t phase,
                                                  double bytes);

/** Elements of the largest message of so many pieces of the buffer of a channel. */
uint64_t ar_flows_piece_elements(const struct ar_flows *flows, uint32_t phase, uint32_t pieces,
                                 uint64_t elements);

/** Bytes of the largest message of a phase. */
uint64_t ar_flows_message_bytes(const struct ar_flows *flows, uint32_t phase, uint64_t elements);

/** The least time that a collective of `elements` elements takes without setup: that of its
 * busiest link for its bytes. Elements are rounded up so that all messages have equal sizes. */
double ar_flows_least_s(const struct ar_flows *flows, uint64_t elements);

/** Why the closed form of so many elements is not what a simulation of all messages finds; static
 * text, "" if it is. O(ranks * channels) at most. */
const char *ar_flows_why_not_exact(const struct ar_flows *flows, uint64_t elements);

/** Whether ranks finish at different times, and so begin the next collective. */
bool ar_flows_are_ragged(const struct ar_flows *flows);
