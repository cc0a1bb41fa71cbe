#include "link_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

/* From here on a link limits the whole all-reduce, from here on a good part of it. */
#define BUSY_MAX_FRAC  0.8
#define BUSY_HALF_FRAC 0.5

enum { NAME_SIZE = 64, KINDS_MAX = 16 };

/* clang-format off */
#define LINK_COLUMN_LIST(X)                                                                        \
    X(text,   cluster)                                                                             \
    X(count,  gpus)                                                                                \
    X(text,   algorithm)                                                                           \
    X(text,   shape)                                                                               \
    X(count,  channels)                                                                            \
    X(text,   engine)                                                                              \
    X(count,  payload_bytes)                                                                       \
    X(number, allreduce_s)                                                                         \
    X(text,   link)                                                                                \
    X(text,   kind)                                                                                \
    X(number, bandwidth_Bps)                                                                       \
    X(count,  bytes)                                                                               \
    X(count,  messages_count)                                                                      \
    X(count,  flows_count)                                                                         \
    X(number, busy_s)                                                                              \
    X(number, busy_frac)
/* clang-format on */

struct link_cells {
#define X(kind, name) ar_cell_##kind name;
    LINK_COLUMN_LIST(X)
#undef X
};

static const struct ar_column link_columns[] = {
#define X(kind, field) AR_COLUMN(kind, struct link_cells, field, #field, ""),
    LINK_COLUMN_LIST(X)
#undef X
};

static int compare_lines(const void *a, const void *b)
{
    const struct link_line *first = a;
    const struct link_line *second = b;
    if (first->busy_s != second->busy_s) {
        return first->busy_s > second->busy_s ? -1 : 1;
    }
    return (first->link > second->link) - (first->link < second->link);
}

