/** \file journal_lines.h
 * The text of a journal (journal.h): its header, its lines, reading it through.
 */
#ifndef AR_JOURNAL_LINES_H
#define AR_JOURNAL_LINES_H

#include "journal.h"

enum { JOURNAL_HEADER_MAX = 256 };

/** A row's line, taken apart; the text is its CSV line and points into it. */
struct journal_line {
    uint32_t point;
    bool is_ok;
    const char *text;
};

/** Writes the header of a sweep's journal, with its newline. */
void journal_header(const struct space *space, char header[JOURNAL_HEADER_MAX]);

/** Takes a line of so many bytes apart, its newline included, in place; false if it is damaged. */
bool journal_parse(char *line, size_t size, struct journal_line *found);

/** Keeps in mind where the row of a point is. */
void journal_note(struct journal *journal, uint32_t point, bool is_ok, uint64_t place);

/** Counts the lines behind the first one; a part of a line counts too. */
enum ar_status journal_count_rows(const struct journal *journal, size_t *rows,
                                  struct ar_error *err);

/** Reads all rows; see journal_open(). `size` becomes that of the whole lines. */
enum ar_status journal_scan(struct journal *journal, const char *header, size_t *cut_bytes,
                            struct ar_error *err);

#endif
