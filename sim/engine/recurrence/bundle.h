/** \file bundle.h
 * The hops of a phase on one lane, laid out for array arithmetic.
 *
 * Where all walks of a phase (rings, or chains) have the same number of hops, hop j of walk r is
 * place j * walks + r: the hops that stand at the same place of their walks lie beside each other,
 * and what place p sends arrives at place p + walks. A chain has a last row that only receives.
 *
 * What place p sends in a step, p + walks sends in the next (ar_verify() checks that), so the
 * lengths of the messages move along: place p sends in step s what place p - s * walks sent first,
 * or, before the first row, what the first row sent in its own step.
 */
#ifndef AR_BUNDLE_H
#define AR_BUNDLE_H

#include "ar_arena.h"
#include "ar_flows.h"

/** The steps of its phase in which a row sends. */
struct bundle_row {
    uint32_t first;
    uint32_t end;
};

struct bundle {
    bool is_regular; /**< false: nothing else is set; go move by move */
    bool is_ring;
    uint32_t walks;
    uint32_t rows; /**< that send: the hops of a walk */
    uint32_t places_count;
    uint32_t *positions;     /**< [place] */
    double *latency_s;       /**< [place]; 0 in the last row of a chain */
    double *s_per_byte;      /**< [place], 1 / rate; 0 in the last row of a chain */
    enum ar_tier *tiers;     /**< [place] */
    struct bundle_row *send; /**< [row] */
};

/** Doubles in a cache line, 64 bytes on x86-64. */
enum { BUNDLE_LINE_NUMBERS = 8 };

/** Zeros that begin at a cache line, where wide vectors load fastest; NULL without memory. */
double *bundle_lane(struct ar_arena *arena, size_t count);

/** Lays out the hops of a lane in a phase. */
enum ar_status bundle_create(struct ar_arena *arena, const struct ar_phase *phase,
                             const struct ar_pattern *pattern, uint32_t lane, struct bundle *bundle,
                             struct ar_error *err);

/** Whether the same happens on both, from states that are alike; false where it is not known. */
bool bundle_is_alike(const struct bundle *one, const struct bundle *other);

/** Writes the bytes that place p sends in step s of the phase to bytes[origin + p - s * walks] for
 * all steps, and returns the origin. Needs bundle_bytes_capacity() numbers. */
size_t bundle_bytes(const struct ar_collective *collective, const struct bundle *bundle,
                    const struct ar_phase *phase, uint32_t first_step, uint64_t elements,
                    double *bytes);
size_t bundle_bytes_capacity(const struct bundle *bundle, const struct ar_phase *phase);

/** Writes the latency and the time per byte of messages that all are `bytes` long, above 0, with
 * what they cost besides their paths, to arrays with a number per place. */
void bundle_price(const struct bundle *bundle, const struct ar_message_cost *cost, double bytes,
                  double *latency_s, double *s_per_byte);

#endif
