/** \file dealer.h
 * Deals out the points of a sweep that have no row yet.
 *
 * Points that take long go first, so that none of them is left for the end; the many that do not go
 * in their own order, in which neighbours read the same files.
 */
#ifndef AR_DEALER_H
#define AR_DEALER_H

#include "journal.h"

struct deal {
    float cost_s;
    uint32_t point;
};

struct dealer {
    struct deal *deals;
    size_t count;
    size_t next;
    size_t finished;
    double cost_s; /**< of all of them, estimated */
    double finished_cost_s;
};

/** Takes all points of a space but those whose row is in the journal and ok. Freed with
 * dealer_destroy(). */
enum ar_status dealer_create(const struct space *space, const struct journal *journal,
                             struct dealer *dealer, struct ar_error *err);
void dealer_destroy(struct dealer *dealer);

/** Estimated time of the next point; 0 if there is none. */
double dealer_next_s(const struct dealer *dealer);

/** Deals out up to `room` points and CHUNK_MAX; returns how many. */
uint32_t dealer_deal(struct dealer *dealer, uint32_t capacity, struct request *request);

/** Takes note of a point that has its row. */
void dealer_finish(struct dealer *dealer, const struct space *space, uint32_t point);

#endif
