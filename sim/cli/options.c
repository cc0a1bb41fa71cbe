#include "options.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

#include "ar_text.h"
#include "commands.h"
#include "option_rows.h"

#define POINTS                                                                                     \
    (COMMAND_ALLREDUCE | COMMAND_PREDICT | COMMAND_EXPLAIN | COMMAND_LINKS | COMMAND_TIMELINE)
#define RUNS (POINTS | COMMAND_SWEEP)
#define STEPS                                                                                      \
    (COMMAND_PREDICT | COMMAND_SWEEP | COMMAND_EXPLAIN | COMMAND_LINKS_STEP | COMMAND_TIMELINE)
#define RUN_FILES (COMMAND_TRAIN | COMMAND_REPRODUCE)

#define LOGS (COMMAND_CALIBRATE | COMMAND_COMPARE)

/* Where the value goes; all values, of an option that may be repeated. */
#define AT(field)  offsetof(struct options, field), false
#define ALL(field) offsetof(struct options, field), true

const struct option_row option_rows[] = {
    {"cluster", "C", RUNS | COMMAND_EXPORT | LOGS | COMMAND_TRAIN, AT(cluster), NULL,
     "a shipped cluster (see 'allreckon list'), a .topo file, or your SimGrid platform (.xml)"},
    {"set", "KEY=VALUE", RUNS | COMMAND_EXPORT | LOGS | RUN_FILES, ALL(settings), NULL,
     "change a value of the cluster, such as net.latency=2.4us; may be repeated"},
    {"slow-link", "LINK:F", RUNS | COMMAND_EXPORT, ALL(slow_links), NULL,
     "divide a link's bandwidth by F: node-3.hca-0:4, one direction node-3.hca-0.out:4; "
     "repeatable"},
    {"down-link", "LINK", RUNS | COMMAND_EXPORT, ALL(down_links), NULL,
     "a link that is down: node-3.hca-0, rack-2.up, node-0.nvlink-0-1 (one direction); repeatable"},
    {"gpus", "N", POINTS | COMMAND_EXPORT, AT(gpus), NULL, "number of GPUs, one rank each"},
    {"gpus", "LIST", COMMAND_SWEEP | COMMAND_TRAIN, AT(gpus), NULL,
     "GPU counts: 4:4096:x2 (doubling), 4:64:+4, or a list 8,16,96"},
    {"gpus", "LIST", COMMAND_VERIFY, AT(gpus), "1:17:+1,24,34,48,64",
     "rank counts, as in sweep; all shapes of each"},
    {"algorithm", "A", POINTS | COMMAND_TRAIN, AT(algorithm), NULL,
     "all-reduce algorithm, see 'allreckon list algorithms'; auto with --engine library or nccl"},
    {"algorithm", "A", COMMAND_COMPARE, AT(algorithm), NULL,
     "what is predicted; default: auto with --engine library or nccl, else ring"},
    {"algorithms", "LIST", COMMAND_SWEEP | COMMAND_VERIFY, AT(algorithm), "all",
     "algorithms, separated by commas, or all"},
    {"shape", "XxY", POINTS | COMMAND_TRAIN, AT(shape), NULL,
     "logical grid with X*Y = N; default: squarest grid, groups of one node"},
    {"shapes", "LIST", COMMAND_SWEEP, AT(shape), "all",
     "grids of torus2d: all (every X*Y = N), square, node (X = GPUs of a node), or XxY,..."},
    {"payload", "SIZE", COMMAND_ALLREDUCE, AT(payload), NULL,
     "bytes to reduce: 51.1MB, 64MiB; also a list 1MB,4MB or 4KiB:1GiB:x4"},
    {"payload", "SIZE", COMMAND_LINKS, AT(payload), NULL,
     "load of one all-reduce of this size; --trace is that of a training step"},
    {"payload", "LIST", COMMAND_SWEEP, AT(payload), NULL,
     "also time the bare all-reduce at the largest GPU count for these sizes (payload.csv)"},
    {"trace", "T", STEPS | COMMAND_TRAIN, AT(trace), NULL,
     "a shipped trace (see 'allreckon list'), or the path of a CSV file"},
    {"batch", "B", STEPS, AT(batch), NULL,
     "images per GPU and step; default: the trace's own, or 32"},
    {"precision", "P", RUNS | COMMAND_TRAIN, AT(precision), NULL,
     "fp16 or fp32, of compute and gradients (on the wire: see wire.precision of --framework); "
     "default: the trace's own, or fp16"},
    {"bucket", "RULE", STEPS | COMMAND_TRAIN, AT(bucket), NULL,
     "gradient fusion: ddp (25 MiB), horovod (64 MiB), one, tensor, groups:K, or a size such as "
     "16MiB; default: the framework's, or ddp"},
    {"framework", "F", STEPS | COMMAND_TRAIN, AT(framework), NULL,
     "what happens between the layers: a shipped framework (see 'allreckon list frameworks'), or a "
     "CSV file of terms; default: none"},
    {"term", "KEY=VALUE", STEPS | RUN_FILES, ALL(terms), NULL,
     "change a term of the framework, such as cycle.time=1ms; may be repeated"},
    {"images-per-s-at", "B=V", STEPS | COMMAND_TRAIN, AT(images_per_s_at), NULL,
     "scale compute to the rate V that one GPU was measured to have at batch B; also a list 32=950,"
     "64=1100"},
    {"gradient-scale", "F", STEPS, AT(gradient_scale), NULL,
     "gradients F times as large, compute unchanged (what if the model were larger?); default: 1"},
    {"engine", "E", RUNS | COMMAND_TRAIN, AT(engine), "recurrence",
     "recurrence (the messages as array arithmetic), simgrid (simulates each), closed (formula), "
     "library (measured, see calibrate), nccl (NCCL's own cost model)"},
    {"engine", "E", COMMAND_COMPARE, AT(engine), "library",
     "what predicts: library (the cost table of the cluster), nccl (NCCL's own constants), or any "
     "other engine"},
    {"engine", "E", COMMAND_REPRODUCE, AT(engine), NULL,
     "what predicts all rows; default: what a row says, else recurrence"},
    {"rows", "PATTERN", COMMAND_REPRODUCE, AT(rows), NULL,
     "only rows whose names match, such as 'sony*'"},
    {"samples", "K", COMMAND_REPRODUCE, AT(samples), "100",
     "draws of what is not known, for the band of each row"},
    {"sensitivity", NULL, COMMAND_REPRODUCE, AT(sensitivity), NULL,
     "also print the prediction at each end of each range, all else as in the row"},
    {"baseline", "B", (STEPS & ~(unsigned)COMMAND_LINKS_STEP) | COMMAND_TRAIN, AT(baseline), "node",
     "what is 100 % efficiency: gpu (one GPU, no communication) or node (one node, flat ring)"},
    {"channels", "C", RUNS | COMMAND_COMPARE | COMMAND_TRAIN, AT(channels), NULL,
     "rings, or pairs of trees, the payload is split over; default: HCAs of a node"},
    {"window", "W", RUNS | COMMAND_COMPARE | COMMAND_TRAIN, AT(window), "8",
     "messages in flight per connection; 1: each must arrive before the next"},
    {"format", "F", COMMAND_ALLREDUCE | COMMAND_PREDICT | COMMAND_SWEEP | COMMAND_LINKS | LOGS,
     AT(format), "table", "of stdout: table, csv or json"},
    {"format", "F", RUN_FILES, AT(format), "table", "of stdout: table, csv or json"},
    {"format", "F", COMMAND_EXPORT | COMMAND_TIMELINE, AT(format), NULL,
     "simgrid-xml or chrome-trace"},
    {"out", "DIR", COMMAND_SWEEP, AT(out), NULL,
     "also write DIR/sweep.csv (and payload.csv), for 'allreckon plot DIR'"},
    {"out", "DIR", COMMAND_TRAIN, AT(out), NULL, "also write DIR/train.csv"},
    {"out", "NAME.topo", COMMAND_CALIBRATE, AT(out), NULL,
     "write the calibrated cluster there, of NCCL with its cost table NAME.library.csv beside it"},
    {"out", "DIR", COMMAND_COMPARE, AT(out), NULL,
     "also write DIR/compare.csv, DIR/accuracy.csv and pictures of them"},
    {"out", "DIR", COMMAND_REPRODUCE, AT(out), NULL,
     "also write DIR/reproduce.csv, sensitivity.csv, curves.csv and pictures of them"},
    {"hold-out", "COUNTS", COMMAND_CALIBRATE, AT(hold_out), NULL,
     "node counts not to fit but to judge by, or none; default: the largest. GPU counts, if rows "
     "of "
     "our own algorithms are of one node count"},
    {"folds", NULL, COMMAND_CALIBRATE, AT(folds), NULL,
     "NCCL: cross-validate: also fit without each node count in turn, and judge by it"},
    {"pair", "LINK", COMMAND_CALIBRATE, AT(pair), NULL,
     "what joins the two processes of osu_latency and osu_bw, which their logs do not say: nvlink, "
     "pcie or network"},
    {"tuning", "RELEASE", LOGS, AT(tuning), NULL,
     "NCCL whose cost model chooses, gives the priors and is the yardstick: 2.3.7, 2.5.6, 2.8.4 or "
     "2.18.3; default: library.release of the cluster, else 2.8.4"},
    {"time", "T", LOGS, AT(time), "out-of-place",
     "which of the measured times: out-of-place, in-place or mean"},
    {"out", "FILE", COMMAND_EXPORT | COMMAND_TIMELINE, AT(out), NULL,
     "write to a file instead of stdout"},
    {"ranks", "LIST", COMMAND_TIMELINE, AT(ranks), NULL,
     "ranks in a chrome-trace: 0,1,4 or 0:31:+1; default: up to eight, see above"},
    {"out", "DIR", COMMAND_PLOT, AT(out), NULL, "where the pictures go; default: beside the data"},
    {"jobs", "J", COMMAND_SWEEP, AT(jobs), NULL,
     "worker processes; default: processors; of each rank under mpirun, 1 if they share a machine"},
    {"jobs", "J", COMMAND_REPRODUCE, AT(jobs), NULL, "worker processes; default: processors"},
    {"ascii", NULL, COMMAND_PLOT, AT(ascii), NULL,
     "also print text pictures; default on a terminal"},
    {"jitter", "FRAC", STEPS | COMMAND_TRAIN, AT(jitter), NULL,
     "compute times vary by this coefficient of variation per rank and step, such as 0.05; "
     "default: the framework's, or 0"},
    {"iterations", "K", (STEPS & ~(unsigned)COMMAND_TIMELINE) | COMMAND_TRAIN, AT(iterations), NULL,
     "steps run back to back and averaged over; default: 1, with jitter 20"},
    {"seed", "S", STEPS | COMMAND_TRAIN, AT(seed), "1",
     "of the jitter; the same seed gives the same result"},
    {"seed", "S", COMMAND_REPRODUCE, AT(seed), "1",
     "of the draws; the same seed gives the same output"},
    {"straggler", "RANK:F", STEPS, ALL(stragglers), NULL,
     "a GPU that takes F times as long to compute, such as 17:1.5; repeatable"},
    {"check", NULL, COMMAND_ALLREDUCE | COMMAND_PREDICT, AT(check), NULL,
     "also run the other engine, simgrid beside recurrence or closed, and print both rows"},
    {"check", NULL, COMMAND_LINKS, AT(check), NULL,
     "also run the other engine, simgrid beside recurrence or closed, and print both fractions"},
    {"top", "K", COMMAND_LINKS, AT(top), "20", "links in the table; csv and json have all"},
    {"best", NULL, COMMAND_SWEEP, AT(best), NULL,
     "print only the fastest row of each GPU count, per cluster setting, batch, precision and "
     "gradient scale"},
    {"resume", NULL, COMMAND_SWEEP, AT(resume), NULL,
     "go on with the sweep that DIR/sweep.journal is of: rows that are there stay"},
    {"quiet", NULL, RUNS | RUN_FILES | COMMAND_PLOT | COMMAND_VERIFY | LOGS, AT(quiet), NULL,
     "no notes and no progress on stderr"},
    {"help", NULL, ~0u, AT(help), NULL, "this text"},
};

