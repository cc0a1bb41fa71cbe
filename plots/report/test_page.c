/* Pages: the answers, what stands in them as text, and wrong input. */
#include <unistd.h>

#include "ar_page.h"
#include "test_outcome.h"
#include "test_plot_fixture.h"

TestSuite(page, .init = make_directory, .fini = remove_directory);

static struct ar_page_request a_page(void)
{
    return (struct ar_page_request){.directory = directory,
                                    .out = in_directory("report.html"),
                                    .page_dir = AR_TEST_SOURCE_DIR "/plots/report",
                                    .template_dir = TEMPLATES,
                                    .made_by = "a test"};
}

static const char *where; /* NULL: all rows are reported */

/* Writes a page, reads it into `text`, returns the answer. */
static const char *write_page(void)
{
    struct ar_page page;
    struct ar_page_request request = a_page();
    request.where = where;
    TEST_OK(ar_page_write(&request, &arena, &page, &why));
    read_file("report.html");
    cr_expect_null(strstr(text, "{{"), "a part of the frame was not written");
    return page.answer;
}

static void expect_says(const char *found, const char *expected)
{
    cr_expect_not_null(strstr(found, expected), "\"%s\" does not say \"%s\"", found, expected);
}

static unsigned count_of(const char *wanted)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at++) {
        count++;
    }
    return count;
}

/* --- answers ------------------------------------------------------------------------------ */

Test(page, the_page_of_a_sweep_has_its_fastest_row_and_pictures_that_can_be_read)
{
    need_gnuplot();
    write_sweep();
    const char *answer = write_page();
    expect_says(
        answer,
        "On 64 GPUs of abci-v100 the fastest algorithm is torus2d 8x8: a step "
        "of resnet50-v1.5 (engine closed) takes 76 ms, 10.6 % less than hierarchical 4, the next.");
    cr_expect_eq(strncmp(answer, "What: On 64 GPUs", 16), 0);
    expect_says(answer, "\nWhy: 70 ms of it is computing");
    expect_says(answer, "\nHow sure: 'allreckon reproduce'");
    expect_says(text, "<li><b>Why</b>: 70 ms of it is computing");
    expect_says(answer, "a scaling efficiency of 92.1 % of one gpu");
    expect_says(answer, "1 row has no result");
    /* Points of pictures have their rows, and nothing that runs. */
    cr_expect_gt(count_of("<g class=\"value\"><title>gpus: 64\nalgorithm: torus2d\nshape: 8x8\n"),
                 2);
    expect_says(text, "iteration: 76 ms");
    cr_expect_eq(count_of("onmousemove"), 0);
    cr_expect_eq(count_of("gnuplot_svg"), 0);
    cr_expect_eq(count_of("id='gpPt0'"), 0, "identifiers of pictures clash");
    /* Below the answer and the main picture all is folded. */
    const char *main_picture = strstr(text, "<figure id=\"efficiency\"");
    const char *folded = strstr(text, "<details>");
    const char *other = strstr(text, "<figure id=\"throughput\"");
    cr_assert(main_picture != NULL && folded != NULL && other != NULL);
    cr_expect(main_picture < folded && folded < other);
    cr_expect_eq(count_of("<details>"), count_of("</details>"));
    cr_expect_eq(count_of("<details>"), count_of("<summary>"));
}

