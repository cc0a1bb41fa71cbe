/* The table of commands, and their help. */
#include "commands.h"

#include <string.h>

#include "ar_text.h"

#define COMMAND(command) #command, command_##command, 1u << COMMAND_##command, NULL

/* One collective; `without` are keys that it does not take. */
#define ROOT KEY_BIT(AR_KEY_ROOT)
#define COLLECTIVE(command, kind, without, what, example)                                          \
    {                                                                                              \
#command, command_collective, 1u << COMMAND_##command, &ar_operation_##kind,               \
            AR_KEY_OF_COLLECTIVE | AR_KEY_OF_BARE, 0, KEY_BIT(AR_KEY_OPERATION) | (without), what, \
            "", 0, example                                                                         \
    }

const struct command commands[] = {
    {COMMAND(list), 0, 0, 0, "what there is: clusters, traces, algorithms, engines and others",
     "[TOPIC]", 1,
     "Shows what there is to choose from, and what the columns of the results mean.\n\ntopics:\n"
     "  algorithms operations clusters fabrics traces runs\n"
     "  workloads operators strategies frameworks published engines sets columns\n\n"
     "example:\n"
     "  allreckon list algorithms"},
    COLLECTIVE(allreduce, all_reduce, ROOT, "every GPU gets the sum of all",
               "example: 1024 GPUs, 51.1 MB, a 32 x 32 torus\n"
               "  allreckon allreduce --cluster abci-v100 --gpus 1024 --algorithm torus2d --shape "
               "32x32 --payload 51.1MB"),
    COLLECTIVE(allgather, all_gather, ROOT, "every GPU gets the parts of all",
               "example: the weights of a sharded layer\n"
               "  allreckon allgather --cluster abci-v100 --gpus 64 --payload 48MiB"),
    COLLECTIVE(reducescatter, reduce_scatter, ROOT, "every GPU gets its part of the sum of all",
               "example: groups of 4 and 16 nodes between them, 4 groups at once\n"
               "  allreckon reducescatter --cluster abci-v100 --mesh dp=16,tp=4 --along dp "
               "--algorithm ring --payload 48MiB"),
    COLLECTIVE(broadcast, broadcast, 0, "every GPU gets what one has",
               "example: the weights at the start\n"
               "  allreckon broadcast --cluster abci-v100 --gpus 64 --algorithm tree --payload "
               "51.1MB"),
    COLLECTIVE(reduce, reduce, 0, "one GPU gets the sum of all",
               "example: a pipelined chain that ends at GPU 3\n"
               "  allreckon reduce --cluster abci-v100 --gpus 64 --algorithm chain --root 3 "
               "--payload 51.1MB"),
    COLLECTIVE(gather, gather, 0, "one GPU gets the parts of all",
               "example: checkpoints through one GPU\n"
               "  allreckon gather --cluster abci-v100 --gpus 64 --payload 1GiB"),
    COLLECTIVE(scatter, scatter, 0, "every GPU gets its part of what one has",
               "example: all sizes from 1 KiB to 1 GiB\n"
               "  allreckon scatter --cluster abci-v100 --gpus 64 --payload 1KiB:1GiB:x4"),
    COLLECTIVE(alltoall, all_to_all, ROOT, "every GPU gets a part from every other",
               "example: tokens for experts, two groups of 32 at once\n"
               "  allreckon alltoall --cluster abci-v100 --mesh dp=2,ep=32 --along ep --payload "
               "16MiB"),
    COLLECTIVE(send, send, 0, "one message from one GPU to another",
               "example: from the GPUs of one node to those of the next, all at once\n"
               "  allreckon send --cluster abci-v100 --mesh pp=2,tp=4 --along pp --payload 16MiB"),
    {COMMAND(predict), AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED,
     0, 0, "one training step: time, samples/s, scaling efficiency", "", 0,
     "Predicts one step of data-parallel training (--trace): compute from the trace, the "
     "all-reduces of its\n"
     "gradient buckets overlapped with the backward pass, then the optimizer. --framework adds "
     "what happens between the layers: cycles, copies, a slower backward pass, floors.\n\n"
     "Or one step of a transformer (--workload) on a mesh of pp stages of a pipeline, dp replicas, "
     "ep places of experts and tp shards of every layer. A path is a step that another program "
     "wrote down: text of ASTRA-sim or SimAI, an execution trace of Chakra; traces/logs/README.md "
     "says what of it counts.\n\n"
     "Or one step of operators that have a GPU each (--operators with --placement, or --strategy "
     "partitioned, rotate or star with a trace): traces/README.md has the form.\n\n"
     "examples: ResNet-50, 32 samples per GPU, fp16, on 256 GPUs; GPT-3 on 1536; where operators "
     "should lie\n"
     "  allreckon predict --cluster abci-v100 --gpus 256 --algorithm torus2d --trace "
     "resnet50-v1.5\n"
     "  allreckon predict --cluster dgx-a100 --workload gpt3-175b --mesh pp=12,dp=16,tp=8 "
     "--global-batch 1536 --recompute full\n"
     "  allreckon predict --cluster dgx-a100 --gpus 4 --operators googlenet --placement anneal "
     "--out placement.csv"},
    {COMMAND(boxing), 0,
     KEY_BIT(AR_KEY_CLUSTER) | KEY_BIT(AR_KEY_SET) | KEY_BIT(AR_KEY_GPUS) | KEY_BIT(AR_KEY_MESH) |
         KEY_BIT(AR_KEY_PRECISION) | KEY_BIT(AR_KEY_ENGINE) | KEY_BIT(AR_KEY_CHANNELS) |
         KEY_BIT(AR_KEY_WINDOW),
     0, "what turns one placement of a tensor on GPUs into another", "FROM TO", 2,
     "Says which collective turns one placement of a tensor into another, and how many bytes it "
     "sends: S0, S1, ... is split along a dimension of the tensor, B is broadcast, P are partial "
     "sums; of a mesh of two axes a placement has two of them, S0,B. With --cluster also how long "
     "it takes by the fastest algorithm. With --to-gpus the tensor goes to other GPUs, as between "
     "stages of a pipeline: by messages, one at a time through each port.\n\n"
     "example: partial sums of a product, split along the rows of it\n"
     "  allreckon boxing P S0 --gpus 8 --payload 64MiB --cluster dgx-a100\n"
     "example: on two axes\n"
     "  allreckon boxing S0,P B,S1 --mesh dp=4,tp=8 --payload 64MiB\n"
     "example: from 4 GPUs to 8 others\n"
     "  allreckon boxing S0 B --gpus 4 --to-gpus 8 --payload 64MiB --cluster dgx-a100"},
    {COMMAND(train), AR_KEY_IN_RUN, 0, KEY_BIT(AR_KEY_GPUS), "time to train of a whole run",
     "RUN.csv...", ARGUMENTS_MAX,
     "Predicts how long a training run takes, from a run file: cluster, algorithm, images and the "
     "batch of each phase of epochs. Every phase is one predicted step times its number of steps, "
     "and evaluations if the file has them. Options win over the file; --gpus takes a list, with "
     "the batch per GPU of the file. Start-up and checkpoints are left out; accuracy, and what is "
     "done for it such as label smoothing, is no matter of time. traces/README.md has the "
     "form.\n\nexamples: a shipped run, and on other numbers of GPUs\n"
     "  allreckon train sony-v2-3456\n  allreckon train example --gpus 64:1024:x2 --format csv"},
    {COMMAND(sweep),
     AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_BARE | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED,
     0,
     KEY_BIT(AR_KEY_OPERATION) | KEY_BIT(AR_KEY_GPUS) | KEY_BIT(AR_KEY_ALGORITHM) |
         KEY_BIT(AR_KEY_SHAPE),
     "many GPU counts, algorithms and grid shapes at once", "", 0,
     "Predicts steps (--trace) or collectives alone (--payload, --operation) for all GPU counts, "
     "algorithms, grids and payloads, in parallel processes, and prints a table; with --out also "
     "the files that 'allreckon plot' draws.\n\n"
     "--batch, --precision, --gradient-scale, --bucket, --channels, --window, --engine, --jitter, "
     "--seed, --strategy, --servers and what servers have, and --set KEY=V1,V2 take lists here "
     "(counts and sizes also ranges, 16:64:+16): every combination is computed. --best takes the "
     "best algorithm, grid, bucket, channels and window for each GPU count and each combination of "
     "the others, of collectives also for each operation and payload.\n\n"
     "With --workload all layouts of a transformer: --mesh all, and instead lists of "
     "--micro-batch, --strategy, --schedule, --recompute, --sequence-parallel, --attention and "
     "--overlap; those that do not divide or do not fit into the memory of a GPU are left out, the "
     "fastest comes first, --best takes one for each GPU count.\n\n"
     "Rows go to DIR/sweep.journal as they come. A sweep that was stopped goes on with the same "
     "command and --resume.\n\n"
     "example: 4 to 1024 GPUs, all algorithms, all grids\n"
     "  allreckon sweep --cluster abci-v100 --trace resnet50-v1.5 --gpus 4:1024:x2 --out out/abci\n"
     "example: which all-to-all is best at which size?\n"
     "  allreckon sweep --cluster abci-v100 --operation alltoall --gpus 8:1024:x2 --payload "
     "1KiB:1GiB:x4 --best\n"
     "example: is a faster HCA or a larger batch worth more?\n"
     "  allreckon sweep --cluster abci-v100 --trace resnet50-v1.5 --gpus 64,1024 --batch 16,32,64 "
     "--set hca.bandwidth=10.2GB/s,12.5GB/s --engine recurrence --best\n"
     "example: which layout of Llama 3 on 1024 GPUs?\n"
     "  allreckon sweep --cluster dgx-h100 --workload llama3-70b --gpus 1024 --mesh all "
     "--micro-batch 1,2,4 --global-batch 2048 --precision bf16 --best"},
    {COMMAND(plot), 0, 0, 0, "pictures of a sweep (SVG, PNG, text)", "DIR|sweep.csv", 1,
     "Draws scaling efficiency, samples per second, grid shapes, the parts of an iteration, "
     "time and bus bandwidth against payload, and a map of the fastest algorithm over payload and "
     "GPUs. A sweep of several batches or payloads "
     "(--gradient-scale) gives a table of GPU counts from which torus2d is faster than the ring. "
     "Rows that differ in what a picture does not show are not drawn as one: --where chooses. The "
     "gnuplot script and the data of each picture stay beside it; the paths of the pictures go to "
     "stdout.\n\nexample:\n  allreckon plot out/abci\n"
     "example: of a sweep with --jitter 0,0.05 and --set hca.bandwidth=10GB/s,12GB/s\n"
     "  allreckon plot out/abci --where jitter_frac=0.05,hca.bandwidth=12GB/s --out out/slow\n"
     "example: of a sweep of several operations\n"
     "  allreckon plot out/all --where operation=alltoall --out out/alltoall"},
    {COMMAND(report), 0, 0, 0, "one HTML page of what a command left: answer, pictures, tables",
     "DIR", 1,
     "Writes DIR/report.html from what sweep, explain, train, reproduce, compare or accuracy left "
     "there with --out: the answer in words, pictures whose points say their values, a timeline "
     "of the step, tables that sort and filter, parameters with their sources, and the command "
     "that makes it again. The page is one file that needs no other and no network. The answer "
     "and the path go to stdout.\n\nexample:\n"
     "  allreckon sweep --cluster abci-v100 --trace resnet50-v1.5 --gpus 4:64:x4 --out out/abci\n"
     "  allreckon report out/abci"},
    {COMMAND(explain),
     AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_BARE | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED,
     KEY_BIT(AR_KEY_PAYLOAD), 0, "every term of a prediction, each parameter with its source", "",
     0,
     "Splits an iteration into compute and exposed communication, and the all-reduce into\n"
     "latency, bandwidth and reduction per phase and tier; names the slowest link of each phase "
     "and the source of every parameter. With --engine library or nccl it lists their calls. Every "
     "term of a --framework is taken away in turn: the difference is what it costs.\n\n"
     "With --payload in place of --trace it explains one collective of any --operation, and says "
     "who shares the busiest link. With --workload it splits the time of every stage of the "
     "pipeline, and lists what is sent and the kernels of a layer. --out keeps the tasks of a "
     "step, for 'allreckon report', and draws the stages of a workload as bars over time.\n\n"
     "example: where does the time of a flat ring go?\n"
     "  allreckon explain --cluster abci-v100 --gpus 256 --algorithm ring --trace resnet50-v1.5\n"
     "example: groups that share the HCAs of their nodes\n"
     "  allreckon explain --cluster abci-v100 --operation allgather --mesh dp=16,tp=4 --along dp "
     "--payload 64MiB"},
    {COMMAND(links), AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_BARE,
     KEY_BIT(AR_KEY_PAYLOAD), KEY_BIT(AR_KEY_BASELINE),
     "load of every link: which one is the bottleneck?", "", 0,
     "Shows what the messages of one collective (--payload, --operation) or of one training step "
     "(--trace) put on each link, and how busy that keeps it while the communication stream runs. "
     "Bytes and messages are exact; the time is that of the engine.\n\n"
     "example: do the GPUs of a node wait for their HCAs?\n"
     "  allreckon links --cluster abci-v100 --gpus 64 --algorithm torus2d --shape 16x4 --payload "
     "64MiB"},
    {COMMAND(calibrate), 0, KEY_BIT(AR_KEY_CLUSTER) | KEY_BIT(AR_KEY_SET) | KEY_BIT(AR_KEY_TUNING),
     0, "fit a cluster to measured collectives, with errors", "LOG...|SET", ARGUMENTS_MAX,
     "Fits the cost of NCCL's algorithms and protocols to collectives that were measured on your "
     "machine: logs of nccl-tests (text or -J), CSV of the harness, tables of published results. "
     "The largest node count is held out: it is not fitted, and only there accuracy is quoted. "
     "Parameters that the data cannot tell stay at NCCL's constants and are marked so. Choices and "
     "constants are those of the release that --tuning or library.release names. With --out a "
     "cluster file for --engine library, whose predictions have a 95 % band.\n\n"
     "CSV of the harness with our own algorithms (ring, torus2d, ...) fits the latencies and "
     "bandwidths of the cluster instead, by the closed form; with --out a cluster file for all "
     "other engines. If all rows are of one node count, GPU counts are held out. Tables of MPI "
     "collectives by the library's names of algorithms (validate/data/called.csv) are fitted so, "
     "too.\n\n"
     "The name of a measured set ('allreckon list sets'), or of a file of one alone, needs no "
     "--cluster: it has its cluster, settings, rows and what is held out. Of a table of several "
     "machines a shipped --cluster takes the rows of its own.\n\n"
     "examples:\n"
     "  allreckon calibrate host.csv --cluster host --out mine-host.topo\n"
     "  allreckon calibrate fugaku_mpi --out mine-fugaku.topo\n"
     "  allreckon calibrate node1.log node2.log node4.log --cluster ./mine.topo --folds --out "
     "mine-fitted.topo"},
    {COMMAND(compare), 0,
     KEY_BIT(AR_KEY_CLUSTER) | KEY_BIT(AR_KEY_SET) | KEY_BIT(AR_KEY_TUNING) |
         KEY_BIT(AR_KEY_CHANNELS) | KEY_BIT(AR_KEY_WINDOW),
     0, "predictions beside measured rows: collectives or layers", "LOG...|SET|TRACE",
     ARGUMENTS_MAX,
     "Predicts every collective of the logs and prints it beside the measured one, with NCCL's own "
     "tuning model as a yardstick; errors are summed up for node counts that were fitted and for "
     "those that were held out. With --out also pictures. Rows of our own algorithms, and of MPI's "
     "by the library's names (validate/data/called.csv), are predicted as they ran; --engine is "
     "then closed, recurrence or simgrid. --engine nccl fits nothing. A file with the name of one "
     "of a measured set ('allreckon list sets') needs no option: it is predicted on the cluster of "
     "the set by a fit to the rows that are shipped. With --cluster, such a name chooses rows of "
     "the set; of other tables of several machines a shipped cluster takes those of its own.\n\n"
     "Of a trace of measured times (recorded), the layers stand beside what the cost table of its "
     "GPU says, both named in the trace; no other option but --out and the format counts.\n\n"
     "examples:\n"
     "  allreckon compare resnet50-v1.5-recorded --out out/layers\n"
     "  allreckon compare host.csv --cluster ./mine-host.topo --engine recurrence\n"
     "  allreckon compare node8.log --cluster ./mine-fitted.topo --out out/compare"},
    {COMMAND(accuracy), 0, KEY_BIT(AR_KEY_SET), 0,
     "how wrong predictions are, on every measured set", "[SET...]", ARGUMENTS_MAX,
     "Predicts the rows of every measured set ('allreckon list sets'), from 1 KiB on, three times: "
     "with nothing fitted, with all of them fitted, and those of the largest node counts fitted "
     "without them. Errors are |predicted / measured - 1|. Sets with a * are not unseen: column "
     "seen says what of the model was chosen when their rows had been seen; all_unseen sums up the "
     "others.\n\nexamples:\n  allreckon accuracy\n"
     "  allreckon accuracy mn5_h100_nccl_ring abci_a100 --format csv"},
    {COMMAND(reproduce), 0, KEY_BIT(AR_KEY_SET) | KEY_BIT(AR_KEY_TERM), 0,
     "published training runs, predicted beside measured", "[ROWS.csv...]", ARGUMENTS_MAX,
     "Predicts published runs from their own parameters and prints what was measured beside it. "
     "The band of a row holds 95 % of its predictions when everything that is not known of the "
     "run (column assume, validate/data/published/ranges.csv) is drawn at random; all of it is "
     "listed. So is the error of the fit, with engine library. The band reaches to the row's own "
     "prediction. Without files, all shipped ones. validate/data/published/README.md says how to "
     "add your run.\n\nexamples:\n  allreckon reproduce\n"
     "  allreckon reproduce mine.csv --rows 'mine-*' --out out/mine"},
    {COMMAND(trace), 0, 0, 0, "a profile of PyTorch becomes a trace", "import FILE", 2,
     "Reads a trace of the PyTorch profiler of one rank (Chrome JSON of Kineto, also .gz) and "
     "writes a trace file for --trace: the layers that ran kernels, times as medians over the "
     "steps without communication, the sizes of the gradients. What was not recorded, and what "
     "stands in for it, is said in notes. With "
     "record_shapes=True nothing has to be.\n\nexamples:\n"
     "  allreckon trace import rank0.json.gz --out mine.csv\n"
     "  allreckon trace import rank0.json.gz --times kernels --batch 32 --out mine.csv\n"
     "  allreckon predict --cluster abci-v100 --gpus 64 --trace ./mine.csv"},
    {COMMAND(discover), 0, KEY_BIT(AR_KEY_SET), 0, "a cluster file from what machines say",
     "FILE...", ARGUMENTS_MAX,
     "Writes a cluster file for --cluster from what a node of a machine says of itself: NCCL's "
     "topology file (NCCL_TOPO_DUMP_FILE), nvidia-smi topo -m, ibstat. Formats are "
     "recognised by content. Several files complete each other and must not contradict each other. "
     "Each value has the file and line that says it as its source. What no file says (how many "
     "nodes there are, what joins them) is asked for by name, all at once; any key of a cluster "
     "file can be said by --set, which wins over the files.\n\n"
     "examples:\n"
     "  NCCL_TOPO_DUMP_FILE=node.xml all_reduce_perf -g 8   # in any job of NCCL\n"
     "  allreckon discover node.xml --nodes 64 --fabric rails --out mine.topo\n"
     "  (nvidia-smi topo -m; ibstat) >node.txt\n"
     "  allreckon discover node.txt --nodes 16 --fabric non-blocking --set gpu.generation=hopper "
     "--out mine.topo\n"
     "  allreckon allreduce --cluster ./mine.topo --gpus 16 --payload 64MiB"},
    {COMMAND(export),
     AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_BARE | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED,
     KEY_BIT(AR_KEY_PAYLOAD), KEY_BIT(AR_KEY_ITERATIONS), "what other programs read: GOAL, ...", "",
     0,
     "--format simgrid-xml writes the nodes of a cluster that hold the GPUs as a SimGrid platform\n"
     "(DTD 4.1). It takes options of the cluster, --gpus and --out. --format chrome-trace "
     "simulates one training step and writes what some ranks do when, in the Trace Event Format "
     "that https://ui.perfetto.dev and chrome://tracing open: a process for each rank, with a "
     "track of compute and one for each channel of the communication stream. Ranks shown by "
     "default: up to four of the first node, the first of the nodes after it, and the last rank; "
     "eight in all. --format goal writes what all ranks compute, send and receive in one "
     "collective (--payload) or one step (--trace, --workload) as a schedule for txt2bin of "
     "LogGOPSim and ATLAHS; its first lines say how to run it (LogGOPSim takes whole numbers for "
     "G). --format astra-sim writes a step as a text workload of ASTRA-sim 1.0 and SimAI, which "
     "--workload reads back; what its grammar cannot say (zero1, zero3, pipelines) is refused. "
     "--format tuner writes which algorithm and protocol is fastest at which size on a calibrated "
     "cluster, as the table of NCCL's example tuner plug-in (NCCL_TUNER_CONFIG_FILE): all its "
     "collectives, or one --operation. NCCL loads plug-ins from 2.19.1 on.\n\n"
     "examples:\n"
     "  allreckon export --format simgrid-xml --cluster abci-v100 --gpus 64 --out abci-64.xml\n"
     "  allreckon export --format chrome-trace --cluster abci-v100 --gpus 64 --algorithm torus2d "
     "--trace resnet50-v1.5 --out step.json\n"
     "  allreckon export --format goal --cluster abci-v100 --gpus 64 --algorithm ring --payload "
     "1MiB --out ring.goal\n"
     "  allreckon export --format astra-sim --cluster dgx-a100 --mesh dp=2,tp=8 --workload "
     "megatron-3.6b --global-batch 16 --schedule gpipe --out step.txt\n"
     "  allreckon export --format tuner --cluster ./mine-fitted.topo --gpus 16 --out "
     "nccl_tuner.conf"},
    {COMMAND(verify), 0, 0, 0, "proves the algorithms by symbolic execution", "", 0,
     "Executes every algorithm on sets of contributions, for all shapes of the rank counts and\n"
     "for 0, 1, N-1, N, N+1 and 101 elements; fails if a contribution is lost or counts twice.\n\n"
     "example:\n  allreckon verify --algorithms torus2d --gpus 34,48"},
    {0},
};

