/* Tables of fitted libraries: written, read back, and refused. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_file.h"
#include "ar_library_table.h"
#include "test_outcome.h"

static char folder[] = "/tmp/ar_library_XXXXXX";
static char path[64];
static struct ar_library_table table, read_table; /* of a test: what is written, and read */
static struct ar_arena kept = {.bytes_max = AR_ARENA_BYTES_MAX};

static void enter(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.library.csv", folder);
}

static void leave(void)
{
    unlink(path);
    rmdir(folder);
    ar_arena_end(&kept);
}

TestSuite(library_table, .init = enter, .fini = leave);

/* A library with different values everywhere and a covariance that is one: a diagonal, and
 * something that two neighbours share. */
static void make_table(void)
{
    table = (struct ar_library_table){.fitted = {.counts = {1, 2, 4}, .count = 3},
                                      .held_out = {.counts = {8}, .count = 1}};
    struct ar_tuning tuning = ar_tuning_nccl_2_8_4(132e9, 24e9);
    struct ar_library *library = &table.library;
    ar_library_start(&tuning, library);
    library->residual_frac = 0.1 / 3;
    library->rows_count = 72;
    library->nodes_max = 4;
    library->calls = 1u << AR_ALL_REDUCE | 1u << AR_BROADCAST;
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        library->values[i] *= 1 + i / 30.0;
        library->is_identified[i] = i % 3 != 0;
        if (i > 0) {
            library->covariance[i][i - 1] = library->covariance[i - 1][i] = -0.1 / i;
        }
    }
}

/* The same of a fit with two rows. */
static void make_table_with_rows(void)
{
    static const struct ar_library_row rows[] = {
        {{.nodes = 2, .ranks = 8, .bytes = 4096, .call = AR_BROADCAST}, 1e-5 / 3, AR_CALLS_ANY},
        {{.nodes = 1, .ranks = 4, .bytes = 64, .call = AR_ALL_REDUCE}, 2e-6, AR_CALLS_RING}};
    make_table();
    table.library.rows = rows;
    table.library.rows_count = 2;
}

static void write_table(void)
{
    const char *comments[] = {"log: x.log, with a comma", "program: test"};
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    ar_library_table_write(&table, comments, 2, file);
    cr_assert_eq(fclose(file), 0);
}

static enum ar_status read_file(struct ar_error *err)
{
    return ar_library_table_read(path, &kept, &read_table, err);
}

Test(library_table, read_back_predicts_the_same_to_the_last_digit)
{
    make_table();
    write_table();
    TEST_OK(read_file(&why));
    cr_expect_null(read_table.library.rows);
    cr_expect_eq(read_table.library.rows_count, 72);
    make_table_with_rows();
    write_table();
    TEST_OK(read_file(&why));
    cr_assert_not_null(read_table.library.rows);
    for (size_t i = 0; i < 2; i++) {
        const struct ar_library_row *a = &table.library.rows[i], *b = &read_table.library.rows[i];
        cr_expect_eq(a->run.nodes, b->run.nodes);
        cr_expect_eq(a->run.ranks, b->run.ranks);
        cr_expect_eq(a->run.bytes, b->run.bytes);
        cr_expect_eq(a->run.call, b->run.call);
        cr_expect_eq(a->time_s, b->time_s);
        cr_expect_eq(a->calls, b->calls);
    }
    cr_expect_arr_eq(read_table.library.values, table.library.values, sizeof table.library.values);
    cr_expect_arr_eq(read_table.library.is_identified, table.library.is_identified,
                     sizeof table.library.is_identified);
    cr_expect_eq(read_table.library.calls, table.library.calls);
    cr_expect_eq(read_table.fitted.count, 3);
    cr_expect(ar_library_nodes_have(&read_table.fitted, 4));
    cr_expect_not(ar_library_nodes_have(&read_table.fitted, 8));
    cr_expect(ar_library_nodes_have(&read_table.held_out, 8));
    for (uint32_t nodes = 1; nodes <= 16; nodes *= 2) {
        for (double bytes = 4; bytes < 1e9; bytes *= 3) {
            struct ar_library_run run = {.nodes = nodes, .ranks = 4 * nodes, .bytes = bytes};
            struct ar_library_prediction a = ar_library_predict(&table.library, AR_CALLS_ANY, &run);
            struct ar_library_prediction b =
                ar_library_predict(&read_table.library, AR_CALLS_ANY, &run);
            cr_expect_eq(a.choice, b.choice);
            cr_expect_eq(a.time_s, b.time_s);
            cr_expect_eq(a.low_s, b.low_s);
            cr_expect_eq(a.high_s, b.high_s);
        }
    }
}

/* Replaces the first `from` of the file by `to`; an empty `from` cuts the file there. */
static void change(const char *from, const char *to)
{
    char *text;
    size_t size;
    TEST_OK(ar_file_read(path, 1 << 16, "a table", &kept, &text, &size, &why));
    char *at = strstr(text, from);
    cr_assert_not_null(at, "no \"%s\"", from);
    FILE *file = fopen(path, "w");
    fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(file);
}

