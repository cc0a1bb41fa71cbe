#include "link_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_units.h"

/* From here on a link limits the whole all-reduce, from here on a good part of it. */
#define BUSY_MAX_FRAC  0.8
#define BUSY_HALF_FRAC 0.5

enum { NAME_SIZE = 64, KINDS_MAX = 16 };

/* A link that carries messages, for one row in a list, for all of them in a table. */
struct line {
    uint32_t number;
    ar_cell_string link, kind;
    struct ar_link_load load;
    ar_cell_number bandwidth_Bps;
    ar_cell_number busy_s; /* bytes / bandwidth */
    ar_cell_number busy_frac[LINK_TABLE_ROWS_MAX];
    ar_cell_string cluster, algorithm, shape, engine, operation, mesh, along;
    ar_cell_count gpus, channels, payload_bytes, groups;
    ar_cell_count sharers; /* groups whose messages are on it together; of a mesh */
    ar_cell_number allreduce_s;
};

/* The links that carry messages, busiest first, then by number. */
struct table {
    struct line *lines;
    size_t count;
};

#define COLUMN(kind, field, name, ...) AR_COLUMN(kind, struct line, field, name, __VA_ARGS__)

static const struct ar_column list_columns[] = {
    COLUMN(string, cluster, "cluster", ""),
    COLUMN(count, gpus, "gpus", ""),
    COLUMN(string, algorithm, "algorithm", ""),
    COLUMN(string, shape, "shape", ""),
    COLUMN(count, channels, "channels", ""),
    COLUMN(string, engine, "engine", ""),
    COLUMN(count, payload_bytes, "payload_bytes", ""),
    COLUMN(number, allreduce_s, "allreduce_s", ""),
    COLUMN(string, link, "link", ""),
    COLUMN(string, kind, "kind", ""),
    COLUMN(number, bandwidth_Bps, "bandwidth_Bps", ""),
    COLUMN(count, load.bytes, "bytes", ""),
    COLUMN(count, load.messages_count, "messages_count", ""),
    COLUMN(count, load.flows_max, "flows_count", ""),
    COLUMN(number, busy_s, "busy_s", ""),
    COLUMN(number, busy_frac[0], "busy_frac", ""),
    COLUMN(string, operation, "operation", ""),
    COLUMN(string, mesh, "mesh", ""),
    COLUMN(string, along, "along", ""),
    COLUMN(count, groups, "groups", ""),
    COLUMN(count, sharers, "sharing_groups", ""),
};

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

/* The kind of a link: the first word of its name behind its node, "hca" of "node-3.hca-0.out". */
static const char *kind_of(const char *link, struct ar_arena *arena)
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