enum ar_status command_find(const char *name, const struct command **command, struct ar_error *err)
{
    const char *names[COMMANDS_COUNT];
    size_t count = 0;
    for (const struct command *row = commands; row->name != NULL; row++) {
        if (strcmp(name, row->name) == 0) {
            *command = row;
            return AR_OK;
        }
        names[count++] = row->name;
    }
    return ar_error_unknown(err, AR_USAGE, "command line", "command", name, names, count);
}

/* --- help ------------------------------------------------------------------------------------- */

enum { WIDTH = 80, HELP_INDENT = 21, COMMAND_INDENT = 17 };

/* Writes words, separated by blanks or ends of lines, from column `at` on. A line that is broken
 * ends with `joint`, the next one begins with `indent` blanks. With a joint the words are those of
 * a command line, in which an option stays with its value. */
static void write_words(FILE *file, const char *text, size_t length, size_t at, size_t indent,
                        const char *joint)
{
    const char *end = text + length;
    const char *blank = "";
    for (const char *word = text + strspn(text, " \n"); word < end;) {
        const char *option = joint[0] != '\0' ? strstr(word, " --") : NULL;
        size_t size = joint[0] == '\0' ? strcspn(word, " \n")
                      : option != NULL ? (size_t)(option - word)
                                       : strcspn(word, "\n");
        const char *next = word + size + strspn(word + size, " \n");
        size = word + size < end ? size : (size_t)(end - word);
        if (at > indent && at + 1 + size + (next < end ? strlen(joint) : 0) > WIDTH) {
            fprintf(file, "%s\n%*s", joint, (int)indent, "");
            at = indent;
            blank = "";
        }
        at += (size_t)fprintf(file, "%s%.*s", blank, (int)size, word);
        blank = " ";
        word = next;
    }
    fputc('\n', file);
}

