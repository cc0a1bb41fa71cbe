/* The links that a collective or the all-reduces of a step use, busiest first.
 *
 * A link of bandwidth B that carries b bytes is busy for b / B, whatever the engine. Its busy
 * fraction is that over the time in which the communication stream is busy (`allreduce_s` of a
 * row), which is the engine's. */
#include "exports.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ar_numbers.h"
#include "ar_units.h"

/* A link that is busy for this fraction of the time is the bottleneck, or a part of it. */
#define BOTTLENECK_FRAC 0.8

enum { NAME_SIZE = 64 };

/* A link that carries messages. */
struct line {
    uint32_t number;
    struct ar_link_load load;
    double bandwidth_Bps, busy_s;
};

/* The same as it is written. */
struct shown_line {
    struct line line;
    ar_cell_string link;
    ar_cell_number busy_frac;
    ar_cell_count sharers; /* groups of a mesh whose messages are on it together */
    struct ar_row row;
};

#define COLUMN(kind, field, name, ...) AR_COLUMN(kind, struct shown_line, field, name, __VA_ARGS__)

static const struct ar_column columns[] = {
    COLUMN(text, row.cluster, "cluster", ""),
    COLUMN(count, row.gpus, "gpus", ""),
    COLUMN(word, row.algorithm, "algorithm", ""),
    COLUMN(word, row.shape, "shape", ""),
    COLUMN(count, row.channels, "channels", ""),
    COLUMN(word, row.engine, "engine", ""),
    COLUMN(count, row.payload_bytes, "payload_bytes", ""),
    COLUMN(number, row.allreduce_s, "allreduce_s", ""),
    COLUMN(string, link, "link", "", .heading = "link"),
    COLUMN(number, line.bandwidth_Bps, "bandwidth_Bps", "", .heading = "GB/s", .factor = 1e-9,
           .decimals = 3),
    COLUMN(count, line.load.bytes, "bytes", "", .heading = "bytes"),
    COLUMN(count, line.load.messages_count, "messages_count", "", .heading = "messages",
           .priority = 1),
    COLUMN(count, line.load.flows_max, "flows_count", "", .heading = "flows", .priority = 2),
    COLUMN(number, line.busy_s, "busy_s", ""),
    COLUMN(number, busy_frac, "busy_frac", "", .heading = "busy %", .factor = 100, .decimals = 1),
    COLUMN(word, row.operation, "operation", ""),
    COLUMN(text, row.mesh, "mesh", ""),
    COLUMN(word, row.along, "along", ""),
    COLUMN(count, row.groups, "groups", ""),
    COLUMN(count, sharers, "sharing_groups", "", .heading = "groups", .is_rare = true),
};

AR_ORDER(compare_lines, struct line, AR_FALLS(busy_s), AR_RISES(number))

/* Lists the links that carry messages: busiest first, then by number. */
static struct line *list_lines(const struct ar_cluster *cluster, const struct ar_link_load *loads,
                               struct ar_arena *arena, size_t *count)
{
    uint32_t links = ar_cluster_links_count(cluster);
    struct line *lines = ar_arena_alloc(arena, links, sizeof *lines);
    *count = 0;
    for (uint32_t i = 0; i < links; i++) {
        double bandwidth_Bps = ar_cluster_link_bandwidth(cluster, i);
        if (loads[i].messages_count > 0) {
            lines[(*count)++] =
                (struct line){i, loads[i], bandwidth_Bps, (double)loads[i].bytes / bandwidth_Bps};
        }
    }
    qsort(lines, *count, sizeof *lines, compare_lines);
    return lines;
}

bool link_table_write_busiest(FILE *file, const struct ar_cluster *cluster,
                              const struct ar_link_load *loads, const struct ar_row *row)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    size_t count;
    const struct line *line = list_lines(cluster, loads, &arena, &count);
    if (count == 0) {
        return false;
    }
    double frac = line->busy_s / row->allreduce_s;
    fprintf(file,
            "Busiest link: %s, %s in %" PRIu64 " message%s, busy for %s, %.1f %% of the %stime%s;"
            "\n  up to %" PRIu32 " flow%s at once on it",
            AR_SHOW_LINK(cluster, line->number), AR_SHOW_BYTES(line->load.bytes),
            line->load.messages_count, line->load.messages_count == 1 ? "" : "s",
            AR_SHOW_SECONDS(line->busy_s), 100 * frac, row->exact == 0 ? "estimated " : "",
            frac >= BOTTLENECK_FRAC ? ": the bottleneck" : "", line->load.flows_max,
            line->load.flows_max == 1 ? "" : "s");
    if (row->groups != AR_NO_COUNT && row->groups > 1) {
        fprintf(file, ", of %" PRIu32 " group%s", line->load.groups_max,
                line->load.groups_max == 1 ? "" : "s");
    }
    return true;
}

void link_table_write(FILE *file, const struct ar_view *view, const struct ar_cluster *cluster,
                      const struct ar_link_load *loads, const struct ar_row *row, uint64_t top,
                      struct ar_arena *arena)
{
    struct ar_records records;
    struct shown_line *shown = ar_arena_alloc(arena, 1, sizeof *shown);
    char name[NAME_SIZE];
    size_t count;
    const struct line *lines = list_lines(cluster, loads, arena, &count);
    bool is_table = view->format == AR_FORMAT_TABLE;
    if (is_table && !link_table_write_busiest(file, cluster, loads, row)) {
        fputs("There are no messages: one GPU has nothing to send.\n", file);
        return;
    }
    fputs(is_table ? "\n\n" : "", file);
    ar_records_begin(&records, file, view, AR_COLUMNS(columns));
    for (size_t i = 0; i < count && (!is_table || i < top); i++) {
        ar_cluster_link_name(cluster, lines[i].number, name, sizeof name);
        *shown = (struct shown_line){
            .line = lines[i],
            .link = name,
            .busy_frac = lines[i].busy_s / row->allreduce_s,
            .sharers = row->groups != AR_NO_COUNT ? lines[i].load.groups_max : AR_NO_COUNT,
            .row = *row};
        ar_records_add(&records, shown);
    }
    ar_records_end(&records);
    if (is_table && count > top) {
        fprintf(file, "and %zu more (--top, or --format csv)\n", count - (size_t)top);
    }
}
