/* The text of nccl-tests, line by line. See README.md for the dialects. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "log_reading.h"

/* --- single lines of nccl-tests, NCCL and launchers: no state ------------------------------ */

enum { PREFIX_BYTES_MAX = 120 };

/* The text behind `[1,0]<stdout>:` of Open MPI, with or without a time stamp before it; NULL: none.
 */
static char *behind_tag(char *line)
{
    char *rest = ar_behind(line, "]<stdout>:");
    rest = rest != NULL ? rest : ar_behind(line, "]<stderr>:");
    return rest != NULL && rest - line <= PREFIX_BYTES_MAX ? rest : NULL;
}

/* The text behind `0: ` of srun --label, `[0] ` of Hydra; NULL: none. */
static char *behind_label(char *line)
{
    bool is_bracket = line[0] == '[';
    size_t digits = strspn(line + is_bracket, AR_DIGITS);
    char *end = line + is_bracket + digits;
    if (digits == 0 || *end != (is_bracket ? ']' : ':') || strchr(" #", end[1]) == NULL) {
        return NULL;
    }
    end++;
    return strncmp(end + strspn(end, " "), "NCCL ", 5) != 0 ? end : NULL;
}

/* The text behind `2024-05-01T10:00:00.1Z ` of containers, `(head, rank=0, pid=3808) ` of Ray;
 * NULL: none. */
static char *behind_note(char *line)
{
    size_t word = strcspn(line, " ");
    if (word > 19 && strspn(line, AR_DIGITS) == 4 && line[4] == '-' && line[10] == 'T') {
        return line + word;
    }
    char *end = line[0] == '(' ? strchr(line, ')') : NULL;
    char *pid = end != NULL ? strstr(line, "pid=") : NULL;
    return pid != NULL && pid < end && end - line < PREFIX_BYTES_MAX ? end + 1 : NULL;
}

char *ar_strip_prefix(char *line)
{
    line = ar_trim(line);
    for (int i = 0; i < 4; i++) {
        char *rest = behind_tag(line);
        rest = rest != NULL ? rest : behind_label(line);
        rest = rest != NULL ? rest : behind_note(line);
        if (rest == NULL) {
            break;
        }
        line = rest + strspn(rest, " ");
    }
    return line;
}

/* Place of `:pid:tid [`, with which every message of NCCL begins after its host; NULL if there is
 * none before `end`. */
static char *find_process(char *line, const char *end)
{
    char *colon = strchr(line, ':');
    for (; colon != NULL && colon < end; colon = strchr(colon + 1, ':')) {
        size_t pid = strspn(colon + 1, AR_DIGITS);
        const char *second = colon + 1 + pid;
        size_t tid = *second == ':' ? strspn(second + 1, AR_DIGITS) : 0;
        if (pid > 0 && tid > 0 && strncmp(second + 1 + tid, " [", 2) == 0) {
            return colon;
        }
    }
    return NULL;
}

/* Finds a message of NCCL (`host:pid:tid [0] NCCL INFO ...`) and cuts the line before it and its
 * host; `glued` is the word that the host is joined to, with the host. NULL without a message. */
static char *cut_message(char **line, char **glued)
{
    static const char *const kinds[] = {"NCCL INFO ", "NCCL WARN ", "NCCL TRACE ", "NCCL ERROR "};
    char *start = *line, *message = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && message == NULL; i++) {
        message = strstr(start, kinds[i]);
    }
    *glued = start + strlen(start);
    if (message == NULL) {
        return NULL;
    }
    char *host_end = find_process(start, message);
    *line = host_end != NULL ? host_end : *glued;
    if (host_end != NULL) {
        *host_end = '\0';
        *glued = host_end;
        while (*glued > start && (*glued)[-1] != ' ') {
            (*glued)--;
        }
    }
    if (host_end != NULL && *glued > start) {
        (*glued)[-1] = '\0';
        *line = ar_trim(start);
    }
    return message;
}

/* `Rank 0 Group 0 Pid 1 on host device 0 [0x1a] Tesla V100` in all spellings; `line` of the rank is
 * not set. */
