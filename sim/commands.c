/* The table of commands: what --help says of them and what runs them. */
#include "commands.h"

const struct command commands[] = {
    {"list", COMMAND_LIST, "algorithms, clusters, traces, engines, columns",
     "[algorithms|clusters|traces|engines|columns]", 1,
     "Shows what there is to choose from, and what the columns of the results mean.\n\n"
     "example:\n"
     "  allreckon list algorithms",
     command_list},
    {"allreduce", COMMAND_ALLREDUCE, "time of one all-reduce", "", 0,
     "Times one all-reduce on a cluster. algbw and busbw are those of nccl-tests.\n\n"
     "example: 1024 GPUs, 51.1 MB, a 32 x 32 torus\n"
     "  allreckon allreduce --cluster abci-v100 --gpus 1024 --algorithm torus2d --shape 32x32 "
     "--payload 51.1MB",
     command_allreduce},
    {"predict", COMMAND_PREDICT, "one training step: time, images/s, scaling efficiency", "", 0,
     "Predicts one step of data-parallel training: compute from the trace, the all-reduces of its\n"
     "gradient buckets overlapped with the backward pass, then the optimizer.\n\n"
     "example: ResNet-50, 32 images per GPU, fp16, on 256 GPUs\n"
     "  allreckon predict --cluster abci-v100 --gpus 256 --algorithm torus2d --trace resnet50-v1.5",
     command_predict},
    {"sweep", COMMAND_SWEEP, "many GPU counts, algorithms and grid shapes at once", "", 0,
     "Predicts steps for all GPU counts, algorithms and grids, in parallel processes, and prints\n"
     "a table; with --out also the files that 'allreckon plot' draws.\n\n"
     "example: 4 to 1024 GPUs, all algorithms, all grids\n"
     "  allreckon sweep --cluster abci-v100 --trace resnet50-v1.5 --gpus 4:1024:x2 --out out/abci",
     command_sweep},
    {"plot", COMMAND_PLOT, "pictures of a sweep (SVG, PNG, text)", "DIR|sweep.csv", 1,
     "Draws scaling efficiency, images per second, grid shapes, the parts of an iteration, and\n"
     "time against payload. The gnuplot script and the data of each picture stay beside it; the\n"
     "paths of the pictures go to stdout.\n\n"
     "example:\n"
     "  allreckon plot out/abci",
     command_plot},
    {"explain", COMMAND_EXPLAIN, "every term of a prediction, each parameter with its source", "",
     0,
     "Splits an iteration into compute and exposed communication, and the all-reduce into\n"
     "latency, bandwidth and reduction per phase and tier; names the slowest link of each phase\n"
     "and the source of every parameter.\n\n"
     "example: where does the time of a flat ring go?\n"
     "  allreckon explain --cluster abci-v100 --gpus 256 --algorithm ring --trace resnet50-v1.5",
     command_explain},
    {"export", COMMAND_EXPORT, "a SimGrid platform file of a cluster", "", 0,
     "Writes the nodes of a cluster that hold the GPUs as a SimGrid platform (DTD 4.1).\n\n"
     "example:\n"
     "  allreckon export --format simgrid-xml --cluster abci-v100 --gpus 64 --out abci-64.xml",
     command_export},
    {"verify", COMMAND_VERIFY, "proves the algorithms by symbolic execution", "", 0,
     "Executes every algorithm on sets of contributions, for all shapes of the rank counts and\n"
     "for 0, 1, N-1, N, N+1 and 101 elements; fails if a contribution is lost or counts twice.\n\n"
     "example:\n"
     "  allreckon verify --algorithms torus2d --gpus 34,48",
     command_verify},
    {0},
};
