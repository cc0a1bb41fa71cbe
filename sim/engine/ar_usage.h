/** \file ar_usage.h
 * How busy links and GPUs are in the course of a simulation.
 *
 * Time is divided into AR_USAGE_BINS equal intervals. When a simulation lasts longer than they
 * cover, they become twice as long, two by two. So memory depends on the cluster alone, and at
 * least half of the intervals are in use once more than AR_USAGE_FIRST_S has passed. The bytes of a
 * message are spread evenly over the time from its start until its last byte has left.
 */
#pragma once

#include "ar_arena.h"
#include "ar_cluster.h"

enum { AR_USAGE_BINS = 512 };

#define AR_USAGE_FIRST_S 1e-6 /* covered at first; any time that is short beside a message's */

struct ar_usage {
    uint32_t links_count; /**< numbered as in ar_cluster.h */
    uint32_t ranks_count;
    double bin_s; /**< length of an interval */
    /** [item][interval]: bytes over each link, then seconds that each GPU computes. */
    float amounts[][AR_USAGE_BINS];
};

/** An empty usage, the arena's. */
struct ar_usage *ar_usage_create(const struct ar_cluster *cluster, uint32_t ranks,
                                 struct ar_arena *arena);

/** Bytes of all of it. */
size_t ar_usage_size(const struct ar_usage *usage);

/** Forgets all amounts: another simulation begins. */
void ar_usage_clear(struct ar_usage *usage);

/** Spreads an amount over the intervals from begin_s to end_s. */
void ar_usage_add(struct ar_usage *usage, uint32_t item, double begin_s, double end_s,
                  double amount);

/** The sum over all intervals. */
double ar_usage_total(const struct ar_usage *usage, uint32_t item);
