/** \file test_fixture.h
 * A sweep in a directory of its own, for each test of the pictures.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "ar_plot.h"

#define TEMPLATES AR_TEST_SOURCE_DIR "/plots/templates"

/** The header line of a sweep. */
extern const char header[];

extern char directory[64];
extern char text[1 << 20];
extern struct ar_arena arena; /**< ends with the directory */

/** A path in the directory; one of four buffers in turn. */
const char *in_directory(const char *name);

/** Makes a directory with spaces and quotes in its name for a test. */
void make_directory(void);

void remove_directory(void);

void write_file(const char *name, const char *content);

/** Reads a file of the directory into `text`; returns its size. */
size_t read_file(const char *name);

/** Reads a file of the directory into `text`; expects a fragment in it, or only `content`. */
void expect_in(const char *name, const char *fragment);
void expect_content(const char *name, const char *content);

/** How many entries the directory has beside the inputs. */
unsigned count_outputs(void);

void add_row(FILE *file, unsigned gpus, const char *algorithm, const char *shape,
             const char *engine, double iteration_s, double allreduce_s, const char *status);

/** Begins sweep.csv with more columns, each with a comma behind it, and the header. */
FILE *open_sweep(const char *columns);

/** Two GPU counts, three algorithms, two engines, one failed row. */
void write_sweep(void);

/** Six payloads of a ring, the first of them 0 bytes. */
void write_payloads(void);

struct ar_plot_request a_request(void);

/** How many pictures of a report are drawn; each leaves four files. */
unsigned count_drawn(const struct ar_plot_report *report);

/** Expects the first pictures of a report to be drawn, as whole files. */
void expect_whole(const struct ar_plot_report *report, size_t count);

/** Skips the test when there is no gnuplot. */
void need_gnuplot(void);

/** Draws pictures, which must succeed: those of a request, of the directory, of chosen rows of it,
 * and of write_sweep(). They need gnuplot. */
struct ar_plot_report draw_request(const struct ar_plot_request *request);
struct ar_plot_report draw(void);
struct ar_plot_report draw_where(const char *where);
struct ar_plot_report draw_sweep(void);

/** Expects a request to be refused with a status and one line that says `expected`. */
void expect_refused(const struct ar_plot_request *request, enum ar_status status,
                    const char *expected);
