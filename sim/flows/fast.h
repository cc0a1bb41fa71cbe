/** \file fast.h
 * Private to sim/flows: the short cuts of fast_*.c. The results are the same without them, as
 * flows that are made plain (ar_flows_create_plain()) show.
 */
#ifndef AR_FLOWS_FAST_H
#define AR_FLOWS_FAST_H

#include "ar_maxmin.h"

/** A path is that of as many flows before, moved on by so many nodes: two, as neighbours may swap.
 * Ranks of these nodes, which is how many flows lie between the two, at most. */
enum { FAST_NODES_ON = 2, FAST_SLOTS_MAX = 128 };

/** Up to which source and destination the last paths that were asked for can be moved along. */
struct fast_paths {
    struct ar_alike nodes;
    uint32_t slots; /**< ranks of FAST_NODES_ON nodes; 0: no path can be moved along */
    uint32_t source_end[FAST_SLOTS_MAX], destination_end[FAST_SLOTS_MAX];
};

void fast_paths_begin(const struct ar_cluster *cluster, const struct ar_flow *flows,
                      struct fast_paths *fast);

/** Appends the path of flow `index` if it is one that is known, moved on. */
bool fast_paths_move(const struct fast_paths *fast, const struct ar_flow *flows, size_t index,
                     struct ar_arena *arena, struct ar_paths *paths);

/** Notes a path that was asked for. */
void fast_paths_note(struct fast_paths *fast, const struct ar_cluster *cluster,
                     const struct ar_flow *flows, size_t index);

/** Makes room for more links behind those that are used. */
void paths_make_links_room(struct ar_arena *arena, size_t used, size_t more,
                           struct ar_paths *paths);

struct exchange_scratch;
struct like_steps;
struct ar_exchange;
struct ar_exchange_step;

/** How many ranks further on ranks and paths look the same; all positions if nowhere. */
uint32_t fast_steps_period(const struct exchange_scratch *scratch);

/** Finds which steps of a collective have the same messages, or each of them the other way round:
 * one of them is resolved. */
void fast_steps_find(struct exchange_scratch *scratch, uint32_t steps);

/** Fills in a step from the one that was resolved for it, here or in a phase before. */
void fast_steps_copy(struct ar_arena *arena, struct exchange_scratch *scratch,
                     const struct like_steps *known, bool is_mirror, struct ar_exchange *exchange,
                     struct ar_exchange_step *step);

#endif
