/* Pictures of published results: made-up rows, curves and sensitivities. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "ar_plot_reproduce.h"
#include "plot_reproduction.h"
#include "test_fixture.h"

TestSuite(plot_reproduce, .init = make_directory, .fini = remove_directory);

#define ROWS                                                                                       \
    "row,title,quantity,unit,gpus,algorithm,measured,predicted,low,high,error_frac,inside,source," \
    "assumptions\n"
#define CURVES  "curve,algorithm,quantity,gpus,value,low,high\n"
#define CHANGES "row,assumption,value,predicted,change_frac\n"

static const char rows[] =
    ROWS "a-4,\"Lab A, 4 \"\"V100\"\"\",efficiency_frac,1,4,ring,0.97,0.98,0.96,0.99,0.01,yes,s,x\n"
         "a-64,it's A on 64,efficiency_frac,1,64,ring,0.93,0.92,0.90,0.94,-0.01,yes,s,x\n"
         "a-1024,A on 1024,efficiency_frac,1,1024,torus2d,0.8475,0.91,0.89,0.93,0.07,no,s,x\n"
         "b-1024,B on 1024,efficiency_frac,1,1024,torus2d,,0.88,,,,,s,x\n"
         "g_256,G on 256,efficiency_frac,1,256,,0.9,,,,,,s,\n"
         "h-256,H somewhere,efficiency_frac,1,,,0.9,,,,,,s,\n"
         "a-time,A to 75.9 %,train_s,s,1024,torus2d,224,231,220,240,0.03,yes,s,x\n"
         "b-time,B to 75.9 %,train_s,s,2048,torus2d,74.7,80,76,85,0.07,no,s,x\n"
         "c-step,one step,iteration_s,s,640,ring,0.105,0.101,0.098,0.109,-0.04,yes,s,x\n"
         "d-rate,images,images_per_s,1/s,256,tree,86000,84000,81000,90000,-0.02,yes,s,x\n";
static const char curves[] = CURVES "lab A,ring,efficiency_frac,4,0.98,0.96,0.99\n"
                                    "lab A,ring,efficiency_frac,64,0.92,0.9,0.94\n"
                                    "lab A,ring,efficiency_frac,1024,0.5,0.4,0.6\n"
                                    "lab B,torus2d,efficiency_frac,64,0.95,,\n"
                                    "lab B,torus2d,efficiency_frac,2048,0.85,,\n"
                                    "lab B,torus2d,train_s,1024,240,220,260\n"
                                    "lab B,torus2d,train_s,2048,120,110,130\n";
static const char changes[] = CHANGES "a-1024,net.latency,2us,0.92,0.01\n"
                                      "a-1024,net.latency,9us,0.89,-0.02\n"
                                      "a-1024,bucket,64MiB,0.80,-0.12\n"
                                      "b-time,epochs,85,83,0.04\n";

static void write_all(void)
{
    write_file("reproduce.csv", rows);
    write_file("curves.csv", curves);
    write_file("sensitivity.csv", changes);
}

static enum ar_status reproduce(struct ar_plot_reproduce_report *report, struct ar_error *err)
{
    struct ar_plot_reproduce_request request = {.directory = directory, .template_dir = TEMPLATES};
    return ar_plot_reproduce(&request, report, err);
}

static void expect_error(enum ar_status expected, const char *fragment)
{
    struct ar_plot_reproduce_report report;
    struct ar_error err = {AR_OK, ""};
    cr_expect_eq(reproduce(&report, &err), expected, "%s", fragment);
    cr_expect_not_null(strstr(err.text, fragment), "\"%s\" does not say \"%s\"", err.text,
                       fragment);
    cr_expect_null(strchr(err.text, '\n'));
}

Test(plot_reproduce, all_pictures_are_whole_and_drawn_without_a_warning)
{
    need_gnuplot();
    write_all();
    struct ar_plot_reproduce_report report;
    struct ar_error err;
    cr_assert_eq(reproduce(&report, &err), AR_OK, "%s", err.text);
    for (unsigned i = 0; i < AR_PLOT_REPRODUCE_PICTURES; i++) {
        char name[64];
        cr_expect(report.pictures[i].is_drawn, "%s", report.pictures[i].name);
        cr_expect_str_eq(report.pictures[i].reason, "");
        snprintf(name, sizeof name, "%s.svg", report.pictures[i].name);
        read_file(name);
        cr_expect_not_null(strstr(text, "</svg>"));
        snprintf(name, sizeof name, "%s.gp", report.pictures[i].name);
        cr_expect_gt(read_file(name), 1000);
    }
    cr_expect_eq(count_outputs(), 3 + 4 * 4 + 2, "inputs, four files each, and two of curves");
    read_file("predicted.svg");
    cr_expect_not_null(strstr(text, "images per second"), "a panel of its own");
    cr_expect_not_null(strstr(text, "outside"));
    cr_expect_null(strstr(text, "B on 1024"), "no measured value to stand at");
    cr_expect_null(strstr(text, "G on 256"), "no predicted value to stand at");
    read_file("efficiency_published.svg");
    cr_expect_not_null(strstr(text, "B on 1024"));
    cr_expect_not_null(strstr(text, "lab A"));
    cr_expect_not_null(strstr(text, ">g_256<"), "a cluster without a model has its name");
    cr_expect_not_null(strstr(text, ">measured, cluster without a model<"));
    cr_expect_not_null(strstr(text, ">not measured<"));
    cr_expect_null(strstr(text, "H somewhere"), "no number of GPUs to stand at");
    cr_expect_null(strstr(text, "B to 75.9"));
    read_file("efficiency_published.csv");
    cr_expect_not_null(strstr(text, "\n256,90,NaN,NaN,NaN,2,"), "%s", text);
    cr_expect_not_null(strstr(text, ",,256,90.0 %,-,-,no model,g_256\n"), "%s", text);
    read_file("time_to_train.csv");
    cr_expect_not_null(strstr(text, ",5,1024,224 s,"), "numbers are of predicted rows: %s", text);
}

Test(plot_reproduce, the_largest_changes_come_first)
{
    need_gnuplot();
    struct ar_plot_reproduce_report report;
    struct ar_error err;
    write_file("sensitivity.csv", changes);
    cr_assert_eq(reproduce(&report, &err), AR_OK, "%s", err.text);
    read_file("sensitivity_bars.csv");
    cr_expect_not_null(strstr(text, "panel,bar,line,percent,x_min,name_line\n"
                                    "1,1,0,-12,-23.4,0\n"
                                    "1,2,1,1,-23.4,1.5\n"),
                       "the largest change first: %s", text);
    read_file("sensitivity.gp");
    cr_expect_not_null(strstr(text, "bar_names[4] = ['bucket', 'net.latency', '', 'epochs']"));
}

/* The key explains what is there; curves of one algorithm have one colour. */
Test(plot_reproduce, a_picture_of_measured_rows_has_no_key_of_others)
{
    need_gnuplot();
    struct ar_plot_reproduce_report report;
    struct ar_error err;
    write_file("reproduce.csv",
               ROWS "a-4,A,efficiency_frac,1,4,ring,0.97,0.98,0.96,0.99,0.01,yes,s,x\n");
    write_file("curves.csv", CURVES "lab A,ring,efficiency_frac,4,0.98,,\n"
                                    "lab A torus,torus2d,efficiency_frac,8,0.97,,\n"
                                    "lab B,ring,efficiency_frac,8,0.96,,\n");
    cr_assert_eq(reproduce(&report, &err), AR_OK, "%s", err.text);
    read_file("efficiency_published.svg");
    cr_expect_not_null(strstr(text, ">measured<"));
    cr_expect_not_null(strstr(text, ">predicted, band<"));
    cr_expect_null(strstr(text, "not measured"));
    cr_expect_null(strstr(text, "without a model"));
    read_file("efficiency_published.gp");
    cr_expect_not_null(strstr(text, "curves_colours = '1 2 1 '\ncurves_dashes = '1 1 2 '\n"));
}

