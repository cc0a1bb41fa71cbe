#include "osu.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "collective.h"

bool ar_osu_is_title(struct ar_span line)
{
    struct ar_span title = ar_span_unmarked(line);
    return ar_span_starts(title, "OSU ") && ar_span_has(title, " Test v");
}

/* `OSU MPI-CUDA Allreduce Latency Test v7.3`: library, benchmark, version. */
static void take_title(struct ar_log *log, struct ar_span title)
{
    size_t test = ar_span_find(title, " Test v");
    struct ar_span name = {title.at, test};
    ar_span_word(&name);
    struct ar_span library = ar_span_word(&name);
    name = ar_span_trim(name);
    struct ar_span version = ar_span_after(title, test + strlen(" Test v"));
    char word[AR_LOG_WORD];
    ar_span_copy(ar_span_word(&version), word, sizeof word);
    snprintf(log->tool, sizeof log->tool, "OSU %s", word);
    ar_span_copy(library, log->library, sizeof log->library);
    ar_span_copy(name, log->collective_name, sizeof log->collective_name);
    size_t latency = ar_span_find(name, " Latency");
    bool is_collective = latency < name.bytes;
    log->collective = ar_collective_of_name((struct ar_span){name.at, latency});
    if (ar_span_is(name, "Latency")) {
        log->collective = AR_LOG_LATENCY;
    } else if (ar_span_is(name, "Bandwidth")) {
        log->collective = AR_LOG_BANDWIDTH;
    } else if (!is_collective) {
        log->collective = AR_LOG_OTHER;
    }
    if (log->collective == AR_LOG_LATENCY || log->collective == AR_LOG_BANDWIDTH) {
        log->ranks = 2;
    }
}

static void add_column(struct ar_osu_text *text, enum ar_osu_column column)
{
    if (text->columns_count < AR_OSU_COLUMNS_MAX) {
        text->columns[text->columns_count++] = column;
    }
}

/* `Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations`: names of one or two words,
 * the unit joined or apart. */
static bool parse_header(struct ar_osu_text *text, struct ar_span line)
{
    struct ar_span rest = ar_span_unmarked(line);
    if (!ar_span_is(ar_span_word(&rest), "Size")) {
        return false;
    }
    text->columns_count = 0;
    add_column(text, AR_OSU_SIZE);
    bool is_min = false, is_other = false;
    for (struct ar_span word = ar_span_word(&rest); word.bytes > 0; word = ar_span_word(&rest)) {
        if (ar_span_is(word, "Avg")) {
            is_min = is_other = false;
        } else if (ar_span_is(word, "Min")) {
            is_min = true;
        } else if (ar_span_is(word, "Max") || ar_span_is(word, "Tail")) {
            is_other = true;
        } else if (ar_span_starts(word, "Latency") || ar_span_starts(word, "Lat(")) {
            enum ar_osu_column column = is_min ? AR_OSU_MIN : AR_OSU_TIME;
            add_column(text, is_other ? AR_OSU_SKIPPED : column);
            is_min = is_other = false;
        } else if (ar_span_starts(word, "Bandwidth")) {
            add_column(text, AR_OSU_RATE);
        } else if (ar_span_is(word, "Iterations")) {
            add_column(text, AR_OSU_REPETITIONS);
        } else if (ar_span_is(word, "Validation")) {
            add_column(text, AR_OSU_VALIDATION);
        } else if (word.at[0] != '(') {
            add_column(text, AR_OSU_SKIPPED);
        }
    }
    return true;
}

/* Other benchmarks, of message rates say, have other columns; their runs stay without rows. */
static bool has_measure(const struct ar_osu_text *text)
{
    for (size_t i = 0; i < text->columns_count; i++) {
        if (text->columns[i] == AR_OSU_TIME || text->columns[i] == AR_OSU_RATE) {
            return true;
        }
    }
    return false;
}

