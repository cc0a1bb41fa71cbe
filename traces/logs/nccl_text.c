#include "nccl_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "build.h"

bool ar_nccl_is_head(struct ar_span line)
{
    struct ar_nccl_sweep sweep;
    struct ar_nccl_header header;
    struct ar_nccl_rank rank;
    char gpu[AR_LOG_TEXT];
    return ar_span_has(line, "nccl-tests version ") ||
           ar_span_has(line, "Collective test starting:") || ar_parse_sweep(line, &sweep) ||
           ar_parse_rank(line, &rank, gpu) || ar_parse_header(line, &header);
}

static struct ar_log *log_of(const struct ar_nccl_text *text)
{
    return &text->logs->runs[text->run.place];
}

static bool has_rows(const struct ar_nccl_text *text)
{
    return log_of(text)->rows_count > 0;
}

static enum ar_status row_cut_off(const struct ar_nccl_text *text, struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA,
                        "%s:%" PRIu64 ": %zu columns; expected %zu as in the header (line %" PRIu64
                        "); cut off, or mixed with other output",
                        text->logs->path, text->row_line, text->row.count, text->header.needed,
                        text->header.line);
}

/* A table that ends without closing lines before its largest size. */
static enum ar_status check_not_cut_off(const struct ar_nccl_text *text, bool is_followed,
                                        struct ar_error *err)
{
    const struct ar_nccl_sweep *sweep = &text->sweep;
    const struct ar_log *log = log_of(text);
    if (text->phase != AR_NCCL_TABLE || log->rows_count == 0 || sweep->line == 0) {
        return AR_OK;
    }
    const struct ar_log_row *last = &log->rows[log->rows_count - 1];
    double size_bytes = (double)last->payload_bytes, step = (double)sweep->step;
    double next_bytes = sweep->is_factor ? size_bytes * step : size_bytes + step;
    if (next_bytes <= size_bytes || next_bytes > (double)sweep->max_bytes) {
        return AR_OK;
    }
    return ar_error_set(
        err, AR_BAD_DATA,
        "%s:%" PRIu64 ": the table ends at %" PRIu64 " bytes without its closing "
        "lines; expected sizes up to %" PRIu64 " (line %" PRIu64 "): %s",
        text->logs->path, last->line, last->payload_bytes, sweep->max_bytes, sweep->line,
        is_followed ? "cut off, or several processes without MPI at once" : "cut off");
}

static enum ar_status finish_run(struct ar_nccl_text *text, bool is_followed, struct ar_error *err)
{
    struct ar_log *log = log_of(text);
    if (text->row.count > 0) {
        return row_cut_off(text, err);
    }
    AR_TRY(check_not_cut_off(text, is_followed, err));
    log->is_complete = text->phase == AR_NCCL_CLOSED;
    if (log->library[0] == '\0') {
        ar_copy_text(log->library, sizeof log->library, text->library);
    }
    bool is_sane = text->sweep.threads < AR_NCCL_RANKS_MAX && text->sweep.gpus < AR_NCCL_RANKS_MAX;
    text->run.ranks_per_process = is_sane ? text->sweep.threads * text->sweep.gpus : 0;
    text->run.nranks = text->nranks;
    text->run.nranks_line = text->nranks_line;
    return ar_nccl_finish(text->logs, &text->run, err);
}

enum ar_status ar_nccl_text_end(struct ar_nccl_text *text, bool is_followed, struct ar_error *err)
{
    if (text->phase == AR_NCCL_NONE) {
        return AR_OK;
    }
    AR_TRY(finish_run(text, is_followed, err));
    text->phase = AR_NCCL_NONE;
    text->sweep = (struct ar_nccl_sweep){.line = 0};
    text->failure_line = text->nranks = 0;
    text->library[0] = '\0';
    return AR_OK;
}

static enum ar_status begin(struct ar_nccl_text *text, uint64_t number, struct ar_error *err)
{
    enum ar_log_collective hint = text->hint;
    AR_TRY(ar_nccl_text_end(text, true, err));
    AR_TRY(ar_nccl_begin(text->logs, AR_LOG_NCCL_TEXT, number, &text->run, err));
    text->phase = AR_NCCL_HEAD;
    text->run.hint = hint;
    return AR_OK;
}

