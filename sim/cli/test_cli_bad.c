/* Bad input: one line that says where, what was found and what was expected; an exit code of
 * sysexits; nothing on stdout; no files. */
#include "test_cli.h"

TestSuite(cli_bad, .init = cli_enter, .fini = cli_leave);

Test(cli_bad, commands_and_options_that_are_not_there)
{
    static const char *const rows[][2] = {
        {"bogus", "unknown command \"bogus\"; expected one of list allreduce"},
        {"predct", "did you mean \"predict\"?"},
        {"predict --bogus", "predict: unknown option \"--bogus\"; expected one of --cluster"},
        {"predict --quiet=1", "found \"--quiet=1\"; expected --quiet without a value"},
        {"predict --gpus", "option \"--gpus\" needs a value"},
        {"predict extra", "unexpected argument \"extra\""},
        {"predict --gpus 4 --gpus 8", "--gpus: found twice, \"4\" and \"8\"; expected once"},
        {"predict --cluster flat --gpus 4 --algorithm ring --trace trace.csv --set net.latency=1us "
         "--set net.latency=2us",
         "\"net.latency=2us\"; expected one"},
        {"predict", "option --cluster is missing; expected --cluster C"},
        {"allreduce --cluster flat --gpus 4 --algorithm ring", "--payload is missing"},
        {"export --cluster flat --gpus 4", "option --format is missing"},
        {"plot", "plot: found 0 arguments; expected DIR|sweep.csv"},
        {"list foo", "found \"foo\"; expected algorithms, operations"},
        {"verify --gpus 257", "expected a whole number from 1 to 256"},
        {"\"$(printf 'two\\nlines')\"", "unknown command \"two?lines\""},
    };
    CLI_REFUSE(64, "", rows);
}

Test(cli_bad, the_number_of_gpus)
{
    static const char *const rows[][2] = {
        {"--gpus 0", "--gpus: found \"0\"; expected a whole number from 1"},
        {"--gpus ''", "found \"\""},
        {"--gpus 4353", "expected a whole number from 1 to 4352, the GPUs of cluster"},
        {"--gpus 8 --set nodes=1", "expected a whole number from 1 to 4,"},
    };
    CLI_REFUSE(64, "predict --cluster abci-v100 --trace trace.csv --algorithm ring", rows);
    CLI_REFUSE(64, "allreduce --cluster abci-v100 --payload 1MB --algorithm ring", rows);
    CLI_REFUSE(64, "export --cluster abci-v100 --format simgrid-xml --out x.xml", rows);
}

Test(cli_bad, values_of_a_prediction)
{
    static const char *const rows[][2] = {
        {"--algorithm ring --shape 2x4", "expected Nx1"},
        {"--algorithm torus2d --shape 3x3", "3x3 has 9 places; expected X*Y = 8"},
        {"--algorithm ring --precision fp64",
         "found \"fp64\"; expected fp16, fp32, bf16, fp8, tf32, int8, log8, "},
        {"--algorithm ring --straggler 3", "--straggler: found \"3\"; expected RANK:FACTOR"},
        {"--algorithm ring --baseline gpus", "--baseline: found \"gpus\"; expected gpu or node"},
        {"--algorithm ring --straggler 3:2 --straggler 3:3", "found rank 3 twice"},
        {"--algorithm ring --straggler 64:2", "found rank 64 of"},
        {"--algorithm ring --format xml", "found \"xml\"; expected table, csv or json"},
        {"--algorithm ring --set gpu.model=$(printf %0190d 0) --set description=$(printf %0190d 0)",
         "--set: found settings of more"},
    };
    CLI_REFUSE(64, "predict --cluster abci-v100 --trace resnet50-v1.5 --gpus 8", rows);
}

Test(cli_bad, payloads)
{
    static const char *const rows[][2] = {
        {"51.1", "--payload: found \"51.1\" without a unit; expected a size such as 51.1MB"},
        {"0B", "expected a size above zero"},
        {"3B", "found 3 bytes; expected a multiple of 2, the size of a fp16 element"},
    };
    CLI_REFUSE(64, "allreduce --cluster flat --gpus 4 --algorithm ring --payload", rows);
}

Test(cli_bad, axes_of_a_sweep)
{
    static const struct cli_case rows[] = {
        {"--gpus 4:8", 64, "--gpus: range \"4:8\" has no step; expected a range such as 4:4096:x2"},
        {"--gpus 8192", 64, "expected a whole number from 1 to 4352"},
        {"--gpus 4 --jobs 0", 64, "--jobs: found \"0\"; expected a whole number from 1 to 256"},
        {"--gpus 6 --shapes node --algorithms torus2d", 64, "--shapes: found \"node\""},
        {"--gpus 8 --shapes 2x4 --algorithms ring", 64, "which --algorithms ring do not react to"},
        {"--gpus 4 --out ''", 74, "found an empty path; expected a directory"},
        {"--gpus 4 --out /dev/null", 74, "/dev/null: found a file; expected a directory"},
        {"--gpus 4 --out /proc/nothing", 74, "/proc/nothing: cannot make the directory"},
    };
    CLI_FAIL_ALL("sweep --engine closed --cluster abci-v100 --trace trace.csv", rows);
}

