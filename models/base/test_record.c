/* Records as CSV, JSON and tables, and back. */
#include <math.h>
#include <stdlib.h>

#include "ar_numbers.h"
#include "ar_record.h"
#include "ar_text.h"
#include "test_outcome.h"

/* clang-format off */
#define SHIP_LIST(X)                                                                               \
    X(text,   name,    "of the ship", .heading = "ship")                                           \
    X(count,  masts,   "how many", .heading = "masts")                                             \
    X(number, speed_Bps, "at sea", .heading = "speed\n(kB/s)", .factor = 1e-3, .decimals = 1)      \
    X(flag,   is_iron, "or of wood", .heading = "iron", .is_boolean = true, .is_rare = true)                           \
    X(text,   status,  "afloat, or why not", .heading = "status", .usual = "afloat", .is_rare = true) \
    X(number, change_frac, "of speed", .heading = "change\n(%)", .factor = 100, .is_signed = true, .is_rare = true) \
    X(number, length_m, "not in tables", .digits = 17)
/* clang-format on */

struct ship {
#define X(kind, name, help, ...) ar_cell_##kind name;
    SHIP_LIST(X)
#undef X
};

static const struct ar_column ship_list[] = {
#define X(kind, field, ...) AR_COLUMN(kind, struct ship, field, #field, __VA_ARGS__),
    SHIP_LIST(X)
#undef X
};

static const struct ar_columns ship_columns = {ship_list, sizeof ship_list / sizeof ship_list[0]};

static struct ship ship_named(const char *name)
{
    struct ship ship;
    ar_record_clear(ship_columns, &ship);
    ar_copy_text(ship.name, sizeof ship.name, name);
    return ship;
}

static struct ship full_ship(void)
{
    struct ship ship = ship_named("Fram");
    ship.masts = 3;
    ship.speed_Bps = 12345.678901234;
    ship.is_iron = 0;
    ar_copy_text(ship.status, sizeof ship.status, "afloat");
    ship.change_frac = 0.05;
    ship.length_m = 0.1;
    return ship;
}

static void expect_written(const struct ar_view *view, struct ar_columns columns,
                           const void *records, size_t count, const char *expected)
{
    char *text;
    TEST_TEXT(text, ar_records_write(stream, view, columns, records, count));
    cr_expect_str_eq(text, expected);
    free(text);
}

static void expect(enum ar_format format, const struct ship *ships, size_t count,
                   const char *expected)
{
    expect_written(AR_VIEW(format), ship_columns, ships, count, expected);
}

Test(record, csv_and_json_have_all_columns_and_empty_cells_or_null_where_nothing_applies)
{
    struct ship ships[] = {full_ship(), ship_named("")};
    expect(AR_FORMAT_CSV, ships, 2,
           "name,masts,speed_Bps,is_iron,status,change_frac,length_m\n"
           "Fram,3,12345.6789,no,afloat,0.05,0.10000000000000001\n"
           ",,,,,,\n");
    expect(AR_FORMAT_CSV, ships, 0, "name,masts,speed_Bps,is_iron,status,change_frac,length_m\n");
    ships[0].is_iron = 1;
    ships[1].speed_Bps = -INFINITY;
    expect(AR_FORMAT_JSON, ships, 2,
           "[\n  {\"name\": \"Fram\", \"masts\": 3, \"speed_Bps\": 12345.6789, \"is_iron\": true, "
           "\"status\": \"afloat\", \"change_frac\": 0.05, \"length_m\": 0.10000000000000001},\n"
           "  {\"name\": null, \"masts\": null, \"speed_Bps\": null, \"is_iron\": null, "
           "\"status\": null, \"change_frac\": null, \"length_m\": null}\n]\n");
    expect(AR_FORMAT_JSON, ships, 0, "[]\n");
}

Test(record, a_table_is_as_wide_as_its_cells_and_leaves_out_what_no_record_has)
{
    struct ship ships[] = {full_ship(), ship_named("caf\xc3\xa9")};
    ships[0].is_iron = AR_NO_FLAG;
    ships[0].change_frac = NAN;
    expect(AR_FORMAT_TABLE, ships, 2,
           "              speed\n"
           "ship  masts  (kB/s)\n"
           "Fram      3    12.3\n"
           "caf\xc3\xa9      -       -\n");
    expect(AR_FORMAT_TABLE, ships, 0, "              speed\nship  masts  (kB/s)\n");
}

