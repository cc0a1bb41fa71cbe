#include "csv_line.h"

#include <string.h>

enum ar_status ar_csv_line_begin(struct ar_csv_line *line, struct ar_error *err)
{
    memset(line, 0, sizeof *line);
    return csv_init(&line->parser, CSV_STRICT | CSV_STRICT_FINI) == 0
               ? AR_OK
               : ar_error_no_memory(err, "a CSV parser");
}

void ar_csv_line_end(struct ar_csv_line *line)
{
    csv_free(&line->parser);
}

static void take_cell(void *text, size_t bytes, void *context)
{
    struct ar_csv_line *line = context;
    if (line->cells_count < AR_CSV_CELLS_MAX) {
        char *copy = line->text + line->text_bytes;
        if (bytes > 0) {
            memcpy(copy, text, bytes);
        }
        line->cells[line->cells_count] = ar_span_trim((struct ar_span){copy, bytes});
        line->text_bytes += bytes;
    }
    line->cells_count++;
}

/* Cells have no more bytes than the line they come from, so `text` has room for them. */
enum ar_status ar_csv_line_split(struct ar_csv_line *line, const char *where, struct ar_span text,
                                 struct ar_error *err)
{
    line->text_bytes = line->cells_count = 0;
    if (text.bytes > AR_CSV_LINE_BYTES) {
        return ar_error_set(err, AR_BAD_DATA, "%s: line of %zu bytes; expected at most %d", where,
                            text.bytes, AR_CSV_LINE_BYTES);
    }
    bool is_whole =
        csv_parse(&line->parser, text.at, text.bytes, take_cell, NULL, line) == text.bytes &&
        csv_fini(&line->parser, take_cell, NULL, line) == 0;
    if (is_whole) {
        return AR_OK;
    }
    if (csv_error(&line->parser) == CSV_ENOMEM) {
        return ar_error_no_memory(err, where);
    }
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: a quote is out of place or not closed; expected cells separated by "
                        "commas",
                        where);
}

size_t ar_csv_find(const struct ar_csv_line *line, const char *text)
{
    size_t stored = line->cells_count < AR_CSV_CELLS_MAX ? line->cells_count : AR_CSV_CELLS_MAX;
    for (size_t i = 0; i < stored; i++) {
        if (ar_span_is(line->cells[i], text)) {
            return i;
        }
    }
    return SIZE_MAX;
}
