/** \file profile.h
 * The event model of a profile: what is kept of its events, enough to say which operator launched
 * which kernel (40 to 80 bytes each), and the steps that they are of.
 *
 * Times are seconds after the first time in the file. Ends are exclusive.
 */
#pragma once

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
    KINETO_CALL, /**< the same as c10d has it, whatever sends it */
    KINETO_OPTIMIZER,
    KINETO_STEP /**< ProfilerStep#N */
};

/** An operator on the processor. */
struct kineto_op {
    double start_s, end_s;
    int64_t thread;
    int64_t number;           /**< sequence number of autograd, or number of the step; else -1 */
    const char *name;         /**< of a node; else NULL */
    const char *type;         /**< of a shape or a collective, copied to its arrival; or NULL */
    uint64_t elements;        /**< size of a shape, copied to its arrival; of the larger buffer of
                                   a call; 0: not recorded */
    const char *operation;    /**< of a call: `allreduce` */
    uint32_t ranks;           /**< of a call, as its shapes say; 0: they do not */
    bool is_flat;             /**< of a call: a buffer, not a tensor of several dimensions */
    uint64_t batch;           /**< first dimension of what a known operator read; 0: not known */
    uint64_t bucket_elements; /**< in an arrival: size of the collectives begun in it */
    int64_t forward_thread;   /**< in a node: PyTorch's number of the thread that made it */
    uint32_t parent;          /**< the op around it, or KINETO_NONE */
    enum kineto_kind kind;
};

/** A call that gives the GPU work. */
struct kineto_launch {
    double at_s;
    int64_t thread;
    int64_t correlation;
};

/** Work of the GPU: kernels, copies, fills. */
struct kineto_kernel {
    double start_s, end_s;
    int64_t correlation;
    int64_t device;
    double launched_s;  /**< NAN: not recorded */
    uint32_t op;        /**< the op that launched it, or KINETO_NONE */
    bool is_collective; /**< by its name, or launched in a collective */
    double time_s;      /**< what it adds to the time line */
};

struct ar_kineto {
    const char *path;
    struct ar_arena *arena;
    struct kineto_op *ops;
    struct kineto_launch *launches;
    struct kineto_kernel *kernels;
    size_t ops_count, launches_count, kernels_count;
    const char *gpu;    /**< name of the first kernel's device */
    int64_t world_size; /**< -1: not recorded */
    bool is_fake;       /**< its process group sends nothing */
};

/** The nearest op of these kinds (bits 1 << kind) from `op` on outwards, or KINETO_NONE. */
uint32_t kineto_find_around(const struct ar_kineto *kineto, uint32_t op, unsigned kinds);

/** Ops of some kinds in the order of their begin, in the arena. */
uint32_t *kineto_list_ops(const struct ar_kineto *kineto, unsigned kinds, struct ar_arena *arena,
                          size_t *count);

/** The terminated text of a file, plain or of gzip, in the arena. */
enum ar_status kineto_read_text(const char *path, struct ar_arena *arena, char **text,
                                size_t *bytes, struct ar_error *err);

/** Reads a text, which changes meanwhile. */
enum ar_status kineto_read(const char *path, char *text, size_t bytes, struct ar_arena *arena,
                           struct ar_kineto *kineto, struct ar_error *err);

/** Sorts ops and kernels, says which op lies in which and launched what, and gives arrivals of
 * gradients what was recorded inside of them. Launches are not needed any more then. */
void kineto_nest(struct ar_kineto *kineto);

/* --- steps --------------------------------------------------------------------------------- */

/** The gradient of a tensor, or the gradients of a bucket, when it arrives. */
struct kineto_arrival {
    uint32_t op;
    uint32_t node; /**< place in the step of the last node before it */
};

struct kineto_step {
    double start_s, end_s; /**< on the processor */
    int64_t number;        /**< -1: it has none */
    bool has_optimizer;
    size_t nodes_first, nodes_count;
    size_t arrivals_first, arrivals_count;
    size_t kernels_count;
    unsigned passes_count;          /**< forward passes: more than 1 if gradients are accumulated */
    double last_forward_s;          /**< last launch of the last of them */
    double overhead_s, optimizer_s; /**< times on the time line of the GPU: work and waits */
    double lead_s;                  /**< wait for its first kernel; NAN in the first step */
    double work_s, wait_s;          /**< in the whole step, between its first and last kernel */
    double copies_s;                /**< in the backward pass, of gradients that have arrived */
};

/** Indices of ops in `nodes` stand step by step, in the order in which the nodes began. */
struct kineto_steps {
    const struct ar_kineto *kineto;
    struct kineto_step *list;
    size_t count;
    uint32_t *nodes;
    double *forward_s, *backward_s; /**< [node]: times on the GPU */
    bool *has_kernels;              /**< its own kernels, not only those of arrived gradients */
    struct kineto_arrival *arrivals;
    double unknown_s; /**< time of kernels whose launch is not recorded */
};

/** Finds the steps, and times them, with the waits of the GPU or without. AR_BAD_DATA if there is
 * no step with an optimizer, no GPU, or more than one. */
enum ar_status kineto_steps_find(const struct ar_kineto *kineto, enum ar_kineto_times times,
                                 struct ar_arena *arena, struct kineto_steps *steps,
                                 struct ar_error *err);

/** The step of one rank of a mesh (ar_kineto.h), in the arena; `precision` is of calls without a
 * type. AR_BAD_DATA if shapes are missing, or an axis has two sizes. */
enum ar_status kineto_make_recorded(const struct ar_kineto *kineto, const struct kineto_step *step,
                                    enum ar_precision precision, struct ar_arena *arena,
                                    struct ar_recorded **recorded, struct ar_error *err);

/** The precision of PyTorch's name of a type; false, and nothing written: of none. */
bool kineto_find_type(const char *name, enum ar_precision *precision);

/** The op of an arrival of a step. */
const struct kineto_op *kineto_arrival_op(const struct kineto_steps *steps,
                                          const struct kineto_step *step, size_t arrival);
