/* The fastest choice of a communication library by size, as the table of NCCL's example tuner
 * plug-in (NVIDIA/nccl, ext-tuner/example), which makes NCCL take it.
 *
 * Sizes go from 8 bytes to 64 GiB, eight to a doubling; neighbours with the same choice are one
 * line. `min_bytes` is the first size of a choice; the first line begins at 0, the last one has no
 * end. Channels, operations in flight and registered buffers are left to NCCL (-1). */
#include "exports.h"

#include <inttypes.h>
#include <math.h>

#include "ar_library_engine.h"

enum { SIZES_IN_DOUBLING = 8, DOUBLING_FIRST = 3, DOUBLING_LAST = 36 };

static double choice_time_s(const struct ar_library *library, bool is_fitted, enum ar_choice choice,
                            const struct ar_library_run *run)
{
    return is_fitted ? ar_library_time(&library->tuning, library->values, choice, run)
                     : ar_tuning_time(&library->tuning, choice, run);
}

/* The fastest of the choices that are open. */
static enum ar_choice find_fastest(const struct ar_library *library, bool is_fitted,
                                   const struct ar_library_run *run)
{
    enum ar_choice best = ar_tuning_choose(&library->tuning, AR_CALLS_ANY, run);
    double best_s = choice_time_s(library, is_fitted, best, run);
    for (int i = 0; i < AR_CHOICES_COUNT; i++) {
        double time_s = ar_tuning_is_open(&library->tuning, (enum ar_choice)i, run)
                            ? choice_time_s(library, is_fitted, (enum ar_choice)i, run)
                            : HUGE_VAL;
        best = time_s < best_s ? (enum ar_choice)i : best;
        best_s = fmin(best_s, time_s);
    }
    return best;
}

static void write_line(FILE *file, const struct ar_library_run *run, uint64_t first, uint64_t last,
                       enum ar_choice choice)
{
    fprintf(file, "%s,%" PRIu64 ",%" PRIu64 ",", ar_library_operations[run->call]->command, first,
            last);
    for (const char *next = ar_choices[choice].name; *next != '\0'; next++) { /* as NCCL does */
        fputc(*next == '/' ? ',' : *next == '-' ? '_' : *next, file);
    }
    fprintf(file, ",-1,%" PRIu32 ",%" PRIu32 ",-1,-1\n", run->nodes, run->ranks);
}

static void write_call(FILE *file, const struct ar_library *library, bool is_fitted,
                       struct ar_library_run *run)
{
    enum ar_choice choice = AR_CHOICES_COUNT;
    uint64_t first = 0;
    for (int i = DOUBLING_FIRST * SIZES_IN_DOUBLING; i <= DOUBLING_LAST * SIZES_IN_DOUBLING; i++) {
        run->bytes = ceil(exp2((double)i / SIZES_IN_DOUBLING));
        enum ar_choice next = find_fastest(library, is_fitted, run);
        if (next != choice && choice != AR_CHOICES_COUNT) {
            write_line(file, run, first, (uint64_t)run->bytes - 1, choice);
            first = (uint64_t)run->bytes;
        }
        choice = next;
    }
    write_line(file, run, first, UINT64_MAX, choice);
}

enum ar_status tuner_write(FILE *file, const struct ar_library *library, bool is_fitted,
                           const struct ar_collective *collective, const char *made_by,
                           struct ar_error *err)
{
    struct ar_library_run runs[AR_LIBRARY_CALLS_MAX];
    struct ar_collective own = *collective;
    enum ar_library_call call;
    own.operation = own.operation != NULL ? own.operation : &ar_operation_all_reduce;
    uint32_t ranks = ar_shape_ranks(&own.shape);
    bool is_call = ar_library_call_find(own.operation, &call) && call < AR_PRICED_CALLS;
    AR_REFUSE(!is_call || ranks < 2 || ar_library_engine_calls(&own, 1, runs) != 1 ||
                  (runs[0].nodes > 1 && !(library->tuning.net_bus_Bps > 0)),
              err, AR_USAGE,
              "--format tuner: found %s on %" PRIu32
              " GPUs; expected allreduce, reducescatter, allgather, broadcast or reduce on "
              "several, of nodes that library.net_bus joins",
              own.operation->command, ranks);
    fprintf(file, "# %s: %s%s\n", made_by, is_fitted ? "fitted, " : "",
            library->tuning.release->name);
    fprintf(file, "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,"
                  "nRanks,numPipeOps,regBuff\n");
    for (int i = 0; i < AR_PRICED_CALLS; i++) {
        runs[0].call = (enum ar_library_call)i;
        if (collective->operation == NULL || runs[0].call == call) {
            write_call(file, library, is_fitted, &runs[0]);
        }
    }
    return AR_OK;
}
