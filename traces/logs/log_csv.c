/* The project's own tables: what its harness measured, and published measurements. */
#include "ar_csv.h"

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "log_reading.h"

enum { RUNS_SEARCHED = 4096 };

/* A row, and what its run is, but for the collective. The time is in the unit that the name of the
 * column says. Texts that a table does not have are empty. */
struct entry {
    struct ar_log run;
    struct ar_log_row row;
    const char *operation, *grid;
    uint32_t ranks_per_node;
    uint64_t element_bytes;
};

#define TIME(field, name, ...)                                                                     \
    AR_COLUMN(number, struct entry, row.field, name, "a time above zero", .min = DBL_MIN,          \
              .max = DBL_MAX, __VA_ARGS__)
#define OPTIONAL .may_be_empty = true, .may_be_missing = true

/* The first column is the one that a table is known by. */
static const struct ar_column harness_columns[] = {
    TIME(out_of_place.time_s, "time_median_s"),
    AR_COLUMN(text, struct entry, run.tool, "backend", "a text"),
    AR_COLUMN(string, struct entry, operation, "operation", "a text", OPTIONAL),
    AR_COLUMN(text, struct entry, run.algorithm, "algorithm", "a text"),
    AR_COLUMN(text, struct entry, run.shape, "shape", "a text", OPTIONAL),
    AR_COLUMN(count, struct entry, run.channels, "channels", "", OPTIONAL),
    AR_COLUMN(count, struct entry, run.ranks, "ranks", "", .min = 1),
    AR_COLUMN(count, struct entry, run.nodes, "nodes", "", .min = 1),
    AR_COLUMN(word, struct entry, row.datatype, "datatype", ""),
    AR_COLUMN(count, struct entry, element_bytes, "element_bytes", "", .min = 1),
    AR_COLUMN(count, struct entry, row.payload_bytes, "payload_bytes", ""),
    AR_COLUMN(number, struct entry, row.out_of_place.wrong, "wrong", "a number >= 0",
              .max = DBL_MAX, OPTIONAL),
    AR_COLUMN(text, struct entry, run.tier, "tier", "a text", OPTIONAL),
    AR_COLUMN_OTHERS,
};

/* Calls of a library; the bandwidths that may follow are payload over time. */
static const struct ar_column call_columns[] = {
    TIME(out_of_place.time_s, "time_us"),
    AR_COLUMN(string, struct entry, operation, "collective", "a text"),
    AR_COLUMN(count, struct entry, run.ranks, "gpus", "", .min = 1),
    AR_COLUMN(count, struct entry, run.nodes, "nodes", "", .min = 1),
    AR_COLUMN(count, struct entry, row.payload_bytes, "payload_bytes", ""),
    AR_COLUMN_OTHERS,
};

/* Named algorithms of MPI libraries on several machines. */
static const struct ar_column mpi_columns[] = {
    TIME(out_of_place.time_s, "median_us"),
    AR_COLUMN(text, struct entry, run.system, "system", "a text"),
    AR_COLUMN(string, struct entry, operation, "collective", "a text"),
    AR_COLUMN(string, struct entry, grid, "nodes", "a count, or lengths of a torus: 4x4x4"),
    AR_COLUMN(count, struct entry, ranks_per_node, "tasks_per_node", "", .min = 1),
    AR_COLUMN(text, struct entry, run.algorithm, "algorithm", "a text"),
    AR_COLUMN(count, struct entry, row.payload_bytes, "payload_bytes", ""),
    AR_COLUMN(flag, struct entry, run.has_gpu_buffers, "gpu_aware", "yes or no", OPTIONAL),
    AR_COLUMN(text, struct entry, run.library, "mpi", "a text", OPTIONAL),
    AR_COLUMN(text, struct entry, run.remark, "notes", "a text", OPTIONAL),
    AR_COLUMN_OTHERS,
};

static const struct ar_column published_columns[] = {
    AR_COLUMN(count, struct entry, run.ranks, "gpus", "", .min = 1),
    AR_COLUMN(count, struct entry, run.nodes, "nodes", "", .min = 1),
    AR_COLUMN(count, struct entry, row.payload_bytes, "payload_bytes", ""),
    TIME(out_of_place.time_s, "time_out_of_place_us", OPTIONAL),
    TIME(in_place.time_s, "time_in_place_us", OPTIONAL),
    AR_COLUMN_OTHERS,
};

static const struct table {
    struct ar_columns columns;
    enum ar_log_format format;
    double time_unit_s;
} tables[] = {{AR_COLUMNS(harness_columns), AR_LOG_HARNESS, 1},
              {AR_COLUMNS(mpi_columns), AR_LOG_PUBLISHED, 1e-6},
              {AR_COLUMNS(call_columns), AR_LOG_PUBLISHED, 1e-6},
              {AR_COLUMNS(published_columns), AR_LOG_PUBLISHED, 1e-6}};

