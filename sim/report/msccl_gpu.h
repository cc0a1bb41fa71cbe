/** \file msccl_gpu.h
 * The thread blocks of a GPU, of which msccl.c writes files.
 */
#ifndef AR_MSCCL_GPU_H
#define AR_MSCCL_GPU_H

#include "ar_collective.h"

/* Of MSCCL's parser and msccl.h. */
enum {
    MSCCL_CHANNELS_MAX = 32,
    MSCCL_BLOCKS_MAX = 216,
    MSCCL_STEPS_MAX = 256,
    MSCCL_PEERS_MAX = 32,
    MSCCL_CHUNKS_MAX = 32767
};

#define MSCCL_NONE UINT32_MAX

/* An operation of MSCCL: its name, the buffer that is worked in, whether that is where data are and
 * stay; whether input, or output, is the part of one rank. */
struct msccl_kind {
    const struct ar_operation *operation;
    const char *name;
    char buffer;
    bool is_in_place, has_part_in, has_part_out;
};

struct msccl_wait {
    uint32_t block, step;
};

struct msccl_operation {
    enum ar_receive receive;
    bool sends;
    char from, to;               /* buffers of a copy; 0: it is none */
    uint32_t chunk;              /* in the buffer that is worked in */
    uint32_t outer;              /* of a copy: in the other one */
    bool is_sum_read;            /* of a sum that is sent on */
    uint32_t block, step;        /* the step after those of its waits */
    uint32_t waits, waits_count; /* in gpu.waits */
    bool is_waited_for;
};

struct msccl_block {
    uint32_t from, to, channel; /* ranks; MSCCL_NONE */
    uint32_t steps;
    uint32_t seen[MSCCL_BLOCKS_MAX]; /* of other blocks so many steps are done */
};

/* What is written of a GPU. */
struct msccl_gpu {
    const struct ar_collective *collective;
    const struct msccl_kind *kind;
    struct ar_order order;
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count;
    uint32_t groups; /* MSCCL's channels for peers */
    uint32_t shared; /* those of phases that pass nothing on, if there are any */
    uint32_t width;  /* all of a channel's */
    bool is_crowded; /* more groups are needed */
    uint32_t ranks, rank;
    uint32_t elements, chunks;          /* of a channel; of the buffer */
    struct msccl_operation *operations; /* in the order of the algorithm */
    struct msccl_wait *waits;
    struct msccl_block *blocks;
    uint32_t operations_count, waits_count, blocks_count;
    uint32_t *written; /* [chunk]: number of the last operation that did, from 1 */
    uint32_t *read;    /* [chunk][block]: the same, since it was written */
    bool *is_read;     /* [chunk]: after what is looked at */
};

/** Whether messages of a phase are one chunk, and passed on: what is received is sent in the next
 * step, if anything is. */
bool msccl_is_passed_on(const struct msccl_gpu *gpu, const struct ar_phase *phase);

/** Makes the operations and blocks of the GPU `gpu->rank`; there is room for MSCCL's limits, beyond
 * which it is AR_USAGE. */
enum ar_status msccl_make_gpu(struct msccl_gpu *gpu, struct ar_error *err);

/** Refuses more than `max` of something. */
enum ar_status msccl_refuse(const struct msccl_gpu *gpu, const char *what, uint32_t max,
                            struct ar_error *err);

#endif
