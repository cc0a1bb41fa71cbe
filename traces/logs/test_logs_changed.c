/* Irrelevant changes of a log must not change what is read: prefixes of launchers, messages between
 * the lines, line ends, marks. Each test rewrites the lines of a fixture and compares the rows. */
#include <stdio.h>
#include <stdlib.h>

#include "ar_file.h"
#include "test_logs.h"

/* A changed log being written; the fixture that it is made of. */
struct change {
    const char *path;
    char *original, *text;
    size_t original_bytes, bytes;
    FILE *file;
};

static struct change *begin_change(const char *path)
{
    struct change *change = ar_arena_alloc(&test_arena, 1, sizeof *change);
    change->path = path;
    TEST_OK(ar_file_read(path, 1 << 20, "a fixture", &test_arena, &change->original,
                         &change->original_bytes, &why));
    change->file = open_memstream(&change->text, &change->bytes);
    return change;
}

/* The runs and rows of the changed log are those of the fixture. */
static void expect_unchanged(struct change *change, const char *what)
{
    fclose(change->file);
    struct ar_logs *a = test_parse(change->original, change->original_bytes);
    struct ar_logs *b = test_parse(change->text, change->bytes);
    cr_assert_eq(a->runs_count, b->runs_count, "%s: %s", change->path, what);
    for (size_t i = 0; i < a->runs_count; i++) {
        const struct ar_log *first = &a->runs[i], *second = &b->runs[i];
        cr_assert_eq(first->rows_count, second->rows_count, "%s: %s", change->path, what);
        cr_expect(first->ranks == second->ranks && first->nodes == second->nodes &&
                      first->collective == second->collective &&
                      first->messages_count == second->messages_count,
                  "%s: %s", change->path, what);
        for (size_t k = 0; k < first->rows_count; k++) {
            cr_expect_str_eq(test_row_text(&second->rows[k]), test_row_text(&first->rows[k]),
                             "%s: %s", change->path, what);
        }
    }
    free(change->text);
}

/* Every line with `before` in front and `after` in place of its end. */
static void expect_unchanged_lines(const char *path, const char *before, const char *after)
{
    struct change *change = begin_change(path);
    for (const char *line = change->original; *line != '\0';) {
        size_t bytes = strcspn(line, "\n");
        fprintf(change->file, "%s%.*s%s", before, (int)bytes, line, after);
        line += bytes + (line[bytes] == '\n');
    }
    expect_unchanged(change, before[0] != '\0' ? before : after);
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
        "node-12: ",
        "2026-01-05T10:11:12.123456789Z ",
        "[2026-01-05 10:11:12] ",
    };
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        for (size_t k = 0; k < sizeof prefixes / sizeof prefixes[0]; k++) {
            expect_unchanged_lines(logs[i], prefixes[k], "\n");
        }
    }
}

Test(logs_changed, messages_between_the_lines_change_nothing)
{
    static const char *const messages[] = {
        "\nn1:31:42 [3] NCCL INFO Channel 01/0 : 3[3] -> 4[0] [send] via NET/IB/1/GDRDMA\n",
        "\nn1:31:42 [0] misc/ibvwrap.cc:63 NCCL WARN Call to ibv_reg_mr failed\n",
        "\n[2026-01-05 10:11:12] n1:31:42 [0] init.cc:10 NCCL WARN something\n",
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
                expect_unchanged_lines(logs[i], "", messages[k]);
            }
        }
    }
}

Test(logs_changed, a_mark_zero_bytes_and_many_megabytes_in_other_lines_change_nothing)
{
    static const char before[] = "\xef\xbb\xbfmodule load\0nccl\n\0\0\n";
    struct change *change = begin_change(FIXTURE("nccl-13-root.txt"));
    fwrite(before, 1, sizeof before - 1, change->file);
    fputs(change->original, change->file);
    expect_unchanged(change, "mark");
    change = begin_change(FIXTURE("nccl-13-root.txt"));
    fprintf(change->file, "%0*d\n%s", 20 << 20, 7, change->original);
    expect_unchanged(change, "long line");
}

Test(logs_changed, a_log_that_is_cut_off_anywhere_has_the_rows_before_the_cut)
{
    struct change *change = begin_change(FIXTURE("nccl-21-per-iteration.txt"));
    const struct ar_log *whole = test_parse(change->original, change->original_bytes)->runs;
    const char *first = strchr(strstr(change->original, "  1024 "), '\n');
    size_t ended = 0;
    for (const char *end = first; *end != '\0'; end++) {
        const struct ar_log *run =
            test_parse(change->original, (size_t)(end - change->original))->runs;
        ended += *end == '\n' && ended < whole->rows_count;
        cr_assert(run->rows_count == ended || run->rows_count == ended + (*end != '\n'), "%s", end);
        for (size_t i = 0; i < run->rows_count; i++) {
            cr_assert_str_eq(test_row_text(&run->rows[i]), test_row_text(&whole->rows[i]));
        }
    }
    cr_expect_eq(ended, 5);
    fclose(change->file);
    free(change->text);
}
