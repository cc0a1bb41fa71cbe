/** \file page.h
 * Private to this folder: the parts of a page, and who writes them.
 */
#ifndef AR_PAGE_PARTS_H
#define AR_PAGE_PARTS_H

#include <stdio.h>

#include "ar_csv.h"
#include "ar_page.h"

struct page_parts;

/** Writes sentences about a file, each with a blank behind it, and says what the file is about. */
typedef enum ar_status page_sentences(struct page_parts *parts, const struct ar_csv *csv,
                                      FILE *text, const char **title, struct ar_error *err);

/** The files, in the order of their tables on the page; those up to PAYLOADS have rows of steps and
 * collectives: symbol, name, title of the table, its sentences (NULL: none), and the set of
 * pictures that is drawn from it (-1: none). */
#define PAGE_FILE_LIST(X)                                                                          \
    X(STEP, "step.csv", "The step", answer_rows, -1)                                               \
    X(SWEEP, "sweep.csv", "Predictions", answer_rows, AR_PLOT_SWEEP)                               \
    X(LAYOUTS, "layouts.csv", "Layouts", answer_rows, AR_PLOT_LAYOUTS)                             \
    X(PAYLOADS, "payload.csv", "One collective, by payload", NULL, -1)                             \
    X(TRAIN, "train.csv", "Runs and their phases", answer_train, -1)                               \
    X(RESULTS, "reproduce.csv", "Published results", answer_results, AR_PLOT_PUBLISHED)            \
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
    int set; /**< enum ar_plot_set, or -1 */
} page_sources[PAGE_FILES];

struct page_picture {
    const char *name, *svg;
    struct page_picture *next;
};

struct page_parts {
    const struct ar_page_request *request;
    struct ar_arena *arena;
    struct ar_csv *files[PAGE_FILES]; /**< NULL: not there */
    struct page_picture *pictures;    /**< in order */
    const char *reasons;              /**< why pictures are not drawn (ar_plot.h); NULL: all are */
    const char *title;                /**< what the page is about */
    const char *answer;               /**< sentences */
    const char *command;              /**< the command line without --out; NULL: not known */
    char *notes;                      /**< of the command, one in a line; "": none */
    struct page_timeline *timeline;   /**< NULL: no file of tasks */
};

/** Writes sections; nothing if there is nothing to show. */
void page_write_tables(FILE *file, struct page_parts *parts);
void page_write_parameters(FILE *file, struct page_parts *parts);
void page_write_timeline(FILE *file, struct page_parts *parts);

/** Finds the title and the answer. */
enum ar_status page_answer(struct page_parts *parts, struct ar_error *err);

/** Sentences about rows of steps and collectives (`ar_row.h`), the tasks of a step, and the files
 * of `train`, `reproduce`, `compare` and `accuracy`. */
page_sentences answer_rows, answer_tasks, answer_train, answer_results, answer_compared,
    answer_band, answer_sets, answer_kinds;

/** Whether rows of steps and collectives may differ in a column before they are run. */
bool answer_is_parameter(const char *column);

/** How many of some results are exact, and how many estimates. */
struct answer_trust {
    size_t exact, estimates;
    const char *engine; /**< of all of them; NULL: there are several, or none */
};

/** Adds a result; an unknown flag adds nothing. */
void answer_add_trust(struct answer_trust *trust, ar_cell_flag exact, const char *engine);

/** Writes whether what is sent is followed exactly in results, of which there is at least one.
 * \param noun what they are; \param more what follows "every message exactly" */
void answer_write_trust(FILE *text, const struct answer_trust *trust, const char *noun,
                        const char *more);

/** Writes a fraction in percent between two texts; nothing for NAN. */
void answer_write_percent(FILE *text, const char *before, double frac, const char *after);

/** Whether two texts are equal; NULL is an empty one. */
bool answer_texts_equal(const char *a, const char *b);

/** Reads all rows of a file as records of `size` bytes, in which nothing applies that the file does
 * not give. The last of the columns is AR_COLUMN_OTHERS. */
enum ar_status answer_read(const struct ar_csv *csv, struct ar_columns columns, size_t size,
                           struct ar_arena *arena, void *records, struct ar_error *err);

#endif
