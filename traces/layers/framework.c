/* Terms of a framework: how they are written and read, and what they do to the times of a trace. */
#include "ar_framework.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_units.h"

/* --- terms --------------------------------------------------------------------------------- */

const struct ar_term_facts ar_terms[] = {AR_TERM_LIST(AR_LIST_REST)};

const char *const ar_term_kinds[] = {
    [AR_TERM_NUMBER] = "number", [AR_TERM_COUNT] = "count", [AR_TERM_SECONDS] = "time",
    [AR_TERM_RATE] = "rate",     [AR_TERM_BYTES] = "bytes", [AR_TERM_PRECISION] = "precision",
    [AR_TERM_TEXT] = "rule"};

/* Parses a value with its unit, in SI units; wire.precision: 0 is same, else 1 + ar_precision. */
static enum ar_status parse_term(enum ar_term term, const char *where, const char *text,
                                 double *number, struct ar_error *err)
{
    static const char *const precisions[] = {"same", AR_WIRE_PRECISION_LIST(AR_LIST_SECOND) NULL};
    static const struct {
        enum ar_quantity quantity;
        const char *unit;
    } units[] = {[AR_TERM_SECONDS] = {AR_QUANTITY_TIME, " s"},
                 [AR_TERM_RATE] = {AR_QUANTITY_RATE, " B/s"},
                 [AR_TERM_BYTES] = {AR_QUANTITY_SIZE, " B"},
                 [AR_TERM_TEXT] = {AR_QUANTITY_SIZE, NULL}};
    const struct ar_term_facts *row = &ar_terms[term];
    double value = row->standard;
    uint64_t count = 0;
    unsigned place = 0;
    switch (row->kind) {
    case AR_TERM_SECONDS:
    case AR_TERM_RATE:
    case AR_TERM_BYTES:
        AR_TRY(ar_parse_quantity(where, text, units[row->kind].quantity, &value, err));
        break;
    case AR_TERM_NUMBER:
        AR_TRY(ar_parse_number(where, text, row->min, row->max, &value, err));
        break;
    case AR_TERM_COUNT:
        AR_TRY(ar_parse_count(where, text, 0, (uint64_t)row->max, &count, err));
        value = (double)count;
        break;
    case AR_TERM_PRECISION:
        AR_TRY(ar_parse_choice(where, text, precisions, &place, err));
        value = place;
        break;
    case AR_TERM_TEXT:
        break;
    }
    AR_REFUSE(units[row->kind].unit != NULL && value != row->standard &&
                  (value < row->min || value > row->max),
              err, AR_BAD_DATA, "%s: found \"%s\"; expected %g to %g%s", where, text, row->min,
              row->max, units[row->kind].unit);
    *number = value;
    return AR_OK;
}

/* --- reading ------------------------------------------------------------------------------- */

/* `status` is that of errors of the text that are found later. A second value of a term is refused:
 * the last one would win in silence. */
static enum ar_status set_term(struct ar_framework *framework, const char *where, const char *key,
                               const char *text, const char *source, enum ar_status status,
                               bool is_given[AR_TERMS_COUNT], struct ar_error *err)
{
    const char *names[AR_TERMS_COUNT];
    enum ar_term term = AR_TERMS_COUNT;
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        names[i] = ar_terms[i].key;
        term = strcmp(key, names[i]) == 0 ? (enum ar_term)i : term;
    }
    AR_REFUSE_BY(term == AR_TERMS_COUNT,
                 ar_error_unknown(err, AR_BAD_DATA, where, "term", key, names, AR_TERMS_COUNT));
    struct ar_term_value value = {.number = ar_terms[term].standard};
    char place[1024];
    snprintf(place, sizeof place, "%s: %s", where, key);
    AR_REFUSE(is_given[term], err, AR_BAD_DATA, "%s: found a second time; expected each term once",
              place);
    is_given[term] = true;
    AR_REFUSE(text[0] == '\0' || strlen(text) >= sizeof value.text, err, AR_BAD_DATA,
              "%s: found \"%.60s\"; expected 1 to %d characters", place, text,
              (int)sizeof value.text - 1);
    if (strcmp(text, "off") != 0) {
        AR_TRY(parse_term(term, place, text, &value.number, err));
        ar_copy_text(value.text, sizeof value.text, text);
        ar_copy_text(value.source, sizeof value.source, source);
        ar_copy_text(value.where, sizeof value.where, place);
        value.status = status;
    }
    framework->terms[term] = value;
    return AR_OK;
}

enum ar_status ar_framework_create(const struct ar_framework *base, struct ar_settings settings,
                                   struct ar_arena *arena, struct ar_framework **framework,
                                   struct ar_error *err)
{
    struct ar_framework *made = ar_arena_alloc(arena, 1, sizeof *made);
    ar_framework_clear(made);
    if (base != NULL) {
        *made = *base;
    }
    bool is_given[AR_TERMS_COUNT] = {false};
    AR_EACH(const struct ar_setting, setting, settings.list, settings.count) {
        char *key = ar_arena_text(arena, setting->text);
        char *equals = strchr(key, '=');
        AR_REFUSE(equals == NULL || equals == key, err, setting->status,
                  "%s: found \"%.60s\"; expected KEY=VALUE, such as cycle.time=1ms", setting->where,
                  key);
        *equals = '\0';
        AR_TRY(ar_error_blame(set_term(made, setting->where, key, equals + 1, setting->where,
                                       setting->status, is_given, err),
                              setting->status, err));
    }
    *framework = made;
    return AR_OK;
}

