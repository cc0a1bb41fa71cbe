/* Irrelevant changes of a log must not change what is read: prefixes of launchers, messages between
 * the lines, line ends, marks. Each test rewrites the lines of a fixture and compares the rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "test_logs.h"

static char *read_fixture(const char *path)
{
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    char *text = calloc(1, 1 << 20);
    cr_assert_not_null(text);
    cr_assert_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

/* Every line of `text` with `before` in front and `after` in place of its end. */
static char *rewrite(const char *text, const char *before, const char *after)
{
    size_t capacity = strlen(text) + 1;
    for (const char *c = text; *c != '\0'; c++) {
        capacity += *c == '\n' ? strlen(before) + strlen(after) : 0;
    }
    char *changed = malloc(capacity + strlen(before));
    cr_assert_not_null(changed);
    char *end = changed;
    for (const char *line = text; *line != '\0';) {
        size_t bytes = strcspn(line, "\n");
        end += sprintf(end, "%s%.*s%s", before, (int)bytes, line, after);
        line += bytes + (line[bytes] == '\n');
    }
    return changed;
}

static bool is_same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void expect_same_timing(const struct ar_log_timing *a, const struct ar_log_timing *b)
{
    cr_expect(is_same_number(a->time_s, b->time_s));
    cr_expect(is_same_number(a->algbw_Bps, b->algbw_Bps));
    cr_expect(is_same_number(a->busbw_Bps, b->busbw_Bps));
    cr_expect(is_same_number(a->wrong, b->wrong));
}

static void expect_same(const struct ar_logs *a, const struct ar_logs *b, const char *what)
{
    cr_assert_eq(a->runs_count, b->runs_count, "%s", what);
    for (size_t i = 0; i < a->runs_count; i++) {
        const struct ar_log *first = &a->runs[i], *second = &b->runs[i];
        cr_assert_eq(first->rows_count, second->rows_count, "%s", what);
        cr_expect_eq(first->ranks, second->ranks, "%s", what);
        cr_expect_eq(first->nodes, second->nodes, "%s", what);
        cr_expect_eq(first->collective, second->collective, "%s", what);
        for (size_t k = 0; k < first->rows_count; k++) {
            cr_expect_eq(first->rows[k].payload_bytes, second->rows[k].payload_bytes, "%s", what);
            expect_same_timing(&first->rows[k].out_of_place, &second->rows[k].out_of_place);
            expect_same_timing(&first->rows[k].in_place, &second->rows[k].in_place);
        }
    }
}

static void expect_unchanged(const char *path, const char *before, const char *after)
{
    char *text = read_fixture(path);
    char *changed = rewrite(text, before, after);
    struct ar_logs *plain = test_parse(text, strlen(text));
    struct ar_logs *rewritten = test_parse(changed, strlen(changed));
    expect_same(plain, rewritten, before);
    free(text);
    free(changed);
}

static const char *const logs[] = {
    FIXTURE("nccl-12-columns.txt"),         FIXTURE("nccl-13-root.txt"),
    FIXTURE("nccl-13-all-gather.txt"),      FIXTURE("nccl-21-per-iteration.txt"),
    FIXTURE("nccl-three-runs.txt"),         FIXTURE("nccl-in-place-na.txt"),
    FIXTURE("nccl-split-groups.txt"),       FIXTURE("osu-allreduce-full.txt"),
    FIXTURE("nccl-8-gpus-per-process.txt"),
};

Test(logs_changed, prefixes_of_launchers_change_nothing)
{
    static const char *const prefixes[] = {
        "[1,0]<stdout>:",
        "[1,0]<stdout>: ",
        "[prterun-host-1234@1,0]<stdout>: ",
        "Mon Jan  5 10:11:12 2026[1,0]<stdout>:",
        "0: ",
        "000: ",
        "  12: ",
        "[0] ",
        "(head, rank=0, pid=3808) ",
        "(head, rank=0, pid=3808) [1,0]<stdout>:",
        "2026-01-05T10:11:12.123456789Z ",
    };
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        for (size_t k = 0; k < sizeof prefixes / sizeof prefixes[0]; k++) {
            expect_unchanged(logs[i], prefixes[k], "\n");
        }
    }
}

Test(logs_changed, messages_between_the_lines_change_nothing)
{
    static const char *const messages[] = {
        "\nn1:31:42 [3] NCCL INFO Channel 01/0 : 3[3] -> 4[0] [send] via NET/IB/1/GDRDMA\n",
        "\nn1:31:42 [0] misc/ibvwrap.cc:63 NCCL WARN Call to ibv_reg_mr failed\n",
        "\n[2026-01-05 10:11:12] n1:31:42 [0] init.cc:10 NCCL WARN something\n",
        "n1:31:42 [3] NCCL INFO joined to the line before\n",
        " n1:31:42 [3] NCCL INFO on the line before\n",
        "\n\n",
        "\n--------------------------------------------------------------------------\n",
        "\nWARNING: There was an error initializing an OpenFabrics device.\n",
        "\r\n",
        " \t \n",
    };
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        bool is_osu = strstr(logs[i], "osu") != NULL;
        for (size_t k = 0; k < sizeof messages / sizeof messages[0]; k++) {
            if (!is_osu || messages[k][0] == '\n') {
                expect_unchanged(logs[i], "", messages[k]);
            }
        }
    }
}

Test(logs_changed, a_mark_of_utf8_and_zero_bytes_in_other_lines_change_nothing)
{
    char *text = read_fixture(FIXTURE("nccl-13-root.txt"));
    size_t bytes = strlen(text);
    static const char before[] = "\xef\xbb\xbfmodule load\0nccl\n\0\0\n";
    char *changed = malloc(bytes + sizeof before);
    cr_assert_not_null(changed);
    memcpy(changed, before, sizeof before - 1);
    memcpy(changed + sizeof before - 1, text, bytes);
    struct ar_logs *plain = test_parse(text, bytes);
    struct ar_logs *marked = test_parse(changed, bytes + sizeof before - 1);
    expect_same(plain, marked, "mark");
    free(text);
    free(changed);
}

Test(logs_changed, a_line_of_many_megabytes_changes_nothing)
{
    enum { LONG_BYTES = 20 << 20 };
    char *text = read_fixture(FIXTURE("nccl-13-root.txt"));
    size_t bytes = strlen(text);
    char *changed = malloc(LONG_BYTES + bytes);
    cr_assert_not_null(changed);
    memset(changed, 'x', LONG_BYTES);
    changed[LONG_BYTES - 1] = '\n';
    memcpy(changed + LONG_BYTES, text, bytes);
    struct ar_logs *plain = test_parse(text, bytes);
    struct ar_logs *padded = test_parse(changed, LONG_BYTES + bytes);
    expect_same(plain, padded, "long line");
    free(text);
    free(changed);
}
