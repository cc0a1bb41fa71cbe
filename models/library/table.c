/* The table of a fitted library: its lines, which are read and written by the same columns. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_file.h"
#include "ar_library_table.h"
#include "ar_text.h"

enum { FORMAT = 2, FILE_BYTES_MAX = 1 << 20 };

static const char *const link_names[] = {
    [TUNING_NVLINK_MESH] = "nvlink", [TUNING_PCIE] = "pcie", [TUNING_NVSWITCH] = "nvswitch", NULL};

static const char *const parameter_names[] = {AR_LIBRARY_PARAMETER_LIST(AR_LIST_SECOND) NULL};

/* The facts of a file, and the table. */
struct file {
    struct ar_library_table table;
    uint32_t format;
    const char *tuning;
    const char *fitted, *held_out; /* node counts */
    const char *operations;        /* commands */
};

#define POSITIVE(field, name, least)                                                               \
    AR_COLUMN(number, struct file, table.library.field, name, "a number not below zero",           \
              .min = least, .max = DBL_MAX, .digits = 17)

/* Older files do not have those that may be missing. */
static const struct ar_column facts[] = {
    AR_COLUMN(count, struct file, format, "format", "2, that of this version", .min = FORMAT,
              .max = FORMAT),
    AR_COLUMN(string, struct file, tuning, "tuning", "", .may_be_missing = true),
    POSITIVE(tuning.node_bus_Bps, "node_bus_Bps", DBL_MIN),
    POSITIVE(tuning.net_bus_Bps, "net_bus_Bps", 0),
    AR_COLUMN(count, struct file, table.library.tuning.channels, "channels", "", .min = 1,
              .may_be_missing = true),
    AR_COLUMN(choice, struct file, table.library.tuning.links, "node_links", "",
              .names = link_names, .may_be_missing = true),
    AR_COLUMN(count, struct file, table.library.tuning.hcas, "hcas", "", .may_be_missing = true),
    AR_COLUMN(choice, struct file, table.library.tuning.generation, "gpu_generation", "",
              .names = ar_gpu_generation_names, .may_be_missing = true),
    AR_COLUMN(choice, struct file, table.library.tuning.cpu, "cpu_vendor", "",
              .names = ar_cpu_vendor_names, .may_be_missing = true),
    AR_COLUMN(flag, struct file, table.library.tuning.has_near_hcas, "near_hcas", "",
              .may_be_missing = true),
    AR_COLUMN(flag, struct file, table.library.tuning.has_collnet, "collnet", "",
              .may_be_missing = true),
    AR_COLUMN(number, struct file, table.library.tuning.net_latency_s, "net_latency_s", "",
              .max = 1, .may_be_missing = true, .digits = 17),
    AR_COLUMN(number, struct file, table.library.residual_frac, "residual_frac", "", .max = 10,
              .digits = 17),
    AR_COLUMN(count, struct file, table.library.rows_count, "rows", ""),
    AR_COLUMN(string, struct file, fitted, "fitted_nodes", "", .may_be_empty = true),
    AR_COLUMN(string, struct file, held_out, "held_out_nodes", "", .may_be_empty = true),
    AR_COLUMN(string, struct file, operations, "fitted_operations", "", .may_be_missing = true),
    AR_COLUMN_OTHERS, /* for people */
};
enum { FACTS = sizeof facts / sizeof facts[0] - 1 };

struct row {
    enum ar_library_parameter parameter;
    double value;
    const char *unit;
    double error_frac;
    bool is_identified;
    double prior;
    const char *prior_source;
    double covariance[AR_LIBRARY_PARAMETERS_COUNT];
};

#define COVARIANCE(symbol, name, ...)                                                              \
    AR_COLUMN(number, struct row, covariance[symbol], "covariance." name, "", .digits = 17),

static const struct ar_column columns[] = {
    AR_COLUMN(choice, struct row, parameter, "parameter", "", .names = parameter_names),
    AR_COLUMN(number, struct row, value, "value", "a number above zero", .min = DBL_MIN,
              .max = DBL_MAX, .digits = 17),
    AR_COLUMN(string, struct row, unit, "unit", ""),
    AR_COLUMN(number, struct row, error_frac, "relative_standard_error", "", .digits = 6),
    AR_COLUMN(flag, struct row, is_identified, "identified", ""),
    AR_COLUMN(number, struct row, prior, "prior", "", .digits = 17),
    AR_COLUMN(string, struct row, prior_source, "prior_source", "", .may_be_empty = true),
    AR_LIBRARY_PARAMETER_LIST(COVARIANCE)};

/* --- node counts -------------------------------------------------------------------------- */

bool ar_library_nodes_have(const struct ar_library_nodes *nodes, uint32_t count)
{
    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->counts[i] == count) {
            return true;
        }
    }
    return false;
}

