/* The end of a sweep: files, notes, and rows on stdout, all of them and the best. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_file.h"
#include "ar_kind.h"
#include "ar_numbers.h"
#include "ar_row.h"
#include "ar_text.h"
#include "sweep.h"

/* The fields that decide a row's place in the output, so that each row is read once. */
struct row_summary {
    uint32_t point;
    bool is_ok;
    bool is_estimate;
    uint64_t gpus;
    uint32_t condition; /* variants_condition() */
    double time_s;      /* of the step, or of the collective */
    const char *mesh;   /* of layouts */
};

/* The rows of a sweep in the order of the output. */
struct row_list {
    struct row_summary *rows;
    size_t count;
};

static bool is_table(const struct sweep *sweep)
{
    return sweep->request->view.format == AR_FORMAT_TABLE; /* which has a mark for estimates */
}

static const struct sweep_kind *kind_of(const struct sweep *sweep)
{
    return sweep->space->request->kind;
}

/* --- which rows, in which order --------------------------------------------------------------- */

/* Adds the rows of points that have the same times as another one. */
static enum ar_status copies_add(struct sweep *sweep, struct ar_error *err)
{
    char line[JOURNAL_LINE_MAX];
    struct ar_row row;
    struct journal *journal = &sweep->journal;
    for (uint32_t i = 0; i < sweep->space->points_count; i++) {
        const struct point *point = &sweep->space->points[i];
        if (point->same_as == i || journal->statuses[i] == AR_OK) {
            continue;
        }
        struct ar_row own;
        struct ar_scenario scenario;
        AR_TRY(space_scenario(sweep->space, point, &scenario, err));
        ar_run_describe(&scenario, &own);
        journal_read_row(journal, point->same_as, &row);
        if (point->operation == NULL) {
            /* Gives a row the names of another layout with the same step. */
            ar_copy_text(row.recompute, sizeof row.recompute, own.recompute);
            ar_copy_text(row.strategy, sizeof row.strategy, own.strategy);
            ar_copy_text(row.settings, sizeof row.settings, own.settings);
            row.overlap = own.overlap;
        } else {
            ar_copy_text(row.algorithm, sizeof row.algorithm, own.algorithm);
            ar_copy_text(row.runnable_by, sizeof row.runnable_by, own.runnable_by);
            ar_shape_format(&point->shape, row.shape);
        }
        journal_format(&row, line);
        AR_TRY(journal_add(journal, i, line, journal->statuses[point->same_as], err));
    }
    return AR_OK;
}

/* By number of GPUs, then the fastest first; what is equal stays in the order of its numbers. */
AR_ORDER(compare_layouts, struct row_summary, AR_RISES(gpus), AR_RISES(condition), AR_RISES(time_s),
         AR_SPELLS(mesh), AR_RISES(point))

/* Reads all rows that are there: layouts sorted, others in the order of their points. */
static struct row_list rows_summarize(struct sweep *sweep)
{
    const struct space *space = sweep->space;
    size_t count = space->points_count;
    struct row_list all = {ar_arena_alloc(&sweep->arena, count, sizeof *all.rows), 0};
    struct ar_row row;
    for (uint32_t i = 0; i < count; i++) {
        if (sweep->journal.rows[i] == NULL) {
            continue; /* of a sweep that was interrupted */
        }
        journal_read_row(&sweep->journal, i, &row);
        all.rows[all.count++] = (struct row_summary){
            .point = i,
            .is_ok = sweep->journal.statuses[i] == AR_OK,
            .is_estimate = row.exact == 0,
            .gpus = row.gpus,
            .condition = variants_condition(&space->variants, space->points[i].variant),
            .time_s = space->has_steps ? row.iteration_s : row.allreduce_s,
            .mesh = kind_of(sweep)->is_ranked ? ar_arena_text(&sweep->arena, row.mesh) : NULL};
    }
    if (kind_of(sweep)->is_ranked) {
        qsort(all.rows, all.count, sizeof *all.rows, compare_layouts);
    }
    return all;
}

/* Rows of the first file: all but the collectives beside steps. */
static size_t main_rows_count(const struct space *space)
{
    return space->has_steps ? space->steps_count : space->points_count;
}

/* Finds the fastest rows: one for each GPU count and combination of conditions, of bare collectives
 * also for each operation and payload. */
