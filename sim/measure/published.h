/** \file published.h
 * Published runs: what was measured, the parameters of the run, what of it is not known, and what
 * is predicted.
 *
 * A file is a CSV with one row per published number; validate/data/published/README.md has its
 * columns.
 */
#ifndef AR_PUBLISHED_H
#define AR_PUBLISHED_H

#include "published_range.h"

enum quantity {
    QUANTITY_EFFICIENCY_FRAC,
    QUANTITY_IMAGES_PER_S, /**< samples that are images */
    QUANTITY_SAMPLES_PER_S,
    QUANTITY_ITERATION_S,
    QUANTITY_TOKENS_PER_S,
    QUANTITY_TRAIN_S,
    QUANTITIES_COUNT
};

struct quantity_row {
    const char *unit;
    const char *shown; /**< in the table for people, with the unit there, and its factor */
    double shown_factor;
};
extern const struct quantity_row quantities[QUANTITIES_COUNT];

enum { RANGES_MAX = 32 };

struct published {
    const char *where; /**< `path:line: row "name"`, begins error lines */
    const char *name;
    const char *title; /**< the name, if there is none */
    enum quantity quantity;
    double measured;       /**< NAN: none, a row for context only */
    double measured_error; /**< half width, 0 if none is given */
    const char *source;
    const char *how_read; /**< NULL: not said, also the following */
    const char *run;      /**< file of a whole run */
    const char *assume;
    const char *keys[AR_KEYS_COUNT]; /**< as in the file, */
    struct ar_scenario scenario;     /**< with what was given: the nominal parameters */
    struct range *ranges; /**< what is not known of it: first its own; room for RANGES_MAX */
    size_t ranges_count;

    /* Predicted, see reproduce.h. */
    double predicted;   /**< NAN: a row for context, also those below */
    double low, high;   /**< NAN: nothing is open, there is no band */
    double error_frac;  /**< predicted / measured - 1 */
    const char *inside; /**< "yes" or "no"; NULL: no band */
    uint64_t gpus;      /**< AR_NO_COUNT: not known */
    uint64_t nodes;     /**< that hold them */
    const char *algorithm;

    /* For output. */
    const char *quantity_text, *unit, *assumptions;
};

/** Rows of all files, in order, in the arena of what was given. */
struct published_rows {
    struct published *rows;
    size_t count;
};

/** What the command line asks for, and what it says is known. */
struct published_request {
    const char *const *files; /**< names or paths; none: all that are shipped */
    size_t files_count;
    const char *pattern;      /**< of names of rows; NULL: all */
    struct ar_scenario given; /**< its settings, terms and engine hold for all rows */
};

/** Whether a row is listed but not predicted: there is no model of its cluster. */
static inline bool published_is_context(const struct published *row)
{
    return row->keys[AR_KEY_CLUSTER] == NULL;
}

/** Puts the row, and the `values` that are not its own, before an error; what is wrong there is
 * data, not usage. */
enum ar_status published_report(const struct published *row, const char *values,
                                const struct ar_error *cause, struct ar_error *err);

/** Reads the files of a request; takes the rows that it asks for and adds the ranges of ranges.csv
 * that concern them: those with the row's cluster (`*`: any) and, if their column `given` has the
 * name of a key, for rows that have it. The range of a named cluster, or with a given key, takes
 * the place of a more general one; what a row says itself stays. A range of a parameter that the
 * request fixes is dropped. */
enum ar_status published_read(const struct published_request *request, struct published_rows *rows,
                              struct ar_error *err);

/** Appends the rows of a file, without the ranges of others. */
enum ar_status published_read_file(const char *path, const struct ar_scenario *given,
                                   struct published_rows *rows, struct ar_error *err);

#endif