Test(cli_bad, names_and_paths_of_inputs)
{
    static const struct cli_case rows[] = {
        {"--trace trace.csv --cluster abci-v10", 66, "one of abci-v100 abci-v100-nccl2.8;"},
        {"--trace trace.csv --cluster ./no.topo", 66,
         "./no.topo: No such file or directory; expected a cluster"},
        {"--trace trace.csv --cluster /dev/null", 65, "/dev/null: found no values"},
        {"--cluster flat --trace /dev/null", 65, "/dev/null: no header line"},
        {"--cluster flat --trace trace.csv --batch 64", 64,
         "--batch: found 64; expected 32, at which trace"},
        {"--cluster flat --trace trace.csv --precision fp32", 64,
         "--precision: found fp32; expected fp16, in which"},
        {"--cluster flat --trace trace.csv --set gpu.cost_table=no", 66,
         "expected one of a100-40gb-sxm"},
        {"--cluster host --trace resnet50-v1.5", 64,
         "--trace: found resnet50-v1.5, the work of one sample, for a GPU without a cost table; "
         "expected a trace of measured times (traces/README.md), or the table of another GPU"},
        {"--cluster flat --trace resnet50-v1.5 --samples-per-s-at 32=1e9", 64,
         "--samples-per-s-at: found 1e+09 samples/s at batch 32, where the trace alone gives"},
    };
    CLI_FAIL_ALL("predict --gpus 4 --algorithm ring", rows);
}

Test(cli_bad, outputs_of_export_and_plot)
{
    static const struct cli_case rows[] = {
        {"export --cluster flat --gpus 1 --format goal --payload 1MB", 64,
         "found 1; expected several"},
        {"export --cluster flat --gpus 4 --format simgrid-xml --out ''", 74, "cannot write"},
        {"export --cluster flat --gpus 4 --format simgrid-xml --out /", 74, "it is a directory"},
        {"export --cluster flat --gpus 4 --format simgrid-xml --out /dev/null", 74, "regular file"},
        {"export --cluster flat --gpus 8 --format chrome-trace --trace trace.csv "
         "--algorithm torus2d --engine closed",
         64, "--engine: found closed"},
        {"plot .", 66, ".: found no sweep.csv and no layouts.csv; expected"},
    };
    CLI_FAIL_ALL("", rows);
}

Test(cli_bad, options_of_another_export)
{
    static const char *const rows[][2] = {
        {"--format goal", "export: found neither --payload nor --trace"},
        {"--format ''", "unknown format \"\"; expected one of simgrid-xml chrome-trace"},
        {"--format goal --payload 1MB --batch 32", "found --batch; expected none with"},
        {"--format astra-sim --payload 1MB", "found --payload; expected none with --format"},
        {"--format astra-sim --trace trace.csv --algorithm ring --straggler 1:2",
         "found stages of a pipeline, or GPUs that differ"},
        {"--format astra-sim --trace trace.csv --algorithm ring --strategy zero1",
         "--strategy: found zero1; expected data"},
        {"--format tuner", "found flat without a cost table"},
        {"--format tuner --algorithm ring", "found --algorithm; expected none"},
        {"--format tuner --operation alltoall --set library.node_bus=1GB/s", "found alltoall"},
        {"--format goal --trace trace.csv --strategy ssp:1", "--strategy: found ssp"},
        {"--format simgrid-xml --algorithm ring",
         "found --algorithm; expected none with --format simgrid-xml"},
        {"--format chrome-trace", "found no step; expected --workload W, a transformer"},
    };
    CLI_REFUSE(64, "export --cluster flat --gpus 4", rows);
}

Test(cli_bad, values_of_a_table_of_links)
{
    static const struct cli_case rows[] = {
        {"--payload 1MB,2MB", 64, "\"1MB,2MB\"; expected a size such as"},
        {"--payload 1MB --batch 32", 64, "found --batch; expected none with --payload"},
        {"--trace trace.csv --strategy zero3", 64, "--strategy: found zero3; expected data"},
        {"--payload 1MB --top 0", 64, "--top: found \"0\"; expected a whole number from 1"},
        {"--trace trace.csv --sparse 0.1", 64, "--sparse: found with links"},
    };
    CLI_FAIL_ALL("links --cluster flat --gpus 8 --algorithm ring", rows);
}
