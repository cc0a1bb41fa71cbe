/** \file blocks.h
 * The building blocks of algorithms: stages, in which the lines of a shape run one block each.
 *
 * A block says what the members 0 .. size-1 of a line (a row, a column, all ranks) do in each of
 * its steps, in parts of a buffer that they share. A stage runs it in all lines of one dimension of
 * the shape, forwards or backwards in time: an all-gather backwards, with sums in place of copies,
 * is a reduce-scatter. An algorithm is a list of stages, which become its phases.
 */
#pragma once

#include "ar_algorithm.h"

/** Parts of a buffer, as in struct ar_slice; `period` 0 is the number of parts. */
struct block_parts {
    uint32_t first, run, period;
};

/** A move in terms of members and parts. */
struct block_move {
    bool sends;
    bool receives;
    uint32_t send_to;
    uint32_t receive_from;
    struct block_parts send;
    struct block_parts receive;
};

enum { BLOCK_SENDS_MAX = 128 };

/** The sends of some members in a step, as arrays. */
struct block_sends {
    uint32_t to[BLOCK_SENDS_MAX]; /**< AR_NEVER: it does not send */
    uint32_t first[BLOCK_SENDS_MAX], run[BLOCK_SENDS_MAX], period[BLOCK_SENDS_MAX]; /**< parts */
};

static inline void block_sends_set(struct block_sends *sends, uint32_t index, bool does,
                                   uint32_t to, struct block_parts parts)
{
    sends->to[index] = does ? to : AR_NEVER;
    sends->first[index] = does ? parts.first : 0;
    sends->run[index] = does ? parts.run : 0;
    sends->period[index] = parts.period;
}

/** The pattern of the messages in a step of an exchange. */
enum block_peers {
    PEERS_ANY,
    PEERS_AHEAD,    /**< all send as many parts, each to the member as far ahead in a circle */
    PEERS_ROUND,    /**< the same, s + 1 ahead in step s, so to all others; also backwards */
    PEERS_SWAP,     /**< pairs of members send each other as many parts */
    PEERS_ALTERNATE /**< the same, and step s + 2 has the messages of step s, but for the first */
};

struct block {
    enum ar_phase_kind kind;
    bool is_at_once; /**< of an exchange */
    enum block_peers peers;
    /** Steps, at least one for a size above 1; messages of all members in all of them; and of how
     * many parts the buffer is that they share: NULL: as many as members. */
    uint32_t (*steps)(uint32_t size);
    uint64_t (*messages)(uint32_t size);
    uint32_t (*parts)(uint32_t size);
    struct block_move (*move)(uint32_t size, uint32_t member, uint32_t step);
    /** Sends of `count` members from `first` on in a step: BLOCK_LOOPS(). NULL: sums. */
    void (*sends)(uint32_t size, uint32_t step, bool is_backwards, uint32_t first, uint32_t count,
                  struct block_sends *sends);
};

/** Defines MOVE_sends(), the `sends` of a block, from its `move`: loops that the compiler sees
 * whole and makes vector code of. */
#define BLOCK_LOOPS(move_of)                                                                       \
    static void move_of##_sends(uint32_t size, uint32_t step, bool is_backwards, uint32_t first,   \
                                uint32_t count, struct block_sends *sends)                         \
    {                                                                                              \
        for (uint32_t i = 0; i < count && !is_backwards; i++) {                                    \
            struct block_move move = move_of(size, first + i, step);                               \
            block_sends_set(sends, i, move.sends, move.send_to, move.send);                        \
        }                                                                                          \
        for (uint32_t i = 0; i < count && is_backwards; i++) {                                     \
            struct block_move move = move_of(size, first + i, step);                               \
            block_sends_set(sends, i, move.receives, move.receive_from, move.receive);             \
        }                                                                                          \
    }

/** The lines that run the block, and the part of the buffer that each works on. */
enum stage_lines {
    LINES_ALL,     /**< all of the dimension, each on the part that lower dimensions leave it */
    LINES_WHOLE,   /**< all of the dimension, each on the whole buffer */
    LINES_LEADERS, /**< the one line through position 0, on the whole buffer */
    LINES_STRIPES  /**< all of the last dimension; part i: those of number i modulo its length */
};

