/* Which rows pictures show, and the files they leave. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_plot_fixture.h"

TestSuite(plot, .init = make_directory, .fini = remove_directory);

/* --- selection ---------------------------------------------------------------------------- */

Test(plot, rows_are_selected_and_said_as_each_picture_needs_them, .disabled = AR_TEST_STRIDE > 1)
{
    cr_expect_eq(draw_sweep().rows_failed, 1);
    expect_content("efficiency.csv",
                   "gpus,algorithm,shape,engine,exact,efficiency_frac,iteration_s\n"
                   "16,ring,-,simgrid,,0.875,0.08\n"
                   "64,ring,-,closed,,0.777778,0.09\n"
                   "16,torus2d,4x4,simgrid,,0.933333,0.075\n"
                   "64,torus2d,8x8,closed,,0.921053,0.076\n"
                   "64,hierarchical,4,closed,,0.823529,0.085\n");
    expect_content("shapes.csv", "gpus,algorithm,shape,engine,exact,allreduce_s\n"
                                 "64,ring,-,closed,,0.04\n"
                                 "64,torus2d,4x16,closed,,0.013\n"
                                 "64,torus2d,8x8,closed,,0.011\n"
                                 "64,torus2d,16x4,closed,,0.014\n"
                                 "64,hierarchical,4,closed,,0.03\n");
    expect_in("efficiency.svg", "engine simgrid + closed");
    expect_in("shapes.svg", "engine closed");
    expect_in("shapes.svg", "best grid: torus2d 8x8, 11 ms");
    expect_in("breakdown.csv", "16,ring,-,simgrid,,0.005,0.021,0.043,0.01,0.001,,0.08,0.875\n");
    expect_in("efficiency.svg", ">torus2d<");
    expect_in("breakdown.svg", ">64 GPUs<");
    expect_in("breakdown.svg", "80.0 ms (87.5 %)");
    cr_expect_null(strstr(text, "waits for input"), "nothing does");
}

/* The file says which rows are exact: marks and the key do. */
Test(plot, approximate_rows_are_told_apart, .disabled = AR_TEST_STRIDE > 1)
{
    FILE *file = open_sweep("exact,");
    fputs("yes,", file);
    add_row(file, 16, "ring", "-", "x", 0.08, 0.02, "ok");
    fputs("no,", file);
    add_row(file, 64, "ring", "-", "x", 0.09, 0.02, "ok");
    fclose(file);
    draw();
    expect_in("efficiency.svg", "open marks: approximate");
    read_file("throughput.svg");
    cr_expect_null(strstr(text, ">approximate<"), "the key has no marks of nothing");
}

Test(plot, a_picture_without_data_is_left_out_with_a_reason, .disabled = AR_TEST_STRIDE > 1)
{
    FILE *file = open_sweep("");
    add_row(file, 16, "ring", "-", "closed", 0.08, 0.02, "ok");
    fclose(file);
    struct ar_plot_report report = draw();
    cr_expect(report.pictures[0].is_drawn, "one row is enough for the efficiency");
    cr_expect(!report.pictures[2].is_drawn);
    cr_expect_str_eq(report.pictures[2].reason, "no GPU count has several grid shapes X x Y");
    cr_expect_null(report.pictures[4].reason, "there is no payload.csv");
    cr_expect_eq(count_outputs(), 4 * count_drawn(&report));
}

/* Whether a script with the colours, marks and dashes of pictures ends without an error. */
static bool runs(const char *script)
{
    char command[1000];
    snprintf(command, sizeof command, "gnuplot -e \"load '" TEMPLATES "/style.gp'; seen = ''; %s\"",
             script);
    return system(command) == 0;
}

/* As a picture has them in turn: algorithms of the all-reduce are told apart by their colours, more
 * names than there are colours by their marks and dashes. */
Test(plot, no_two_algorithms_share_a_colour_and_no_two_names_a_colour_and_a_mark_or_dash)
{
    need_gnuplot();
    cr_expect(runs("do for [name in 'ring torus2d hierarchical tree blueconnect recursive-doubling "
                   "halving-doubling swing node-swing direct in-network collnet-direct'] { "
                   "c = sprintf('%d', colour(style(name))); "
                   "if (has(seen, c)) { exit status 1 }; seen = add(seen, c) }"));
    cr_expect(runs(
        "do for [k = 1:36] { c = sprintf('%d:%d %d;%d', colour(k), mark(k), colour(k), dash(k)); "
        "do for [w in c] { if (has(seen, w)) { exit status 1 }; seen = add(seen, w) } }"));
}

