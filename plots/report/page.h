/** \file page.h
 * What the parts of a page are made from.
 */
#ifndef AR_PAGE_PARTS_H
#define AR_PAGE_PARTS_H

#include <stdio.h>

#include "ar_csv.h"
#include "ar_page.h"

/** Writes the sentences of a file, each with a blank behind it, and finds what it is about. */
typedef enum ar_status page_sentences(const struct ar_csv *csv, struct ar_arena *arena, FILE *text,
                                      const char **title, struct ar_error *err);

/** The files, in the order of their tables on the page; the first ones, to payloads, are rows of
 * results: symbol, name, title of the table, its sentences (NULL: none), the pictures of its set
 * (-1: none). */
#define PAGE_FILE_LIST(X)                                                                          \
    X(STEP, "step.csv", "The step", answer_rows, -1)                                               \
    X(SWEEP, "sweep.csv", "Predictions", answer_rows, AR_PLOT_SWEEP)                               \
    X(LAYOUTS, "layouts.csv", "Layouts", answer_rows, AR_PLOT_LAYOUTS)                             \
    X(PAYLOADS, "payload.csv", "One collective, by payload", NULL, -1)                             \
    X(TRAIN, "train.csv", "Runs and their phases", answer_train, -1)                               \
    X(RESULTS, "reproduce.csv", "Published results", answer_results, AR_PLOT_PUBLISHED)            \
    X(CHANGES, "sensitivity.csv", "What the predictions depend on", NULL, -1)                      \
    X(CURVES, "curves.csv", "Predicted curves", NULL, -1)                                          \
    X(ACCURACY, "accuracy.csv", "Errors, summed up", answer_compared, -1)                          \
    X(COMPARED, "compare.csv", "Measured and predicted calls", answer_band, AR_PLOT_COMPARE)       \
    X(KINDS, "kinds.csv", "Kinds of layers", answer_kinds, -1)                                     \
    X(LAYERS, "layers.csv", "Layers", NULL, AR_PLOT_LAYERS)                                        \
    X(SETS, "sets.csv", "Measured sets", answer_sets, AR_PLOT_ACCURACY)                            \
    X(TASKS, "pipeline.csv", "Tasks", answer_tasks, -1)                                            \
    X(PARAMETERS, "parameters.csv", "Parameters and their sources", NULL, -1)

enum page_file {
#define X(symbol, ...) PAGE_##symbol,
    PAGE_FILE_LIST(X)
#undef X
        PAGE_FILES
};

extern const struct page_source {
    const char *name, *title;
    page_sentences *answer;
    int set; /**< enum ar_plot_set */
} page_sources[PAGE_FILES];

struct page_picture {
    const char *name;
    const char *svg;
    struct page_picture *next;
};

/** Why pictures are not drawn, or what gnuplot said of one that is. */
struct page_reason {
    const char *names; /**< of the pictures, separated by commas */
    const char *reason;
    struct page_reason *next;
};

struct page_parts {
    const struct ar_page_request *request;
    struct ar_arena *arena;
    struct ar_csv *files[PAGE_FILES]; /**< NULL: not there */
    struct page_picture *pictures;    /**< in order */
    const char *title;                /**< what the page is about */
    const char *answer;               /**< sentences */
    struct page_reason *reasons;
    const char *command; /**< without --out; NULL: not known */
    char *notes;         /**< of the command, a line each, until they are written; "": none */
};

/** Reads the files of the directory. */
enum ar_status page_read(struct page_parts *parts, struct ar_error *err);

/** Draws the pictures. */
enum ar_status page_draw(struct page_parts *parts, struct ar_error *err);

/** Finds the title and the answer. */
enum ar_status page_answer(struct page_parts *parts, struct ar_error *err);

/** Writes sections; nothing of what is not there. */
void page_write_tables(FILE *file, const struct page_parts *parts);
void page_write_parameters(FILE *file, const struct page_parts *parts);
enum ar_status page_write_timeline(FILE *file, const struct page_parts *parts,
                                   struct ar_error *err);

/** Of rows of `ar_row.h` (steps, or collectives alone), of the tasks of a step, and of what
 * `train`, `reproduce`, `compare`, `accuracy` and `explain` leave. */
page_sentences answer_rows, answer_tasks, answer_train, answer_results, answer_compared,
    answer_band, answer_sets, answer_kinds;

/** Whether a column of such rows is a parameter: one in which rows differ before they are run. */
bool answer_is_parameter(const char *column);

/** How many of some results are exact, and how many estimates. */
struct answer_trust {
    size_t exact, estimates;
    const char *engine; /**< of all of them; NULL: there are several, or none */
};

/** Adds a result; an unknown flag adds nothing. */
void answer_trust_add(struct answer_trust *trust, ar_cell_flag exact, const char *engine);

/** The sentence on them, of which there is at least one: whether what is sent is followed exactly.
 * \param noun what they are; \param more what follows "exactly what is sent" */
void answer_exact(FILE *text, const struct answer_trust *trust, const char *noun, const char *more);

/** Writes a part of a whole in percent between two texts; nothing of NAN. */
void answer_percent(FILE *text, const char *before, double frac, const char *after);

/** Room for all rows of a file as records of `size` bytes, in which nothing applies; NULL if there
 * is no memory. The last of the columns is AR_COLUMN_OTHERS. */
void *answer_room(const struct ar_csv *csv, struct ar_columns columns, size_t size,
                  struct ar_arena *arena);

/** Reads them; without room that is the error. */
enum ar_status answer_read(const struct ar_csv *csv, struct ar_columns columns, size_t size,
                           void *records, struct ar_error *err);

#endif