Test(plot_reproduce, names_of_assumptions_take_the_room_that_their_values_leave)
{
    need_gnuplot();
    struct ar_plot_reproduce_report report;
    struct ar_error err;
    write_file("sensitivity.csv", CHANGES "a,term.compute.scale,0.907,1,0.05\n"
                                          "a,term.compute.scale,1.71,1,0.04\n"
                                          "a,set.nvlink.latency,1.9us,1,0.03\n"
                                          "a,set.hca.bandwidth,10.241GB/s,1,0.02\n"
                                          "a,set.rack.uplink_bandwidth,100.2345Gbps,1,0.01\n");
    cr_assert_eq(reproduce(&report, &err), AR_OK, "%s", err.text);
    read_file("sensitivity.gp");
    cr_expect_not_null(strstr(text, "bar_names[5] = ['term.compute.scale', '', "
                                    "'set.nvlink.latency', 'set.hca.bandwidth', "
                                    "'set.rack.uplin...']"));
}

Test(plot_reproduce, what_is_missing_is_left_out_with_a_reason)
{
    need_gnuplot();
    struct ar_plot_reproduce_report report;
    struct ar_error err;
    write_file("curves.csv", curves);
    cr_assert_eq(reproduce(&report, &err), AR_OK, "%s", err.text);
    cr_expect_str_eq(report.pictures[0].reason,
                     "reproduce.csv has no row that is measured and predicted");
    cr_expect(report.pictures[1].is_drawn, "curves alone");
    cr_expect_str_eq(report.pictures[1].reason, "");
    cr_expect_str_eq(report.pictures[3].reason, "no sensitivity.csv with rows");
}