Test(plot, long_names_of_series_are_whole, .disabled = AR_TEST_STRIDE > 1)
{
    FILE *file = open_sweep("settings,");
    for (int i = 1; i < 3; i++) {
        fprintf(file, "net.bandwidth=%d000000GB/s hca.bandwidth=%d000000GB/s,", i, i);
        add_row(file, 16, "ring", "-", "x", 0.08 * i, 0.02, "ok");
    }
    fclose(file);
    draw();
    expect_in("breakdown.svg", "ring, net.bandwidth=2000000GB/s, hca.bandwidth=2000000GB/s");
    expect_in("efficiency.svg", "ring, net.bandwidth=2000000GB/s, hca.bandwidth=2000000GB/s");
}

/* --- files -------------------------------------------------------------------------------- */

Test(plot, every_picture_is_a_whole_svg_and_a_whole_png_drawn_without_a_warning)
{
    write_sweep();
    write_payloads();
    char *before = strndup(text, read_file("payload.csv"));
    struct ar_plot_report report = draw();
    read_file("payload.csv");
    cr_expect_str_eq(text, before, "the input stays as it is");
    free(before);
    cr_expect_eq(report.pictures[4].rows_count, 5, "payloads of 0 bytes are left out");
    cr_expect_eq(report.pictures[5].rows_count, 5, "here, too");
    expect_in("busbw.svg", "bus bandwidth (GB/s)");
    expect_whole(&report, 6); /* the others are of larger sweeps */
    cr_expect_eq(count_outputs(), 4 * count_drawn(&report), "and no temporary file is left");
}

static void expect_in_shell(const char *line)
{
    cr_assert_eq(setenv("PLOTS", directory, 1), 0);
    cr_expect_eq(system(ar_arena_format(&arena, "cd \"$PLOTS\" && %s", line)), 0, "%s", line);
}

Test(plot, drawing_again_gives_the_same_bytes_as_does_the_script_beside_a_picture)
{
    draw_sweep();
    expect_in_shell("md5sum efficiency.csv shapes.gp shapes.svg breakdown.png >sums");
    expect_in_shell("wc -c throughput.svg >size");
    draw();
    expect_in_shell("md5sum -c --quiet sums");
    expect_in_shell("rm throughput.svg && LC_ALL=C.UTF-8 gnuplot throughput.gp");
    expect_in_shell("wc -c throughput.svg | cmp - size");
}

Test(plot, names_in_titles_are_text_and_never_commands)
{
    FILE *file = open_sweep("");
    fprintf(file, "\"]]>it's `touch oops` \"\"@x\"\" "
                  "{a}_b\",\"t\xff,t\xc2\x9b\",32,fp16,16,4,ring,-,2,closed,"
                  "1,0.08,0.07,0.02,0.01,6400,0.875,node,1,1,1,1,1,1,0.02,0.04,0.01,0,0,0,0,0,,ok");
    fclose(file);
    draw();
    expect_in("efficiency.svg", "`touch oops`");
    cr_expect_not_null(strstr(text, "{a}_b, t?,t , batch of 32 per GPU"), "no markup, valid UTF-8");
    cr_expect_not_null(strstr(text, "]] >it’s"),
                       "what ends a CDATA section is none, nor is a quote");
    cr_expect_not_null(strstr(text, "100 % = one node"));
    cr_expect_neq(access(in_directory("oops"), F_OK), 0);
}

Test(plot, pictures_go_to_another_directory_when_one_is_given)
{
    write_sweep();
    struct ar_plot_request request = a_request();
    request.path = in_directory("sweep.csv");
    request.output_dir = ar_arena_text(&arena, in_directory("sub"));
    cr_expect_str_eq(draw_request(&request).output_dir, request.output_dir);
    cr_expect_eq(access(in_directory("sub/efficiency.png"), F_OK), 0);
    cr_expect_eq(count_outputs(), 1);
    strcat(directory, "/sub");
    remove_directory();
    directory[strlen(directory) - 4] = '\0';
}