static enum ar_status make_table(const struct ar_cluster *cluster, const struct ar_link_load *loads,
                                 const struct ar_row *rows, size_t rows_count,
                                 struct ar_arena *arena, struct table *table, struct ar_error *err)
{
    uint32_t links = ar_cluster_links_count(cluster);
    size_t loaded_count = 0;
    for (uint32_t i = 0; i < links; i++) {
        loaded_count += loads[i].messages_count > 0;
    }
    *table = (struct table){.lines = ar_arena_alloc(arena, loaded_count + 1, sizeof *table->lines)};
    AR_NEED(table->lines, err, "the table of links");
    for (uint32_t i = 0; i < links; i++) {
        char name[NAME_SIZE];
        struct line *line = &table->lines[table->count];
        if (loads[i].messages_count == 0) {
            continue;
        }
        *line = (struct line){
            .number = i, .load = loads[i], .bandwidth_Bps = ar_cluster_link_bandwidth(cluster, i)};
        line->busy_s = (double)line->load.bytes / line->bandwidth_Bps;
        line->sharers = rows[0].groups != AR_NO_COUNT ? loads[i].groups_max : AR_NO_COUNT;
        for (size_t row = 0; row < rows_count; row++) {
            line->busy_frac[row] = line->busy_s / rows[row].allreduce_s;
        }
        line->link = ar_arena_text(arena, ar_cluster_link_name(cluster, i, name, sizeof name));
        line->kind = line->link != NULL ? kind_of(line->link, arena) : NULL;
        AR_NEED(line->kind, err, "the table of links");
        table->count++;
    }
    qsort(table->lines, table->count, sizeof *table->lines, compare_lines);
    return AR_OK;
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

/* What the time goes to besides the links. */
static void write_split(FILE *file, const struct ar_row *row)
{
    double percent = 100 / (row->setup_s + row->latency_s + row->bandwidth_s + row->reduction_s);
    fprintf(file,
            "  By the closed form the time is %.0f %% bandwidth, %.0f %% latency, %.0f %% setup, "
            "%.0f %% reduction.\n",
            percent * row->bandwidth_s, percent * row->latency_s, percent * row->setup_s,
            percent * row->reduction_s);
}

static void write_load(FILE *file, const struct table *table)
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
static void write_kinds(FILE *file, const struct table *table)
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

static enum ar_status write_lines(FILE *file, const struct ar_view *view, const struct table *table,
                                  const struct ar_row *rows, size_t rows_count, uint64_t top,
                                  struct ar_arena *arena, struct ar_error *err)
{
    struct ar_column *columns = ar_arena_alloc(arena, TABLE_COLUMNS + rows_count, sizeof *columns);
    AR_NEED(columns, err, "the columns of a table");
    size_t shown = table->count < top ? table->count : (size_t)top;
    memcpy(columns, table_columns, sizeof table_columns);
    for (size_t i = 0; i < rows_count; i++) {
        columns[TABLE_COLUMNS + i] = (struct ar_column)COLUMN(
            number, busy_frac[i], "", "",
            .heading = ar_arena_format(arena, "busy %%\n(%s)", rows[i].engine), .factor = 100,
            .decimals = 1);
    }
    ar_records_write(file, view, (struct ar_columns){columns, TABLE_COLUMNS + rows_count},
                     table->lines, shown, sizeof *table->lines);
    if (table->count > shown) {
        fprintf(file, "and %zu more (--top, or --format csv)\n", table->count - shown);
    }
    return AR_OK;
}

static enum ar_status write_table(FILE *file, const struct ar_view *view, const struct table *table,
                                  const struct ar_row *rows, size_t rows_count, uint64_t top,
                                  struct ar_arena *arena, struct ar_error *err)
{
    if (table->count == 0) {
        fputs("There are no messages: one GPU has nothing to send.\n", file);
        return AR_OK;
    }
    for (size_t i = 0; i < rows_count; i++) {
        write_verdict(file, &table->lines[0], table->lines[0].busy_frac[i], &rows[i]);
    }
    write_split(file, &rows[0]);
    write_load(file, table);
    write_kinds(file, table);
    return write_lines(file, view, table, rows, rows_count, top, arena, err);
}

enum ar_status link_table_write(FILE *file, const struct ar_view *view,
                                const struct ar_cluster *cluster, const struct ar_link_load *loads,
                                const struct ar_row *rows, size_t rows_count, uint64_t top,
                                struct ar_arena *arena, struct ar_error *err)
{
    struct table table;
    struct ar_records records;
    AR_TRY(make_table(cluster, loads, rows, rows_count, arena, &table, err));
    if (view->format == AR_FORMAT_TABLE) {
        return write_table(file, view, &table, rows, rows_count, top, arena, err);
    }
    ar_records_begin(&records, file, view, AR_COLUMNS(list_columns));
    for (size_t i = 0; i < rows_count * table.count; i++) {
        struct line line = table.lines[i % table.count];
        const struct ar_row *row = &rows[i / table.count];
        line.busy_frac[0] = line.busy_frac[i / table.count];
        line.cluster = row->cluster;
        line.algorithm = row->algorithm;
        line.shape = row->shape;
        line.engine = row->engine;
        line.operation = row->operation;
        line.mesh = row->mesh;
        line.along = row->along;
        line.groups = row->groups;
        line.gpus = row->gpus;
        line.channels = row->channels;
        line.payload_bytes = row->payload_bytes;
        line.allreduce_s = row->allreduce_s;
        ar_records_add(&records, &line);
    }
    ar_records_end(&records);
    return AR_OK;
}
