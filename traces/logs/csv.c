/* The project's own tables: of its harness, and of published measurements. */
#include "ar_csv.h"

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "words.h"

enum { RUNS_SEARCHED = 4096 };

/* A row, and what tells its run apart. Times are in the unit that the name of the column says. */
struct entry {
    const char *backend, *operation, *algorithm, *shape, *tier;
    const char *system, *library, *grid, *gpu_aware, *remark;
    uint32_t ranks, nodes, channels, ranks_per_node;
    uint64_t element_bytes;
    struct ar_log_row row;
};

#define TIME(field, name, ...)                                                                     \
    AR_COLUMN(number, struct entry, row.field, name, "a time above zero", .min = DBL_MIN,          \
              .max = DBL_MAX, __VA_ARGS__)
#define OPTIONAL .may_be_empty = true, .may_be_missing = true

/* The first column is the one that tells a table. */
static const struct ar_column harness_columns[] = {
    TIME(out_of_place.time_s, "time_median_s"),
    AR_COLUMN(string, struct entry, backend, "backend", "a text"),
    AR_COLUMN(string, struct entry, operation, "operation", "a text", OPTIONAL),
    AR_COLUMN(string, struct entry, algorithm, "algorithm", "a text"),
    AR_COLUMN(string, struct entry, shape, "shape", "a text", OPTIONAL),
    AR_COLUMN(count, struct entry, channels, "channels", "", OPTIONAL),
    AR_COLUMN(count, struct entry, ranks, "ranks", "", .min = 1),
    AR_COLUMN(count, struct entry, nodes, "nodes", "", .min = 1),
    AR_COLUMN(word, struct entry, row.datatype, "datatype", ""),
    AR_COLUMN(count, struct entry, element_bytes, "element_bytes", "", .min = 1),
    AR_COLUMN(count, struct entry, row.payload_bytes, "payload_bytes", ""),
    AR_COLUMN(count, struct entry, row.repetitions, "repetitions", "", OPTIONAL),
    TIME(time_min_s, "time_min_s", OPTIONAL),
    TIME(time_p10_s, "time_p10_s", OPTIONAL),
    TIME(time_p90_s, "time_p90_s", OPTIONAL),
    AR_COLUMN(number, struct entry, row.out_of_place.wrong, "wrong", "a number >= 0",
              .max = DBL_MAX, OPTIONAL),
    AR_COLUMN(string, struct entry, tier, "tier", "a text", OPTIONAL),
    AR_COLUMN_OTHERS,
};

/* Of calls of a library; the bandwidths that may follow are payload over time. */
static const struct ar_column call_columns[] = {
    TIME(out_of_place.time_s, "time_us"),
    AR_COLUMN(string, struct entry, operation, "collective", "a text"),
    AR_COLUMN(count, struct entry, ranks, "gpus", "", .min = 1),
    AR_COLUMN(count, struct entry, nodes, "nodes", "", .min = 1),
    AR_COLUMN(count, struct entry, row.payload_bytes, "payload_bytes", ""),
    AR_COLUMN_OTHERS,
};

/* Of named algorithms of MPI libraries on several machines. */
static const struct ar_column mpi_columns[] = {
    TIME(out_of_place.time_s, "median_us"),
    TIME(time_p10_s, "p10_us", OPTIONAL),
    TIME(time_p90_s, "p90_us", OPTIONAL),
    AR_COLUMN(string, struct entry, system, "system", "a text"),
    AR_COLUMN(string, struct entry, operation, "collective", "a text"),
    AR_COLUMN(string, struct entry, grid, "nodes", "a count, or lengths of a torus: 4x4x4"),
    AR_COLUMN(count, struct entry, ranks_per_node, "tasks_per_node", "", .min = 1),
    AR_COLUMN(string, struct entry, algorithm, "algorithm", "a text"),
    AR_COLUMN(count, struct entry, row.payload_bytes, "payload_bytes", ""),
    AR_COLUMN(string, struct entry, gpu_aware, "gpu_aware", "yes or no", OPTIONAL),
    AR_COLUMN(string, struct entry, library, "mpi", "a text", OPTIONAL),
    AR_COLUMN(string, struct entry, remark, "notes", "a text", OPTIONAL),
    AR_COLUMN_OTHERS,
};

