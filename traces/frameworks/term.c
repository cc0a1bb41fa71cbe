#include "ar_term.h"

#include <stdint.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

enum kind { NUMBER, COUNT, SECONDS, RATE, BYTES, PRECISION, TEXT };

static const struct row {
    const char *key;
    enum kind kind;
    double standard;
    double min;
    double max;
    enum ar_term needs;
    const char *meaning;
} rows[AR_TERMS_COUNT] = {
#define X(symbol, key, kind, standard, min, max, needs, meaning)                                   \
    [symbol] = {key, kind, standard, min, max, needs, meaning},
    AR_TERM_LIST(X)
#undef X
};

const char *ar_term_key(enum ar_term term)
{
    return rows[term].key;
}

const char *ar_term_unit(enum ar_term term)
{
    static const char *const names[] = {
        [NUMBER] = "number", [COUNT] = "count",         [SECONDS] = "time", [RATE] = "rate",
        [BYTES] = "bytes",   [PRECISION] = "precision", [TEXT] = "rule"};
    return names[rows[term].kind];
}

const char *ar_term_meaning(enum ar_term term)
{
    return rows[term].meaning;
}

double ar_term_default(enum ar_term term)
{
    return rows[term].standard;
}

enum ar_term ar_term_needs(enum ar_term term)
{
    return rows[term].needs;
}

bool ar_term_is_text(enum ar_term term)
{
    return rows[term].kind == TEXT;
}

enum ar_term ar_term_find(const char *key, size_t length)
{
    int i = 0;
    while (i < AR_TERMS_COUNT &&
           (strlen(rows[i].key) != length || strncmp(rows[i].key, key, length) != 0)) {
        i++;
    }
    return (enum ar_term)i;
}

enum ar_status ar_term_report_unknown(const char *where, const char *key, struct ar_error *err)
{
    const char *names[AR_TERMS_COUNT];
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        names[i] = rows[i].key;
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
static enum ar_status parse_kind(const struct row *row, const char *where, const char *text,
                                 double *number, struct ar_error *err)
{
    uint64_t count = 0;
    switch (row->kind) {
    case SECONDS:
        return ar_parse_seconds(where, text, number, err);
    case RATE:
        return ar_parse_rate(where, text, number, err);
    case PRECISION:
        return parse_precision(where, text, number, err);
    case COUNT:
        AR_TRY(ar_parse_count(where, text, 0, (uint64_t)row->max, &count, err));
        break;
    case BYTES:
        AR_TRY(ar_parse_bytes(where, text, &count, err));
        break;
    case TEXT:
        *number = row->standard;
        return AR_OK;
    case NUMBER:
        return ar_parse_number(where, text, row->min, row->max, number, err);
    }
    *number = (double)count;
    return AR_OK;
}

enum ar_status ar_term_parse(enum ar_term term, const char *where, const char *text, double *number,
                             struct ar_error *err)
{
    static const char *const units[] = {[SECONDS] = " s", [RATE] = " B/s", [BYTES] = " B"};
    const struct row *row = &rows[term];
    double value = row->standard;
    AR_TRY(parse_kind(row, where, text, &value, err));
    bool is_dimensioned = row->kind == SECONDS || row->kind == RATE || row->kind == BYTES;
    if (is_dimensioned && value != row->standard && (value < row->min || value > row->max)) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected %g to %g%s", where, text,
                            row->min, row->max, units[row->kind]);
    }
    *number = value;
    return AR_OK;
}
