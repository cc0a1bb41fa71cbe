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

static enum ar_status parse_precision(const char *where, const char *text, double *number,
                                      struct ar_error *err)
{
    static const char *const names[] = {"same", "fp16", "fp32", NULL};
    unsigned place;
    AR_TRY(ar_parse_choice(where, text, names, &place, err));
    *number = place;
    return AR_OK;
}

/* Parses by the kind of the term. Times, rates and bytes are not yet within its limits. */
static enum ar_status parse_kind(const struct ar_term_facts *row, const char *where,
                                 const char *text, double *number, struct ar_error *err)
{
    uint64_t count = 0;
    switch (row->kind) {
    case AR_TERM_SECONDS:
        return ar_parse_seconds(where, text, number, err);
    case AR_TERM_RATE:
        return ar_parse_rate(where, text, number, err);
    case AR_TERM_PRECISION:
        return parse_precision(where, text, number, err);
    case AR_TERM_COUNT:
        AR_TRY(ar_parse_count(where, text, 0, (uint64_t)row->max, &count, err));
        break;
    case AR_TERM_BYTES:
        AR_TRY(ar_parse_bytes(where, text, &count, err));
        break;
    case AR_TERM_TEXT:
        *number = row->standard;
        return AR_OK;
    case AR_TERM_NUMBER:
        return ar_parse_number(where, text, row->min, row->max, number, err);
    }
    *number = (double)count;
    return AR_OK;
}

enum ar_status ar_term_parse(enum ar_term term, const char *where, const char *text, double *number,
                             struct ar_error *err)
{
    static const char *const units[] = {[AR_TERM_SECONDS] = " s",
                                        [AR_TERM_RATE] = " B/s",
                                        [AR_TERM_BYTES] = " B",
                                        [AR_TERM_TEXT] = NULL};
    const struct ar_term_facts *row = &ar_terms[term];
    double value = row->standard;
    AR_TRY(parse_kind(row, where, text, &value, err));
    const char *unit = units[row->kind];
    if (unit != NULL && value != row->standard && (value < row->min || value > row->max)) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected %g to %g%s", where, text,
                            row->min, row->max, unit);
    }
    *number = value;
    return AR_OK;
}
