/** \file page.h
 * Private to this folder: the parts of a page, and who writes them.
 */
#pragma once

#include <stdio.h>

#include "ar_csv.h"
#include "ar_page.h"

/** The files, in the order of their tables on the page; those from STEP to PAYLOADS have rows of
 * steps and collectives: symbol, name, title of the table, columns that it must have, the set of
 * pictures that is drawn from it (-1: none), its sentences (NULL: none), what they are about. */
#define PAGE_FILE_LIST(X)                                                                          \
    X(ADVICE, "advice.csv", "Plans, what a step loses, and what changes", "kind text", -1,         \
      answer_advice, NULL)                                                                         \
    X(DIAGNOSIS, "diagnose.csv", "A measured step, and what may explain it", "kind text", -1,      \
      answer_diagnosis, "A measured step")                                                         \
    X(STEP, "step.csv", "The step", "gpus", -1, answer_rows, "Predictions")                        \
    X(SWEEP, "sweep.csv", "Predictions", "gpus", AR_PLOT_SWEEP, answer_rows, "Predictions")        \
    X(LAYOUTS, "layouts.csv", "Layouts", "gpus", AR_PLOT_LAYOUTS, answer_rows, "Predictions")      \
    X(PAYLOADS, "payload.csv", "One collective, by payload", "gpus", -1, NULL, NULL)               \
    X(TRAIN, "train.csv", "Runs and their phases", "run cluster", -1, answer_train,                \
      "Time to train")                                                                             \
    X(FAMILIES, "families.csv", "Published results by software, GPU and number of GPUs",           \
      "software", -1, NULL, NULL)                                                                  \
    X(RESULTS, "reproduce.csv", "Published results", "row", AR_PLOT_PUBLISHED, answer_results,     \
      "Published results, predicted")                                                              \
    X(EXPECTED, "answer.csv", "The answer and what it rests on", "answer basis", -1,               \
      answer_expected, "As fast as it should be?")                                                 \
    X(SUSPECTS, "suspects.csv", "What may be wrong", "suspect", -1, NULL, NULL)                    \
    X(VERDICTS, "expect.csv", "Measured and expected calls", "verdict", AR_PLOT_EXPECT, NULL,      \
      NULL)                                                                                        \
    X(ACCURACY, "accuracy.csv", "Errors, summed up", "", -1, answer_compared,                      \
      "Predicted beside measured")                                                                 \
    X(COMPARED, "compare.csv", "Measured and predicted calls", "", AR_PLOT_COMPARE, NULL, NULL)    \
    X(KINDS, "kinds.csv", "Kinds of layers", "", -1, answer_kinds,                                 \
      "Layers of a step, measured and computed")                                                   \
    X(LAYERS, "layers.csv", "Layers", "", AR_PLOT_LAYERS, NULL, NULL)                              \
    X(SETS, "sets.csv", "Measured sets", "set", AR_PLOT_ACCURACY, answer_sets,                     \
      "How wrong predictions are")                                                                 \
    X(TASKS, "pipeline.csv", "Tasks", "stage kind stream begin_s end_s", -1, answer_tasks,         \
      "A training step")                                                                           \
    X(SENT, "sent.csv", "What is sent, by operation and axis", "operation", -1, NULL, NULL)        \
    X(PARAMETERS, "parameters.csv", "Parameters and their sources", "", -1, NULL, NULL)

#define PAGE_NUMBER(symbol, ...) PAGE_##symbol,
enum page_file { PAGE_FILE_LIST(PAGE_NUMBER) PAGE_FILES };

struct page_parts;
struct rows; /* answer_rows.c */

/** Adds sentences about a file, a blank behind each, to the bullets; may set the page's title. */
typedef void page_sentences(struct page_parts *parts, const struct ar_csv *csv);

extern const struct page_source {
    const char *name, *title, *columns;
    int set; /**< enum ar_plot_set, or -1 */
    page_sentences *answer;
    const char *subject;
} page_sources[PAGE_FILES];

/** Begins a folded part with its title, ended by `</details>`. */
#define PAGE_FOLDED "<details><summary>%s</summary>"

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
    FILE *what, *why, *sure;          /**< the bullets that the page begins with, while written */
    const char *answer;               /**< these, one in a line */
    const char *command;              /**< the command line without --out; NULL: not known */
    char *notes;                      /**< of the command, one in a line; "": none */
    struct page_timeline *timeline;   /**< NULL: no file of tasks */
};

/** Writes sections; nothing if there is nothing to show. */
void page_write_tables(FILE *file, struct page_parts *parts);
void page_write_parameters(FILE *file, struct page_parts *parts);
void page_write_timeline(FILE *file, struct page_parts *parts);

/** Finds the title and the answer. */
void page_answer(struct page_parts *parts);

/** Sentences about the plans of `advise`, findings of `diagnose`, rows of steps and collectives
 * (`ar_row.h`), tasks of a step, and files of `train`, `reproduce`, `compare` and `accuracy`. */
page_sentences answer_advice, answer_diagnosis, answer_rows, answer_tasks, answer_train,
    answer_results, answer_expected, answer_compared, answer_sets, answer_kinds;

/** Whether rows of steps and collectives may differ in a column before they are run. */
bool answer_is_parameter(const char *column);

/** Writes that a row is an estimate of its engine, if it is one. */
void answer_write_trust(FILE *text, const struct ar_csv *csv, size_t row);

/** Writes published results of a work on a cluster, those on `gpus` GPUs first, each beside the
 * fastest of some rows on as many as it had (NULL: none). Nothing if there are none. */
void answer_write_runs(FILE *text, const struct page_parts *parts, const struct rows *rows,
                       const char *cluster, const char *work, double gpus, const char *operation);

/** The cell of a column, empty if the file has no such column, and the number in it, then NAN. */
#define page_string ar_csv_text
double page_number(const struct ar_csv *csv, size_t row, const char *column);
