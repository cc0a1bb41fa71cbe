/* The split of an all-reduce into calls of the library. */
#include "explain_library.h"

#include <inttypes.h>
#include <stdio.h>

#include "ar_library_engine.h"
#include "ar_units.h"

static const char *const call_names[] = {[AR_ALL_REDUCE] = "all-reduce",
                                         [AR_REDUCE_SCATTER] = "reduce-scatter",
                                         [AR_ALL_GATHER] = "all-gather",
                                         [AR_REDUCE] = "reduce",
                                         [AR_BROADCAST] = "broadcast"};

/* A call of all buckets; run and choice are of the last one. */
struct line {
    struct ar_library_run run;
    enum ar_choice choice;
    double time_s;
};

static size_t sum_up(const struct ar_step *step, struct line lines[AR_LIBRARY_CALLS_MAX])
{
    const struct ar_trial *trial = &step->trial;
    enum ar_calls calls = ar_algorithm_calls(trial->collective.algorithm);
    size_t count = 0;
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        struct ar_library_run runs[AR_LIBRARY_CALLS_MAX];
        if (trial->jobs[i].elements == 0) {
            continue;
        }
        count = ar_library_engine_calls(&trial->collective, trial->jobs[i].elements, runs);
        for (size_t j = 0; j < count; j++) {
            struct ar_library_prediction prediction =
                step->engine->predict(trial->library, calls, &runs[j]);
            lines[j].run = runs[j];
            lines[j].choice = prediction.choice;
            lines[j].time_s += prediction.time_s;
        }
    }
    return count;
}

void explain_library(const struct ar_step *step)
{
    struct line lines[AR_LIBRARY_CALLS_MAX] = {0};
    size_t count = sum_up(step, lines);
    printf("All-reduce by calls of %s, ms, all buckets (choice, payload: of the last bucket)\n",
           step->trial.library->tuning.release->name);
    printf("  %-16s %8s %8s %8s  %-12s %12s %10s\n", "call", "ranks", "nodes", "sharing", "choice",
           "payload", "time");
    for (size_t i = 0; i < count; i++) {
        const struct ar_library_run *run = &lines[i].run;
        char payload[AR_UNIT_TEXT];
        printf("  %-16s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 "  %-12s %12s %10.3f\n",
               call_names[run->call], run->ranks, run->nodes,
               run->nodes > 1 ? ar_library_sharers(run) : 1, ar_choices[lines[i].choice].name,
               ar_format_bytes((uint64_t)run->bytes, payload), lines[i].time_s * 1e3);
    }
    printf("  engine %s is an estimate here: %s\n", step->engine->name, step->trial.note);
    puts("  sharing: such calls that leave each node together, over the same HCAs\n");
}