/** The use of received elements. */
enum stage_receive {
    COPIES,           /**< it replaces what was there */
    SUMS,             /**< it is added */
    SUMS_THEN_COPIES, /**< it is added in the first half of the steps */
    MOVES_ONCE,       /**< it replaces what was there, and is moved to its place at the end */
    MOVES_TWICE       /**< the same, and what is sent is gathered from several places */
};

struct ar_stage {
    const char *name;
    const struct block *block;
    uint32_t dimension;
    enum stage_lines lines;
    bool is_backwards;
    enum stage_receive receive;
};

/** The list of stages of a row of the table of algorithms; it ends with one without a block. */
#define STAGES(...)                                                                                \
    .stages = (const struct ar_stage[])                                                            \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            .block = NULL                                                                          \
        }                                                                                          \
    }

/** The first fields of a block that is an exchange. */
#define BLOCK_EXCHANGE(move_of)                                                                    \
    .kind = AR_PHASE_EXCHANGE, .move = (move_of), .sends = move_of##_sends

/* --- stages (algorithm.c) -------------------------------------------------------------------- */

/** The stages of an algorithm on a shape; the last one has no block. */
const struct ar_stage *algorithm_stages(const struct ar_algorithm *algorithm,
                                        const struct ar_shape *shape);

/** Steps of a stage; and parts of what a line of `size` shares, or of the buffer (stripes). */
uint32_t stage_steps(const struct ar_stage *stage, const struct ar_shape *shape);
uint32_t stage_parts(const struct ar_stage *stage, const struct ar_shape *shape, uint32_t size);

/** A step of an algorithm in the stage that it belongs to; members of a line are `stride` apart. */
struct stage_step {
    const struct ar_stage *stage;
    uint32_t size, stride;
    uint32_t step, steps; /**< of the stage */
    uint32_t block_step;  /**< of the block: counted from its end if the stage goes backwards */
};

struct stage_step stage_step_find(const struct ar_algorithm *algorithm,
                                  const struct ar_shape *shape, uint32_t step);

/** The part of a span that stages in lower dimensions leave a position. */
struct ar_span stage_span(const struct ar_stage *stage, const struct ar_shape *shape,
                          struct ar_span span, uint32_t position);

/** A step as ar_algorithm_find_step() finds it in a tree, or chain (algorithm_tree.c). */
uint32_t tree_step(const struct ar_shape *shape, const struct ar_phase *phase, uint32_t position,
                   uint32_t place, bool sends);

/* --- walks: members keep their peers ----------------------------------------- */

/** Member i ends with part i, of all: size-1 steps. The all-gather backwards would go upstream. */
extern const struct block block_ring_reduce_scatter;
/** Member i begins with part i and ends with all: size-1 steps. */
extern const struct block block_ring_all_gather;
/** One after the other: a stage that sums, then copies. */
extern const struct block block_ring_all_reduce;
/** 0 -> 1 -> ... -> size-1: member 0 begins with all, member i ends with part i. */
extern const struct block block_chain_scatter;
/** Neighbours swap own parts, then pass on what they got to the other: size/2 steps; even sizes. */
extern const struct block block_neighbour_all_gather;

/* --- all at once: no message waits for another ----------------------------- */

/** Everybody sends everybody its part: size-1 steps. */
extern const struct block block_direct_all_gather;
/** Member 0 sends each its part. */
extern const struct block block_linear_scatter;
/** Member 0 sends the last one all there is. */
extern const struct block block_send;
/** Part k goes k members on, all at once; or one step after the other. */
extern const struct block block_linear_all_to_all;
extern const struct block block_pairwise_all_to_all;
/** In log2 size steps, rounded up: what has bit s in its distance goes on by 2^s. */
extern const struct block block_bruck_all_to_all;

/* --- sums: a switch that joins all members adds up what they send ------------- */

/** All send all, and get the sum. One step. */
extern const struct block block_sums_all_reduce;
/** All send all, and get the sum of their part. Backwards: all send their part and get all. */
extern const struct block block_sums_reduce_scatter;
/** All send all, member 0 gets the sum. */
extern const struct block block_sums_reduce;
/** Member 0 sends all, which all get. */
extern const struct block block_sums_broadcast;

