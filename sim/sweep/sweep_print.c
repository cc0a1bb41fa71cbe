/* The rows of a sweep on stdout: all, or the best; and the order of layouts. */
#include <stdlib.h>
#include <string.h>

#include "sweep_files.h"

/* A row with the values of the axes that a table shows in front. */
struct shown {
    const char *axes[AXES_MAX];
    struct ar_row row;
};

enum { COLUMNS_MAX = 1 + AXES_MAX + AR_ROW_COLUMNS_MAX };

/* Prints one row after the other, steps and bare all-reduces in a table each. */
struct printer {
    const struct space *space;
    const struct journal *journal;
    const struct ar_view *view;
    struct ar_records records;
    struct ar_column columns[COLUMNS_MAX];
    struct shown shown;
    bool has_begun;
    bool is_bare; /* of the table begun last */
};

/* The value without its `KEY=`, which is the head of the column. */
static const char *plain(const struct axis *axis, const char *value)
{
    size_t length = strlen(axis->name);
    const char *equals = strchr(value, '=');
    return equals != NULL && strncmp(value, axis->name, length) == 0 ? equals + 1 : value;
}

static bool is_in_front(const struct printer *printer, const struct axis *axis)
{
    return printer->view->format == AR_FORMAT_TABLE && axis->count > 1 &&
           axis->key != AR_KEY_ENGINE && !printer->space->request->variants.is_laid_out;
}

/* A column has `_` where a key has `-`. */
static bool is_column_of(const struct ar_column *column, const struct axis *axis)
{
    char name[AR_KEY_TEXT];
    return strcmp(column->name, ar_key_directive(axis->name, name)) == 0;
}

/* What a layout varies stays in a table that is too wide, also if the best rows have the same. */
static bool is_varied(const struct space *space, const struct ar_column *column)
{
    for (size_t i = 0; i < space->variants.axes_count; i++) {
        const struct axis *axis = &space->variants.axes[i];
        if (space->request->variants.is_laid_out && axis->count > 1 && is_column_of(column, axis)) {
            return true;
        }
    }
    return false;
}

