/** \file kineto.h
 * What is kept of the events of a Kineto trace: enough to say which operator launched which kernel,
 * 40 to 80 bytes for each event kept.
 *
 * Times are seconds after the first time in the file. Ends are exclusive.
 */
#ifndef AR_KINETO_EVENTS_H
#define AR_KINETO_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_kineto.h"

#define KINETO_NONE UINT32_MAX

/** Starts of old files are rounded to 0.25 us: an op may seem to end that much behind the one
 * around it, or behind the begin of the next one. */
#define KINETO_ROUNDING_S 1e-6

enum kineto_kind {
    KINETO_FORWARD,    /**< an operator with the number of the autograd node that it makes */
    KINETO_NODE,       /**< a node of the backward pass */
    KINETO_ACCUMULATE, /**< the arrival of the gradient of one tensor, with its hooks */
    KINETO_SHAPE,      /**< the same without hooks: has the size of the gradient */
    KINETO_COLLECTIVE,
    KINETO_OPTIMIZER,
    KINETO_STEP /**< ProfilerStep#N */
};

/** What the processor did. */
struct kineto_op {
    double start_s, end_s;
    int64_t thread;
    int64_t number;           /**< of autograd (forward, node), of the step; else -1 */
    const char *name;         /**< of a node its name, of a shape its type; or NULL */
    uint64_t elements;        /**< of a shape, then of its arrival; 0: not recorded */
    uint64_t batch;           /**< first dimension of what a known operator read; 0: not known */
    uint64_t bucket_elements; /**< of an arrival: of the collectives begun then */
    int64_t forward_thread;   /**< of a node: PyTorch's number of the thread that made it */
    uint32_t comm;            /**< of a collective: its place in ar_kineto.comms */
    uint32_t parent;          /**< the op around it, or KINETO_NONE */
    enum kineto_kind kind;
};

/** A call that gives the GPU work. */
struct kineto_launch {
    double at_s;
    int64_t thread;
    int64_t correlation;
};

/** What the GPU did: kernels, copies, fills. */
struct kineto_kernel {
    double start_s, end_s;
    int64_t correlation;
    int64_t device;
    double launched_s; /**< NAN: not recorded */
    uint32_t op;       /**< that launched it, or KINETO_NONE */
    bool is_collective;
};

/** Arguments of a collective; texts are interned. */
struct kineto_comm {
    const char *name;  /**< as it was recorded, or NULL */
    const char *dtype; /**< or NULL */
    const char *ranks; /**< "[0, 1]", or NULL */
    uint64_t in_elements, out_elements;
    uint64_t group_size; /**< 0: not recorded */
    double recorded_s;   /**< of its kernels together */
};

struct kineto_gpu {
    int64_t id;
    const char *name;
};

enum { KINETO_GPUS_MAX = 64 };

struct ar_kineto {
    const char *path;
    struct ar_arena *arena;
    void *names; /**< interned texts: tsearch() */
    struct kineto_op *ops;
    struct kineto_launch *launches;
    struct kineto_kernel *kernels;
    struct kineto_comm *comms;
    size_t ops_count, launches_count, kernels_count, comms_count;
    struct kineto_gpu gpus[KINETO_GPUS_MAX];
    size_t gpus_count;
    int64_t rank, world_size; /**< -1: not recorded */
};

/** Room for one more of `size` bytes in a list of malloc(): the list, or its copy that is twice as
 * large; NULL without memory, and the list stays. */
void *kineto_grow(const struct ar_kineto *kineto, void *list, size_t count, size_t size);

/** The one copy of a text, in the arena of the file; NULL without memory. */
const char *kineto_intern(struct ar_kineto *kineto, const char *text);

/** A reader of JSON, fed piece by piece. */
struct kineto_json;
enum ar_status kineto_json_begin(struct ar_kineto *kineto, struct kineto_json **json,
                                 struct ar_error *err);
enum ar_status kineto_json_feed(struct kineto_json *json, const void *bytes, size_t count,
                                struct ar_error *err);
/** Is the end of the text; `json` ends in any case with kineto_json_destroy(). */
enum ar_status kineto_json_finish(struct kineto_json *json, struct ar_error *err);
void kineto_json_destroy(struct kineto_json *json);

/** Sorts ops and kernels, says which op lies in which and launched what, and gives arrivals of
 * gradients what was recorded inside of them. Launches are gone then. */
void kineto_nest(struct ar_kineto *kineto);

/** The nearest op of these kinds from `op` on outwards, or KINETO_NONE. */
uint32_t kineto_around(const struct ar_kineto *kineto, uint32_t op, unsigned kinds);
#define KINETO_BIT(kind) (1u << (kind))

#endif
