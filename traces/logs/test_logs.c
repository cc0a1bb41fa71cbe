#include "test_logs.h"
#include "log_reading.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* The contents of a fixture, as a person reads it. */
struct expected {
    const char *path;
    size_t runs;
    size_t run; /* the one described */
    enum ar_log_format format;
    enum ar_log_collective collective;
    uint32_t ranks, nodes;
    size_t rows;
    uint64_t first_line, first_row_line, last_line, first_bytes, last_bytes;
    const char *tool, *library, *gpu;
};

#define A100 "NVIDIA A100-SXM4-80GB"
#define H100 "NVIDIA H100 80GB HBM3"
#define V100 "Tesla V100-SXM2-16GB"
/* A run of a file of so many, a file of one run of nccl-tests, what old nccl-tests say. */
#define RUN(file, runs, run, format, collective, ranks, nodes)                                     \
    FIXTURE(file), runs, run, AR_LOG_##format, AR_LOG_##collective, ranks, nodes
#define NCCL(file, collective, ranks, nodes) RUN(file, 1, 0, NCCL_TEXT, collective, ranks, nodes)
#define ON(gpu)                              "nccl-tests", "", gpu

static const struct expected fixtures[] = {
    {NCCL("nccl-12-columns.txt", ALL_REDUCE, 4, 1), 5, 1, 12, 18, 8, 32768, ON(V100)},
    {NCCL("nccl-12-all-gather.txt", ALL_GATHER, 4, 1), 4, 1, 12, 17, 1024, 524288, ON(V100)},
    {NCCL("nccl-12-reduce-scatter.txt", REDUCE_SCATTER, 4, 1), 4, 1, 12, 17, 1024, 524288,
     ON(V100)},
    {NCCL("nccl-12-all-to-all.txt", ALL_TO_ALL, 4, 1), 4, 2, 13, 18, 1024, 524288, ON(V100)},
    {NCCL("nccl-hydra-label.txt", ALL_REDUCE, 4, 1), 4, 1, 12, 17, 1024, 4194304, ON(A100)},
    {NCCL("nccl-13-root.txt", ALL_REDUCE, 8, 2), 5, 1, 16, 22, 1024, 67108864, ON(A100)},
    {NCCL("nccl-13-all-gather.txt", ALL_GATHER, 8, 2), 4, 1, 16, 21, 1024, 4194304, ON(A100)},
    {NCCL("nccl-13-reduce-scatter.txt", REDUCE_SCATTER, 8, 2), 4, 1, 16, 21, 1024, 4194304,
     ON(A100)},
    {NCCL("nccl-13-broadcast.txt", BROADCAST, 8, 2), 4, 1, 16, 21, 1024, 4194304, ON(A100)},
    {NCCL("nccl-13-reduce.txt", REDUCE, 8, 2), 4, 1, 16, 21, 1024, 4194304, ON(A100)},
    {NCCL("nccl-13-sendrecv.txt", SEND_RECV, 8, 2), 4, 1, 16, 21, 1024, 4194304, ON(A100)},
    {NCCL("nccl-17-alltoall.txt", ALL_TO_ALL, 8, 2), 4, 1, 18, 23, 1024, 4194304,
     "nccl-tests 2.17.8", "NCCL 2.29.2", A100},
    {NCCL("nccl-21-per-iteration.txt", ALL_REDUCE, 8, 2), 5, 1, 18, 24, 1024, 1073741824,
     "nccl-tests 2.17.6", "NCCL 2.28.9", H100},
    {NCCL("nccl-crlf-bom.txt", ALL_REDUCE, 4, 1), 3, 1, 12, 16, 1024, 262144, ON(A100)},
    {NCCL("nccl-no-marks.txt", ALL_REDUCE, 4, 1), 4, 1, 12, 17, 1024, 4194304, ON(A100)},
    {NCCL("nccl-tagged-info.txt", ALL_REDUCE, 4, 2), 4, 3, 19, 28, 1024, 4194304, "nccl-tests",
     "NCCL 2.18.3", A100},
    {NCCL("nccl-info.txt", ALL_REDUCE, 16, 2), 11, 3, 56, 68, 4096, 4294967296, "nccl-tests",
     "NCCL 2.21.5", H100},
    {NCCL("nccl-slurm-label.txt", ALL_REDUCE, 4, 1), 4, 1, 12, 17, 1024, 4194304, ON(A100)},
    {NCCL("nccl-8-gpus-per-process.txt", ALL_REDUCE, 16, 2), 4, 1, 24, 29, 1024, 4194304, ON(A100)},
    {NCCL("nccl-table-only.txt", ALL_REDUCE, 0, 0), 4, 1, 3, 6, 1024, 4194304, "nccl-tests", "",
     ""},
    /* Even ranks of 8. */
    {NCCL("nccl-split-groups.txt", ALL_REDUCE, 4, 2), 4, 1, 16, 21, 1024, 4194304,
     "nccl-tests 2.17.6", "NCCL 2.28.9", A100},
    {RUN("nccl-failed-then-good.txt", 2, 1, NCCL_TEXT, ALL_REDUCE, 8, 2), 4, 19, 34, 39, 1024,
     4194304, ON(A100)},
    {RUN("nccl-three-runs.txt", 3, 0, NCCL_TEXT, ALL_REDUCE, 8, 2), 5, 3, 20, 26, 1024, 67108864,
     "nccl-tests 2.17.6", "NCCL 2.28.9", A100},
    {RUN("nccl-three-runs.txt", 3, 1, NCCL_TEXT, ALL_GATHER, 8, 2), 5, 32, 49, 55, 1024, 67108864,
     "nccl-tests 2.17.6", "NCCL 2.28.9", A100},
    {RUN("nccl-three-runs.txt", 3, 2, NCCL_TEXT, ALL_REDUCE, 4, 1), 5, 61, 72, 78, 8, 32768,
     ON(V100)},
    {RUN("nccl-json-1.json", 1, 0, NCCL_JSON, ALL_REDUCE, 8, 2), 5, 1, 1, 216, 1024, 67108864,
     "nccl-tests", "NCCL 2.28.9", H100},
    {RUN("nccl-json-2.json", 1, 0, NCCL_JSON, ALL_REDUCE, 16, 2), 5, 1, 1, 1, 1024, 67108864,
     "nccl-tests", "NCCL 2.28.9", H100},
    {RUN("nccl-json-misspelt.json", 1, 0, NCCL_JSON, ALL_REDUCE, 8, 2), 5, 1, 1, 1, 1024, 67108864,
     "nccl-tests", "NCCL 2.7.8", H100},
    {RUN("nccl-json-two.json", 2, 1, NCCL_JSON, ALL_REDUCE, 4, 2), 5, 2, 2, 189, 1024, 67108864,
     "nccl-tests", "NCCL 2.28.9", H100},
    {RUN("osu-allreduce.txt", 1, 0, OSU, ALL_REDUCE, 0, 0), 5, 2, 4, 8, 4, 262144, "OSU 5.8", "MPI",
     ""},
    {RUN("osu-latency-bw.txt", 2, 0, OSU, LATENCY, 2, 0), 3, 2, 6, 8, 1, 1048576, "OSU 7.2",
     "MPI-CUDA", ""},
    {RUN("osu-latency-bw.txt", 2, 1, OSU, BANDWIDTH, 2, 0), 3, 10, 14, 16, 1, 1048576, "OSU 7.2",
     "MPI-CUDA", ""},
    {RUN("osu-and-nccl.txt", 2, 1, NCCL_TEXT, ALL_REDUCE, 4, 1), 2, 6, 17, 20, 1024, 16384,
     ON(A100)},
    {RUN("harness.csv", 2, 1, HARNESS, ALL_REDUCE, 8, 1), 3, 8, 8, 10, 1024, 1048576, "threads", "",
     ""},
    {RUN("harness-other-order.csv", 2, 1, HARNESS, ALL_REDUCE, 8, 1), 2, 4, 4, 6, 1024, 65536,
     "nccl", "", ""},
    {RUN("published.csv", 2, 0, PUBLISHED, ALL_REDUCE, 4, 1), 3, 3, 3, 5, 4, 1048576, "", "", ""},
};

