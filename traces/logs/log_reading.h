/** \file log_reading.h
 * What the readers of logs share: words and columns, runs and rows, a run of nccl-tests while it is
 * read, and texts line by line.
 */
#pragma once

#include "ar_log.h"
#include "ar_record.h"

/* --- runs and rows ------------------------------------------------------------------------- */

/** The readers of whole files: each reads a text into `logs`, with its path and no runs yet. */
enum ar_status ar_read_nccl_json(struct ar_logs *logs, const char *text, size_t bytes,
                                 struct ar_error *err);
enum ar_status ar_read_csv(struct ar_logs *logs, const char *text, size_t bytes,
                           struct ar_error *err);

/** Adds a run with nothing known. The address holds until the next one is added. */
struct ar_log *ar_logs_add_run(struct ar_logs *logs, enum ar_log_format format, uint64_t line);

/** The latest run. */
struct ar_log *ar_logs_last(const struct ar_logs *logs);

/** A row with nothing known. */
struct ar_log_row ar_log_empty_row(uint64_t line);

/** Adds a row. A row without a time, or with one that is not above zero, is an error. */
enum ar_status ar_log_add_row(struct ar_log *run, const struct ar_log_row *row,
                              struct ar_error *err);

/** The collective that the name of a program speaks of, which may go on (`all_reduce_perf -b 8`,
 * `Allreduce Latency`); AR_LOG_OTHER for another. */
enum ar_log_collective ar_collective_of_name(const char *name);

/** busbw over algbw among `ranks` >= 1; NaN for AR_LOG_OTHER. */
double ar_log_busbw_factor(enum ar_log_collective collective, uint32_t ranks);

/* --- words and numbers --------------------------------------------------------------------- */

#define AR_BLANKS " \t\r\v\f"
#define AR_DIGITS "0123456789"

/** Makes `bytes` bytes a text: blanks become spaces, other control characters `?`. */
void ar_clean(char *text, size_t bytes);

/** Copies a text, cut if too long, and cleans the copy. */
void ar_copy_clean(char *target, size_t size, const char *source);

/** The line behind the `#` that may begin it. */
char *ar_unmarked(char *line);

/** The text that follows `part` in a text; NULL when it is not there. */
char *ar_behind(char *text, const char *part);

/** Splits a text into words; returns how many there are, of which at most `max` are stored. */
size_t ar_split(char *text, const char **words, size_t max);

bool ar_is_number(const char *word);
bool ar_is_count(const char *word);

/** Reads a key and the number behind it at the beginning of `*rest`, which is then what follows.
 * Numbers too large become the largest. */
bool ar_take_count(const char **rest, const char *key, uint64_t *count);

/* --- columns of tables of words ------------------------------------------------------------ */

/** A column of struct ar_log_row, or of its struct ar_log_timing. */
struct ar_log_column {
    struct ar_column cell;
    double unit; /**< unit of a number, in SI units; 0: it has none */
    bool is_timing;
};

/** A list of columns ends with one without a name. Columns of a row, and of a timing: */
#define AR_LOG_ROW(kind, field, name)                                                              \
    {                                                                                              \
        AR_COLUMN(kind, struct ar_log_row, field, name, ""), 0, false                              \
    }
#define AR_LOG_TIMING(field, name, unit)                                                           \
    {                                                                                              \
        AR_COLUMN(number, struct ar_log_timing, field, name, "a number or N/A"), unit, true        \
    }

enum { AR_TABLE_COLUMNS_MAX = 40 };

/** The header of a table of words. */
struct ar_log_table {
    const struct ar_log_column *columns[AR_TABLE_COLUMNS_MAX]; /**< NULL: not read */
    bool is_in_place[AR_TABLE_COLUMNS_MAX];
    size_t count; /**< words that a row must have; 0: no table */
    uint64_t line;
};

/** Appends the column of a name, if there is room; a timing's that comes again is in place. */
void ar_log_table_add(struct ar_log_table *table, const struct ar_log_column *columns,
                      const char *name);

/** Sets the fields of a row from the words of its line; `N/A` is no number. A column that may be
 * empty is where a number stands in place of its word. Words behind the columns are not read. */
enum ar_status ar_log_table_read(const struct ar_log_table *table, const struct ar_log *run,
                                 const char *const *words, size_t words_count,
                                 struct ar_log_row *row, struct ar_error *err);

/* --- a run of nccl-tests while it is read, from text or JSON ------------------------------- */

enum { AR_NCCL_RANKS_MAX = 1 << 20 };

/** A rank as a `Rank` line or an entry of `devices` describes it. */
struct ar_nccl_rank {
    uint64_t group, pid;
    uint64_t line; /**< 0: not listed */
    char host[64];
};

/** Begins as all zeros. */
struct ar_nccl_run {
    enum ar_log_collective hint;   /**< a program name was seen nearby, or in the path */
    uint64_t ranks_per_process;    /**< nThread times nGpus; 0 if unknown */
    bool has_rank_of_process_only; /**< JSON lists the first rank of each process */
    uint64_t nranks;               /**< ranks by NCCL's own messages; 0 if none or several */
    uint64_t nranks_line;
    struct ar_nccl_rank *ranks; /**< by their numbers; of the arena of the log */
    size_t ranks_count, ranks_capacity;
    struct ar_log_message *messages; /**< of any process; of the arena of the log */
    size_t messages_count;
};

/** Adds a rank. Two processes that both say they are the same rank are an error: without MPI every
 * process of nccl-tests is rank 0 of its own. */
enum ar_status ar_nccl_add_rank(const struct ar_log *log, struct ar_nccl_run *run, uint64_t number,
                                const struct ar_nccl_rank *rank, struct ar_error *err);

/** Counts ranks and hosts, finds the collective if it is not named, checks the bandwidths. */
enum ar_status ar_nccl_finish(struct ar_log *log, struct ar_nccl_run *run, struct ar_error *err);

/** Sets `NCCL 2.8.4` from NCCL's version code, in both of its encodings. */
void ar_nccl_set_version(uint64_t code, struct ar_log *log);

/* --- texts line by line -------------------------------------------------------------------- */

/** The line behind what mpirun, srun and Hydra put before it, trimmed. */
char *ar_strip_prefix(char *line);

/** Sizes of a run, from the `nThread` line. */
struct ar_nccl_sweep {
    uint64_t threads, gpus, max_bytes, step;
    bool is_factor;
    uint64_t line; /**< 0: unknown */
};

enum ar_nccl_phase { AR_NCCL_NONE, AR_NCCL_HEAD, AR_NCCL_TABLE, AR_NCCL_CLOSED };

struct ar_nccl_text {
    struct ar_logs *logs;
    enum ar_nccl_phase phase;
    struct ar_nccl_run run;
    struct ar_log_table table;
    struct ar_nccl_sweep sweep;
    enum ar_log_collective hint; /**< collective of a command line seen before the run */
    uint64_t failure_line;       /**< a test that says it failed; 0: none */
    bool is_line_open;           /**< the file ends in this line: it may be half of one */
    char library[AR_LOG_TEXT];
};

/** Whether a line begins a run of nccl-tests. */
bool ar_nccl_is_head(char *line);

/** Takes one line without the prefix of a launcher, and changes it. */
enum ar_status ar_nccl_text_line(struct ar_nccl_text *text, char *line, uint64_t number,
                                 struct ar_error *err);

/** Ends the run that is open, if any. `is_followed`: another run begins here. */
enum ar_status ar_nccl_text_end(struct ar_nccl_text *text, bool is_followed, struct ar_error *err);

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
