#include "cases.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

enum { COUNT_MAX = 1000000, HELP_COLUMN = 22 };

/* The type of an option's field in struct arguments. */
enum kind {
    FLAG,    /* bool; it takes no value */
    TEXT,    /* const char *; this and the following take a value */
    COUNT,   /* uint32_t */
    BYTES,   /* uint32_t */
    SECONDS, /* double */
};

struct option_row {
    const char *name;
    const char *placeholder;
    enum kind kind;
    size_t offset;
    const char *standard; /* NULL: none */
    const char *help;
    double min, max;      /* limits of a number */
    const char *expected; /* the limits in words, if they have units */
};

#define AT(field) offsetof(struct arguments, field)

static const struct option_row rows[] = {
    {"backend", "B", TEXT, AT(backend), "host", .help = "what runs the ranks, see below"},
    {"operation", "LIST", TEXT, AT(operation), "allreduce",
     .help = "allreduce, allgather, reducescatter, broadcast, reduce, gather, scatter, alltoall, "
             "send, or all"},
    {"algorithms", "LIST", TEXT, AT(algorithms), "all",
     .help = "algorithms of the operation, or all"},
    {"root", "R", COUNT, AT(root), "0", .help = "rank that gives or gets all, where one does",
     .max = UINT32_MAX},
    {"shapes", "LIST", TEXT, AT(shapes), "all",
     .help = "grids: all (every X*Y = N), square, node, or XxY,...; ring is always Nx1"},
    {"ranks", "LIST", TEXT, AT(ranks), NULL,
     .help = "4,6 or 2:64:x2; default: host 4, mpi and nccl all processes or GPUs, cuda 4"},
    {"payload", "LIST", TEXT, AT(payload), NULL,
     .help =
         "sizes 64KiB,1MiB or 4KiB:64MiB:x4 [1MiB], or 'remainders': 0, 1, N-1, N, N+1 and 10007 "
         "elements"},
    {"channels", "LIST", TEXT, AT(channels), "1",
     .help = "parts of the payload with rank orders of their own"},
    {"datatype", "T", TEXT, AT(datatype), "fp32", .help = "fp32 or fp16"},
    {"repetitions", "K", COUNT, AT(config.repetitions), "20", .help = "timed runs of each case",
     .min = 1, .max = COUNT_MAX},
    {"warmup", "K", COUNT, AT(config.warmup), "3", .help = "runs before, checked but not timed",
     .min = 0, .max = COUNT_MAX},
    {"window", "W", COUNT, AT(config.window), "8", .help = "slots of a connection", .min = 1,
     .max = AR_WINDOW_MAX},
    {"slot", "SIZE", BYTES, AT(config.slot_bytes), "1MiB",
     .help = "most that a slot holds; messages go in pieces (host, mpi)", .min = sizeof(float),
     .max = 1 << 30, .expected = "4B to 1GiB"},
    {"ranks-per-node", "G", COUNT, AT(ranks_per_node), NULL,
     .help = "for the rank orders of channels and shape 'node'; default: what is there", .min = 1,
     .max = UINT32_MAX},
    {"memory", "M", TEXT, AT(memory), NULL,
     .help = "host or device: where mpi's buffers are; device needs a CUDA-aware MPI"},
    {"timeout", "TIME", SECONDS, AT(config.timeout_s), "30s",
     .help = "give up when a rank waits that long", .min = 1e-3, .max = 1e6,
     .expected = "1ms to 1000000s"},
    {"check-only", NULL, FLAG, AT(check_only), NULL,
     .help = "check each case once and take no times; payload: remainders"},
    {"probes", NULL, FLAG, AT(probes), NULL,
     .help = "measure links, copies, sums and starts instead; payload: 64MiB"},
    {"out", "FILE", TEXT, AT(out), NULL, .help = "write the CSV there instead of to stdout"},
    {"quiet", NULL, FLAG, AT(quiet), NULL, .help = "no notes and no progress on stderr"},
    {"version", NULL, FLAG, AT(version), NULL, .help = "print the version"},
    {"help", NULL, FLAG, AT(help), NULL, .help = "this text"},
};

enum { ROWS_COUNT = sizeof rows / sizeof rows[0], LONG_OPTION = 1000 };

/* A number with a unit. */
static enum ar_status parse_with_unit(const struct option_row *row, const char *where,
                                      const char *text, double *number, struct ar_error *err)
{
    uint64_t bytes = 0;
    AR_TRY(row->kind == BYTES ? ar_parse_bytes(where, text, &bytes, err)
                              : ar_parse_seconds(where, text, number, err));
    *number = row->kind == BYTES ? (double)bytes : *number;
    AR_REFUSE(*number < row->min || *number > row->max, err, AR_USAGE,
              "%s: found \"%.60s\"; expected %s", where, text, row->expected);
    return AR_OK;
}

static enum ar_status store_option(const struct option_row *row, const char *text,
                                   struct arguments *arguments, struct ar_error *err)
{
    void *field = (char *)arguments + row->offset;
    char where[32];
    uint64_t count = 0;
    double number = 0;
    snprintf(where, sizeof where, "--%s", row->name);
    switch (row->kind) {
    case FLAG:
        *(bool *)field = true;
        break;
    case TEXT:
        *(const char **)field = text;
        break;
    case COUNT:
        AR_TRY(ar_parse_count(where, text, (uint64_t)row->min, (uint64_t)row->max, &count, err));
        *(uint32_t *)field = (uint32_t)count;
        break;
    case BYTES:
        AR_TRY(parse_with_unit(row, where, text, &number, err));
        *(uint32_t *)field = (uint32_t)number;
        break;
    case SECONDS:
        AR_TRY(parse_with_unit(row, where, text, field, err));
        break;
    }
    return AR_OK;
}

