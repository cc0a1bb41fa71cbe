/** \file ar_plot_compare.h
 * Pictures of predictions beside measurements: SVG and PNG, drawn by gnuplot.
 *
 * ar_plot_compare() leaves two pictures in the output directory, `compare_time` (time against
 * payload, both logarithmic: a line for what is predicted, its band, marks for what is measured)
 * and `compare_error` (predicted / measured - 1 against payload), each as SVG, PNG and script. They
 * are drawn from `compare.csv`, which the caller writes and which stays beside them; its rows are
 * in order of nodes, GPUs and payload.
 */
#ifndef AR_PLOT_COMPARE_H
#define AR_PLOT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_error.h"

/** Columns of compare.csv that the pictures read, as numbers. */
struct ar_plot_compared {
    uint32_t nodes;
    uint32_t gpus;
    double payload_bytes;
    double measured_s;
    double predicted_s;
    double low_s, high_s; /**< NAN: no band */
    bool is_fitted;
};

struct ar_plot_compare_request {
    const char *output_dir;   /**< has compare.csv */
    const char *template_dir; /**< where `style.gp` and the templates lie */
    const char *cluster;      /**< named above the pictures */
    const char *engine;
    const struct ar_plot_compared *rows; /**< at least one, in order */
    size_t rows_count;
};

enum { AR_PLOT_COMPARE_PICTURES = 2 };

/** Base names of the pictures. */
extern const char *const ar_plot_compare_names[AR_PLOT_COMPARE_PICTURES];

/** Draws the pictures. Errors as ar_plot_sweep(); existing files of these names are replaced, all
 * or none. */
enum ar_status ar_plot_compare(const struct ar_plot_compare_request *request, struct ar_error *err);

#endif
