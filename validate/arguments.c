#include "arguments.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "ar_text.h"
#include "backends.h"

/* One option; `offset` leads to its `const char *` in struct arguments, or to its bool if it has no
 * placeholder. */
struct option_row {
    const char *name;
    const char *placeholder;
    size_t offset;
    const char *standard; /* NULL: none */
    const char *help;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option_row rows[] = {
    {"backend", "B", AT(backend), "host", "what runs the ranks, see below"},
    {"algorithms", "LIST", AT(algorithms), "all", "all-reduce algorithms, or all"},
    {"shapes", "LIST", AT(shapes), "all",
     "grids: all (every X*Y = N), square, node, or XxY,...; ring is always Nx1"},
    {"ranks", "LIST", AT(ranks), NULL,
     "4,6 or 2:64:x2; default: host 4, mpi and nccl all processes or GPUs, cuda 4"},
    {"payload", "LIST", AT(payload), NULL,
     "sizes 64KiB,1MiB or 4KiB:64MiB:x4 [1MiB], or 'remainders': 0, 1, N-1, N, N+1 and 10007 "
     "elements"},
    {"channels", "LIST", AT(channels), "1", "parts of the payload with rank orders of their own"},
    {"datatype", "T", AT(datatype), "fp32", "fp32 or fp16"},
    {"repetitions", "K", AT(repetitions), "20", "timed runs of each case"},
    {"warmup", "K", AT(warmup), "3", "runs before, checked but not timed"},
    {"window", "W", AT(window), "8", "slots of a connection"},
    {"slot", "SIZE", AT(slot), "256KiB",
     "most that a slot holds; messages go in pieces (host, mpi)"},
    {"ranks-per-node", "G", AT(ranks_per_node), NULL,
     "for the rank orders of channels and shape 'node'; default: what is there"},
    {"memory", "M", AT(memory), NULL,
     "host or device: where mpi's buffers are; device needs a CUDA-aware MPI"},
    {"graph", NULL, AT(graph), NULL, "cuda: replay a captured CUDA graph"},
    {"timeout", "TIME", AT(timeout), "30s", "give up when a rank waits that long"},
    {"check-only", NULL, AT(check_only), NULL,
     "check each case once and take no times; payload: remainders"},
    {"probes", NULL, AT(probes), NULL,
     "measure links, copies, sums and starts instead; payload: 64MiB"},
    {"out", "FILE", AT(out), NULL, "write the CSV there instead of to stdout"},
    {"quiet", NULL, AT(quiet), NULL, "no notes and no progress on stderr"},
    {"version", NULL, AT(version), NULL, "print the version"},
    {"help", NULL, AT(help), NULL, "this text"},
};

enum { ROWS_COUNT = sizeof rows / sizeof rows[0], LONG_OPTION = 1000 };

/* getopt_long() does not take `text`: nobody knows it, or it has a value where none is taken. */
static enum ar_status report_option(const char *text, struct ar_error *err)
{
    const char *names[ROWS_COUNT];
    char name[64];
    ar_copy_text(name, sizeof name, text + strspn(text, "-"));
    name[strcspn(name, "=")] = '\0';
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        names[i] = rows[i].name;
        if (strcmp(name, names[i]) == 0) {
            return ar_error_set(err, AR_USAGE, "found \"%.60s\"; expected --%s without a value",
                                text, name);
        }
    }
    const char *nearest = ar_nearest_name(name, names, ROWS_COUNT);
    return ar_error_set(err, AR_USAGE, "unknown option \"%.60s\"%s%s%s see --help", text,
                        nearest != NULL ? "; did you mean \"--" : "",
                        nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : ";");
}

static enum ar_status store(const struct option_row *row, const char *value, bool is_again,
                            struct arguments *arguments, struct ar_error *err)
{
    if (row->placeholder == NULL) {
        *(bool *)((char *)arguments + row->offset) = true;
        return AR_OK;
    }
    const char **place = (const char **)((char *)arguments + row->offset);
    if (is_again) {
        return ar_error_set(err, AR_USAGE,
                            "--%s: found twice, \"%.60s\" and \"%.60s\"; expected once", row->name,
                            *place, value);
    }
    *place = value;
    return AR_OK;
}