Test(record, rare_columns_are_shown_where_one_record_has_them)
{
    struct ship ships[] = {full_ship(), ship_named("Titanic")};
    ar_copy_text(ships[1].status, sizeof ships[1].status, "hit an iceberg");
    expect(AR_FORMAT_TABLE, ships, 2,
           "                 speed                        change\n"
           "ship     masts  (kB/s)  iron  status             (%)\n"
           "Fram         3    12.3  no    afloat              +5\n"
           "Titanic      -       -  -     hit an iceberg       -\n");
}

Test(record, counts_of_32_bits_always_apply_and_strings_may_be_missing)
{
    struct pair {
        const char *name;
        uint32_t count;
    } pairs[] = {{"a,b", UINT32_MAX}, {NULL, 0}};
    static const struct ar_column list[] = {
        AR_COLUMN(string, struct pair, name, "name", "", .heading = ""),
        AR_COLUMN(count, struct pair, count, "count", "", .heading = "", .factor = 0.5,
                  .decimals = AR_DECIMALS_NEEDED)};
    expect_written(AR_VIEW(AR_FORMAT_CSV), AR_COLUMNS(list), pairs, 2,
                   "name,count\n\"a,b\",4294967295\n,0\n");
    expect_written(AR_VIEW(AR_FORMAT_TABLE), AR_COLUMNS(list), pairs, 2,
                   "a,b  2147483648\n-             0\n"); /* no headings */
}

static void read_back(const struct ship *ship, struct ship *read)
{
    char *text;
    TEST_TEXT(text, ar_record_write_line(stream, ship_columns, ship));
    memset(read, 7, sizeof *read);
    TEST_OK(ar_record_read_line(ship_columns, text, read, &why));
    free(text);
}

Test(record, what_csv_has_is_read_back_as_it_was)
{
    static const char *const names[] = {"plain",      "a,b",  "say \"hi\"", "two\nlines", " blank ",
                                        "#no remark", "\xff", "",           "cr\rlf\r\n"};
    struct ship ship = full_ship();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ship read;
        ar_copy_text(ship.name, sizeof ship.name, names[i]);
        read_back(&ship, &read);
        cr_expect_str_eq(read.name, names[i]);
        cr_expect_eq(read.masts, 3);
        cr_expect_eq(read.speed_Bps, 12345.6789);
        cr_expect_eq(read.length_m, 0.1, "all digits");
        cr_expect_eq(read.is_iron, 0);
    }
    struct ship empty = ship_named("");
    struct ship read;
    read_back(&empty, &read);
    cr_expect_eq(read.masts, AR_NO_COUNT);
    cr_expect(isnan(read.speed_Bps));
    cr_expect_eq(read.is_iron, AR_NO_FLAG);
}

Test(record, a_wrong_line_is_refused_with_its_column)
{
    char longer[400];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    static const char *const cases[][2] = {
        {"Fram,many,,,,,", "column \"masts\": found a cell"},
        {"Fram,1,2", "found a line of 3 cells; expected 7"},
        {"Fram,1,2,no,,,1,9", "8 cells; expected 7"},
        {"\"Fram,1,2,no,,,1", "a quote out of place"},
    };
    struct ship ship;
    TEST_PAIRS_FAIL(AR_BAD_DATA, cases, ar_record_read_line(ship_columns, given, &ship, &why));
    TEST_FAILS(AR_BAD_DATA, "", ar_record_read_line(ship_columns, longer, &ship, &why));
}

Test(record, json_texts_are_utf_8)
{
    static const char *const texts[][2] = {
        {"plain", "\"plain\""},
        {"", "null"},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"tab\tnewline\n\x01", "\"tab\\u0009newline\\u000a\\u0001\""},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
         "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xff|", "\"\\ufffd|\""},
        {"cut \xe2\x82", "\"cut \\ufffd\\ufffd\""},
        {"\xc0\xaf", "\"\\ufffd\\ufffd\""},            /* overlong */
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""}, /* a surrogate */
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *text;
        TEST_TEXT(text, ar_json_text(stream, texts[i][0]));
        cr_expect_str_eq(text, texts[i][1]);
        free(text);
    }
}

