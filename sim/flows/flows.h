/** \file flows.h
 * Private to sim/flows: how the phases of a collective are resolved, one after the other.
 */
#pragma once

#include "ar_flows.h"
#include "ar_maxmin.h"

/** Steps of a collective with the same messages (fast_steps.c). One of them is resolved. */
struct like_steps {
    uint32_t first;  /**< number of the step that is resolved for this one */
    uint32_t count;  /**< valid of the first one: so many steps are resolved by it */
    bool is_private; /**< exchange_scratch.is_private after it */
    const struct ar_exchange_step *made; /**< valid of the first one: where it is, once resolved */
};

/** A place of the table that finds a kind of message again. */
struct kind_slot {
    uint32_t stamp; /**< of the step that has filled it */
    uint32_t kind;
};

/** The messages of a step of an exchange. */
struct step_flows {
    uint32_t *peers;  /**< [position] */
    uint64_t *pieces; /**< [position] */
    struct ar_flow *flows;
    uint32_t *places;  /**< [flow]: who sends it */
    uint32_t *senders; /**< [flow]: its position */
    uint32_t *repeats; /**< [flow]: it stands for so many, each a node further on */
    uint32_t flows_count;
    uint32_t *turns;       /**< [flow]: ar_message_kind.turns */
    struct ar_paths paths; /**< of the flows; valid where they are kept */
};

/** A step of an exchange while it is resolved. */
struct exchange_scratch {
    const struct ar_collective *collective;
    uint32_t channels; /**< of the whole collective */
    struct ar_maxmin *rates;
    uint32_t positions, lanes;
    uint32_t period;        /**< positions after which the ranks and their paths repeat */
    uint32_t sending;       /**< positions whose sends are looked at */
    uint32_t folded;        /**< positions that stand for all, if all do the same; else all */
    uint32_t node;          /**< positions after which all ranks are a node further on; or all */
    bool can_repeat;        /**< nodes may stand for others in the present phase */
    bool has_repeats;       /**< nodes stand for others in the present step */
    uint32_t period_folded; /**< of the cluster, into which its paths are folded; 0: they are not */
    uint32_t *ranks;        /**< [lane][position] */
    struct step_flows sent; /**< in the present step */
    uint32_t aheads[2];     /**< the first two distances of the present shift; 0: not known yet */
    bool has_path;          /**< the present step has the path of the one before */
    const struct ar_exchange_step *before; /**< the last step, if it has that path, too; or NULL */
    struct like_steps *like;               /**< [step of the collective] */
    uint32_t steps;
    struct ar_message_kind *kinds; /**< of all exchanges so far, in the arena of the flows */
    uint32_t kinds_count;
    uint32_t *kind_of; /**< [flow] */
    bool is_private;   /**< ar_exchange.is_private so far */
    bool has_lanes_alike;
    struct kind_slot *slots;
    uint32_t slots_mask, stamp;
};

enum { HOP_KINDS_KNOWN = 16 };

/** A collective while it is resolved. */
struct flows_scratch {
    const struct ar_flows *flows;           /**< that are made */
    const struct ar_collective *collective; /**< ar_flows.resolved */
    const struct ar_message_cost *cost;     /**< of messages besides their paths */
    struct ar_arena *arena;                 /**< for the results */
    struct ar_arena *room;                  /**< ends when all is resolved */
    struct ar_phase_flows peers;            /**< in the present phase */
    struct ar_maxmin rates;                 /**< of its flows */
    const double *rates_Bps;                /**< [flow]: of trees only what its path has */
    const struct ar_message_kind *kinds[HOP_KINDS_KNOWN]; /**< of hops: the last new ones */
    uint32_t kinds_count;
    uint32_t period;                   /**< of `rates.folded` */
    struct exchange_scratch *exchange; /**< NULL until there is one */
    bool is_again;                     /**< the same was resolved before, on links of other rates */
    struct step_flows *kept; /**< [step], for links of other rates (fast_paths.c), or NULL */
};

/** Resolves a phase that is an exchange and begins with `first_step`; adds what links carry. */
void flows_resolve_exchange(struct flows_scratch *scratch, const struct ar_phase *phase,
                            uint32_t first_step, struct ar_pattern *pattern);

/** Resolves a phase of sums; adds what links carry. */
void flows_resolve_sums(struct flows_scratch *scratch, const struct ar_phase *phase,
                        uint32_t first_step, struct ar_pattern *pattern);

/** Makes what finds the shares of a tree, in the arena. The phase has steps; flows and pattern must
 * outlive it. O(hops * parts) memory. */
struct ar_tree_rates *flows_tree_create(struct ar_arena *arena, const struct ar_flows *flows,
                                        const struct ar_phase *phase,
                                        const struct ar_pattern *pattern);

/** As ar_flows_tree_shares(). */
const struct ar_tree_shares *flows_tree_find(struct ar_tree_rates *rates, double bytes);

/** Paths among the ranks of a collective take lower links alone, `*taken_max` of them at most. */
size_t flows_links_count(const struct ar_collective *collective, size_t *taken_max);

/** The messages whose gaps the busier HCA of a message works on together, with so many messages on
 * each link; `own` are those of its rank, which count where nodes have no HCAs. */
uint32_t flow_turns(const struct ar_maxmin *maxmin, size_t flow, const uint32_t *messages,
                    uint32_t own);

/* --- short cuts (fast_*.c): ar_flows_create_plain() gives the same without them -------------- */

/** How many groups of a mesh do, on nodes of their own, the same as each of the first ones. */
uint32_t fast_lanes_copies(const struct ar_collective *collective);

/** Takes the rates that links have now, where flows of the collective were made before. */
void fast_paths_begin(struct flows_scratch *scratch);

/** Takes the paths of a step, if they are kept, with the rates that links have now. */
bool fast_paths_take(struct flows_scratch *scratch, uint32_t step);

/** Makes room for so many paths, and for more links behind those that are used. */
void paths_make_flows_room(struct ar_arena *arena, size_t count, struct ar_paths *paths);
void paths_make_links_room(struct ar_arena *arena, size_t used, size_t more,
                           struct ar_paths *paths);

/** The period if ranks move on by as many as positions; else all positions. */
uint32_t fast_steps_period(const struct ar_collective *collective, uint32_t period);

/** That of the cluster if in all phases positions do what those of the first period do; or all. */
uint32_t fast_steps_period_of_all(const struct ar_flows *flows);

/** For how many nodes the messages of the node at a position stand in the present shift. */
uint32_t fast_steps_repeats(const struct exchange_scratch *scratch, uint32_t position);

/** Whether the present step has the path of the one before, and uses links as steps before did. */
bool fast_steps_have_path(struct flows_scratch *scratch, const struct ar_phase *phase);

/** The position that sends in a step of a phase with one message a step. */
uint32_t fast_steps_sender(const struct exchange_scratch *scratch, const struct ar_phase *phase,
                           uint32_t step);

/** Finds which steps of a collective have the same messages: one of them is resolved. */
void fast_steps_find(struct exchange_scratch *scratch, uint32_t steps);
