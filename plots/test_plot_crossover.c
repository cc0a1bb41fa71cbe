/* From how many GPUs on a grid is faster, and sweeps of several batches and payloads. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "plot_crossover.h"
#include "test_fixture.h"

TestSuite(plot_crossover, .init = make_directory, .fini = remove_directory);

static const struct ar_plot_names algorithms = {3, {"torus2d", "hierarchical", "ring"}};
static const struct ar_plot_names engines = {1, {"closed"}};
enum { TORUS, HIERARCHICAL, RING };

/* Steps of 4, 8, 16, ... GPUs, the ring 1 s each and the grid as given; NULL-ended by 0. */
static struct ar_plot_crossing find_one(const double *grid_s)
{
    struct ar_plot_row rows[16] = {{.line = 0}};
    struct ar_plot_table table = {.rows = rows, .algorithms = &algorithms};
    struct ar_plot_crossings *crossings = calloc(1, sizeof *crossings);
    struct ar_plot_pick pick;
    struct ar_error err;
    for (uint64_t i = 0, gpus = 4; grid_s[i] > 0; i++, gpus *= 2) {
        struct ar_plot_row row = {.gpus = gpus, .payload_bytes = 100, .batch_per_gpu = 32};
        row.algorithm = TORUS;
        row.iteration_s = grid_s[i];
        rows[table.rows_count++] = row;
        row.algorithm = RING;
        row.iteration_s = 1;
        rows[table.rows_count++] = row;
    }
    cr_assert_eq(ar_plot_pick_crossing(&table, &engines, &pick, &err), AR_OK);
    ar_plot_crossings_find(&pick, &algorithms, crossings);
    struct ar_plot_crossing cell = {.row = NULL};
    if (crossings->count == 1) {
        cell = crossings->cells[0];
    }
    free(crossings);
    ar_plot_pick_clear(&pick);
    return cell;
}

Test(plot_crossover, the_grid_is_faster_from_a_count_on_always_or_never)
{
    cr_expect_eq(find_one((double[]){2, 2, 0.9, 0.8, 0}).from_gpus, 16);
    cr_expect_eq(find_one((double[]){0.9, 0.8, 0.7, 0}).from_gpus, 4);
    cr_expect_eq(find_one((double[]){0.9, 0.8, 0.7, 0}).min_gpus, 4);
    cr_expect_eq(find_one((double[]){0.9, 0.8, 0.7, 0}).max_gpus, 16);
    cr_expect_eq(find_one((double[]){2, 2, 2, 0}).from_gpus, 0);
    cr_expect_eq(find_one((double[]){2, 2, 0.5, 0}).from_gpus, 16, "the largest alone counts");
}

Test(plot_crossover, a_grid_that_falls_behind_again_counts_from_where_it_stays_ahead)
{
    cr_expect_eq(find_one((double[]){0.9, 2, 0.9, 0.9, 0}).from_gpus, 16);
    cr_expect_eq(find_one((double[]){0.9, 0.9, 0.9, 2, 0}).from_gpus, 0);
}

Test(plot_crossover, the_same_time_is_not_faster)
{
    cr_expect_eq(find_one((double[]){1, 1, 1 - 1e-7, 0}).from_gpus, 0);
    cr_expect_eq(find_one((double[]){1, 1, 1 - 1e-5, 0}).from_gpus, 16);
}

Test(plot_crossover, a_gain_is_clear_from_5_percent_of_the_step_on)
{
    const double slow[] = {1, 0.99, 0.953, 0.95, 0.5, 0};
    cr_expect_eq(find_one(slow).from_gpus, 8);
    cr_expect_eq(find_one(slow).clear_gpus, 32);
    cr_expect_eq(find_one((double[]){0.5, 0.99, 0.5, 0}).clear_gpus, 16);
    cr_expect_eq(find_one((double[]){0.99, 0.99, 0}).clear_gpus, 0);
}

Test(plot_crossover, one_count_tells_nothing)
{
    cr_expect_null(find_one((double[]){0.5, 0}).row);
}