static bool parse_rank(char *line, uint64_t *number, struct ar_nccl_rank *rank, const char **gpu)
{
    const char *rest = ar_unmarked(line);
    struct ar_nccl_rank found = {.line = 0};
    uint64_t device;
    int behind = 0;
    if (!ar_take_count(&rest, "Rank", number)) {
        return false;
    }
    ar_take_count(&rest, "Group", &found.group);
    ar_take_count(&rest, "Pid", &found.pid);
    sscanf(rest, " on %63s%n", found.host, &behind);
    rest += behind;
    if (behind == 0 || !ar_take_count(&rest, "device", &device)) {
        return false;
    }
    const char *bus = strchr(rest, ']');
    *gpu = bus != NULL ? bus + 1 + strspn(bus + 1, " ") : "";
    *rank = found;
    return true;
}

/* The `nThread` line; `line` of the sweep is not set. */
static bool parse_sweep(char *line, struct ar_nccl_sweep *sweep)
{
    const char *rest = ar_unmarked(line);
    struct ar_nccl_sweep found = {.line = 0};
    uint64_t min_bytes;
    if (!ar_take_count(&rest, "nThread", &found.threads) ||
        !ar_take_count(&rest, "nGpus", &found.gpus) ||
        !ar_take_count(&rest, "minBytes", &min_bytes) ||
        !ar_take_count(&rest, "maxBytes", &found.max_bytes)) {
        return false;
    }
    if (ar_take_count(&rest, "step:", &found.step)) {
        found.is_factor = strncmp(rest, "(factor)", 8) == 0;
    }
    *sweep = found;
    return true;
}

/* --- tables -------------------------------------------------------------------------------- */

/* Times in us, bandwidths in GB/s. "error" is not read: what is right depends on the datatype. */
static const char *const operations[] = {"sum", "prod",   "max",  "min",
                                         "avg", "mulsum", "none", NULL};