struct term_row {
    const char *term, *value, *source;
};

static const struct ar_column term_columns[] = {
    AR_COLUMN(string, struct term_row, term, "term", "a term"),
    AR_COLUMN(string, struct term_row, value, "value", "a value, or off"),
    AR_COLUMN(string, struct term_row, source, "source", "where the value comes from"),
};

static const struct ar_column framework_directives[] = {
    AR_COLUMN(string, struct ar_framework, description, "description", "", .may_be_empty = true,
              .may_be_missing = true),
};

enum ar_status ar_framework_load(const char *path, struct ar_arena *arena,
                                 struct ar_framework **framework, struct ar_error *err)
{
    struct ar_csv *csv;
    struct ar_framework *made = NULL;
    bool is_given[AR_TERMS_COUNT] = {false};
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    AR_TRY(ar_framework_create(NULL, (struct ar_settings){0}, arena, &made, err));
    struct term_row *rows;
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(framework_directives), made, err));
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(term_columns), NULL, &rows, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        AR_TRY(set_term(made, AR_SHOW_WHERE(csv, i), rows[i].term, rows[i].value, rows[i].source,
                        AR_BAD_DATA, is_given, err));
    }
    ar_copy_stem(made->name, sizeof made->name, path,
                 strstr(path, ".framework.csv") != NULL ? ".framework.csv" : ".csv");
    *framework = made;
    return AR_OK;
}

/* --- effects ------------------------------------------------------------------------------- */

void ar_framework_clear(struct ar_framework *framework)
{
    memset(framework, 0, sizeof *framework);
    ar_copy_text(framework->name, sizeof framework->name, "none");
    framework->description = "";
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        framework->terms[i].number = ar_terms[i].standard;
    }
}

bool ar_framework_is_on(const struct ar_framework *framework, enum ar_term term)
{
    const struct ar_term_value *value = &framework->terms[term];
    return ar_terms[term].kind == AR_TERM_TEXT ? value->text[0] != '\0'
                                               : value->number != ar_terms[term].standard;
}

enum ar_precision ar_framework_wire(const struct ar_framework *framework,
                                    enum ar_precision precision)
{
    double wire = framework->terms[AR_TERM_WIRE].number;
    return wire == 0 ? ar_precisions[precision].stored : (enum ar_precision)(wire - 1);
}

/* A timed trace does not know what the term counts in. */
static enum ar_status report_timed(const struct ar_trace *trace, enum ar_term term,
                                   enum ar_term missing, const char *example, struct ar_error *err)
{
    return ar_error_set(err, AR_USAGE,
                        "term %s: trace %s is timed and has no cost table; expected also --term "
                        "%s=%s",
                        ar_terms[term].key, trace->name, ar_terms[missing].key, example);
}

enum ar_status ar_framework_memory_rate(const struct ar_framework *framework,
                                        const struct ar_trace *trace, enum ar_term term,
                                        double *rate_Bps, struct ar_error *err)
{
    bool is_given = ar_framework_is_on(framework, AR_TERM_MEMORY_RATE);
    double found_Bps = is_given ? framework->terms[AR_TERM_MEMORY_RATE].number : trace->memory_Bps;
    AR_REFUSE_BY(found_Bps <= 0, report_timed(trace, term, AR_TERM_MEMORY_RATE, "780GB/s", err));
    *rate_Bps = found_Bps;
    return AR_OK;
}

enum ar_status ar_framework_apply(const struct ar_framework *framework, struct ar_trace *trace,
                                  struct ar_error *err)
{
    double kernels = framework->terms[AR_TERM_OPTIMIZER_KERNELS].number;
    double bytes = framework->terms[AR_TERM_OPTIMIZER_BYTES].number;
    bool has_floor = ar_framework_is_on(framework, AR_TERM_KERNEL_FLOOR);
    double launches_s = 0, traffic_s = 0;
    if (kernels > 0) {
        AR_REFUSE_BY(trace->is_timed && !has_floor, report_timed(trace, AR_TERM_OPTIMIZER_KERNELS,
                                                                 AR_TERM_KERNEL_FLOOR, "5us", err));
        launches_s = kernels * (has_floor ? framework->terms[AR_TERM_KERNEL_FLOOR].number
                                          : trace->kernel_floor_s);
    }
    if (bytes > 0) {
        double rate_Bps = 0;
        AR_TRY(ar_framework_memory_rate(framework, trace, AR_TERM_OPTIMIZER_BYTES, &rate_Bps, err));
        traffic_s = bytes * (double)ar_trace_gradient_elements(trace) / rate_Bps;
    }
    trace->step_overhead_s += framework->terms[AR_TERM_STEP_FLOOR].number;
    trace->optimizer_s += fmax(launches_s, traffic_s);
    ar_trace_scale(trace, framework->terms[AR_TERM_COMPUTE_SCALE].number);
    return AR_OK;
}

double ar_framework_negotiation_s(const struct ar_framework *framework, uint32_t ranks)
{
    uint32_t hops = 0;
    for (uint64_t reached = 1; reached < ranks; reached *= 2) {
        hops += 2;
    }
    return framework->terms[AR_TERM_NEGOTIATE_BASE].number +
           hops * framework->terms[AR_TERM_NEGOTIATE_HOP].number +
           ranks * framework->terms[AR_TERM_NEGOTIATE_RANK].number;
}
