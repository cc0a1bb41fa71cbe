/** \file ar_recorded.h
 * A step that another program wrote down: what one GPU computes and takes part in, as all GPUs do.
 *
 * - Text of ASTRA-sim 1.0 and of SimAI: layers with times (ns) and collectives of their forward
 *   pass, the gradients of their inputs and of their weights. All layers go forward, then all
 *   backward. Collectives of the first two hold the GPU up (in DATA and MODEL there are none, and
 *   only those of the forward pass do); those of weights run beside it.
 * - Chakra execution traces (`.et`, protobuf): nodes with what they need. Collectives run beside
 *   the GPU, in the order in which they can.
 *
 * Sizes are what nccl-tests counts; ASTRA-sim counts one part of an all-gather, `is_part`. Times of
 * the processor are not counted; notes name everything that is left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"

/** Largest file, most tasks, and most needs of them. */
#define AR_RECORDED_BYTES_MAX ((size_t)64 * 1024 * 1024)
enum { AR_RECORDED_TASKS_MAX = 2000000, AR_RECORDED_NOTES_MAX = 8 };

/** Groups that a collective runs in, as bits: replicas, experts, shards of layers. */
enum { AR_RECORDED_DP = 1, AR_RECORDED_EP = 2, AR_RECORDED_TP = 4 };

enum ar_recorded_duty { AR_RECORDED_FORWARD, AR_RECORDED_BACKWARD, AR_RECORDED_UPDATE };

struct ar_recorded_task {
    const char *operation; /**< name of the collective (`allreduce`); NULL: a computation */
    double time_s;         /**< duration of a computation */
    uint64_t bytes;        /**< payload of a collective */
    bool is_part;          /**< they are of one rank's part */
    unsigned groups;       /**< AR_RECORDED_DP, ... */
    bool is_beside;        /**< it does not hold up what comes after it, but for needs */
    enum ar_recorded_duty duty;
    uint64_t line;                     /**< line of the text, or number of the node */
    uint32_t needs_first, needs_count; /**< in ar_recorded.needs: earlier tasks */
};

struct ar_recorded {
    const char *path;
    const char *form; /**< `SimAI`, ... */
    /** Sizes that the file says: stages, experts, shards, all GPUs; 0: it does not. */
    uint32_t pp, ep, tp, gpus;
    struct ar_recorded_task *tasks;
    uint32_t tasks_count;
    uint32_t *needs;
    uint32_t needs_count;
    const char *notes[AR_RECORDED_NOTES_MAX + 1];
    size_t notes_count;
};

/** Reads a file of any form into the arena. AR_NO_INPUT; AR_BAD_DATA with `path:line` or a node. */
enum ar_status ar_recorded_load(const char *path, struct ar_arena *arena,
                                struct ar_recorded **recorded, struct ar_error *err);

/** Reads a text in memory in the same way, and changes it. */
enum ar_status ar_recorded_parse(const char *path, char *text, size_t bytes, struct ar_arena *arena,
                                 struct ar_recorded **recorded, struct ar_error *err);

/** Appends a task without needs, for which there is room; returns its number. */
uint32_t ar_recorded_add(struct ar_recorded *recorded, const struct ar_recorded_task *task);

/** Adds a need of the last task. */
void ar_recorded_need(struct ar_recorded *recorded, uint32_t other);