Test(logs, every_fixture_is_read_as_what_it_is)
{
    AR_EACH(const struct expected, want, fixtures, sizeof fixtures / sizeof fixtures[0]) {
        struct ar_logs *logs = test_load(want->path);
        cr_assert_eq(logs->runs_count, want->runs, "%s", want->path);
        const struct ar_log *run = &logs->runs[want->run];
        cr_expect_eq(run->format, want->format, "%s", want->path);
        cr_expect_eq(run->collective, want->collective, "%s", want->path);
        cr_expect_eq(run->ranks, want->ranks, "%s: %u ranks", want->path, run->ranks);
        cr_expect_eq(run->nodes, want->nodes, "%s: %u nodes", want->path, run->nodes);
        cr_assert_eq(run->rows_count, want->rows, "%s: %zu rows", want->path, run->rows_count);
        cr_expect_eq(run->first_line, want->first_line, "%s:%lu", want->path, run->first_line);
        cr_expect_eq(run->last_line, want->last_line, "%s:%lu", want->path, run->last_line);
        cr_expect_eq(run->rows[0].line, want->first_row_line, "%s:%lu", want->path,
                     run->rows[0].line);
        cr_expect_eq(run->rows[0].payload_bytes, want->first_bytes, "%s", want->path);
        cr_expect_eq(run->rows[run->rows_count - 1].payload_bytes, want->last_bytes);
        cr_expect_str_eq(run->tool, want->tool);
        cr_expect_str_eq(run->library, want->library);
        cr_expect_str_eq(run->gpu, want->gpu);
    }
}

