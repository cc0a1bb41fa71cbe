/** \file measurement.h
 * One row of the result: what is run, how, on which memory, and the outcome. Parameters and results
 * are in one struct, from which a row is printed.
 */
#pragma once

#include "ar_algorithm.h"
#include "ar_arena.h"
#include "ar_order.h"
#include "element.h"

/** The memory that holds a rank's buffer and slots: that of the host, or of a GPU. Functions have
 * finished when they return, so that what they wrote may be sent. */
struct memory {
    const char *name; /**< as on the command line: host, device */
    bool is_host;     /**< the processor can read and write it */

    /** Chooses that of this thread, the `local_rank`-th rank of its node; NULL: no choice. */
    enum ar_status (*select)(uint32_t local_rank, struct ar_error *err);

    /** At least one byte, also if `bytes` is 0; it ends with the arena. */
    enum ar_status (*allocate)(struct ar_arena *arena, size_t bytes, unsigned char **memory,
                               struct ar_error *err);

    /** Either place may be in host memory. */
    enum ar_status (*copy)(unsigned char *to, const unsigned char *from, size_t bytes,
                           struct ar_error *err);
    enum ar_status (*reduce)(const struct element_type *type, unsigned char *sum,
                             const unsigned char *addend, uint64_t count, struct ar_error *err);

    /** Only where the processor cannot read it, as compare. Makes the GPU of `at` current. */
    enum ar_status (*enter)(const unsigned char *at, struct ar_error *err);

    /** Whether elements in this memory are as expected; those of all ones are not looked at. The
     * GPU writes to `verdict`, 4 bytes of this memory. */
    enum ar_status (*compare)(const struct element_type *type, const unsigned char *found,
                              const unsigned char *expected, uint64_t count, unsigned char *verdict,
                              bool *is_equal, struct ar_error *err);
};

extern const struct memory memory_host;
extern const struct memory memory_device; /**< only in programs built with CUDA */

/** How all measurements of a program are executed. */
struct run_config {
    uint32_t repetitions;
    uint32_t warmup;
    uint32_t window;     /**< slots of a port */
    uint32_t slot_bytes; /**< most that a slot holds; longer messages go in several */
    double timeout_s;    /**< of a rank that waits without progress */
    const struct memory *memory;
};

/** A measurement is a collective, or a probe of one property of the machine. */
enum probe {
    PROBE_NONE,
    PROBE_LATENCY,   /**< half a round trip of a small message between two ranks */
    PROBE_BANDWIDTH, /**< one rank sends the payload to another */
    PROBE_COPY,      /**< the payload is copied within the memory of a rank */
    PROBE_REDUCE,    /**< the payload is added to a buffer of the same rank */
    PROBE_LAUNCH,    /**< all ranks start and do nothing */
};

/** Column `algorithm` of a probe. */
const char *probe_name(enum probe probe);

/** Whether a probe measures the link between two ranks. */
static inline bool probe_is_of_link(enum probe probe)
{
    return probe == PROBE_LATENCY || probe == PROBE_BANDWIDTH;
}

enum { TIER_SIZE = 64 };

/** Differences between a result and what it should be. The first wrong element is described. */
struct mismatch {
    uint64_t wrong; /**< number of wrong elements; 0: the other fields are not valid */
    uint32_t rank;
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
    uint32_t ranks_per_node; /**< decides the rank orders of the channels */
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

/** The rank order of its channels; collectives of a library keep the ranks as they are. */
struct ar_order measurement_order(const struct measurement *measurement);

/** The part of the payload that a channel carries. */
struct ar_span measurement_part(const struct measurement *measurement, uint32_t channel);

uint64_t measurement_bytes(const struct measurement *measurement);

/** An upper bound of the elements of its longest message. */
uint64_t measurement_message_max(const struct measurement *measurement);

/** "all-reduce torus2d 2x3, 1 channel, 4096 fp32 elements"; returns `text`. */
enum { MEASUREMENT_TEXT = 160 };
const char *measurement_text(const struct measurement *measurement, char text[MEASUREMENT_TEXT]);