static const struct ar_column published_columns[] = {
    AR_COLUMN(count, struct entry, ranks, "gpus", "", .min = 1),
    AR_COLUMN(count, struct entry, nodes, "nodes", "", .min = 1),
    AR_COLUMN(count, struct entry, row.payload_bytes, "payload_bytes", ""),
    TIME(out_of_place.time_s, "time_out_of_place_us", OPTIONAL),
    TIME(in_place.time_s, "time_in_place_us", OPTIONAL),
    AR_COLUMN_OTHERS,
};

static const struct table {
    enum ar_log_format format;
    bool has_element_bytes;
    double time_unit_s;
    struct ar_columns columns;
} tables[] = {
    {AR_LOG_HARNESS,
     true,
     1,
     {harness_columns, sizeof harness_columns / sizeof harness_columns[0]}},
    {AR_LOG_PUBLISHED, false, 1e-6, {mpi_columns, sizeof mpi_columns / sizeof mpi_columns[0]}},
    {AR_LOG_PUBLISHED, false, 1e-6, {call_columns, sizeof call_columns / sizeof call_columns[0]}},
    {AR_LOG_PUBLISHED,
     false,
     1e-6,
     {published_columns, sizeof published_columns / sizeof published_columns[0]}},
};

static enum ar_status find_table(const struct ar_csv *csv, const struct table **table,
                                 struct ar_error *err)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (ar_csv_has_column(csv, tables[i].columns.list[0].name)) {
            *table = &tables[i];
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s:%" PRIu64 ": neither column \"%s\" nor \"%s\"; expected a table of the "
                        "harness or of published measurements",
                        csv->path, csv->header_line, harness_columns[0].name,
                        published_columns[0].name);
}

/* Tables that do not say it hold all-reduces. */
static enum ar_log_collective collective_of(const struct entry *entry)
{
    return entry->operation[0] != '\0' ? ar_collective_of_name(entry->operation)
                                       : AR_LOG_ALL_REDUCE;
}

static bool is_same_run(const struct ar_log *run, const struct entry *entry)
{
    return run->collective == collective_of(entry) && run->ranks == entry->ranks &&
           run->nodes == entry->nodes && run->channels == entry->channels &&
           strcmp(run->tool, entry->backend) == 0 &&
           strcmp(run->algorithm, entry->algorithm) == 0 && strcmp(run->shape, entry->shape) == 0 &&
           strcmp(run->tier, entry->tier) == 0 && strcmp(run->system, entry->system) == 0 &&
           strcmp(run->library, entry->library) == 0 && strcmp(run->grid, entry->grid) == 0 &&
           strcmp(run->remark, entry->remark) == 0 &&
           run->has_gpu_buffers == (strcmp(entry->gpu_aware, "yes") == 0) &&
           (run->rows_count == 0 || strcmp(run->rows[0].datatype, entry->row.datatype) == 0);
}

/* The latest run that the row belongs to, else a new one. */
static enum ar_status find_run(struct ar_logs *logs, const struct entry *entry,
                               enum ar_log_format format, struct ar_log **run, struct ar_error *err)
{
    size_t nearest = logs->runs_count < RUNS_SEARCHED ? logs->runs_count : RUNS_SEARCHED;
    for (size_t i = 0; i < nearest; i++) {
        *run = &logs->runs[logs->runs_count - 1 - i];
        if (is_same_run(*run, entry)) {
            return AR_OK;
        }
    }
    AR_TRY(ar_logs_add_run(logs, format, entry->row.line, run, err));
    (*run)->collective = collective_of(entry);
    (*run)->is_complete = true;
    (*run)->ranks = entry->ranks;
    (*run)->nodes = entry->nodes;
    (*run)->channels = entry->channels;
    ar_copy_clean((*run)->tool, AR_LOG_TEXT, entry->backend);
    ar_copy_clean((*run)->algorithm, AR_LOG_TEXT, entry->algorithm);
    ar_copy_clean((*run)->shape, AR_LOG_TEXT, entry->shape);
    ar_copy_clean((*run)->tier, AR_LOG_TEXT, entry->tier);
    ar_copy_clean((*run)->system, AR_LOG_TEXT, entry->system);
    ar_copy_clean((*run)->library, AR_LOG_TEXT, entry->library);
    ar_copy_clean((*run)->grid, AR_LOG_WORD, entry->grid);
    ar_copy_clean((*run)->remark, AR_LOG_TEXT, entry->remark);
    (*run)->has_gpu_buffers = strcmp(entry->gpu_aware, "yes") == 0;
    return AR_OK;
}