Test(plot_reproduce, wrong_input_is_one_line_and_leaves_nothing)
{
    expect_error(AR_NO_INPUT, "found none of reproduce.csv, curves.csv and sensitivity.csv");
    write_file("reproduce.csv", "row,title\na,b\n");
    expect_error(AR_BAD_DATA, "reproduce.csv:1: column \"quantity\" is missing in the header");
    write_file("reproduce.csv", ROWS "a,b,speed,1,4,ring,1,1,,,,yes,s,x\n");
    expect_error(AR_BAD_DATA, "reproduce.csv:2: column \"quantity\" is \"speed\"; expected eff");
    write_file("reproduce.csv", ROWS "a,b,train_s,1,4,ring,1,-1,,,,yes,s,x\n");
    expect_error(AR_BAD_DATA, "reproduce.csv:2: column \"predicted\" is \"-1\"; expected a number");
    write_file("reproduce.csv", ROWS "a,b,train_s,1,4,ring,1,1,,,,perhaps,s,x\n");
    expect_error(AR_BAD_DATA, "column \"inside\" is \"perhaps\"; expected yes or no");
    write_file("reproduce.csv", ROWS);
    write_file("curves.csv", CURVES "c,ring,train_s,0,1,,\n");
    expect_error(AR_BAD_DATA, "curves.csv:2: column \"gpus\" is \"0\"");
    write_file("curves.csv", CURVES);
    write_file("sensitivity.csv", CHANGES "a,b,c,1,much\n");
    expect_error(AR_BAD_DATA, "sensitivity.csv:2: column \"change_frac\" is \"much\"");
    cr_expect_eq(count_outputs(), 3);
}

/* --- labels ------------------------------------------------------------------------------- */

Test(plot_reproduce, labels_lie_clear_of_each_other_and_of_all_marks)
{
    enum { COUNT = 20 };
    struct ar_plot_axis x = {0, 300, 0, 300, false};
    struct ar_plot_axis y = {0, 300, 0, 300, false};
    struct ar_plot_spot spots[COUNT];
    for (size_t i = 0; i < COUNT; i++) { /* a crowd in the upper right corner */
        double at = 280 - 6.0 * (double)i;
        spots[i] = (struct ar_plot_spot){
            .x = at, .y = at, .bar_low = at - 9, .bar_high = at + 9, .width = 16};
    }
    ar_plot_spots_place(spots, COUNT, &x, &y);
    for (size_t i = 0; i < COUNT; i++) {
        cr_expect(spots[i].label_x > 8 && spots[i].label_x < 292, "within the axes");
        for (size_t j = 0; j < COUNT; j++) {
            double across = fabs(spots[i].label_x - spots[j].label_x);
            double along = fabs(spots[i].label_y - spots[j].label_y);
            cr_expect(i == j || across >= 15.9 || along >= 11.9, "labels %zu and %zu", i, j);
            across = fabs(spots[i].label_x - spots[j].x);
            along = fabs(spots[i].label_y - spots[j].y);
            cr_expect(across >= 11.9 || along >= 9.9, "label %zu on mark %zu", i, j);
        }
    }
}
