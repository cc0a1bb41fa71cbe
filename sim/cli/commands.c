/* The table of commands, and their help. */
#include "commands.h"

#include <string.h>

#include "ar_text.h"

#define COMMAND(command) #command, command_##command, 1u << COMMAND_##command

/* Keys of any step and any collective. */
#define ANY_WORK                                                                                   \
    (AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_BARE | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED)

/* The row `collective` stands for a command of each operation. */
static const struct command commands[] = {
    {COMMAND(list), .summary = "what there is: clusters, traces, algorithms, engines and others",
     .arguments = "[TOPIC [PATTERN]]", .arguments_max = 2,
     .text = "Shows what there is to choose from: without TOPIC all but published and columns, "
             "with PATTERN what has it in its name, text or heading.\n\n"
             "topics:\n"
             "  algorithms operations clusters gpus fabrics traces runs workloads operators\n"
             "  strategies frameworks engines sets systems pictures published columns\n\n"
             "examples:\n"
             "  allreckon list workloads llama3\n"
             "  allreckon list clusters --format json"},
    {COMMAND(collective), .key_uses = AR_KEY_OF_COLLECTIVE | AR_KEY_OF_BARE,
     .keys_less = KEY_BIT(AR_KEY_OPERATION)},
    {COMMAND(predict),
     .key_uses = AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_LAYOUT | AR_KEY_OF_PLACED,
     .summary = "one training step: time, samples/s, scaling efficiency",
     .text = "Predicts one step of data-parallel training (--trace); or of a transformer "
             "(--workload) on a mesh of pp stages of a pipeline, dp replicas, ep places of experts "
             "and tp shards of every layer, where a path is a step that ASTRA-sim, SimAI or Chakra "
             "wrote down; or of operators that have a GPU each (--operators with --placement, or "
             "--strategy partitioned, rotate or star).\n\n"
             "examples:\n"
             "  allreckon predict --cluster abci-v100 --gpus 256 --algorithm torus2d --trace "
             "resnet50-v1.5\n"
             "  allreckon predict --cluster dgx-a100 --workload gpt3-175b --mesh pp=12,dp=16,tp=8 "
             "--global-batch 1536 --recompute full"},
    {COMMAND(boxing),
     .keys_more = KEY_BIT(AR_KEY_CLUSTER) | KEY_BIT(AR_KEY_SET) | KEY_BIT(AR_KEY_GPUS) |
                  KEY_BIT(AR_KEY_MESH) | KEY_BIT(AR_KEY_PRECISION) | KEY_BIT(AR_KEY_ENGINE) |
                  KEY_BIT(AR_KEY_CHANNELS) | KEY_BIT(AR_KEY_WINDOW),
     .summary = "what turns one placement of a tensor on GPUs into another", .arguments = "FROM TO",
     .arguments_min = 2, .arguments_max = 2,
     .text =
         "Says which collective turns one placement of a tensor into another, and how many "
         "bytes it sends: S0, S1, ... is split along a dimension of the tensor, B is broadcast, "
         "P are partial sums; on a mesh of two axes a placement has two of them, S0,B. With "
         "--cluster also how long it takes by the fastest algorithm; with --to-gpus by "
         "messages, one at a time through each port.\n\n"
         "examples:\n"
         "  allreckon boxing P S0 --gpus 8 --payload 64MiB --cluster dgx-a100\n"
         "  allreckon boxing S0,P B,S1 --mesh dp=4,tp=8 --payload 64MiB"},
    {COMMAND(train), .key_uses = AR_KEY_IN_RUN | AR_KEY_OF_COLLECTIVE | AR_KEY_OF_LAYOUT,
     .keys_less = KEY_BIT(AR_KEY_GPUS), .summary = "time to train of a whole run",
     .arguments = "[RUN.csv...]", .arguments_max = ARGUMENTS_MAX,
     .text = "Predicts how long a training run takes, from a run file (traces/README.md has the "
             "form): a phase is one predicted step times its number of steps, and evaluations. "
             "Options win over the file; --gpus takes a list, with the batch per GPU of the file. "
             "Start-up and checkpoints are left out.\n\n"
             "With --workload and no file: days and cost of --tokens of a transformer, by the "
             "fastest layout or --mesh, as 'allreckon advise' plans it.\n\n"
             "examples:\n"
             "  allreckon train example --gpus 64:1024:x2 --format csv\n"
             "  allreckon train --cluster dgx-h100 --workload llama3-70b --gpus 512 "
             "--global-batch 1024 --precision bf16 --tokens 1T --price 2.5"},
    {COMMAND(sweep), .key_uses = ANY_WORK,
     .keys_less = KEY_BIT(AR_KEY_OPERATION) | KEY_BIT(AR_KEY_GPUS) | KEY_BIT(AR_KEY_ALGORITHM) |
                  KEY_BIT(AR_KEY_SHAPE),
     .summary = "many GPU counts, algorithms and grid shapes at once",
     .text = "Predicts steps (--trace) or collectives alone (--payload, --operation) for all GPU "
             "counts, algorithms, grids and payloads, in parallel processes. --cluster, --batch, "
             "--precision, --gradient-scale, --bucket, --channels, --window, --engine, --jitter, "
             "--seed, "
             "--strategy, --servers and what servers have, and --set KEY=V1,V2 take lists here "
             "(counts and sizes also ranges, 16:64:+16): every combination is computed. --best "
             "takes the best algorithm, grid, bucket, channels and window for each combination of "
             "the others.\n\n"
             "With --workload all layouts of a transformer that fit: --mesh all, and lists of "
             "--micro-batch, --strategy, --schedule, --recompute, --sequence-parallel, --attention "
             "and --overlap.\n\n"
             "Rows go to DIR/sweep.journal as they come: the same command with --resume goes on "
             "with a sweep that was stopped.\n\n"
             "examples:\n"
             "  allreckon sweep --cluster abci-v100 --trace resnet50-v1.5 --gpus 64,1024 --batch "
             "16,32,64 --set hca.bandwidth=10.2GB/s,12.5GB/s --best\n"
             "  allreckon sweep --cluster dgx-h100 --workload llama3-70b --gpus 1024 --mesh all "
             "--micro-batch 1,2,4 --global-batch 2048 --precision bf16 --best"},
    {COMMAND(plot), .summary = "pictures of a sweep (SVG, PNG)", .arguments = "DIR|sweep.csv",
     .arguments_min = 1, .arguments_max = 1,
     .text =
         "Draws scaling efficiency, samples per second, grid shapes, the parts of an iteration, "
         "time and bus bandwidth against payload, and maps of the fastest algorithm. Rows that "
         "differ in what a picture does not show are not drawn as one: --where chooses. The "
         "gnuplot script and the data of each picture stay beside it; the paths of the "
         "pictures go to stdout.\n\n"
         "example:\n"
         "  allreckon plot out/abci --where jitter_frac=0.05,hca.bandwidth=12GB/s"},
    {COMMAND(report), .summary = "one HTML page of what a command left: answer, pictures, tables",
     .arguments = "DIR", .arguments_min = 1, .arguments_max = 1,
     .text =
         "Writes DIR/report.html from what sweep, explain, train, reproduce, compare or accuracy "
         "left there with --out: the answer in words, pictures, a timeline of the step, tables, "
         "parameters with their sources, and the command that makes it again. The page needs no "
         "other file. The answer and the path go to stdout.\n\nexample:\n"
         "  allreckon report out/abci"},
    {COMMAND(explain), .key_uses = ANY_WORK, .keys_more = KEY_BIT(AR_KEY_PAYLOAD),
     .summary = "every term of a prediction, each parameter with its source",
     .text = "Splits an iteration into compute and exposed communication, and a collective "
             "(--payload in place of --trace) into latency, bandwidth and reduction per phase and "
             "tier, or calls of NCCL; names the slowest link of each phase, who shares the busiest "
             "one, and the source of every parameter. Every term of a --framework is taken away in "
             "turn: the difference is what it costs. With --workload it splits the time of every "
             "stage, and lists what is sent and the kernels of a layer. --out keeps the tasks of a "
             "step, for 'allreckon report'.\n\n"
             "examples:\n"
             "  allreckon explain --cluster abci-v100 --gpus 256 --algorithm ring --trace "
             "resnet50-v1.5\n"
             "  allreckon explain --cluster abci-v100 --operation allgather --mesh dp=16,tp=4 "
             "--along dp --payload 64MiB"},
    {COMMAND(advise), .key_uses = AR_KEY_OF_COLLECTIVE | AR_KEY_OF_LAYOUT,
     .keys_less = KEY_BIT(AR_KEY_GPUS) | KEY_BIT(AR_KEY_ALGORITHM) | KEY_BIT(AR_KEY_SHAPE),
     .summary = "which layout, how long, what it costs, and what changes that",
     .text = "Finds the fastest layout of a transformer, as 'allreckon sweep --mesh all --best' "
             "does with the same options, and says what a step takes and loses, how long a "
             "training lasts (--tokens) and costs (--price, --power), also with failures (--mtbf "
             "and --checkpoint); and what half the GPUs, a network twice as fast, a slow HCA, a "
             "straggler and the next GPUs change, each predicted alone.\n\n"
             "example:\n"
             "  allreckon advise --cluster dgx-h100 --workload llama3-70b --gpus 512 "
             "--global-batch 1024 --precision bf16 --tokens 1T --price 2.5"},
    {COMMAND(diagnose), .key_uses = AR_KEY_OF_COLLECTIVE | AR_KEY_OF_LAYOUT,
     .summary = "why is my training step as slow as it is?",
     .text = "Puts a measured step of a transformer beside the predicted one: its MFU of the dense "
             "peak, with attention counted over all pairs of tokens and to earlier tokens alone; "
             "units that the number may be in; and causes, each predicted alone, those first that "
             "give the step that was measured. Beside another number --mfu tells which peak or "
             "count gives the MFU that was reported.\n\nexample:\n  allreckon diagnose --cluster "
             "dgx-h100 --workload llama3-8b --gpus 64 --strategy zero3 --global-batch 128 "
             "--precision bf16 --recompute full --tokens-per-s 400000"},
    {COMMAND(links), .key_uses = AR_KEY_OF_COLLECTIVE | AR_KEY_OF_STEP | AR_KEY_OF_BARE,
     .keys_more = KEY_BIT(AR_KEY_PAYLOAD), .keys_less = KEY_BIT(AR_KEY_BASELINE),
     .summary = "load of every link: which one is the bottleneck?",
     .text = "Shows what the messages of one collective (--payload, --operation) or of one "
             "training step (--trace) put on each link, and how busy that keeps it while the "
             "communication stream runs. Bytes and messages are exact; the time is that of the "
             "engine.\n\n"
             "example:\n"
             "  allreckon links --cluster abci-v100 --gpus 64 --algorithm ring --payload 64MiB"},
    {COMMAND(calibrate),
     .keys_more = KEY_BIT(AR_KEY_CLUSTER) | KEY_BIT(AR_KEY_SET) | KEY_BIT(AR_KEY_TUNING),
     .summary = "fit a cluster to measured collectives, with errors", .arguments = "LOG...|SET",
     .arguments_min = 1, .arguments_max = ARGUMENTS_MAX,
     .text = "Fits the cost of NCCL's algorithms and protocols to collectives that were measured "
             "on your machine (logs of nccl-tests, CSV of the harness, tables of published "
             "results) and with --out writes a cluster for --engine library, whose predictions "
             "have a 95 % band. The largest node count is not fitted: only there accuracy is "
             "quoted. Parameters that the data cannot tell stay at NCCL's constants, those of the "
             "release that --tuning or library.release names (calls fewer than the parameters: at "
             "what measured machines tell of this one), and are marked so.\n\nRows of our "
             "own algorithms, and of MPI by the library's names of algorithms "
             "(validate/data/called.csv), fit latencies and bandwidths of the cluster instead, for "
             "all other engines. The name of a measured set ('allreckon list sets'), or of a file "
             "of one alone, needs no --cluster; of other tables of several machines a shipped "
             "--cluster takes its own rows.\n\nexample:\n"
             "  allreckon calibrate node1.log node2.log node4.log --cluster ./mine.topo --folds "
             "--out mine-fitted.topo"},
    {COMMAND(compare),
     .keys_more = KEY_BIT(AR_KEY_CLUSTER) | KEY_BIT(AR_KEY_SET) | KEY_BIT(AR_KEY_TUNING) |
                  KEY_BIT(AR_KEY_CHANNELS) | KEY_BIT(AR_KEY_WINDOW),
     .summary = "predictions beside measured collectives, layers, kernels",
     .arguments = "LOG...|SET|TRACE|KERNELS", .arguments_min = 1, .arguments_max = ARGUMENTS_MAX,
     .text = "Predicts every collective of the logs and prints it beside the measured one, with "
             "NCCL's own tuning model as a yardstick; errors are summed up for node counts that "
             "were fitted and for those that were held out. A file with the name of one of a "
             "measured set ('allreckon list sets') needs no option: it is predicted by a fit to "
             "the rows that are shipped. Of a trace of measured times, the layers stand beside "
             "what the cost table of its GPU says, both named in the trace. Of a table of "
             "single kernels (gpu,precision,m,n,k,time_s, or of attention gpu,precision,batch,"
             "sequence,heads,kv_heads,head_elements,time_s; or device, dtype, batch_size, seq_len, "
             "num_heads, num_kv_heads, head_dim) the errors of cost tables are summed "
             "up by GPU, which is the name of one, and precision.\n\n"
             "examples:\n"
             "  allreckon compare resnet50-v1.5-recorded --out out/layers\n"
             "  allreckon compare traces/device/products.csv\n"
             "  allreckon compare node8.log --cluster ./mine-fitted.topo --out out/compare"},
    {COMMAND(expect),
     .keys_more = KEY_BIT(AR_KEY_CLUSTER) | KEY_BIT(AR_KEY_SET) | KEY_BIT(AR_KEY_TUNING),
     .summary = "is this machine as fast as it should be, and if not, why?",
     .arguments = "LOG...|SET [NAME.topo]", .arguments_min = 1, .arguments_max = ARGUMENTS_MAX,
     .text = "Prints measured calls of NCCL or RCCL (logs of nccl-tests and rccl-tests, text or "
             "JSON, OSU, tables) beside what the machine should give: a fit if the cluster has "
             "one, else what measured machines tell, else NCCL's constants and the specification. "
             "A row outside the 95 % band is slow, or fast: then check units.\n\n"
             "Suspects (HCAs unused, GPUDirect off, sockets, NVLS or SHARP off, protocols, slow "
             "cables and others) are predicted like anything else and ranked by how likely they "
             "make all rows; 'nothing' is one of them. A log's messages of NCCL "
             "(NCCL_DEBUG=INFO) name some or rule them out. The cluster is --cluster or an "
             "argument that ends in .topo, such as 'allreckon discover' writes; of a measured set "
             "its own. With --require the exit code is 1 if a row from 1 MiB on is slower than "
             "that.\n\n"
             "example:\n"
             "  allreckon expect node8.log ./mine.topo --require 0.9 --out out/expect"},
    {COMMAND(accuracy), .keys_more = KEY_BIT(AR_KEY_SET),
     .summary = "how wrong predictions are, on every measured set", .arguments = "[SET...]",
     .arguments_max = ARGUMENTS_MAX,
     .text = "Predicts the rows of every measured set ('allreckon list sets'), from 1 KiB on, "
             "three times: with nothing fitted, with all of them fitted, and those of the largest "
             "node counts fitted without them. Errors are |predicted / measured - 1|. Column seen "
             "says what of the model was chosen when rows of a set had been seen. Without SET each "
             "machine of NCCL or RCCL is also predicted by the rows of all other machines (new "
             "machine), bands are those that other machines tell, a second table has how many rows "
             "they hold where a fit left some out, and --out has factors.csv: what all machines "
             "tell of a new one, by GPUs and HCAs, and kinds.csv: for which rows that is better "
             "than nothing.\n\n"
             "example:\n"
             "  allreckon accuracy mn5_h100_nccl_ring abci_a100 --format csv"},
    {COMMAND(reproduce), .keys_more = KEY_BIT(AR_KEY_SET) | KEY_BIT(AR_KEY_TERM),
     .summary = "published training runs, predicted beside measured", .arguments = "[ROWS.csv...]",
     .arguments_max = ARGUMENTS_MAX,
     .text = "Predicts published runs, the shipped ones unless files are named, and prints how far "
             "times are from what was measured, by table, GPU and number of GPUs; of up to 40 rows "
             "each one. The band of a row holds what is not known of the run, drawn at random, and "
             "how far published steps of other tables were off. validate/data/published/README.md "
             "says how to add your run.\n\n"
             "example:\n"
             "  allreckon reproduce mine.csv --rows 'mine-*' --out out/mine"},
    {COMMAND(trace), .summary = "a profile of PyTorch becomes a trace", .arguments = "import FILE",
     .arguments_min = 2, .arguments_max = 2,
     .text = "Reads a trace of the PyTorch profiler of one rank (Chrome JSON of Kineto, also .gz) "
             "and writes a trace file for --trace: the layers that ran kernels, times as medians "
             "over the steps without communication, the sizes of the gradients. Notes say what was "
             "not recorded, and what stands in for it; "
             "with record_shapes=True nothing has to be.\n\n"
             "example:\n"
             "  allreckon trace import rank0.json.gz --out mine.csv"},
    {COMMAND(discover), .keys_more = KEY_BIT(AR_KEY_SET),
     .summary = "a cluster file from what machines say", .arguments = "FILE...", .arguments_min = 1,
     .arguments_max = ARGUMENTS_MAX,
     .text = "Writes a cluster file for --cluster from what a node of a machine says of itself: "
             "NCCL's topology file (NCCL_TOPO_DUMP_FILE=node.xml in any job of NCCL), nvidia-smi "
             "topo -m, ibstat. Several files complete each other. Each value has "
             "the file and line that says it as its source; what no file says is asked for by "
             "name, all at once. --set wins over the files.\n\n"
             "example:\n"
             "  allreckon discover node.xml --nodes 64 --fabric rails --out mine.topo"},
    {COMMAND(export), .key_uses = ANY_WORK, .keys_more = KEY_BIT(AR_KEY_PAYLOAD),
     .keys_less = KEY_BIT(AR_KEY_ITERATIONS), .summary = "what other programs read: GOAL, ...",
     .text = "simgrid-xml: the nodes of a cluster that hold the GPUs, as a SimGrid platform. "
             "chrome-trace: what ranks do when in one training step, for https://ui.perfetto.dev: "
             "up to four ranks of the first node, the first of the nodes after it, and the last "
             "one; eight in all. goal: what all ranks compute, send and receive in one collective "
             "or step, for txt2bin of LogGOPSim and ATLAHS; its first lines say how to run it. "
             "astra-sim: a step as a text workload of ASTRA-sim 1.0 and SimAI, which --workload "
             "reads back. tuner: which algorithm and protocol is fastest at which size on a "
             "calibrated cluster, as the table of NCCL's example tuner plug-in "
             "(NCCL_TUNER_CONFIG_FILE, from 2.19.1 on).\n\n"
             "examples:\n"
             "  allreckon export --format simgrid-xml --cluster abci-v100 --gpus 64 --out p.xml\n"
             "  allreckon export --format chrome-trace --cluster abci-v100 --gpus 64 --algorithm "
             "torus2d --trace resnet50-v1.5 --out step.json"},
    {COMMAND(verify), .summary = "proves the algorithms by symbolic execution",
     .text = "Executes every algorithm on sets of contributions, for all shapes of the rank counts "
             "and for 0, 1, N-1, N, N+1 and 101 elements; fails if a contribution is lost or "
             "counts twice.\n\n"
             "example:\n"
             "  allreckon verify --algorithms torus2d --gpus 34,48"},
};

