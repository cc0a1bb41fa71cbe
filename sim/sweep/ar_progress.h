/** \file ar_progress.h
 * How far work is: one line on a terminal, drawn anew a few times per second. It is made of plain
 * characters, with NO_COLOR or without.
 */
#ifndef AR_PROGRESS_H
#define AR_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ar_progress {
    const char *items_name; /**< `points` */
    bool is_shown;          /**< false draws nothing */
    size_t count;           /**< of items to compute */
    double cost_s;          /**< estimated for all of them, one after the other */
    uint32_t processes;
    size_t finished;
    double finished_cost_s;
    double began_s;
    double finished_s; /**< when the last one was */
    double drawn_s;
};

/** Begins and draws: all but what follows `processes` is filled in. */
void ar_progress_begin(struct ar_progress *progress);

/** Counts an item that is finished and draws the line, if it is time to. Time left is the estimated
 * cost that is not done yet; once a part is done, by how much that took. */
void ar_progress_add(struct ar_progress *progress, double cost_s);

/** Draws the line, if it is time to: to be called now and then while nothing is finished. */
void ar_progress_draw(struct ar_progress *progress);

/** Removes the line. */
void ar_progress_end(const struct ar_progress *progress);

#endif
