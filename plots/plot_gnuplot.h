/** \file plot_gnuplot.h
 * Runs gnuplot on one script and checks what it leaves.
 */
#ifndef AR_PLOT_GNUPLOT_H
#define AR_PLOT_GNUPLOT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_error.h"

/** One script to run. */
struct ar_plot_script {
    const char *program;   /**< gnuplot; a name without slash is looked for in PATH */
    const char *directory; /**< where the script and its data lie, and where it runs */
    const char *name;      /**< base name: runs NAME.gp, leaves NAME.svg and NAME.png */
};

/** Draws NAME.svg and NAME.png and checks that both are whole: gnuplot does not report a full disk.
 * A warning of gnuplot is copied to `warning`, empty when there is none. */
enum ar_status ar_plot_gnuplot_draw(const struct ar_plot_script *script, char *warning,
                                    size_t warning_size, struct ar_error *err);

/** Draws NAME.txt instead, with gnuplot's terminal for text, `columns` wide and `rows` high. */
enum ar_status ar_plot_gnuplot_draw_text(const struct ar_plot_script *script, uint32_t columns,
                                         uint32_t rows, struct ar_error *err);

#endif
