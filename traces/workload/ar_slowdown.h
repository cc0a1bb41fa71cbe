/** \file ar_slowdown.h
 * Computations that advance slower while the communication stream is busy: collectives take
 * multiprocessors and memory bandwidth from them.
 */
#ifndef AR_SLOWDOWN_H
#define AR_SLOWDOWN_H

#include <stdint.h>

struct ar_interval {
    double begin_s, end_s;
};

/** When computations are slowed down. */
struct ar_slowdown {
    double speed_frac;                   /**< above 0, up to 1 */
    const struct ar_interval *intervals; /**< in order; they may overlap */
    uint32_t intervals_count;            /**< 0: never */
};

/** When work of `work_s` is done that begins at `now_s`. `*next`, 0 at first, is the first interval
 * that may not be over yet; works follow each other. */
double ar_slowdown_advance(const struct ar_slowdown *slowdown, double now_s, double work_s,
                           uint32_t *next);

#endif
