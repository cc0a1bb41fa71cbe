/** \file ar_schedule.h
 * The schedule of a pipeline: in which order a stage works on its micro-batches.
 *
 * A pipeline has p stages; m micro-batches go forward and backward through all of them. With V
 * chunks the layers are dealt to the stages V times over, so that chunk c of stage r is place c p +
 * r of p V. If all places take the same time and messages none, a stage is idle for (p - 1) / (m V)
 * of the time in which it is not:
 *
 * - `gpipe`: all forward, then all backward, the last one first (arXiv:1811.06965); V = 1;
 * - `1f1b`: p - 1 - r forward, then one forward and one backward in turn (arXiv:2006.09503); V = 1;
 * - `interleaved:V`: the same with V chunks, after arXiv:2104.04473; p divides m.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"

struct ar_pipeline {
    uint32_t stages;  /**< p */
    uint32_t batches; /**< m */
    uint32_t chunks;  /**< V */
};

/** The work of a stage in one step. */
struct ar_action {
    bool is_backward;
    uint32_t batch, chunk;
};

struct ar_schedule {
    const char *name, *title;
    bool has_chunks; /**< V is given */
    /** The work of a stage in step 0 to 2 m V - 1. */
    struct ar_action (*action)(const struct ar_pipeline *pipeline, uint32_t stage, uint32_t step);
};

extern const struct ar_schedule *const ar_schedules[];
extern const size_t ar_schedules_count;

/** Parses `1f1b` or `interleaved:V`, V at least 2; `chunks` becomes 1 where there is no V. */
enum ar_status ar_schedule_parse(const char *where, const char *text,
                                 const struct ar_schedule **schedule, uint32_t *chunks,
                                 struct ar_error *err);

/** How many chunks of micro-batches a stage keeps at most: gone forward, and not yet backward. */
uint32_t ar_schedule_kept(const struct ar_schedule *schedule, const struct ar_pipeline *pipeline,
                          uint32_t stage);
