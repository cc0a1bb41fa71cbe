/** \file cuda_schedule_parts.h
 * What a CUDA schedule is made of; shared by its making (cuda_schedule.c) and its work
 * (cuda_schedule_work.c).
 */
#ifndef AR_VALIDATE_CUDA_SCHEDULE_PARTS_H
#define AR_VALIDATE_CUDA_SCHEDULE_PARTS_H

#include "cuda_device.h"
#include "cuda_schedule.h"
#include "executor.h"

/* Slots begin at multiples of this; a message lies in its slot as its span lies in the buffer. */
enum { SLOT_ALIGNMENT = 16 };

/* A connection. */
struct cuda_link {
    uint32_t channel;
    uint32_t from;
    uint32_t to;
    unsigned char *slots; /* on the receiver's GPU */
    cudaEvent_t sent[AR_WINDOW_MAX];
    cudaEvent_t taken[AR_WINDOW_MAX];
    uint64_t sends; /* laid out so far */
    uint64_t receives;
};

struct cuda_rank {
    int device;
    cudaStream_t streams[AR_CHANNELS_MAX];
    cudaEvent_t done[AR_CHANNELS_MAX];
    uint32_t *links; /* of its ports */
};

struct cuda_schedule {
    struct crew crew;
    const struct measurement *measurement;
    const struct run_config *config;
    struct ports *ports; /* of all ranks */
    struct cuda_rank *ranks;
    struct cuda_link *links;
    uint32_t links_count;
    size_t slot_bytes;
    cudaEvent_t fork; /* all streams wait for it */
    cudaEvent_t begin;
    cudaEvent_t end;
    cudaGraphExec_t executable; /* of a graph; NULL: none */
};

/** Lays out the whole collective behind what is in the first rank's first stream, and ends there
 * (cuda_schedule_work.c). */
enum ar_status cuda_schedule_lay_out(struct cuda_schedule *schedule, struct ar_error *err);

#endif
