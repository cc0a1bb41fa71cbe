#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nccl_lines.h"

static const char *const column_names[] = {
    "",     "size",    "count", "type",  "redop", "root",
    "time", "cputime", "algbw", "busbw", "error", "#wrong",
};

struct target {
    struct ar_log_row *row;
    struct ar_nccl_extra *extra;
};

static bool is_absent(const char *word)
{
    return strcmp(word, "N/A") == 0 || strcmp(word, "n/a") == 0;
}

/* Times in us, bandwidths in GB/s. */
static void set_number(struct target target, enum ar_nccl_column column, bool is_in_place,
                       struct ar_printed printed)
{
    struct ar_log_timing *timing = is_in_place ? &target.row->in_place : &target.row->out_of_place;
    struct ar_row_digits *digits = &target.extra->digits[is_in_place];
    if (column == AR_COLUMN_TIME) {
        digits->time = ar_printed_times(printed, 1e-6);
        timing->time_s = digits->time.value;
    } else if (column == AR_COLUMN_ALGBW) {
        digits->algbw = ar_printed_times(printed, 1e9);
        timing->algbw_Bps = digits->algbw.value;
    } else if (column == AR_COLUMN_BUSBW) {
        digits->busbw = ar_printed_times(printed, 1e9);
        timing->busbw_Bps = digits->busbw.value;
    } else if (column == AR_COLUMN_WRONG && printed.value >= 0 && printed.value < 9e18) {
        timing->wrong = (int64_t)printed.value;
    }
}

/* False when the word is not what the column holds. */
static bool set_word(struct target target, enum ar_nccl_column column, bool is_in_place,
                     const char *word)
{
    struct ar_span span = {word, strlen(word)};
    struct ar_printed printed;
    switch (column) {
    case AR_COLUMN_SKIPPED:
    case AR_COLUMN_CPU_TIME:
    case AR_COLUMN_ERROR:
        return true;
    case AR_COLUMN_SIZE:
        return ar_span_count(span, &target.row->payload_bytes);
    case AR_COLUMN_COUNT:
        return ar_span_count(span, &target.row->count);
    case AR_COLUMN_TYPE:
        ar_span_copy(span, target.row->datatype, AR_LOG_WORD);
        return true;
    case AR_COLUMN_REDOP:
        ar_span_copy(span, target.row->redop, AR_LOG_WORD);
        return true;
    default:
        if (is_absent(word)) {
            return true;
        }
        if (!ar_span_number(span, &printed.value, &printed.half_digit)) {
            return false;
        }
        if (column == AR_COLUMN_ROOT && fabs(printed.value) < 1e9) {
            target.extra->root = (int64_t)printed.value;
        }
        set_number(target, column, is_in_place, printed);
        return true;
    }
}

enum ar_status ar_parse_row(const char *path, const struct ar_nccl_header *header,
                            const struct ar_nccl_words *words, struct ar_log_row *row,
                            struct ar_nccl_extra *extra, struct ar_error *err)
{
    struct ar_log_row parsed = ar_log_empty_row(row->line);
    const struct ar_printed none = {NAN, NAN};
    struct ar_nccl_extra more = {{{none, none, none}, {none, none, none}}, INT64_MIN};
    struct target target = {&parsed, &more};
    for (size_t i = 0; i < header->needed; i++) {
        if (header->columns[i] == AR_COLUMN_CPU_TIME) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": column \"cputime\" (-C 1) is the time to launch; "
                                "expected column \"time\"",
                                path, header->line);
        }
        if (!set_word(target, header->columns[i], header->is_in_place[i], words->text[i])) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": column \"%s\" is \"%s\"; expected a number or N/A",
                                path, row->line, column_names[header->columns[i]], words->text[i]);
        }
    }
    *row = parsed;
    *extra = more;
    return AR_OK;
}