enum ar_status ar_library_nodes_add(struct ar_library_nodes *nodes, uint32_t count,
                                    struct ar_error *err)
{
    if (ar_library_nodes_have(nodes, count)) {
        return AR_OK;
    }
    AR_REFUSE(nodes->count == AR_LIBRARY_NODES_MAX, err, AR_BAD_DATA,
              "found more than %d different node counts; expected fewer", AR_LIBRARY_NODES_MAX);
    size_t place = nodes->count++;
    for (; place > 0 && nodes->counts[place - 1] > count; place--) {
        nodes->counts[place] = nodes->counts[place - 1];
    }
    nodes->counts[place] = count;
    return AR_OK;
}

const char *ar_library_nodes_format(const struct ar_library_nodes *nodes,
                                    char text[AR_LIBRARY_NODES_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < nodes->count; i++) {
        ar_append_text(text, AR_LIBRARY_NODES_TEXT, "%s%" PRIu32, i > 0 ? " " : "",
                       nodes->counts[i]);
    }
    return text;
}

/* --- writing ------------------------------------------------------------------------------ */

void ar_library_table_write(const struct ar_library_table *table, const char *const *comments,
                            size_t comments_count, FILE *file)
{
    const struct ar_library *library = &table->library;
    struct ar_records lines;
    char fitted[AR_LIBRARY_NODES_TEXT], held_out[AR_LIBRARY_NODES_TEXT], operations[256] = "";
    for (int i = 0; i < AR_LIBRARY_CALLS_COUNT; i++) {
        if ((library->calls >> i & 1) != 0) {
            ar_append_text(operations, sizeof operations, "%s%s", operations[0] != '\0' ? " " : "",
                           ar_library_operations[i]->command);
        }
    }
    const struct file own = {.table = *table,
                             .format = FORMAT,
                             .tuning = library->tuning.release->name,
                             .fitted = ar_library_nodes_format(&table->fitted, fitted),
                             .held_out = ar_library_nodes_format(&table->held_out, held_out),
                             .operations = operations};
    ar_record_write_facts(file, (struct ar_columns){facts, FACTS}, &own);
    for (uint32_t i = 0; library->rows != NULL && i < library->rows_count; i++) {
        const struct ar_library_row *row = &library->rows[i];
        fprintf(file, "# row: %s %d %" PRIu32 " %" PRIu32 " %.17g %.17g\n",
                ar_library_operations[row->run.call]->command, (int)row->calls, row->run.nodes,
                row->run.ranks, row->run.bytes, row->time_s);
    }
    for (size_t i = 0; i < comments_count; i++) {
        fprintf(file, "# %s\n", comments[i]);
    }
    ar_records_begin(&lines, file, AR_VIEW(AR_FORMAT_CSV), AR_COLUMNS(columns));
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        enum ar_library_parameter parameter = (enum ar_library_parameter)i;
        struct row row = {.parameter = parameter,
                          .value = library->values[i],
                          .unit = ar_library_parameters[i].unit,
                          .error_frac = sqrt(library->covariance[i][i]),
                          .is_identified = library->is_identified[i],
                          .prior = ar_library_parameter_prior(&library->tuning, parameter),
                          .prior_source =
                              ar_library_parameter_prior_source(&library->tuning, parameter)};
        memcpy(row.covariance, library->covariance[i], sizeof row.covariance);
        ar_records_add(&lines, &row);
    }
    ar_records_end(&lines);
}

/* --- reading ------------------------------------------------------------------------------ */

static enum ar_status read_nodes(const struct ar_csv *csv, const char *key, const char *at,
                                 struct ar_library_nodes *nodes, struct ar_error *err)
{
    for (char *end; *at != '\0'; at = end + strspn(end, " ")) {
        unsigned long count = strtoul(at, &end, 10);
        AR_REFUSE_BY(*at < '0' || *at > '9' || count == 0 || count > UINT32_MAX ||
                         strchr(" ", *end) == NULL,
                     ar_csv_directive_error(csv, key, "node counts", err));
        AR_TRY(ar_library_nodes_add(nodes, (uint32_t)count, err));
    }
    return AR_OK;
}

