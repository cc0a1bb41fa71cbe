/* CSV files, good and bad; files of traces and costs have tests beside their readers. */
#include <math.h>
#include <stdlib.h>

#include "ar_csv.h"
#include "ar_file.h"
#include "test_outcome.h"

static struct ar_arena arena; /* of a test, which is a process */

static struct ar_csv *parsed(const char *text, enum ar_csv_comments comments)
{
    struct ar_csv *csv = NULL;
    TEST_OK(ar_csv_parse("x.csv", text, strlen(text), comments, &arena, &csv, &why));
    return csv;
}

Test(csv, cells_may_have_commas_quotes_and_ends_of_lines)
{
    struct ar_csv *csv = parsed("name,note\r\n"
                                " a , \"one, \"\"two\"\"\r\nthree\" \r\n"
                                "\n"
                                "# \"a remark\n"
                                "b,\"\"\n"
                                "\" c \",",
                                AR_CSV_DIRECTIVES);
    cr_assert_eq(csv->rows_count, 3);
    cr_expect_str_eq(csv->cells[0], "name");
    cr_expect_str_eq(ar_csv_cell(csv, 0, 0), "a");
    cr_expect_str_eq(ar_csv_cell(csv, 0, 1), "one, \"two\"\r\nthree");
    cr_expect_str_empty(ar_csv_cell(csv, 1, 1));
    cr_expect_str_eq(ar_csv_cell(csv, 2, 0), " c ");
    cr_expect_eq(csv->lines[0], 2, "where the row begins");
    cr_expect_eq(csv->lines[1], 6);
    cr_expect_eq(csv->lines[2], 7);
    char where[AR_CSV_WHERE];
    cr_expect_str_eq(ar_csv_where(csv, 1, where), "x.csv:6");
    csv = parsed("a,b\r1,2\r3,4\r", AR_CSV_DIRECTIVES);
    cr_assert_eq(csv->rows_count, 2, "lines of old Macs");
    cr_expect_str_eq(ar_csv_cell(csv, 1, 0), "3");
}

Test(csv, comments_are_directives_before_the_header_or_facts_anywhere)
{
    static const char text[] = "# format = 1\n# net_Bps: 5\n#an ordinary remark: of words \n"
                               "a\n1\n# end: = \n";
    struct ar_csv *facts = parsed(text, AR_CSV_FACTS);
    static const char *const expected[][2] = {
        {"", "format = 1"}, {"net_Bps", "5"}, {"", "an ordinary remark: of words"}, {"end", "="}};
    static const uint64_t lines[] = {1, 2, 3, 6};
    cr_assert_eq(facts->directives_count, 4);
    for (size_t i = 0; i < 4; i++) {
        cr_expect_str_eq(facts->directives[i].key, expected[i][0]);
        cr_expect_str_eq(facts->directives[i].value, expected[i][1]);
        cr_expect_eq(facts->directives[i].line, lines[i]);
    }
    struct ar_csv *directives = parsed(text, AR_CSV_DIRECTIVES);
    cr_assert_eq(directives->directives_count, 1);
    cr_expect_str_eq(directives->directives[0].value, "1");
}

Test(csv, wrong_files_are_refused_with_their_line)
{
    static const char *const cases[][2] = {
        {"", "x.csv: no header line in 0 bytes; expected a CSV file"},
        {"a,b\n1\n", "x.csv:2: 1 cells; expected 2 as in the header (line 1)"},
        {"a,b\n1", "the file ends in the middle of this line"},
        {"a,b\n1,2\n\"1,2\n3,4\n", "x.csv:3: a quote is out of place or not closed"},
        {"a,b\n\"1\n\",2,3\n", "x.csv:2: 3 cells"},
        {"a,b\n\"\n\",2\n3\n", "x.csv:4: 1 cells"},
        {"a\n\x01\n", "x.csv:2: byte 0x01 is not text; expected a CSV file"},
        {"a\n\x7f\n", "x.csv:2: byte 0x7f is not text"},
        {"a\n# b = 1\n", "x.csv:2: directive after the header (line 1)"},
    };
    struct ar_csv *csv = NULL;
    TEST_PAIRS_FAIL(
        AR_BAD_DATA, cases,
        ar_csv_parse("x.csv", given, strlen(given), AR_CSV_DIRECTIVES, &arena, &csv, &why));
    TEST_FAILS(AR_BAD_DATA, "x.csv:2: byte 0x00 is not text",
               ar_csv_parse("x.csv", "a\n\0", 3, AR_CSV_DIRECTIVES, &arena, &csv, &why));
    cr_expect_null(csv);
}

