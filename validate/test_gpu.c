/* allreckon-validate on GPUs that are threads (gpu/test_cuda_runtime.h), from the measurement to
 * its comparison, and gpu_check.sh. Times are whatever they are. */
#include <criterion/criterion.h>

#include "../sim/cli/test_cli.h"

#define VALIDATE "'" AR_TEST_VALIDATE "' --backend cuda --quiet "

TestSuite(gpu, .init = cli_enter, .fini = cli_leave);

/* A ring has steps, bytes and sums that differ from rank count to rank count, so all is found. */
Test(gpu, devices_are_measured_calibrated_and_compared)
{
    cli_good("CUDA_STANDIN_DEVICES=2 " VALIDATE "--algorithms ring,torus2d --ranks 2,3,4 "
             "--payload 4KiB:256KiB:x8 --repetitions 2 --out cuda.csv");
    const char *file = cli_read("cuda.csv");
    cr_expect_eq(cli_lines_with(file, ": stand-in of threads, "), 2, "%s", file);
    cr_expect_eq(cli_lines_with(file, "VIRTUAL RANKS"), 1);
    cli_good("$AR calibrate cuda.csv --cluster host --out mine.topo");
    struct cli_table *rows = cli_rows("compare cuda.csv --cluster ./mine.topo --engine recurrence");
    cr_expect_gt(rows->rows_count, 3 * 3 * 3, "three rank counts, shapes and sizes");
    for (size_t i = 1; i < rows->rows_count; i++) {
        cr_expect_gt(cli_number(rows, i, "predicted_s"), 0);
        cr_expect_gt(cli_number(rows, i, "measured_s"), 0);
    }
}

Test(gpu, a_device_that_fails_or_is_missing_is_one_line)
{
    static const struct cli_case bad[] = {
        {"CUDA_STANDIN_DEVICES=0", 69, "found no GPU (no CUDA-capable device"},
        {"CUDA_STANDIN_FAIL=1:5", 70, "uncorrectable ECC error"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cli_run run =
            cli_run("%s " VALIDATE "--timeout 1s --ranks 2 --out x.csv", bad[i].line);
        cr_expect_eq(run.code, bad[i].code, "%s: %d", bad[i].line, run.code);
        cr_expect_eq(cli_lines_with(run.err, ""), 1, "%s", run.err);
        CLI_HAS(run.err, bad[i].fragment);
        cr_expect_eq(cli_run("test -e x.csv").code, 1, "left a file");
    }
}

/* The rank that is left aborts its communicators; else it would wait for ever to free memory. */
Test(gpu, a_kernel_that_hangs_ends_the_run_after_the_timeout)
{
    for (int is_nccl = 0; is_nccl < 2; is_nccl++) {
        struct cli_run run = cli_run("CUDA_STANDIN_HANG=1:%d OMPI_ALLOW_RUN_AS_ROOT=1 "
                                     "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0 "
                                     "timeout 20 '" AR_TEST_VALIDATE
                                     "' --backend %s --quiet --timeout 500ms --ranks 2 --out x.csv",
                                     is_nccl ? 4 : 2, is_nccl ? "nccl" : "cuda");
        cr_expect_eq(run.code, 70, "%d: %s", run.code, run.err);
        CLI_HAS(run.err, is_nccl ? "waited 0.5 s in NCCL for others" : "ring: ");
    }
}

/* nvidia-smi is a script that lists four GPUs. Leaks would be those of the MPI library. */
Test(gpu, the_script_checks_and_times_all_that_there_is)
{
    cli_write("nvidia-smi", "#!/bin/sh\nfor gpu in 0 1 2 3; do echo \"GPU $gpu\"; done\n");
    struct cli_run run = cli_run(
        "chmod +x nvidia-smi && CUDA_STANDIN_DEVICES=4 PATH=$PWD:$PATH ASAN_OPTIONS=detect_leaks=0 "
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 bash " AR_TEST_SOURCE_DIR
        "/validate/gpu_check.sh -q -p '" AR_TEST_VALIDATE "' \"$PWD/out\"");
    cr_expect_eq(run.code, 0, "%s\n%s", run.out, run.err);
    cr_expect_eq(cli_lines_with(run.out, " FAILED"), 0, "%s", run.out);
    static const char *const files[] = {"probes", "times", "times-allgather", "times-alltoall",
                                        "times-reducescatter"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "out/%s.csv", files[i]);
        cr_expect_gt(cli_lines_with(cli_read(path), ",fp32,"), 2, "%s", path);
    }
}
