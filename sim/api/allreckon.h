/** \file allreckon.h
 * liballreckon: predictions from a program of your own.
 *
 * A prediction is asked for in the words of the command line: a key is an option without its dashes
 * (`allreckon predict --help`), a value its text, with its unit. What comes out is a row, whose
 * columns `allreckon list columns` explains; times are in seconds.
 *
 *     struct allreckon *prediction = allreckon_create();
 *     allreckon_set(prediction, "cluster", "abci-v100");
 *     allreckon_set(prediction, "gpus", "256");
 *     allreckon_set(prediction, "algorithm", "torus2d");
 *     allreckon_set(prediction, "trace", "resnet50-v1.5");
 *     if (allreckon_run(prediction) == 0) {
 *         printf("%g s\n", allreckon_number(prediction, "iteration_s"));
 *     } else {
 *         fprintf(stderr, "%s\n", allreckon_error(prediction));
 *     }
 *     allreckon_destroy(prediction);
 *
 * With `payload` it is one collective (`operation`: allreduce unless set), with `trace` or
 * `workload` a training step. Names of clusters, traces and workloads are those of the installed
 * files; a text with a slash is a path.
 *
 * Functions that return int return 0, or the exit code of the command line (sysexits.h): 64 for a
 * key or value that is wrong, 65 for a file, 66 for one that is missing, 71 without memory. Nothing
 * is printed. Predictions know nothing of each other; one is used by one thread at a time. Engine
 * `simgrid` forks a child and waits for it.
 */
#ifndef ALLRECKON_H
#define ALLRECKON_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The release that this header came with, and that of the library. */
#define ALLRECKON_VERSION "@PROJECT_VERSION@"
const char *allreckon_version(void);

struct allreckon;

/** A prediction in which nothing is set; NULL if there is no memory. */
struct allreckon *allreckon_create(void);
void allreckon_destroy(struct allreckon *prediction);

/** Sets a key, or adds to one that may be repeated (`set`, `term`, `straggler`); `value` NULL takes
 * back what was set. Texts are copied; a value is judged when the prediction runs. */
int allreckon_set(struct allreckon *prediction, const char *key, const char *value);

/** Runs what is set. It may be changed and run again; the row and the notes are those of the last
 * run. */
int allreckon_run(struct allreckon *prediction);

/** Why the last call failed: one line (where, what was found, what was expected); "" if it did
 * not. Texts that are returned stay until the next call with this prediction. */
const char *allreckon_error(const struct allreckon *prediction);

/** What a reader of the row should know, one line each: which defaults decide the result, what is
 * left out or beyond what was measured. "" before a run. */
const char *allreckon_notes(const struct allreckon *prediction);

/** A number of the row, in the unit of its name; flags are 0 and 1. NAN for one that does not
 * apply, for columns of texts or of unknown name, and without a row. */
double allreckon_number(const struct allreckon *prediction, const char *column);

/** A text of the row; "" as above. */
const char *allreckon_text(const struct allreckon *prediction, const char *column);

/** Names of keys and of columns by number, from 0 on; NULL ends them. */
const char *allreckon_key(size_t number);
const char *allreckon_column(size_t number);

#ifdef __cplusplus
}
#endif
#endif
