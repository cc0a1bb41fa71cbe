/** \file ar_plot_quote.h
 * Text that gnuplot and browsers get. Names of clusters, titles and settings may be any bytes.
 */
#ifndef AR_PLOT_QUOTE_H
#define AR_PLOT_QUOTE_H

#include <stdio.h>

/** Writes a text of a script: in single quotes, within which gnuplot substitutes nothing and knows
 * one escape, which not all versions read alike: ' becomes ’. Control characters become blanks, and
 * bytes that are no UTF-8, which would spoil an SVG, question marks. */
void ar_plot_write_text(FILE *file, const char *text);

/** Writes a cell of a data file so. gnuplot's reader knows neither commas within a cell nor doubled
 * quotes: they become semicolons and single quotes. */
void ar_plot_write_cell(FILE *file, const char *text);

/** Writes a text of HTML or SVG, also of an attribute in quotes. Ends of lines and tabs stay. */
void ar_plot_write_html(FILE *file, const char *text);

#endif