/* --- several batches, payloads and settings ----------------------------------------------- */

/* A payload of 100 bytes for each unit of the scale of gradients. */
static void add_step(FILE *file, unsigned gpus, const char *algorithm, const char *shape,
                     unsigned batch, unsigned scale, double iteration_s)
{
    fprintf(file,
            "%u,c,t,%u,fp16,%u,1,%s,%s,2,closed,%u,%g,0.07,0.02,0.01,100,0.9,gpu,100,0.1,0.1.0,8,"
            "25MiB,3,0.021,0.043,0.001,0.005,0,0,0,0,,ok\n",
            scale, batch, gpus, algorithm, shape, 100 * scale, iteration_s);
}

/* Two batches and two payloads; one cell has no ring on 4 GPUs. */
static void write_scaled_sweep(void)
{
    FILE *file = open_sweep("gradient_scale,");
    for (unsigned gpus = 1; gpus <= 16; gpus *= 4) {
        for (unsigned batch = 16; batch <= 32; batch *= 2) {
            for (unsigned scale = 2; scale >= 1; scale--) {
                double grid_s = batch == 32 && gpus < 16 ? 0.3 : scale == 2 ? 0.1 : 0.25;
                if (gpus > 1) {
                    add_step(file, gpus, "torus2d", "1x4", batch, scale, 0.4);
                    add_step(file, gpus, "torus2d", "2x2", batch, scale, grid_s);
                }
                add_step(file, gpus, "ring", "", batch, scale, 0.2);
            }
        }
    }
    add_step(file, 16, "hierarchical", "4", 16, 1, 0.3);
    cr_assert_eq(fclose(file), 0);
}

Test(plot, a_sweep_of_payloads_and_batches_gives_a_table_and_pictures_of_each)
{
    write_scaled_sweep();
    struct ar_plot_report report = draw();
    expect_content("crossover.csv",
                   "precision,payload_bytes,gradient_scale,batch_per_gpu,from_gpus,clear_gpus,"
                   "min_gpus,max_gpus\n"
                   "fp16,100,1,16,,,4,16\n"
                   "fp16,100,1,32,,,4,16\n"
                   "fp16,200,2,16,4,4,4,16\n"
                   "fp16,200,2,32,16,16,4,16\n");
    expect_in("crossover.svg", ">200 (x2)<");
    cr_expect_not_null(strstr(text, "never"));
    cr_expect_not_null(strstr(text, "5 %: 16"));
    expect_in("shapes-batch_per_gpu_16-gradient_scale_2.svg",
              "batch of 16 per GPU, fp16, gradients x 2");
    expect_in("shapes-batch_per_gpu_32-gradient_scale_1.svg", "batch of 32 per GPU, fp16, bucket");
    cr_expect_eq(count_outputs(), 4 * count_drawn(&report));
    expect_in("efficiency.csv", ",torus2d+batch~per~gpu=32+gradient~scale=2,");
}

Test(plot, a_reason_is_one_line_whatever_cells_hold)
{
    FILE *file = open_sweep("");
    for (int i = 0; i < 7; i++) {
        fprintf(file,
                "\"a\n%d\",t,32,fp16,16,4,ring,-,2,x,100,0.08,0.07,0.02,0.01,6400,0.9,gpu,100,0.1,"
                "0.1.0,8,25MiB,3,0.021,0.043,0.001,0.005,0,0,0,0,,ok\n",
                i);
    }
    cr_assert_eq(fclose(file), 0);
    cr_expect_str_eq(draw().pictures[2].reason,
                     "rows differ in cluster (a 0, a 1, a 2, a 3, a 4, a 5, ...); choose, such as "
                     "--where cluster=a 0");
}

