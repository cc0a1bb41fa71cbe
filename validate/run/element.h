/** \file element.h
 * Element types of a payload: how they are stored, and how the host adds two runs of them.
 *
 * A payload holds small integers, so that sums in any order are exact: every sum must stay at or
 * below `exact_max`, up to which the type has all integers.
 */
#pragma once

#include <stdint.h>

#include "ar_error.h"

struct element_type {
    const char *name; /**< as on the command line: fp32, fp16 */
    uint32_t bytes;
    uint32_t exact_max;

    /** Stores an integer from 0 to exact_max. */
    void (*store)(unsigned char *at, uint32_t value);

    /** Reads an element, whatever it holds. */
    double (*load)(const unsigned char *at);

    /** sum[i] += addend[i], rounded to nearest even. */
    void (*reduce)(unsigned char *sum, const unsigned char *addend, uint64_t count);
};

extern const struct element_type element_fp32;
extern const struct element_type element_fp16;

/** Finds a type by name; AR_USAGE names those there are. */
enum ar_status element_find(const char *where, const char *name, const struct element_type **type,
                            struct ar_error *err);