static struct row_list rows_find_bests(struct sweep *sweep, const struct row_list *all)
{
    struct row_list bests = {NULL, 0};
    AR_EACH(const struct row_summary, row, all->rows, all->count) {
        if (row->point >= main_rows_count(sweep->space) || !row->is_ok) {
            continue;
        }
        const struct point *own = &sweep->space->points[row->point];
        size_t at = bests.count; /* the latest ones are the likeliest */
        for (; at > 0; at--) {   /* another one that answers the same question */
            const struct row_summary *other = &bests.rows[at - 1];
            const struct point *its = &sweep->space->points[other->point];
            if (row->condition == other->condition && row->gpus == other->gpus &&
                own->operation == its->operation && own->payload_bytes == its->payload_bytes) {
                break;
            }
        }
        if (at == 0) {
            *AR_ARENA_ADD(&sweep->arena, bests.rows, bests.count) = *row;
        } else if (row->time_s < bests.rows[at - 1].time_s) {
            bests.rows[at - 1] = *row;
        }
    }
    return bests;
}

/* Gives layouts on several numbers of GPUs their scaling efficiency: tokens per second and GPU over
 * those of the fastest layout on the fewest GPUs. */
static void efficiency_fill(struct sweep *sweep, const struct row_list *all,
                            const struct row_list *bests)
{
    struct journal *journal = &sweep->journal;
    char line[JOURNAL_LINE_MAX];
    for (size_t i = 0; i < all->count; i++) {
        const struct row_summary *least = NULL; /* on the fewest GPUs, of the same condition */
        struct ar_row row, base;
        bool is_other = false;
        AR_EACH(const struct row_summary, best, bests->rows, bests->count) {
            bool is_same = best->condition == all->rows[i].condition;
            is_other = is_other || (is_same && least != NULL && best->gpus != least->gpus);
            least = is_same && (least == NULL || best->gpus < least->gpus) ? best : least;
        }
        if (!is_other || !all->rows[i].is_ok) {
            continue;
        }
        uint32_t point = all->rows[i].point;
        journal_read_row(journal, point, &row);
        journal_read_row(journal, least->point, &base);
        row.efficiency_frac =
            row.tokens_per_s / (double)row.gpus / (base.tokens_per_s / (double)base.gpus);
        snprintf(row.baseline, sizeof row.baseline, "%" PRIu64 " gpus", base.gpus);
        journal_format(&row, line);
        journal->rows[point] = ar_arena_text(journal->arena, line);
    }
}

/* --- files ------------------------------------------------------------------------------------ */

/* Writes rows as they are in the journal. The file is whole and on the disk, or not there. */
static enum ar_status csv_write(const struct sweep *sweep, const char *name,
                                const struct row_summary *rows, size_t count, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_output *output;
    struct ar_records records;
    AR_TRY(ar_output_begin_in(sweep->request->directory, name, &arena, &output, err));
    ar_records_begin(&records, output->file, AR_VIEW(AR_FORMAT_CSV), ar_row_columns);
    for (size_t i = 0; i < count; i++) {
        fputs(sweep->journal.rows[rows[i].point], output->file);
    }
    ar_records_end(&records);
    return ar_output_commit(output, err);
}

/* --- rows on stdout --------------------------------------------------------------------------- */

/* A row with the values of the axes that a table shows in front. */
struct shown_row {
    const char *axes[AXES_MAX];
    struct ar_row row;
};

/* A plan has more axes than a table of 80 characters has room for. */
enum { PLAN_WIDTH = 120 };

enum { COLUMNS_MAX = 1 + AXES_MAX + AR_ROW_COLUMNS_MAX };

/* Prints one row after the other, steps and bare collectives in a table each. */
struct row_printer {
    const struct sweep *sweep;
    struct ar_arena *arena; /* the sweep's */
    struct ar_records records;
    struct ar_column columns[COLUMNS_MAX];
    struct shown_row shown;
    bool is_axis_shown[AXES_MAX]; /* of a table */
    bool has_begun;
    enum ar_row_kind kind; /* of the table that was begun last */
};

/* Adds the columns of the axes that a table shows, with a heading of two lines where the name of an
 * axis has two words; returns how many. */
