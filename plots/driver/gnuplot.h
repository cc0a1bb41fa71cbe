/** \file gnuplot.h
 * Runs gnuplot on scripts, several at a time, and checks what they leave.
 */
#ifndef AR_PLOT_GNUPLOT_H
#define AR_PLOT_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ar_arena.h"
#include "ar_error.h"

/** One run of a script. */
struct ar_plot_run {
    const char *name;       /**< base name: runs NAME.gp, leaves NAME.svg and NAME.png */
    uint32_t text_columns;  /**< 0; else leaves NAME.txt, too, so wide */
    bool has_values;        /**< no PNG; in the SVG points have hypertexts (hover.h) */
    const char **warning;   /**< receives a warning of gnuplot, if there is one */
    struct ar_arena *arena; /**< that it is in */
    pid_t child;            /**< inner */
};

/** Runs all of them in `directory`, where scripts and data lie, as many at a time as there are
 * processors. `program` without a slash is looked for in PATH. All are waited for; the error is
 * that of the first one that failed. Pictures are checked to be whole: gnuplot does not report a
 * full disk. */
enum ar_status ar_plot_gnuplot_run(const char *program, const char *directory,
                                   struct ar_plot_run *runs, size_t count, struct ar_error *err);

#endif
