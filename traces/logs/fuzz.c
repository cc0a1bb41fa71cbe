/* One fuzz target per reader, chosen by AR_FUZZ: under libFuzzer with ALLRECKON_FUZZ=ON, else a
 * test that replays files (fuzz_replay.c). */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "readers.h"

#define TEXT 1
#define OSU  2
#define JSON 3
#define CSV  4
#define ANY  5

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

static void check_error(enum ar_status status, const struct ar_error *err)
{
    assert(status == AR_OK || status == AR_BAD_DATA);
    assert(status == AR_OK || strchr(err->text, '\n') == NULL);
}

#if AR_FUZZ == ANY
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ar_logs *logs = NULL;
    struct ar_error err;
    enum ar_status status = ar_logs_parse("fuzz", (const char *)bytes, size, &logs, &err);
    check_error(status, &err);
    if (status == AR_OK) {
        check_runs(logs);
    }
    ar_logs_destroy(logs);
    return 0;
}
#else
static ar_reader *const reader = AR_FUZZ == JSON  ? ar_read_nccl_json
                                 : AR_FUZZ == CSV ? ar_read_csv
                                                  : ar_read_text;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* A title makes the rest a log of OSU. */
    const char *start = AR_FUZZ == OSU ? "# OSU MPI Allreduce Latency Test v7.3\n" : "";
    size_t start_bytes = strlen(start);
    char *text = malloc(start_bytes + size + 1);
    struct ar_logs *logs = calloc(1, sizeof *logs);
    struct ar_error err;
    if (text == NULL || logs == NULL || (logs->path = strdup("fuzz")) == NULL) {
        abort();
    }
    memcpy(text, start, start_bytes);
    if (size > 0) {
        memcpy(text + start_bytes, bytes, size);
    }
    enum ar_status status = reader(logs, text, start_bytes + size, &err);
    check_error(status, &err);
    if (status == AR_OK) {
        check_runs(logs);
    }
    ar_logs_destroy(logs);
    free(text);
    return 0;
}
#endif
