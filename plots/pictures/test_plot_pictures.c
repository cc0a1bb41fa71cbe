/* From how many GPUs on a grid is faster, and which rows pictures show. */
#include <stdlib.h>
#include <unistd.h>

#include "ar_plot_text.h"
#include "pictures.h"
#include "test_outcome.h"

static char path[64];
static FILE *file;
static struct ar_arena arena;
static struct ar_plot_table table;
static struct ar_plot_rows rows;
static enum ar_plot_file read_as;
static const struct ar_plot_kind *kind;

static void begin_file(void)
{
    strcpy(path, "/tmp/ar-plot-pictures-XXXXXX");
    file = fdopen(mkstemp(path), "w");
    cr_assert_not_null(file);
    fputs("cluster,trace,batch_per_gpu,precision,gpus,algorithm,shape,engine,payload_bytes,"
          "iteration_s,allreduce_s,exposed_s,samples_per_s,efficiency_frac,baseline,forward_s,"
          "backward_s,optimizer_s,overhead_s,status\n",
          file);
}

static void end_file(void)
{
    ar_arena_end(&arena);
    unlink(path);
}

TestSuite(plot_pictures, .init = begin_file, .fini = end_file);

static void add(unsigned gpus, const char *algorithm, const char *shape, const char *precision,
                unsigned batch, double iteration_s)
{
    fprintf(file, "c,t,%u,%s,%u,%s,%s,closed,100,%.9g,0.02,0,1,0.5,gpu,0,0,0,0,ok\n", batch,
            precision, gpus, algorithm, shape, iteration_s);
}

static const char *cell(size_t i, const char *column)
{
    return ar_csv_text(table.csv, rows.rows[i], column);
}

static void pick(const char *name)
{
    /* Reads what was added so far. */
    read_as = AR_PLOT_STEPS;
    fflush(file);
    TEST_OK(ar_plot_table_read(path, &read_as, &arena, &table, &why));
    rows = ar_plot_rows_all(&table, &arena);
    for (kind = ar_plot_kinds; strcmp(kind->name, name) != 0; kind++) {
    }
    ar_plot_pick(kind, &table, &rows);
}

/* The data file of the rows that were picked. */
static const char *data_text(void)
{
    char *text;
    TEST_TEXT(text, kind->write(stream, &table, rows));
    return ar_arena_own(&arena, text, free);
}

/* --- crossover ---------------------------------------------------------------------------- */

/* The line of crossover.csv that begins with `cell`, behind it: from, clear, min and max GPUs. */
static const char *read_crossing(const char *cell)
{
    const char *at = strstr(data_text(), cell);
    return at != NULL ? strtok((char *)(uintptr_t)at + strlen(cell), "\n") : "none";
}

/* Steps of 4, 8, 16, ... GPUs, the ring 1 s each and the grid as given; ended by 0. */
static const char *find_crossing(const double *grid_s)
{
    fclose(file);
    unlink(path);
    begin_file();
    for (unsigned i = 0, gpus = 4; grid_s[i] > 0; i++, gpus *= 2) {
        add(gpus, "torus2d", "2x2", "fp16", 32, grid_s[i]);
        add(gpus, "hierarchical", "4x1", "fp16", 32, 0.01);
        add(gpus, "ring", "", "fp16", 32, 1);
        add(gpus, "ring", "", "fp16", 64, 1); /* a second cell, so that there is a table */
        add(gpus, "torus2d", "2x2", "fp16", 64, 0.5);
    }
    pick("crossover");
    return read_crossing("fp16,100,,32,");
}

