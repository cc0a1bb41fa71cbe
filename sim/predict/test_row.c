#include <stdlib.h>

#include "ar_arena.h"
#include "ar_row.h"
#include "test_outcome.h"

static struct ar_arena arena; /* of a test, which is a process */

/* The table of one row. */
static char *written(const struct ar_row *row)
{
    char *text;
    TEST_TEXT(text, ar_rows_write(stream, AR_VIEW(AR_FORMAT_TABLE), row, 1));
    return ar_arena_own(&arena, text, free);
}

Test(row, a_note_is_one_line_whatever_it_quotes)
{
    char *text;
    TEST_TEXT(text, ar_note(stream, "%s and %d", "a\nb\tc", 2));
    cr_expect_str_eq(text, "allreckon: note: a b c and 2\n");
    free(text);
}

Test(row, a_table_says_why_a_row_has_no_result)
{
    struct ar_row row;
    ar_record_clear(ar_row_columns, &row);
    snprintf(row.trace, sizeof row.trace, "t");
    snprintf(row.status, sizeof row.status, "the worker process ended with signal 9");
    row.gpus = 4;
    char *step = written(&row);
    row.trace[0] = '\0';
    row.channels = 2;
    row.payload_bytes = 8;
    char *bare = written(&row);
    cr_expect_not_null(strstr(step, " the worker process ended with signal 9\n"), "%s", step);
    cr_expect_not_null(strstr(bare, " the worker process ended with signal 9\n"), "%s", bare);
    cr_expect_null(strstr(step, "nan"));
}
