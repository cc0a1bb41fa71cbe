#include "build.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool ar_array_reserve(void **array, size_t *capacity, size_t count, size_t element_bytes)
{
    size_t wanted = *capacity == 0 ? 16 : *capacity;
    while (wanted < count) {
        wanted *= 2;
    }
    if (wanted == *capacity) {
        return true;
    }
    char *grown = realloc(*array, wanted * element_bytes);
    if (grown == NULL) {
        return false;
    }
    memset(grown + *capacity * element_bytes, 0, (wanted - *capacity) * element_bytes);
    *array = grown;
    *capacity = wanted;
    return true;
}

enum ar_status ar_logs_add_run(struct ar_logs *logs, enum ar_log_format format, uint64_t line,
                               struct ar_log **run, struct ar_error *err)
{
    if (!ar_array_reserve((void **)&logs->runs, &logs->runs_capacity, logs->runs_count + 1,
                          sizeof *logs->runs)) {
        return ar_error_no_memory(err, logs->path);
    }
    *run = &logs->runs[logs->runs_count++];
    **run = (struct ar_log){
        .format = format, .path = logs->path, .first_line = line, .last_line = line};
    return AR_OK;
}

struct ar_log_row ar_log_empty_row(uint64_t line)
{
    const struct ar_log_timing none = {NAN, NAN, NAN, -1};
    return (struct ar_log_row){.line = line,
                               .out_of_place = none,
                               .in_place = none,
                               .time_min_s = NAN,
                               .time_p10_s = NAN,
                               .time_p90_s = NAN};
}

static bool is_bad_time(double time_s)
{
    return !isnan(time_s) && !(time_s > 0);
}

enum ar_status ar_log_add_row(struct ar_log *run, const struct ar_log_row *row,
                              struct ar_error *err)
{
    double out_s = row->out_of_place.time_s, in_s = row->in_place.time_s;
    if (is_bad_time(out_s) || is_bad_time(in_s)) {
        bool is_out = is_bad_time(out_s);
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": %s time is %g us; expected a time above zero",
                            run->path, row->line, is_out ? "out-of-place" : "in-place",
                            (is_out ? out_s : in_s) * 1e6);
    }
    if (isnan(out_s) && isnan(in_s)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": row without a time; expected an out-of-place or "
                            "in-place time above zero",
                            run->path, row->line);
    }
    if (!ar_array_reserve((void **)&run->rows, &run->rows_capacity, run->rows_count + 1,
                          sizeof *run->rows)) {
        return ar_error_no_memory(err, run->path);
    }
    run->rows[run->rows_count++] = *row;
    run->last_line = row->line > run->last_line ? row->line : run->last_line;
    return AR_OK;
}
