/** \file ar_layer_comparison.h
 * A trace of measured times beside one of the same layers that a cost table timed, layer by layer.
 *
 * The times of a pass are of the whole batch; a layer's gradients are ready when its backward pass
 * is over, counted from the beginning of that of the network. Errors are computed / measured - 1.
 */
#pragma once

#include "ar_record.h"
#include "ar_trace.h"

/** Times of a layer, or of all layers of a kind. */
#define AR_COMPARED_LAYER_LIST(X)                                                                  \
    X(string, kind, "of the layer, as in a work table", .heading = "kind")                         \
    X(count, layers, "layers that the row is of", .heading = "layers")                             \
    X(number, forward_measured_s, "forward", .heading = "forward\nmeasured (ms)", MS)              \
    X(number, forward_predicted_s, "forward", .heading = "computed (ms)", MS)                      \
    X(number, forward_error_frac, "computed / measured - 1", .heading = "error (%)", PERCENT)      \
    X(number, backward_measured_s, "backward", .heading = "backward\nmeasured (ms)", MS)           \
    X(number, backward_predicted_s, "backward", .heading = "computed (ms)", MS)                    \
    X(number, backward_error_frac, "computed / measured - 1", .heading = "error (%)", PERCENT)     \
    X(number, ready_measured_s, "gradients", .heading = "ready\nmeasured (ms)", MS)                \
    X(number, ready_predicted_s, "gradients", .heading = "computed (ms)", MS)

struct ar_compared_layer {
    ar_cell_string layer;
    AR_COMPARED_LAYER_LIST(AR_LIST_FIELD)
};

struct ar_layer_comparison {
    struct ar_compared_layer *layers; /**< in forward order */
    size_t layers_count;
    struct ar_compared_layer *kinds; /**< sums of those there are, and of all layers */
    size_t kinds_count;
};

/** Compares `measured`, a timed trace, with `computed`, made of `file`; all that is made is the
 * arena's. AR_BAD_DATA unless both have the same layers in the same order. */
enum ar_status ar_layer_comparison_make(const struct ar_trace *measured,
                                        const struct ar_trace *computed,
                                        const struct ar_trace_file *file, struct ar_arena *arena,
                                        struct ar_layer_comparison *comparison,
                                        struct ar_error *err);

/** The columns of a layer, and of the sum of a kind. */
extern const struct ar_columns ar_compared_layer_columns, ar_compared_kind_columns;

/** Writes the layers, of the columns of the view, then the kinds; of CSV the layers alone. */
void ar_layer_comparison_write(FILE *file, const struct ar_view *view,
                               const struct ar_layer_comparison *comparison);
