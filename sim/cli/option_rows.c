#include "option_rows.h"

#define AT(field)   offsetof(struct options, field)
#define OF(command) (1u << COMMAND_##command)

#define OWN(...)                                                                                   \
    {                                                                                              \
        __VA_ARGS__, .is_key = false, .key = AR_KEYS_COUNT                                         \
    }

static const struct option_row own_rows[] = {
    OWN("gpus", "LIST", OF(sweep) | OF(train), AT(gpus_list), NULL,
        "GPU counts: 4:4096:x2 (doubling), 4:64:+4, or a list 8,16,96"),
    OWN("gpus", "LIST", OF(verify), AT(gpus_list), "1:17:+1,24,34,48,64",
        "rank counts, as in sweep; all shapes of each"),
    OWN("operation", "LIST", OF(sweep), AT(operation), NULL,
        "of bare collectives: alltoall, or several, or all (see 'allreckon list operations'); "
        "default: allreduce"),
    OWN("operation", "LIST", OF(verify), AT(operation), "all",
        "operations, separated by commas, or all"),
    OWN("algorithm", "A", OF(compare), AT(algorithm), NULL,
        "what is predicted; default: auto with --engine library or nccl, else ring"),
    OWN("algorithm", "A", OF(calibrate), AT(algorithm), NULL,
        "what calls were forced to (NCCL_ALGO): its messages fit the links, in place of a cost "
        "table"),
    OWN("algorithms", "LIST", OF(sweep) | OF(verify), AT(algorithms), "all",
        "algorithms, separated by commas, or all"),
    OWN("shapes", "LIST", OF(sweep), AT(shapes), "all",
        "grids of torus2d: all (every X*Y = N), square, node (X = GPUs of a node), or XxY,..."),
    OWN("payload", "SIZE", COLLECTIVE_COMMANDS, AT(payloads), NULL,
        "bytes: 51.1MB, 64MiB; also a list 1MB,4MB or 4KiB:1GiB:x4"),
    OWN("payload", "SIZE", OF(boxing), AT(payloads), NULL, "bytes of the whole tensor: 64MiB"),
    OWN("to-gpus", "Q", OF(boxing), AT(to_gpus), NULL,
        "the tensor goes to Q others than the GPUs of --gpus, which stand behind them"),
    OWN("payload", "LIST", OF(sweep), AT(payloads), NULL,
        "with --trace also time the all-reduce at the largest GPU count for these sizes "
        "(payload.csv); alone time collectives of these sizes at each GPU count"),
    OWN("engine", "E", OF(compare), AT(engine), NULL,
        "what predicts: library (default: the cost table of the cluster), nccl (NCCL's own "
        "constants), or any other engine"),
    OWN("engine", "E", OF(reproduce), AT(engine), NULL,
        "what predicts all rows; default: what a row says, else recurrence"),
    OWN("rows", "PATTERN", OF(reproduce), AT(rows), NULL,
        "only rows whose names match, such as 'sony*'"),
    OWN("samples", "K", OF(reproduce), AT(samples), "100",
        "draws of what is not known, for the band of each row"),
    OWN("sensitivity", NULL, OF(reproduce), AT(sensitivity), NULL,
        "also print the prediction at each end of each range, all else as in the row"),
    OWN("format", "F",
        COLLECTIVE_COMMANDS | OF(predict) | OF(sweep) | OF(links) | OF(calibrate) | OF(compare) |
            OF(accuracy) | OF(train) | OF(boxing) | OF(reproduce) | OF(trace),
        AT(format), "table", "of stdout: table, csv or json", .is_shown_only = true),
    OWN("columns", "LIST", COLLECTIVE_COMMANDS | OF(predict) | OF(sweep), AT(columns), NULL,
        "what stdout has of each row: NAME,... (see 'allreckon list columns') or all; default: in "
        "a table what fits the terminal, else all",
        .is_shown_only = true),
    OWN("columns", "LIST", OF(compare) | OF(accuracy) | OF(train) | OF(trace), AT(columns), NULL,
        "what stdout has of each row: NAME,... (a wrong one is answered by all there are) or all; "
        "default: in a table what fits the terminal, else all",
        .is_shown_only = true),
    OWN("format", "F", OF(export), AT(format), NULL,
        "simgrid-xml, chrome-trace, goal, astra-sim or tuner"),
    OWN("out", "DIR", OF(sweep), AT(out), NULL,
        "also write DIR/sweep.csv (and payload.csv; of layouts layouts.csv), for 'allreckon plot "
        "DIR'",
        .is_shown_only = true),
    OWN("out", "DIR", OF(train), AT(out), NULL, "also write DIR/train.csv", .is_shown_only = true),
    OWN("out", "NAME.topo", OF(calibrate), AT(out), NULL,
        "write the calibrated cluster there, of NCCL with its cost table NAME.library.csv beside "
        "it",
        .is_shown_only = true),
    OWN("out", "DIR", OF(compare), AT(out), NULL,
        "also write DIR/compare.csv, DIR/accuracy.csv (of a trace layers.csv, kinds.csv) and "
        "pictures of them",
        .is_shown_only = true),
    OWN("out", "DIR", OF(accuracy), AT(out), NULL, "also write DIR/sets.csv and a picture of it",
        .is_shown_only = true),
    OWN("out", "DIR", OF(reproduce), AT(out), NULL,
        "also write DIR/reproduce.csv, sensitivity.csv, curves.csv and pictures of them",
        .is_shown_only = true),
    OWN("out", "T.csv", OF(trace), AT(out), NULL, "the trace that is written",
        .is_shown_only = true),
    OWN("out", "NAME.topo", OF(discover), AT(out), NULL, "write to a file instead of stdout",
        .is_shown_only = true),
    OWN("nodes", "N", OF(discover), AT(nodes), NULL, "how many such nodes there are"),
    OWN("fabric", "F", OF(discover), AT(fabric), NULL,
        "what joins them: non-blocking (one switch), rails (one for the HCAs of each number), "
        "fat-tree, torus, mesh, dragonfly or dragonfly+, whose keys --set says"),
    OWN("times", "T", OF(trace), AT(times), "recorded",
        "recorded, refused if the GPU waits for more than 10 % of each step, or kernels: their "
        "durations without the GPU's waits, for profiles that are bound by the processor"),
    OWN("parameters", "TRACE", OF(trace), AT(parameters), NULL,
        "a trace of the same model, for the sizes of gradients where shapes were not recorded: "
        "a shipped one, or a path"),
    OWN("cost-table", "C", OF(trace), AT(cost_table), NULL,
        "the device cost table of the GPU, so that 'allreckon compare T.csv' puts the layers "
        "beside "
        "computed ones, if --parameters is a table of their work"),
    OWN("batch", "B", OF(trace), AT(batch), NULL,
        "samples per GPU and step; default: as recorded, or 1"),
    OWN("precision", "P", OF(trace), AT(precision), NULL,
        "fp16, fp32, bf16, ...; default: the type of the gradients, or fp32"),
    OWN("out", "P.csv", OF(predict), AT(out), NULL,
        "of --operators: write where they lie, for --placement", .is_shown_only = true),
    OWN("out", "DIR", OF(explain), AT(out), NULL,
        "of a step: also write its tasks (DIR/pipeline.csv) and its row (step.csv), for 'allreckon "
        "report DIR'; of a workload with a picture; not of strategies with servers",
        .is_shown_only = true),
    OWN("out", "FILE", OF(export), AT(out), NULL, "write to a file instead of stdout",
        .is_shown_only = true),
    OWN("out", "DIR", OF(plot), AT(out), NULL, "where the pictures go; default: beside the data",
        .is_shown_only = true),
    OWN("out", "FILE.html", OF(report), AT(out), NULL,
        "where the page goes; default: DIR/report.html", .is_shown_only = true),
    OWN("hold-out", "COUNTS", OF(calibrate), AT(hold_out), NULL,
        "node counts not to fit but to judge by, or none; default: the largest, of some measured "
        "sets more. GPU counts, if rows of our own algorithms are of one node count"),
    OWN("folds", NULL, OF(calibrate), AT(folds), NULL,
        "NCCL: cross-validate: also fit without each node count in turn, and judge by it"),
    OWN("pair", "LINK", OF(calibrate), AT(pair), NULL,
        "what joins the two processes of osu_latency and osu_bw, which their logs do not say: "
        "nvlink, "
        "pcie or network"),
    OWN("time", "T", OF(calibrate) | OF(compare), AT(time), "out-of-place",
        "which of the measured times: out-of-place, in-place or mean"),
    OWN("ranks", "LIST", OF(export), AT(ranks), NULL,
        "ranks in a chrome-trace: 0,1,4 or 0:31:+1; default: up to eight, see above"),
    OWN("jobs", "J", OF(sweep), AT(jobs), NULL,
        "worker processes; default: processors; of each rank under mpirun, 1 if they share a "
        "machine",
        .is_shown_only = true),
    OWN("jobs", "J", OF(reproduce), AT(jobs), NULL, "worker processes; default: processors",
        .is_shown_only = true),
    OWN("where", "KEY=VALUE", OF(plot), AT(where), NULL,
        "draw only rows of this value: of a column of sweep.csv (list columns), or of a --set key; "
        "also KEY=VALUE,KEY=VALUE; repeatable",
        .is_joined = true),
    OWN("where", "KEY=VALUE", OF(report), AT(where), NULL, "only rows of this value, as in plot",
        .is_joined = true, .is_shown_only = true),
    OWN("ascii", NULL, OF(plot), AT(ascii), NULL,
        "also print text pictures; default on a terminal without --quiet", .is_shown_only = true),
    OWN("seed", "S", OF(reproduce), AT(draws_seed), "1",
        "of the draws; the same seed gives the same output"),
    OWN("check", NULL, COLLECTIVE_COMMANDS | OF(predict), AT(check), NULL,
        "also run the other engine, simgrid beside recurrence or closed, and print both rows",
        .is_shown_only = true),
    OWN("check", NULL, OF(links), AT(check), NULL,
        "also run the other engine, simgrid beside recurrence or closed, and print both fractions",
        .is_shown_only = true),
    OWN("top", "K", OF(links), AT(top), "20", "links in the table; csv and json have all",
        .is_shown_only = true),
    OWN("best", NULL, OF(sweep), AT(best), NULL,
        "print only the fastest row of each GPU count (of collectives: and operation and payload), "
        "per cluster setting, batch, precision, gradient scale, engine, jitter and seed",
        .is_shown_only = true),
    OWN("resume", NULL, OF(sweep), AT(resume), NULL,
        "go on with the sweep that DIR/sweep.journal is of: rows that are there stay",
        .is_shown_only = true),
    OWN("force", NULL,
        OF(sweep) | OF(train) | OF(calibrate) | OF(compare) | OF(accuracy) | OF(reproduce) |
            OF(predict) | OF(explain) | OF(export) | OF(trace) | OF(report) | OF(discover),
        AT(force), NULL, "overwrite --out also if another command made what is there",
        .is_shown_only = true),
    OWN("quiet", NULL, ~OF(list), AT(quiet), NULL, "no notes and no progress on stderr",
        .is_shown_only = true),
    OWN("help", NULL, ~0u, AT(help), NULL, "this text", .is_shown_only = true),
};

key_set key_bits(unsigned uses)
{
    key_set bits = 0;
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        bits |= (ar_keys[i].uses & uses) != 0 ? KEY_BIT(i) : 0;
    }
    return bits;
}

size_t option_rows_of(const struct command *command, struct option_row rows[OPTIONS_MAX])
{
    size_t count = 0;
    key_set keys = (key_bits(command->key_uses) | command->keys_more) & ~command->keys_less;
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        if ((keys & KEY_BIT(i)) != 0) {
            const struct ar_key_row *key = &ar_keys[i];
            rows[count++] = (struct option_row){.name = ar_key_name((enum ar_key)i),
                                                .placeholder = key->placeholder,
                                                .standard = key->standard,
                                                .help = key->help,
                                                .is_key = true,
                                                .key = (enum ar_key)i};
        }
    }
    for (size_t i = 0; i < sizeof own_rows / sizeof own_rows[0]; i++) {
        if ((own_rows[i].commands & command->bit) != 0) {
            rows[count++] = own_rows[i];
        }
    }
    return count;
}