/* Steps of both algorithms on 4 and 8 GPUs, of a payload of 100 bytes. */
static void add_pairs(struct ar_plot_table *table, const char *precision, uint64_t batch,
                      double grid_s)
{
    for (uint64_t gpus = 4; gpus <= 8; gpus *= 2) {
        struct ar_plot_row row = {.gpus = gpus,
                                  .payload_bytes = 100,
                                  .batch_per_gpu = batch,
                                  .algorithm = RING,
                                  .iteration_s = 1};
        snprintf(row.precision, sizeof row.precision, "%s", precision);
        table->rows[table->rows_count++] = row;
        row.algorithm = grid_s > 0 ? TORUS : HIERARCHICAL;
        row.iteration_s = grid_s > 0 ? grid_s : 0.5;
        table->rows[table->rows_count++] = row;
    }
}

Test(plot_crossover, precisions_of_the_same_payload_are_lines_of_their_own)
{
    struct ar_plot_row rows[16];
    struct ar_plot_table table = {.rows = rows, .algorithms = &algorithms};
    struct ar_plot_crossings *crossings = calloc(1, sizeof *crossings);
    struct ar_plot_pick pick;
    struct ar_error err;
    add_pairs(&table, "fp32", 32, 2);
    add_pairs(&table, "fp16", 32, 0.5);
    cr_assert_eq(ar_plot_pick_crossover(&table, &engines, &pick, &err), AR_OK);
    ar_plot_crossings_find(&pick, &algorithms, crossings);
    cr_assert_eq(crossings->count, 2);
    cr_expect_eq(crossings->lines, 2);
    cr_expect_eq(crossings->columns, 1);
    cr_expect_str_eq(crossings->cells[0].row->precision, "fp16");
    cr_expect_eq(crossings->cells[0].from_gpus, 4);
    cr_expect_eq(crossings->cells[1].from_gpus, 0);
    ar_plot_pick_clear(&pick);
    free(crossings);
}

Test(plot_crossover, one_payload_with_one_batch_or_without_a_grid_is_no_table)
{
    struct ar_plot_row rows[16];
    struct ar_plot_table table = {.rows = rows, .algorithms = &algorithms};
    struct ar_plot_pick pick;
    struct ar_error err;
    add_pairs(&table, "fp16", 32, 0.5);
    cr_assert_eq(ar_plot_pick_crossover(&table, &engines, &pick, &err), AR_OK);
    cr_expect_eq(pick.rows_count, 0, "one cell");
    ar_plot_pick_clear(&pick);
    table.rows_count = 0;
    add_pairs(&table, "fp16", 32, 0);
    add_pairs(&table, "fp16", 64, 0);
    cr_assert_eq(ar_plot_pick_crossover(&table, &engines, &pick, &err), AR_OK);
    cr_expect_eq(pick.rows_count, 0, "no torus2d");
    ar_plot_pick_clear(&pick);
}

/* --- from files --------------------------------------------------------------------------- */

static void add_step(FILE *file, unsigned gpus, const char *algorithm, const char *shape,
                     unsigned batch, const char *precision, unsigned long payload_bytes,
                     double scale, double iteration_s)
{
    fprintf(file,
            "c,t,%u,%s,%u,1,%s,%s,2,closed,%lu,%g,0.07,0.02,0.01,100,0.9,gpu,100,0.1,0.1.0,8,"
            "25MiB,3,0.021,0.043,0.001,0.005,0,0,0,0,,%g,ok\n",
            batch, precision, gpus, algorithm, shape, payload_bytes, iteration_s, scale);
}

static FILE *open_scaled_sweep(void)
{
    FILE *file = fopen(in_directory("sweep.csv"), "w");
    cr_assert_not_null(file);
    fprintf(file, "%.*s,gradient_scale,status\n", (int)(strlen(header) - strlen(",status\n")),
            header);
    return file;
}

