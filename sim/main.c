/* The program: finds the command, runs it, turns its status into an exit code. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"

const struct command commands[] = {
    {"list", COMMAND_LIST, "algorithms, clusters, traces, engines, columns",
     "[algorithms|clusters|traces|engines|columns]", 1,
     "Shows what there is to choose from, and what the columns of the results mean.\n\nexample: "
     "allreckon list algorithms",
     command_list},
    {"allreduce", COMMAND_ALLREDUCE, "time of one all-reduce", "", 0,
     "Times one all-reduce on a cluster. algbw and busbw are those of nccl-tests.\n\nexample: 1024 "
     "GPUs, 51.1 MB, a 32 x 32 torus\n  allreckon allreduce --cluster abci-v100 --gpus 1024 "
     "--algorithm torus2d --shape 32x32 --payload 51.1MB",
     command_allreduce},
    {"predict", COMMAND_PREDICT, "one training step: time, images/s, scaling efficiency", "", 0,
     "Predicts one step of data-parallel training: compute from the trace, the all-reduces of its\n"
     "gradient buckets overlapped with the backward pass, then the optimizer.\n\nexample: "
     "ResNet-50, 32 images per GPU, fp16, on 256 GPUs\n  allreckon predict --cluster abci-v100 "
     "--gpus 256 --algorithm torus2d --trace resnet50-v1.5",
     command_predict},
    {"sweep", COMMAND_SWEEP, "many GPU counts, algorithms and grid shapes at once", "", 0,
     "Predicts steps for all GPU counts, algorithms and grids, in parallel processes, and prints "
     "a\n"
     "table; with --out also the files that 'allreckon plot' draws.\n\nexample: 4 to 1024 GPUs, "
     "all "
     "algorithms, all grids\n  allreckon sweep --cluster abci-v100 --trace resnet50-v1.5 --gpus "
     "4:1024:x2 --out out/abci",
     command_sweep},
    {"plot", COMMAND_PLOT, "pictures of a sweep (SVG, PNG, text)", "DIR|sweep.csv", 1,
     "Draws scaling efficiency, images per second, grid shapes, the parts of an iteration, and "
     "time\n"
     "against payload. The gnuplot script and the data of each picture stay beside it.\n\nexample: "
     "allreckon plot out/abci",
     command_plot},
    {"explain", COMMAND_EXPLAIN, "every term of a prediction, each parameter with its source", "",
     0,
     "Splits an iteration into compute and exposed communication, and the all-reduce into "
     "latency,\n"
     "bandwidth and reduction per phase and tier; names the slowest link of each phase and the "
     "source\nof every parameter.\n\nexample: where does the time of a flat ring go?\n  allreckon "
     "explain --cluster abci-v100 --gpus 512 --algorithm ring --trace resnet50-v1.5",
     command_explain},
    {"export", COMMAND_EXPORT, "a SimGrid platform file of a cluster", "", 0,
     "Writes the nodes of a cluster that hold the GPUs as a SimGrid platform (DTD "
     "4.1).\n\nexample: "
     "allreckon export --format simgrid-xml --cluster abci-v100 --gpus 64 --out abci-64.xml",
     command_export},
    {"verify", COMMAND_VERIFY, "proves the algorithms by symbolic execution", "", 0,
     "Executes every algorithm on sets of contributions, for all shapes of the rank counts and "
     "for\n"
     "0, 1, N-1, N, N+1 and 101 elements; fails if a contribution is lost or counts twice.\n\n"
     "example: allreckon verify --algorithms torus2d --gpus 34,48",
     command_verify},
    {0},
};

static int fail(enum ar_status status, const struct ar_error *err)
{
    fprintf(stderr, "allreckon: %s\n", err->text);
    return ar_status_exit_code(status);
}

static int finish(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "allreckon: cannot write to stdout: %s\n", strerror(errno));
        return ar_status_exit_code(AR_IO);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct ar_error err = {.status = AR_OK};
    const struct command *command;
    struct options options;
    if (argc < 2) {
        help_write(stderr, NULL);
        return ar_status_exit_code(AR_USAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help_write(stdout, NULL);
        return finish();
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("allreckon " AR_VERSION);
        return finish();
    }
    enum ar_status status = command_find(argv[1], &command, &err);
    if (status == AR_OK) {
        status = options_parse(command, argc - 1, argv + 1, &options, &err);
    }
    if (status == AR_OK && options.help) {
        help_write(stdout, command);
        return finish();
    }
    if (status == AR_OK) {
        status = command->run(&options, &err);
    }
    return status == AR_OK ? finish() : fail(status, &err);
}
