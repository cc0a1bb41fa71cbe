/** \file nccl_text.h
 * The text of nccl-tests, line by line. See README.md for the dialects.
 */
#ifndef AR_LOGS_NCCL_TEXT_H
#define AR_LOGS_NCCL_TEXT_H

#include "column.h"
#include "nccl_run.h"

/* --- single lines of nccl-tests, NCCL and launchers: no state ----------------------------------
 */

/** The line behind what mpirun, srun, Hydra, Ray and container logs put before it, trimmed. */
char *ar_strip_prefix(char *line);

/** Finds a message of NCCL (`host:pid:tid [0] NCCL INFO ...`) and cuts the line before it and its
 * host; `glued` is the word that the host is joined to, with the host. NULL without a message. */
char *ar_cut_message(char **line, char **glued);

/** `Rank 0 Group 0 Pid 1 on host device 0 [0x1a] Tesla V100` in all spellings; `line` of the rank
 * is not set. */
bool ar_parse_rank(char *line, uint64_t *number, struct ar_nccl_rank *rank, const char **gpu);

/** Sizes of a run, from the `nThread` line. */
struct ar_nccl_sweep {
    uint64_t threads, gpus, max_bytes, step;
    bool is_factor;
    uint64_t line; /**< 0: not said */
};

/** `line` of the sweep is not set. */
bool ar_parse_sweep(char *line, struct ar_nccl_sweep *sweep);

/* --- a text, line by line ------------------------------------------------------------------------
 */

enum ar_nccl_phase { AR_NCCL_NONE, AR_NCCL_HEAD, AR_NCCL_TABLE, AR_NCCL_CLOSED };

struct ar_nccl_text {
    struct ar_logs *logs;
    enum ar_nccl_phase phase;
    struct ar_nccl_run run;
    struct ar_log_table table;
    struct ar_nccl_sweep sweep;
    enum ar_log_collective hint; /**< of a command line seen before the run */
    uint64_t failure_line;       /**< a test that says it failed; 0: none */
    char library[AR_LOG_TEXT];
    const char *words[AR_TABLE_COLUMNS_MAX]; /**< the beginning of a row that is not complete yet */
    size_t words_count;
    uint64_t row_line;
};

/** Whether a line begins a run of nccl-tests. */
bool ar_nccl_is_head(char *line);

/** Takes one line without the prefix of a launcher, and changes it. */
enum ar_status ar_nccl_text_line(struct ar_nccl_text *text, char *line, uint64_t number,
                                 struct ar_error *err);

/** Ends the run that is open, if any. `is_followed`: another run begins here. */
enum ar_status ar_nccl_text_end(struct ar_nccl_text *text, bool is_followed, struct ar_error *err);

#endif
