/* The text of nccl-tests, line by line. See README.md for the dialects. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "log_reading.h"

/* --- single lines of nccl-tests, NCCL and launchers: no state ------------------------------ */

enum { PREFIX_BYTES_MAX = 120 };

/* Returns what follows a time stamp, `2026-01-05T10:11:12.123Z ` or `[2026-01-05 10:11:12] `, or
 * the name that pdsh and others put before lines of a table, `node-12: `; else NULL. */
static char *behind_container(char *line)
{
    int time = 0;
    size_t name = strcspn(line, ": \t");
    char *rest = line + name + (line[name] == ':');
    sscanf(line, "%*4u-%*2u-%*2uT%*2u:%*2u:%*[0-9.:+Z-] %n", &time);
    sscanf(line, "[%*4u-%*2u-%*2u %*2u:%*2u:%*[0-9.,]] %n", &time);
    bool is_row = line[name] == ':' && name > 0 && rest[0] == ' ' &&
                  strchr("#" AR_DIGITS, rest[strspn(rest, " ")]) != NULL;
    return time > 0 ? line + time : is_row ? rest : NULL;
}

char *ar_strip_prefix(char *line)
{
    line = ar_trim(line);
    for (int i = 0; i < 4; i++) {
        /* `[1,0]<stdout>:` of Open MPI, with or without a time stamp before it */
        char *rest = ar_behind(line, "]<stdout>:");
        rest = rest != NULL ? rest : ar_behind(line, "]<stderr>:");
        if (rest == NULL || rest - line > PREFIX_BYTES_MAX) {
            /* `0: ` of srun --label, `[0] ` of Hydra */
            bool is_bracket = line[0] == '[';
            size_t digits = strspn(line + is_bracket, AR_DIGITS);
            rest = line + is_bracket + digits;
            bool is_label = digits > 0 && *rest == (is_bracket ? ']' : ':') &&
                            strchr(" #", rest[1]) != NULL &&
                            strncmp(rest + 1 + strspn(rest + 1, " "), "NCCL ", 5) != 0;
            rest = is_label ? rest + 1 : behind_container(line);
            if (rest == NULL) {
                break;
            }
        }
        line = rest + strspn(rest, " ");
    }
    return line;
}

/* `Rank 0 Group 0 Pid 1 on host device 0 [0x1a] Tesla V100` in all spellings; `line` is not set. */
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

/* Times in us, bandwidths in GB/s. "error" is not read: what is right depends on the datatype. The
 * operation of all-to-all is blank in old versions. */
static const char *const none[] = {NULL};
static const struct ar_log_column nccl_columns[] = {
    AR_LOG_ROW(count, payload_bytes, "size"),
    AR_LOG_ROW(count, count, "count"),
    AR_LOG_ROW(word, datatype, "type"),
    {AR_COLUMN(word, struct ar_log_row, redop, "redop", "", .may_be_empty = true), 0, false},
    {AR_COLUMN(number, struct ar_log_row, root, "root", "a number or N/A"), 0, false},
    AR_LOG_TIMING(time_s, "time", 1e-6),
    AR_LOG_TIMING(algbw_Bps, "algbw", 1e9),
    AR_LOG_TIMING(busbw_Bps, "busbw", 1e9),
    AR_LOG_TIMING(wrong, "#wrong", 0),
    AR_LOG_TIMING(wrong, "wrong", 0),
    {AR_COLUMN(choice, struct ar_log_row, count, "cputime",
               "column \"time\", not the time to launch (-C 1)", .names = none),
     0, false},
    {AR_COLUMN_OTHERS, 0, false},
};

