/* The links that an all-reduce uses, busiest first: a table for people, CSV and JSON.
 *
 * A link of bandwidth B that carries b bytes is busy for b / B, whatever the engine. Its busy
 * fraction is that over the time in which the communication stream is busy (`allreduce_s` of a
 * row), which is the engine's.
 */
#include "explain.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"

/* A link that is busy for this fraction of the time is the bottleneck, or a part of it. */
#define BUSY_MAX_FRAC  0.8
#define BUSY_HALF_FRAC 0.5

enum { NAME_SIZE = 64, KINDS_MAX = 16 };

/* A link that carries messages. */
struct line {
    uint32_t number;
    ar_cell_string link, kind;
    struct ar_link_load load;
    ar_cell_number bandwidth_Bps;
    ar_cell_number busy_s; /* bytes / bandwidth */
    ar_cell_number busy_frac[LINK_TABLE_ROWS_MAX];
    ar_cell_count sharers; /* groups of a mesh whose messages are on it together */
};

/* The same in a list, which has a line for each row that was timed. */
struct list_line {
    struct line line; /* busy_frac[0]: by this row */
    struct ar_row row;
};

#define LIST(kind, field, name) AR_COLUMN(kind, struct list_line, field, name, "")

static const struct ar_column list_columns[] = {
    LIST(text, row.cluster, "cluster"),
    LIST(count, row.gpus, "gpus"),
    LIST(word, row.algorithm, "algorithm"),
    LIST(word, row.shape, "shape"),
    LIST(count, row.channels, "channels"),
    LIST(word, row.engine, "engine"),
    LIST(count, row.payload_bytes, "payload_bytes"),
    LIST(number, row.allreduce_s, "allreduce_s"),
    LIST(string, line.link, "link"),
    LIST(string, line.kind, "kind"),
    LIST(number, line.bandwidth_Bps, "bandwidth_Bps"),
    LIST(count, line.load.bytes, "bytes"),
    LIST(count, line.load.messages_count, "messages_count"),
    LIST(count, line.load.flows_max, "flows_count"),
    LIST(number, line.busy_s, "busy_s"),
    LIST(number, line.busy_frac[0], "busy_frac"),
    LIST(word, row.operation, "operation"),
    LIST(text, row.mesh, "mesh"),
    LIST(word, row.along, "along"),
    LIST(count, row.groups, "groups"),
    LIST(count, line.sharers, "sharing_groups"),
};

#define COLUMN(kind, field, name, ...) AR_COLUMN(kind, struct line, field, name, __VA_ARGS__)

static const struct ar_column table_columns[] = {
    COLUMN(string, link, "", "", .heading = "link"),
    COLUMN(string, kind, "", "", .heading = "kind"),
    COLUMN(number, bandwidth_Bps, "", "", .heading = "GB/s", .factor = 1e-9, .decimals = 3),
    COLUMN(count, load.bytes, "", "", .heading = "bytes"),
    COLUMN(count, load.messages_count, "", "", .heading = "messages", .priority = 1),
    COLUMN(count, load.flows_max, "", "", .heading = "flows", .priority = 2),
    COLUMN(count, sharers, "", "", .heading = "groups", .is_rare = true),
};

enum { TABLE_COLUMNS = sizeof table_columns / sizeof table_columns[0] };

/* The request, and the links that carry messages: busiest first, then by number. */
struct table {
    FILE *file;
    const struct ar_row *rows;
    size_t rows_count;
    struct ar_arena *arena;
    struct line *lines;
    size_t count;
};

/* The kind of a link: the first word of its name behind its node, "hca" of "node-3.hca-0.out". */
static const char *link_kind(const char *link, struct ar_arena *arena)
{
    const char *dot = strchr(link, '.');
    const char *word = strncmp(link, "node-", 5) == 0 && dot != NULL ? dot + 1 : link;
    int length = 0;
    while (isalpha((unsigned char)word[length])) {
        length++;
    }
    return ar_arena_format(arena, "%.*s", length, word);
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *first = a;
    const struct line *second = b;
    if (first->busy_s != second->busy_s) {
        return first->busy_s > second->busy_s ? -1 : 1;
    }
    return (first->number > second->number) - (first->number < second->number);
}

static void fill_lines(const struct ar_cluster *cluster, const struct ar_link_load *loads,
                       struct table *table)
{
    uint32_t links = ar_cluster_links_count(cluster);
    size_t loaded_count = 0;
    for (uint32_t i = 0; i < links; i++) {
        loaded_count += loads[i].messages_count > 0;
    }
    table->lines = ar_arena_alloc(table->arena, loaded_count + 1, sizeof *table->lines);
    for (uint32_t i = 0; i < links; i++) {
        char name[NAME_SIZE];
        struct line *line = &table->lines[table->count];
        if (loads[i].messages_count == 0) {
            continue;
        }
        line->number = i;
        line->load = loads[i];
        line->bandwidth_Bps = ar_cluster_link_bandwidth(cluster, i);
        line->busy_s = (double)line->load.bytes / line->bandwidth_Bps;
        line->sharers = table->rows[0].groups != AR_NO_COUNT ? loads[i].groups_max : AR_NO_COUNT;
        for (size_t row = 0; row < table->rows_count; row++) {
            line->busy_frac[row] = line->busy_s / table->rows[row].allreduce_s;
        }
        line->link =
            ar_arena_text(table->arena, ar_cluster_link_name(cluster, i, name, sizeof name));
        line->kind = link_kind(line->link, table->arena);
        table->count++;
    }
    qsort(table->lines, table->count, sizeof *table->lines, compare_lines);
}

/* --- for people --------------------------------------------------------------------------- */

