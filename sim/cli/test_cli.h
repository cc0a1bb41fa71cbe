/** \file test_cli.h
 * For tests of the command line: runs the built program in a new directory and keeps its output.
 */
#pragma once

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/** The result of a run; its texts stay until the test ends. */
struct cli_run {
    int code; /**< exit code; 128 + signal if one ended it */
    const char *out;
    const char *err;
};

/** Makes a directory with the files below and goes there; to be the `.init` of a suite.
 * cluster.topo and trace.csv are copies of shipped files. */
void cli_enter(void);

/** The same, with the measured all-reduces of ABCI as CLI_MEASURED. */
void cli_enter_measured(void);
#define CLI_MEASURED "abci.csv"

/** Removes the directory; to be the `.fini` of a suite. */
void cli_leave(void);

/** Runs a line of a shell in which $AR is the program; `line` is a printf format. */
struct cli_run cli_run(const char *line, ...) __attribute__((format(printf, 1, 2)));

/** The same, and the run must succeed and write nothing but notes to stderr. */
struct cli_run cli_good(const char *line, ...) __attribute__((format(printf, 1, 2)));

/** Everything that a command writes on a terminal, made by `script`: standard output and notes
 * mixed. Skips the test where there are no pseudo-terminals (a chroot without /dev/pts). */
const char *cli_good_on_terminal(const char *command);

/** The rows that `$AR LINE --format csv` prints; it must succeed as above. */
struct cli_table *cli_rows(const char *line, ...) __attribute__((format(printf, 1, 2)));

/** Runs a line that must fail: exit code, empty stdout, one line on stderr that begins with
 * "allreckon: " and holds the fragment, no file left. */
struct cli_run cli_fails(int code, const char *fragment, const char *line, ...)
    __attribute__((format(printf, 3, 4)));

/** The same of a run that may leave files. */
struct cli_run cli_stops(int code, const char *fragment, const char *line, ...)
    __attribute__((format(printf, 3, 4)));

/** Checks that a run failed so; it may leave files. */
void cli_expect_error(const struct cli_run *run, const char *line, int code, const char *fragment);

/** Runs many lines that must fail so, each behind "$AR " and the same base. */
struct cli_case {
    const char *line;
    int code;
    const char *fragment;
};
void cli_fail_all(const char *base, const struct cli_case *rows, size_t count);
#define CLI_FAIL_ALL(base, rows) cli_fail_all(base, rows, sizeof rows / sizeof rows[0])

/** The same of pairs of a line and a fragment, with one exit code for all. */
void cli_refuse(int code, const char *base, const char *const (*rows)[2], size_t count);
#define CLI_REFUSE(code, base, rows) cli_refuse(code, base, rows, sizeof rows / sizeof rows[0])

/** Whether a text has a fragment, or lacks it. */
#define CLI_HAS(text, fragment)                                                                    \
    cr_expect(strstr(text, fragment) != NULL, "\"%s\" is not in: %s", fragment, text)
#define CLI_LACKS(text, fragment)                                                                  \
    cr_expect(strstr(text, fragment) == NULL, "\"%s\" is in: %s", fragment, text)

/** Entries in the directory, with all below it; the same before and after if nothing was left. */
size_t cli_files_count(void);

/** Writes a file of the directory. */
void cli_write(const char *path, const char *text);

/** Reads a file of the directory. */
const char *cli_read(const char *path);

enum { CLI_COLUMNS_MAX = 128, CLI_ROWS_MAX = 256 };

/** A CSV text, cut into cells; rows[0] is the header. */
struct cli_table {
    size_t rows_count;
    size_t columns_count;
    char *rows[CLI_ROWS_MAX][CLI_COLUMNS_MAX];
};

/** Cuts a CSV text, in whose quoted cells there are no quotes. */
struct cli_table *cli_table(const char *text);

/** The cell of a row in a column. */
const char *cli_cell(const struct cli_table *table, size_t row, const char *column);

/** The same as a number, which it must be. */
double cli_number(const struct cli_table *table, size_t row, const char *column);

/** Whether a cell has a text, or so many lines of a text a fragment. */
#define CLI_CELL(table, row, column, text)                                                         \
    cr_expect_str_eq(cli_cell(table, row, column), text, "%s of row %d", column, (int)(row))
#define CLI_LINES(text, fragment, count)                                                           \
    cr_expect_eq(cli_lines_with(text, fragment), (size_t)(count), "\"%s\" in: %s", fragment, text)

/** Compares two rows, or all rows of two tables, but for the real time they took. */
void cli_expect_same_row(const struct cli_table *a, size_t i, const struct cli_table *b, size_t j);
void cli_expect_same_table(const struct cli_table *a, const struct cli_table *b);

/** Lines of a text that hold a fragment. */
size_t cli_lines_with(const char *text, const char *fragment);