/* Whether a line has the names of columns: size and count come first. */
static bool is_nccl_header(char *line)
{
    const char *names = ar_unmarked(line);
    int behind = 0;
    sscanf(names, "size count%n", &behind);
    return behind > 0 && names[behind] == ' ';
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

/* A table that ends before its largest size where another begins, and no test says that it failed:
 * rows of several tests may be mixed. */
static enum ar_status check_not_mixed(const struct ar_nccl_text *text, struct ar_error *err)
{
    const struct ar_nccl_sweep *sweep = &text->sweep;
    const struct ar_log *log = log_of(text);
    if (text->phase != AR_NCCL_TABLE || log->rows_count == 0 || sweep->line == 0 ||
        text->failure_line != 0) {
        return AR_OK;
    }
    const struct ar_log_row *last = &log->rows[log->rows_count - 1];
    double size_bytes = (double)last->payload_bytes, step = (double)sweep->step;
    double next_bytes = sweep->is_factor ? size_bytes * step : size_bytes + step;
    AR_LOG_REFUSE(
        next_bytes > size_bytes && next_bytes <= (double)sweep->max_bytes, log, last->line, err,
        "the table ends at %" PRIu64 " bytes without its closing lines; expected sizes up "
        "to %" PRIu64 " (line %" PRIu64 "): cut off, or several processes without MPI at once",
        last->payload_bytes, sweep->max_bytes, sweep->line);
    return AR_OK;
}

enum ar_status ar_nccl_text_end(struct ar_nccl_text *text, bool is_followed, struct ar_error *err)
{
    if (text->phase == AR_NCCL_NONE) {
        return AR_OK;
    }
    struct ar_log *log = log_of(text);
    if (is_followed) {
        AR_TRY(check_not_mixed(text, err));
    }
    log->is_complete = text->phase == AR_NCCL_CLOSED;
    if (log->library[0] == '\0') {
        ar_copy_text(log->library, sizeof log->library, text->library);
    }
    bool is_sane = text->sweep.threads < AR_NCCL_RANKS_MAX && text->sweep.gpus < AR_NCCL_RANKS_MAX;
    text->run.ranks_per_process = is_sane ? text->sweep.threads * text->sweep.gpus : 0;
    AR_TRY(ar_nccl_finish(log, &text->run, err));
    *text = (struct ar_nccl_text){.logs = text->logs, .hint = text->hint};
    return AR_OK;
}

/* The collective of the program of nccl-tests that a text speaks of. */
static enum ar_log_collective program_collective(const char *text)
{
    const char *start = strstr(text, "_perf");
    while (start != NULL && start > text &&
           (islower((unsigned char)start[-1]) || start[-1] == '_')) {
        start--;
    }
    return start != NULL ? ar_collective_of_name(start) : AR_LOG_OTHER;
}

static enum ar_status begin_nccl_run(struct ar_nccl_text *text, uint64_t number,
                                     struct ar_error *err)
{
    AR_TRY(ar_nccl_text_end(text, true, err));
    struct ar_log *log = ar_logs_add_run(text->logs, AR_LOG_NCCL_TEXT, number);
    ar_copy_text(log->tool, sizeof log->tool, "nccl-tests");
    text->phase = AR_NCCL_HEAD;
    text->run.hint = text->hint != AR_LOG_OTHER ? text->hint : program_collective(log->path);
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
    if (version != NULL) { /* `nccl-tests version 2.17.6 ... nccl-library=22805` */
        AR_TRY(enter_nccl_head(text, true, number, err));
        struct ar_log *log = log_of(text);
        const char *library = strstr(version, "nccl-library=");
        uint64_t code;
        if (library != NULL && ar_take_count(&library, "nccl-library=", &code)) {
            ar_nccl_set_version(code, log);
        }
        snprintf(log->tool, sizeof log->tool, "nccl-tests %.*s", (int)strcspn(version, " "),
                 version);
    } else if (name != NULL) { /* `Collective test starting: all_reduce_perf` */
        AR_TRY(enter_nccl_head(text, true, number, err));
        struct ar_log *log = log_of(text);
        name = ar_trim(name);
        name[strcspn(name, " ")] = '\0';
        ar_copy_text(log->collective_name, sizeof log->collective_name, name);
        log->collective = ar_collective_of_name(name);
    } else if (parse_sweep(line, &sweep)) {
        AR_TRY(enter_nccl_head(text, text->sweep.line != 0, number, err));
        text->sweep = sweep;
        text->sweep.line = number;
        const char *graph = strstr(line, " graph: ");
        log_of(text)->is_graph = graph != NULL && strtol(graph + 8, NULL, 10) > 0;
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

/* Begins the table of the names of columns. Those behind the last known one may be anything. */
static enum ar_status take_nccl_header(struct ar_nccl_text *text, char *line, uint64_t number,
                                       struct ar_error *err)
{
    const char *names[AR_TABLE_COLUMNS_MAX];
    struct ar_log_table *table = &text->table;
    bool is_next = text->phase == AR_NCCL_NONE || text->phase == AR_NCCL_CLOSED ||
                   (text->phase == AR_NCCL_TABLE && log_of(text)->rows_count > 0);
    if (is_next) {
        AR_TRY(begin_nccl_run(text, number, err));
    }
    size_t count = ar_split(ar_unmarked(line), names, AR_TABLE_COLUMNS_MAX), known = 0;
    *table = (struct ar_log_table){.line = number};
    for (size_t i = 0; i < count && i < AR_TABLE_COLUMNS_MAX; i++) {
        ar_log_table_add(table, nccl_columns, names[i]);
        known = table->columns[i] != NULL || strcmp(names[i], "error") == 0 ? i + 1 : known;
    }
    table->count = known;
    text->phase = AR_NCCL_TABLE;
    return AR_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* A row begins with two counts and a word; words behind its columns may be a message of NCCL. Hydra
 * writes its label in front of every piece of a line, joined to the piece before: `-1[0]`. */
static enum ar_status take_nccl_row(const struct ar_nccl_text *text, char *line, uint64_t number,
                                    struct ar_error *err)
{
    const char *words[AR_TABLE_COLUMNS_MAX];
    for (char *label = strchr(line, '['); label != NULL; label = strchr(label, '[')) {
        memset(label, ' ', strcspn(label, " "));
    }
    size_t count = ar_split(line, words, AR_TABLE_COLUMNS_MAX);
    struct ar_log_row row = ar_log_empty_row(number);
    if (count < 2 || !ar_is_count(words[0]) || !ar_is_count(words[1]) ||
        (count > 2 && !islower((unsigned char)words[2][0]))) {
        return AR_OK;
    }
    count = count < AR_TABLE_COLUMNS_MAX ? count : AR_TABLE_COLUMNS_MAX;
    enum ar_status status = ar_log_table_read(&text->table, log_of(text), words, count, &row, err);
    bool is_half = status != AR_OK && text->is_line_open;
    return is_half ? AR_OK : status != AR_OK ? status : ar_log_add_row(log_of(text), &row, err);
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
    text->phase = AR_NCCL_CLOSED;
    log_of(text)->last_line = number;
    if (is_end) {
        return ar_nccl_text_end(text, false, err);
    }
    ar_take_count(&bounds, "Out of bounds values :", &log_of(text)->out_of_bounds);
    return AR_OK;
}

/* Takes `host:pid:thread [device] NCCL INFO message`, the last one of a line, which alone is whole
 * where lines were mixed. */
static void take_nccl_message(struct ar_nccl_text *text, const char *line, uint64_t number)
{
    const char *message = NULL, *at;
    for (const char *next = line; (next = strstr(next, "NCCL INFO ")) != NULL;) {
        message = next += sizeof "NCCL INFO " - 1;
    }
    at = message != NULL ? message : line;
    for (int colons = 0; colons < 2 && at > line;) {
        colons += *--at == ':';
    }
    if (message != NULL) {
        struct ar_arena *arena = text->logs->arena;
        *AR_ARENA_ADD(arena, text->run.messages, text->run.messages_count) =
            (struct ar_log_message){.text = ar_arena_text(arena, message),
                                    .line = number,
                                    .pid = strtoull(at + 1, NULL, 10)};
    }
}

enum ar_status ar_nccl_text_line(struct ar_nccl_text *text, char *line, uint64_t number,
                                 struct ar_error *err)
{
    bool is_taken;
    enum ar_log_collective hint = program_collective(line);
    text->hint = hint != AR_LOG_OTHER ? hint : text->hint;
    if (strstr(line, ": Test ") != NULL || strstr(line, "Test NCCL failure") != NULL ||
        strstr(line, "Test CUDA failure") != NULL) {
        text->failure_line = number;
    }
    if (strncmp(line, "NCCL version ", 13) == 0 || strstr(line, "NCCL INFO ") != NULL) {
        /* Takes version and ranks from a message of NCCL; of several communicators, no ranks. */
        const char *version = ar_behind(line, "NCCL version ");
        const char *nranks = strstr(line, " nranks ");
        uint64_t count;
        if (version != NULL && text->library[0] == '\0') {
            snprintf(text->library, sizeof text->library, "NCCL %.*s", (int)strcspn(version, " +"),
                     version);
        }
        if (strstr(line, "Init COMPLETE") != NULL && nranks != NULL &&
            ar_take_count(&nranks, "nranks", &count)) {
            bool is_first = text->run.nranks_line == 0 || text->run.nranks == 0;
            text->run.nranks = is_first || text->run.nranks == count ? count : 0;
            text->run.nranks_line = number;
        }
        take_nccl_message(text, line, number);
    }
    AR_TRY(take_nccl_head(text, line, number, &is_taken, err));
    if (is_taken) {
        return AR_OK;
    }
    if (is_nccl_header(line)) {
        return take_nccl_header(text, line, number, err);
    }
    AR_TRY(take_nccl_closing(text, line, number, &is_taken, err));
    return !is_taken && text->phase == AR_NCCL_TABLE ? take_nccl_row(text, line, number, err)
                                                     : AR_OK;
}
