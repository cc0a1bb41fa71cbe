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

/** For a test that reaches no code of the program but what the others reach: it is left out under
 * sanitizers, which look for wrong memory and not at numbers. */
#define CLI_NO_NEW_CODE .disabled = AR_TEST_STRIDE > 1

/** Removes the directory; to be the `.fini` of a suite. */
void cli_leave(void);

/** Runs a line of a shell in which $AR is the program; `line` is a printf format. */
struct cli_run cli_run(const char *line, ...) __attribute__((format(printf, 1, 2)));

/** The same, and the run must succeed and write nothing but notes to stderr. */
struct cli_run cli_good(const char *line, ...) __attribute__((format(printf, 1, 2)));

/** Everything that a command writes on a terminal, made by `script`: standard output and notes
 * mixed. Skips the test where there are no pseudo-terminals (a chroot without /dev/pts). */
const char *cli_good_on_terminal(const char *command);

/** The rows that `$AR LINE --format csv` prints; it must succeed as above. The same of the number
 * in a column of the first row. */
struct cli_table *cli_rows(const char *line, ...) __attribute__((format(printf, 1, 2)));
double cli_value(const char *column, const char *line, ...) __attribute__((format(printf, 2, 3)));

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

/** Whether a text has all of some fragments, or lacks them. */
#define CLI_HAS(text, ...)                                                                         \
    for (const char *cli_text = text, *const *cli_at = (const char *const[]){__VA_ARGS__, NULL};   \
         *cli_at != NULL; cli_at++)                                                                \
    cr_expect(strstr(cli_text, *cli_at) != NULL, "\"%s\" is not in: %s", *cli_at, cli_text)
#define CLI_LACKS(text, ...)                                                                       \
    for (const char *cli_text = text, *const *cli_at = (const char *const[]){__VA_ARGS__, NULL};   \
         *cli_at != NULL; cli_at++)                                                                \
    cr_expect(strstr(cli_text, *cli_at) == NULL, "\"%s\" is in: %s", *cli_at, cli_text)

/** The same of what `$AR LINE` prints, or writes as notes; it must succeed as above. */
#define CLI_SHOWS(line, ...) CLI_HAS(cli_good("$AR %s", line).out, __VA_ARGS__)
#define CLI_NOTES(line, ...) CLI_HAS(cli_good("$AR %s", line).err, __VA_ARGS__)

/** Lines that must succeed, each behind "$AR " and the same base; so many of the lines that each
 * prints, notes included, have the fragment. */
struct cli_saying {
    const char *line, *fragment;
    size_t count;
};
void cli_expect_sayings(const char *base, const struct cli_saying *rows, size_t count);
#define CLI_SAYS(base, rows) cli_expect_sayings(base, rows, sizeof rows / sizeof rows[0])

/** Entries in the directory, with all below it; the same before and after if nothing was left. */
size_t cli_files_count(void);

/** Writes a file of the directory. */
void cli_write(const char *path, const char *text);

/** Reads a file of the directory. */
const char *cli_read(const char *path);

enum { CLI_COLUMNS_MAX = 128, CLI_ROWS_MAX = 256 };

/** A CSV text, cut into cells; rows[0] is the header. */
struct cli_table {
    size_t rows_count, columns_count;
    char *rows[CLI_ROWS_MAX][CLI_COLUMNS_MAX];
};

/** Cuts a CSV text, in whose quoted cells there are no quotes. */
struct cli_table *cli_table(const char *text);

/** The cell of a row in a column. */
const char *cli_cell(const struct cli_table *table, size_t row, const char *column);

/** The same as a number, which it must be. */
double cli_number(const struct cli_table *table, size_t row, const char *column);

/** The first row that has a text in a column; 0: none. */
size_t cli_row(const struct cli_table *table, const char *column, const char *text);

/** Whether cells of a row have texts: a column and its text, the next column, and so on. */
#define CLI_CELL(table, row, ...)                                                                  \
    for (const char *const *cli_at = (const char *const[]){__VA_ARGS__, NULL}; *cli_at != NULL;    \
         cli_at += 2)                                                                              \
    cr_expect_str_eq(cli_cell(table, row, cli_at[0]), cli_at[1], "%s of row %d", cli_at[0],        \
                     (int)(row))

/** Whether a number is near an expected one, and whether cells of two rows have one text. */
#define CLI_NEAR(table, row, column, ...)                                                          \
    cr_expect_float_eq(cli_number(table, row, column), __VA_ARGS__)
#define CLI_SAME(a, i, b, j, ...)                                                                  \
    for (const char *const *cli_at = (const char *const[]){__VA_ARGS__, NULL}; *cli_at != NULL;    \
         cli_at++)                                                                                 \
    cr_expect_str_eq(cli_cell(a, i, *cli_at), cli_cell(b, j, *cli_at), "%s of row %d", *cli_at,    \
                     (int)(i))

/** Skips the test where there is no gnuplot. */
void cli_need_gnuplot(void);

/** Whether so many lines of a text have a fragment; the second one of several {fragment, count}. */
#define CLI_LINES(text, fragment, count) CLI_COUNTS(text, {fragment, (size_t)(count)})
#define CLI_COUNTS(text, ...)            cli_expect_counts(text, (const struct cli_count[]){__VA_ARGS__, {0}})
struct cli_count {
    const char *fragment;
    size_t count;
};
void cli_expect_counts(const char *text, const struct cli_count *counts);

/** Compares two rows, or all rows of two tables, but for the real time they took. */
void cli_expect_same_row(const struct cli_table *a, size_t i, const struct cli_table *b, size_t j);
void cli_expect_same_table(const struct cli_table *a, const struct cli_table *b);

/** Lines of a text that hold a fragment. */
size_t cli_lines_with(const char *text, const char *fragment);
