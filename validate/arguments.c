#include "cases.h"

#include <getopt.h>
#include <string.h>

#include "ar_record.h"
#include "ar_text.h"
#include "ar_units.h"

enum { COUNT_MAX = 1000000, HELP_COLUMN = 22 };

/* An option and its field in struct arguments; a flag takes no value. */
struct option_row {
    struct ar_column field;
    const char *placeholder;
    const char *standard; /* NULL: none */
    const char *help;
};

#define OPTION(kind, place, name, placeholder, standard, help, ...)                                \
    {                                                                                              \
        AR_COLUMN(kind, struct arguments, place, name, "", __VA_ARGS__), placeholder, standard,    \
            help                                                                                   \
    }

static const struct option_row rows[] = {
    OPTION(string, backend, "backend", "B", "host", "what runs the ranks, see below"),
    OPTION(string, operation, "operation", "LIST", "allreduce",
           "allreduce, allgather, reducescatter, broadcast, reduce, gather, scatter, alltoall, "
           "send, or all"),
    OPTION(string, algorithms, "algorithms", "LIST", "all", "algorithms of the operation, or all"),
    OPTION(count, root, "root", "R", "0", "rank that gives or gets all, where one does",
           .max = UINT32_MAX),
    OPTION(string, shapes, "shapes", "LIST", "all",
           "grids: all (every X*Y = N), square, node, or XxY,...; ring is always Nx1"),
    OPTION(string, ranks, "ranks", "LIST", NULL,
           "4,6 or 2:64:x2; default: host 4, mpi and nccl all processes or GPUs, cuda 4"),
    OPTION(string, payload, "payload", "LIST", NULL,
           "sizes 64KiB,1MiB or 4KiB:64MiB:x4 [1MiB], or 'remainders': 0, 1, N-1, N, N+1 and 10007 "
           "elements"),
    OPTION(string, channels, "channels", "LIST", "1",
           "parts of the payload with rank orders of their own"),
    OPTION(string, datatype, "datatype", "T", "fp32", "fp32 or fp16"),
    OPTION(count, config.repetitions, "repetitions", "K", "20", "timed runs of each case", .min = 1,
           .max = COUNT_MAX),
    OPTION(count, config.warmup, "warmup", "K", "3", "runs before, checked but not timed",
           .max = COUNT_MAX),
    OPTION(count, config.window, "window", "W", "8", "slots of a connection", .min = 1,
           .max = AR_WINDOW_MAX),
    OPTION(string, slot, "slot", "SIZE", "1MiB",
           "most that a slot holds; messages go in pieces (host, mpi)"),
    OPTION(count, ranks_per_node, "ranks-per-node", "G", NULL,
           "for the rank orders of channels and shape 'node'; default: what is there", .min = 1,
           .max = UINT32_MAX),
    OPTION(string, memory, "memory", "M", NULL,
           "host or device: where mpi's buffers are; device needs a CUDA-aware MPI"),
    OPTION(string, timeout, "timeout", "TIME", "30s", "give up when a rank waits that long"),
    OPTION(flag, check_only, "check-only", NULL, NULL,
           "check each case once and take no times; payload: remainders"),
    OPTION(flag, probes, "probes", NULL, NULL,
           "measure links, copies, sums and starts instead; payload: 64MiB"),
    OPTION(string, out, "out", "FILE", NULL, "write the CSV there instead of to stdout"),
    OPTION(flag, quiet, "quiet", NULL, NULL, "no notes and no progress on stderr"),
    OPTION(flag, version, "version", NULL, NULL, "print the version"),
    OPTION(flag, help, "help", NULL, NULL, "this text"),
};

enum { ROWS_COUNT = sizeof rows / sizeof rows[0], LONG_OPTION = 1000 };

static enum ar_status store_option(const struct option_row *row, const char *text,
                                   struct arguments *arguments, struct ar_error *err)
{
    const struct ar_column *field = &row->field;
    if (field->kind == AR_COLUMN_string) {
        *(const char **)((char *)arguments + field->offset) = text;
        return AR_OK;
    }
    text = row->placeholder != NULL ? text : "yes";
    AR_REFUSE(text[0] == '\0' || !ar_record_read_cell(field, text, arguments), err, AR_USAGE,
              "--%s: found \"%.60s\"; expected %s", field->name, text, AR_SHOW_EXPECTED(field));
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

/* Looks up the backend, reads values with units, and refuses options that exclude each other. */
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
    uint64_t slot_bytes = 0;
    AR_TRY(ar_parse_bytes("--slot", arguments->slot, &slot_bytes, err));
    AR_REFUSE(slot_bytes < sizeof(float) || slot_bytes > 1 << 30, err, AR_USAGE,
              "--slot: found \"%.60s\"; expected 4B to 1GiB", arguments->slot);
    arguments->config.slot_bytes = (uint32_t)slot_bytes;
    double *timeout_s = &arguments->config.timeout_s;
    AR_TRY(ar_parse_quantity("--timeout", arguments->timeout, AR_QUANTITY_TIME, timeout_s, err));
    AR_REFUSE(*timeout_s < 1e-3 || *timeout_s > 1e6, err, AR_USAGE,
              "--timeout: found \"%.60s\"; expected 1ms to 1000000s", arguments->timeout);
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
        int takes_value = rows[i].placeholder == NULL ? no_argument : required_argument;
        longs[i] = (struct option){rows[i].field.name, takes_value, NULL, LONG_OPTION};
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
                      "--%s: found twice, \"%.60s\" and \"%.60s\"; expected once",
                      rows[index].field.name, given[index], optarg);
            given[index] = optarg;
            AR_TRY(store_option(&rows[index], optarg, arguments, err));
        }
    }
    AR_REFUSE(optind < argc, err, AR_USAGE, "unexpected argument \"%.60s\"; see --help",
              argv[optind]);
    return arguments->help || arguments->version
               ? AR_OK
               : ar_error_blame(find_backend(arguments, backend, err), AR_USAGE, err);
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
        fprintf(file, "  --%s %-*s ", rows[i].field.name,
                HELP_COLUMN - 6 - (int)strlen(rows[i].field.name),
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