Test(csv, what_is_written_is_what_is_read)
{
    static const char *const cells[] = {"plain",    "a,b",  "\"", "# no remark",
                                        " blank\t", "\r\n", ""};
    enum { COUNT = sizeof cells / sizeof cells[0] };
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    cr_assert_not_null(file);
    fputs("name,again\n", file);
    for (size_t i = 0; i < COUNT; i++) {
        ar_csv_write_cell(file, cells[i], true);
        ar_csv_write_cell(file, cells[i], false);
        fputc('\n', file);
    }
    cr_assert_eq(fclose(file), 0);
    struct ar_csv *csv = parsed(text, AR_CSV_DIRECTIVES);
    cr_assert_eq(csv->rows_count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        cr_expect_str_eq(ar_csv_cell(csv, i, 0), cells[i]);
        cr_expect_str_eq(ar_csv_cell(csv, i, 1), cells[i]);
    }
    free(text);
}

/* --- files ------------------------------------------------------------------------------------ */

Test(file, a_file_is_read_whole_without_a_byte_order_mark_or_not_at_all)
{
    static const char name[] = "ar_file_test.txt";
    static const char *const cases[][2] = {
        {"", ""}, {"a\r\nb", "a\r\nb"}, {"\xef\xbb\xbfkey", "key"}, {"\xef\xbb\xbf", ""}};
    char *text = NULL, digits[300001];
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_write_file(name, cases[i][0]);
        TEST_OK(ar_file_read(name, 8, "a text", &arena, &text, &bytes, &why));
        cr_expect_str_eq(text, cases[i][1]);
        cr_expect_eq(bytes, strlen(cases[i][1]));
    }
    for (int i = 0; i < 50000; i++) {
        snprintf(digits + 6 * i, 7, "%05d\n", i);
    }
    test_write_file(name, digits);
    TEST_OK(ar_file_read(name, 300000, "digits", &arena, &text, &bytes, &why));
    cr_expect_eq(bytes, 300000);
    cr_expect_str_eq(text, digits);
    TEST_FAILS(AR_BAD_DATA, "ar_file_test.txt: larger than 299999 bytes; expected digits",
               ar_file_read(name, 299999, "digits", &arena, &text, &bytes, &why));
    remove(name);
    TEST_FAILS(AR_NO_INPUT, "ar_file_test.txt: No such file or directory; expected digits",
               ar_file_read(name, 9, "digits", &arena, &text, &bytes, &why));
    TEST_FAILS(AR_NO_INPUT, ".: Is a directory; expected digits",
               ar_file_read(".", 9, "digits", &arena, &text, &bytes, &why));
}

