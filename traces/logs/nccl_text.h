/** \file nccl_text.h
 * The text of nccl-tests, line by line. See README.md for the dialects.
 */
#ifndef AR_LOGS_NCCL_TEXT_H
#define AR_LOGS_NCCL_TEXT_H

#include "nccl_lines.h"
#include "nccl_row.h"
#include "nccl_run.h"

enum ar_nccl_phase { AR_NCCL_NONE, AR_NCCL_HEAD, AR_NCCL_TABLE, AR_NCCL_CLOSED };

struct ar_nccl_text {
    struct ar_logs *logs;
    enum ar_nccl_phase phase;
    struct ar_nccl_run run;
    struct ar_nccl_header header;
    struct ar_nccl_sweep sweep;
    enum ar_log_collective hint; /**< of a command line seen before the run */
    uint64_t failure_line;       /**< a test that says it failed; 0: none */
    char library[AR_LOG_TEXT];
    uint64_t nranks, nranks_line;
    struct ar_nccl_words row; /**< the beginning of a row that is not complete yet */
    uint64_t row_line;
};

/** Whether a line begins a run of nccl-tests. */
bool ar_nccl_is_head(struct ar_span line);

/** Takes one line without the prefix of a launcher. */
enum ar_status ar_nccl_text_line(struct ar_nccl_text *text, struct ar_span line, uint64_t number,
                                 struct ar_error *err);

/** Ends the run that is open, if any. `is_followed`: another run begins here. */
enum ar_status ar_nccl_text_end(struct ar_nccl_text *text, bool is_followed, struct ar_error *err);

#endif
