/** \file hover.h
 * Values of points in an SVG: gnuplot marks a point by the place of its row, here it gets the row.
 */
#ifndef AR_PLOT_HOVER_H
#define AR_PLOT_HOVER_H

#include "ar_error.h"
#include "script.h"

/** Rewrites the SVG of a picture in `directory`, where its data lie, too. gnuplot, told
 * `has_values`, has made hypertexts PART:ROW, since it escapes no quotes in them: each becomes a
 * group of class `value` whose title is that row, a line for each cell that is not empty, times and
 * sizes with units. */
enum ar_status ar_plot_hover_add(const struct ar_plot_drawing *drawing, const char *directory,
                                 struct ar_arena *arena, struct ar_error *err);

#endif