static void take_rows(struct arguments *arguments, struct option longs[ROWS_COUNT + 1])
{
    *arguments = (struct arguments){.backend = NULL};
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        if (rows[i].standard != NULL) {
            *(const char **)((char *)arguments + rows[i].offset) = rows[i].standard;
        }
        longs[i] = (struct option){rows[i].name,
                                   rows[i].placeholder != NULL ? required_argument : no_argument,
                                   NULL, LONG_OPTION};
    }
    longs[ROWS_COUNT] = (struct option){NULL, 0, NULL, 0};
}

enum ar_status arguments_parse(int argc, char **argv, struct arguments *arguments,
                               struct ar_error *err)
{
    struct option longs[ROWS_COUNT + 1];
    bool is_given[ROWS_COUNT] = {false};
    enum ar_status status = AR_OK;
    take_rows(arguments, longs);
    opterr = 0;
    while (status == AR_OK) {
        int index = -1;
        int found = getopt_long(argc, argv, ":h", longs, &index);
        const char *text = argv[optind > 1 ? optind - 1 : 0];
        char letter[] = {'-', (char)optopt, '\0'};
        if (found == -1) {
            break;
        }
        if (found == LONG_OPTION) {
            status = store(&rows[index], optarg, is_given[index], arguments, err);
            is_given[index] = true;
        } else if (found == 'h') {
            arguments->help = true;
        } else if (found == ':') {
            status =
                ar_error_set(err, AR_USAGE, "option \"%.60s\" needs a value; see --help", text);
        } else { /* optopt is that of a known option, a letter, or 0 for an unknown name */
            bool is_letter = optopt != 0 && optopt != LONG_OPTION;
            status = report_option(is_letter ? letter : text, err);
        }
    }
    if (status == AR_OK && optind < argc) {
        return ar_error_set(err, AR_USAGE, "unexpected argument \"%.60s\"; see --help",
                            argv[optind]);
    }
    return status;
}

void help_write(FILE *file)
{
    fputs("usage: allreckon-validate [options]\n\n"
          "Runs all-reduce algorithms for real, checks every element of every result and measures\n"
          "the time. Prints CSV; lines that begin with # say on what it was measured.\n\n"
          "  allreckon-validate --ranks 4,6 --algorithms torus2d --payload 64KiB:16MiB:x4 --out "
          "t.csv\n"
          "  allreckon-validate --check-only --ranks 1:17:+1 --channels 1,2\n"
          "  mpirun -n 8 allreckon-validate --backend mpi --payload 4KiB:64MiB:x4 --out mpi.csv\n"
          "  allreckon-validate --probes --ranks 2\n\noptions:\n",
          file);
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        char left[40];
        snprintf(left, sizeof left, "--%s%s%s", rows[i].name,
                 rows[i].placeholder != NULL ? " " : "",
                 rows[i].placeholder != NULL ? rows[i].placeholder : "");
        fprintf(file, "  %-19s %s", left, rows[i].help);
        if (rows[i].standard != NULL) {
            fprintf(file, " [%s]", rows[i].standard);
        }
        fputc('\n', file);
    }
    fputs("\nbackends of this build:\n", file);
    for (size_t i = 0; i < backends_count; i++) {
        fprintf(file, "  %-6s %s\n", backends[i]->name, backends[i]->summary);
    }
    fputs(
        "\nThe time of a repetition is that of its slowest rank, from a barrier on. Sizes carry "
        "units\n"
        "(64KiB, 51.2MB, 8B), times too (30s, 500ms). Exit codes follow sysexits: 0, 64 usage, 69\n"
        "what the backend needs is not there, 70 wrong elements or a rank that waits in vain,\n"
        "71 no memory or processes, 74 I/O.\n",
        file);
}
