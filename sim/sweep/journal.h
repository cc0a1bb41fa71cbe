/** \file journal.h
 * Where the rows of a sweep are kept as they come: in memory and, if there is a directory, in a log
 * from which a sweep that was stopped goes on.
 *
 * `DIR/sweep.journal` is CSV: a comment that says which sweep it is of, a header, and a line for
 * each row, behind the number of its point. The last line of a point counts. A line is appended by
 * one write() when its point is done, so it survives the end of the program, however it ends. A
 * process that has the journal open holds a lock on it.
 */
#pragma once

#include "ar_arena.h"
#include "ar_row.h"

/** Quotes take two bytes; numbers at most three times those they had. */
enum { JOURNAL_LINE_MAX = 3 * sizeof(struct ar_row) + 64 };

struct journal {
    FILE *file; /**< NULL: rows are in memory alone */
    const char *path;
    struct ar_arena *arena; /**< of what is kept */
    size_t points_count;
    const char **rows;        /**< [point]: a line of CSV; NULL: none yet */
    enum ar_status *statuses; /**< [point]: how its row ended; until then AR_INTERNAL */
    size_t cut_bytes;         /**< of a last line that was damaged, and is dropped */
};

struct journal_request {
    const char *directory; /**< NULL: there is no file */
    const char *mark;      /**< same for same rows */
    size_t points_count;
    bool resumes; /**< what an earlier run left is read, */
    bool forces;  /**< or gives way */
};

/** Opens the journal of a sweep. What an earlier run left is refused (AR_USAGE) unless it has no
 * rows, is to be read or to give way. A journal of another sweep, or one that is damaged before its
 * last line, is AR_BAD_DATA and stays. Closed with journal_close(), also after a failure. */
enum ar_status journal_open(const struct journal_request *request, struct ar_arena *arena,
                            struct journal *journal, struct ar_error *err);

/** Writes a row as a line, with its newline; returns its length. */
uint32_t journal_format(const struct ar_row *row, char line[JOURNAL_LINE_MAX]);

/** Keeps such a line. On failure (AR_IO) the journal may end with a part of it. */
enum ar_status journal_add(struct journal *journal, uint32_t point, const char *line,
                           enum ar_status how, struct ar_error *err);

/** Reads the row of a point that has one. */
void journal_read_row(const struct journal *journal, uint32_t point, struct ar_row *row);

/** How many points have a row. */
size_t journal_rows(const struct journal *journal);

/** Closes the file; removes it if `is_finished` or without rows. Rows stay in memory. */
void journal_close(struct journal *journal, bool is_finished);