/* A line of the head begins a run, unless it belongs to one that has no table yet. Where a test
 * failed, the next line of a head is that of another test. */
static enum ar_status enter_head(struct ar_nccl_text *text, bool is_first_of_head, uint64_t number,
                                 struct ar_error *err)
{
    bool is_same = text->phase == AR_NCCL_HEAD || (text->phase == AR_NCCL_TABLE && !has_rows(text));
    if (is_same && !(is_first_of_head && text->failure_line != 0)) {
        return AR_OK;
    }
    return begin(text, number, err);
}

/* `nccl-tests version 2.17.6 ... nccl-library=22805`: what is behind "version". */
static void take_version(struct ar_log *log, struct ar_span rest)
{
    char word[32];
    struct ar_span code;
    uint64_t value;
    ar_span_copy(ar_span_word(&rest), word, sizeof word);
    snprintf(log->tool, sizeof log->tool, "nccl-tests %s", word);
    if (ar_span_behind(rest, "nccl-library=", &code) &&
        ar_span_count(ar_span_word(&code), &value)) {
        ar_nccl_version_text(value, log->library, sizeof log->library);
    }
}

static void take_name(struct ar_nccl_text *text, struct ar_span rest)
{
    struct ar_log *log = log_of(text);
    struct ar_span name = ar_span_word(&rest);
    ar_span_copy(name, log->collective_name, sizeof log->collective_name);
    name.bytes = ar_span_find(name, "_perf");
    log->collective = ar_collective_of_name(name);
    text->run.is_named = name.bytes > 0;
}

/* A line before a table, which `is_taken` then. */
static enum ar_status take_head(struct ar_nccl_text *text, struct ar_span line, uint64_t number,
                                bool *is_taken, struct ar_error *err)
{
    struct ar_span rest;
    struct ar_nccl_sweep sweep;
    struct ar_nccl_rank rank;
    char gpu[AR_LOG_TEXT];
    *is_taken = true;
    if (ar_span_behind(line, "nccl-tests version ", &rest)) {
        AR_TRY(enter_head(text, true, number, err));
        take_version(log_of(text), rest);
    } else if (ar_span_behind(line, "Collective test starting:", &rest)) {
        AR_TRY(enter_head(text, true, number, err));
        take_name(text, rest);
    } else if (ar_parse_sweep(line, &sweep)) {
        AR_TRY(enter_head(text, text->sweep.line != 0, number, err));
        text->sweep = sweep;
        text->sweep.line = number;
    } else if (ar_parse_rank(line, &rank, gpu)) {
        AR_TRY(enter_head(text, false, number, err));
        rank.line = number;
        if (rank.rank == 0) {
            ar_copy_text(log_of(text)->gpu, AR_LOG_TEXT, gpu);
        }
        return ar_nccl_add_rank(text->logs, &text->run, &rank, err);
    } else {
        *is_taken = false;
    }
    return AR_OK;
}

static enum ar_status finish_row(struct ar_nccl_text *text, struct ar_error *err)
{
    struct ar_log_row row = ar_log_empty_row(text->row_line);
    struct ar_nccl_extra extra = ar_nccl_empty_extra();
    AR_TRY(ar_parse_row(text->logs->path, &text->header, &text->row, &row, &extra, err));
    text->row.count = 0;
    return ar_nccl_add_row(text->logs, &text->run, &row, &extra, err);
}

/* A row may come in pieces, with messages of NCCL between them. */
static enum ar_status take_row(struct ar_nccl_text *text, struct ar_span line, struct ar_span glued,
                               uint64_t number, struct ar_error *err)
{
    bool is_start = ar_is_row_start(line);
    if (is_start && text->row.count > 0) {
        return row_cut_off(text, err);
    }
    if (!is_start && (text->row.count == 0 || !ar_is_row_rest(line))) {
        return AR_OK;
    }
    if (is_start) {
        text->row_line = number;
    }
    ar_words_append(&text->row, line);
    ar_words_fill_operation(&text->row, &text->header);
    if (text->row.count < text->header.needed) {
        ar_words_append_glued(&text->row, text->header.columns[text->row.count], glued);
    }
    return text->row.count < text->header.needed ? AR_OK : finish_row(text, err);
}

