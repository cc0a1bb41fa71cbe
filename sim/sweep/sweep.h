/** \file sweep.h
 * A sweep while it runs, for the one process or the rank 0 that keeps its rows.
 */
#ifndef AR_SWEEP_H
#define AR_SWEEP_H

#include "launch.h"
#include "pool.h"
#include "progress.h"

struct sweep {
    const struct options *options;
    struct launch launch;
    struct space space;
    struct journal journal;
    struct dealer dealer;
    struct progress progress;
    uint32_t jobs; /**< worker processes of this process */
    enum ar_row_format format;
};

/** Opens the journal, finds out which points are missing, and says how long they will take on so
 * many processes. Freed with sweep_close(), also after a failure. */
enum ar_status sweep_open(struct sweep *sweep, uint32_t processes, struct ar_error *err);

/** Keeps a row. */
enum ar_status sweep_take(struct sweep *sweep, const struct answer *answer, struct ar_error *err);

/** Reports that the sweep was interrupted, and what is left of it. */
enum ar_status sweep_report_interrupt(const struct sweep *sweep, struct ar_error *err);

/** Writes files and output when all points have their row; fails if one of them failed. */
enum ar_status sweep_finish(struct sweep *sweep, struct ar_error *err);

void sweep_close(struct sweep *sweep, bool is_finished);

/** The handler of the signals that end a sweep, and whether it was called. */
void sweep_interrupt(int signal_number);
bool sweep_is_interrupted(void);

#endif