enum { ROWS_COUNT = sizeof option_rows / sizeof option_rows[0], LONG_OPTION = 1000 };

const size_t option_rows_count = ROWS_COUNT;

enum ar_status command_find(const char *name, const struct command **command, struct ar_error *err)
{
    const char *names[16];
    size_t count = 0;
    for (const struct command *row = commands; row->name != NULL; row++) {
        if (strcmp(name, row->name) == 0) {
            *command = row;
            return AR_OK;
        }
        names[count++] = row->name;
    }
    const char *nearest = ar_nearest_name(name, names, count);
    return ar_error_set(err, AR_USAGE, "unknown command \"%s\"%s%s%s see 'allreckon --help'", name,
                        nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                        nearest != NULL ? "\"?" : ";");
}

static const struct option_row *find_row(const struct command *command, const char *name)
{
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        if ((option_rows[i].commands & command->bit) != 0 &&
            strcmp(option_rows[i].name, name) == 0) {
            return &option_rows[i];
        }
    }
    return NULL;
}

/* getopt_long() does not take `text`: nobody knows it, or it has a value where none is taken. */
static enum ar_status report_option(const struct command *command, const char *text,
                                    struct ar_error *err)
{
    const char *names[ROWS_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        if ((option_rows[i].commands & command->bit) != 0) {
            names[count++] = option_rows[i].name;
        }
    }
    char name[64];
    ar_copy_text(name, sizeof name, text + strspn(text, "-"));
    name[strcspn(name, "=")] = '\0';
    if (find_row(command, name) != NULL) {
        return ar_error_set(err, AR_USAGE, "%s: found \"%.60s\"; expected --%s without a value",
                            command->name, text, name);
    }
    const char *nearest = ar_nearest_name(name, names, count);
    return ar_error_set(
        err, AR_USAGE, "%s: unknown option \"%.60s\"%s%s%s see 'allreckon %s --help'",
        command->name, text, nearest != NULL ? "; did you mean \"--" : "",
        nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : ";", command->name);
}

