/* Reading files of published runs. */
#include <math.h>
#include <string.h>

#include "ar_text.h"
#include "key_texts.h"
#include "published.h"

/* In files. */
static const char *const quantity_names[] = {"efficiency_frac",
                                             "images_per_s",
                                             "samples_per_s",
                                             "iteration_s",
                                             "tokens_per_s",
                                             "train_s",
                                             NULL};

const struct quantity_row quantities[] = {{"1", "efficiency (%)", 100},
                                          {"images/s", "images (images/s)", 1},
                                          {"samples/s", "samples (samples/s)", 1},
                                          {"s", "iteration (ms)", 1000},
                                          {"tokens/s", "tokens (tokens/s)", 1},
                                          {"s", "train (s)", 1}};

#define ROW(kind, field, name, ...) AR_COLUMN(kind, struct published, field, name, __VA_ARGS__)
#define OPTIONAL                    .may_be_missing = true, .may_be_empty = true
static const struct ar_column row_columns[] = {
    ROW(string, name, "row", "a name"),
    ROW(string, title, "title", "", OPTIONAL),
    ROW(choice, quantity, "quantity", "", .names = quantity_names),
    ROW(number, measured, "measured", "a number above 0, in the unit of the quantity", .min = 1e-12,
        .max = 1e15, .may_be_empty = true),
    ROW(number, measured_error, "measured_error", "half the width of an error bar, >= 0",
        .max = 1e15, OPTIONAL),
    ROW(string, source, "source", "where the number was published"),
    ROW(string, how_read, "how_read", "", OPTIONAL),
    ROW(string, run, "run", "", OPTIONAL),
    ROW(string, assume, "assume", "", OPTIONAL),
};

enum ar_status published_report(const struct published *row, const char *values,
                                const struct ar_error *cause, struct ar_error *err)
{
    return ar_error_set(err, cause->status == AR_USAGE ? AR_BAD_DATA : cause->status, "%s%s: %s",
                        row->where, values, cause->text);
}

/* Reads one text of `assume`. */
static enum ar_status add_assumption(const struct ar_scenario *given, const char *text,
                                     struct published *row, struct ar_error *err)
{
    struct range range;
    if (row->ranges_count == RANGES_MAX) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found more than %d ranges in \"assume\"",
                            row->where, RANGES_MAX);
    }
    AR_TRY(range_parse(given->arena, row->where, text, "row", &range, err));
    if (range_find(row->ranges, row->ranges_count, range.key, range.setting) != NULL) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found %s twice in \"assume\"", row->where,
                            range.parameter);
    }
    if (!range_is_fixed(&range, given)) {
        row->ranges[row->ranges_count++] = range;
    }
    return AR_OK;
}

static enum ar_status read_assumptions(const struct ar_scenario *given, struct published *row,
                                       struct ar_error *err)
{
    char *rest = ar_arena_text(given->arena, row->assume != NULL ? row->assume : "");
    row->ranges = ar_arena_alloc(given->arena, RANGES_MAX + 1, sizeof *row->ranges);
    AR_NEED(rest && row->ranges, err, "the ranges of a published run");
    for (char *part; (part = ar_next_part(&rest, ';')) != NULL;) {
        if (part[0] != '\0') {
            AR_TRY(add_assumption(given, part, row, err));
        }
    }
    return AR_OK;
}

/* What a row says must fit together, whatever its cluster. */
static enum ar_status check_row(const struct published *row, struct ar_error *err)
{
    bool is_train = row->quantity == QUANTITY_TRAIN_S;
    if (!published_is_context(row) && isnan(row->measured)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found no measured value; expected one, or no cluster", row->where);
    }
    if (!published_is_context(row) && is_train != (row->run != NULL)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found quantity %s and run \"%.40s\"; expected a run file with "
                            "train_s and with no other quantity",
                            row->where, quantity_names[row->quantity],
                            row->run != NULL ? row->run : "");
    }
    if (is_train && (row->keys[AR_KEY_BATCH] != NULL ||
                     range_find(row->ranges, row->ranges_count, AR_KEY_BATCH, NULL) != NULL)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found a batch; expected none, the run file has those of its "
                            "phases (assume run=A|B for others)",
                            row->where);
    }
    return AR_OK;
}

static enum ar_status check_name(const struct published_rows *rows, const struct published *row,
                                 struct ar_error *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(rows->rows[i].name, row->name) == 0) {
            return ar_error_set(err, AR_BAD_DATA, "%s: found the name again; expected it once (%s)",
                                row->where, rows->rows[i].where);
        }
    }
    return AR_OK;
}

/* Works out what the cells of a row mean. */
static enum ar_status finish_row(const struct ar_csv *csv, size_t number,
                                 const struct ar_scenario *given, struct published *row,
                                 struct ar_error *err)
{
    char where[AR_CSV_WHERE];
    struct ar_error cause;
    row->where = ar_arena_format(given->arena, "%s: row \"%.40s\"",
                                 ar_csv_where(csv, number, where), row->name);
    AR_NEED(row->where, err, "the published runs");
    row->title = row->title != NULL ? row->title : row->name;
    row->quantity_text = quantity_names[row->quantity];
    row->unit = quantities[row->quantity].unit;
    row->scenario = *given;
    if (key_texts_add(row->keys, NULL, &row->scenario, &cause) != AR_OK) {
        return published_report(row, "", &cause, err);
    }
    row->gpus = row->scenario.gpus > 0 ? row->scenario.gpus : AR_NO_COUNT;
    row->algorithm = row->keys[AR_KEY_ALGORITHM];
    AR_TRY(read_assumptions(given, row, err));
    return check_row(row, err);
}

enum ar_status published_read_file(const char *path, const struct ar_scenario *given,
                                   struct published_rows *rows, struct ar_error *err)
{
    struct key_columns room;
    struct ar_csv *csv;
    const struct ar_columns columns = key_columns(
        &room, AR_COLUMNS(row_columns), AR_KEY_IN_PUBLISHED, offsetof(struct published, keys));
    AR_TRY(ar_csv_load(path, given->arena, &csv, err));
    struct published *all =
        ar_arena_alloc(given->arena, rows->count + csv->rows_count + 1, sizeof *all);
    AR_NEED(all, err, "the published runs");
    for (size_t i = 0; i < rows->count + csv->rows_count; i++) {
        all[i] = i < rows->count ? rows->rows[i]
                                 : (struct published){.measured = NAN,
                                                      .predicted = NAN,
                                                      .low = NAN,
                                                      .high = NAN,
                                                      .error_frac = NAN};
    }
    rows->rows = all;
    all += rows->count;
    AR_TRY(ar_csv_read_rows(csv, columns, all, sizeof *all, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        AR_TRY(finish_row(csv, i, given, &all[i], err));
        AR_TRY(check_name(rows, &all[i], err));
        rows->count++;
    }
    return AR_OK;
}