static size_t axes_add(const struct row_printer *printer, struct ar_column *columns)
{
    const struct variants *variants = &printer->sweep->space->variants;
    size_t count = 0;
    for (size_t i = 0; i < variants->axes_count; i++) {
        const struct axis *axis = &variants->axes[i];
        if (!printer->is_axis_shown[i]) {
            continue;
        }
        char *heading = ar_arena_text(printer->arena, axis->name);
        char *dash = strchr(heading, '-');
        if (dash != NULL && kind_of(printer->sweep)->is_ranked) {
            *dash = '\n';
        }
        columns[count++] = (struct ar_column){.name = axis->name,
                                              .kind = AR_COLUMN_string,
                                              .offset = i * sizeof(const char *),
                                              .size = sizeof(const char *),
                                              .heading = heading};
    }
    return count;
}

/* Whether a table of layouts shows the values of a column already, as those of an axis. */
static bool is_axis_of_layouts(const struct row_printer *printer, const char *column)
{
    const struct variants *variants = &printer->sweep->space->variants;
    bool is_it = false;
    for (size_t i = 0; i < variants->axes_count && kind_of(printer->sweep)->is_ranked; i++) {
        char name[AR_CELL_WORD];
        snprintf(name, sizeof name, "%s", variants->axes[i].name);
        for (char *dash = strchr(name, '-'); dash != NULL; dash = strchr(dash, '-')) {
            *dash = '_';
        }
        bool is_workload = variants->axes[i].key == AR_KEY_WORKLOAD; /* a column of another name */
        is_it = is_it ||
                (printer->is_axis_shown[i] && strcmp(is_workload ? "trace" : name, column) == 0);
    }
    return is_it;
}

/* The value of an axis in a row. In a table of layouts, values of other rows that are the same step
 * stand behind it: "none, selective". */
static const char *axis_value(const struct row_printer *printer, size_t axis, uint32_t point)
{
    const struct space *space = printer->sweep->space;
    const struct variants *variants = &space->variants;
    const char *text = variants_value(variants, axis, space->points[point].variant);
    if (!is_table(printer->sweep) || !kind_of(printer->sweep)->is_ranked) {
        return text;
    }
    for (uint32_t i = point + 1; i < space->points_count; i++) {
        const char *other = variants_value(variants, axis, space->points[i].variant);
        if (space->points[i].same_as == point && strstr(text, other) == NULL) {
            text = ar_arena_format(printer->arena, "%s, %s", text, other);
        }
    }
    return text;
}

static void table_begin(struct row_printer *printer, enum ar_row_kind kind)
{
    const struct sweep *sweep = printer->sweep;
    struct ar_row_table table;
    struct ar_columns of_row = ar_row_columns;
    struct ar_view view = sweep->request->view;
    struct ar_column chosen[AR_ROW_COLUMNS_MAX];
    size_t count = 0;
    if (is_table(sweep)) {
        ar_row_table_make(kind, &table);
        of_row = (struct ar_columns){table.list, table.count};
    }
    if (kind == AR_ROW_BARE && is_table(sweep) && sweep->space->operations_count > 1) {
        printer->columns[count++] = (struct ar_column)AR_COLUMN(
            text, struct shown_row, row.operation, "operation", "", .heading = "operation");
    }
    if (!kind_of(sweep)->is_ranked) {
        count += axes_add(printer, &printer->columns[count]);
    }
    struct ar_columns in_front = {printer->columns, count};
    size_t chosen_count = ar_view_choose(&view, of_row, chosen);
    for (size_t i = 0; i < chosen_count; i++) {
        if (ar_column_find(in_front, chosen[i].name, strlen(chosen[i].name)) != NULL ||
            is_axis_of_layouts(printer, chosen[i].name)) {
            continue;
        }
        chosen[i].offset += offsetof(struct shown_row, row);
        printer->columns[count++] = chosen[i];
        bool is_mesh = chosen[i].heading != NULL && strcmp(chosen[i].name, "mesh") == 0;
        if (kind_of(sweep)->is_ranked && is_mesh) {
            count += axes_add(printer, &printer->columns[count]);
        }
    }
    view.width = view.columns == NULL ? view.width : 0;
    if (sweep->space->request->is_planned && view.width > 0 && view.width < PLAN_WIDTH) {
        view.width = PLAN_WIDTH;
    }
    view.columns = NULL;
    ar_records_begin(&printer->records, stdout, &view,
                     (struct ar_columns){printer->columns, count});
    printer->has_begun = true;
    printer->kind = kind;
}