/* Processes that are not listed say nothing; of lines that are mixed the last one is whole. */
Test(logs, messages_of_nccl_are_those_of_the_ranks)
{
    const struct ar_log *run = &test_load(FIXTURE("nccl-info.txt"))->runs[0];
    const struct ar_log_message *mixed = &run->messages[10];
    cr_assert_eq(run->messages_count, 29, "%zu", run->messages_count);
    cr_expect(mixed->line == 33 && mixed->pid == 31008, "%lu: %lu", mixed->line, mixed->pid);
    cr_expect_str_eq(mixed->text, "Connected all rings");
}

Test(logs, numbers_come_from_the_column_of_their_name)
{
    const char *text =
        "#   Rank  0 Pid  1 on a device  0 [0x07] T\n#   Rank  1 Pid  1 on a device  1 [0x08] T\n"
        "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% "
        "time algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp\n"
        "1048576 524288 half max -1 100.0 10.49 10.49 3 90.0 1 2 3 50.00 20.97 20.97 N/A 4 5 6 7 "
        "2026-01-02 10:11:12\n";
    struct ar_logs *logs = test_parse(text, strlen(text));
    cr_expect_str_eq(test_row_text(&logs->runs[0].rows[0]),
                     "1048576 524288 half max; 100 10.49 10.49 3; 50 20.97 20.97 nan");
    cr_expect(logs->runs[0].is_inferred);
    cr_expect_not(logs->runs[0].is_complete);
}

