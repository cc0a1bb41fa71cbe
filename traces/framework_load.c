/* Reads terms: from a file, and one by one from a command line. */
#include <stdio.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_text.h"
#include "ar_units.h"
#include "framework_terms.h"
#include "trace_build.h"

enum { WHERE_SIZE = 1024 };

static enum ar_status parse_precision(const char *where, const char *text, double *number,
                                      struct ar_error *err)
{
    static const char *const names[] = {"same", "fp16", "fp32"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *number = i;
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected same, fp16 or fp32", where,
                        text);
}

static enum ar_status parse_count(const struct term_row *row, const char *where, const char *text,
                                  double *number, struct ar_error *err)
{
    uint64_t count;
    enum ar_status status = ar_parse_count(where, text, 0, (uint64_t)row->max, &count, err);
    if (status == AR_OK) {
        *number = (double)count;
    }
    return status;
}

static enum ar_status parse_bytes(const char *where, const char *text, double *number,
                                  struct ar_error *err)
{
    uint64_t bytes;
    enum ar_status status = ar_parse_bytes(where, text, &bytes, err);
    if (status == AR_OK) {
        *number = (double)bytes;
    }
    return status;
}

/* Parses by the kind of the term, not yet within its limits. */
static enum ar_status parse_number(const struct term_row *row, const char *where, const char *text,
                                   double *number, struct ar_error *err)
{
    switch (row->kind) {
    case TERM_SECONDS:
        return ar_parse_seconds(where, text, number, err);
    case TERM_COUNT:
        return parse_count(row, where, text, number, err);
    case TERM_RATE:
        return ar_parse_rate(where, text, number, err);
    case TERM_BYTES:
        return parse_bytes(where, text, number, err);
    case TERM_PRECISION:
        return parse_precision(where, text, number, err);
    case TERM_TEXT:
        *number = row->standard; /* the text is read where the rules are known */
        return AR_OK;
    default:
        return ar_parse_number(where, text, row->min, row->max, number, err);
    }
}

static enum ar_status set_term(struct ar_framework *framework, enum ar_term term, const char *where,
                               const char *text, const char *source, struct ar_error *err)
{
    const struct term_row *row = &framework_terms[term];
    struct ar_term_value value = {.number = row->standard};
    bool is_off = strcmp(text, "off") == 0;
    if (text[0] == '\0' || strlen(text) >= sizeof value.text) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected 1 to %d characters",
                            where, text, (int)sizeof value.text - 1);
    }
    if (!is_off) {
        enum ar_status status = parse_number(row, where, text, &value.number, err);
        if (status != AR_OK) {
            return status;
        }
        if (value.number != row->standard && (value.number < row->min || value.number > row->max)) {
            return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected %g to %g %s", where,
                                text, row->min, row->max,
                                row->kind == TERM_SECONDS ? "s"
                                : row->kind == TERM_RATE  ? "B/s"
                                                          : "B");
        }
        ar_copy_text(value.text, sizeof value.text, text);
        ar_copy_text(value.source, sizeof value.source, source);
        ar_copy_text(value.where, sizeof value.where, where);
    }
    framework->terms[term] = value;
    return AR_OK;
}

static enum ar_status report_unknown(enum ar_status status, const char *where, const char *key,
                                     struct ar_error *err)
{
    const char *names[AR_TERMS_COUNT];
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        names[i] = framework_terms[i].key;
    }
    return ar_error_unknown(err, status, where, "term", key, names, AR_TERMS_COUNT);
}

enum ar_status ar_framework_set(struct ar_framework *framework, const char *where, const char *text,
                                struct ar_error *err)
{
    char key[64];
    char place[WHERE_SIZE];
    size_t length = strcspn(text, "=");
    if (text[length] == '\0' || length == 0 || length >= sizeof key) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%.60s\"; expected KEY=VALUE, such as cycle.time=1ms",
                            where, text);
    }
    ar_copy_text(key, length + 1, text);
    enum ar_term term = ar_term_find(key, length);
    if (term == AR_TERMS_COUNT) {
        return report_unknown(AR_BAD_DATA, where, key, err);
    }
    snprintf(place, sizeof place, "%s: %s", where, key);
    return set_term(framework, term, place, text + length + 1, where, err);
}

static const char *const columns[] = {"term", "value", "source"};
enum { TERM, VALUE, SOURCE, COLUMNS_COUNT };

static enum ar_status read_row(const struct ar_csv *csv, size_t row, const size_t *places,
                               bool *is_given, struct ar_framework *framework, struct ar_error *err)
{
    char where[WHERE_SIZE];
    const char *key = ar_csv_cell(csv, row, places[TERM]);
    const char *source = ar_csv_cell(csv, row, places[SOURCE]);
    char shown[64];
    enum ar_term term = ar_term_find(key, strlen(key));
    snprintf(where, sizeof where, "%s:%llu", csv->path, (unsigned long long)csv->lines[row]);
    if (term == AR_TERMS_COUNT) {
        return report_unknown(AR_BAD_DATA, where, ar_csv_show(key, shown), err);
    }
    if (is_given[term]) {
        return ar_csv_cell_error(csv, row, places[TERM], "each term once", err);
    }
    if (source[0] == '\0') {
        return ar_csv_cell_error(csv, row, places[SOURCE], "where the value comes from", err);
    }
    is_given[term] = true;
    snprintf(where, sizeof where, "%s:%llu: %s", csv->path, (unsigned long long)csv->lines[row],
             key);
    return set_term(framework, term, where, ar_csv_cell(csv, row, places[VALUE]), source, err);
}

static enum ar_status read_table(const struct ar_csv *csv, struct ar_framework *framework,
                                 struct ar_error *err)
{
    static const char *const directives[] = {"description"};
    size_t places[COLUMNS_COUNT];
    bool is_given[AR_TERMS_COUNT] = {false};
    enum ar_status status = ar_csv_check_directives(csv, directives, 1, err);
    if (status == AR_OK) {
        status = ar_csv_find_columns(csv, columns, COLUMNS_COUNT, places, err);
    }
    for (size_t row = 0; status == AR_OK && row < csv->rows_count; row++) {
        status = read_row(csv, row, places, is_given, framework, err);
    }
    return status;
}

enum ar_status ar_framework_load(const char *path, struct ar_framework *framework,
                                 struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_framework read;
    enum ar_status status = ar_csv_load(path, &csv, err);
    if (status != AR_OK) {
        return status;
    }
    ar_framework_clear(&read);
    ar_file_stem(path, strstr(path, ".framework.csv") != NULL ? ".framework.csv" : ".csv",
                 read.name, sizeof read.name);
    ar_copy_text(read.description, sizeof read.description,
                 ar_csv_directive_text(csv, "description", ""));
    status = read_table(csv, &read, err);
    ar_csv_destroy(csv);
    if (status == AR_OK) {
        *framework = read;
    }
    return status;
}