/* --- halving and doubling ------------------------------------------------ */

/* Sizes that are not powers of two are folded: of the first 2r members, with size - r a power of
 * two, the odd ones leave their work to the even one before. */

/** The odd ones of the first 2r send all that they have; or their own part. One step if r > 0. */
extern const struct block block_fold;
extern const struct block block_fold_parts;
/** The members that are left swap all with the one whose number differs in bit s. */
extern const struct block block_doubling;
/** The same members gather the parts of all: first from the neighbour, last from half of them. */
extern const struct block block_doubling_all_gather;
/** The same of as many parts as there are members left, so that halves are halves. */
extern const struct block block_doubling_of_halves;
/** The same along Swing's distances 1, 1, 3, 5, 11, ... in turn forwards and backwards; which part
 * a member begins with is as it comes, all have different ones. */
extern const struct block block_swing_all_gather;
/** All-gather in log2 size steps, rounded up, for any size: in step s from the member 2^s on. */
extern const struct block block_bruck_all_gather;

/* --- binomial trees ------------------------------------------------------ */

/** Member 0 sends all there is; or to each its part and those behind it. The farthest first. */
extern const struct block block_binomial_broadcast;
extern const struct block block_binomial_scatter;
/** The same among those that are left after folding, who have the parts of both of a pair. */
extern const struct block block_folded_scatter;

/* --- the table ------------------------------------------------------------------------------- */

/** Defines a row of the table: symbol, operation, name, title, formula, source and the rest. */
#define ALGORITHM(symbol, operation_, name_, title_, formula_, source_, ...)                       \
    const struct ar_algorithm ar_algorithm_##symbol = {.operation = &ar_operation_##operation_,    \
                                                       .name = (name_),                            \
                                                       .title = (title_),                          \
                                                       .formula = (formula_),                      \
                                                       .source = (source_),                        \
                                                       __VA_ARGS__}

/** All rows, in the order of the table. */
#define AR_ALGORITHM_LIST(X)                                                                       \
    X(ring)                                                                                        \
    X(hierarchical)                                                                                \
    X(torus2d)                                                                                     \
    X(tree)                                                                                        \
    X(reduce_scatter_ring)                                                                         \
    X(reduce_scatter_hierarchical)                                                                 \
    X(all_gather_ring)                                                                             \
    X(all_gather_hierarchical)                                                                     \
    X(broadcast_chain)                                                                             \
    X(broadcast_tree)                                                                              \
    X(reduce_chain)                                                                                \
    X(reduce_tree)                                                                                 \
    X(blueconnect)                                                                                 \
    X(recursive_doubling)                                                                          \
    X(halving_doubling)                                                                            \
    X(swing)                                                                                       \
    X(node_swing)                                                                                  \
    X(direct)                                                                                      \
    X(in_network)                                                                                  \
    X(collnet_direct)                                                                              \
    X(reduce_scatter_halving)                                                                      \
    X(reduce_scatter_bruck)                                                                        \
    X(reduce_scatter_direct)                                                                       \
    X(reduce_scatter_neighbour)                                                                    \
    X(reduce_scatter_in_network)                                                                   \
    X(all_gather_doubling)                                                                         \
    X(all_gather_bruck)                                                                            \
    X(all_gather_direct)                                                                           \
    X(all_gather_neighbour)                                                                        \
    X(all_gather_in_network)                                                                       \
    X(broadcast_binomial)                                                                          \
    X(broadcast_scatter)                                                                           \
    X(broadcast_in_network)                                                                        \
    X(reduce_binomial)                                                                             \
    X(reduce_gather)                                                                               \
    X(reduce_in_network)                                                                           \
    X(gather_linear)                                                                               \
    X(gather_binomial)                                                                             \
    X(scatter_linear)                                                                              \
    X(scatter_binomial)                                                                            \
    X(all_to_all_linear)                                                                           \
    X(all_to_all_pairwise)                                                                         \
    X(all_to_all_bruck)                                                                            \
    X(all_to_all_two_level)                                                                        \
    X(send)

#define DECLARE_ALGORITHM(name) extern const struct ar_algorithm ar_algorithm_##name;
AR_ALGORITHM_LIST(DECLARE_ALGORITHM)
