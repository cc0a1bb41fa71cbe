/** \file ar_clock.h
 * The one clock of measured and shown durations.
 */
#ifndef AR_BASE_CLOCK_H
#define AR_BASE_CLOCK_H

/** Seconds since some moment; it never goes back. */
double ar_clock_s(void);

#endif