/* Backends that this program was built with. */
static const struct backend *const backends[] = {
    &backend_host,
#ifdef VALIDATE_HAS_MPI
    &backend_mpi,
#endif
#ifdef VALIDATE_HAS_CUDA
    &backend_cuda,
#endif
#ifdef VALIDATE_HAS_NCCL
    &backend_nccl,
#endif
};

enum { BACKENDS = sizeof backends / sizeof backends[0] };

/* Looks up the backend, and refuses options that exclude each other. */
static enum ar_status find_backend(struct arguments *arguments, const struct backend **backend,
                                   struct ar_error *err)
{
    const char *names[BACKENDS];
    const struct backend *found = NULL;
    for (size_t i = 0; i < BACKENDS; i++) {
        names[i] = backends[i]->name;
        found = strcmp(arguments->backend, names[i]) == 0 ? backends[i] : found;
    }
    AR_REFUSE_BY(found == NULL,
                 ar_error_unknown(err, AR_USAGE, "--backend", "backend of this build",
                                  arguments->backend, names, BACKENDS));
    const struct memory *const *memory = found->memories, *const *end = memory + BACKEND_MEMORIES;
    while (memory < end && *memory != NULL && arguments->memory != NULL &&
           strcmp(arguments->memory, (*memory)->name) != 0) {
        memory++;
    }
    AR_REFUSE(memory == end || *memory == NULL, err, AR_USAGE,
              "--memory: found \"%.60s\"; expected what backend %s has in this build, such as %s",
              arguments->memory, found->name, found->memories[0]->name);
    *backend = found;
    arguments->config.memory = *memory;
    AR_REFUSE(arguments->check_only && arguments->probes, err, AR_USAGE,
              "found --check-only and --probes; expected one");
    return AR_OK;
}

enum ar_status arguments_parse(int argc, char **argv, struct arguments *arguments,
                               const struct backend **backend, struct ar_error *err)
{
    struct option longs[ROWS_COUNT + 1] = {{NULL, 0, NULL, 0}};
    const char *given[ROWS_COUNT] = {NULL};
    *arguments = (struct arguments){.backend = NULL};
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        int takes_value = rows[i].kind == FLAG ? no_argument : required_argument;
        longs[i] = (struct option){rows[i].name, takes_value, NULL, LONG_OPTION};
        AR_TRY(rows[i].standard == NULL ? AR_OK
                                        : store_option(&rows[i], rows[i].standard, arguments, err));
    }
    opterr = 0;
    int index = -1;
    for (int found; (found = getopt_long(argc, argv, "h", longs, &index)) != -1;) {
        if (found == 'h') {
            arguments->help = true;
        } else {
            AR_REFUSE(found != LONG_OPTION, err, AR_USAGE,
                      "found \"%.60s\"; expected an option of --help, with a value where one "
                      "stands there",
                      argv[optind > 1 ? optind - 1 : 1]);
            AR_REFUSE(given[index] != NULL, err, AR_USAGE,
                      "--%s: found twice, \"%.60s\" and \"%.60s\"; expected once", rows[index].name,
                      given[index], optarg);
            given[index] = optarg;
            AR_TRY(
                ar_error_blame(store_option(&rows[index], optarg, arguments, err), AR_USAGE, err));
        }
    }
    AR_REFUSE(optind < argc, err, AR_USAGE, "unexpected argument \"%.60s\"; see --help",
              argv[optind]);
    return arguments->help || arguments->version ? AR_OK : find_backend(arguments, backend, err);
}

void usage_write(FILE *file)
{
    fputs("usage: allreckon-validate [options]\n\n"
          "Runs collectives for real, checks every element of every result and measures the\n"
          "time. Prints CSV; lines that begin with # say on what.\n\n"
          "  allreckon-validate --ranks 4,6 --payload 64KiB:16MiB:x4 --out t.csv\n"
          "  allreckon-validate --operation alltoall --algorithm pairwise --ranks 4\n"
          "  allreckon-validate --operation all --check-only --ranks 1:17:+1 --channels 1,2\n"
          "  mpirun -n 8 allreckon-validate --backend mpi --payload 4KiB:64MiB:x4\n"
          "  allreckon-validate --probes --ranks 2\n\noptions:\n",
          file);
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        char text[200];
        fprintf(file, "  --%s %-*s ", rows[i].name, HELP_COLUMN - 6 - (int)strlen(rows[i].name),
                rows[i].placeholder != NULL ? rows[i].placeholder : "");
        snprintf(text, sizeof text, rows[i].standard != NULL ? "%s [%s]" : "%s", rows[i].help,
                 rows[i].standard);
        ar_write_words(file, text, strlen(text), HELP_COLUMN, HELP_COLUMN, "");
    }
    fputs("\nbackends of this build:\n", file);
    for (size_t i = 0; i < BACKENDS; i++) {
        fprintf(file, "  %-6s %s\n", backends[i]->name, backends[i]->summary);
    }
    fputs("\nA payload counts bytes as nccl-tests do: the larger one of what a rank gives\n"
          "and gets. The time of a repetition is that of its slowest rank, from a barrier\n"
          "on. Sizes carry units (64KiB, 51.2MB, 8B), times too (30s, 500ms). Exit codes\n"
          "follow sysexits: 0, 64 usage, 69 what the backend needs is not there, 70 wrong\n"
          "elements or a rank that waits in vain, 71 no memory or processes, 74 I/O.\n",
          file);
}