/* Appends a value to those of an option that may be repeated. */
static enum ar_status append(const struct option_row *row, const char *value,
                             struct option_values *values, struct ar_error *err)
{
    if (values->count == SETTINGS_MAX) {
        return ar_error_set(err, AR_USAGE, "--%s: found more than %d; expected at most %d",
                            row->name, SETTINGS_MAX, SETTINGS_MAX);
    }
    values->texts[values->count++] = value;
    return AR_OK;
}

/* Stores the value of an option; `is_again` says that it was given before. */
static enum ar_status store(const struct option_row *row, const char *value, bool is_again,
                            struct options *options, struct ar_error *err)
{
    if (row->placeholder == NULL) {
        *(bool *)((char *)options + row->offset) = true;
        return AR_OK;
    }
    if (row->repeats) {
        return append(row, value, (struct option_values *)((char *)options + row->offset), err);
    }
    const char **place = (const char **)((char *)options + row->offset);
    if (is_again) {
        return ar_error_set(err, AR_USAGE,
                            "--%s: found twice, \"%.60s\" and \"%.60s\"; expected "
                            "once",
                            row->name, *place, value);
    }
    *place = value;
    return AR_OK;
}

static void note_given(const struct option_row *row, bool is_again, struct options *options)
{
    if (!is_again) {
        assert(options->given_count < GIVEN_MAX);
        options->given[options->given_count++] = row->name;
    }
}