/* Reads the rows that were fitted: all of them, or none. */
static enum ar_status read_fitted(const struct ar_csv *csv, struct ar_arena *arena,
                                  struct ar_library *library, struct ar_error *err)
{
    struct ar_library_row *rows = ar_arena_alloc(arena, csv->directives_count + 1, sizeof *rows);
    uint32_t lines = 0, count = 0;
    for (size_t i = 0; i < csv->directives_count; i++) {
        struct ar_library_run run = {.sharers = 0};
        char command[32] = "";
        double time_s = 0;
        int calls = -1, call = 0;
        if (strcmp(csv->directives[i].key, "row") != 0) {
            continue;
        }
        (void)sscanf(csv->directives[i].value, "%31s %d %" SCNu32 " %" SCNu32 " %lf %lf", command,
                     &calls, &run.nodes, &run.ranks, &run.bytes, &time_s);
        while (call < AR_LIBRARY_CALLS_COUNT &&
               strcmp(command, ar_library_operations[call]->command) != 0) {
            call++;
        }
        run.call = (enum ar_library_call)call;
        rows[count] = (struct ar_library_row){run, time_s, (enum ar_calls)calls};
        count += call < AR_LIBRARY_CALLS_COUNT && calls > AR_CALLS_NONE &&
                 calls <= AR_CALLS_LEADERS && run.ranks > 1 && run.ranks >= run.nodes &&
                 run.nodes > 0 && run.bytes >= 1 && run.bytes < 1e18 && time_s > 0 && time_s < 1e9;
        lines++;
    }
    library->rows = lines > 0 ? rows : NULL;
    AR_REFUSE(lines != 0 && count != library->rows_count, err, AR_BAD_DATA,
              "%.200s: found %" PRIu32
              " rows (\"# row:\") that make sense; expected all of %" PRIu32 ", or no such lines",
              csv->path, count, library->rows_count);
    return AR_OK;
}

static enum ar_status read_rows(const struct ar_csv *csv, struct ar_library *library,
                                struct ar_error *err)
{
    struct row *rows;
    AR_REFUSE(csv->rows_count != AR_LIBRARY_PARAMETERS_COUNT, err, AR_BAD_DATA,
              "%.200s: found %zu parameters; expected %d, as 'allreckon calibrate' now writes them",
              csv->path, csv->rows_count, AR_LIBRARY_PARAMETERS_COUNT);
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(columns), NULL, &rows, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        const struct row *row = &rows[i];
        const char *unit = ar_library_parameters[row->parameter].unit;
        AR_CSV_REFUSE(library->values[row->parameter] > 0, csv, i, "parameter", err,
                      "every parameter once");
        AR_CSV_REFUSE(strcmp(row->unit, unit) != 0, csv, i, "unit", err, "%s", unit);
        library->values[row->parameter] = row->value;
        library->is_identified[row->parameter] = row->is_identified;
        memcpy(library->covariance[row->parameter], row->covariance, sizeof row->covariance);
    }
    return AR_OK;
}

enum ar_status ar_library_table_read(const char *path, struct ar_arena *kept,
                                     struct ar_library_table *table, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {.bytes_max = AR_ARENA_BYTES_MAX};
    struct file *file = ar_arena_alloc(&arena, 1, sizeof *file);
    char *text;
    size_t bytes;
    struct ar_csv *csv;
    AR_TRY(
        ar_file_read(path, FILE_BYTES_MAX, "the table of a library", &arena, &text, &bytes, err));
    AR_REFUSE(bytes == 0 || text[bytes - 1] != '\n', err, AR_BAD_DATA,
              "%.200s: found no end of the last line; expected a table of a fitted library (is it "
              "cut off?)",
              path);
    AR_TRY(ar_csv_parse(path, text, bytes, AR_CSV_FACTS, &arena, &csv, err));
    file->table.library.tuning = ar_tuning_nccl_2_8_4(0, 0);
    file->fitted = file->held_out = file->operations = "";
    AR_TRY(ar_csv_read_directives(csv, AR_COLUMNS(facts), file, err));
    if (file->tuning != NULL) { /* the rates are lines of their own */
        struct ar_tuning found;
        char where[AR_CSV_WHERE];
        snprintf(where, sizeof where, "%.200s: tuning", csv->path);
        AR_TRY(ar_tuning_find(where,
                              file->tuning + (strncmp(file->tuning, "nccl-", 5) == 0 ? 5 : 0), 0, 0,
                              &found, err));
        file->table.library.tuning.release = found.release;
        ar_tuning_set_generation(&file->table.library.tuning,
                                 file->table.library.tuning.generation);
    }
    for (int i = 0; i < AR_LIBRARY_CALLS_COUNT; i++) {
        bool is_fitted = ar_text_has_word(file->operations, ar_library_operations[i]->command);
        file->table.library.calls |= is_fitted ? 1u << i : 0;
    }
    struct ar_library_nodes *fitted = &file->table.fitted;
    AR_TRY(read_nodes(csv, "fitted_nodes", file->fitted, fitted, err));
    file->table.library.nodes_max = fitted->count > 0 ? fitted->counts[fitted->count - 1] : 0;
    AR_TRY(read_nodes(csv, "held_out_nodes", file->held_out, &file->table.held_out, err));
    AR_TRY(read_fitted(csv, kept, &file->table.library, err));
    AR_TRY(read_rows(csv, &file->table.library, err));
    *table = file->table;
    return AR_OK;
}