/* Writes paragraphs; lines that begin with a blank are examples and stay lines. */
static void write_paragraphs(FILE *file, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        bool is_example = *text == ' ';
        while (length > 0 && !is_example && text[length] == '\n' &&
               strchr("\n ", text[length + 1]) == NULL) {
            length += 1 + strcspn(text + length + 1, "\n");
        }
        fputs(is_example ? "  " : "", file);
        write_words(file, text, length, is_example ? 2 : 0, is_example ? 4 : 0,
                    is_example ? " \\" : "");
        text += length + (text[length] == '\n');
    }
}

static void write_option_help(FILE *file, const struct command *command,
                              const struct option_row *row)
{
    char left[40];
    char text[400];
    bool is_of_run_file = row->is_key && command->key_uses == AR_KEY_IN_RUN;
    snprintf(left, sizeof left, "--%s%s%s", row->name, row->placeholder != NULL ? " " : "",
             row->placeholder != NULL ? row->placeholder : "");
    snprintf(text, sizeof text,
             row->standard == NULL ? "%s"
             : is_of_run_file      ? "%s [of the file, or %s]"
                                   : "%s [%s]",
             row->help, row->standard);
    bool is_long = strlen(left) > HELP_INDENT - 3;
    fprintf(file, "  %-*s%s%*s", HELP_INDENT - 3, left, is_long ? "\n" : " ",
            is_long ? HELP_INDENT : 0, "");
    write_words(file, text, strlen(text), HELP_INDENT, HELP_INDENT, "");
}

