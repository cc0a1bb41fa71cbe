#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ar_inputs.h"
#include "ar_scenario.h"
#include "ar_text.h"
#include "ar_units.h"
#include "commands.h"
#include "variants.h"

#define AT(field)   offsetof(struct options, field)
#define OF(command) (1u << COMMAND_##command)

#define OWN(...)                                                                                   \
    {                                                                                              \
        __VA_ARGS__, .key = AR_KEYS_COUNT                                                          \
    }

/* An option that the files of a command do not depend on. */
#define SHOWN(...) OWN(__VA_ARGS__, .is_shown_only = true)

/* The options of commands that are no keys of a scenario. */
static const struct option_row own_rows[] = {
    OWN("gpus", "LIST", OF(sweep) | OF(train), AT(gpus_list), NULL,
        "GPU counts: 4:4096:x2 (doubling), 4:64:+4, or a list 8,16,96"),
    OWN("gpus", "LIST", OF(verify), AT(gpus_list), "1:17:+1,24,34,48,64",
        "rank counts, as in sweep; all shapes of each"),
    OWN("operation", "LIST", OF(sweep), AT(operation), NULL,
        "of bare collectives: alltoall, several or all ('list operations'); default: allreduce"),
    OWN("operation", "LIST", OF(verify), AT(operation), "all",
        "operations, separated by commas, or all"),
    OWN("algorithm", "A", OF(compare), AT(algorithm), NULL,
        "what is predicted; default: auto with --engine library or nccl, else ring"),
    OWN("algorithm", "A", OF(calibrate), AT(algorithm), NULL,
        "what calls were forced to (NCCL_ALGO): its messages fit the links, not a cost table"),
    OWN("algorithms", "LIST", OF(sweep) | OF(verify), AT(algorithms), "all",
        "algorithms, separated by commas; all; or those of a library, as with --runnable-by"),
    OWN("shapes", "LIST", OF(sweep), AT(shapes), "all",
        "grids of torus2d: all (every X*Y = N), square, node (X = GPUs of a node), or XxY,..."),
    OWN("payload", "SIZE", OF(collective), AT(payloads), NULL,
        "bytes: 51.1MB, 64MiB; also a list 1MB,4MB or 4KiB:1GiB:x4"),
    OWN("payload", "SIZE", OF(boxing), AT(payloads), NULL, "bytes of the whole tensor: 64MiB"),
    OWN("to-gpus", "Q", OF(boxing), AT(to_gpus), NULL,
        "the tensor goes to Q others than the GPUs of --gpus, which stand behind them"),
    OWN("payload", "LIST", OF(sweep), AT(payloads), NULL,
        "with --trace also time the all-reduce at the largest GPU count for these sizes "
        "(payload.csv); alone time collectives of these sizes at each GPU count"),
    OWN("engine", "E", OF(compare), AT(engine), NULL,
        "what predicts: library (default: a fitted cost table), nccl or any other engine"),
    OWN("engine", "E", OF(reproduce), AT(engine), NULL,
        "what predicts all rows; default: what a row says, else recurrence"),
    OWN("rows", "PATTERN", OF(reproduce), AT(rows), NULL,
        "only rows whose names match, such as 'sony*'"),
    OWN("samples", "K", OF(reproduce), AT(samples), "100",
        "draws of what is not known, for the band of each row"),
    SHOWN("format", "F",
          OF(collective) | OF(predict) | OF(sweep) | OF(links) | OF(calibrate) | OF(compare) |
              OF(expect) | OF(accuracy) | OF(train) | OF(boxing) | OF(reproduce) | OF(list) |
              OF(diagnose) | OF(advise) | OF(explain),
          AT(format), "table",
          "of stdout: table, csv or json (explain: what a step sends, by axis)"),
    SHOWN(
        "columns", "LIST",
        OF(collective) | OF(predict) | OF(sweep) | OF(compare) | OF(expect) | OF(accuracy) |
            OF(train),
        AT(columns), NULL,
        "what stdout has of each row: NAME,... (of predictions: 'allreckon list columns'; a wrong "
        "one is answered by all) or all; default: what fits the terminal, of csv and json all"),
    OWN("format", "F", OF(export), AT(format), NULL,
        "simgrid-xml, chrome-trace, goal, astra-sim or tuner"),
    SHOWN("out", "DIR", OF(sweep), AT(out), NULL,
          "also write DIR/sweep.csv (and payload.csv; of layouts layouts.csv), for 'plot'"),
    SHOWN("out", "DIR", OF(advise), AT(out), NULL,
          "also write DIR/advice.csv, and DIR/layouts.csv for 'allreckon plot' and 'report'"),
    SHOWN("out", "DIR", OF(train), AT(out), NULL,
          "also write DIR/train.csv, of a model the files of 'advise'"),
    SHOWN("out", "NAME.topo", OF(calibrate), AT(out), NULL,
          "write the calibrated cluster there, of NCCL with its cost table NAME.library.csv"),
    SHOWN("out", "DIR", OF(compare), AT(out), NULL,
          "also write DIR/compare.csv, DIR/accuracy.csv (of a trace layers.csv, kinds.csv) and "
          "pictures of them"),
    SHOWN("out", "DIR", OF(expect), AT(out), NULL,
          "also write DIR/expect.csv, a picture of it, DIR/suspects.csv and what 'compare' does"),
    SHOWN("require", "SHARE", OF(expect), AT(require), NULL,
          "exit code 1 if a row from 1 MiB on has less than this share of the expected rate: 0.9"),
    OWN("nodes", "LIST", OF(expect), AT(nodes), NULL,
        "hosts of logs that do not say how many; of several logs one count, or a list: 2,4"),
    OWN("engine", "E", OF(expect), AT(engine), NULL,
        "what is expected: library (default: the fit of the cluster, or what is known with "
        "nothing fitted) or nccl (NCCL's own constants)"),
    SHOWN("out", "DIR", OF(accuracy), AT(out), NULL, "also write DIR/sets.csv and a picture of it"),
    SHOWN("out", "DIR", OF(reproduce), AT(out), NULL,
          "also write DIR/reproduce.csv and a picture of it"),
    SHOWN("out", "DIR", OF(diagnose), AT(out), NULL, "also write DIR/diagnose.csv"),
    SHOWN("out", "T.csv", OF(trace), AT(out), NULL, "the trace that is written"),
    SHOWN("out", "NAME.topo", OF(discover), AT(out), NULL, "write to a file instead of stdout"),
    OWN("nodes", "N", OF(discover), AT(nodes), NULL, "how many such nodes there are"),
    OWN("fabric", "F", OF(discover), AT(fabric), NULL,
        "what joins them: non-blocking (one switch), rails (one for the HCAs of each number), "
        "fat-tree, torus, mesh, dragonfly or dragonfly+, whose keys --set says"),
    OWN("times", "T", OF(trace), AT(times), "recorded",
        "recorded, refused if the GPU waits for more than 10 % of each step, or kernels: their "
        "durations without the GPU's waits, for profiles that are bound by the processor"),
    OWN("batch", "B", OF(trace), AT(batch), NULL,
        "samples per GPU and step; default: as recorded, or 1"),
    OWN("precision", "P", OF(trace), AT(precision), NULL,
        "fp16, fp32, bf16, ...; default: the type of the gradients, or fp32"),
    SHOWN("out", "DIR", OF(collective) | OF(predict), AT(out), NULL,
          "also write the rows, DIR/step.csv, for 'allreckon report DIR'; of a step with --engine "
          "simgrid also traces of hosts and links, trace.json for Perfetto and trace.paje; with "
          "--operators the file P.csv of where they lie, for --placement"),
    SHOWN(
        "out", "DIR", OF(explain), AT(out), NULL,
        "of a step: also write its tasks (DIR/pipeline.csv), its row (step.csv) and what it sends "
        "(sent.csv), for 'allreckon report DIR'; of a workload a picture; not with servers"),
    SHOWN("out", "FILE", OF(export), AT(out), NULL, "write to a file instead of stdout"),
    SHOWN("out", "DIR", OF(plot), AT(out), NULL, "where the pictures go; default: beside the data"),
    SHOWN("out", "FILE.html", OF(report), AT(out), NULL,
          "where the page goes; default: DIR/report.html"),
    OWN("hold-out", "COUNTS", OF(calibrate), AT(hold_out), NULL,
        "node counts not to fit but to judge by, or none; default: the largest, of some measured "
        "sets more. GPU counts, if rows of our own algorithms are of one node count"),
    OWN("folds", NULL, OF(calibrate), AT(folds), NULL,
        "NCCL: cross-validate: also fit without each node count in turn, and judge by it"),
    SHOWN("jobs", "J", OF(sweep) | OF(reproduce) | OF(advise) | OF(train), AT(jobs), NULL,
          "worker processes; default: processors; under mpirun 1 where ranks share a machine"),
    SHOWN("where", "KEY=VALUE", OF(plot) | OF(report), AT(where), NULL,
          "only rows of this value, of a column of sweep.csv or a --set key: K=V,...; repeatable",
          .is_joined = true),
    OWN("seed", "S", OF(reproduce), AT(draws_seed), "1",
        "of the draws; the same seed gives the same output"),
    OWN("gpus", "LIST", OF(advise), AT(gpus_list), NULL,
        "GPU counts: 512, or 64:512:x2; default: all of the cluster"),
    OWN("tokens", "T", OF(advise) | OF(train), AT(tokens), NULL,
        "tokens of the whole training: 300B, 15T, 1e12 (10^9, 10^12)"),
    OWN("price", "P", OF(advise) | OF(train), AT(price), NULL,
        "money for a GPU and hour, in any currency"),
    OWN("power", "W", OF(advise) | OF(train), AT(power), NULL,
        "watts of a GPU with its part of node, network and cooling"),
    OWN("mtbf", "H", OF(advise) | OF(train), AT(mtbf), NULL,
        "hours between failures of the largest number of GPUs; of fewer ones as much longer"),
    OWN("checkpoint", "S", OF(advise) | OF(train), AT(checkpoint), NULL,
        "seconds to write a checkpoint, and to read it again"),
    OWN("tokens-per-s", "X", OF(diagnose), AT(tokens_per_s), NULL,
        "measured tokens per second of all GPUs together"),
    OWN("step-s", "S", OF(diagnose), AT(step_s), NULL, "measured seconds of a step"),
    OWN("mfu", "M", OF(diagnose), AT(mfu), NULL,
        "model flops utilization that was reported of it, 0.4 for 40 %: which peak and count it "
        "has; alone it gives the step"),
    OWN("tflops-per-gpu", "F", OF(diagnose), AT(tflops), NULL,
        "the same as --mfu, as Tflop/s of a GPU: 140, such as Megatron-LM prints"),
    SHOWN("check", NULL, OF(collective) | OF(predict), AT(check), NULL,
          "also run the other engine, simgrid beside recurrence or closed, and print both rows"),
    SHOWN("top", "K", OF(links), AT(top), "20", "links in the table; csv and json have all"),
    SHOWN(
        "best", NULL, OF(sweep), AT(best), NULL,
        "print only the fastest row of each GPU count (of collectives: and operation and payload), "
        "per cluster setting, batch, precision, gradient scale, engine, jitter and seed; with "
        "--mesh all also try schedules, sequence parallelism, overlaps and recomputation"),
    SHOWN("resume", NULL, OF(sweep), AT(resume), NULL,
          "go on with the sweep that DIR/sweep.journal is of: rows that are there stay"),
    SHOWN("force", NULL,
          ~(OF(list) | OF(collective) | OF(boxing) | OF(links) | OF(plot) | OF(verify)), AT(force),
          NULL, "overwrite --out also if another command made what is there"),
    SHOWN("quiet", NULL, ~OF(list), AT(quiet), NULL, "no notes and no progress on stderr"),
    SHOWN("help", NULL, ~0u, AT(help), NULL, "this text"),
};