Test(logs, what_was_not_measured_or_checked_is_absent_and_columns_are_found_by_name)
{
    static const struct {
        const char *file;
        size_t run, row;
        const char *text;
    } rows[] = {
        {"nccl-in-place-na.txt", 0, 0, "1024 256 float sum; 24.18 0.04 0.06 0; nan nan nan nan"},
        {"nccl-not-checked.txt", 0, 0,
         "1024 256 float sum; 24.18 0.04 0.06 nan; 24.18 0.04 0.06 nan"},
        {"nccl-json-3.json", 0, 0,
         "1024 256 float sum; 56.183053 0.018226 0.031896 0; nan nan nan nan"},
        {"nccl-json-3.json", 0, 1,
         "16384 4096 float sum; 56.883906 0.288025 0.504044 0; 56.858715 0.288153 nan nan"},
        {"harness.csv", 1, 0, "1024 256 float32 ; 56.1819289 nan nan 0; nan nan nan nan"},
        {"harness-other-order.csv", 0, 0,
         "1024 512 float16 ; 24.175539 nan nan 0; nan nan nan nan"},
        {"osu-allreduce-full.txt", 0, 0, "4 0 MPI_FLOAT ; 20 nan nan 0; nan nan nan nan"},
        {"osu-latency-bw.txt", 1, 2,
         "1048576 0 MPI_CHAR ; 96.2250576 10.89712 nan nan; nan nan nan nan"},
        {"published-calls.csv", 2, 0, "1024 0  ; 34.5 nan nan nan; nan nan nan nan"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *path = ar_arena_format(&test_arena, FIXTURE("%s"), rows[i].file);
        const struct ar_log *run = &test_load(path)->runs[rows[i].run];
        cr_expect_str_eq(test_row_text(&run->rows[rows[i].row]), rows[i].text, "%s", path);
    }
}

Test(logs, the_harness_keeps_its_columns_and_its_provenance)
{
    struct ar_logs *logs = test_load(FIXTURE("harness.csv"));
    const struct ar_log *run = &logs->runs[1];
    cr_expect_str_eq(run->algorithm, "torus2d");
    cr_expect_str_eq(run->shape, "4x2");
    cr_expect_str_eq(run->tier, "");
    cr_expect_eq(run->channels, 2);
    cr_assert_eq(logs->csv->directives_count, 3);
    cr_expect_str_eq(logs->csv->directives[0].value, "lab1");
    cr_expect_str_eq(logs->csv->directives[2].value, "made to show the format");
    logs = test_load(FIXTURE("harness-other-order.csv"));
    cr_expect_str_eq(logs->runs[0].tier, "nvlink");
    logs = test_load(FIXTURE("osu-allreduce-full.txt"));
    cr_expect_str_eq(logs->runs[0].collective_name, "Allreduce Latency");
}

Test(logs, tables_have_a_run_for_each_machine_algorithm_operation_count_and_kind_of_buffer)
{
    struct ar_logs *logs = test_load(FIXTURE("published-calls.csv"));
    cr_assert_eq(logs->runs_count, 3);
    cr_expect_eq(logs->runs[0].rows_count, 2);
    cr_expect_eq(logs->runs[1].collective, AR_LOG_REDUCE_SCATTER);
    cr_expect_eq(logs->runs[2].ranks, 16);
    cr_expect_eq(logs->runs[2].nodes, 4);
    logs = test_load(FIXTURE("published-mpi.csv"));
    cr_assert_eq(logs->runs_count, 3);
    const struct ar_log *ring = &logs->runs[0];
    const struct ar_log *torus = &logs->runs[2];
    cr_expect(ring->collective == AR_LOG_ALL_GATHER && ring->rows_count == 2);
    cr_expect(ring->nodes == 4 && ring->ranks == 8 && ring->grid[0] == '\0');
    cr_expect_str_eq(ring->algorithm, "ring_ompi");
    cr_expect_str_eq(ring->system, "one");
    cr_expect(logs->runs[1].has_gpu_buffers && !ring->has_gpu_buffers);
    cr_expect(torus->collective == AR_LOG_BROADCAST && torus->nodes == 12 && torus->ranks == 12);
    cr_expect_str_eq(torus->grid, "2x3x2");
    cr_expect_str_eq(torus->remark, "x=1");
}

Test(logs, lengths_of_a_torus_are_counts)
{
    static const char *const wrong[] = {"",    "x",   "4x",          "x4", "0",
                                        "4x0", "4y4", "70000x70000", "-4"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[400];
        struct ar_logs *logs;
        snprintf(text, sizeof text,
                 "system,collective,nodes,tasks_per_node,algorithm,payload_bytes,median_us\n"
                 "a,bcast,%s,1,chain,2048,5\n",
                 wrong[i]);
        TEST_FAILS(AR_BAD_DATA, "t.csv:2: column \"nodes\"",
                   ar_logs_parse("t.csv", text, strlen(text), &test_arena, &logs, &why));
    }
}

Test(logs, a_pipe_can_be_read)
{
    int ends[2];
    const char *text =
        "nodes,gpus,payload_bytes,time_out_of_place_us,time_in_place_us\n1,4,8,1,2\n";
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct ar_logs *logs = test_load(path);
    cr_expect_eq(logs->runs[0].ranks, 4);
    close(ends[0]);
    TEST_FAILS(AR_NO_INPUT, "no/such.log: No such file or directory; expected a log",
               ar_logs_load("no/such.log", &test_arena, &logs, &why));
}

Test(logs, busbw_factors_are_those_of_nccl_tests)
{
    cr_expect_float_eq(ar_log_busbw_factor(AR_LOG_ALL_REDUCE, 8), 1.75, 1e-15);
    cr_expect_float_eq(ar_log_busbw_factor(AR_LOG_ALL_REDUCE, 1), 0, 1e-15);
    cr_expect(isnan(ar_log_busbw_factor(AR_LOG_OTHER, 4)));
}