static bool is_name_in_front(const struct printer *printer, const char *name)
{
    const struct variants *variants = &printer->space->variants;
    for (size_t i = 0; i < variants->axes_count; i++) {
        if (is_in_front(printer, &variants->axes[i]) && strcmp(variants->axes[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void begin(struct printer *printer, bool is_bare)
{
    const struct variants *variants = &printer->space->variants;
    enum ar_row_kind kind = printer->space->request->variants.is_laid_out
                                ? ar_row_kind_of(&printer->shown.row)
                            : is_bare ? AR_ROW_BARE
                                      : AR_ROW_STEP;
    struct ar_row_table table;
    struct ar_columns of_row = ar_row_columns;
    struct ar_view view = *printer->view;
    size_t count = 0;
    if (view.format == AR_FORMAT_TABLE) {
        ar_row_table_make(kind, &table);
        of_row = (struct ar_columns){table.list, table.count};
    }
    if (is_bare && view.format == AR_FORMAT_TABLE && printer->space->operations_count > 1) {
        printer->columns[count++] = (struct ar_column)AR_COLUMN(
            text, struct shown, row.operation, "operation", "", .heading = "operation");
    }
    for (size_t i = 0; i < variants->axes_count; i++) {
        if (is_in_front(printer, &variants->axes[i])) {
            printer->columns[count++] = (struct ar_column){.name = variants->axes[i].name,
                                                           .kind = AR_COLUMN_string,
                                                           .offset = i * sizeof(const char *),
                                                           .size = sizeof(const char *),
                                                           .heading = variants->axes[i].name};
        }
    }
    struct ar_column *chosen = printer->columns + count;
    size_t chosen_count = ar_view_choose(&view, of_row, chosen);
    for (size_t i = 0; i < chosen_count; i++) {
        if (!is_name_in_front(printer, chosen[i].name)) { /* else it is there */
            printer->columns[count] = chosen[i];
            printer->columns[count].priority =
                is_varied(printer->space, &chosen[i]) ? 0 : chosen[i].priority;
            printer->columns[count++].offset += offsetof(struct shown, row);
        }
    }
    view.width = view.columns == NULL ? view.width : 0;
    view.columns = NULL;
    ar_records_begin(&printer->records, stdout, &view,
                     (struct ar_columns){printer->columns, count});
    printer->has_begun = true;
    printer->is_bare = is_bare;
}

static enum ar_status print_row(struct printer *printer, uint32_t point, struct ar_error *err)
{
    struct shown *shown = &printer->shown;
    const struct variants *variants = &printer->space->variants;
    bool is_bare = point >= printer->space->steps_count;
    AR_TRY(journal_read_row(printer->journal, point, &shown->row, err));
    if (printer->view->format == AR_FORMAT_TABLE && printer->has_begun &&
        is_bare != printer->is_bare) {
        printer->has_begun = false;
        ar_records_end(&printer->records);
        putchar('\n');
    }
    if (!printer->has_begun) {
        begin(printer, is_bare);
    }
    for (size_t i = 0; i < variants->axes_count; i++) {
        const struct axis *axis = &variants->axes[i];
        const char *value = variants_value(variants, i, printer->space->points[point].variant);
        shown->axes[i] = value == NULL || (is_bare && ar_key_is(axis->key, AR_KEY_OF_STEP))
                             ? NULL
                             : plain(axis, value);
    }
    ar_records_add(&printer->records, shown);
    return AR_OK;
}

static enum ar_status print_rows(struct printer *printer, const struct sweep_order *order,
                                 struct ar_error *err)
{
    for (uint32_t i = 0; !ferror(stdout) && i < order->count; i++) {
        AR_TRY(print_row(printer, order->points != NULL ? order->points[i] : i, err));
    }
    if (!printer->has_begun) {
        begin(printer, !printer->space->has_steps); /* an empty list has a head too */
    }
    return AR_OK;
}

enum ar_status sweep_print(const struct space *space, const struct journal *journal,
                           const struct ar_view *view, const struct sweep_order *order,
                           struct ar_error *err)
{
    struct printer *printer = calloc(1, sizeof *printer);
    AR_NEED(printer, err, "the printed rows");
    printer->space = space;
    printer->journal = journal;
    printer->view = view;
    enum ar_status status = print_rows(printer, order, err);
    ar_records_end(&printer->records);
    free(printer);
    return status;
}

/* --- which rows, in which order --------------------------------------------------------------- */

/* A layout by what it is sorted by. */
struct placing {
    uint64_t gpus;
    double iteration_s;
    const char *mesh;
    uint32_t point;
};

/* By number of GPUs, then the fastest first; what is equal stays in the order of its numbers. */
static int compare_placings(const void *a, const void *b)
{
    const struct placing *one = a;
    const struct placing *other = b;
    if (one->gpus != other->gpus) {
        return one->gpus < other->gpus ? -1 : 1;
    }
    if (one->iteration_s != other->iteration_s) {
        return one->iteration_s < other->iteration_s ? -1 : 1;
    }
    int order = strcmp(one->mesh, other->mesh);
    return order != 0 ? order : (one->point > other->point) - (one->point < other->point);
}

enum ar_status sweep_sort(const struct space *space, const struct journal *journal,
                          struct ar_arena *arena, struct sweep_order *all, struct ar_error *err)
{
    size_t count = space->points_count;
    struct ar_row row;
    *all = (struct sweep_order){.count = count};
    if (!space->request->variants.is_laid_out) {
        return AR_OK;
    }
    struct placing *placings = ar_arena_alloc(arena, count, sizeof *placings);
    uint32_t *points = ar_arena_alloc(arena, count, sizeof *points);
    AR_NEED(placings && points, err, "the layouts");
    for (uint32_t i = 0; i < count; i++) {
        AR_TRY(journal_read_row(journal, i, &row, err));
        placings[i] =
            (struct placing){row.gpus, row.iteration_s, ar_arena_text(arena, row.mesh), i};
        AR_NEED(placings[i].mesh, err, "the layouts");
    }
    qsort(placings, count, sizeof *placings, compare_placings);
    for (size_t i = 0; i < count; i++) {
        points[i] = placings[i].point;
    }
    all->points = points;
    return AR_OK;
}

/* Of sorted layouts the first of each number of GPUs. */
static enum ar_status find_first(const struct journal *journal, const struct sweep_order *all,
                                 uint32_t *points, struct sweep_order *bests, struct ar_error *err)
{
    struct ar_row row;
    uint64_t gpus = 0;
    *bests = (struct sweep_order){.points = points};
    for (size_t i = 0; i < all->count; i++) {
        AR_TRY(journal_read_row(journal, all->points[i], &row, err));
        if (row.gpus != gpus) {
            points[bests->count++] = all->points[i];
        }
        gpus = row.gpus;
    }
    return AR_OK;
}

enum ar_status sweep_find_bests(const struct space *space, const struct journal *journal,
                                const struct sweep_order *all, struct ar_arena *arena,
                                struct sweep_order *bests, struct ar_error *err)
{
    struct ar_row row;
    size_t count = all->points != NULL ? all->count : space_contests(space);
    uint32_t *points = ar_arena_alloc(arena, count, sizeof *points);
    double *times_s = ar_arena_alloc(arena, count, sizeof *times_s); /* 0: none yet */
    AR_NEED(points && times_s, err, "the best rows");
    if (all->points != NULL) {
        return find_first(journal, all, points, bests, err);
    }
    for (uint32_t i = 0; i < space->points_count; i++) {
        size_t place = space_contest(space, i);
        if (place == SIZE_MAX || !journal->is_ok[i]) {
            continue;
        }
        AR_TRY(journal_read_row(journal, i, &row, err));
        double time_s = space->has_steps ? row.iteration_s : row.allreduce_s;
        if (times_s[place] == 0 || time_s < times_s[place]) {
            points[place] = i;
            times_s[place] = time_s;
        }
    }
    *bests = (struct sweep_order){.points = points};
    for (size_t i = 0; i < count; i++) {
        if (times_s[i] > 0) {
            points[bests->count++] = points[i];
        }
    }
    return AR_OK;
}
