/** \file ring_kernel.h
 * The inner loops of the `recurrence` engine: plain array arithmetic that the compiler turns into
 * vector code.
 *
 * On x86-64 each loop is compiled for every processor, for those with AVX2 and for those with
 * AVX-512, and the program takes the fitting one when it starts. All operations are exact or
 * rounded by IEEE 754 and none is contracted (-ffp-contract=off), so all give the same digits.
 *
 * Arrays hold one value per hop. No array may overlap one that is written.
 */
#pragma once

#include <stddef.h>

#if defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define VECTOR_CODE __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#ifndef VECTOR_CODE
#define VECTOR_CODE
#endif

/** A step of all hops of a ring. */
struct ring_step {
    const double *arrived_s; /**< at the sender, in the step before */
    const double *oldest_s;  /**< arrival of the message `window` sends before */
    const double *bytes;     /**< received in the step before, sent in this one */
    const double *s_per_byte, *latency_s;
    double reduce_s_per_byte; /**< of what was received; 0: it was copied */
    double *now_s;            /**< the sender is ready before the first step and after the last */
    double *start_s;          /**< of the sends of the step before; becomes that of this step */
    double *free_s;           /**< the connections have sent these; becomes that of this step */
    double *arrival_s;        /**< result */
};

/** The first send of each of the `count` hops of a ring; now >= 0:
 * start = max(now, free, oldest), free = start + bytes * s_per_byte, arrival = free + latency. */
void ring_kernel_begin(const struct ring_step *step, size_t count);

/** A further send of the `count` hops from place `first` on:
 * start = max(max(start, arrived) + bytes * reduce, free, oldest), the rest as in the first. */
void ring_kernel_step(const struct ring_step *step, size_t first, size_t count);

/** As ring_kernel_step(), for hops that need longer for each message than it takes to reduce one,
 * so that start + bytes * reduce <= free: start need not be known, and is left as it was. A later
 * ring_kernel_step() finds the right one. */
void ring_kernel_hidden(const struct ring_step *step, size_t first, size_t count);

/** After the last step, on all `count` hops: now = max(start, arrived) + bytes * reduce. */
void ring_kernel_end(const struct ring_step *step, size_t count);
