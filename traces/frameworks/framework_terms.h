/** \file framework_terms.h
 * The table of terms, shared by the laws and the reader of a framework.
 */
#ifndef AR_TRACES_FRAMEWORK_TERMS_H
#define AR_TRACES_FRAMEWORK_TERMS_H

#include "ar_framework.h"

enum term_kind {
    TERM_NUMBER,
    TERM_COUNT,
    TERM_SECONDS,
    TERM_RATE,
    TERM_BYTES,
    TERM_PRECISION,
    TERM_TEXT
};

struct term_row {
    const char *key;
    enum term_kind kind;
    double standard;
    double min;
    double max;
    const char *meaning;
};

extern const struct term_row framework_terms[AR_TERMS_COUNT];

#endif