/* The two lines after the table; the second ends the run. */
static enum ar_status take_closing(struct ar_nccl_text *text, struct ar_span line, uint64_t number,
                                   bool *is_taken, struct ar_error *err)
{
    struct ar_span rest;
    bool has_bounds = ar_span_behind(line, "Out of bounds values", &rest);
    bool is_end = ar_span_has(line, "Avg bus bandwidth");
    *is_taken = has_bounds || is_end;
    if (!*is_taken || text->phase == AR_NCCL_NONE) {
        return AR_OK;
    }
    if (text->row.count > 0) {
        return row_cut_off(text, err);
    }
    text->phase = AR_NCCL_CLOSED;
    log_of(text)->last_line = number;
    if (is_end) {
        return ar_nccl_text_end(text, false, err);
    }
    uint64_t count;
    ar_span_word(&rest);
    if (ar_span_count(ar_span_word(&rest), &count)) {
        log_of(text)->out_of_bounds = count;
    }
    return AR_OK;
}

/* What NCCL says of itself: version and ranks. Several communicators leave the ranks unknown. */
static void take_message(struct ar_nccl_text *text, struct ar_span message, uint64_t number)
{
    struct ar_span rest;
    uint64_t count;
    if (ar_span_behind(message, "NCCL version ", &rest) && text->library[0] == '\0') {
        char word[32];
        ar_span_copy(ar_span_word(&rest), word, sizeof word);
        word[strcspn(word, "+")] = '\0';
        snprintf(text->library, sizeof text->library, "NCCL %s", word);
    }
    if (ar_span_has(message, "Init COMPLETE") && ar_span_behind(message, " nranks ", &rest) &&
        ar_span_count(ar_span_word(&rest), &count)) {
        bool is_first = text->nranks_line == 0 || text->nranks == 0;
        text->nranks = is_first || text->nranks == count ? count : 0;
        text->nranks_line = number;
    }
}

/* The last program of nccl-tests that a line speaks of. */
static void take_hint(struct ar_nccl_text *text, struct ar_span line)
{
    size_t end = ar_span_find(line, "_perf");
    size_t start = end < line.bytes ? end : 0;
    while (start > 0 && ((line.at[start - 1] >= 'a' && line.at[start - 1] <= 'z') ||
                         line.at[start - 1] == '_')) {
        start--;
    }
    enum ar_log_collective hint =
        ar_collective_of_name((struct ar_span){line.at + start, start < end ? end - start : 0});
    if (end < line.bytes && hint != AR_LOG_OTHER) {
        text->hint = hint;
    }
}

static enum ar_status take_header(struct ar_nccl_text *text, const struct ar_nccl_header *header,
                                  struct ar_error *err)
{
    bool is_next = text->phase == AR_NCCL_NONE || text->phase == AR_NCCL_CLOSED ||
                   (text->phase == AR_NCCL_TABLE && has_rows(text));
    if (is_next) {
        AR_TRY(begin(text, header->line, err));
    }
    text->header = *header;
    text->phase = AR_NCCL_TABLE;
    return AR_OK;
}

enum ar_status ar_nccl_text_line(struct ar_nccl_text *text, struct ar_span line, uint64_t number,
                                 struct ar_error *err)
{
    struct ar_span head, glued, message;
    if (ar_split_message(line, &head, &glued, &message)) {
        take_message(text, message, number);
    } else if (ar_span_starts(line, "NCCL version ")) {
        take_message(text, line, number);
        return AR_OK;
    }
    struct ar_nccl_header header;
    bool is_taken;
    AR_TRY(take_head(text, head, number, &is_taken, err));
    if (is_taken) {
        return AR_OK;
    }
    if (ar_parse_header(head, &header)) {
        header.line = number;
        return take_header(text, &header, err);
    }
    AR_TRY(take_closing(text, head, number, &is_taken, err));
    if (is_taken) {
        return AR_OK;
    }
    if (text->phase == AR_NCCL_TABLE) {
        AR_TRY(take_row(text, head, glued, number, err));
    }
    bool is_failure = ar_span_has(line, ": Test ") || ar_span_has(line, "Test NCCL failure") ||
                      ar_span_has(line, "Test CUDA failure");
    text->failure_line = is_failure ? number : text->failure_line;
    take_hint(text, line);
    return AR_OK;
}
