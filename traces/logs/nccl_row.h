/** \file nccl_row.h
 * The table of nccl-tests: its header, and rows that may come in pieces.
 */
#ifndef AR_LOGS_NCCL_ROW_H
#define AR_LOGS_NCCL_ROW_H

#include "nccl_run.h"
#include "spans.h"

enum ar_nccl_column {
    AR_COLUMN_SKIPPED,
    AR_COLUMN_SIZE,
    AR_COLUMN_COUNT,
    AR_COLUMN_TYPE,
    AR_COLUMN_REDOP,
    AR_COLUMN_ROOT,
    AR_COLUMN_TIME,
    AR_COLUMN_CPU_TIME,
    AR_COLUMN_ALGBW,
    AR_COLUMN_BUSBW,
    AR_COLUMN_ERROR,
    AR_COLUMN_WRONG,
};

enum { AR_NCCL_COLUMNS_MAX = 40, AR_NCCL_WORD = 40 };

struct ar_nccl_header {
    enum ar_nccl_column columns[AR_NCCL_COLUMNS_MAX];
    bool is_in_place[AR_NCCL_COLUMNS_MAX];
    size_t needed; /**< words that a row must have at least */
    uint64_t line;
};

/** The line of column names. `line` is not set. */
bool ar_parse_header(struct ar_span line, struct ar_nccl_header *header);

/** The words of a row, copied. */
struct ar_nccl_words {
    char text[AR_NCCL_COLUMNS_MAX][AR_NCCL_WORD];
    size_t count;
};

/** Appends the words of a line. */
void ar_words_append(struct ar_nccl_words *words, struct ar_span line);

/** Puts `none` in the place of a blank operation: all-to-all of old versions prints nothing there.
 */
void ar_words_fill_operation(struct ar_nccl_words *words, const struct ar_nccl_header *header);

/** Appends the part of `glued` that is the value of a column, before the host joined to it. */
void ar_words_append_glued(struct ar_nccl_words *words, enum ar_nccl_column column,
                           struct ar_span glued);

/** Whether a line looks like the beginning of a row: two counts, then a word. */
bool ar_is_row_start(struct ar_span line);

/** Whether a line has only numbers and `N/A`, like the rest of a row that was interrupted. */
bool ar_is_row_rest(struct ar_span line);

/** Reads words into a row and an extra with nothing known. */
enum ar_status ar_parse_row(const char *path, const struct ar_nccl_header *header,
                            const struct ar_nccl_words *words, struct ar_log_row *row,
                            struct ar_nccl_extra *extra, struct ar_error *err);

#endif
