/** \file measurement.h
 * One row of the result: what is run, how, and what came out. Parameters and results are in one
 * place, so that a row is printed from one struct.
 */
#ifndef AR_VALIDATE_MEASUREMENT_H
#define AR_VALIDATE_MEASUREMENT_H

#include "ar_algorithm.h"
#include "ar_collective.h"
#include "memory.h"

/** How everything of a run is executed. */
struct run_config {
    uint32_t repetitions;
    uint32_t warmup;
    uint32_t window;     /**< slots of a port */
    uint32_t slot_bytes; /**< most that a slot holds; longer messages go in several */
    double timeout_s;    /**< of a rank that waits without progress */
    bool uses_graph;     /**< CUDA: replay a captured graph instead of launching each operation */
    const struct memory *memory;
};

/** What a measurement is: a collective, or a probe of one property of the machine. */
enum probe {
    PROBE_NONE,
    PROBE_LATENCY,   /**< half a round trip of a small message between two ranks */
    PROBE_BANDWIDTH, /**< one rank sends the payload to another */
    PROBE_COPY,      /**< the payload is copied within the memory of a rank */
    PROBE_REDUCE,    /**< the payload is added to a buffer of the same rank */
    PROBE_LAUNCH,    /**< what it costs to start all ranks on nothing; on a GPU, a kernel */
};

/** Whether it is about two ranks and the link between them. */
static inline bool probe_is_of_link(enum probe probe)
{
    return probe == PROBE_LATENCY || probe == PROBE_BANDWIDTH;
}

enum { TIER_SIZE = 64 };

/** Where a result is not what it should be. */
struct mismatch {
    uint64_t wrong; /**< elements that are */
    uint32_t rank;  /**< the first one: who has it, where, what it is; valid if any is wrong */
    uint64_t element;
    double found;
    double expected;
};

struct measurement {
    const char *name;                     /**< column `algorithm` */
    const struct ar_operation *operation; /**< NULL: a probe */
    const struct ar_algorithm *algorithm; /**< NULL: a probe, or a collective of a library */
    struct ar_shape shape;
    uint32_t root; /**< rank, of operations that have one */
    uint32_t channels;
    uint32_t ranks;
    uint32_t ranks_per_node; /**< for the rank orders of the channels */
    uint32_t nodes;
    const struct element_type *type;
    uint64_t elements;
    enum probe probe;
    uint32_t from; /**< rank of a probe */
    uint32_t to;   /**< the other rank, of latency and bandwidth */
    bool is_check; /**< one repetition, its time is not kept */

    uint32_t repetitions;
    double *times_s; /**< one per repetition, the slowest rank's; begin as 0 */
    struct mismatch mismatch;
    char tier[TIER_SIZE]; /**< of a probe, else empty */
};

/** The rank order of its channels; that of a library's collective are the ranks as they are. */
struct ar_order measurement_order(const struct measurement *measurement);

/** The part of the payload that a channel carries. */
struct ar_span measurement_part(const struct measurement *measurement, uint32_t channel);

uint64_t measurement_bytes(const struct measurement *measurement);

/** Elements of its longest message, at most. */
uint64_t measurement_message_max(const struct measurement *measurement);

/** "all-reduce torus2d 2x3, 1 channel, 4096 fp32 elements"; returns `text`. */
enum { MEASUREMENT_TEXT = 160 };
const char *measurement_text(const struct measurement *measurement, char text[MEASUREMENT_TEXT]);

#endif