Test(quantile, quantiles_are_interpolated_and_end_at_the_ends)
{
    double values[] = {4, 16, 1, 8, 2};
    ar_sort(values, 5);
    cr_expect_eq(ar_quantile(values, 5, 0), 1);
    cr_expect_eq(ar_quantile(values, 5, 0.5), 4);
    cr_expect_float_eq(ar_quantile(values, 5, 0.875), 12, 1e-12);
    cr_expect_eq(ar_quantile(values, 5, 1), 16);
    cr_expect_eq(ar_quantile(values, 1, 0.975), 1);
    cr_expect_eq(ar_quantile(values, 2, 0.5), 1.5);
}

/* --- views ------------------------------------------------------------------------------------ */

struct boat {
    uint64_t oars;
    char *owner;
    double length_m, depth_m;
    int8_t is_dry;
};

#define BOAT(kind, field, ...) AR_COLUMN(kind, struct boat, field, #field, __VA_ARGS__)

static const struct ar_column boat_list[] = {
    BOAT(count, oars, "", .heading = "oars"),
    BOAT(string, owner, "", .heading = "owner", .priority = 1),
    BOAT(number, length_m, "", .heading = "length (m)", .decimals = 1, .priority = 2),
    BOAT(flag, is_dry, "", .heading = "", .is_rare = true, .mark = "~", .legend = "it leaks"),
    BOAT(number, depth_m, ""),
};

static const struct boat boats[] = {{2, "Ann", 3, 0.5, 1}, {4, "Ann", 5, 0.75, 0}};

static void expect_view(struct ar_view view, const char *expected)
{
    expect_written(&view, AR_COLUMNS(boat_list), boats, 2, expected);
}

Test(record, a_narrow_table_leaves_out_first_what_is_the_same_in_all_rows)
{
    expect_view((struct ar_view){.width = 80}, "oars  owner  length (m)\n"
                                               "   2  Ann           3.0\n"
                                               "   4  Ann           5.0  ~\n"
                                               "~ it leaks\n");
    expect_view((struct ar_view){.width = 20}, "oars  length (m)\n"
                                               "   2         3.0\n"
                                               "   4         5.0  ~\n"
                                               "~ it leaks\n");
    expect_view((struct ar_view){.width = 18}, "oars\n   2\n   4  ~\n~ it leaks\n");
    expect_view((struct ar_view){.width = 1}, "oars\n   2\n   4  ~\n~ it leaks\n");
    /* Columns of one priority go together. */
    static const struct ar_column list[] = {
        BOAT(count, oars, "", .heading = "oars"),
        BOAT(number, length_m, "", .heading = "length (m)", .decimals = 1, .priority = 1),
        BOAT(number, depth_m, "", .heading = "depth (m)", .decimals = 2, .priority = 1)};
    expect_written(&(struct ar_view){.width = 20}, AR_COLUMNS(list), boats, 2,
                   "oars\n   2\n   4\n");
}

Test(record, a_view_has_the_columns_that_were_asked_for)
{
    expect_view((struct ar_view){.width = 1, .columns = "depth_m,oars,depth_m"},
                "depth_m  oars\n    0.5     2\n   0.75     4\n");
    expect_view((struct ar_view){.format = AR_FORMAT_CSV, .columns = "is_dry,oars"},
                "is_dry,oars\nyes,2\nno,4\n");
    expect_view((struct ar_view){.format = AR_FORMAT_JSON, .columns = "oars"},
                "[\n  {\"oars\": 2},\n  {\"oars\": 4}\n]\n");
    expect_view((struct ar_view){.columns = "all"}, "oars  owner  length (m)     depth_m\n"
                                                    "   2  Ann           3.0         0.5\n"
                                                    "   4  Ann           5.0  ~     0.75\n"
                                                    "~ it leaks\n");
}

Test(record, columns_that_are_not_there_are_refused)
{
    static const char *const texts[] = {"", "oar", "oars,", ",oars", "all,oars", "oars, owner"};
    TEST_OK(ar_view_check("--columns", &(struct ar_view){.columns = "oars,depth_m"},
                          AR_COLUMNS(boat_list), &why));
    TEST_EACH_FAILS(AR_USAGE, "--columns", texts,
                    ar_view_check("--columns", &(struct ar_view){.columns = given},
                                  AR_COLUMNS(boat_list), &why));
}
