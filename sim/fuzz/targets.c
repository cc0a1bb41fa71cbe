/* The table of targets. Commands are chosen to do little but read. */
#include "fuzz.h"

#define STEP " --gpus 4 --algorithm ring --engine closed"
#define ON   " --cluster dgx-a100"

const struct fuzz_target fuzz_targets[] = {
    /* clusters */
    {"cluster", "my.topo", NULL, "allreduce --cluster @ --payload 64MB" STEP,
     "topologies/machines/*.topo"},
    {"fabric", "my.topo", NULL, "links --cluster @ --gpus 24 --algorithm ring --payload 1MB",
     "topologies/machines/*.topo"},
    {"library", "my.library.csv", fuzz_library, NULL,
     "topologies/machines/abci-v100-nccl2.8.library.csv"},
    {"discover", NULL, fuzz_discover, NULL, "topologies/readers/fixtures/*"},
    /* work */
    {"trace", "my.csv", NULL, "predict --trace @" ON STEP, "sim/fuzz/seeds/trace/*"},
    {"layers", "my.csv", NULL, "compare @",
     "traces/resnet50-v1.5-recorded.csv sim/fuzz/seeds/trace/*"},
    {"framework", "my.csv", NULL,
     "predict --trace example-timed --term memory.rate=780GB/s --term kernel.floor=5us "
     "--framework @" ON STEP,
     "traces/frameworks/*.framework.csv"},
    {"cost", "my.cost.csv", fuzz_cost, NULL, "traces/device/*.cost.csv"},
    {"convolutions", "my.csv", fuzz_convolutions, NULL, "sim/fuzz/seeds/convolutions/*"},
    {"kineto", NULL, fuzz_kineto, NULL, "traces/profiles/fixtures/*"},
    {"recorded", NULL, fuzz_recorded, NULL, "traces/logs/steps/*"},
    {"workload", "my.et", NULL, "predict --workload @ --gpus 4 --engine closed" ON,
     "traces/logs/steps/*"},
    {"operators", "my.csv", NULL, "predict --gpus 2 --operators @ --placement greedy" ON,
     "traces/operators/googlenet.operators.csv sim/fuzz/seeds/operators/*"},
    {"placement", "my.csv", NULL, "predict --gpus 2 --operators googlenet --placement @" ON,
     "sim/fuzz/seeds/placement/*"},
    {"transformers", "my.csv", fuzz_transformers, NULL, "traces/workloads/transformers.csv"},
    {"evoformers", "my.csv", fuzz_evoformers, NULL, "traces/operators/evoformers.csv"},
    {"run", "my.run.csv", NULL, "train @ --engine closed --gpus 4 --iterations 1",
     "traces/runs/*.run.csv"},
    {"keys", NULL, fuzz_keys, NULL, "sim/fuzz/seeds/keys/*"},
    /* measurements */
    {"logs", NULL, fuzz_logs, NULL, "traces/logs/fixtures/*"},
    {"calibrate", "my.log", NULL, "calibrate @ --out % --cluster abci-v100",
     "traces/logs/fixtures/nccl-13-reduce.txt traces/logs/fixtures/harness.csv "
     "sim/fuzz/seeds/calibrate/*"},
    {"pair", "my.log", NULL, "calibrate @ --out % --cluster abci-v100 --pair network",
     "traces/logs/fixtures/osu-latency-bw.txt"},
    {"compare", "my.log", NULL, "compare @ --cluster abci-v100 --engine closed",
     "traces/logs/fixtures/nccl-1*.txt traces/logs/fixtures/harness.csv "
     "sim/fuzz/seeds/calibrate/*"},
    {"published", "my.csv", fuzz_published, NULL,
     "validate/data/published/sony.csv validate/data/published/mlperf.csv "
     "validate/data/published/context.csv"},
    {"index", "index.csv", fuzz_index, NULL, "validate/data/index.csv"},
    {"called", "called.csv", fuzz_called, NULL, "validate/data/called.csv"},
    /* what commands left */
    {"journal", "sweep.journal", fuzz_journal, NULL, "sim/fuzz/seeds/journal/*"},
    {"table", "my.csv", fuzz_table, NULL, "sim/fuzz/seeds/report/*"},
    {"report", "input", fuzz_report, NULL, "sim/fuzz/seeds/report/*"},
    {NULL}};
