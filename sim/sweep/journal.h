/** \file journal.h
 * Where the rows of a sweep are kept as they come: a log written ahead of the output, append-only,
 * from which a sweep that was stopped goes on.
 *
 * `DIR/sweep.journal` begins with a line that says which sweep it is of:
 *
 *     allreckon sweep journal 1: version V, columns HASH, sweep HASH, points COUNT
 *
 * Every row is one line, appended by one write():
 *
 *     POINT ok|failed CHECKSUM ROW
 *
 * with the row's CSV line, made one line whatever its cells hold: a newline in it is the control
 * character RS. The last line of a point counts. A line is with the operating system as soon as its
 * point is done, so it survives the end of the program, however it ends; fdatasync() brings the
 * lines to the disk every few seconds and when the sweep stops, so a power failure costs the rows
 * of some seconds. A process that has the journal open holds a lock on it. Without a directory the
 * journal is a temporary file without a name.
 */
#ifndef AR_JOURNAL_H
#define AR_JOURNAL_H

#include "ar_arena.h"
#include "ar_row.h"

enum { JOURNAL_PATH = 3840 };

/** Quotes take two bytes; numbers at most three times those they had. */
enum { JOURNAL_LINE_MAX = 3 * sizeof(struct ar_row) + 64 };

struct journal {
    FILE *file;              /**< NULL: it could not be had */
    char path[JOURNAL_PATH]; /**< "" if it has no name */
    uint64_t size;
    size_t cut_bytes; /**< of a last line that was cut short, and is dropped */
    uint64_t *places; /**< of each point's line; 0: none yet */
    uint8_t *is_ok;   /**< of each point */
    size_t points_count;
    size_t rows_count; /**< points with a row */
    size_t failed_count;
    double synced_s;
};

struct journal_request {
    const char *directory; /**< NULL: a journal without a name */
    uint64_t fingerprint;  /**< same for same rows */
    size_t points_count;
    bool resumes; /**< what an earlier run left is read, */
    bool forces;  /**< or gives way */
};

/** Opens the journal of a sweep. What an earlier run left is refused (AR_USAGE) unless it has no
 * rows, is to be read or to give way. A journal of another sweep or
 * another version, or one that is damaged before its last line, is AR_BAD_DATA and stays as it is;
 * a last line that was cut short is dropped. What is kept of the rows lies in the arena. Closed
 * with journal_close(), also after a failure. */
enum ar_status journal_open(const struct journal_request *request, struct ar_arena *arena,
                            struct journal *journal, struct ar_error *err);

/** Writes the line of a row, with its newline; returns its length. */
uint32_t journal_format(uint32_t point, const struct ar_row *row, char line[JOURNAL_LINE_MAX]);

/** Appends such a line. On failure (AR_IO) the journal ends with the last whole line. */
enum ar_status journal_add(struct journal *journal, const char *line, size_t size,
                           struct ar_error *err);

/** Whether a point has a row that is no failure. */
bool journal_has_row(const struct journal *journal, uint32_t point);

/** Takes the name of a journal away whose rows are in files; they can still be read. */
void journal_unlink(struct journal *journal);

/** Reads the row of a point, as `text`, a CSV line without its newline that points into `line`, or
 * taken apart. */
enum ar_status journal_read(const struct journal *journal, uint32_t point,
                            char line[JOURNAL_LINE_MAX], const char **text, struct ar_error *err);
enum ar_status journal_read_row(const struct journal *journal, uint32_t point, struct ar_row *row,
                                struct ar_error *err);

/** Reports that a sweep was interrupted, and what is left of its points (layouts). */
enum ar_status journal_report_interrupt(const struct journal *journal, const char *what,
                                        struct ar_error *err);

/** Closes the file and removes it if it is of no more use: `is_finished`, or it has no rows. */
void journal_close(struct journal *journal, bool is_finished);

#endif
