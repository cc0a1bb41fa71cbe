/* Reads terms: from a file, and one by one from a command line. */
#include <stdio.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_framework.h"
#include "ar_text.h"

enum { WHERE_SIZE = 1024 };

/* `status` is that of errors of the text that are found later. */
static enum ar_status set_term(struct ar_framework *framework, enum ar_term term, const char *where,
                               const char *text, const char *source, enum ar_status status,
                               struct ar_error *err)
{
    struct ar_term_value value = {.number = ar_terms[term].standard};
    if (text[0] == '\0' || strlen(text) >= sizeof value.text) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected 1 to %d characters",
                            where, text, (int)sizeof value.text - 1);
    }
    if (strcmp(text, "off") != 0) {
        AR_TRY(ar_term_parse(term, where, text, &value.number, err));
        ar_copy_text(value.text, sizeof value.text, text);
        ar_copy_text(value.source, sizeof value.source, source);
        ar_copy_text(value.where, sizeof value.where, where);
        value.status = status;
    }
    framework->terms[term] = value;
    return AR_OK;
}

/* `KEY=VALUE` is taken apart; the key must be that of a term. */
static enum ar_status find_term(const char *where, const char *text, enum ar_term *term,
                                struct ar_error *err)
{
    char key[64];
    size_t length = strcspn(text, "=");
    if (text[length] == '\0' || length == 0 || length >= sizeof key) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%.60s\"; expected KEY=VALUE, such as cycle.time=1ms",
                            where, text);
    }
    ar_copy_text(key, length + 1, text);
    *term = ar_term_find(key, length);
    return *term == AR_TERMS_COUNT ? ar_term_report_unknown(where, key, err) : AR_OK;
}

/* Of two settings for the same term the last would win in silence. */
static enum ar_status set_all(struct ar_framework *framework, struct ar_settings settings,
                              struct ar_error *err)
{
    const char *given[AR_TERMS_COUNT] = {NULL};
    for (size_t i = 0; i < settings.count; i++) {
        const struct ar_setting *setting = &settings.list[i];
        enum ar_term term = AR_TERMS_COUNT;
        char place[WHERE_SIZE];
        AR_TRY(ar_error_blame(find_term(setting->where, setting->text, &term, err), setting->status,
                              err));
        snprintf(place, sizeof place, "%s: %s", setting->where, ar_terms[term].key);
        AR_TRY(ar_error_blame(set_term(framework, term, place, strchr(setting->text, '=') + 1,
                                       setting->where, setting->status, err),
                              setting->status, err));
        if (given[term] != NULL) {
            return ar_error_set(err, setting->status,
                                "%s: found \"%.60s\" and \"%.60s\"; expected one", setting->where,
                                given[term], setting->text);
        }
        given[term] = setting->text;
    }
    return AR_OK;
}

enum ar_status ar_framework_create(const struct ar_framework *base, struct ar_settings settings,
                                   struct ar_arena *arena, struct ar_framework **framework,
                                   struct ar_error *err)
{
    struct ar_framework *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_NEED(made, err, "the terms of a framework");
    if (base != NULL) {
        *made = *base;
    } else {
        ar_framework_clear(made);
    }
    AR_TRY(set_all(made, settings, err));
    *framework = made;
    return AR_OK;
}

struct row {
    const char *term, *value, *source;
};

static const struct ar_column columns[] = {
    AR_COLUMN(string, struct row, term, "term", "a term"),
    AR_COLUMN(string, struct row, value, "value", "a value, or off"),
    AR_COLUMN(string, struct row, source, "source", "where the value comes from"),
};

static const struct ar_column directives[] = {
    AR_COLUMN(string, struct ar_framework, description, "description", "", .may_be_empty = true,
              .may_be_missing = true),
};

static enum ar_status take_row(const struct ar_csv *csv, size_t number, const struct row *row,
                               bool is_given[AR_TERMS_COUNT], struct ar_framework *framework,
                               struct ar_error *err)
{
    char where[AR_CSV_WHERE];
    char place[WHERE_SIZE];
    char shown[64];
    enum ar_term term = ar_term_find(row->term, strlen(row->term));
    ar_csv_where(csv, number, where);
    if (term == AR_TERMS_COUNT) {
        return ar_term_report_unknown(where, ar_csv_show(row->term, shown), err);
    }
    if (is_given[term]) {
        return ar_csv_error(csv, number, "term", "each term once", err);
    }
    is_given[term] = true;
    snprintf(place, sizeof place, "%s: %s", where, row->term);
    return set_term(framework, term, place, row->value, row->source, AR_BAD_DATA, err);
}

enum ar_status ar_framework_load(const char *path, struct ar_arena *arena,
                                 struct ar_framework **framework, struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_framework *made = NULL;
    bool is_given[AR_TERMS_COUNT] = {false};
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    AR_TRY(ar_framework_create(NULL, (struct ar_settings){0}, arena, &made, err));
    struct row *rows = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *rows);
    AR_NEED(rows, err, path);
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(directives), made, err));
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(columns), rows, sizeof *rows, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        AR_TRY(take_row(csv, i, &rows[i], is_given, made, err));
    }
    ar_copy_stem(made->name, sizeof made->name, path,
                 strstr(path, ".framework.csv") != NULL ? ".framework.csv" : ".csv");
    *framework = made;
    return AR_OK;
}
