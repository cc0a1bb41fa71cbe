#include <math.h>
#include <stdio.h>

#include "ar_units.h"
#include "test_outcome.h"

/* --- what is accepted ------------------------------------------------------------------------ */

struct value_case {
    const char *text;
    double value;
};

static void expect_values(enum ar_quantity quantity, const struct value_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value = -1;
        TEST_OK(ar_parse_quantity("here", cases[i].text, quantity, &value, &why));
        cr_expect(fabs(value - cases[i].value) <= 1e-15 * cases[i].value, "%s gave %.17g",
                  cases[i].text, value);
    }
}

Test(units, every_unit_of_size_has_its_power_of_1000_or_of_1024)
{
    static const struct value_case cases[] = {
        {"7B", 7},
        {"7kB", 7000},
        {"7MB", 7000000},
        {"7GB", 7000000000},
        {"7TB", 7000000000000},
        {"7KiB", 7ull << 10},
        {"7MiB", 7ull << 20},
        {"7GiB", 7ull << 30},
        {"7TiB", 7ull << 40},
        {"51.1MB", 51100000},
        {"0B", 0},
        {"0.5kB", 500},
        {" +5e3 B", 5000},
        {"1e-9GB", 1},
        {"1 MiB", 1048576},
    };
    expect_values(AR_QUANTITY_SIZE, cases, sizeof cases / sizeof cases[0]);
}

Test(units, every_unit_of_rate_time_and_cost_is_known_and_bps_is_an_eighth_of_a_byte)
{
    static const struct value_case rates[] = {
        {"3B/s", 3},     {"3kB/s", 3e3},      {"3MB/s", 3e6},      {"3GB/s", 3e9},
        {"3TB/s", 3e12}, {"3KiB/s", 3072},    {"3MiB/s", 3145728}, {"3GiB/s", 3.0 * (1 << 30)},
        {"8bps", 1},     {"8kbps", 1e3},      {"8Mbps", 1e6},      {"8Gbps", 1e9},
        {"8Tbps", 1e12}, {"100Gbps", 12.5e9},
    };
    static const struct value_case times[] = {{"2s", 2},        {"2ms", 2e-3},  {"2us", 2e-6},
                                              {"2ns", 2e-9},    {"2ps", 2e-12}, {"0us", 0},
                                              {"3.4us", 3.4e-6}};
    static const struct value_case costs[] = {
        {"2s/B", 2},      {"2us/B", 2e-6},          {"2ns/B", 2e-9}, {"2ps/B", 2e-12},
        {"2fs/B", 2e-15}, {"3.846ps/B", 3.846e-12}, {"0s/B", 0}};
    expect_values(AR_QUANTITY_RATE, rates, sizeof rates / sizeof rates[0]);
    expect_values(AR_QUANTITY_TIME, times, sizeof times / sizeof times[0]);
    expect_values(AR_QUANTITY_COST, costs, sizeof costs / sizeof costs[0]);
}

/* 51.1 is not a binary fraction; no number of bytes may be lost to that. */
Test(units, a_whole_number_of_bytes_is_found_again_in_every_decimal_unit)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t bytes = random >> (14 + i % 40); /* below 2^50, of all magnitudes */
        uint64_t power = 1;
        for (int unit = 0; unit < 5; unit++, power *= 1000) {
            char text[64];
            snprintf(text, sizeof text, "%lu.%0*lu%s", (unsigned long)(bytes / power),
                     unit == 0 ? 1 : 3 * unit, (unsigned long)(bytes % power), units[unit]);
            uint64_t parsed = 0;
            TEST_OK(ar_parse_bytes("x", text, &parsed, &why));
            cr_assert_eq(parsed, bytes, "%s gave %lu", text, (unsigned long)parsed);
        }
    }
}

/* --- what is refused ------------------------------------------------------------------------- */

Test(units, what_is_no_size_rate_time_or_cost_is_refused_with_what_was_found_and_expected)
{
    static const char *const sizes[][2] = {
        {"51100000", "x:1: key: found \"51100000\" without a unit; expected a size such as 51.1MB"},
        {"", "x:1: key: found \"\"; expected a size"},
        {"-1MB",
         "x:1: key: found \"-1MB\"; expected a size such as 51.1MB, 64MiB or 256B, not negative"},
        {"nan", "x:1: key: found \"nan\"; expected a size"},
        {"1e305TB", "x:1: key: found \"1e305TB\"; expected a size such as 51.1MB, 64MiB or 256B, "
                    "less enormous"},
        {"0x10B", "x:1: key: found \"0x10B\"; expected a size"},
        {"5mb", "x:1: key: found unit \"mb\" in \"5mb\""},
        {"5 M B", "x:1: key: found unit \"M B\" in \"5 M B\""},
        {"1,000B", "x:1: key: found unit \",000B\" in \"1,000B\""},
        {"1.5B", "x:1: key: found \"1.5B\"; expected a whole number of bytes"},
        {"1125899906842624B",
         "x:1: key: found \"1125899906842624B\"; expected a whole number of bytes below 2^50"},
    };
    static const char *const rates[][2] = {
        {"10",
         "x:1: key: found \"10\" without a unit; expected a rate such as 10.2GB/s or 100Gbps"},
        {"10GB", "x:1: key: found unit \"GB\" in \"10GB\""},
        {"0GB/s",
         "x:1: key: found \"0GB/s\"; expected a rate such as 10.2GB/s or 100Gbps above zero"},
    };
    static const char *const costs[][2] = {
        {"3.8",
         "x:1: key: found \"3.8\" without a unit; expected a cost per byte such as 3.85ps/B"},
    };
    double value = -7;
    TEST_PAIRS_FAIL(AR_BAD_DATA, sizes,
                    ar_parse_quantity("x:1: key", given, AR_QUANTITY_SIZE, &value, &why));
    TEST_PAIRS_FAIL(AR_BAD_DATA, rates,
                    ar_parse_quantity("x:1: key", given, AR_QUANTITY_RATE, &value, &why));
    TEST_PAIRS_FAIL(AR_BAD_DATA, costs,
                    ar_parse_quantity("x:1: key", given, AR_QUANTITY_COST, &value, &why));
    TEST_FAILS(AR_BAD_DATA, "x:1: key: found \"3.4\" without a unit; expected a time such as 3.4us",
               ar_parse_quantity("x:1: key", "3.4", AR_QUANTITY_TIME, &value, &why));
    cr_expect_eq(value, -7);
}

