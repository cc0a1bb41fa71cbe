/** \file osu.h
 * The text of the OSU micro-benchmarks, line by line. See README.md for the versions.
 */
#ifndef AR_LOGS_OSU_H
#define AR_LOGS_OSU_H

#include "column.h"

struct ar_osu_text {
    struct ar_logs *logs;
    bool is_open;
    char datatype[AR_LOG_WORD];
    struct ar_log_table table;
    size_t validation; /**< words before that of `Pass` or `Fail`; 0: none */
};

/** Whether a line is the title of a benchmark (`# OSU MPI-CUDA Allreduce Latency Test v7.3`). */
bool ar_osu_is_title(char *line);

/** Takes one line, and changes it; a title begins a run. */
enum ar_status ar_osu_line(struct ar_osu_text *text, char *line, uint64_t number,
                           struct ar_error *err);

#endif
