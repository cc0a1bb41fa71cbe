/** \file pool.h
 * Rows computed by parallel processes.
 *
 * Every point runs in a process of its own, so a point that crashes costs one row. The largest
 * points start first. A row that could not be computed says why in its status. If the system gives
 * fewer processes than `jobs`, the sweep goes on with those.
 */
#ifndef AR_POOL_H
#define AR_POOL_H

#include "plan.h"

/** Computes the rows of all points with at most `jobs` processes at a time; `rows` has room for
 * `count`. `shows_progress` draws a line on stderr. Fails only if no process can be had or the user
 * ends it by SIGINT, SIGTERM or SIGHUP (AR_INTERRUPTED); no process is left then. */
enum ar_status pool_run(const struct plan *plan, const struct point *points, size_t count,
                        uint32_t jobs, bool shows_progress, struct ar_row *rows,
                        struct ar_error *err);

#endif
