/* A fuzz target of all readers: under libFuzzer with ALLRECKON_FUZZ=ON, else a test that replays
 * files (fuzz_replay.c). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "ar_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What holds for everything that was read. */
static void check_runs(const struct ar_logs *logs)
{
    for (size_t i = 0; i < logs->runs_count; i++) {
        const struct ar_log *run = &logs->runs[i];
        struct ar_error err;
        assert(run->first_line <= run->last_line);
        ar_log_check(run, AR_LOG_ALL_REDUCE, 2, &err);
        for (size_t k = 0; k < run->rows_count; k++) {
            double out_s = run->rows[k].out_of_place.time_s, in_s = run->rows[k].in_place.time_s;
            assert(isnan(out_s) || out_s > 0);
            assert(isnan(in_s) || in_s > 0);
            assert(!isnan(out_s) || !isnan(in_s));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_logs *logs = NULL;
    struct ar_error err;
    enum ar_status status = ar_logs_parse("fuzz", (const char *)bytes, size, &arena, &logs, &err);
    assert(status == AR_OK || status == AR_BAD_DATA);
    assert(status == AR_OK || strchr(err.text, '\n') == NULL);
    if (status == AR_OK) {
        check_runs(logs);
    }
    return 0;
}
