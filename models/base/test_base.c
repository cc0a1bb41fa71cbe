/* Errors and names; units and output files have a source each, test_units.c and test_file.c. */
#include <criterion/criterion.h>
#include <string.h>

#include "ar_error.h"
#include "ar_text.h"

/* The codes themselves are what the tests of programs expect. */
Test(error, every_status_has_an_exit_code_of_its_own)
{
    static const enum ar_status all[] = {
#define X(symbol, code) symbol,
        AR_STATUS_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (size_t j = 0; j < i; j++) {
            cr_expect_neq(ar_status_exit_code(all[i]), ar_status_exit_code(all[j]));
        }
    }
}

Test(error, a_line_longer_than_its_room_is_cut_and_has_no_control_characters)
{
    char text[2000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text, "\n\x7f", 2);
    struct ar_error err;
    cr_expect_eq(ar_error_set(&err, AR_IO, "%s", text), AR_IO);
    cr_expect_eq(strncmp(err.text, "??aa", 4), 0, "%s", err.text);
    cr_expect_eq(strlen(err.text), sizeof err.text - 1);
}

Test(text, the_nearest_name_is_the_one_a_user_meant_and_none_if_none_resembles_it)
{
    static const char *const names[] = {"ring", "hierarchical", "torus2d", "abci-v100",
                                        "root", "gpus",         "fp16",    "fp32"};
    static const char *const cases[][2] = {
        {"rign", "ring"},     {"ring", "ring"}, {"heirarchical", "hierarchical"},
        {"torus", "torus2d"}, {"abci", NULL},   /* a part may be of several */
        {"butterfly", NULL},  {"foo", NULL},    /* half of a short word */
        {"rot", "root"},      {"fp36", "fp16"}, /* the first of two that are as near */
        {"fp32", "fp32"}};
    char enormous[1000] = "";
    memset(enormous, 'z', sizeof enormous - 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *found = ar_nearest_name(cases[i][0], names, 8);
        cr_expect(found == cases[i][1] ||
                      (found != NULL && cases[i][1] != NULL && strcmp(found, cases[i][1]) == 0),
                  "%s: %s", cases[i][0], found);
    }
    cr_expect_null(ar_nearest_name("ring", names, 0));
    cr_expect_null(ar_nearest_name(enormous, names, 8));
}

Test(text, a_line_has_blanks_for_control_characters_and_a_copy_ends_where_its_room_does)
{
    char text[] = "a\nb\tc\x7f\xc3\xa4", target[5] = "....";
    ar_text_to_line(text);
    cr_expect_str_eq(text, "a b c \xc3\xa4");
    ar_copy_text(target, sizeof target, "abcdefgh");
    cr_expect_str_eq(target, "abcd");
    ar_copy_text(target, sizeof target, "");
    cr_expect_str_eq(target, "");
}
