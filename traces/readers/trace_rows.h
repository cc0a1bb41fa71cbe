/** \file trace_rows.h
 * Private to this folder: the reader of both forms of trace file.
 */
#ifndef AR_TRACES_TRACE_ROWS_H
#define AR_TRACES_TRACE_ROWS_H

#include "ar_csv.h"
#include "ar_trace_file.h"

/** Reads layers, gradient tensors and times or work into `file`, which has a path only. */
enum ar_status trace_rows_read(const struct ar_csv *csv, struct ar_arena *arena,
                               struct ar_trace_file *file, struct ar_error *err);

#endif