static void row_print(struct row_printer *printer, uint32_t point)
{
    struct shown_row *shown = &printer->shown;
    const struct space *space = printer->sweep->space;
    journal_read_row(&printer->sweep->journal, point, &shown->row);
    enum ar_row_kind kind = ar_row_kind_of(&shown->row);
    if (is_table(printer->sweep) && printer->has_begun && kind != printer->kind) {
        ar_records_end(&printer->records);
        printer->has_begun = false;
        putchar('\n');
    }
    if (!printer->has_begun) {
        table_begin(printer, kind);
    }
    for (size_t i = 0; i < space->variants.axes_count; i++) {
        const struct axis *axis = &space->variants.axes[i];
        const char *value = axis_value(printer, i, point);
        bool is_unused = kind == AR_ROW_BARE && ar_key_is(axis->key, AR_KEY_OF_STEP);
        const char *equals = strchr(value, '='); /* the head of the column has what is before it */
        bool has_key = equals != NULL && strncmp(value, axis->name, strlen(axis->name)) == 0;
        shown->axes[i] = is_unused ? NULL : has_key ? equals + 1 : value;
    }
    ar_records_add(&printer->records, shown);
}

static void rows_print(struct sweep *sweep, const struct row_list *list)
{
    struct row_printer *printer = ar_arena_alloc(&sweep->arena, 1, sizeof *printer);
    printer->sweep = sweep;
    printer->arena = &sweep->arena;
    /* Finds the axes that get a column in a table. A table of points shows every axis with several
     * values; one of layouts those whose values differ between the rows, with --best all. The
     * engine, the mesh and the number of GPUs have columns anyway. */
    const struct space *space = printer->sweep->space;
    const struct variants *variants = &space->variants;
    for (size_t i = 0; i < variants->axes_count && is_table(printer->sweep); i++) {
        const struct axis *axis = &variants->axes[i];
        bool differs = !kind_of(printer->sweep)->is_ranked || printer->sweep->request->is_best;
        for (size_t j = 1; j < list->count && !differs; j++) {
            differs =
                strcmp(variants_value(variants, i, space->points[list->rows[0].point].variant),
                       variants_value(variants, i, space->points[list->rows[j].point].variant)) !=
                0;
        }
        bool is_there = axis->key == AR_KEY_ENGINE || axis->key == AR_KEY_GPUS ||
                        (axis->key == AR_KEY_MESH && kind_of(printer->sweep)->is_ranked);
        printer->is_axis_shown[i] = axis->count > 1 && !is_there && differs;
    }
    for (size_t i = 0; !ferror(stdout) && i < list->count; i++) {
        uint32_t point = list->rows[i].point;
        bool is_copy = kind_of(sweep)->is_ranked && sweep->space->points[point].same_as != point;
        if (!is_copy || !is_table(sweep)) { /* a table has the names of a step in one row */
            row_print(printer, point);
        }
    }
    if (!printer->has_begun) {
        table_begin(printer, !sweep->space->has_steps); /* an empty list has a head too */
    }
    ar_records_end(&printer->records);
}

static enum ar_status rows_hand_over(struct sweep *sweep, const struct row_list *list,
                                     struct ar_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct ar_scenario scenario;
        struct ar_row row;
        uint32_t point = list->rows[i].point;
        journal_read_row(&sweep->journal, point, &row);
        AR_TRY(space_scenario(sweep->space, &sweep->space->points[point], &scenario, err));
        AR_TRY(sweep->request->take(sweep->request->taker, &row, &scenario, err));
    }
    return AR_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum ar_status failures_report(const struct sweep *sweep, struct ar_error *err)
{
    const struct journal *journal = &sweep->journal;
    struct ar_row row;
    size_t count = 0;
    uint32_t first = 0;
    for (uint32_t i = (uint32_t)journal->points_count; i-- > 0;) {
        first = journal->statuses[i] != AR_OK ? i : first;
        count += journal->statuses[i] != AR_OK;
    }
    if (count == 0) {
        return AR_OK;
    }
    const struct point *point = &sweep->space->points[first];
    bool is_layout = point->operation == NULL;
    uint32_t groups = is_layout ? 1 : ar_scenario_groups(&sweep->space->request->base);
    journal_read_row(journal, first, &row);
    return ar_error_set(err, journal->statuses[first],
                        "%zu of %zu %s failed; the first, %s on %" PRIu32 " GPUs: %s%s", count,
                        journal->points_count, sweep->work.items_name,
                        !is_layout            ? ar_algorithm_name(point->algorithm)
                        : row.mesh[0] != '\0' ? row.mesh
                                              : "replicas",
                        ar_shape_ranks(&point->shape) * groups, row.status,
                        journal->file != NULL ? "; --resume tries them again" : "");
}

