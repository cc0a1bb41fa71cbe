/** \file osu.h
 * The text of the OSU micro-benchmarks, line by line. See README.md for the versions.
 */
#ifndef AR_LOGS_OSU_H
#define AR_LOGS_OSU_H

#include "ar_log.h"
#include "spans.h"

enum { AR_OSU_COLUMNS_MAX = 16 };

enum ar_osu_column {
    AR_OSU_SKIPPED,
    AR_OSU_SIZE,
    AR_OSU_TIME,
    AR_OSU_MIN,
    AR_OSU_REPETITIONS,
    AR_OSU_RATE,
    AR_OSU_VALIDATION,
};

struct ar_osu_text {
    struct ar_logs *logs;
    size_t place; /**< of the run in logs->runs */
    bool is_open;
    char datatype[AR_LOG_WORD];
    enum ar_osu_column columns[AR_OSU_COLUMNS_MAX];
    size_t columns_count; /**< 0: no header yet */
    uint64_t header_line;
};

/** Whether a line is the title of a benchmark (`# OSU MPI-CUDA Allreduce Latency Test v7.3`). */
bool ar_osu_is_title(struct ar_span line);

/** Takes one line; a title begins a run. */
enum ar_status ar_osu_line(struct ar_osu_text *text, struct ar_span line, uint64_t number,
                           struct ar_error *err);

#endif
