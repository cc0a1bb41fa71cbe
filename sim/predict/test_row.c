#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_arena.h"
#include "ar_note.h"
#include "ar_row.h"

static struct ar_arena arena; /* of a test, which is a process */

/* The text that ar_rows_write() writes. */
static char *written(enum ar_format format, const struct ar_row *rows, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    cr_assert_not_null(file);
    ar_rows_write(file, AR_VIEW(format), rows, count);
    cr_assert_eq(fclose(file), 0);
    return ar_arena_own(&arena, text, free);
}

static struct ar_row row_named(const char *name)
{
    struct ar_row row;
    ar_row_clear(&row);
    snprintf(row.cluster, sizeof row.cluster, "%s", name);
    snprintf(row.status, sizeof row.status, "ok");
    return row;
}

Test(row, a_note_is_one_line_whatever_it_quotes)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    cr_assert_not_null(file);
    ar_note(file, "%s and %d", "a\nb\tc", 2);
    cr_assert_eq(fclose(file), 0);
    cr_expect_str_eq(text, "allreckon: note: a b c and 2\n");
    free(text);
}

Test(row, an_empty_row_is_empty_in_csv_and_null_in_json)
{
    struct ar_row row;
    ar_row_clear(&row);
    char *csv = written(AR_FORMAT_CSV, &row, 1);
    char *json = written(AR_FORMAT_JSON, &row, 1);
    const char *line = strchr(csv, '\n') + 1;
    cr_expect_eq(strspn(line, ","), strlen(line) - 1, "%s", line);
    size_t names = 0, nulls = 0;
    for (const char *at = json; (at = strstr(at, "\": ")) != NULL; at++) {
        names++;
        nulls += strncmp(at, "\": null", 7) == 0;
    }
    cr_expect_eq(names, strlen(line), "as many names as columns");
    cr_expect_eq(nulls, names);
}

Test(row, numbers_that_are_not_finite_are_empty_and_null)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        struct ar_row row = row_named("c");
        row.iteration_s = values[i];
        char *csv = written(AR_FORMAT_CSV, &row, 1);
        char *json = written(AR_FORMAT_JSON, &row, 1);
        cr_expect_null(strstr(csv, "inf"));
        cr_expect_null(strstr(csv, "nan"));
        cr_expect_not_null(strstr(json, "\"iteration_s\": null"));
    }
}

Test(row, counts_are_whole_and_zero_is_a_value)
{
    struct ar_row row = row_named("c");
    row.messages_count = 0;
    row.payload_bytes = 1125899906842624;
    row.exposed_s = 0;
    char *json = written(AR_FORMAT_JSON, &row, 1);
    cr_expect_not_null(strstr(json, "\"messages_count\": 0,"));
    cr_expect_not_null(strstr(json, "\"payload_bytes\": 1125899906842624,"));
    cr_expect_not_null(strstr(json, "\"exposed_s\": 0,"));
}

Test(row, json_is_one_array_of_any_number_of_rows)
{
    struct ar_row rows[2] = {row_named("a"), row_named("b")};
    char *none = written(AR_FORMAT_JSON, rows, 0);
    char *both = written(AR_FORMAT_JSON, rows, 2);
    cr_expect_str_eq(none, "[]\n");
    cr_expect_not_null(strstr(both, "},\n  {\"cluster\": \"b\""));
    cr_expect_str_eq(both + strlen(both) - 4, "}\n]\n");
}

Test(row, a_table_says_why_a_row_has_no_result)
{
    struct ar_row row = row_named("c");
    snprintf(row.trace, sizeof row.trace, "t");
    snprintf(row.status, sizeof row.status, "the worker process ended with signal 9");
    row.gpus = 4;
    char *step = written(AR_FORMAT_TABLE, &row, 1);
    row.trace[0] = '\0';
    row.channels = 2;
    row.payload_bytes = 8;
    char *bare = written(AR_FORMAT_TABLE, &row, 1);
    cr_expect_not_null(strstr(step, " the worker process ended with signal 9\n"), "%s", step);
    cr_expect_not_null(strstr(bare, " the worker process ended with signal 9\n"), "%s", bare);
    cr_expect_null(strstr(step, "nan"));
}

Test(row, a_csv_line_reads_back_as_the_row_it_was_written_from)
{
    struct ar_row row = row_named("a, \"b\"\nc\\n");
    struct ar_row found;
    struct ar_error err;
    row.gpus = 0;
    row.nodes = UINT64_MAX - 1;
    row.iteration_s = 0.1234567891234;
    row.exposed_s = -1.5e-300;
    char *csv = written(AR_FORMAT_CSV, &row, 1);
    cr_assert_eq(ar_record_read_line(ar_row_columns, strchr(csv, '\n') + 1, &found, &err), AR_OK,
                 "%s", err.text);
    char *again = written(AR_FORMAT_CSV, &found, 1);
    cr_expect_str_eq(again, csv);
    cr_expect_str_eq(found.cluster, row.cluster);
    cr_expect(isnan(found.efficiency_frac));
    cr_expect_eq(found.seed, AR_ROW_NO_COUNT);
}

Test(row, a_line_that_is_no_row_is_refused)
{
    static const char *const lines[] = {"",         "a,b",   "\"a",
                                        "\"a\"b,c", "a,b,x", "a,b,1,fp16,1,1,r,,1,e,1,y"};
    struct ar_row row = row_named("a");
    struct ar_error err;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        cr_expect_eq(ar_record_read_line(ar_row_columns, lines[i], &row, &err), AR_BAD_DATA, "%s",
                     lines[i]);
    }
    char line[4 * AR_ROW_TEXT];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    cr_expect_eq(ar_record_read_line(ar_row_columns, line, &row, &err), AR_BAD_DATA);
}
