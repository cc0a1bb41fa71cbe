/** \file progress.h
 * How far a sweep is: one line on a terminal, drawn anew a few times per second. It is made of
 * plain characters, with NO_COLOR or without.
 */
#ifndef AR_PROGRESS_H
#define AR_PROGRESS_H

#include <stdbool.h>

#include "dealer.h"

struct progress {
    bool is_shown;
    double began_s;
    double drawn_s;
};

/** `is_shown` false draws nothing. */
void progress_begin(bool is_shown, struct progress *progress);

/** Draws the line, if it is time to. Time left is the time so far, divided by the estimated cost
 * that is done and multiplied by the one that is not. */
void progress_draw(struct progress *progress, const struct dealer *dealer);

/** Removes the line. */
void progress_end(const struct progress *progress);

/** Writes a duration for people: `8 s`, `12 min`, `3.5 h`; returns `text`. */
enum { PROGRESS_TEXT = 24 };
const char *progress_time(double time_s, char text[PROGRESS_TEXT]);

#endif