/* Ranks of a table that says nodes, or lengths of a torus of them, and ranks on each. */
static enum ar_status count_ranks(const struct ar_logs *logs, size_t place, struct entry *entry,
                                  struct ar_error *err)
{
    uint64_t nodes = 1;
    const char *at = entry->grid;
    for (bool goes_on = true; goes_on; at++) {
        char *end = NULL;
        unsigned long length = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        goes_on = length > 0 && *end == 'x';
        if (length == 0 || (!goes_on && *end != '\0') ||
            (nodes *= length) > UINT32_MAX / entry->ranks_per_node) {
            return ar_csv_error(logs->csv, place, "nodes",
                                "a count, or lengths of a torus such as 4x4x4", err);
        }
        at = end;
    }
    entry->nodes = (uint32_t)nodes;
    entry->ranks = entry->nodes * entry->ranks_per_node;
    entry->grid = strchr(entry->grid, 'x') != NULL ? entry->grid : "";
    return AR_OK;
}

/* Elements from bytes; an element size that does not divide the payload is a mistake. */
static enum ar_status take_row(struct ar_logs *logs, size_t place, const struct table *table,
                               struct entry *entry, struct ar_error *err)
{
    struct ar_log *run;
    char divisor[64];
    if (entry->ranks_per_node > 0) {
        AR_TRY(count_ranks(logs, place, entry, err));
    }
    if (table->has_element_bytes && entry->row.payload_bytes % entry->element_bytes != 0) {
        snprintf(divisor, sizeof divisor, "a divisor of payload_bytes, %" PRIu64,
                 entry->row.payload_bytes);
        return ar_csv_error(logs->csv, place, "element_bytes", divisor, err);
    }
    entry->row.count =
        table->has_element_bytes ? entry->row.payload_bytes / entry->element_bytes : 0;
    entry->row.out_of_place.time_s *= table->time_unit_s;
    entry->row.in_place.time_s *= table->time_unit_s;
    entry->row.time_p10_s *= table->time_unit_s;
    entry->row.time_p90_s *= table->time_unit_s;
    entry->row.time_min_s *= table->time_unit_s;
    AR_TRY(find_run(logs, entry, table->format, &run, err));
    return ar_log_add_row(run, &entry->row, err);
}

enum ar_status ar_read_csv(struct ar_logs *logs, const char *text, size_t bytes,
                           struct ar_error *err)
{
    struct ar_csv *csv;
    const struct table *table = NULL;
    AR_TRY(ar_csv_parse(logs->path, text, bytes, AR_CSV_FACTS, logs->arena, &csv, err));
    logs->csv = csv;
    AR_TRY(find_table(csv, &table, err));
    struct entry *entries = ar_arena_alloc(logs->arena, csv->rows_count + 1, sizeof *entries);
    AR_NEED(entries, err, logs->path);
    for (size_t i = 0; i < csv->rows_count; i++) {
        entries[i] = (struct entry){.backend = "",
                                    .operation = "",
                                    .algorithm = "",
                                    .shape = "",
                                    .tier = "",
                                    .system = "",
                                    .library = "",
                                    .grid = "",
                                    .gpu_aware = "",
                                    .remark = "",
                                    .row = ar_log_empty_row(csv->lines[i])};
    }
    for (size_t i = csv->columns_count; i < csv->cells_count; i++) {
        csv->cells[i] = strcmp(csv->cells[i], "N/A") == 0 ? "" : csv->cells[i];
    }
    AR_TRY(ar_csv_read_rows(csv, table->columns, entries, sizeof *entries, err));
    for (size_t i = 0; i < csv->rows_count; i++) {
        AR_TRY(take_row(logs, i, table, &entries[i], err));
    }
    return AR_OK;
}
