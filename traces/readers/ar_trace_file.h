/** \file ar_trace_file.h
 * A trace file, read once; any number of traces are made from it without the disk.
 *
 * The file is a CSV in one of two forms, told apart by the columns of its header:
 *
 * - **timed**: `layer, forward_s, backward_s, gradient_elements`. Measured times for one per-GPU
 *   batch and one precision. Users bring these. Lines before the header state `# batch = 32` and
 *   `# precision = fp16`, and may state `# optimizer_s = 0.0009`, `# overhead_s = 0` (0 if absent)
 *   and `# source = ...`; `# work = resnet50-v1.5` and `# cost_table = v100-sxm2` name what
 * computes these layers again (ar_layer_comparison.h).
 * - **work**: `layer, kind, macs, input_elements, output_elements, width, channels_in,`
 *   `channels_out, kernel, stride, gradient_elements`. The arithmetic and the memory traffic of
 *   each layer for one sample. Times for any batch and precision come from a device cost table
 *   (ar_device_cost.h, which lists the kinds). `width` is that of the square input; the shape is 0
 *   where a kind has none. A line before the header may state `# source = ...`.
 *
 * Columns may stand in any order. `gradient_elements` lists the parameter tensors of a layer,
 * joined by `+` (`2048000+1000`); `0` or an empty field means a layer without parameters. Layer
 * names are unique, 1 to 63 bytes. Limits: 1e9 s in all, 2^50 gradient elements in all, batch 1e6.
 */
#ifndef AR_TRACE_FILE_H
#define AR_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_device_cost.h"
#include "ar_trace.h"

struct ar_trace_file {
    const char *path; /**< for error lines */
    /** What the file says: of a work table all but the batch, the precision and the times, which
     * are 0. `trace.is_timed` tells the form. */
    struct ar_trace trace;
    struct ar_layer_work *work; /**< of each layer, for one sample; NULL in a timed file */
};

/** Reads a trace file into the arena. A path that cannot be read is AR_NO_INPUT, contents that are
 * wrong AR_BAD_DATA, with file, line and column. */
enum ar_status ar_trace_file_load(const char *path, struct ar_arena *arena,
                                  struct ar_trace_file **file, struct ar_error *err);

/** What is asked of a work file; a timed one has its own. */
struct ar_trace_request {
    uint32_t batch; /**< samples per GPU */
    enum ar_precision precision;
    /** Least time of a kernel instead of the cost table's, if `has_kernel_floor`. */
    bool has_kernel_floor;
    double kernel_floor_s;
};

/** Makes the trace of a batch and a precision in the arena; the file stays as long as it is used.
 * `cost` is needed by work files only; NULL for a timed one. */
enum ar_status ar_trace_create(const struct ar_trace_file *file, const struct ar_device_cost *cost,
                               const struct ar_trace_request *request, struct ar_arena *arena,
                               struct ar_trace **trace, struct ar_error *err);

/** Writes a trace as a timed file, which ar_trace_file_load() reads back; its directives follow
 * comments the caller may have written. Times have nine significant digits. Write errors are left
 * for ferror(). */
void ar_trace_write(FILE *file, const struct ar_trace *trace);

#endif
