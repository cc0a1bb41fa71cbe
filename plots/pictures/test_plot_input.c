/* Wrong input, and pictures that appear whole or not at all. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "test_plot_fixture.h"

TestSuite(plot_input, .init = make_directory, .fini = remove_directory);

/* --- wrong input -------------------------------------------------------------------------- */

struct wrong {
    const char *from, *to; /* changed in a good row, or in the header when they are found there */
    const char *expected;
};

Test(plot_input, every_wrong_cell_is_one_line_with_file_line_and_column)
{
    static const struct wrong cases[] = {
        {",iteration_s,", ",iteration,", "sweep.csv:1: column \"iteration_s\" is missing"},
        {",0.08,", ",abc,", "sweep.csv:2: column \"iteration_s\" is \"abc\"; expected a number"},
        {",0.02,", ",-1,", "sweep.csv:2: column \"allreduce_s\" is \"-1\"; expected a number >= 0"},
        {",ring,", ",\"ring\"x,", "sweep.csv:2: "},
        {",ok", ",failed", "sweep.csv: found 1 rows, none of them with status ok"},
    };
    struct ar_plot_request request = a_request();
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *content = NULL;
        size_t size;
        FILE *stream = open_memstream(&content, &size);
        fputs(header, stream);
        add_row(stream, 16, "ring", "-", "closed", 0.08, 0.02, "ok");
        fclose(stream);
        char *found = strstr(content, cases[i].from);
        cr_assert_not_null(found, "%s", cases[i].from);
        FILE *file = fopen(in_directory("sweep.csv"), "w");
        fprintf(file, "%.*s%s%s", (int)(found - content), content, cases[i].to,
                found + strlen(cases[i].from));
        fclose(file);
        expect_refused(&request, AR_BAD_DATA, cases[i].expected);
        free(content);
    }
    cr_expect_eq(count_outputs(), 0);
}

Test(plot_input, a_mesh_that_is_none_is_named)
{
    static const char *const bad[] = {"dp=8,tp=8x", "=8", "dp", "dp=8,,tp=8", "dp=9999999999"};
    struct ar_plot_request request = a_request();
    request.set = AR_PLOT_LAYOUTS;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char table[400];
        snprintf(table, sizeof table,
                 "status,cluster,trace,engine,gpus,mesh,iteration_s,memory_bytes,global_batch,"
                 "precision,micro_batch,strategy,schedule,recompute\n"
                 "ok,c,t,x,64,\"dp=8,tp=8\",1,1e9,8,fp16,1,data,1f1b,none\n"
                 "ok,c,t,x,64,\"%s\",1,1e9,8,fp16,1,data,1f1b,none\n",
                 bad[i]);
        write_file("layouts.csv", table);
        expect_refused(&request, AR_BAD_DATA, "layouts.csv:3: column \"mesh\" is ");
    }
}

Test(plot_input, missing_and_empty_files_are_named)
{
    struct ar_plot_request request = a_request();
    expect_refused(&request, AR_NO_INPUT, "/sweep.csv: No such file");
    write_file("sweep.csv", "");
    expect_refused(&request, AR_BAD_DATA, "sweep.csv: no header line in 0 bytes");
    write_file("sweep.csv", header);
    expect_refused(&request, AR_BAD_DATA, "sweep.csv: found 0 rows");
    write_sweep();
    write_file("payload.csv", "a,b\n1,2\n");
    expect_refused(&request, AR_BAD_DATA, "payload.csv:1: column \"status\" is missing");
    request.path = "";
    expect_refused(&request, AR_NO_INPUT, "the path is empty");
}

Test(plot_input, an_input_named_like_an_output_is_not_overwritten)
{
    write_sweep();
    char path[256];
    snprintf(path, sizeof path, "%s", in_directory("efficiency.csv"));
    cr_assert_eq(rename(in_directory("sweep.csv"), path), 0);
    struct ar_plot_request request = a_request();
    request.path = path;
    expect_refused(&request, AR_IO, "efficiency.csv: a picture would overwrite this input");
}

/* --- whole or not at all ------------------------------------------------------------------ */

static void fake_gnuplot(struct ar_plot_request *request, const char *script)
{
    static char path[256];
    write_file("gnuplot", script);
    snprintf(path, sizeof path, "%s", in_directory("gnuplot"));
    cr_assert_eq(chmod(path, 0755), 0);
    request->gnuplot = path;
}

Test(plot_input, a_failing_gnuplot_is_one_line_and_leaves_nothing)
{
    write_sweep();
    struct ar_plot_request request = a_request();
    request.gnuplot = "no-such-gnuplot";
    expect_refused(&request, AR_IO, "no-such-gnuplot: program not found in PATH");
    fake_gnuplot(&request, "#!/bin/sh\nprintf '\\nplot x\\n     ^\\n' >&2\n"
                           "echo '\"efficiency.gp\" line 7: undefined variable: x' >&2\nexit 1\n");
    expect_refused(&request, AR_INTERNAL,
                   "failed on efficiency.gp with exit code 1: \"efficiency.gp\" line "
                   "7: undefined variable: x");
    fake_gnuplot(&request, "#!/bin/sh\necho 'x: failed to map segment from shared object' >&2\n"
                           "exit 127\n");
    expect_refused(&request, AR_INTERNAL,
                   "failed on efficiency.gp with exit code 127: x: failed to map");
    fake_gnuplot(&request, "#!/bin/sh\necho 'std::bad_alloc' >&2\nkill -6 $$\n");
    expect_refused(&request, AR_INTERNAL, "failed on efficiency.gp with signal 6: std::bad_alloc");
    fake_gnuplot(&request, "#!/bin/sh\nexit 0\n");
    expect_refused(&request, AR_IO, "efficiency.svg: ");
    fake_gnuplot(&request, "#!/bin/sh\n" /* one of several that run at once */
                           "case \"$*\" in *efficiency.gp*) echo '<svg></svg>' >efficiency.svg\n"
                           "printf 'PNG' >efficiency.png ;; esac\n");
    expect_refused(&request, AR_IO, "efficiency.png: ");
    cr_expect_eq(count_outputs(), 0);
}

Test(plot_input, a_full_disk_leaves_the_old_pictures, .disabled = AR_TEST_STRIDE > 1)
{
    struct ar_plot_report report = draw_sweep();
    size_t size = read_file("efficiency.png");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {24000, 24000}; /* more than a script has */
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct ar_plot_request request = a_request();
    expect_refused(&request, AR_IO, ": gnuplot ended in the middle of it");
    cr_expect_eq(read_file("efficiency.png"), size);
    cr_expect_eq(count_outputs(), 4 * count_drawn(&report));
}

Test(plot_input, a_directory_that_cannot_be_written_is_named)
{
    write_sweep();
    struct ar_plot_request request = a_request();
    request.output_dir = "/proc/self/no";
    expect_refused(&request, AR_IO, "/proc/self/no: cannot make the directory");
    request.output_dir = "/proc/self";
    expect_refused(&request, AR_IO, "/proc/self: cannot write there");
    request.output_dir = request.path = in_directory("sweep.csv");
    expect_refused(&request, AR_IO, "found a file; expected a directory");
}

Test(plot_input, missing_templates_are_named_and_leave_nothing)
{
    write_sweep();
    struct ar_plot_request request = a_request();
    request.template_dir = "/nonexistent";
    expect_refused(&request, AR_NO_INPUT, "/nonexistent/style.gp: No such file");
    cr_expect_eq(count_outputs(), 0);
}
