/** \file twins.h
 * Points that send the same messages as another point, which is computed for both.
 *
 * A 2D torus of one column (1xN) is the ring of N, move by move, and so are its times by every
 * engine that sends messages, the closed form among them. A torus of one row (Nx1) is so too, but
 * the closed form counts its two halves apart and says other parts of the time: it is computed.
 */
#ifndef AR_TWINS_H
#define AR_TWINS_H

#include "ar_row.h"
#include "space.h"

/** The point whose row is that of `point` but for algorithm and shape; `point` itself if it is
 * like no other one. A point that is returned is its own twin. */
uint32_t twin_find(struct space *space, uint32_t point);

/** Makes the row of the twin that of `point`. */
void twin_rename(const struct space *space, uint32_t point, struct ar_row *row);

#endif