Test(plot_pictures, the_grid_is_faster_from_a_count_on_always_or_never)
{
    static const struct {
        double grid_s[6];
        const char *found;
    } cases[] = {
        {{2, 2, 0.9, 0.8}, "16,16,4,32"},
        {{0.9, 0.8, 0.7}, "4,4,4,16"},
        {{2, 2, 2}, ",,4,16"},
        {{2, 2, 0.5}, "16,16,4,16"},                /* the largest count alone */
        {{0.9, 2, 0.9, 0.9}, "16,16,4,32"},         /* falls behind once */
        {{0.9, 0.9, 0.9, 2}, ",,4,32"},             /* falls behind at the end */
        {{1, 1, 1 - 1e-7}, ",,4,16"},               /* the same time */
        {{1, 1, 1 - 1e-5}, "16,,4,16"},             /* a gain below 5 % of the step */
        {{1, 0.99, 0.953, 0.95, 0.5}, "8,32,4,64"}, /* clear from 5 % on */
        {{0.5, 0.99, 0.5}, "4,16,4,16"},
        {{0.99, 0.99}, "4,,4,8"},
        {{0.5}, "none"}, /* one count tells nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_str_eq(find_crossing(cases[i].grid_s), cases[i].found, "case %zu", i);
    }
}

Test(plot_pictures, precisions_of_the_same_payload_are_crossings_of_their_own)
{
    for (unsigned gpus = 4; gpus <= 8; gpus *= 2) {
        add(gpus, "ring", "", "fp16", 32, 1);
        add(gpus, "torus2d", "2x2", "fp16", 32, 0.5);
    }
    add(4, "ring", "", "fp16", 64, 1);
    add(8, "ring", "", "fp16", 64, 1);
    pick("crossover");
    cr_expect_eq(rows.count, 0, "one payload with one batch, or without a grid, is no crossover");
    for (unsigned gpus = 4; gpus <= 8; gpus *= 2) {
        add(gpus, "ring", "", "fp32", 32, 1);
        add(gpus, "torus2d", "2x2", "fp32", 32, 2);
    }
    pick("crossover");
    cr_expect_eq(rows.count, 10);
    cr_expect_str_eq(read_crossing("fp32,100,,32,"), ",,4,8");
    cr_expect_str_eq(read_crossing("fp16,100,,32,"), "4,4,4,8");
}

/* --- rows --------------------------------------------------------------------------------- */

Test(plot_pictures, bars_are_of_few_counts_spread_evenly_with_the_ends_among_them)
{
    for (unsigned gpus = 4; gpus <= 4096; gpus *= 2) {
        add(gpus, "ring", "", "fp16", 32, 1);
        add(gpus, "torus2d", "2x2", "fp16", 32, 2);
        add(gpus, "torus2d", "4x1", "fp16", 32, 0.5);
    }
    pick("breakdown");
    cr_assert_eq(rows.count, 2 * 4);
    static const char *const counts[] = {"4", "32", "512", "4096"};
    for (size_t i = 0; i < rows.count; i++) {
        cr_expect_str_eq(cell(i, "gpus"), counts[i / 2]);
        cr_expect_str_eq(cell(i, "shape"), i % 2 == 0 ? "" : "4x1", "the faster one");
    }
}

Test(plot_pictures, grids_are_of_counts_that_have_several)
{
    add(4, "ring", "", "fp16", 32, 1);
    add(4, "torus2d", "4x1", "fp16", 32, 1);
    add(8, "torus2d", "8x1", "fp16", 32, 1);
    add(8, "torus2d", "1x8", "fp16", 32, 1);
    add(8, "ring", "", "fp16", 32, 1);
    add(16, "hierarchical", "4x4", "fp16", 32, 1);
    add(16, "tree", "4x4", "fp16", 32, 1);
    pick("shapes");
    cr_assert_eq(rows.count, 3);
    cr_expect_str_eq(cell(1, "shape"), "1x8", "in order of X");
    cr_expect_str_eq(cell(2, "shape"), "8x1");
    pick("shapes_counts");
    cr_expect_eq(rows.count, 0, "one count only");
}

/* How many pictures there are of rows with such precisions; `parts` has their names. */
static size_t split_precisions(const char *const *precisions, struct ar_plot_part *parts)
{
    for (size_t i = 0; precisions[i] != NULL; i++) {
        add(4, "ring", "", precisions[i], 32, 1);
        add(8, "ring", "", precisions[i], 32, 1);
    }
    pick("shapes");
    return ar_plot_split(&table, kind, &arena, parts);
}

Test(plot_pictures, rows_that_differ_in_what_is_not_shown_have_a_picture_for_each_value)
{
    struct ar_plot_part parts[AR_PLOT_PARTS_MAX];
    cr_assert_eq(split_precisions((const char *const[]){"fp16", "a/b", NULL}, parts), 2);
    cr_expect_str_eq(parts[0].name, "shapes-fp16");
    cr_expect_str_eq(parts[1].name, "shapes-a_b");
    cr_assert_eq(parts[1].rows.count, 2);
    cr_expect_str_eq(ar_csv_text(table.csv, parts[1].rows.rows[1], "precision"), "a/b");
}

Test(plot_pictures, values_that_are_too_many_or_alike_as_names_of_files_have_none)
{
    struct ar_plot_part parts[AR_PLOT_PARTS_MAX];
    cr_expect_eq(split_precisions((const char *const[]){"a/b", "a_b", NULL}, parts), 0);
    cr_expect_eq(split_precisions((const char *const[]){"1", "2", "3", "4", "5", NULL}, parts), 0);
}

/* --- text --------------------------------------------------------------------------------- */

static const char *written(void (*write)(FILE *file, const char *text), const char *text)
{
    char *found;
    TEST_TEXT(found, write(stream, text));
    return ar_arena_own(&arena, found, free);
}

Test(plot_pictures, text_cannot_leave_its_quotes_or_its_cell)
{
    cr_expect_str_eq(written(ar_plot_write_text, "it's\n`x` \"@y\" \xff\u00fc"),
                     "'it’s `x` \"@y\" ?\u00fc'");
    cr_expect_str_eq(written(ar_plot_write_cell, "a, \"b\" 'c'\r"), "a; 'b' 'c' ");
}

/* --- the fastest of collectives ----------------------------------------------------------- */

static void add_collective(unsigned gpus, const char *algorithm, unsigned payload_bytes,
                           const char *time_s)
{
    fprintf(file, "c,,,fp16,%u,%s,,closed,%u,,%s,,,,,,,,,ok\n", gpus, algorithm, payload_bytes,
            time_s);
}

/* Two counts and two payloads: a tie, a clear one, one that only one algorithm has. */
Test(plot_pictures, the_fastest_algorithm_has_its_tie_and_the_next_slower_one)
{
    add_collective(4, "ring", 8, "0.3");
    add_collective(4, "ring", 16, "0.4");
    add_collective(8, "ring", 8, "0.5");
    add_collective(8, "ring", 16, "0.6");
    add_collective(4, "tree", 8, "0.3000000001");
    add_collective(4, "tree", 16, "0.2");
    add_collective(8, "tree", 8, "0.7");
    add_collective(4, "direct", 8, "0.6");
    pick("best");
    cr_expect_eq(read_as, AR_PLOT_COLLECTIVES, "no row has a trace");
    cr_expect_str_eq(data_text(),
                     "operation,gpus,payload_bytes,algorithm,shape,exact,allreduce_s,same_count,"
                     "next_algorithm,next_shape,next_s\n"
                     ",4,8,ring,,,0.3,1,direct,,0.6\n"
                     ",4,16,tree,,,0.2,0,ring,,0.4\n"
                     ",8,8,ring,,,0.5,0,tree,,0.7\n"
                     ",8,16,ring,,,0.6,0,,,\n");
}

Test(plot_pictures, one_count_one_payload_or_one_algorithm_is_no_map)
{
    add_collective(4, "ring", 8, "0.3");
    add_collective(4, "tree", 16, "0.3");
    pick("best");
    cr_expect_eq(rows.count, 0u);
}