/* Sections of long lists of options, by the first key of each; AR_KEYS_COUNT: own options. */
static const struct {
    enum ar_key first;
    const char *name;
} sections[] = {
    {AR_KEY_CLUSTER, "machine"},
    {AR_KEY_OPERATION, "GPUs and collectives"},
    {AR_KEY_TRACE, "what is trained"},
    {AR_KEY_STRATEGY, "strategy, parameter servers, work units"},
    {AR_KEY_SCHEDULE, "layout of a transformer"},
    {AR_KEY_OPERATORS, "operators"},
    {AR_KEY_GRADIENTS, "gradients, compute, and what is between the layers"},
    {AR_KEY_ENGINE, "engine"},
    {AR_KEY_JITTER, "jitter"},
    {AR_KEYS_COUNT, "of this command"},
};
enum { SECTIONS = sizeof sections / sizeof sections[0], SECTIONS_FROM = 30 };

static size_t find_section(enum ar_key key)
{
    size_t section = 0;
    while (section + 1 < SECTIONS && sections[section + 1].first <= key) {
        section++;
    }
    return section;
}

/* Few options have no sections. */
static void write_options_help(FILE *file, const struct command *command)
{
    struct option_row rows[OPTIONS_MAX];
    size_t count = options_list(command, rows);
    size_t before = SECTIONS;
    fputs("\noptions:\n", file);
    for (size_t i = 0; i < count; i++) {
        size_t section = find_section(rows[i].key);
        if (count >= SECTIONS_FROM && section != before) {
            fprintf(file, " %s:\n", sections[section].name);
        }
        before = section;
        write_option_help(file, command, &rows[i]);
    }
    fputc('\n', file);
}

