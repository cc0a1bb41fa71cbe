/** \file ar_clock.h
 * The one clock of measured and shown durations.
 */
#ifndef AR_BASE_CLOCK_H
#define AR_BASE_CLOCK_H

#include <time.h>

/** Seconds since some moment; it never goes back. */
static inline double ar_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
