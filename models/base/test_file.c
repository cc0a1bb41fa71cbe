#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ar_file.h"

static struct ar_arena arena; /* of a test, which is a process */

static enum ar_status read_back(const char *written, size_t written_bytes, char **text,
                                size_t *bytes, struct ar_error *err)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%d-file.txt", AR_TEST_BINARY_DIR, (int)getpid());
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(written, 1, written_bytes, file), written_bytes);
    cr_assert_eq(fclose(file), 0);
    enum ar_status status = ar_file_read(path, 8, "a text", &arena, text, bytes, err);
    remove(path);
    return status;
}

Test(file, a_text_is_read_whole_and_without_a_byte_order_mark)
{
    static const struct {
        const char *written, *read;
    } cases[] = {{"", ""}, {"a\r\nb", "a\r\nb"}, {"\xef\xbb\xbfkey", "key"}, {"\xef\xbb\xbf", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = NULL;
        size_t bytes = 99;
        struct ar_error err;
        cr_assert_eq(read_back(cases[i].written, strlen(cases[i].written), &text, &bytes, &err),
                     AR_OK, "%s", err.text);
        cr_expect_str_eq(text, cases[i].read);
        cr_expect_eq(bytes, strlen(cases[i].read));
    }
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