Test(file, names_that_lead_elsewhere_are_told_from_others)
{
    static const struct {
        const char *name;
        bool is_below;
    } rows[] = {{"a.csv", true},      {"a/b.csv", true}, {"./a", true},     {"..a", true},
                {"a../b", true},      {"...", true},     {"/a", false},     {"..", false},
                {"../a", false},      {"a/..", false},   {"a/../b", false}, {"//a", false},
                {"a//../../b", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(ar_file_is_below(rows[i].name), rows[i].is_below, "%s", rows[i].name);
    }
}

/* --- lists of columns ------------------------------------------------------------------------- */

struct layer {
    char name[8];
    const char *source;
    double time_s;
    uint64_t elements;
    uint32_t stride;
    enum { CONV, LOSS } kind;
    bool is_fused;
};

static const char *const kinds[] = {"conv", "loss", NULL};

static const struct ar_column layer_columns[] = {
    AR_COLUMN(text, struct layer, name, "layer", ""),
    AR_COLUMN(string, struct layer, source, "source", "where it is from", .may_be_empty = true),
    AR_COLUMN(number, struct layer, time_s, "time_s", "seconds >= 0", .max = 1e9),
    AR_COLUMN(count, struct layer, elements, "elements", "", .may_be_missing = true),
    AR_COLUMN(count, struct layer, stride, "stride", "", .min = 1, .max = 16),
    AR_COLUMN(choice, struct layer, kind, "kind", "", .names = kinds),
    AR_COLUMN(flag, struct layer, is_fused, "fused", ""),
};

Test(csv, a_list_of_columns_reads_the_rows_of_a_file_in_any_order)
{
    const struct layer begin = {.elements = 7, .source = "none"};
    struct layer *layers;
    struct ar_csv *csv = parsed("fused,kind,stride,time_s,layer,source\n"
                                "yes,loss,2,-0,fc,\nno,conv,1,1e-3,c1,a book\n",
                                AR_CSV_DIRECTIVES);
    TEST_OK(ar_csv_read_rows(csv, AR_COLUMNS(layer_columns), &begin, &layers, &why));
    cr_expect_str_eq(layers[0].name, "fc");
    cr_expect_str_eq(layers[0].source, "none", "an empty cell leaves the default");
    cr_expect_str_eq(layers[1].source, "a book");
    cr_expect_not(signbit(layers[0].time_s));
    cr_expect_eq(layers[1].time_s, 1e-3);
    cr_expect_eq(layers[1].elements, 7, "so does a missing column");
    cr_expect(layers[0].stride == 2 && layers[0].kind == LOSS && layers[0].is_fused);
    cr_expect(layers[1].stride == 1 && layers[1].kind == CONV && !layers[1].is_fused);
}

Test(csv, what_a_list_of_columns_does_not_allow_is_said_with_where_and_what_is_expected)
{
    static const char *const cases[][2] = {
        {"layer,source\n", "x.csv:1: column \"time_s\" is missing; expected it in the header"},
        {"layer,source,time_s,stride,kind\n", "column \"fused\" is missing; expected it in"},
        {"layer,layer\n", "x.csv:1: column \"layer\" is given twice; expected it once"},
        {"layer,sourc\n", "x.csv:1: unknown column \"sourc\"; did you mean \"source\"?"},
        {"\xff"
         "90123456789012345678901234567890123456789012345,,0,1,conv,no",
         "is \"?901234567890123456789012345678901234567...\""},
        {"a2345678,,0,1,conv,no", "column \"layer\" is \"a2345678\"; expected a text of 1 to 7 "},
        {"a,,-1,1,conv,no", "x.csv:2: column \"time_s\" is \"-1\"; expected seconds >= 0"},
        {"a,,\" 3\",1,conv,no", "expected seconds >= 0"},
        {"a,,2e9,1,conv,no", "expected seconds >= 0"},
        {"a,,0,17,conv,no", "\"stride\" is \"17\"; expected a whole number from 1 to 16"},
        {"a,,0,1,pool,no", "column \"kind\" is \"pool\"; expected conv or loss"},
        {"a,,0,1,conv,1", "column \"fused\" is \"1\"; expected yes or no"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct layer *layers;
        char text[256];
        snprintf(text, sizeof text, "%s%s", i < 4 ? "" : "layer,source,time_s,stride,kind,fused\n",
                 cases[i][0]);
        struct ar_csv *csv = parsed(text, AR_CSV_DIRECTIVES);
        TEST_FAILS(AR_BAD_DATA, cases[i][1],
                   ar_csv_read_rows(csv, AR_COLUMNS(layer_columns), NULL, &layers, &why));
    }
}

Test(csv, directives_and_facts_are_read_by_a_list_too)
{
    static const struct ar_column some[] = {
        AR_COLUMN(count, struct layer, stride, "batch", ""),
        AR_COLUMN(string, struct layer, source, "source", "", .may_be_missing = true),
        AR_COLUMN_OTHERS};
    struct ar_columns all = AR_COLUMNS(some);
    struct ar_columns strict = {some, 2};
    struct layer layer = {.source = "none"};
    TEST_OK(ar_csv_read_directives(parsed("# batch = 32\na\n", AR_CSV_DIRECTIVES), strict, &layer,
                                   &why));
    cr_expect_eq(layer.stride, 32);
    cr_expect_str_eq(layer.source, "none");
    TEST_OK(ar_csv_read_directives(parsed("a\n# batch: 8\n# more: x\n#\n", AR_CSV_FACTS), all,
                                   &layer, &why));
    cr_expect_eq(layer.stride, 8);
    static const char *const cases[][2] = {
        {"a\n", "x.csv: directive \"batch\" is missing; expected it as \"# KEY = VALUE\" before"},
        {"# batch = x\na\n", "x.csv:1: directive \"batch\" is \"x\"; expected a whole number"},
        {"# batch = 1\n# batch = 1\na\n", "x.csv:2: directive \"batch\" is given twice"},
        {"# batch = 1\n# bath = 1\na\n", "x.csv:2: unknown directive \"bath\"; did you mean"},
    };
    TEST_PAIRS_FAIL(AR_BAD_DATA, cases,
                    ar_csv_read_directives(parsed(given, AR_CSV_DIRECTIVES), strict, &layer, &why));
}