Test(units, counts_are_plain_whole_numbers_between_their_limits)
{
    static const char *const bad[] = {"3", "+4", " 4", "0x10", "", "99999999999999999999"};
    uint64_t count = 77;
    TEST_FAILS(AR_BAD_DATA, "x:1: key: found \"4097\"; expected a whole number from 4 to 4096",
               ar_parse_count("x:1: key", "4097", 4, 4096, &count, &why));
    TEST_EACH_FAILS(AR_BAD_DATA, "from 4 to 4096", bad,
                    ar_parse_count("x", given, 4, 4096, &count, &why));
    TEST_FAILS(AR_BAD_DATA, "of at least 1", ar_parse_count("x", "0", 1, UINT64_MAX, &count, &why));
    cr_expect_eq(count, 77);
    TEST_OK(ar_parse_count("x", "4", 4, 4096, &count, &why));
    cr_expect_eq(count, 4);
    TEST_OK(ar_parse_count("x", "4096", 4, 4096, &count, &why));
    cr_expect_eq(count, 4096);
    TEST_OK(ar_parse_count("x", "18446744073709551615", 0, UINT64_MAX, &count, &why));
    cr_expect_eq(count, UINT64_MAX);
}

Test(units, numbers_are_plain_and_between_their_limits)
{
    static const char *const bad[] = {"-0.1", "1.1", "nan", "inf", "0x0", "0.5s", "", "0.5 ", "x"};
    double number = -7;
    TEST_EACH_FAILS(AR_BAD_DATA, "expected a number from 0 to 1", bad,
                    ar_parse_number("--jitter", given, 0, 1, &number, &why));
    cr_expect_eq(number, -7);
    TEST_OK(ar_parse_number("--jitter", "0.25", 0, 1, &number, &why));
    cr_expect_eq(number, 0.25);
}

/* --- the printer ----------------------------------------------------------------------------- */

Test(units, values_print_with_four_digits_and_the_unit_that_keeps_them_readable)
{
    char text[AR_UNIT_TEXT];
    cr_expect_str_eq(ar_format_bytes(0, text), "0 B");
    cr_expect_str_eq(ar_format_bytes(999, text), "999 B");
    cr_expect_str_eq(ar_format_bytes(1000, text), "1 kB");
    cr_expect_str_eq(ar_format_bytes(51114064, text), "51.11 MB");
    cr_expect_str_eq(ar_format_bytes(999960, text), "1 MB");
    cr_expect_str_eq(ar_format_rate(10.2e9, text), "10.2 GB/s");
    cr_expect_str_eq(ar_format_rate(12.5e9, text), "12.5 GB/s");
    cr_expect_str_eq(ar_format_seconds(3.4e-6, text), "3.4 us");
    cr_expect_str_eq(ar_format_seconds(0.0131274, text), "13.13 ms");
    cr_expect_str_eq(ar_format_seconds(90, text), "90 s");
    cr_expect_str_eq(ar_format_seconds(0, text), "0 ns");
    cr_expect_str_eq(ar_format_number(0.51234, text), "0.5123");
    cr_expect_str_eq(ar_format_number(-999, text), "-999");
    cr_expect_str_eq(ar_format_number(1024, text), "1,024");
    cr_expect_str_eq(ar_format_number(-123456.7, text), "-123,457");
    cr_expect_str_eq(ar_format_number(1641853, text), "1,641,853");
}

Test(units, what_is_printed_parses_back_to_within_its_four_digits)
{
    char text[AR_UNIT_TEXT];
    for (int i = 0; i < 2000; i++) {
        double value = pow(10, -9 + 21.0 * i / 2000); /* 1 ns .. 1000 Gs, 1e-9 B/s .. 1 TB/s */
        double parsed = -1;
        TEST_OK(
            ar_parse_quantity("x", ar_format_rate(value, text), AR_QUANTITY_RATE, &parsed, &why));
        cr_assert(fabs(parsed / value - 1) < 6e-4, "%.9g printed as %s", value, text);
        TEST_OK(ar_parse_quantity("x", ar_format_seconds(value, text), AR_QUANTITY_TIME, &parsed,
                                  &why));
        cr_assert(fabs(parsed / value - 1) < 6e-4, "%.9g printed as %s", value, text);
    }
    for (uint64_t bytes = 1; bytes < 1ull << 50; bytes = bytes * 9 / 8 + 1) {
        uint64_t parsed = 0;
        TEST_OK(ar_parse_bytes("x", ar_format_bytes(bytes, text), &parsed, &why));
        cr_assert(fabs((double)parsed / (double)bytes - 1) < 6e-4, "%s", text);
    }
}