/* The paragraph that the help of all collectives begins with. */
static void write_collective_help(FILE *file, const struct ar_operation *operation)
{
    char text[600];
    snprintf(
        text, sizeof text,
        "Times one %s on a cluster, or, with --mesh, one in each group at once. The payload is %s; "
        "it, algbw and busbw are those of nccl-tests. Without --algorithm the fastest one is "
        "taken%s\n\n",
        operation->name, operation->payload,
        operation->has_root ? ", without --root rank 0." : ".");
    write_paragraphs(file, text);
}

static void write_command_help(FILE *file, const struct command *command)
{
    char usage[160];
    int length = snprintf(usage, sizeof usage, "usage: allreckon %s %s [options]", command->name,
                          command->arguments);
    write_words(file, usage, (size_t)length, 0, 4, "");
    fputc('\n', file);
    if (command->operation != NULL) {
        write_collective_help(file, command->operation);
    }
    write_paragraphs(file, command->text);
    write_options_help(file, command);
    write_paragraphs(
        file, "Units: sizes B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024); rates "
              "GB/s, Gbps (bits); times s, ms, us, ns; costs ps/B. A number without a unit is an "
              "error where one is expected. Exit codes follow sysexits: 0, 64 usage, 65 bad data, "
              "66 no such file, or none shipped by that name, 69 no SimGrid, 70 internal, 71 no "
              "memory or processes, 74 I/O, 130 interrupted.");
}

void help_write(FILE *file, const struct command *command)
{
    if (command != NULL) {
        write_command_help(file, command);
        return;
    }
    fputs("usage: allreckon COMMAND [options]\n\n", file);
    write_paragraphs(file,
                     "Predicts how long communication takes on a GPU cluster, how well training "
                     "scales on it, and which collective algorithms to use.\n\ncommands:");
    for (const struct command *row = commands; row->name != NULL; row++) {
        size_t at = (size_t)fprintf(file, "  %-*s ", COMMAND_INDENT - 3, row->name);
        write_words(file, row->summary, strlen(row->summary), at, COMMAND_INDENT, "");
    }
    fputs("\n'allreckon COMMAND --help' shows the options of a command with an example.\n", file);
}