Test(page, each_kind_of_file_and_of_row_has_its_answer)
{
    need_gnuplot();
    static const struct {
        const char *file, *content, *expected;
    } cases[] = {
        {"train.csv",
         "run,gpus,phase,cluster,algorithm,shape,time_s,efficiency_frac,engine,exact\n"
         "a,64,total,c,torus2d,8x8,120,0.8,x,no\na,8,total,c,ring,-,60,0.4,x,no\n",
         "a on c takes 120 s on 64 GPUs (torus2d 8x8, scaling efficiency 80 %) and 60 s on 8 GPUs "
         "(ring, scaling efficiency 40 %).\nHow sure: Engine x estimates what is sent"},
        {"train.csv",
         "run,gpus,phase,cluster,algorithm,time_s,engine,exact\n"
         "a,64,1,c,ring,1,x,no\na,64,total,c,ring,120,x,no\nb,1024,total,c,ring,60,x,no\n",
         "a on c takes 120 s on 64 GPUs (ring). b on c takes 60 s on 1,024 GPUs (ring)."},
        {"advice.csv",
         "kind,name,text\nplan,,First.\nplan,,Second.\nloss,a,kernels: 1 s\nchange,b,no\n",
         "What: Second.\nWhy: Lost to kernels: 1 s."},
        {"diagnose.csv",
         "kind,name,iteration_s,text\nmeasured,,3,given\npredicted,,2,right\ncause,a,3.1,eager\n",
         "The measured step takes 3 s. The predicted step takes 2 s.\nWhy: cause: eager (3.1 s)."},
        {"reproduce.csv",
         "row,title,table,gpus,measured_s,predicted_s,error_frac,fitted,inside\n"
         "a,,t,1,2,1,-0.5,,no\nb,,t,1,10,11,0.1,,yes\nc,,t,1,10,12,0.2,,yes\nd,,t,1,1,10,9,k,\n",
         "What: 3 of 4 published results are predicted beside what was measured (1 more were "
         "fitted "
         "to): the median error is 20 %.\nHow sure: The largest error is 50 %. 2 of 3 measured"},
        {"kinds.csv",
         "kind,forward_measured_s,forward_predicted_s,backward_measured_s,backward_predicted_s\n"
         "all,0.02,0.021,0.04,0.03\n",
         "The forward pass took 20 ms; computed are 21 ms, +5 %. The backward pass took 40 ms; "
         "computed are 30 ms, -25 %."},
        {"train.csv", "run,gpus,phase,cluster,time_s\n\"a\nb\",64,1,\"c\td\",100\n",
         "a b on c d takes 100 s on 64 GPUs."},
        /* Whether what is sent is followed exactly, and where the time goes. */
        {"step.csv",
         "cluster,trace,gpus,algorithm,iteration_s,compute_s,exposed_s,samples_per_s,engine,exact\n"
         "c,t,8,ring,0.1,0.09,0.01,2560,closed,yes\n",
         "On 8 GPUs of c a step of t takes 100 ms with ring. That is 2,560 samples per second.\n"
         "Why: 90 ms of it is computing, 10 ms communication that nothing hides.\nHow sure: 'all"},
        {"step.csv",
         "cluster,gpus,algorithm,operation,payload_bytes,allreduce_s,engine,exact\n"
         "c,8,ring,allgather,1000,0.1,x,no\nc,8,direct,allgather,8,0.01,x,no\n"
         "c,4,ring,allgather,8,1,x,no\n",
         "machines. Engine x estimates what is sent; --engine simgrid simulates it."},
        {"step.csv",
         "cluster,trace,gpus,iteration_s,compute_s,exposed_s\nc,t,8,2,1,1\nd,t,8,3,2,1\n",
         "On 8 GPUs of d a step of t takes 3 s.\nWhy: c: 1 s of it is computing, 1 s "},
        {"step.csv", "gpus,iteration_s,status\n4096,1,ok\n8,,failed\n",
         "1 row has no result (column status)."},
        {"step.csv",
         "trace,gpus,iteration_s,allreduce_s,setup_s,latency_s,bandwidth_s,reduction_s\n"
         "t,8,0.1,0.02,0,0.002,0.017,0.001\n",
         "Why: Its collectives take 20 ms, by the closed form 85 % for bandwidth."},
        {"step.csv",
         "gpus,operation,payload_bytes,allreduce_s,setup_s,latency_s,bandwidth_s,reduction_s\n"
         "8,allgather,8,0.025,0,0.015,0.005,0\n",
         "Why: By the closed form 75 % of the time of one allgather is latency."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(cases[i].file, cases[i].content);
        expect_says(write_page(), cases[i].expected);
        unlink(in_directory(cases[i].file));
    }
}

Test(page, published_runs_of_the_same_work_stand_beside_the_fastest_row_of_so_many_gpus)
{
    static const struct ar_page_run runs[] = {
        {"C, 9 GPUs", "c", "t", "images_per_s", 7, 9},
        {"A, 16 GPUs", "c", "t", "efficiency_frac", 0.8475, 16},
        {"B, 8 GPUs", "c", "t", "images_per_s", 1091357, 8},
        {"D, 8 GPUs", "c", "t", "iteration_s", 0.5, 8},
        {"E, 8 GPUs", "c", "t", "images_per_s", 8, 8},
        {"F, 8 GPUs", "other", "t", "images_per_s", 9, 8},
    };
    struct ar_page page;
    struct ar_page_request request = a_page();
    request.runs = runs;
    request.runs_count = sizeof runs / sizeof runs[0];
    write_file("step.csv",
               "cluster,trace,gpus,algorithm,iteration_s,samples_per_s,efficiency_frac\n"
               "c,t,8,ring,0.2,1,0.4\nc,t,8,tree,0.1,2345678,0.931\nc,t,16,ring,0.1,1,0.3\n");
    TEST_OK(ar_page_write(&request, &arena, &page, &why));
    expect_says(page.answer,
                "How sure: Measured by others: A, 16 GPUs: 84.75 % (the fastest here 30 %); "
                "C, 9 GPUs: 7 images per s; "
                "B, 8 GPUs: 1,091,357 images per s (the fastest here 2,345,678); "
                "D, 8 GPUs: 500 ms; 1 more. ");
}

Test(page, a_timeline_has_a_line_for_each_stream_of_each_stage)
{
    write_file("pipeline.csv",
               "stage,kind,stream,batch,chunk,begin_s,end_s\n"
               "0,forward,compute,0,0,0,1\n1,forward,compute,0,0,1,4\n1,tp,compute,0,0,0,1\n");
    write_page();
    expect_says(text, "<li>0 compute</li><li>1 compute</li></ol>");
    cr_expect_eq(count_of("<rect class=\"value"), 3);
    cr_expect_lt(strstr(text, "Timeline of the step"), strstr(text, "<details>"));
}

Test(page, a_column_of_many_magnitudes_has_a_unit_of_the_middle)
{
    write_file("step.csv", "gpus,algorithm,payload_bytes,allreduce_s\n"
                           "8,ring,4,0.001\n8,ring,33554432,0.002\n8,tree,0,0.002\n");
    write_page();
    expect_says(text, ">payload <small>kB</small>");
    expect_says(text, ">0.004</td>");
    expect_says(text, ">33,554</td>");
    expect_says(text, ">allreduce <small>ms</small>");
}

Test(page, the_answer_of_compared_calls_is_their_errors)
{
    need_gnuplot();
    write_file("accuracy.csv", "set,nodes,rows,median_frac,p95_frac,worst_frac,covered_frac\n"
                               "held-out,,2,0.1,0.2,0.3,1\n");
    write_file("compare.csv",
               "nodes,gpus,set,payload_bytes,measured_s,predicted_s,low_s,high_s,error_frac\n"
               "1,4,held-out,1024,1,2,0.5,10,1\n2,8,held-out,1024,1,4,1,20,3\n");
    expect_says(write_page(),
                "Of 2 held-out calls the median error is 10 %.\nHow sure: 95 % are off");
}

Test(page, families_and_suspects_may_be_below_0)
{
    write_file("families.csv", "software,gpu,range,rows,median_frac,signed_median_frac\n"
                               "Megatron-LM,a100,1-8,3,0.1,-0.1\n");
    write_file("answer.csv", "answer,basis\nNothing seems wrong.,expected: engine library\n");
    write_file("suspects.csv", "suspect,explained_frac\nhca,-0.2\n");
    expect_says(write_page(), "Nothing seems wrong.");
    expect_says(text, "What may be wrong");
    expect_says(text, "Published results by software");
}

/* Two layouts, columns as a sweep leaves them. */
Test(page, layouts_have_pictures_and_columns_that_begin_with_what_rows_differ_in)
{
    need_gnuplot();
    write_file("layouts.csv",
               "cluster,trace,precision,gpus,engine,iteration_s,messages_count,wall_s,forward_s,"
               "backward_s,optimizer_s,settings,wire,status,mesh,global_batch,micro_batch,strategy,"
               "schedule,recompute,tokens_per_s,bubble_s,exposed_pp_s,exposed_dp_s,exposed_ep_s,"
               "exposed_tp_s,memory_bytes\n"
               "c,t,fp16,8,x,1,20,0.1,0.3,0.6,0.1,,fp16,ok,dp=8,8,1,zero3,1f1b,none,9,0,0,0,0,0,1e9"
               "\nc,t,fp16,8,x,2,30,0.2,0.9,1,0.1,,fp16,ok,tp=8,8,2,data,1f1b,none,8,0,0,0,0,0,1e8"
               "\n");
    write_page();
    cr_expect_eq(count_of("<figure id=\"layouts_"), 2);
    cr_expect_eq(count_of("<g class=\"value\"><title>gpus: 8\nmesh: dp=8\n"), 2, "in each picture");
    const char *mesh = strstr(text, ">mesh</th>");
    const char *time = strstr(text, ">iteration <");
    const char *wall = strstr(text, ">wall <");
    cr_assert(mesh != NULL && time != NULL && wall != NULL);
    cr_expect(mesh < time && time < wall);
}

/* The picture of efficiency has the mesh of each number of GPUs, and the answer says of what. */
Test(page, layouts_of_several_counts_have_an_efficiency)
{
    need_gnuplot();
    write_file("layouts.csv",
               "cluster,trace,precision,gpus,engine,iteration_s,efficiency_frac,baseline,forward_s,"
               "backward_s,optimizer_s,status,mesh,global_batch,micro_batch,strategy,schedule,"
               "recompute,tokens_per_s,bubble_s,exposed_pp_s,exposed_dp_s,exposed_ep_s,"
               "exposed_tp_s,memory_bytes\n"
               "c,t,fp16,8,x,4,1,8 gpus,3,6,1,ok,dp=8,8,1,zero3,1f1b,none,2500,0,0,0,0,0,1e9\n"
               "c,t,fp16,8,x,5,0.8,8 gpus,3,6,1,ok,tp=8,8,1,zero3,1f1b,none,2e3,0,0,0,0,0,1e9\n"
               "c,t,fp16,16,x,2.5,0.8,8 gpus,3,6,1,ok,\"dp=4,tp=4\",8,1,zero3,1f1b,none,4000,0,0,0,"
               "0,0,1e9\n");
    const char *answer = write_page();
    expect_says(answer, "That is 4,000 tokens per second, a scaling efficiency of 80 % of the "
                        "fastest layout on 8 GPUs.");
    expect_says(text, "<figure id=\"layouts_counts\"");
    cr_expect_eq(count_of(">tp=4<"), 1, "a line of its own for each axis");
    expect_says(text, "100 % is the fastest layout on 8 GPUs, per GPU");
}

/* --- text --------------------------------------------------------------------------------- */

#define NASTY "<script>alert(1)</script>\"\"><img src=x onerror='no()'>&amp;\n`id`"

Test(page, names_are_text_wherever_they_stand_and_a_long_note_is_whole)
{
    write_file("train.csv", "run,gpus,phase,cluster,time_s\n\"" NASTY "\",64,\"" NASTY
                            "\",c,1\n\"" NASTY "\",128,1,\"" NASTY "\",2\n");
    write_file("pipeline.csv",
               "stage,kind,stream,begin_s,end_s\n0,\"" NASTY "\",\"" NASTY "\",0,1\n");
    const char *notes = ar_arena_format(&arena, "%s%02000d\n",
                                        "allreckon train '" NASTY "'\nallreckon train, command "
                                        "0\n\nnote: " NASTY "\nnote: ",
                                        7);
    write_file("command.txt", notes);
    write_page();
    expect_says(text, "00007</li>");
    cr_expect_eq(count_of("<script>"), 1);
    cr_expect_eq(count_of("<img"), 0);
    cr_expect_eq(count_of("&amp;amp;") > 4, 1);
    expect_says(text, "allreckon train &#39;&lt;script&gt;");
    expect_says(text, "<li>&lt;script&gt;alert(1)&lt;/script&gt;");
    expect_says(text, "--out &#39;/tmp/ar plot&#39;\\&#39;&#39;s &quot;test&quot;-");
}

Test(page, names_in_pictures_are_text)
{
    need_gnuplot();
    FILE *file = open_sweep("");
    add_row(file, 16, "ring", "-", "\"<script>no()</script>'x'\"", 0.080, 0.020, "ok");
    fclose(file);
    write_page();
    cr_expect_eq(count_of("<script>"), 1);
    cr_expect_gt(count_of("&lt;script&gt;no()&lt;/script&gt;"), 2);
}

Test(page, a_choice_of_rows_holds_for_words_and_tables)
{
    need_gnuplot();
    write_sweep();
    where = "engine=simgrid";
    expect_says(write_page(), "On 16 GPUs of abci-v100 the fastest algorithm is torus2d 4x4:");
    cr_expect_eq(count_of("<td>torus2d<"), 2, "one of them failed");
    cr_expect_eq(count_of("hierarchical"), 0);
}

/* --- wrong input -------------------------------------------------------------------------- */

static void expect_failure(const struct ar_page_request *request, enum ar_status status,
                           const char *expected)
{
    struct ar_page page;
    TEST_FAILS(status, expected, ar_page_write(request, &arena, &page, &why));
}

Test(page, wrong_input_is_one_line_and_leaves_nothing)
{
    struct ar_page_request request = a_page();
    expect_failure(&request, AR_NO_INPUT, "found no rows to report; expected what predict,");
    request.directory = in_directory("no");
    expect_failure(&request, AR_NO_INPUT, "/no: cannot read it: No such file");
    write_file("sweep.csv", header);
    request.directory = in_directory("sweep.csv");
    expect_failure(&request, AR_NO_INPUT, "found a file, which other commands read; expected");
    request.directory = directory;
    write_file("sweep.csv", "gpus,iteration_s\n8,abc\n");
    expect_failure(&request, AR_BAD_DATA, "sweep.csv:2: column \"iteration_s\" is \"abc\"");
    write_file("sweep.csv", "what,time\nmine,3\n");
    expect_failure(&request, AR_BAD_DATA, "sweep.csv:1: column \"gpus\"");
    write_file("sweep.csv", "gpus,iteration_s\n8\n");
    expect_failure(&request, AR_BAD_DATA, "sweep.csv:2: 1 cells; expected 2");
    write_file("sweep.csv", "gpus,iteration_s\n");
    expect_failure(&request, AR_NO_INPUT, "found no rows to report");
    unlink(in_directory("sweep.csv"));
    write_file("pipeline.csv", "stage,kind,stream,begin_s,end_s\n0,a,b,0,-1\n");
    expect_failure(&request, AR_BAD_DATA, "pipeline.csv:2: column \"end_s\" is \"-1\"");
    unlink(in_directory("pipeline.csv"));
    ar_arena_end(&arena);
    cr_expect_eq(count_outputs(), 0);
}

Test(page, a_page_that_cannot_be_written_is_named_and_the_old_one_stays)
{
    struct ar_page_request request = a_page();
    write_file("train.csv", "run,gpus,phase,cluster,time_s\nmine,64,1,c,1\n");
    write_file("report.html", "old");
    request.out = "/proc/self/report.html";
    expect_failure(&request, AR_IO, "/proc/self/report.html: cannot write");
    request = a_page();
    request.page_dir = "/nonexistent";
    expect_failure(&request, AR_NO_INPUT, "/nonexistent/report.html: No such file");
    ar_arena_end(&arena);
    read_file("report.html");
    cr_expect_str_eq(text, "old");
    cr_expect_eq(count_outputs(), 2);
}