static enum ar_status take_arguments(const struct command *command, int argc, char **argv,
                                     struct options *options, struct ar_error *err)
{
    for (int i = optind; i < argc; i++) {
        if (options->arguments_count == command->arguments_max) {
            return ar_error_set(err, AR_USAGE,
                                "%s: unexpected argument \"%s\"; see 'allreckon %s "
                                "--help'",
                                command->name, argv[i], command->name);
        }
        options->arguments[options->arguments_count++] = argv[i];
    }
    return AR_OK;
}

/* The options that a command takes, for getopt_long(). */
struct taken {
    struct option longs[ROWS_COUNT + 1];
    const struct option_row *rows[ROWS_COUNT];
    bool is_given[ROWS_COUNT];
};

static void take_rows(const struct command *command, struct options *options, struct taken *taken)
{
    int count = 0;
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        if ((option_rows[i].commands & command->bit) == 0) {
            continue;
        }
        if (option_rows[i].standard != NULL && !option_is_of_file(command, &option_rows[i])) {
            *(const char **)((char *)options + option_rows[i].offset) = option_rows[i].standard;
        }
        taken->rows[count] = &option_rows[i];
        taken->longs[count] =
            (struct option){option_rows[i].name,
                            option_rows[i].placeholder != NULL ? required_argument : no_argument,
                            NULL, LONG_OPTION};
        count++;
    }
}

