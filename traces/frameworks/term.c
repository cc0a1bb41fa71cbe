#include "ar_term.h"

#include <stdint.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

const struct ar_term_facts ar_terms[] = {
#define X(symbol, ...) [symbol] = {__VA_ARGS__},
    AR_TERM_LIST(X)
#undef X
};

const char *const ar_term_kinds[] = {
    [AR_TERM_NUMBER] = "number", [AR_TERM_COUNT] = "count", [AR_TERM_SECONDS] = "time",
    [AR_TERM_RATE] = "rate",     [AR_TERM_BYTES] = "bytes", [AR_TERM_PRECISION] = "precision",
    [AR_TERM_TEXT] = "rule"};

enum ar_term ar_term_find(const char *key, size_t length)
{
    int i = 0;
    while (i < AR_TERMS_COUNT &&
           (strlen(ar_terms[i].key) != length || strncmp(ar_terms[i].key, key, length) != 0)) {
        i++;
    }
    return (enum ar_term)i;
}

enum ar_status ar_term_report_unknown(const char *where, const char *key, struct ar_error *err)
{
    const char *names[AR_TERMS_COUNT];
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        names[i] = ar_terms[i].key;
    }
    return ar_error_unknown(err, AR_BAD_DATA, where, "term", key, names, AR_TERMS_COUNT);
}

enum ar_status ar_term_parse(enum ar_term term, const char *where, const char *text, double *number,
                             struct ar_error *err)
{
    static const char *const precisions[] = {"same", "fp16", "fp32", "bf16", "fp8", NULL};
    static const char *const units[] = {[AR_TERM_SECONDS] = " s",
                                        [AR_TERM_RATE] = " B/s",
                                        [AR_TERM_BYTES] = " B",
                                        [AR_TERM_TEXT] = NULL};
    const struct ar_term_facts *row = &ar_terms[term];
    double value = row->standard;
    uint64_t count = 0;
    unsigned place = 0;
    switch (row->kind) {
    case AR_TERM_SECONDS:
        AR_TRY(ar_parse_seconds(where, text, &value, err));
        break;
    case AR_TERM_RATE:
        AR_TRY(ar_parse_rate(where, text, &value, err));
        break;
    case AR_TERM_NUMBER:
        AR_TRY(ar_parse_number(where, text, row->min, row->max, &value, err));
        break;
    case AR_TERM_COUNT:
        AR_TRY(ar_parse_count(where, text, 0, (uint64_t)row->max, &count, err));
        value = (double)count;
        break;
    case AR_TERM_BYTES:
        AR_TRY(ar_parse_bytes(where, text, &count, err));
        value = (double)count;
        break;
    case AR_TERM_PRECISION:
        AR_TRY(ar_parse_choice(where, text, precisions, &place, err));
        value = place;
        break;
    case AR_TERM_TEXT:
        break;
    }
    if (units[row->kind] != NULL && value != row->standard &&
        (value < row->min || value > row->max)) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected %g to %g%s", where, text,
                            row->min, row->max, units[row->kind]);
    }
    *number = value;
    return AR_OK;
}
