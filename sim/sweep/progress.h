/** \file progress.h
 * How far a sweep is: one line on a terminal, drawn anew a few times per second. It is made of
 * plain characters, with NO_COLOR or without.
 */
#ifndef AR_PROGRESS_H
#define AR_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool is_shown; /**< false draws nothing */
    size_t count;  /**< of points to compute */
    double cost_s; /**< estimated for all of them, one after the other */
    uint32_t processes;
    size_t finished;
    double finished_cost_s;
    double began_s;
    double drawn_s;
};

/** Begins and draws: `is_shown`, `count`, `cost_s` and `processes` are filled in. */
void progress_begin(struct progress *progress);

/** Counts a point that is finished and draws the line, if it is time to. Time left is the estimated
 * cost that is not done yet; once a part is done, by how much that took. */
void progress_add(struct progress *progress, double cost_s);

/** Removes the line. */
void progress_end(const struct progress *progress);

#endif