/* --- rows that are checked -------------------------------------------------------------------- */

/* Steps are simulated beside a table if that is estimated to take no longer. */
#define CHECK_MAX_S 0.7

/* Simulates two of the best steps on the most GPUs for which that is soon done, one that is an
 * estimate and one that is none, and prints them beside what the sweep says. */
static void rows_check(const struct sweep *sweep, const struct row_list *bests)
{
    struct ar_row rows[4];
    size_t count = 0;
    bool is_done[2] = {false, false}; /* [is an estimate] */
    for (size_t i = bests->count; i-- > 0;) {
        const struct row_summary *best = &bests->rows[i];
        struct ar_scenario scenario;
        if (is_done[best->is_estimate] ||
            space_scenario(sweep->space, &sweep->space->points[best->point], &scenario,
                           AR_IGNORED) != AR_OK ||
            ar_engine_times_calls(scenario.engine) || ar_engine_simulates(scenario.engine)) {
            continue;
        }
        scenario.engine = ar_engine_checker(scenario.engine);
        if (ar_run_cost_s(&scenario) < CHECK_MAX_S &&
            ar_run(&scenario, &rows[count + 1], AR_IGNORED) == AR_OK) {
            journal_read_row(&sweep->journal, best->point, &rows[count]);
            is_done[best->is_estimate] = true;
            count += 2;
        }
    }
    if (count > 0) {
        puts("\nof these, simulated by SimGrid:");
        ar_rows_write(stdout, &sweep->request->view, rows, count);
    }
}

/* Rows are printed even so: of a long sweep they are worth reading. */
enum ar_status sweep_report_interrupt(struct sweep *sweep, struct ar_error *err)
{
    const struct journal *journal = &sweep->journal;
    size_t rows = journal_rows(journal);
    bool is_kept = journal->file != NULL && rows > 0;
    if (rows > 0) {
        struct row_list all = rows_summarize(sweep);
        struct row_list bests = rows_find_bests(sweep, &all);
        rows_print(sweep, sweep->request->is_best ? &bests : &all);
    }
    return ar_error_set(err, AR_INTERRUPTED, "interrupted after %zu of %zu %s%s%.300s%s", rows,
                        journal->points_count, sweep->work.items_name, is_kept ? "; " : "",
                        is_kept ? journal->path : "", is_kept ? " keeps them for --resume" : "");
}

enum ar_status sweep_finish(struct sweep *sweep, struct ar_error *err)
{
    const struct sweep_request *request = sweep->request;
    if (request->is_complete) {
        return AR_OK;
    }
    AR_TRY(copies_add(sweep, err));
    enum ar_status failed = failures_report(sweep, err);
    if (kind_of(sweep)->is_ranked) { /* without all of them nobody knows which is the fastest */
        AR_TRY(failed);
    }
    struct row_list all = rows_summarize(sweep);
    struct row_list bests = rows_find_bests(sweep, &all);
    const struct row_list *shown = request->is_best ? &bests : &all;
    if (sweep->space->unfit.is_asked) {
        efficiency_fill(sweep, &all, &bests);
    }
    if (request->take != NULL) {
        enum ar_status taken = rows_hand_over(sweep, shown, err);
        if (taken != AR_OK) { /* no file is left behind */
            journal_close(&sweep->journal, true);
            return taken;
        }
    }
    if (request->directory != NULL) {
        size_t first = main_rows_count(sweep->space);
        AR_TRY(csv_write(sweep, kind_of(sweep)->file, all.rows, first, err));
        if (all.count > first) {
            AR_TRY(csv_write(sweep, "payload.csv", all.rows + first, all.count - first, err));
        }
    }
    if (failed == AR_OK) {
        AR_TRY(request->sign(request->context, err));
        journal_close(&sweep->journal, true);
    }
    if (request->take != NULL) {
        return failed;
    }
    rows_print(sweep, shown);
    if (is_table(sweep) && !request->is_best && !kind_of(sweep)->is_ranked &&
        bests.count < main_rows_count(sweep->space)) {
        puts(sweep->space->has_steps ? "\nthe best for each GPU count:"
                                     : "\nthe best for each operation, GPU count and payload:");
        rows_print(sweep, &bests);
        if (sweep->space->has_steps) {
            rows_check(sweep, &bests);
        }
    }
    return failed;
}