static bool set_word(enum ar_osu_column column, struct ar_span word, struct ar_log_row *row)
{
    double value, half_digit;
    switch (column) {
    case AR_OSU_SKIPPED:
        return true;
    case AR_OSU_SIZE:
        return ar_span_count(word, &row->payload_bytes);
    case AR_OSU_REPETITIONS:
        return ar_span_count(word, &row->repetitions);
    case AR_OSU_VALIDATION:
        row->out_of_place.wrong = ar_span_is(word, "Pass") ? 0 : 1;
        return true;
    case AR_OSU_TIME:
    case AR_OSU_MIN:
    case AR_OSU_RATE:
        break;
    }
    if (!ar_span_number(word, &value, &half_digit)) {
        return false;
    }
    if (column == AR_OSU_TIME) {
        row->out_of_place.time_s = value * 1e-6;
    } else if (column == AR_OSU_MIN) {
        row->time_min_s = value * 1e-6;
    } else {
        row->out_of_place.algbw_Bps = value * 1e6; /* its MB is 1e6 bytes */
    }
    return true;
}

/* osu_bw prints a rate of many messages in flight; a message's share of the time follows. */
static void derive_time(struct ar_log_row *row)
{
    if (isnan(row->out_of_place.time_s) && !isnan(row->out_of_place.algbw_Bps)) {
        double rate_Bps = row->out_of_place.algbw_Bps;
        row->out_of_place.time_s = rate_Bps > 0 ? (double)row->payload_bytes / rate_Bps : 0;
    }
}

static enum ar_status take_row(struct ar_osu_text *text, const struct ar_span *words, size_t count,
                               uint64_t number, struct ar_error *err)
{
    struct ar_log *log = &text->logs->runs[text->place];
    struct ar_log_row row = ar_log_empty_row(number);
    char quote[AR_QUOTE];
    if (count != text->columns_count) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": %zu columns; expected %zu as in the header (line "
                            "%" PRIu64 "); cut off, or mixed with other output",
                            log->path, number, count, text->columns_count, text->header_line);
    }
    for (size_t i = 0; i < count; i++) {
        if (!set_word(text->columns[i], words[i], &row)) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": column %zu is \"%s\"; expected a number",
                                log->path, number, i + 1, ar_span_quote(words[i], quote));
        }
    }
    derive_time(&row);
    memcpy(row.datatype, text->datatype, sizeof row.datatype);
    return ar_log_add_row(log, &row, err);
}

/* A row begins with a size; other lines are messages of MPI. */
static bool is_row(const struct ar_span *words, size_t count)
{
    uint64_t size;
    double value, half_digit;
    return count >= 1 && ar_span_count(words[0], &size) &&
           (count == 1 || ar_span_number(words[1], &value, &half_digit));
}

/* `Datatype: MPI_CHAR.` comes before or after the header, hence also for rows that follow. */
static bool take_datatype(struct ar_osu_text *text, struct ar_span line)
{
    struct ar_span rest = ar_span_unmarked(line);
    if (!ar_span_is(ar_span_word(&rest), "Datatype:")) {
        return false;
    }
    ar_span_copy(ar_span_word(&rest), text->datatype, sizeof text->datatype);
    text->datatype[strcspn(text->datatype, ".")] = '\0';
    return true;
}

enum ar_status ar_osu_line(struct ar_osu_text *text, struct ar_span line, uint64_t number,
                           struct ar_error *err)
{
    if (ar_osu_is_title(line)) {
        struct ar_log *log;
        AR_TRY(ar_logs_add_run(text->logs, AR_LOG_OSU, number, &log, err));
        take_title(log, ar_span_unmarked(line));
        *text = (struct ar_osu_text){
            .logs = text->logs, .place = text->logs->runs_count - 1, .is_open = true};
        return AR_OK;
    }
    if (!text->is_open || take_datatype(text, line)) {
        return AR_OK;
    }
    struct ar_span words[AR_OSU_COLUMNS_MAX];
    size_t count = ar_span_words(line, words, AR_OSU_COLUMNS_MAX);
    if (parse_header(text, line)) {
        text->header_line = number;
        text->columns_count = has_measure(text) ? text->columns_count : 0;
    } else if (text->columns_count > 0 && is_row(words, count)) {
        return take_row(text, words, count, number, err);
    }
    return AR_OK;
}
