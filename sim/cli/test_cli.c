#include "test_cli.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 4096, KEPT_MAX = 2048 };

static char folder[PATH_SIZE / 2]; /* a new one for each test, which is a process of its own */

/* Texts and tables that the test reads, until it ends. */
static void *kept[KEPT_MAX];
static size_t kept_count;

static void *keep_memory(void *memory)
{
    cr_assert(memory != NULL && kept_count < KEPT_MAX);
    kept[kept_count++] = memory;
    return memory;
}

static void cli_copy(const char *shipped, const char *path)
{
    char from[PATH_SIZE];
    snprintf(from, sizeof from, "%s/%s", AR_TEST_SOURCE_DIR, shipped);
    cli_write(path, cli_read(from));
}

void cli_enter(void)
{
    snprintf(folder, sizeof folder, "%s/test-cli-XXXXXX", AR_TEST_BINARY_DIR);
    cr_assert_not_null(mkdtemp(folder));
    cr_assert(chdir(folder) == 0 && mkdir("work", 0777) == 0 && chdir("work") == 0);
    cr_assert(setenv("AR", AR_TEST_PROGRAM, 1) == 0);
    cr_assert(unsetenv("COLUMNS") == 0);
    cli_copy("topologies/machines/abci-v100.topo", "cluster.topo");
    cli_copy("traces/example-timed.csv", "trace.csv");
}

void cli_enter_measured(void)
{
    cli_enter();
    cli_copy("validate/data/abci_v100_nccl2.8.4_allreduce.csv", CLI_MEASURED);
}

static int remove_entry(const char *path, const struct stat *state, int kind, struct FTW *place)
{
    (void)state, (void)kind, (void)place;
    return remove(path);
}

void cli_leave(void)
{
    cr_assert(chdir("/") == 0 && nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0);
    while (kept_count > 0) {
        free(kept[--kept_count]);
    }
}

const char *cli_read(const char *path)
{
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s is not there", path);
    size_t capacity = 0;
    char *text = NULL;
    bool is_empty = getdelim(&text, &capacity, '\0', file) < 0;
    fclose(file);
    keep_memory(text);
    return is_empty ? "" : text;
}

void cli_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert(fputs(text, file) >= 0 && fclose(file) == 0);
}

static struct cli_run run_line(const char *line)
{
    /* Looking for leaks takes longer than a short run: of the runs of a test the first and each
     * eighth after it look under sanitizers, where AR_TEST_STRIDE is 8. */
    static size_t runs;
    bool looks_for_leaks = runs++ % AR_TEST_STRIDE == 0;
    char command[LINE_SIZE];
    snprintf(command, sizeof command, "exec >../out 2>../err </dev/null\n%s%s",
             looks_for_leaks ? "" : "export ASAN_OPTIONS=\"$ASAN_OPTIONS:detect_leaks=0\"\n", line);
    int state = system(command);
    cr_assert(state != -1);
    return (struct cli_run){
        .code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state),
        .out = cli_read("../out"),
        .err = cli_read("../err"),
    };
}