/* Rings of 2.5.6 pay the latency of the network at every hop: it chooses otherwise. */
Test(library_table, a_table_keeps_the_release_that_chooses)
{
    struct ar_tuning *tuning = &table.library.tuning;
    const struct ar_tuning *read = &read_table.library.tuning;
    make_table();
    TEST_OK(ar_tuning_find("test", "2.5.6", 132e9, 24e9, tuning, &why));
    tuning->channels = 12;
    tuning->links = TUNING_PCIE;
    tuning->has_near_hcas = tuning->has_collnet = true;
    write_table();
    TEST_OK(read_file(&why));
    cr_expect_str_eq(read->release->name, "nccl-2.5.6");
    cr_expect(read->release == tuning->release && read->node_bus_Bps == 132e9);
    cr_expect(read->channels == 12 && read->links == TUNING_PCIE);
    cr_expect(read->has_near_hcas && read->has_collnet);
}

Test(library_table, an_older_file_is_of_2_8_4_over_nvlink)
{
    make_table();
    write_table();
    change("# tuning: nccl-2.8.4\n", "");
    change("# channels: 4\n# node_links: nvlink\n", "");
    change("# near_hcas: no\n# collnet: no\n", "");
    change("# held_out_nodes: 8\n", "# held_out_nodes:\n");
    TEST_OK(read_file(&why));
    cr_expect_eq(read_table.library.tuning.release, table.library.tuning.release);
    cr_expect_str_eq(read_table.library.tuning.release->release, "2.8.4");
    cr_expect_eq(read_table.library.tuning.channels, 4);
    cr_expect_eq(read_table.library.tuning.links, TUNING_NVLINK_MESH);
    cr_expect_eq(read_table.held_out.count, 0);
}

Test(library_table, a_wrong_file_is_refused_with_one_line)
{
    static const struct {
        const char *from, *to, *fragment;
    } rows[] = {
        {"# format: 2", "# format: 1", ":1: directive \"format\" is \"1\"; expected 2"},
        {"# format: 2\n", "", "directive \"format\" is missing; expected it as \"# KEY: VALUE\""},
        {"nccl-2.8.4", "nccl-9", "tuning: unknown NCCL release \"9\"; expected one of 2.3.7 2.5.6"},
        {"# node_bus_Bps: 1", "# node_bus_Bps: -1", "expected a number not below zero"},
        {"# channels: 4", "# channels: 0", "directive \"channels\" is \"0\""},
        {"nvlink", "wires", "\"node_links\" is \"wires\"; expected nvlink, pcie or nvswitch"},
        {"# fitted_nodes: 1", "# fitted_nodes: x", "is \"x 2 4\"; expected node counts"},
        {"\nll.base,", "\nll.bas,", "column \"parameter\" is \"ll.bas\"; expected ll.base"},
        {"\nll.knee,", "\nll.base,", "column \"parameter\" is \"ll.base\"; expected every"},
        {"\nll.knee,2", "\nll.knee,-2", "column \"value\" is \"-2"},
        {"\nll.knee,", "\n# ll.knee,", " parameters; expected 31, as 'allreckon calibrate' now"},
        {",B/s,", ",GB/s,", "column \"unit\" is \"GB/s\"; expected B/s"},
        {",-0.1", ",nan(1", "is \"nan(1"},
    };
    make_table();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        read_table.library.rows_count = 7;
        write_table();
        change(rows[i].from, rows[i].to);
        TEST_FAILS(AR_BAD_DATA, rows[i].fragment, read_file(&why));
        TEST_FAILS(AR_BAD_DATA, path, read_file(&why));
        cr_expect_eq(read_table.library.rows_count, 7);
    }
}

Test(library_table, a_row_that_makes_no_sense_or_is_missing_is_refused)
{
    static const struct {
        const char *from, *to;
    } rows[] = {{"# row: allreduce", "# row: allreduced"},
                {" 64 ", " 0 "},
                {" 2e-06", " -2e-06"},
                {" 64 ", " nan "},
                {" 1 4 64", " 5 4 64"},
                {" 1 4 64", " 1 1 64"},
                {" 2 8 4096 ", " 2 8 "},
                {"row: broadcast 1", "row: broadcast 0"},
                {"row: broadcast 1", "row: broadcast 9"},
                {"# row: broadcast", "# broadcast"}};
    make_table_with_rows();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_table();
        change("1.9999999999999999e-06", "2e-06");
        TEST_OK(read_file(&why));
        change(rows[i].from, rows[i].to);
        TEST_FAILS(AR_BAD_DATA, "found 1 rows (\"# row:\") that make sense; expected all of 2",
                   read_file(&why));
    }
}

Test(library_table, a_file_that_is_cut_off_or_not_there_is_refused)
{
    make_table();
    TEST_FAILS(AR_NO_INPUT, path, read_file(&why));
    write_table();
    struct stat info;
    cr_assert(stat(path, &info) == 0 && truncate(path, info.st_size - 40) == 0);
    TEST_FAILS(AR_BAD_DATA, "is it cut off?", read_file(&why));
}