/* Two batches and two payloads; one cell has no ring on 4 GPUs. */
static void write_scaled_sweep(void)
{
    FILE *file = open_scaled_sweep();
    for (unsigned gpus = 1; gpus <= 16; gpus *= 4) {
        for (unsigned batch = 16; batch <= 32; batch *= 2) {
            for (unsigned scale = 2; scale >= 1; scale--) {
                double grid_s = batch == 32 && gpus < 16 ? 0.3 : scale == 2 ? 0.1 : 0.25;
                if (gpus > 1) {
                    add_step(file, gpus, "torus2d", "1x4", batch, "fp16", 100 * scale, scale, 0.4);
                    add_step(file, gpus, "torus2d", "2x2", batch, "fp16", 100 * scale, scale,
                             grid_s);
                }
                add_step(file, gpus, "ring", "", batch, "fp16", 100 * scale, scale, 0.2);
            }
        }
    }
    add_step(file, 16, "hierarchical", "4", 16, "fp16", 100, 1, 0.3);
    cr_assert_eq(fclose(file), 0);
}

Test(plot_crossover, a_sweep_of_payloads_and_batches_gives_a_table_and_pictures_of_one_of_them)
{
    need_gnuplot();
    write_scaled_sweep();
    struct ar_plot_report report = draw();
    cr_expect_str_eq(report.pictures[6].name, "crossover");
    cr_expect(report.pictures[6].is_drawn);
    cr_expect_str_eq(report.pictures[6].reason, "");
    read_file("crossover.csv");
    cr_expect_str_eq(text,
                     "precision,payload_bytes,gradient_scale,batch_per_gpu,from_gpus,clear_gpus,"
                     "min_gpus,max_gpus,column,line,shade_frac,is_dark,text,clear_text\n"
                     "fp16,100,1,16,,,4,16,0,0,0.000,0,never,5 %: never\n"
                     "fp16,100,1,32,,,4,16,1,0,0.000,0,never,5 %: never\n"
                     "fp16,200,2,16,4,4,4,16,0,1,1.000,1,<= 4,5 %: <= 4\n"
                     "fp16,200,2,32,16,16,4,16,1,1,0.150,0,16,5 %: 16\n");
    read_file("crossover.svg");
    cr_expect_not_null(strstr(text, "200 B (x2)"));
    cr_expect_not_null(strstr(text, "never"));
    cr_expect_not_null(strstr(text, "5 %: 16"));
    cr_expect_str_eq(report.remark,
                     "all pictures but crossover are of a batch of 16 per GPU, fp16, "
                     "gradient scale 1, one of 4 combinations");
    cr_expect_eq(report.pictures[0].rows_count, 3 + 2 + 1);
    cr_expect(report.pictures[5].is_drawn);
    cr_expect_str_eq(report.pictures[5].reason, "", "no warning of panels without an algorithm");
    read_file("shapes_counts.csv");
    cr_expect_str_eq(text, "gpus,algorithm,shape,engine,grid_x,allreduce_s\n"
                           "4,ring,,closed,,0.02\n"
                           "4,torus2d,1x4,closed,1,0.02\n4,torus2d,2x2,closed,2,0.02\n"
                           "16,ring,,closed,,0.02\n"
                           "16,torus2d,1x4,closed,1,0.02\n16,torus2d,2x2,closed,2,0.02\n"
                           "16,hierarchical,4,closed,,0.02\n");
    read_file("shapes_counts.svg");
    cr_expect_not_null(strstr(text, "16 GPUs, best: 1x4, 20 ms"));
    read_file("efficiency.svg");
    cr_expect_not_null(strstr(text, "batch of 16 per GPU, fp16, 100 %"));
}

Test(plot_crossover, a_gradient_scale_that_is_no_number_is_named)
{
    FILE *file = open_scaled_sweep();
    add_step(file, 4, "ring", "", 32, "fp16", 100, -1, 0.2);
    fclose(file);
    struct ar_plot_request request = a_request();
    cr_expect_eq(fail(&request, "sweep.csv:2: column \"gradient_scale\" is \"-1\"; expected"),
                 AR_BAD_DATA);
}