void options_complete(unsigned command, struct options *options)
{
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        const char **place = (const char **)((char *)options + option_rows[i].offset);
        if ((option_rows[i].commands & command) != 0 && option_rows[i].standard != NULL &&
            *place == NULL) {
            *place = option_rows[i].standard;
        }
    }
}

enum ar_status options_parse(const struct command *command, int argc, char **argv,
                             struct options *options, struct ar_error *err)
{
    struct taken taken = {.is_given = {false}};
    *options = (struct options){.command = command};
    take_rows(command, options, &taken);
    opterr = 0;
    optind = 1;
    for (;;) {
        int index = -1;
        int found = getopt_long(argc, argv, ":h", taken.longs, &index);
        const char *text = argv[optind > 1 ? optind - 1 : 0];
        char letter[] = {'-', (char)optopt, '\0'};
        enum ar_status status = AR_OK;
        if (found == -1) {
            return take_arguments(command, argc, argv, options, err);
        }
        if (found == LONG_OPTION) {
            status = store(taken.rows[index], optarg, taken.is_given[index], options, err);
            note_given(taken.rows[index], taken.is_given[index], options);
            taken.is_given[index] = true;
        } else if (found == 'h') {
            options->help = true;
        } else if (found == ':') {
            status = ar_error_set(err, AR_USAGE,
                                  "%s: option \"%.60s\" needs a value; see "
                                  "'allreckon %s --help'",
                                  command->name, text, command->name);
        } else { /* optopt is that of a known option, a letter, or 0 for an unknown name */
            bool is_letter = optopt != 0 && optopt != LONG_OPTION;
            status = report_option(command, is_letter ? letter : text, err);
        }
        if (status != AR_OK) {
            return status;
        }
    }
}

enum ar_status option_required(const struct options *options, const char *name, const char *value,
                               struct ar_error *err)
{
    if (value != NULL) {
        return AR_OK;
    }
    const struct option_row *row = find_row(options->command, name);
    assert(row != NULL);
    return ar_error_set(err, AR_USAGE, "%s: option --%s is missing; expected --%s %s, %s",
                        options->command->name, name, name, row->placeholder, row->help);
}

enum ar_status option_refuse_others(const struct options *options, unsigned bit, const char *use,
                                    struct ar_error *err)
{
    for (size_t i = 0; i < options->given_count; i++) {
        const struct option_row *row = find_row(options->command, options->given[i]);
        assert(row != NULL);
        if ((row->commands & bit) == 0) {
            return ar_error_set(err, AR_USAGE,
                                "%s: found --%s; expected none with %s, see 'allreckon %s --help'",
                                options->command->name, row->name, use, options->command->name);
        }
    }
    return AR_OK;
}

enum ar_status option_status(enum ar_status status, struct ar_error *err)
{
    return ar_error_as_usage(status, err);
}
