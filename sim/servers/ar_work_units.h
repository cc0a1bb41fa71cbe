/** \file ar_work_units.h
 * A coordinator deals units of work to workers, each of which asks for the next one when it has
 * done its own; a question and its answer take `deal_s`.
 *
 * Towards the end, when no unit is left, workers that ask do the units again that others have been
 * at for longest, each once, and whoever is done first counts: the loser leaves off (Sandblaster:
 * Dean et al., Large Scale Distributed Deep Networks, NIPS 2012, section 4.2).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"

/** Times that a unit may be done. */
enum { AR_UNIT_COPIES = 2 };

/** Work units of a step. */
struct ar_units {
    uint32_t count;
    bool has_backups;
    double tail; /**< exponent of Pareto times; 0: lognormal ones, by the jitter */

    /* Results, of all steps. */
    uint64_t backups_count, won_count;
};

struct ar_work_units {
    /* Parameters. */
    uint32_t workers, units;
    double unit_s; /**< mean time of a unit */
    double deal_s;
    bool has_backups;
    const double *factors; /**< [unit][copy]: what its time is multiplied by; NULL: 1 */
    const double *speeds;  /**< [worker]: the same by who does it; NULL: 1 */

    /* Results. */
    double *end_s; /**< [worker]: it has nothing to do any more; the caller's room */
    double all_s;  /**< the last unit is done */
    uint32_t backups_count, won_count; /**< units that were begun again, and done first so */
};

void ar_work_units_deal(struct ar_work_units *pass);
