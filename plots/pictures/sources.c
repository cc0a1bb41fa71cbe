/* The columns that pictures need, file by file. */
#include "ar_plot_table.h"

static const struct ar_plot_column steps[] = {
    {.name = "status", .content = AR_PLOT_STATUS},
    {.name = "cluster", .content = AR_PLOT_SAME},
    {.name = "trace", .content = AR_PLOT_SAME},
    {.name = "baseline", .content = AR_PLOT_SAME},
    {.name = "batch_per_gpu", .content = AR_PLOT_COUNT},
    {.name = "precision", .content = AR_PLOT_TEXT},
    {.name = "gradient_scale", .content = AR_PLOT_POSITIVE, .is_optional = true},
    {.name = "wire", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "framework", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "settings", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "jitter_frac", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "seed", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "bucket", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "channels", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "window", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "algorithm", .content = AR_PLOT_NAME},
    {.name = "engine", .content = AR_PLOT_NAME},
    {.name = "exact", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "shape", .content = AR_PLOT_SHAPE},
    {.name = "gpus", .content = AR_PLOT_COUNT},
    {.name = "payload_bytes", .content = AR_PLOT_BYTES},
    {.name = "iteration_s", .content = AR_PLOT_POSITIVE},
    {.name = "allreduce_s", .content = AR_PLOT_DURATION},
    {.name = "exposed_s", .content = AR_PLOT_DURATION},
    {.name = "forward_s", .content = AR_PLOT_DURATION},
    {.name = "backward_s", .content = AR_PLOT_DURATION},
    {.name = "optimizer_s", .content = AR_PLOT_DURATION},
    {.name = "overhead_s", .content = AR_PLOT_DURATION},
    {.name = "input_wait_s", .content = AR_PLOT_DURATION, .is_optional = true},
    {.name = "images_per_s", .content = AR_PLOT_POSITIVE},
    {.name = "efficiency_frac", .content = AR_PLOT_FRACTION},
};

static const struct ar_plot_column collectives[] = {
    {.name = "status", .content = AR_PLOT_STATUS},
    {.name = "cluster", .content = AR_PLOT_SAME},
    {.name = "precision", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "settings", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "channels", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "window", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "algorithm", .content = AR_PLOT_NAME},
    {.name = "engine", .content = AR_PLOT_NAME},
    {.name = "exact", .content = AR_PLOT_TEXT, .is_optional = true},
    {.name = "shape", .content = AR_PLOT_SHAPE},
    {.name = "gpus", .content = AR_PLOT_COUNT},
    {.name = "payload_bytes", .content = AR_PLOT_BYTES},
    {.name = "allreduce_s", .content = AR_PLOT_DURATION},
};

static const struct ar_plot_column compared[] = {
    {.name = "nodes", .content = AR_PLOT_COUNT},
    {.name = "gpus", .content = AR_PLOT_COUNT},
    {.name = "set", .content = AR_PLOT_NAME},
    {.name = "payload_bytes", .content = AR_PLOT_BYTES},
    {.name = "measured_s", .content = AR_PLOT_POSITIVE},
    {.name = "predicted_s", .content = AR_PLOT_POSITIVE},
    {.name = "low_s", .content = AR_PLOT_POSITIVE, .may_be_empty = true},
    {.name = "high_s", .content = AR_PLOT_POSITIVE, .may_be_empty = true},
    {.name = "error_frac", .content = AR_PLOT_NUMBER},
};

static const struct ar_plot_column rows[] = {
    {.name = "row", .content = AR_PLOT_TEXT},
    {.name = "title", .content = AR_PLOT_TEXT},
    {.name = "quantity", .content = AR_PLOT_NAME},
    {.name = "gpus", .content = AR_PLOT_COUNT, .may_be_empty = true},
    {.name = "algorithm", .content = AR_PLOT_TEXT},
    {.name = "measured", .content = AR_PLOT_POSITIVE, .may_be_empty = true},
    {.name = "predicted", .content = AR_PLOT_POSITIVE, .may_be_empty = true},
    {.name = "low", .content = AR_PLOT_POSITIVE, .may_be_empty = true},
    {.name = "high", .content = AR_PLOT_POSITIVE, .may_be_empty = true},
    {.name = "inside", .content = AR_PLOT_TEXT},
};

static const struct ar_plot_column curves[] = {
    {.name = "curve", .content = AR_PLOT_TEXT},
    {.name = "algorithm", .content = AR_PLOT_NAME},
    {.name = "quantity", .content = AR_PLOT_NAME},
    {.name = "gpus", .content = AR_PLOT_COUNT},
    {.name = "value", .content = AR_PLOT_POSITIVE},
    {.name = "low", .content = AR_PLOT_POSITIVE, .may_be_empty = true},
    {.name = "high", .content = AR_PLOT_POSITIVE, .may_be_empty = true},
};

static const struct ar_plot_column changes[] = {
    {.name = "row", .content = AR_PLOT_TEXT},
    {.name = "assumption", .content = AR_PLOT_TEXT},
    {.name = "value", .content = AR_PLOT_TEXT},
    {.name = "change_frac", .content = AR_PLOT_NUMBER},
};

#define COLUMNS(of) .columns = (of), .columns_count = sizeof(of) / sizeof((of)[0])

const struct ar_plot_source ar_plot_sources[AR_PLOT_FILES] = {
    [AR_PLOT_STEPS] = {.name = "sweep.csv", .set = AR_PLOT_SWEEP, COLUMNS(steps)},
    [AR_PLOT_COLLECTIVES] = {.name = "payload.csv", .set = AR_PLOT_SWEEP, COLUMNS(collectives)},
    [AR_PLOT_COMPARED] = {.name = "compare.csv", .set = AR_PLOT_COMPARE, COLUMNS(compared)},
    [AR_PLOT_ROWS] = {.name = "reproduce.csv", .set = AR_PLOT_PUBLISHED, COLUMNS(rows)},
    [AR_PLOT_CURVES] = {.name = "curves.csv", .set = AR_PLOT_PUBLISHED, COLUMNS(curves)},
    [AR_PLOT_CHANGES] = {.name = "sensitivity.csv", .set = AR_PLOT_PUBLISHED, COLUMNS(changes)},
};
