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
    cr_expect_eq(find_one((double[]){0.9, 0.8, 0.7, 0}).least_gpus, 4);
    cr_expect_eq(find_one((double[]){0.9, 0.8, 0.7, 0}).most_gpus, 16);
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

Test(plot_crossover, one_count_tells_nothing)
{
    cr_expect_null(find_one((double[]){0.5, 0}).row);
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
    cr_assert_eq(fclose(file), 0);
}

Test(plot_crossover,
     the_table_has_a_cell_for_each_payload_and_batch_and_the_other_pictures_are_of_one)
{
    need_gnuplot();
    write_scaled_sweep();
    struct ar_plot_report report = draw();
    cr_expect_str_eq(report.pictures[6].name, "crossover");
    cr_expect(report.pictures[6].is_drawn);
    read_file("crossover.csv");
    cr_expect_str_eq(text, "precision,payload_bytes,gradient_scale,batch_per_gpu,from_gpus,"
                           "least_gpus,most_gpus,column,line,shade_frac,is_dark,text\n"
                           "fp16,100,1,16,,4,16,0,0,0.000,0,never\n"
                           "fp16,100,1,32,,4,16,1,0,0.000,0,never\n"
                           "fp16,200,2,16,4,4,16,0,1,1.000,1,<= 4\n"
                           "fp16,200,2,32,16,4,16,1,1,0.150,0,16\n");
    read_file("crossover.svg");
    cr_expect_not_null(strstr(text, "200 B (x2)"));
    cr_expect_not_null(strstr(text, "never"));
    cr_expect_str_eq(report.remark,
                     "all pictures but crossover are of a batch of 16 per GPU, fp16, "
                     "gradient scale 1, one of 4 combinations");
    cr_expect_eq(report.pictures[0].rows_count, 3 + 2);
    read_file("efficiency.svg");
    cr_expect_not_null(strstr(text, "batch of 16 per GPU, fp16, 100 %"));
}

Test(plot_crossover, precisions_of_the_same_payload_are_lines_of_their_own)
{
    need_gnuplot();
    FILE *file = open_scaled_sweep();
    for (unsigned gpus = 4; gpus <= 8; gpus *= 2) {
        add_step(file, gpus, "ring", "", 32, "fp16", 100, 2, 0.2);
        add_step(file, gpus, "torus2d", "2x2", 32, "fp16", 100, 2, 0.1);
        add_step(file, gpus, "ring", "", 32, "fp32", 100, 1, 0.2);
        add_step(file, gpus, "torus2d", "2x2", 32, "fp32", 100, 1, 0.3);
    }
    fclose(file);
    draw();
    read_file("crossover.csv");
    cr_expect_not_null(strstr(text, "\nfp16,100,2,32,4,4,8,0,0,1.000,1,<= 4\n"
                                    "fp32,100,1,32,,4,8,0,1,0.000,0,never\n"));
}

Test(plot_crossover, one_payload_with_one_batch_or_one_algorithm_is_no_table)
{
    need_gnuplot();
    write_sweep();
    struct ar_plot_report report = draw();
    cr_expect(!report.pictures[6].is_drawn);
    cr_expect_not_null(strstr(report.pictures[6].reason, "needs ring and torus2d on two GPU"));
    FILE *file = open_scaled_sweep();
    for (unsigned batch = 16; batch <= 32; batch *= 2) {
        add_step(file, 4, "ring", "", batch, "fp16", 100, 1, 0.2);
        add_step(file, 8, "ring", "", batch, "fp16", 100, 1, 0.2);
    }
    fclose(file);
    report = draw();
    cr_expect(!report.pictures[6].is_drawn);
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

/* --- shapes of several counts ------------------------------------------------------------- */

Test(plot_crossover, every_count_with_several_grids_has_a_panel_with_all_of_them)
{
    need_gnuplot();
    write_sweep();
    struct ar_plot_report report = draw();
    cr_expect(report.pictures[5].is_drawn);
    read_file("shapes_counts.csv");
    cr_expect_str_eq(text, "gpus,algorithm,shape,engine,grid_x,allreduce_s\n"
                           "16,ring,-,simgrid,,0.02\n"
                           "16,torus2d,2x8,simgrid,2,0.012\n"
                           "16,torus2d,4x4,simgrid,4,0.01\n"
                           "64,ring,-,simgrid,,0.04\n"
                           "64,torus2d,4x16,closed,4,0.013\n"
                           "64,torus2d,8x8,closed,8,0.011\n"
                           "64,torus2d,16x4,closed,16,0.014\n"
                           "64,hierarchical,4,closed,,0.03\n");
    read_file("shapes_counts.svg");
    cr_expect_not_null(strstr(text, "16 GPUs, best: 4x4, 10 ms"));
    cr_expect_not_null(strstr(text, "64 GPUs, best: 8x8, 11 ms"));
}
