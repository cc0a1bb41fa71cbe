/* Pictures of published results and of comparisons: made-up rows and calls. */
#include <criterion/criterion.h>
#include <string.h>

#include "test_plot_fixture.h"

TestSuite(plot_published, .init = make_directory, .fini = remove_directory);

static const char rows[] =
    "row,table,title,quantity,gpus,algorithm,measured,predicted,measured_s,predicted_s\n"
    "a-4,lab-a,\"Lab A, 4 \"\"V100\"\"\",efficiency_frac,4,ring,0.97,0.98,0.1,0.099\n"
    "a-1024,lab-a,A on 1024,efficiency_frac,1024,torus2d,0.8475,0.91,0.12,0.11\n"
    "b-1024,lab-b,B on 1024,efficiency_frac,1024,torus2d,,0.88,,\n"
    "g_256,lab-g,G on 256,efficiency_frac,256,,0.9,,,\n"
    "a-time,lab-a,A to 75.9 %,train_s,1024,torus2d,224,231,224,231\n"
    "c-step,lab-c,one step,iteration_s,640,ring,0.105,0.101,0.105,0.101\n";

static const struct ar_plot_request published = {
    .set = AR_PLOT_PUBLISHED, .path = directory, .template_dir = TEMPLATES};

Test(plot_published, all_pictures_are_whole_and_drawn_without_a_warning)
{
    write_file("reproduce.csv", rows);
    struct ar_plot_report report = draw_request(&published);
    expect_whole(&report, report.pictures_count);
    cr_expect_eq(count_outputs(), 1 + 4, "the input and four files");
    expect_in("predicted.svg", ">lab-a<");
    cr_expect_not_null(strstr(text, ">lab-c<"));
    cr_expect_null(strstr(text, ">lab-b<"), "no measured value to stand at");
    cr_expect_null(strstr(text, ">lab-g<"), "no predicted value to stand at");
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
    report = compare("operation," CALLS
                     "allreduce,1,4,ring,held-out,4,8e-06,8.1e-06,7e-06,9e-06,0.0125\n"
                     "alltoall,1,4,direct,held-out,4,9e-06,9.1e-06,8e-06,1e-05,0.0111\n");
    cr_expect_null(report.pictures[0].reason);
    expect_in("compare_time.svg", "Time of one call");
    cr_expect_not_null(strstr(text, ">all-to-all, 4 GPUs (1 node)<"), "not drawn as one series");
}
