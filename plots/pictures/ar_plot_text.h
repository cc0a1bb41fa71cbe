/** \file ar_plot_text.h
 * Texts and values as gnuplot and browsers get them. Any bytes may be in names and settings.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/** Writes a text of a script in single quotes, within which gnuplot substitutes nothing. It knows
 * one escape there, which not all versions read alike, so ' becomes ’. Control characters become
 * blanks, and bytes that are no UTF-8, which would spoil an SVG, become question marks. */
void ar_plot_write_text(FILE *file, const char *text);

/** Writes a cell of a data file, with the same replacements. gnuplot's reader knows neither commas
 * within a cell nor doubled quotes: they become semicolons and single quotes. */
void ar_plot_write_cell(FILE *file, const char *text);

/** Writes a text of HTML or SVG, also of an attribute in quotes. Ends of lines and tabs stay. */
void ar_plot_write_html(FILE *file, const char *text);

/** The same between two texts that are written as they are: `<li>`, `</li>`. */
void ar_plot_write_between(FILE *file, const char *before, const char *text, const char *after);

/** How the cells of a column are shown. Names of columns end with their SI unit (`busy_s`,
 * `payload_bytes`, `busbw_Bps`, `error_frac`). */
struct ar_plot_unit {
    size_t name_size; /**< bytes of the column's name before the ending that the unit stands for */
    const char *name; /**< `ms`; empty: values are shown as they are */
    double factor;    /**< from the SI unit to that one */
};

/** The unit of a column in which its largest magnitude, `max`, is at least 1, if there is one. */
struct ar_plot_unit ar_plot_unit_of(const char *column, double max);

/** Writes the name of a column without its unit, with blanks in place of underscores. */
void ar_plot_write_name(FILE *file, const char *column, struct ar_plot_unit unit);

/** Writes a cell in a unit: numbers as ar_format_number() does, texts escaped for HTML. */
void ar_plot_write_value(FILE *file, const char *cell, struct ar_plot_unit unit);

/** The same followed by the name of the unit. */
void ar_plot_write_measure(FILE *file, const char *cell, struct ar_plot_unit unit);

/** The number that a cell holds, NAN if it holds none. */
double ar_plot_number_of(const char *cell);