static bool is_same_run(const struct ar_log *a, const struct ar_log *b)
{
    static const size_t texts[] = {
        offsetof(struct ar_log, tool),   offsetof(struct ar_log, algorithm),
        offsetof(struct ar_log, shape),  offsetof(struct ar_log, tier),
        offsetof(struct ar_log, system), offsetof(struct ar_log, library),
        offsetof(struct ar_log, grid),   offsetof(struct ar_log, remark)};
    bool is_same = a->collective == b->collective && a->ranks == b->ranks && a->nodes == b->nodes &&
                   a->channels == b->channels && a->has_gpu_buffers == b->has_gpu_buffers;
    for (size_t i = 0; is_same && i < sizeof texts / sizeof texts[0]; i++) {
        is_same = strcmp((const char *)a + texts[i], (const char *)b + texts[i]) == 0;
    }
    return is_same;
}

/* The latest run that the row belongs to, else a new one, of all-reduces unless it says others. */
static struct ar_log *find_run(struct ar_logs *logs, const struct table *table, struct entry *entry)
{
    size_t nearest = logs->runs_count < RUNS_SEARCHED ? logs->runs_count : RUNS_SEARCHED;
    entry->run.collective =
        entry->operation[0] != '\0' ? ar_collective_of_name(entry->operation) : AR_LOG_ALL_REDUCE;
    for (size_t i = 0; i < nearest; i++) {
        struct ar_log *run = &logs->runs[logs->runs_count - 1 - i];
        if (is_same_run(run, &entry->run) &&
            strcmp(run->rows[0].datatype, entry->row.datatype) == 0) {
            return run;
        }
    }
    struct ar_log *run = ar_logs_add_run(logs, table->format, entry->row.line);
    entry->run.format = table->format;
    entry->run.path = run->path;
    entry->run.arena = run->arena;
    entry->run.first_line = entry->run.last_line = entry->row.line;
    entry->run.is_complete = true;
    *run = entry->run;
    return run;
}

/* Counts the ranks of a table that says nodes, or lengths of a torus of them, and ranks on each. */
static enum ar_status count_grid_ranks(const struct ar_logs *logs, size_t place,
                                       struct entry *entry, struct ar_error *err)
{
    uint64_t nodes = 1;
    const char *at = entry->grid;
    for (bool goes_on = true; goes_on; at++) {
        char *end = NULL;
        unsigned long length = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        goes_on = length > 0 && *end == 'x';
        AR_CSV_REFUSE(length == 0 || (!goes_on && *end != '\0') ||
                          (nodes *= length) > UINT32_MAX / entry->ranks_per_node,
                      logs->csv, place, "nodes", err,
                      "a count, or lengths of a torus such as 4x4x4");
        at = end;
    }
    entry->run.nodes = (uint32_t)nodes;
    entry->run.ranks = entry->run.nodes * entry->ranks_per_node;
    if (strchr(entry->grid, 'x') != NULL) {
        ar_copy_text(entry->run.grid, sizeof entry->run.grid, entry->grid);
    }
    return AR_OK;
}

enum ar_status ar_read_csv(struct ar_logs *logs, const char *text, size_t bytes,
                           struct ar_error *err)
{
    struct ar_csv *csv;
    const struct table *table = NULL;
    AR_TRY(ar_csv_parse(logs->path, text, bytes, AR_CSV_FACTS, logs->arena, &csv, err));
    logs->csv = csv;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && table == NULL; i++) {
        bool is_own = ar_csv_find_column(csv, tables[i].columns.list[0].name) != SIZE_MAX;
        table = is_own ? &tables[i] : NULL;
    }
    AR_REFUSE_LINE(table == NULL, err, csv->path, csv->header_line,
                   "neither column \"%s\" nor \"%s\"; expected a table of the harness "
                   "or of published measurements",
                   harness_columns[0].name, published_columns[0].name);
    const struct entry begin = {.operation = "", .row = ar_log_empty_row(0)};
    struct entry *entries;
    for (size_t i = csv->columns_count; i < csv->cells_count; i++) {
        csv->cells[i] = strcmp(csv->cells[i], "N/A") == 0 ? "" : csv->cells[i];
    }
    AR_TRY(ar_csv_read_rows(csv, table->columns, &begin, &entries, err));
    /* Adds each entry to its run. Elements follow from bytes; an element size that does not divide
     * the payload is a mistake. */
    for (size_t i = 0; i < csv->rows_count; i++) {
        struct entry *entry = &entries[i];
        struct ar_log_row *row = &entry->row;
        row->line = csv->lines[i];
        if (table->format == AR_LOG_HARNESS && strncmp(entry->run.algorithm, "nccl-", 5) == 0) {
            entry->run.algorithm[0] = '\0'; /* NCCL chose, as in nccl-tests */
        }
        if (entry->ranks_per_node > 0) {
            AR_TRY(count_grid_ranks(logs, i, entry, err));
        }
        AR_CSV_REFUSE(entry->element_bytes > 0 && row->payload_bytes % entry->element_bytes != 0,
                      csv, i, "element_bytes", err, "a divisor of payload_bytes, %" PRIu64,
                      row->payload_bytes);
        row->count = entry->element_bytes > 0 ? row->payload_bytes / entry->element_bytes : 0;
        row->out_of_place.time_s *= table->time_unit_s;
        row->in_place.time_s *= table->time_unit_s;
        AR_TRY(ar_log_add_row(find_run(logs, table, entry), row, err));
    }
    return AR_OK;
}
