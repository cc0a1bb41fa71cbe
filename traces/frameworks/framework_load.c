/* Reads terms: from a file, and one by one from a command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_framework.h"
#include "ar_text.h"

enum { WHERE_SIZE = 1024 };

static enum ar_status set_term(struct ar_framework *framework, enum ar_term term, const char *where,
                               const char *text, const char *source, struct ar_error *err)
{
    struct ar_term_value value = {.number = ar_term_default(term)};
    if (text[0] == '\0' || strlen(text) >= sizeof value.text) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected 1 to %d characters",
                            where, text, (int)sizeof value.text - 1);
    }
    if (strcmp(text, "off") != 0) {
        AR_TRY(ar_term_parse(term, where, text, &value.number, err));
        ar_copy_text(value.text, sizeof value.text, text);
        ar_copy_text(value.source, sizeof value.source, source);
        ar_copy_text(value.where, sizeof value.where, where);
        value.status = AR_BAD_DATA;
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

enum ar_status ar_framework_set(struct ar_framework *framework, const char *where, const char *text,
                                struct ar_error *err)
{
    char place[WHERE_SIZE];
    enum ar_term term;
    AR_TRY(find_term(where, text, &term, err));
    snprintf(place, sizeof place, "%s: %s", where, ar_term_key(term));
    return set_term(framework, term, place, strchr(text, '=') + 1, where, err);
}

/* Of two settings for the same term the last would win in silence. */
static enum ar_status set_all(struct ar_framework *framework, struct ar_settings settings,
                              struct ar_error *err)
{
    const char *given[AR_TERMS_COUNT] = {NULL};
    for (size_t i = 0; i < settings.count; i++) {
        const struct ar_setting *setting = &settings.list[i];
        enum ar_term term = AR_TERMS_COUNT;
        enum ar_status status = find_term(setting->where, setting->text, &term, err);
        if (status == AR_OK) {
            status = ar_framework_set(framework, setting->where, setting->text, err);
        }
        if (status != AR_OK) {
            return status == AR_BAD_DATA ? (err->status = setting->status) : status;
        }
        if (given[term] != NULL) {
            return ar_error_set(err, setting->status,
                                "%s: found \"%.60s\" and \"%.60s\"; expected one", setting->where,
                                given[term], setting->text);
        }
        given[term] = setting->text;
        framework->terms[term].status = setting->status;
    }
    return AR_OK;
}

enum ar_status ar_framework_create(const struct ar_framework *base, struct ar_settings settings,
                                   struct ar_framework **framework, struct ar_error *err)
{
    struct ar_framework *made = malloc(sizeof *made);
    if (made == NULL) {
        return ar_error_no_memory(err, "the terms of a framework");
    }
    if (base != NULL) {
        *made = *base;
    } else {
        ar_framework_clear(made);
    }
    enum ar_status status = set_all(made, settings, err);
    if (status != AR_OK) {
        ar_framework_destroy(made);
        return status;
    }
    *framework = made;
    return AR_OK;
}

void ar_framework_destroy(struct ar_framework *framework)
{
    free(framework);
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
        return ar_term_report_unknown(where, ar_csv_show(key, shown), err);
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
    AR_TRY(ar_csv_check_directives(csv, directives, 1, err));
    AR_TRY(ar_csv_find_columns(csv, columns, COLUMNS_COUNT, places, err));
    for (size_t row = 0; row < csv->rows_count; row++) {
        AR_TRY(read_row(csv, row, places, is_given, framework, err));
    }
    ar_copy_stem(framework->name, sizeof framework->name, csv->path,
                 strstr(csv->path, ".framework.csv") != NULL ? ".framework.csv" : ".csv");
    ar_copy_text(framework->description, sizeof framework->description,
                 ar_csv_directive_text(csv, "description", ""));
    return AR_OK;
}

enum ar_status ar_framework_load(const char *path, struct ar_framework **framework,
                                 struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_arena arena = {NULL};
    struct ar_framework *loaded = NULL;
    AR_TRY(ar_csv_load(path, &arena, &csv, err));
    enum ar_status status = ar_framework_create(NULL, (struct ar_settings){0}, &loaded, err);
    if (status == AR_OK) {
        status = read_table(csv, loaded, err);
    }
    ar_arena_end(&arena);
    if (status != AR_OK) {
        ar_framework_destroy(loaded);
        return status;
    }
    *framework = loaded;
    return AR_OK;
}