/* Declares the line of a function with arguments as of printf(). */
#define FORMAT_LINE(text, line)                                                                    \
    char text[LINE_SIZE / 2];                                                                      \
    va_list text##_arguments;                                                                      \
    va_start(text##_arguments, line);                                                              \
    vsnprintf(text, sizeof text, line, text##_arguments);                                          \
    va_end(text##_arguments)

struct cli_run cli_run(const char *line, ...)
{
    FORMAT_LINE(text, line);
    return run_line(text);
}

/* Lines of a text that do not begin with a prefix. */
static size_t lines_without(const char *text, const char *prefix)
{
    size_t count = 0;
    for (const char *line = text; *line != '\0'; line += line[0] == '\n') {
        count += strncmp(line, prefix, strlen(prefix)) != 0;
        line += strcspn(line, "\n");
    }
    return count;
}

struct cli_run cli_good(const char *line, ...)
{
    FORMAT_LINE(text, line);
    struct cli_run run = run_line(text);
    cr_assert_eq(run.code, 0, "%s: exit code %d, %s", text, run.code, run.err);
    cr_expect_eq(lines_without(run.err, "allreckon: note: "), 0, "%s: %s", text, run.err);
    return run;
}

const char *cli_good_on_terminal(const char *command)
{
    if (system("script -qec true /dev/null </dev/null >/dev/null 2>&1") != 0) {
        cr_skip_test("no pseudo-terminal can be made here");
    }
    return cli_good("script -qec \"%s\" terminal >/dev/null; cat terminal", command).out;
}

struct cli_table *cli_rows(const char *line, ...)
{
    FORMAT_LINE(text, line);
    return cli_table(cli_good("$AR %s --format csv", text).out);
}

double cli_value(const char *column, const char *line, ...)
{
    FORMAT_LINE(text, line);
    return cli_number(cli_rows("%s", text), 1, column);
}

void cli_need_gnuplot(void)
{
    if (system("command -v gnuplot >/dev/null") != 0) {
        cr_skip_test("gnuplot is not there");
    }
}

void cli_expect_error(const struct cli_run *run, const char *line, int code, const char *fragment)
{
    cr_expect_eq(run->code, code, "%s: exit code %d, %s", line, run->code, run->err);
    cr_expect_str_empty(run->out, "%s: found on stdout: %s", line, run->out);
    cr_expect(lines_without(run->err, "allreckon: note: ") == 1 &&
                  lines_without(run->err, "allreckon: ") == 0,
              "%s: found on stderr: %s", line, run->err);
    cr_expect(strstr(run->err, fragment) != NULL, "%s: \"%s\" is not in: %s", line, fragment,
              run->err);
}

struct cli_run cli_stops(int code, const char *fragment, const char *line, ...)
{
    FORMAT_LINE(text, line);
    struct cli_run run = run_line(text);
    cli_expect_error(&run, text, code, fragment);
    return run;
}

struct cli_run cli_fails(int code, const char *fragment, const char *line, ...)
{
    FORMAT_LINE(text, line);
    size_t files = cli_files_count();
    struct cli_run run = cli_stops(code, fragment, "%s", text);
    cr_expect_eq(cli_files_count(), files, "%s: left a file", text);
    return run;
}

void cli_fail_all(const char *base, const struct cli_case *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cli_fails(rows[i].code, rows[i].fragment, "$AR %s %s", base, rows[i].line);
    }
}

void cli_refuse(int code, const char *base, const char *const (*rows)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cli_fails(code, rows[i][1], "$AR %s %s", base, rows[i][0]);
    }
}

static size_t entries_count;

static int count_entry(const char *path, const struct stat *state, int kind, struct FTW *place)
{
    (void)path, (void)state, (void)kind;
    entries_count += place->level > 0;
    return 0;
}

size_t cli_files_count(void)
{
    entries_count = 0;
    cr_assert_eq(nftw(".", count_entry, 16, FTW_PHYS), 0);
    return entries_count;
}

/* Cuts off the next cell, without its quotes; what comes behind stays in `*rest`. */
static char *next_cell(char **rest)
{
    char *cell = *rest, *end = cell[0] == '"' ? strstr(cell, "\",") : NULL;
    if (cell[0] != '"') {
        return strsep(rest, ",");
    }
    cell[end != NULL ? (size_t)(end - cell) : strlen(cell) - 1] = '\0';
    *rest = end != NULL ? end + 2 : NULL;
    return cell + 1;
}

struct cli_table *cli_table(const char *text)
{
    struct cli_table *table = keep_memory(calloc(1, sizeof *table));
    char *at = keep_memory(strdup(text));
    for (char *line = strtok(at, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        cr_assert_lt(table->rows_count, (size_t)CLI_ROWS_MAX);
        size_t column = 0;
        for (char *cell = line; cell != NULL; column++) {
            cr_assert_lt(column, (size_t)CLI_COLUMNS_MAX);
            table->rows[table->rows_count][column] = next_cell(&cell);
        }
        cr_assert(table->rows_count == 0 || column == table->columns_count, "cells in row %zu: %zu",
                  table->rows_count, column);
        table->columns_count = column;
        table->rows_count++;
    }
    return table;
}

const char *cli_cell(const struct cli_table *table, size_t row, const char *column)
{
    cr_assert_lt(row, table->rows_count);
    for (size_t i = 0; i < table->columns_count; i++) {
        if (strcmp(table->rows[0][i], column) == 0) {
            return table->rows[row][i];
        }
    }
    cr_assert_fail("no column %s", column);
    return "";
}

double cli_number(const struct cli_table *table, size_t row, const char *column)
{
    char *end;
    const char *cell = cli_cell(table, row, column);
    double value = strtod(cell, &end);
    cr_assert(end != cell && *end == '\0', "row %zu, %s: \"%s\"", row, column, cell);
    return value;
}

size_t cli_row(const struct cli_table *table, const char *column, const char *text)
{
    for (size_t i = 1; i < table->rows_count; i++) {
        if (strcmp(cli_cell(table, i, column), text) == 0) {
            return i;
        }
    }
    return 0;
}

size_t cli_lines_with(const char *text, const char *fragment)
{
    size_t count = 0;
    char *copy = strdup(text);
    cr_assert_not_null(copy);
    for (char *line = strtok(copy, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        count += strstr(line, fragment) != NULL;
    }
    free(copy);
    return count;
}

void cli_expect_sayings(const char *base, const struct cli_saying *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cli_run run = cli_good("$AR %s %s", base, rows[i].line);
        cr_expect_eq(
            cli_lines_with(run.out, rows[i].fragment) + cli_lines_with(run.err, rows[i].fragment),
            rows[i].count, "%s: \"%s\" in: %s%s", rows[i].line, rows[i].fragment, run.err, run.out);
    }
}

void cli_expect_counts(const char *text, const struct cli_count *counts)
{
    for (; counts->fragment != NULL; counts++) {
        cr_expect_eq(cli_lines_with(text, counts->fragment), counts->count, "\"%s\" in: %s",
                     counts->fragment, text);
    }
}

void cli_expect_same_row(const struct cli_table *a, size_t i, const struct cli_table *b, size_t j)
{
    cr_assert_eq(a->columns_count, b->columns_count);
    for (size_t column = 0; column < a->columns_count; column++) {
        if (strcmp(a->rows[0][column], "wall_s") != 0) {
            cr_expect_str_eq(a->rows[i][column], b->rows[j][column], "row %zu, %s", i,
                             a->rows[0][column]);
        }
    }
}

void cli_expect_same_table(const struct cli_table *a, const struct cli_table *b)
{
    cr_assert_eq(a->rows_count, b->rows_count);
    for (size_t i = 0; i < a->rows_count; i++) {
        cli_expect_same_row(a, i, b, i);
    }
}
