/** \file nccl_lines.h
 * What single lines of nccl-tests, NCCL and launchers say; no state.
 */
#ifndef AR_LOGS_NCCL_LINES_H
#define AR_LOGS_NCCL_LINES_H

#include "nccl_run.h"

/** Removes what mpirun, srun, Hydra, Ray and container logs put before a line. */
struct ar_span ar_strip_prefix(struct ar_span line);

/** Splits a line at a message of NCCL (`host:pid:tid [0] NCCL INFO ...`). `head` is what stands
 * before it, without the host; `glued` the word to which the host is joined, with the host. Without
 * a message `head` is the line, and the answer false. */
bool ar_split_message(struct ar_span line, struct ar_span *head, struct ar_span *glued,
                      struct ar_span *message);

/** `Rank 0 Group 0 Pid 1 on host device 0 [0x1a] Tesla V100` in all spellings. */
bool ar_parse_rank(struct ar_span line, struct ar_nccl_rank *rank, char gpu[AR_LOG_TEXT]);

/** Sizes of a run, from the `nThread` line. */
struct ar_nccl_sweep {
    uint64_t threads, gpus, max_bytes, step;
    bool is_factor;
    uint64_t line; /**< 0: not said */
};

bool ar_parse_sweep(struct ar_span line, struct ar_nccl_sweep *sweep);

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

/** Makes a row of its words. */
enum ar_status ar_parse_row(const char *path, const struct ar_nccl_header *header,
                            const struct ar_nccl_words *words, struct ar_log_row *row,
                            struct ar_nccl_extra *extra, struct ar_error *err);

#endif