static const char *const roots[] = {"-1", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", NULL};
static const char *const right[] = {"0", NULL};
static const char *const none[] = {NULL};
static const struct ar_log_column nccl_columns[] = {
    AR_LOG_ROW(count, payload_bytes, "size"),
    AR_LOG_ROW(count, count, "count"),
    AR_LOG_ROW(word, datatype, "type"),
    {AR_COLUMN(word, struct ar_log_row, redop, "redop", ""), 0, false, operations},
    {AR_COLUMN(number, struct ar_log_row, root, "root", "a number or N/A"), 0, false, roots},
    AR_LOG_TIMING(time_s, "time", 1e-6),
    AR_LOG_TIMING(algbw_Bps, "algbw", 1e9),
    AR_LOG_TIMING(busbw_Bps, "busbw", 1e9),
    {AR_COLUMN(number, struct ar_log_timing, wrong, "#wrong", "a number or N/A"), 0, true, right},
    {AR_COLUMN(number, struct ar_log_timing, wrong, "wrong", "a number or N/A"), 0, true, right},
    {AR_COLUMN(choice, struct ar_log_row, count, "cputime",
               "column \"time\", not the time to launch (-C 1)", .names = none),
     0, false, NULL},
};

/* Whether a line has the names of columns: size and count come first. */
static bool is_nccl_header(char *line)
{
    const char *names = ar_unmarked(line);
    int behind = 0;
    sscanf(names, "size count%n", &behind);
    return behind > 0 && names[behind] == ' ';
}

/* The table of the names of columns. Those behind the last one that is known may be anything. */
static void read_nccl_header(char *line, uint64_t number, struct ar_log_table *table)
{
    const char *names[AR_TABLE_COLUMNS_MAX];
    size_t count = ar_split(ar_unmarked(line), names, AR_TABLE_COLUMNS_MAX);
    size_t known = 0;
    *table = (struct ar_log_table){.line = number};
    for (size_t i = 0; i < count && i < AR_TABLE_COLUMNS_MAX; i++) {
        ar_log_table_add(table, AR_LOG_COLUMNS(nccl_columns), names[i]);
        known = table->columns[i] != NULL || strcmp(names[i], "error") == 0 ? i + 1 : known;
    }
    table->count = known;
}

bool ar_nccl_is_head(char *line)
{
    struct ar_nccl_sweep sweep;
    struct ar_nccl_rank rank;
    uint64_t number;
    const char *gpu;
    return strstr(line, "nccl-tests version ") != NULL ||
           strstr(line, "Collective test starting:") != NULL || parse_sweep(line, &sweep) ||
           parse_rank(line, &number, &rank, &gpu) || is_nccl_header(line);
}

static struct ar_log *log_of(const struct ar_nccl_text *text)
{
    return ar_logs_last(text->logs);
}

/* --- runs ---------------------------------------------------------------------------------- */

static enum ar_status check_row_is_whole(const struct ar_nccl_text *text, struct ar_error *err)
{
    return text->words_count == 0 ? AR_OK
                                  : ar_log_table_cut_off(&text->table, log_of(text), text->row_line,
                                                         text->words_count, err);
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
    return ar_log_refuse(log, last->line, err,
                         "the table ends at %" PRIu64 " bytes without its closing "
                         "lines; expected sizes up to %" PRIu64 " (line %" PRIu64 "): %s",
                         last->payload_bytes, sweep->max_bytes, sweep->line,
                         is_followed ? "cut off, or several processes without MPI at once"
                                     : "cut off");
}

enum ar_status ar_nccl_text_end(struct ar_nccl_text *text, bool is_followed, struct ar_error *err)
{
    if (text->phase == AR_NCCL_NONE) {
        return AR_OK;
    }
    struct ar_log *log = log_of(text);
    AR_TRY(check_row_is_whole(text, err));
    AR_TRY(check_not_cut_off(text, is_followed, err));
    log->is_complete = text->phase == AR_NCCL_CLOSED;
    if (log->library[0] == '\0') {
        ar_copy_text(log->library, sizeof log->library, text->library);
    }
    bool is_sane = text->sweep.threads < AR_NCCL_RANKS_MAX && text->sweep.gpus < AR_NCCL_RANKS_MAX;
    text->run.ranks_per_process = is_sane ? text->sweep.threads * text->sweep.gpus : 0;
    AR_TRY(ar_nccl_finish(log, &text->run, err));
    text->run = (struct ar_nccl_run){.ranks = NULL};
    text->phase = AR_NCCL_NONE;
    text->sweep = (struct ar_nccl_sweep){.line = 0};
    text->failure_line = 0;
    text->library[0] = '\0';
    return AR_OK;
}

static enum ar_status begin_nccl_run(struct ar_nccl_text *text, uint64_t number,
                                     struct ar_error *err)
{
    AR_TRY(ar_nccl_text_end(text, true, err));
    struct ar_log *log = ar_logs_add_run(text->logs, AR_LOG_NCCL_TEXT, number);
    ar_copy_text(log->tool, sizeof log->tool, "nccl-tests");
    text->phase = AR_NCCL_HEAD;
    text->run.hint = text->hint;
    return AR_OK;
}

/* --- lines before a table ------------------------------------------------------------------ */

/* A line of the head begins a run, unless it belongs to one that has no table yet. Where a test
 * failed, the next line of a head is that of another test. */
static enum ar_status enter_nccl_head(struct ar_nccl_text *text, bool is_first_of_head,
                                      uint64_t number, struct ar_error *err)
{
    bool is_same = text->phase == AR_NCCL_HEAD ||
                   (text->phase == AR_NCCL_TABLE && log_of(text)->rows_count == 0);
    return is_same && !(is_first_of_head && text->failure_line != 0)
               ? AR_OK
               : begin_nccl_run(text, number, err);
}

/* `nccl-tests version 2.17.6 ... nccl-library=22805`: what is behind "version". */
static void take_nccl_version(struct ar_log *log, char *rest)
{
    const char *library = strstr(rest, "nccl-library=");
    uint64_t code;
    if (library != NULL && ar_take_count(&library, "nccl-library=", &code)) {
        ar_nccl_set_version(code, log);
    }
    snprintf(log->tool, sizeof log->tool, "nccl-tests %.*s", (int)strcspn(rest, " "), rest);
}

/* `all_reduce_perf`, behind "starting:". */
static void take_nccl_name(struct ar_log *log, char *rest)
{
    char *name = ar_trim(rest);
    name[strcspn(name, " ")] = '\0';
    ar_copy_text(log->collective_name, sizeof log->collective_name, name);
    log->collective = ar_collective_of_name(name);
}

/* A line before a table, which `is_taken` then. */
static enum ar_status take_nccl_head(struct ar_nccl_text *text, char *line, uint64_t number,
                                     bool *is_taken, struct ar_error *err)
{
    char *version = ar_behind(line, "nccl-tests version ");
    char *name = ar_behind(line, "Collective test starting:");
    struct ar_nccl_sweep sweep;
    struct ar_nccl_rank rank;
    uint64_t rank_number;
    const char *gpu;
    *is_taken = true;
    if (version != NULL) {
        AR_TRY(enter_nccl_head(text, true, number, err));
        take_nccl_version(log_of(text), version);
    } else if (name != NULL) {
        AR_TRY(enter_nccl_head(text, true, number, err));
        take_nccl_name(log_of(text), name);
    } else if (parse_sweep(line, &sweep)) {
        AR_TRY(enter_nccl_head(text, text->sweep.line != 0, number, err));
        text->sweep = sweep;
        text->sweep.line = number;
    } else if (parse_rank(line, &rank_number, &rank, &gpu)) {
        AR_TRY(enter_nccl_head(text, false, number, err));
        rank.line = number;
        if (rank_number == 0) {
            ar_copy_text(log_of(text)->gpu, AR_LOG_TEXT, gpu);
        }
        return ar_nccl_add_rank(log_of(text), &text->run, rank_number, &rank, err);
    } else {
        *is_taken = false;
    }
    return AR_OK;
}

static enum ar_status take_nccl_header(struct ar_nccl_text *text, char *line, uint64_t number,
                                       struct ar_error *err)
{
    bool is_next = text->phase == AR_NCCL_NONE || text->phase == AR_NCCL_CLOSED ||
                   (text->phase == AR_NCCL_TABLE && log_of(text)->rows_count > 0);
    if (is_next) {
        AR_TRY(begin_nccl_run(text, number, err));
    }
    read_nccl_header(line, number, &text->table);
    text->phase = AR_NCCL_TABLE;
    return AR_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Whether words look like the beginning of a row: two counts, then a word. */
static bool is_row_start(const char *const *words, size_t count)
{
    return count >= 2 && ar_is_count(words[0]) && ar_is_count(words[1]) &&
           (count == 2 || islower((unsigned char)words[2][0]));
}

/* Whether words are like the rest of a row that was interrupted. */
static bool is_row_rest(const char *const *words, size_t count)
{
    size_t i = 0;
    while (i < count && (ar_is_number(words[i]) || strcasecmp(words[i], "N/A") == 0)) {
        i++;
    }
    return count > 0 && i == count;
}

/* Words without the labels that Hydra writes in front of every piece of a line, joined to the piece
 * before: `-1[0]`. */
static size_t split_row(char *line, const char *words[AR_TABLE_COLUMNS_MAX])
{
    for (char *label = strchr(line, '['); label != NULL; label = strchr(label, '[')) {
        memset(label, ' ', strcspn(label, " "));
    }
    size_t count = ar_split(line, words, AR_TABLE_COLUMNS_MAX);
    return count < AR_TABLE_COLUMNS_MAX ? count : AR_TABLE_COLUMNS_MAX;
}

static void append_word(struct ar_nccl_text *text, const char *word)
{
    if (text->words_count < AR_TABLE_COLUMNS_MAX) {
        text->words[text->words_count++] = word;
    }
}

/* Appends the part of `glued` that is the value of the next column, before the host joined to it.
 * Where host and value both are digits the value is lost, which matters for none of these. */
static void append_glued(struct ar_nccl_text *text, char *glued)
{
    const struct ar_log_column *next = text->table.columns[text->words_count];
    size_t bytes = 0;
    for (size_t i = 0; next != NULL && next->glued != NULL && next->glued[i] != NULL; i++) {
        size_t length = strlen(next->glued[i]);
        bytes = strncmp(glued, next->glued[i], length) == 0 ? length : bytes;
    }
    bool is_skipped = next == NULL && isdigit((unsigned char)glued[0]);
    if (is_skipped || (next != NULL && next->glued != NULL && glued[0] != '\0')) {
        glued[bytes] = '\0';
        append_word(text, bytes > 0 ? glued : "N/A");
    }
}

/* Puts `none` in the place of a blank operation: all-to-all of old versions prints nothing there.
 */
static void fill_operation(struct ar_nccl_text *text)
{
    for (size_t i = 0; i < text->table.count && i < text->words_count; i++) {
        const struct ar_log_column *column = text->table.columns[i];
        if (column != NULL && column->glued == operations && ar_is_number(text->words[i])) {
            append_word(text, "");
            memmove(&text->words[i + 1], &text->words[i],
                    (text->words_count - 1 - i) * sizeof text->words[0]);
            text->words[i] = "none";
        }
    }
}

/* A row may come in pieces, with messages of NCCL between them. */
static enum ar_status take_nccl_row(struct ar_nccl_text *text, char *line, char *glued,
                                    uint64_t number, struct ar_error *err)
{
    const char *words[AR_TABLE_COLUMNS_MAX];
    size_t count = split_row(line, words);
    bool is_start = is_row_start(words, count);
    if (is_start) {
        AR_TRY(check_row_is_whole(text, err));
        text->row_line = number;
    } else if (text->words_count == 0 || !is_row_rest(words, count)) {
        return AR_OK;
    }
    for (size_t i = 0; i < count; i++) {
        append_word(text, words[i]);
    }
    fill_operation(text);
    if (text->words_count < text->table.count) {
        append_glued(text, glued);
    }
    if (text->words_count < text->table.count) {
        return AR_OK;
    }
    struct ar_log_row row = ar_log_empty_row(text->row_line);
    text->words_count = 0;
    AR_TRY(ar_log_table_read(&text->table, log_of(text), text->words, &row, err));
    return ar_log_add_row(log_of(text), &row, err);
}

/* --- other lines --------------------------------------------------------------------------- */

/* The two lines after the table; the second ends the run. */
static enum ar_status take_nccl_closing(struct ar_nccl_text *text, char *line, uint64_t number,
                                        bool *is_taken, struct ar_error *err)
{
    const char *bounds = strstr(line, "Out of bounds values");
    bool is_end = strstr(line, "Avg bus bandwidth") != NULL;
    *is_taken = bounds != NULL || is_end;
    if (!*is_taken || text->phase == AR_NCCL_NONE) {
        return AR_OK;
    }
    AR_TRY(check_row_is_whole(text, err));
    text->phase = AR_NCCL_CLOSED;
    log_of(text)->last_line = number;
    if (is_end) {
        return ar_nccl_text_end(text, false, err);
    }
    ar_take_count(&bounds, "Out of bounds values :", &log_of(text)->out_of_bounds);
    return AR_OK;
}

/* Takes the version and the ranks from a message of NCCL. Several communicators leave the ranks
 * unknown. */
static void take_nccl_message(struct ar_nccl_text *text, char *message, uint64_t number)
{
    const char *version = ar_behind(message, "NCCL version ");
    const char *nranks = strstr(message, " nranks ");
    uint64_t count;
    if (version != NULL && text->library[0] == '\0') {
        snprintf(text->library, sizeof text->library, "NCCL %.*s", (int)strcspn(version, " +"),
                 version);
    }
    if (strstr(message, "Init COMPLETE") != NULL && nranks != NULL &&
        ar_take_count(&nranks, "nranks", &count)) {
        bool is_first = text->run.nranks_line == 0 || text->run.nranks == 0;
        text->run.nranks = is_first || text->run.nranks == count ? count : 0;
        text->run.nranks_line = number;
    }
}

/* The program of nccl-tests that a line speaks of, and a test that says it failed. */
static void take_nccl_hints(struct ar_nccl_text *text, const char *line, uint64_t number)
{
    const char *start = strstr(line, "_perf");
    while (start != NULL && start > line &&
           (islower((unsigned char)start[-1]) || start[-1] == '_')) {
        start--;
    }
    enum ar_log_collective hint = start != NULL ? ar_collective_of_name(start) : AR_LOG_OTHER;
    text->hint = hint != AR_LOG_OTHER ? hint : text->hint;
    if (strstr(line, ": Test ") != NULL || strstr(line, "Test NCCL failure") != NULL ||
        strstr(line, "Test CUDA failure") != NULL) {
        text->failure_line = number;
    }
}

enum ar_status ar_nccl_text_line(struct ar_nccl_text *text, char *line, uint64_t number,
                                 struct ar_error *err)
{
    char *glued;
    bool is_taken;
    if (strncmp(line, "NCCL version ", 13) == 0) {
        take_nccl_message(text, line, number);
        return AR_OK;
    }
    take_nccl_hints(text, line, number);
    char *message = cut_message(&line, &glued);
    if (message != NULL) {
        take_nccl_message(text, message, number);
    }
    AR_TRY(take_nccl_head(text, line, number, &is_taken, err));
    if (is_taken) {
        return AR_OK;
    }
    if (is_nccl_header(line)) {
        return take_nccl_header(text, line, number, err);
    }
    AR_TRY(take_nccl_closing(text, line, number, &is_taken, err));
    return !is_taken && text->phase == AR_NCCL_TABLE ? take_nccl_row(text, line, glued, number, err)
                                                     : AR_OK;
}