enum ar_status link_table_create(const struct ar_cluster *cluster, const struct ar_link_load *loads,
                                 struct link_table *table, struct ar_error *err)
{
    uint32_t links = ar_cluster_links_count(cluster);
    struct link_line *lines = calloc((size_t)links + 1, sizeof *lines);
    size_t count = 0;
    if (lines == NULL) {
        return ar_error_no_memory(err, "the table of links");
    }
    for (uint32_t i = 0; i < links; i++) {
        double bandwidth_Bps = ar_cluster_link_bandwidth(cluster, i);
        if (loads[i].messages_count > 0) {
            lines[count++] = (struct link_line){.link = i,
                                                .load = loads[i],
                                                .bandwidth_Bps = bandwidth_Bps,
                                                .busy_s = (double)loads[i].bytes / bandwidth_Bps};
        }
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    *table = (struct link_table){.cluster = cluster, .lines_count = count, .lines = lines};
    return AR_OK;
}

void link_table_destroy(struct link_table *table)
{
    free(table->lines);
    table->lines = NULL;
}

/* The kind of a link: the first word of its name behind its node, "hca" of "node-3.hca-0.out". */
static const char *kind_of(const char *link, char kind[NAME_SIZE])
{
    const char *dot = strchr(link, '.');
    const char *word = strncmp(link, "node-", 5) == 0 && dot != NULL ? dot + 1 : link;
    size_t length = 0;
    while (isalpha((unsigned char)word[length]) && length < NAME_SIZE - 1) {
        length++;
    }
    memcpy(kind, word, length);
    kind[length] = '\0';
    return kind;
}

static const char *name_of(const struct link_table *table, size_t line, char name[NAME_SIZE])
{
    return ar_cluster_link_name(table->cluster, table->lines[line].link, name, NAME_SIZE);
}

static const char *kind_at(const struct link_table *table, size_t line, char kind[NAME_SIZE])
{
    char name[NAME_SIZE];
    return kind_of(name_of(table, line, name), kind);
}

/* Links that are as busy as the busiest, but for remainders of a division. */
static size_t count_alike(const struct link_table *table)
{
    size_t count = 1;
    while (count < table->lines_count &&
           table->lines[count].busy_s >= 0.99 * table->lines[0].busy_s) {
        count++;
    }
    return count;
}

static void write_verdict(FILE *file, const struct link_table *table, const struct ar_row *row)
{
    char name[NAME_SIZE];
    char time[AR_UNIT_TEXT];
    double frac = table->lines[0].busy_s / row->allreduce_s;
    name_of(table, 0, name);
    if (frac >= BUSY_MAX_FRAC) {
        fprintf(file, "%s is the bottleneck: busy", name);
    } else if (frac >= BUSY_HALF_FRAC) {
        fprintf(file, "%s limits a good part of the time: busy", name);
    } else {
        fprintf(file, "No link is the bottleneck: the busiest, %s, is busy", name);
    }
    fprintf(file, " %.1f %% of %s (engine %s)", frac * 100,
            ar_format_seconds(row->allreduce_s, time), row->engine);
    fputs(frac <= 1 + 1e-6 ? ".\n" : ", an estimate that is too short.\n", file);
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

static void write_load(FILE *file, const struct link_table *table)
{
    const struct link_line *line = &table->lines[0];
    char bytes[AR_UNIT_TEXT];
    char rate[AR_UNIT_TEXT];
    size_t alike = count_alike(table) - 1;
    fprintf(file, "  It carries %s in %" PRIu64 " message%s at %s, ",
            ar_format_bytes(line->load.bytes, bytes), line->load.messages_count,
            line->load.messages_count == 1 ? "" : "s", ar_format_rate(line->bandwidth_Bps, rate));
    if (line->load.flows_max == 1) {
        fputs("from one connection at a time; ", file);
    } else {
        fprintf(file, "shared by up to %" PRIu32 " connections at a time; ", line->load.flows_max);
    }
    fprintf(file, alike == 0 ? "no other link is as busy.\n" : "%zu more %s as busy.\n", alike,
            alike == 1 ? "is" : "are");
}

/* The busiest link of each kind: phases may use one kind after the other. */
static void write_kinds(FILE *file, const struct link_table *table, const struct ar_row *row)
{
    char kinds[KINDS_MAX][NAME_SIZE];
    size_t count = 0;
    fputs("  Busiest of each kind:", file);
    for (size_t i = 0; i < table->lines_count && count < KINDS_MAX; i++) {
        bool is_known = false;
        kind_at(table, i, kinds[count]);
        for (size_t j = 0; j < count; j++) {
            is_known = is_known || strcmp(kinds[j], kinds[count]) == 0;
        }
        if (!is_known) {
            fprintf(file, "%s %s %.1f %%", count > 0 ? "," : "", kinds[count],
                    100 * table->lines[i].busy_s / row->allreduce_s);
            count++;
        }
    }
    fputs(".\n\n", file);
}

static void write_lines(FILE *file, const struct link_table *table, const struct ar_row *rows,
                        size_t rows_count, uint64_t top)
{
    fprintf(file, "%-24s %-8s %13s %14s %9s %6s", "link", "kind", "GB/s", "bytes", "messages",
            "flows");
    for (size_t i = 0; i < rows_count; i++) {
        char title[NAME_SIZE + AR_ROW_TEXT];
        snprintf(title, sizeof title, "busy %% (%s)", rows[i].engine);
        fprintf(file, " %19s", title);
    }
    fputc('\n', file);
    for (size_t i = 0; i < table->lines_count && i < top; i++) {
        const struct link_line *line = &table->lines[i];
        char name[NAME_SIZE];
        char kind[NAME_SIZE];
        fprintf(file, "%-24s %-8s %13.3f %14" PRIu64 " %9" PRIu64 " %6" PRIu32,
                name_of(table, i, name), kind_at(table, i, kind), line->bandwidth_Bps * 1e-9,
                line->load.bytes, line->load.messages_count, line->load.flows_max);
        for (size_t j = 0; j < rows_count; j++) {
            fprintf(file, " %19.1f", 100 * line->busy_s / rows[j].allreduce_s);
        }
        fputc('\n', file);
    }
    if (table->lines_count > top) {
        fprintf(file, "and %zu more (--top, or --format csv)\n", table->lines_count - (size_t)top);
    }
}

void link_table_write(FILE *file, const struct link_table *table, const struct ar_row *rows,
                      size_t rows_count, uint64_t top)
{
    if (table->lines_count == 0) {
        fputs("There are no messages: one GPU has nothing to send.\n", file);
        return;
    }
    for (size_t i = 0; i < rows_count; i++) {
        write_verdict(file, table, &rows[i]);
    }
    write_split(file, &rows[0]);
    write_load(file, table);
    write_kinds(file, table, &rows[0]);
    write_lines(file, table, rows, rows_count, top);
}

static struct link_cells cells_of(const struct link_table *table, size_t index,
                                  const struct ar_row *row)
{
    const struct link_line *line = &table->lines[index];
    char text[NAME_SIZE];
    struct link_cells cells = {.gpus = row->gpus,
                               .channels = row->channels,
                               .payload_bytes = row->payload_bytes,
                               .allreduce_s = row->allreduce_s,
                               .bandwidth_Bps = line->bandwidth_Bps,
                               .bytes = line->load.bytes,
                               .messages_count = line->load.messages_count,
                               .flows_count = line->load.flows_max,
                               .busy_s = line->busy_s,
                               .busy_frac = line->busy_s / row->allreduce_s};
    ar_copy_text(cells.cluster, sizeof cells.cluster, row->cluster);
    ar_copy_text(cells.algorithm, sizeof cells.algorithm, row->algorithm);
    ar_copy_text(cells.shape, sizeof cells.shape, row->shape);
    ar_copy_text(cells.engine, sizeof cells.engine, row->engine);
    ar_copy_text(cells.link, sizeof cells.link, name_of(table, index, text));
    ar_copy_text(cells.kind, sizeof cells.kind, kind_at(table, index, text));
    return cells;
}

/* All links of each row; nothing is kept of a list, so it cannot fail. */
static void write_list(FILE *file, enum ar_format format, const struct link_table *table,
                       const struct ar_row *rows, size_t rows_count)
{
    struct ar_records records;
    struct ar_error ignored;
    ar_records_begin(&records, file, format, AR_COLUMNS(link_columns));
    for (size_t i = 0; i < rows_count * table->lines_count; i++) {
        struct link_cells cells =
            cells_of(table, i % table->lines_count, &rows[i / table->lines_count]);
        ar_records_add(&records, &cells);
    }
    (void)ar_records_end(&records, &ignored);
}

void link_table_write_csv(FILE *file, const struct link_table *table, const struct ar_row *rows,
                          size_t rows_count)
{
    write_list(file, AR_FORMAT_CSV, table, rows, rows_count);
}

void link_table_write_json(FILE *file, const struct link_table *table, const struct ar_row *rows,
                           size_t rows_count)
{
    write_list(file, AR_FORMAT_JSON, table, rows, rows_count);
}