key_set key_bits(unsigned uses)
{
    key_set bits = 0;
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        bits |= (ar_keys[i].uses & uses) != 0 ? KEY_BIT(i) : 0;
    }
    return bits;
}

size_t options_list(const struct command *command, struct option_row rows[OPTIONS_MAX])
{
    size_t count = 0;
    key_set keys = (key_bits(command->key_uses) | command->keys_more) & ~command->keys_less;
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        if ((keys & KEY_BIT(i)) != 0) {
            rows[count++] = (struct option_row){.name = ar_key_name((enum ar_key)i),
                                                .placeholder = ar_keys[i].placeholder,
                                                .standard = ar_keys[i].standard,
                                                .help = ar_keys[i].help,
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

const char *option_given(const struct options *options, const struct option_row *row, size_t i)
{
    const char *place = (const char *)options + row->offset;
    if (row->is_key) {
        return i < options->keys[row->key].count ? options->keys[row->key].texts[i] : NULL;
    }
    if (i > 0 || row->placeholder == NULL) {
        return i == 0 && *(const bool *)place ? "yes" : NULL;
    }
    const char *text = *(const char *const *)place;
    bool is_standard = text != NULL && row->standard != NULL && strcmp(text, row->standard) == 0;
    return is_standard ? NULL : text;
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* Option `i` of a command is FIRST_OPTION + i for getopt_long(). */
enum { FIRST_OPTION = 1000, REPEATED_MAX = 64 };

struct parser {
    struct option_row rows[OPTIONS_MAX];
    size_t count;
    bool is_given[OPTIONS_MAX];
    struct option names[OPTIONS_MAX + 1];
};

/* Options of other programs, and what means the same here: validate/data/options.csv. */
struct other_words {
    const char *options, *here;
};
static const struct ar_column other_columns[] = {
    AR_COLUMN(string, struct other_words, options, "options", "words"),
    AR_COLUMN(string, struct other_words, here, "here", "a text"),
};

/* getopt_long() refused `text`: the option is unknown, or has a value where it takes none. */
static enum ar_status refuse_option(const struct options *options, const struct parser *parser,
                                    const char *text, struct ar_error *err)
{
    const char *names[OPTIONS_MAX];
    const char *command = options->command->name;
    for (size_t i = 0; i < parser->count; i++) {
        names[i] = ar_arena_format(options->arena, "--%s", parser->rows[i].name);
        AR_REFUSE(strncmp(text, names[i], strlen(names[i])) == 0 && text[strlen(names[i])] == '=',
                  err, AR_USAGE, "%s: found \"%.60s\"; expected %s without a value", command, text,
                  names[i]);
    }
    char *word = ar_arena_format(options->arena, "%.*s", (int)strcspn(text, "="), text);
    for (char *at = word; (at = strchr(at, '_')) != NULL;) {
        *at = '-';
    }
    char path[RESOURCE_PATH];
    struct ar_csv_list *others;
    if (resource_find(RESOURCE_SETS, command, "options", path, AR_IGNORED) == AR_OK &&
        ar_csv_load_list(path, options->arena, AR_COLUMNS(other_columns), &others, AR_IGNORED) ==
            AR_OK) {
        AR_EACH(const struct other_words, other, others->rows, others->count) {
            AR_REFUSE(ar_text_has_word(other->options, word), err, AR_USAGE,
                      "%s: unknown option \"%.60s\"; expected %s", command, text, other->here);
        }
    }
    return ar_error_unknown(err, AR_USAGE, command, "option", text, names, parser->count);
}

/* Keeps the value of an option; `is_again`: it was given before. */
static enum ar_status keep_value(const struct option_row *row, const char *text, bool is_again,
                                 struct options *options, struct ar_error *err)
{
    char *place = (char *)options + row->offset;
    const char *before = row->is_key                ? option_key(options, row->key)
                         : row->placeholder != NULL ? *(const char **)place
                                                    : NULL;
    bool may_repeat = row->is_key ? ar_key_is(row->key, AR_KEY_REPEATS)
                                  : row->is_joined || row->placeholder == NULL;
    AR_REFUSE(is_again && !may_repeat, err, AR_USAGE,
              "--%s: found twice, \"%.60s\" and \"%.60s\"; expected once", row->name, before, text);
    if (row->is_key) {
        struct option_values *values = &options->keys[row->key];
        AR_REFUSE(values->count == REPEATED_MAX, err, AR_USAGE,
                  "--%s: found more than %d; expected at most %d", row->name, REPEATED_MAX,
                  REPEATED_MAX);
        *AR_ARENA_ADD(options->arena, values->texts, values->count) = text;
        return AR_OK;
    }
    if (row->placeholder == NULL) {
        *(bool *)place = true;
    } else {
        *(const char **)place =
            is_again ? ar_arena_format(options->arena, "%s,%s", before, text) : text;
    }
    return AR_OK;
}

enum ar_status options_parse(const struct command *command, struct ar_arena *arena, int argc,
                             char **argv, struct options *options, struct ar_error *err)
{
    struct parser *parser = ar_arena_alloc(arena, 1, sizeof *parser);
    *options =
        (struct options){.command = command, .arena = arena, .inputs = ar_inputs_create(arena)};
    for (int i = 1; i < argc; i++) { /* no control characters: no CSV file may hold them */
        for (const char *at = argv[i]; *at != '\0'; at++) {
            unsigned char byte = (unsigned char)*at;
            AR_REFUSE(byte == 0x7f || (byte < 0x20 && strchr("\t\r\n", byte) == NULL), err,
                      AR_USAGE,
                      "%s: found byte 0x%02x in \"%.60s\"; expected no control characters",
                      command->name, byte, argv[i]);
        }
    }
    parser->count = options_list(command, parser->rows);
    for (size_t i = 0; i < parser->count; i++) {
        const struct option_row *row = &parser->rows[i];
        parser->names[i] =
            (struct option){row->name, row->placeholder != NULL ? required_argument : no_argument,
                            NULL, FIRST_OPTION + (int)i};
        if (!row->is_key && row->standard != NULL) {
            *(const char **)((char *)options + row->offset) = row->standard;
        }
    }
    opterr = 0;
    optind = 1;
    for (int found; (found = getopt_long(argc, argv, ":h", parser->names, NULL)) != -1;) {
        const char *text = argv[optind > 1 ? optind - 1 : 0];
        if (found >= FIRST_OPTION && optarg != NULL && strncmp(optarg, "--", 2) == 0 &&
            optarg[strspn(optarg, "-abcdefghijklmnopqrstuvwxyz")] == '\0') {
            text = ar_arena_format(arena, "--%s", parser->rows[found - FIRST_OPTION].name);
            found = ':'; /* the value is the next option */
        }
        AR_REFUSE(found == ':', err, AR_USAGE,
                  "%s: option \"%.60s\" needs a value; see 'allreckon %s --help'", command->name,
                  text, command->name);
        if (found >= FIRST_OPTION) {
            size_t i = (size_t)(found - FIRST_OPTION);
            AR_TRY(keep_value(&parser->rows[i], optarg, parser->is_given[i], options, err));
            parser->is_given[i] = true;
        } else if (found == 'h') {
            options->help = true;
        } else { /* optopt is a known option, a letter, or 0 for an unknown name */
            const char letter[] = {'-', (char)optopt, '\0'};
            bool is_letter = optopt != 0 && optopt < FIRST_OPTION;
            return refuse_option(options, parser, is_letter ? letter : text, err);
        }
    }
    options->arguments = (const char *const *)argv + optind;
    options->arguments_count = (size_t)(argc - optind);
    AR_REFUSE(!options->help && options->arguments_count < command->arguments_min, err, AR_USAGE,
              "%s: found %zu arguments; expected %s, see 'allreckon %s --help'", command->name,
              options->arguments_count, command->arguments, command->name);
    AR_REFUSE(options->arguments_count > command->arguments_max, err, AR_USAGE,
              "%s: unexpected argument \"%s\"; see 'allreckon %s --help'", command->name,
              options->arguments[command->arguments_max], command->name);
    return AR_OK;
}

/* --- what commands do with options ------------------------------------------------------------ */

enum ar_status options_scenario(const struct options *options, key_set without,
                                struct ar_scenario *scenario, struct ar_error *err)
{
    *scenario = ar_scenario_begin(options->arena, options->inputs);
    if (options->command->operation != NULL) {
        scenario->operation = options->command->operation;
    }
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        const struct option_values *values = &options->keys[i];
        for (size_t j = 0; j < values->count && (without & KEY_BIT(i)) == 0; j++) {
            enum ar_status status =
                ar_scenario_set(scenario, (enum ar_key)i, NULL, values->texts[j], err);
            bool is_names = (i == AR_KEY_CLUSTER || i == AR_KEY_WORKLOAD) &&
                            strpbrk(values->texts[j], "/.") == NULL;
            const char *value = strchr(values->texts[j], '=');
            bool is_setting = i == AR_KEY_SET && value != NULL && strchr("0123456789", value[1]);
            bool is_list = key_is_list((enum ar_key)i, values->texts[j]) &&
                           (i == AR_KEY_GPUS || i == AR_KEY_ALGORITHM ||
                            keys_have(sweep_of_points.axes, (enum ar_key)i) ||
                            keys_have(sweep_of_layouts.axes, (enum ar_key)i) || is_setting) &&
                           options->command->bit != OF(sweep);
            if (status == AR_OK && is_list && (is_names || is_setting)) {
                status = ar_error_set(err, AR_USAGE, "%s: found \"%.80s\"; expected one %s",
                                      ar_keys[i].option, values->texts[j],
                                      is_setting ? "value" : "name");
            }
            if (status != AR_OK && is_list) {
                ar_append_text(err->text, sizeof err->text, "; a list is for 'allreckon sweep'");
            }
            AR_TRY(status);
        }
    }
    return AR_OK;
}

const char *option_key(const struct options *options, enum ar_key key)
{
    return options->keys[key].count > 0 ? options->keys[key].texts[0] : NULL;
}

enum ar_status option_count(const char *where, const char *text, uint64_t min, uint64_t max,
                            uint64_t *count, struct ar_error *err)
{
    return text == NULL
               ? AR_OK
               : ar_error_blame(ar_parse_count(where, text, min, max, count, err), AR_USAGE, err);
}

enum ar_status option_number(const char *where, const char *text, double min, double max,
                             double *number, struct ar_error *err)
{
    return text == NULL
               ? AR_OK
               : ar_error_blame(ar_parse_number(where, text, min, max, number, err), AR_USAGE, err);
}

enum ar_status option_required(const struct options *options, const char *name, const char *value,
                               struct ar_error *err)
{
    struct option_row rows[OPTIONS_MAX];
    size_t count = value == NULL ? options_list(options->command, rows) : 0;
    for (size_t i = 0; i < count; i++) {
        AR_REFUSE(strcmp(rows[i].name, name) == 0, err, AR_USAGE,
                  "%s: option --%s is missing; expected --%s %s, %s", options->command->name, name,
                  name, rows[i].placeholder, rows[i].help);
    }
    return AR_OK;
}

enum ar_status option_require_key(const struct options *options, enum ar_key key,
                                  struct ar_error *err)
{
    return option_required(options, ar_key_name(key), option_key(options, key), err);
}

enum ar_status option_refuse_others(const struct options *options, key_set allowed, const char *use,
                                    struct ar_error *err)
{
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        AR_REFUSE(options->keys[i].count > 0 && (allowed & KEY_BIT(i)) == 0, err, AR_USAGE,
                  "%s: found %s; expected none with %s, see 'allreckon %s --help'",
                  options->command->name, ar_keys[i].option, use, options->command->name);
    }
    return AR_OK;
}

enum ar_status option_view(const struct options *options, struct ar_columns columns,
                           struct ar_view *view, struct ar_error *err)
{
    static const char *const formats[] = {"table", "csv", "json", NULL}; /* as enum ar_format */
    enum { WIDTH_MIN = 80, WIDTH_MAX = 10000 };
    unsigned format;
    struct winsize size;
    uint64_t width;
    const char *wanted = getenv("COLUMNS");
    if (wanted == NULL ||
        ar_parse_count("COLUMNS", wanted, 1, WIDTH_MAX, &width, AR_IGNORED) != AR_OK) {
        width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    }
    AR_TRY(ar_error_blame(ar_parse_choice("--format", options->format, formats, &format, err),
                          AR_USAGE, err));
    *view = (struct ar_view){.format = (enum ar_format)format,
                             .width = width > WIDTH_MIN ? (size_t)width : WIDTH_MIN,
                             .columns = options->columns};
    return columns.count > 0 ? ar_view_check("--columns", view, columns, err) : AR_OK;
}