Test(plot, rows_that_are_chosen_are_drawn, .disabled = AR_TEST_STRIDE > 1)
{
    write_scaled_sweep();
    struct ar_plot_report report = draw_where("batch_per_gpu=16, gradient_scale=1.0");
    cr_expect_eq(report.pictures[0].rows_count, 3 + 2 + 1);
    cr_expect(report.pictures[6].is_drawn);
    cr_expect_null(report.pictures[6].reason, "no warning of panels without an algorithm");
    expect_content("shapes_counts.csv", "gpus,algorithm,shape,engine,exact,allreduce_s\n"
                                        "4,ring,,closed,,0.02\n"
                                        "4,torus2d,1x4,closed,,0.02\n4,torus2d,2x2,closed,,0.02\n"
                                        "16,ring,,closed,,0.02\n"
                                        "16,torus2d,1x4,closed,,0.02\n16,torus2d,2x2,closed,,0.02\n"
                                        "16,hierarchical,4,closed,,0.02\n");
    expect_in("shapes_counts.svg", "16 GPUs, best grid: 1x4, 20 ms");
    expect_in("efficiency.svg", "batch of 16 per GPU, fp16, bucket 25MiB, channels 2");
    draw_where("batch_per_gpu=16,gradient_scale=2");
    expect_in("efficiency.svg", "batch of 16 per GPU, fp16, gradients x 2, bucket 25MiB");
}

Test(plot, rows_that_differ_in_more_than_their_algorithm_are_series)
{
    static const struct {
        const char *column, *one, *other;
        const char *series; /* of the other one */
        const char *chosen; /* to have it alone */
        const char *title;  /* what that picture says */
    } axes[] = {
        {"settings", "a.b=1 c=2", "a.b=3 c=2", "ring+a.b=3+c=2,", "a.b=3", "a.b=3, c=2, "},
        {"settings", "\"at=32=9,64=8\"", "\"at=32=7,64=8\"", "ring+at=32=7_64=8,",
         "at=32=7,64=8, gpus=4", "at=32=7,64=8"},
        {"jitter_frac", "0", "0.1", "ring+jitter~frac=0.1,", "jitter_frac=0.10", "jitter 0.1"},
        {"wire", "", "fp32", "ring+fp32,", "wire=fp32", "fp32 on the wire"},
    };
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        /* Rows of 4 and 8 GPUs that have one value of a column, and again with the other one. */
        char column[32];
        snprintf(column, sizeof column, "%s,", axes[i].column);
        FILE *file = open_sweep(column);
        for (unsigned gpus = 4; gpus <= 8; gpus *= 2) {
            fprintf(file, "%s,", axes[i].one);
            add_row(file, gpus, "ring", "-", "x", 0.08, 0.02, "ok");
            fprintf(file, "%s,", axes[i].other);
            add_row(file, gpus, "ring", "-", "x", 0.075, 0.01, "ok");
        }
        cr_assert_eq(fclose(file), 0);
        draw();
        expect_in("efficiency.csv", axes[i].series);
        cr_expect_not_null(strstr(text, ",0.075\n"), "%s", axes[i].column);
        cr_expect_not_null(strstr(text, ",0.08\n"), "%s", axes[i].column);
        read_file("efficiency.svg");
        cr_expect_null(strstr(text, axes[i].title), "%s", axes[i].title);
        draw_where(axes[i].chosen);
        expect_in("efficiency.csv", ",0.075\n");
        cr_expect_null(strstr(text, ",0.08\n"), "%s", axes[i].column);
        expect_in("efficiency.svg", axes[i].title);
    }
}

/* The best of several engines or windows would be a choice that nobody made. */
Test(plot, too_many_series_are_not_drawn_as_one)
{
    struct ar_plot_request request = a_request();
    FILE *file = open_sweep("");
    for (char engine[] = "a"; engine[0] < 'a' + 13; engine[0]++) {
        add_row(file, 16, "ring", "-", engine, 0.08, 0.02, "ok");
    }
    fclose(file);
    expect_refused(&request, AR_BAD_DATA,
                   "engine (a, b, c, d, e, f, ...); choose, such as --where engine=a");
}

Test(plot, a_choice_that_is_not_there_is_named_with_those_that_are)
{
    struct ar_plot_request request = a_request();
    write_scaled_sweep();
    request.where = "batch=16";
    expect_refused(&request, AR_USAGE, "did you mean \"batch_per_gpu\"?");
    request.where = "batch_per_gpu=16,gpus=3";
    expect_refused(&request, AR_USAGE, "\"gpus=3\", which no row has; expected one of 1, 4, 16");
    request.where = "gpus";
    expect_refused(&request, AR_USAGE, "found \"gpus\"; expected KEY=VALUE");
}