/* Lists all commands; returns how many. */
static size_t list_commands(struct command list[COMMANDS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        list[count++] = commands[i];
        for (size_t k = 0; commands[i].run == command_collective && k < ar_operations_count; k++) {
            struct command *command = &list[k == 0 ? count - 1 : count++];
            *command = commands[i];
            command->operation = ar_operations[k];
            command->name = ar_operations[k]->command;
            command->summary = ar_operations[k]->title;
            command->keys_less |= ar_operations[k]->has_root ? 0 : KEY_BIT(AR_KEY_ROOT);
        }
    }
    return count;
}

enum ar_status command_find(const char *name, struct command *command, struct ar_error *err)
{
    struct command list[COMMANDS_MAX];
    const char *names[COMMANDS_MAX];
    size_t count = list_commands(list);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, list[i].name) == 0) {
            *command = list[i];
            return AR_OK;
        }
        names[i] = list[i].name;
    }
    return ar_error_unknown(err, AR_USAGE, "command line", "command", name, names, count);
}

/* --- help ------------------------------------------------------------------------------------- */

enum { HELP_INDENT = 21, COMMAND_INDENT = 17 };

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
        ar_write_words(file, text, length, is_example ? 2 : 0, is_example ? 4 : 0,
                       is_example ? " \\" : "");
        text += length + (text[length] == '\n');
    }
}

