/** \file test_logs.h
 * For tests: logs from fixtures and from texts.
 */
#pragma once

#include "ar_log.h"
#include "test_outcome.h"

#define FIXTURE(file) AR_TEST_SOURCE_DIR "/traces/logs/fixtures/" file

static struct ar_arena test_arena;

/* Loads a fixture, which must be read without an error. */
static inline struct ar_logs *test_load(const char *path)
{
    struct ar_logs *logs = NULL;
    TEST_OK(ar_logs_load(path, &test_arena, &logs, &why));
    return logs;
}

/* Reads a text of `bytes` bytes as the file `x.log`, which must succeed. */
static inline struct ar_logs *test_parse(const char *text, size_t bytes)
{
    struct ar_logs *logs = NULL;
    TEST_OK(ar_logs_parse("x.log", text, bytes, &test_arena, &logs, &why));
    return logs;
}

/* A row: bytes, elements, datatype and operation; of both ways the time (us), algbw and busbw
 * (GB/s) and the wrong elements, "nan" for what is not known. */
static inline const char *test_row_text(const struct ar_log_row *row)
{
    const struct ar_log_timing *out = &row->out_of_place, *in = &row->in_place;
    return ar_arena_format(&test_arena, "%lu %lu %s %s; %.9g %.9g %.9g %g; %.9g %.9g %.9g %g",
                           row->payload_bytes, row->count, row->datatype, row->redop,
                           1e6 * out->time_s, out->algbw_Bps / 1e9, out->busbw_Bps / 1e9,
                           out->wrong, 1e6 * in->time_s, in->algbw_Bps / 1e9, in->busbw_Bps / 1e9,
                           in->wrong);
}
