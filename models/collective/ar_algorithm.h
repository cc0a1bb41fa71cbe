/** \file ar_algorithm.h
 * Algorithms of collectives: who sends which part of a buffer to whom in which step.
 *
 * An algorithm is a pure function of (shape, elements, position, step) that yields the move of that
 * position in that step. In step s a position sends, if the move says so, the span as it is after
 * its receives of steps before s; and receives, if the move says so, and copies the span or adds it
 * to its own. It may run ahead of others; the messages between two positions keep their order.
 *
 * Steps form phases of four kinds; the verification (ar_verify.h) checks what they promise:
 *
 * - Walks, rings or chains: every position keeps its peers, and what it receives in a step it sends
 *   in the next, if it sends: in one run of steps, from the first or to the last.
 * - Trees: peers depend on the position and on step % period. Every hop carries the whole buffer in
 *   `parts` parts, in order, one in every period, once, and no two hops join the same two positions
 *   in the same direction.
 * - Exchanges: every step is a pattern of its own. One that is `at once` sends what it has when the
 *   phase begins: no send waits for a receive of the phase, nor for another message to arrive.
 * - Sums: in every step switches that sum join lines of positions. A member sends a span to the
 *   switch of its line, and receives one, in which each element is the sum of what all members have
 *   sent of it; what somebody sends somebody receives. A phase is a pipeline: the places of its
 *   period are stages, through which the buffer goes in parts, one part in every period. Stages
 *   work at the same time, each on a part of its own.
 *
 * The buffer of `elements` elements is that of one channel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"
#include "ar_operation.h"
#include "ar_shape.h"

enum ar_receive { AR_RECEIVE_NONE, AR_RECEIVE_COPY, AR_RECEIVE_REDUCE };

/** Positions first, first + stride, ... */
struct ar_line {
    uint32_t first, count, stride;
};

struct ar_move {
    bool sends;
    enum ar_receive receive;
    uint32_t send_to;      /**< position, valid if sends */
    uint32_t receive_from; /**< position, valid if receive is not NONE */
    struct ar_slice send_span;
    struct ar_slice receive_span;
    struct ar_line line; /**< sums: positions that the switch joins, not peers; else of count 0 */
};

/** The sends of positions from `first` to before `end` in a step, in arrays by position. Others
 * before them may be filled in as well. */
struct ar_sends {
    uint32_t first, end;
    uint32_t *peers;  /**< receivers; AR_NEVER: none */
    uint64_t *counts; /**< elements */
};

enum { AR_PERIOD_MAX = 4 };

enum ar_phase_kind { AR_PHASE_WALK, AR_PHASE_TREE, AR_PHASE_EXCHANGE, AR_PHASE_SUMS };

/** A run of steps of one kind. */
struct ar_phase {
    const char *name; /**< "row reduce-scatter" */
    enum ar_phase_kind kind;
    bool is_at_once;      /**< exchanges: no send waits for a receive of the phase */
    bool is_shift;        /**< exchanges: in every step all positions send as many pieces, each to
                               the position as far ahead in a circle */
    uint32_t steps;       /**< may be 0 (a row of one) */
    uint32_t parts;       /**< a message has at most a 1/parts share of the buffer, rounded up;
                               walks and trees: exactly that; sums: the parts of the pipeline */
    uint32_t pieces;      /**< exchanges and sums: the buffer has so many pieces of equal size, and
                               messages are whole numbers of them; else 0 */
    uint32_t line;        /**< positions of each of its lines; trees: 0 */
    uint64_t messages;    /**< sends of all positions in all steps of the phase */
    uint32_t copies_from; /**< receives before this step of the phase reduce, later ones copy: 0 for
                               a gather, `steps` for a reduce-scatter, half for a ring all-reduce */
    uint32_t moves;  /**< exchanges: how often a received byte is moved within the rank besides,
                          since messages are gathered from several places */
    uint32_t period; /**< trees: peers repeat after so many steps; sums: stages of the
                          pipeline; at most AR_PERIOD_MAX; else 0 */
};

/** Steps after which the peers of a phase repeat: at least 1. */
uint32_t ar_phase_period(const struct ar_phase *phase);

enum { AR_PHASES_MAX = 8 };

struct ar_stage;

/** Which shapes an algorithm runs, and which one of N ranks if nobody names one. */
enum ar_shapes {
    AR_SHAPES_FLAT,   /**< Nx1 only */
    AR_SHAPES_EVEN,   /**< Nx1 with an even N only, or 1x1 */
    AR_SHAPES_GROUPS, /**< XxY; one group per node (ar_algorithm_default_shape()) */
    AR_SHAPES_GRIDS,  /**< XxY, so that they are an axis of sweeps; the squarest */
    AR_SHAPES_LEVELS  /**< of all dimensions; a node, and the squarest grid of nodes */
};

/** The calls of a communication library that do the same as an algorithm. */
enum ar_calls {
    AR_CALLS_NONE,   /**< it has none such */
    AR_CALLS_ANY,    /**< one call of its operation, by what the library chooses */
    AR_CALLS_RING,   /**< one call by its rings */
    AR_CALLS_TREE,   /**< one call by its trees */
    AR_CALLS_TORUS,  /**< reduce-scatter in rows, all-reduce in columns, all-gather in rows */
    AR_CALLS_LEADERS /**< reduce in groups, all-reduce among their leaders, broadcast in groups */
};

/** A row of the table of algorithms. Where an algorithm may be NULL nobody has chosen one: it is
 * the library's choice (`auto` on the command line), which has no moves. */
