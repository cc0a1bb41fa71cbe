#include "ar_row.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"

#define COLUMN(kind, field, ...) AR_COLUMN(kind, struct ar_row, field, #field, __VA_ARGS__),
static const struct ar_column all_columns[] = {AR_COLUMN_LIST(COLUMN)};

const struct ar_columns ar_row_columns = AR_COLUMNS(all_columns);

_Static_assert(2 * sizeof all_columns / sizeof all_columns[0] <= AR_ROW_COLUMNS_MAX,
               "a table has room for the columns that it shows and for all others");

/* --- tables ----------------------------------------------------------------------------------- */

/* A column of a table of one kind. With a heading it has another unit or name than elsewhere. */
struct shown_column {
    const char *name;
    int priority; /* in a table that is too wide, as in ar_record.h */
    bool is_rare;
    const char *heading;
    double factor;
    int decimals;
    const char *usual; /* NULL: as elsewhere */
};

/* clang-format off */
static const struct shown_column bare_table[] = {
    {.name = "gpus"},
    {.name = "mesh", .is_rare = true, .priority = 7},
    {.name = "along", .is_rare = true},
    {.name = "groups", .is_rare = true, .priority = 5},
    {.name = "root", .is_rare = true, .priority = 7},
    {.name = "algorithm"},
    {.name = "shape", .is_rare = true},
    {.name = "channels", .is_rare = true, .priority = 8},
    {.name = "engine", .priority = 1},
    {.name = "exact", .is_rare = true},
    {.name = "payload_bytes"},
    {.name = "allreduce_s", .heading = "time (us)", .factor = 1e6, .decimals = 2},
    {.name = "low_s", .is_rare = true, .priority = 3, .heading = "low (us)", .factor = 1e6, .decimals = 2},
    {.name = "high_s", .is_rare = true, .priority = 3, .heading = "high (us)", .factor = 1e6, .decimals = 2},
    {.name = "algbw_Bps", .priority = 4},
    {.name = "busbw_Bps", .priority = 2},
    {.name = "messages_count", .is_rare = true, .priority = 9},
    {.name = "runnable_by", .is_rare = true, .priority = 10},
    {.name = "status", .is_rare = true},
    {.name = NULL},
};

static const struct shown_column step_table[] = {
    {.name = "gpus"},
    {.name = "mesh", .is_rare = true},
    {.name = "strategy", .is_rare = true, .usual = "data"},
    {.name = "schedule", .is_rare = true, .priority = 5},
    {.name = "algorithm", .is_rare = true},
    {.name = "shape", .is_rare = true},
    {.name = "engine", .priority = 1},
    {.name = "exact", .is_rare = true},
    {.name = "iteration_s"},
    {.name = "low_s", .is_rare = true, .priority = 3},
    {.name = "high_s", .is_rare = true, .priority = 3},
    {.name = "compute_s", .priority = 7},
    {.name = "allreduce_s", .is_rare = true, .priority = 8},
    {.name = "exposed_s", .priority = 4},
    {.name = "bubble_s", .is_rare = true, .priority = 6},
    {.name = "samples_per_s", .is_rare = true, .priority = 2},
    {.name = "efficiency_frac", .is_rare = true},
    {.name = "baseline", .is_rare = true, .priority = 9},
    {.name = "memory_bytes", .is_rare = true, .priority = 8},
    {.name = "fits", .is_rare = true},
    {.name = "runnable_by", .is_rare = true, .priority = 10},
    {.name = "status", .is_rare = true},
    {.name = NULL},
};

static const struct shown_column layout_table[] = {
    {.name = "trace", .priority = 6},
    {.name = "gpus"},
    {.name = "mesh"},
    {.name = "strategy", .priority = 10},
    {.name = "schedule", .priority = 11},
    {.name = "micro_batch", .priority = 8},
    {.name = "recompute", .priority = 12},
    {.name = "engine", .priority = 13},
    {.name = "exact", .is_rare = true},
    {.name = "iteration_s", .heading = "iteration\n(s)", .factor = 1, .decimals = 4},
    {.name = "tokens_per_s", .priority = 3},
    {.name = "efficiency_frac", .is_rare = true},
    {.name = "baseline", .is_rare = true, .priority = 10},
    {.name = "tflops_per_gpu", .priority = 1},
    {.name = "mfu_frac", .priority = 2},
    {.name = "bubble_frac", .priority = 4},
    {.name = "exposed_pp_s", .priority = 9},
    {.name = "exposed_dp_s", .priority = 9},
    {.name = "exposed_ep_s", .is_rare = true, .priority = 9},
    {.name = "exposed_tp_s", .priority = 9},
    {.name = "exposed_cp_s", .is_rare = true, .priority = 9},
    {.name = "busiest_frac", .is_rare = true, .priority = 7},
    {.name = "memory_bytes", .priority = 5},
    {.name = "fits", .is_rare = true},
    {.name = "status", .is_rare = true},
    {.name = NULL},
};

/* clang-format on */

static const struct shown_column *const tables[AR_ROW_KINDS] = {
    [AR_ROW_BARE] = bare_table, [AR_ROW_STEP] = step_table, [AR_ROW_LAYOUT] = layout_table};

void ar_row_table_make(enum ar_row_kind kind, struct ar_row_table *table)
{
    table->count = 0;
    for (const struct shown_column *shown = tables[kind]; shown->name != NULL; shown++) {
        struct ar_column column = *ar_column_find(ar_row_columns, shown->name, strlen(shown->name));
        column.priority = shown->priority;
        column.is_rare = shown->is_rare;
        column.usual = shown->usual != NULL ? shown->usual : column.usual;
        if (shown->heading != NULL) {
            column.heading = shown->heading;
            column.factor = shown->factor;
            column.decimals = shown->decimals;
        }
        table->list[table->count++] = column;
    }
    for (size_t i = 0; i < ar_row_columns.count; i++) {
        struct ar_column column = ar_row_columns.list[i];
        column.heading = NULL; /* shown only if --columns names it, which says its unit */
        column.factor = 1;
        column.decimals = AR_DECIMALS_NEEDED;
        table->list[table->count++] = column;
    }
}

/* One collective has no trace, a step of a trace no global batch. */
enum ar_row_kind ar_row_kind_of(const struct ar_row *row)
{
    return row->trace[0] == '\0'                  ? AR_ROW_BARE
           : row->global_batch != AR_ROW_NO_COUNT ? AR_ROW_LAYOUT
                                                  : AR_ROW_STEP;
}

void ar_rows_write(FILE *file, const struct ar_view *view, const struct ar_row *rows, size_t count)
{
    struct ar_row_table table;
    struct ar_columns columns = ar_row_columns;
    if (view->format == AR_FORMAT_TABLE) {
        ar_row_table_make(count > 0 ? ar_row_kind_of(&rows[0]) : AR_ROW_STEP, &table);
        columns = (struct ar_columns){table.list, table.count};
    }
    ar_records_write(file, view, columns, rows, count);
}

/* --- what a reader should know beside rows --------------------------------------------------- */

void ar_note(FILE *notes, const char *format, ...)
{
    if (notes == NULL) {
        return;
    }
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) >= 0) {
        ar_text_to_line(line); /* one line, whatever it quotes */
        fprintf(notes, "allreckon: note: %s\n", line);
        free(line);
    }
    va_end(arguments);
}

void ar_note_flush(FILE *notes)
{
    if (notes != NULL) {
        fflush(notes);
    }
}
