/* The text of the OSU micro-benchmarks, line by line. See README.md for the versions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "log_reading.h"

/* MB of OSU are 1e6 bytes; its rates are those of many messages in flight. */
static const struct ar_log_column osu_columns[] = {
    AR_LOG_ROW(count, payload_bytes, "Size"),
    AR_LOG_TIMING(time_s, "Latency", 1e-6),
    AR_LOG_TIMING(time_s, "Avg Latency", 1e-6),
    AR_LOG_TIMING(time_s, "Lat", 1e-6),
    AR_LOG_TIMING(time_s, "Avg Lat", 1e-6),
    AR_LOG_TIMING(algbw_Bps, "Bandwidth", 1e6),
    {AR_COLUMN_OTHERS, 0, false},
};

bool ar_osu_is_title(char *line)
{
    const char *title = ar_unmarked(line);
    return strncmp(title, "OSU ", 4) == 0 && strstr(title, " Test v") != NULL;
}

/* `OSU MPI-CUDA Allreduce Latency Test v7.3`: library, benchmark, version. */
static void take_osu_title(struct ar_log *log, char *title)
{
    char *test = strstr(title, " Test v");
    const char *version = test + strlen(" Test v");
    *test = '\0';
    char *library = ar_trim(title + strlen("OSU "));
    char *name = library + strcspn(library, " ");
    if (*name != '\0') {
        *name++ = '\0';
    }
    name = ar_trim(name);
    snprintf(log->tool, sizeof log->tool, "OSU %.*s", (int)strcspn(version, " "), version);
    ar_copy_text(log->library, sizeof log->library, library);
    ar_copy_text(log->collective_name, sizeof log->collective_name, name);
    log->collective = strstr(name, "Latency") != NULL  ? ar_collective_of_name(name)
                      : strcmp(name, "Bandwidth") == 0 ? AR_LOG_BANDWIDTH
                                                       : AR_LOG_OTHER;
    bool is_pair = log->collective == AR_LOG_LATENCY || log->collective == AR_LOG_BANDWIDTH;
    log->ranks = is_pair ? 2 : 0;
}

/* `Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations`: names of one or two words,
 * the unit joined or apart. Other benchmarks, of message rates say, have neither time nor rate;
 * their runs stay without rows. */
static void read_osu_header(struct ar_osu_text *text, char *line, uint64_t number)
{
    struct ar_log_table *table = &text->table;
    const char *words[AR_TABLE_COLUMNS_MAX];
    const char *qualifier = "";
    bool has_measure = false;
    size_t count = ar_split(ar_unmarked(line), words, AR_TABLE_COLUMNS_MAX);
    *table = (struct ar_log_table){.line = number};
    text->validation = 0;
    for (size_t i = 0; i < count && i < AR_TABLE_COLUMNS_MAX; i++) {
        char name[64];
        if (ar_text_has_word("Avg Min Max Tail", words[i])) {
            qualifier = words[i];
        } else if (words[i][0] != '(') {
            snprintf(name, sizeof name, "%s%s%.*s", qualifier, qualifier[0] != '\0' ? " " : "",
                     (int)strcspn(words[i], "("), words[i]);
            text->validation = strcmp(name, "Validation") == 0 ? table->count : text->validation;
            ar_log_table_add(table, osu_columns, name);
            const struct ar_log_column *column = table->columns[table->count - 1];
            has_measure = has_measure || (column != NULL && column->is_timing);
            qualifier = "";
        }
    }
    table->count = has_measure ? table->count : 0;
}

enum ar_status ar_osu_line(struct ar_osu_text *text, char *line, uint64_t number,
                           struct ar_error *err)
{
    const char *words[AR_TABLE_COLUMNS_MAX];
    if (ar_osu_is_title(line)) {
        take_osu_title(ar_logs_add_run(text->logs, AR_LOG_OSU, number), ar_unmarked(line));
        *text = (struct ar_osu_text){.logs = text->logs, .is_open = true};
        return AR_OK;
    }
    char *rest = ar_unmarked(line);
    /* `Datatype: MPI_CHAR.` comes before or after the header, hence also for rows that follow. */
    if (sscanf(rest, "Datatype: %23[^. ]", text->datatype) == 1) {
        return AR_OK;
    }
    if (strncmp(rest, "Size ", 5) == 0) {
        read_osu_header(text, line, number);
        return AR_OK;
    }
    /* A row begins with a size; other lines are messages of MPI. */
    size_t count = ar_split(line, words, AR_TABLE_COLUMNS_MAX);
    bool is_row = count >= 1 && ar_is_count(words[0]) && (count == 1 || ar_is_number(words[1]));
    if (!is_row || text->table.count == 0) {
        return AR_OK;
    }
    struct ar_log *log = ar_logs_last(text->logs);
    struct ar_log_row row = ar_log_empty_row(number);
    struct ar_log_timing *timing = &row.out_of_place;
    AR_TRY(ar_log_table_read(&text->table, log, words, count, &row, err));
    if (isnan(timing->time_s) && !isnan(timing->algbw_Bps)) { /* a message's share of the time */
        timing->time_s = timing->algbw_Bps > 0 ? (double)row.payload_bytes / timing->algbw_Bps : 0;
    }
    if (text->validation > 0) {
        timing->wrong = strcmp(words[text->validation], "Pass") != 0;
    }
    ar_copy_text(row.datatype, sizeof row.datatype, text->datatype);
    return ar_log_add_row(log, &row, err);
}
