#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ar_log.h"

bool ar_log_is_pair(const struct ar_log *run)
{
    return run->collective == AR_LOG_LATENCY || run->collective == AR_LOG_BANDWIDTH;
}

enum ar_status ar_log_refuse(const struct ar_log *run, uint64_t line, struct ar_error *err,
                             const char *format, ...)
{
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return ar_error_set(err, AR_BAD_DATA, "%.180s:%" PRIu64 ": %s", run->path, line, what);
}

/* Different sizes above zero, counted up to `max`. */
static size_t count_sizes(const struct ar_log *run, size_t max)
{
    uint64_t last = 0, next = 0;
    size_t count = 0;
    while (count < max && next != UINT64_MAX) {
        next = UINT64_MAX;
        for (size_t i = 0; i < run->rows_count; i++) {
            uint64_t size = run->rows[i].payload_bytes;
            next = size > last && size < next ? size : next;
        }
        count += next != UINT64_MAX;
        last = next;
    }
    return count;
}

static enum ar_status check_rows(const struct ar_log *run, struct ar_error *err)
{
    for (size_t i = 0; i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        double wrong = fmax(row->out_of_place.wrong, row->in_place.wrong);
        if (wrong > 0) {
            return ar_log_refuse(run, row->line, err,
                                 "%.0f elements came out wrong; expected a run with right results",
                                 wrong);
        }
        if (strcmp(row->datatype, run->rows[0].datatype) != 0 ||
            strcmp(row->redop, run->rows[0].redop) != 0) {
            return ar_log_refuse(run, row->line, err,
                                 "%s %s in a table that begins with %s %s (line %" PRIu64
                                 "); expected one datatype and operation",
                                 row->datatype, row->redop, run->rows[0].datatype,
                                 run->rows[0].redop, run->rows[0].line);
        }
    }
    return AR_OK;
}

static enum ar_status check_run(const struct ar_log *run, enum ar_log_collective collective,
                                struct ar_error *err)
{
    const char *wanted = ar_log_collective_name(collective);
    if (run->rows_count == 0) {
        return ar_log_refuse(run, run->first_line, err,
                             "a run without rows; expected a table of %s", wanted);
    }
    if (run->collective != collective) {
        const char *found = run->collective == AR_LOG_OTHER && run->collective_name[0] != '\0'
                                ? run->collective_name
                                : ar_log_collective_name(run->collective);
        return ar_log_refuse(run, run->first_line, err, "a run of %s; expected %s", found, wanted);
    }
    if (run->ranks == 0) {
        return ar_log_refuse(run, run->first_line, err,
                             "the log does not say how many ranks took part; expected it to");
    }
    if (run->ranks == 1) {
        return ar_log_refuse(run, run->first_line, err,
                             "a run of 1 rank communicates nothing; expected 2 or more (if several "
                             "processes were started, nccl-tests was built without MPI=1)");
    }
    if (run->out_of_bounds > 0) {
        return ar_log_refuse(run, run->last_line, err,
                             "%" PRIu64 " values out of bounds; expected a run with right results",
                             run->out_of_bounds);
    }
    return AR_OK;
}

enum ar_status ar_log_check(const struct ar_log *run, enum ar_log_collective collective,
                            size_t sizes_min, struct ar_error *err)
{
    AR_TRY(check_run(run, collective, err));
    AR_TRY(check_rows(run, err));
    size_t sizes_count = count_sizes(run, sizes_min);
    return sizes_count >= sizes_min
               ? AR_OK
               : ar_log_refuse(run, run->first_line, err,
                               "%zu different sizes above zero in %zu rows; expected at least %zu",
                               sizes_count, run->rows_count, sizes_min);
}
