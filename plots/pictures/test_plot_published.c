/* Pictures of published results and of comparisons: made-up rows and calls. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "test_plot_fixture.h"

TestSuite(plot_published, .init = make_directory, .fini = remove_directory);

#define ROWS                                                                                       \
    "row,title,quantity,unit,gpus,algorithm,measured,predicted,low,high,error_frac,inside,source," \
    "assumptions\n"

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

static const struct ar_plot_request published = {
    .set = AR_PLOT_PUBLISHED, .path = directory, .template_dir = TEMPLATES};

Test(plot_published, all_pictures_are_whole_and_drawn_without_a_warning)
{
    write_file("reproduce.csv", rows);
    struct ar_plot_report report = draw_request(&published);
    for (unsigned i = 0; i < report.pictures_count; i++) {
        char name[64];
        cr_expect(report.pictures[i].is_drawn, "%s", report.pictures[i].name);
        cr_expect_null(report.pictures[i].reason);
        snprintf(name, sizeof name, "%s.svg", report.pictures[i].name);
        read_file(name);
        cr_expect_not_null(strstr(text, "</svg>"));
        snprintf(name, sizeof name, "%s.gp", report.pictures[i].name);
        cr_expect_gt(read_file(name), 1000);
    }
    cr_expect_eq(count_outputs(), 1 + 4, "the input and four files");
    expect_in("predicted.svg", ">images per second<");
    cr_expect_not_null(strstr(text, ">Lab A; 4 'V100'<"));
    cr_expect_null(strstr(text, "B on 1024"), "no measured value to stand at");
    cr_expect_null(strstr(text, "G on 256"), "no predicted value to stand at");
}

Test(plot_published, wrong_input_is_one_line_and_leaves_nothing)
{
    cr_expect_eq(fail(&published, "reproduce.csv: No such file"), AR_NO_INPUT);
    write_file("reproduce.csv", "row,title\na,b\n");
    cr_expect_eq(fail(&published, "reproduce.csv:1: column \"quantity\" is missing"), AR_BAD_DATA);
    write_file("reproduce.csv", ROWS "a,b,train_s,1,4,ring,1,-1,,,,yes,s,x\n");
    cr_expect_eq(
        fail(&published, "reproduce.csv:2: column \"predicted\" is \"-1\"; expected a number"),
        AR_BAD_DATA);
    cr_expect_eq(count_outputs(), 1);
}

/* --- comparisons -------------------------------------------------------------------------- */

static struct ar_plot_report compare(const char *rows_of)
{
    const struct ar_plot_request request = {.set = AR_PLOT_COMPARE,
                                            .path = directory,
                                            .template_dir = TEMPLATES,
                                            .subject = "cluster it’s, engine x"};
    write_file("compare.csv", rows_of);
    return draw_request(&request);
}

#define CALLS "nodes,gpus,choice,set,payload_bytes,measured_s,predicted_s,low_s,high_s,error_frac\n"

Test(plot_published, calls_are_drawn_by_numbers_of_gpus_with_their_bands_if_all_have_one)
{
    struct ar_plot_report report =
        compare(CALLS "1,4,ring,fitted,4,8e-06,8.1e-06,7e-06,9e-06,0.0125\n"
                      "1,4,ring,fitted,4096,9e-06,9.1e-06,8e-06,1e-05,0.0111\n"
                      "2,8,ring,held-out,4,2e-05,1.5e-05,1e-05,3e-05,-0.25\n"
                      "2,8,ring,held-out,4096,2e-05,2.5e-05,2e-05,3e-05,0.25\n");
    for (size_t i = 0; i < report.pictures_count; i++) {
        cr_expect(report.pictures[i].is_drawn, "%s", report.pictures[i].name);
        cr_expect_null(report.pictures[i].reason);
    }
    expect_in("compare_time.svg", "cluster it’s, engine x");
    cr_expect_not_null(strstr(text, ">4 GPUs (1 node), fitted<"));
    cr_expect_not_null(strstr(text, ">8 GPUs (2 nodes), held out<"));
    cr_expect_not_null(strstr(text, "95 % bands"));
    expect_in("compare.csv", "choice");
    report = compare(CALLS "1,4,ring,held-out,4,8e-06,8.1e-06,7e-06,9e-06,0.0125\n"
                           "1,4,ring,held-out,4096,9e-06,9.1e-06,,,0.0111\n");
    cr_expect_null(report.pictures[0].reason);
    read_file("compare_time.svg");
    cr_expect_null(strstr(text, "bands"));
    cr_expect_not_null(strstr(text, ">4 GPUs (1 node)<"), "all are held out");
}
