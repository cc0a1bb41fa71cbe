/** \file trace_rows.h
 * What both forms of trace file share: layers with their gradient tensors, and the checks of the
 * whole; and the readers of the two forms.
 */
#ifndef AR_TRACES_TRACE_ROWS_H
#define AR_TRACES_TRACE_ROWS_H

#include <stddef.h>

#include "ar_csv.h"
#include "ar_device_cost.h"
#include "ar_trace.h"

/** Columns of both forms, which begin the list of columns of each. */
#define TRACE_COLUMNS "layer", "gradient_elements"
enum { TRACE_LAYER, TRACE_TENSORS, TRACE_COLUMNS_COUNT };

/** Makes the layers of all rows: names and tensors; times are left 0. `places` are those of the
 * columns above. */
enum ar_status trace_rows_read(const struct ar_csv *csv, const size_t *places,
                               struct ar_trace *trace, struct ar_error *err);

/** Read the two forms. What they make so far, also on failure, is the caller's: layers and tensors
 * of `trace`, which is all zeros, and the list `work` with an entry for each layer. */
enum ar_status trace_rows_read_timed(const struct ar_csv *csv, struct ar_trace *trace,
                                     struct ar_error *err);
enum ar_status trace_rows_read_work(const struct ar_csv *csv, struct ar_trace *trace,
                                    struct ar_layer_work **work, struct ar_error *err);

#endif