static void write_verdict(FILE *file, const struct line *busiest, double frac,
                          const struct ar_row *row)
{
    char time[AR_UNIT_TEXT];
    if (frac >= BUSY_MAX_FRAC) {
        fprintf(file, "%s is the bottleneck: busy", busiest->link);
    } else if (frac >= BUSY_HALF_FRAC) {
        fprintf(file, "%s limits a good part of the time: busy", busiest->link);
    } else {
        fprintf(file, "No link is the bottleneck: the busiest, %s, is busy", busiest->link);
    }
    fprintf(file, " %.1f %% of %s (engine %s).\n", frac * 100,
            ar_format_seconds(row->allreduce_s, time), row->engine);
}

/* Splits the time by the closed form. */
static void write_time_split(FILE *file, const struct ar_row *row)
{
    double percent = 100 / (row->setup_s + row->latency_s + row->bandwidth_s + row->reduction_s);
    fprintf(file,
            "  By the closed form the time is %.0f %% bandwidth, %.0f %% latency, %.0f %% setup, "
            "%.0f %% reduction.\n",
            percent * row->bandwidth_s, percent * row->latency_s, percent * row->setup_s,
            percent * row->reduction_s);
}

static void write_busiest_load(FILE *file, const struct table *table)
{
    const struct line *line = &table->lines[0];
    char bytes[AR_UNIT_TEXT];
    char rate[AR_UNIT_TEXT];
    size_t alike = 0; /* as busy, but for remainders of a division */
    while (alike + 1 < table->count && table->lines[alike + 1].busy_s >= 0.99 * line->busy_s) {
        alike++;
    }
    fprintf(file, "  It carries %s in %" PRIu64 " message%s at %s, ",
            ar_format_bytes(line->load.bytes, bytes), line->load.messages_count,
            line->load.messages_count == 1 ? "" : "s", ar_format_rate(line->bandwidth_Bps, rate));
    if (line->load.flows_max == 1) {
        fputs("from one connection at a time; ", file);
    } else {
        fprintf(file, "shared by up to %" PRIu32 " connections", line->load.flows_max);
        if (line->sharers != AR_NO_COUNT) {
            fprintf(file, " of %" PRIu64 " group%s", line->sharers, line->sharers == 1 ? "" : "s");
        }
        fputs(" at a time; ", file);
    }
    fprintf(file, alike == 0 ? "no other link is as busy.\n" : "%zu more %s as busy.\n", alike,
            alike == 1 ? "is" : "are");
}

/* The busiest link of each kind: phases may use one kind after the other. */
static void write_busiest_kinds(FILE *file, const struct table *table)
{
    const char *kinds[KINDS_MAX];
    size_t count = 0;
    fputs("  Busiest of each kind:", file);
    for (size_t i = 0; i < table->count && count < KINDS_MAX; i++) {
        const struct line *line = &table->lines[i];
        bool is_known = false;
        for (size_t j = 0; j < count; j++) {
            is_known = is_known || strcmp(kinds[j], line->kind) == 0;
        }
        if (!is_known) {
            fprintf(file, "%s %s %.1f %%", count > 0 ? "," : "", line->kind,
                    100 * line->busy_frac[0]);
            kinds[count++] = line->kind;
        }
    }
    fputs(".\n\n", file);
}

static void write_lines(const struct table *table, const struct ar_view *view, uint64_t top)
{
    size_t columns_count = TABLE_COLUMNS + table->rows_count;
    struct ar_column *columns = ar_arena_alloc(table->arena, columns_count, sizeof *columns);
    size_t shown = table->count < top ? table->count : (size_t)top;
    memcpy(columns, table_columns, sizeof table_columns);
    for (size_t i = 0; i < table->rows_count; i++) {
        columns[TABLE_COLUMNS + i] = (struct ar_column)COLUMN(
            number, busy_frac[i], "", "",
            .heading = ar_arena_format(table->arena, "busy %%\n(%s)", table->rows[i].engine),
            .factor = 100, .decimals = 1);
    }
    ar_records_write(table->file, view, (struct ar_columns){columns, columns_count}, table->lines,
                     shown, sizeof *table->lines);
    if (table->count > shown) {
        fprintf(table->file, "and %zu more (--top, or --format csv)\n", table->count - shown);
    }
}

void link_table_write(FILE *file, const struct ar_view *view, const struct ar_cluster *cluster,
                      const struct ar_link_load *loads, const struct ar_row *rows,
                      size_t rows_count, uint64_t top, struct ar_arena *arena)
{
    struct table table = {.file = file, .rows = rows, .rows_count = rows_count, .arena = arena};
    struct ar_records records;
    fill_lines(cluster, loads, &table);
    if (view->format == AR_FORMAT_TABLE && table.count == 0) {
        fputs("There are no messages: one GPU has nothing to send.\n", file);
        return;
    }
    if (view->format == AR_FORMAT_TABLE) {
        for (size_t i = 0; i < rows_count; i++) {
            write_verdict(file, &table.lines[0], table.lines[0].busy_frac[i], &rows[i]);
        }
        write_time_split(file, &rows[0]);
        write_busiest_load(file, &table);
        write_busiest_kinds(file, &table);
        write_lines(&table, view, top);
        return;
    }
    ar_records_begin(&records, file, view, AR_COLUMNS(list_columns));
    for (size_t i = 0; i < rows_count * table.count; i++) {
        struct list_line line = {table.lines[i % table.count], rows[i / table.count]};
        line.line.busy_frac[0] = line.line.busy_frac[i / table.count];
        ar_records_add(&records, &line);
    }
    ar_records_end(&records);
}