struct ar_algorithm {
    const char *name;       /**< as on the command line */
    const char *title;      /**< one line for people */
    const char *formula;    /**< alpha-beta time on identical links; see ar_closed.h for symbols */
    const char *source;     /**< publication */
    const char *shape_help; /**< what X and Y mean; NULL: what `shapes` says */
    const struct ar_operation *operation; /**< what it achieves */
    enum ar_shapes shapes;                /**< flat unless a row says others */
    enum ar_calls calls;

    bool has_mirror; /**< every channel of the command line is two, of which one runs the mirror
                          image of the other, so that a rank with children in one is a leaf there */
    bool is_ring_in_line; /**< in one row or one column it does what the ring of N does */
    bool wants_sums;      /**< it runs where switches sum, and on no memory of ranks */
    double scratch;       /**< memory that MPI libraries allocate for it, in payloads: what a rank
                               receives before it sums or sorts it; source: open-mpi/ompi v4.1,
                               ompi/mca/coll/base */

    /** Its phases as a list of stages (blocks.h), or one list for each number of dimensions from
     * two on. Both NULL: the functions `phases` and `move` say what it does. */
    const struct ar_stage *stages;
    const struct ar_stage *const *levels;
    uint32_t pipeline_parts; /**< above 0: the stages, all of them sums, are one phase, through
                                  which the buffer goes in so many parts */

    /** The parts (ar_shape) in which NCCL sends a buffer of `bytes` that is split over so many of
     * its channels. NULL: nothing goes in parts. */
    uint32_t (*nccl_chunks)(const struct ar_shape *shape, uint64_t bytes, uint32_t channels);

    /** Fills `phases` and returns how many there are. */
    uint32_t (*phases)(const struct ar_shape *shape, struct ar_phase phases[AR_PHASES_MAX]);

    /** The move of `position` in `step`, `step` below ar_algorithm_steps(). */
    struct ar_move (*move)(const struct ar_shape *shape, uint64_t elements, uint32_t position,
                           uint32_t step);
};

/** The table of all algorithms of all operations; names repeat from operation to operation. */
extern const struct ar_algorithm *const ar_algorithms[];
extern const size_t ar_algorithms_count;

/** The flat ring of all-reduces, what a node runs when it is the baseline, and their tree. */
extern const struct ar_algorithm ar_algorithm_ring, ar_algorithm_tree;

/** Finds an algorithm of an operation by name; the error names the nearest known one. */
enum ar_status ar_algorithm_find(const char *where, const struct ar_operation *operation,
                                 const char *name, const struct ar_algorithm **algorithm,
                                 struct ar_error *err);

/** The same, with NULL for `auto`. */
enum ar_status ar_algorithm_find_or_auto(const char *where, const struct ar_operation *operation,
                                         const char *name, const struct ar_algorithm **algorithm,
                                         struct ar_error *err);

/** Name of an algorithm or, NULL, of the library's choice. */
const char *ar_algorithm_name(const struct ar_algorithm *algorithm);

/** Explains X and Y of its shapes. */
const char *ar_algorithm_shape_help(const struct ar_algorithm *algorithm);

enum ar_shapes ar_algorithm_shapes(const struct ar_algorithm *algorithm);

static inline enum ar_calls ar_algorithm_calls(const struct ar_algorithm *algorithm)
{
    return algorithm != NULL ? algorithm->calls : AR_CALLS_ANY;
}

/** Channels of ar_collective.h for one of the command line. */
uint32_t ar_algorithm_channels(const struct ar_algorithm *algorithm);

/** Refuses a shape that the algorithm, or the library (NULL), cannot run: AR_USAGE. */
enum ar_status ar_algorithm_check_shape(const struct ar_algorithm *algorithm,
                                        const struct ar_shape *shape, struct ar_error *err);

/** The shape used when the user names none, for N ranks on nodes of `gpus_per_node`. */
struct ar_shape ar_algorithm_default_shape(const struct ar_algorithm *algorithm, uint32_t ranks,
                                           uint32_t gpus_per_node);

#define AR_NEVER UINT32_MAX

/** Finds a step of a phase, a walk or a tree, in which `position` sends (or receives), among those
 * of which step % ar_phase_period() is `place`; in a tree, the first one. Writes its move, of a
 * buffer without elements; returns the step, counted from `first_step`, with which the phase
 * begins, or AR_NEVER. */
uint32_t ar_algorithm_find_step(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                                const struct ar_phase *phase, uint32_t first_step,
                                uint32_t position, uint32_t place, bool sends,
                                struct ar_move *move);

/** The move of `position` in `step`, below ar_algorithm_steps(), on a buffer of `elements`. */
struct ar_move ar_algorithm_move(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                                 uint64_t elements, uint32_t position, uint32_t step);

/** The sends of all those moves in a step of an exchange or a walk, faster than one by one. */
void ar_algorithm_sends(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                        uint64_t elements, uint32_t step, struct ar_sends *sends);

/** A step of an exchange, the same for all that are known to have the same messages as this one:
 * the same peers and as many pieces. O(1). */
uint32_t ar_algorithm_like_step(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                                uint32_t step);

/** The phases of an algorithm; none of NULL. */
uint32_t ar_algorithm_phases(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                             struct ar_phase phases[AR_PHASES_MAX]);

/** Sum of the steps of all phases. */
uint32_t ar_algorithm_steps(const struct ar_algorithm *algorithm, const struct ar_shape *shape);

/** Messages of one collective on one channel: sends of all positions in all steps; 0 of NULL. */
uint64_t ar_algorithm_messages(const struct ar_algorithm *algorithm, const struct ar_shape *shape);
