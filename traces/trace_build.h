/** \file trace_build.h
 * What both forms of trace file share: adding layers with their gradient tensors, and the checks of
 * the whole.
 */
#ifndef AR_TRACES_TRACE_BUILD_H
#define AR_TRACES_TRACE_BUILD_H

#include "ar_csv.h"
#include "ar_device_cost.h"
#include "ar_trace.h"

/** Limits on what a file may say; sums stay far from overflow. */
#define AR_TRACE_SECONDS_MAX 1e9
enum { AR_TRACE_BATCH_MAX = 1000000 };
#define AR_TRACE_ELEMENTS_MAX (UINT64_C(1) << 50)

/** Makes room for one layer for each row of `csv` and takes the name from its path. */
enum ar_status ar_trace_begin(const struct ar_csv *csv, struct ar_trace **trace,
                              struct ar_error *err);

/** Adds the layer of a row: name and tensors; times are left 0. Call for the rows in order. */
enum ar_status ar_trace_add_layer(const struct ar_csv *csv, size_t row, size_t name_column,
                                  size_t tensors_column, struct ar_trace *trace,
                                  struct ar_error *err);

/** Checks names, sums and totals after the last layer. */
enum ar_status ar_trace_finish(const struct ar_csv *csv, size_t name_column, struct ar_trace *trace,
                               struct ar_error *err);

/** The two forms of a trace file. `cost` belongs to the caller. */
enum ar_status ar_trace_read_timed(const struct ar_csv *csv, const struct ar_trace_request *request,
                                   struct ar_trace **trace, struct ar_error *err);
enum ar_status ar_trace_read_work(const struct ar_csv *csv, const struct ar_trace_request *request,
                                  const struct ar_device_cost *cost, struct ar_trace **trace,
                                  struct ar_error *err);

/** File name without folders and without `suffix`. */
void ar_file_stem(const char *path, const char *suffix, char *stem, size_t size);

#endif
