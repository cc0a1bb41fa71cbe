/** \file ring_kernel.h
 * The inner loops of the `recurrence` engine: plain array arithmetic that the compiler turns into
 * vector code.
 *
 * On x86-64 each loop is compiled twice, for every processor and for those with AVX2, and the
 * program takes the fitting one when it starts. All operations are exact or rounded by IEEE 754 and
 * none is contracted (-ffp-contract=off), so both give the same digits.
 *
 * Arrays hold one value per hop. No array may overlap one that is written.
 */
#ifndef AR_RING_KERNEL_H
#define AR_RING_KERNEL_H

#include <stddef.h>

/** The first send of each hop of a ring:
 * start = max(now, free, oldest), arrival = start + bytes * s_per_byte + latency. */
void ring_kernel_begin(size_t count, const double *now_s, const double *free_s,
                       const double *oldest_s, const double *bytes, const double *s_per_byte,
                       const double *latency_s, double *start_s, double *arrival_s);

/** What all hops of a step have in common. */
struct ring_step {
    const double *arrived_s;    /**< at the sender, in the step before */
    const double *oldest_s;     /**< arrival of the message `window` sends before */
    const double *bytes_before; /**< sent in the step before */
    const double *bytes;        /**< received in the step before, sent in this one */
    const double *s_per_byte;
    const double *latency_s;
    double reduce_s_per_byte; /**< of what was received; 0: it was copied */
    double *start_s;          /**< of the sends of the step before; becomes that of this step */
    double *arrival_s;        /**< result */
};

/** A further send of each hop of a ring:
 * start = max(max(start, arrived) + bytes * reduce, start + bytes_before * s_per_byte, oldest),
 * arrival = start + bytes * s_per_byte + latency. */
void ring_kernel_step(size_t count, const struct ring_step *step);

/** After the last step: now = max(start, arrived) + bytes * reduce,
 * free = start + bytes_before * s_per_byte. */
void ring_kernel_end(size_t count, const struct ring_step *step, double *now_s, double *free_s);

/** One send of hops that lie beside each other, and its receive by the hops after them. */
struct chain_step {
    const double *oldest_s;
    const double *bytes;
    const double *s_per_byte;
    const double *latency_s;
    double reduce_s_per_byte;
    double *now_s;      /**< of the senders */
    double *free_s;     /**< of the senders */
    double *arrival_s;  /**< result */
    double *next_now_s; /**< of the receivers */
};

void ring_kernel_chain(size_t count, const struct chain_step *step);

#endif