static void write_command_help(FILE *file, const struct command *command)
{
    char usage[160];
    const char *arguments = command->arguments != NULL ? command->arguments : "";
    int length =
        snprintf(usage, sizeof usage, "usage: allreckon %s %s [options]", command->name, arguments);
    ar_write_words(file, usage, (size_t)length, 0, 4, "");
    fputc('\n', file);
    if (command->operation != NULL) {
        const struct ar_operation *operation = command->operation;
        char text[600];
        snprintf(
            text, sizeof text,
            "Times one %s on a cluster, or, with --mesh, one in each group at once. The payload is "
            "%s; it, algbw and busbw are those of nccl-tests. Without --algorithm the fastest one "
            "is taken%s\n\nexample:\n  allreckon %s --cluster abci-v100 --mesh dp=16,tp=4 --along "
            "dp --payload 1MiB:1GiB:x4",
            operation->name, operation->payload,
            operation->has_root ? ", without --root rank 0." : ".", operation->command);
        write_paragraphs(file, text);
    } else {
        write_paragraphs(file, command->text);
    }
    struct option_row rows[OPTIONS_MAX];
    size_t count = options_list(command, rows);
    fputs("\noptions:\n", file);
    for (size_t i = 0; i < count; i++) {
        char left[40];
        char text[400];
        bool is_of_run_file = rows[i].is_key && ar_key_is(rows[i].key, AR_KEY_IN_RUN) &&
                              (command->key_uses & AR_KEY_IN_RUN) != 0;
        snprintf(left, sizeof left, "--%s%s%s", rows[i].name,
                 rows[i].placeholder != NULL ? " " : "",
                 rows[i].placeholder != NULL ? rows[i].placeholder : "");
        snprintf(text, sizeof text,
                 rows[i].standard == NULL ? "%s"
                 : is_of_run_file         ? "%s [of the file, or %s]"
                                          : "%s [%s]",
                 rows[i].help, rows[i].standard);
        bool is_long = strlen(left) > HELP_INDENT - 3;
        fprintf(file, "  %-*s%s%*s", HELP_INDENT - 3, left, is_long ? "\n" : " ",
                is_long ? HELP_INDENT : 0, "");
        ar_write_words(file, text, strlen(text), HELP_INDENT, HELP_INDENT, "");
    }
    fputc('\n', file);
    write_paragraphs(
        file, "Units: sizes B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024); rates "
              "GB/s, Gbps (bits); times s, ms, us, ns; costs ps/B. A number without a unit is an "
              "error where one is expected. Exit codes follow sysexits: 0, 1 below --require, 64 "
              "usage, 65 bad data, "
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
    struct command list[COMMANDS_MAX];
    size_t count = list_commands(list);
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)fprintf(file, "  %-*s ", COMMAND_INDENT - 3, list[i].name);
        ar_write_words(file, list[i].summary, strlen(list[i].summary), at, COMMAND_INDENT, "");
    }
    fputs("\n'allreckon COMMAND --help' shows the options of a command with an example.\n", file);
}
