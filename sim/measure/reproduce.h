/** \file reproduce.h
 * Published runs predicted: each from its own parameters, with a band of its unknown ones.
 *
 * The nominal prediction of a row is that of `predict` with the options of the row. The band is
 * that of `--samples` predictions, in each of which all ranges of the row are drawn independently:
 * from the 2.5th to the 97.5th percentile, and as far as the nominal prediction, if that is outside
 * because the row takes an end of what is assumed. It is wider by how far published steps like this
 * one were off in other tables (ar_step_errors.h). A measured value is inside if it or a part of
 * its error bar lies in the band. Where nothing is drawn, no published step is like it and the
 * measured value has no error bar, there is no band.
 *
 * A file is a CSV with one row per published number; validate/data/published/README.md has its
 * columns. A range is `batch=16|32`, choices, all equally likely, or
 * `set.net.latency=2.4us..9.6us`, any number between two ends, all equally likely. Its parameter is
 * a key of a scenario that published runs have as a column, `set.KEY` or `term.KEY` for what those
 * two take, or `run`.
 */
#pragma once

#include "ar_record.h"
#include "ar_scenario.h"
#include "ar_step_errors.h"

/* --- published runs ------------------------------------------------------------------------ */

enum { RANGES_MAX = 32 };

/** A parameter that is not known, and the values that it may have. */
struct published_range {
    const char *text;   /**< as written, `PARAMETER=VALUES` */
    const char *source; /**< where the ends are from; "row": assumed by the row */
    const char *parameter;
    enum ar_key key;            /**< AR_KEYS_COUNT: the run file */
    const char *setting;        /**< KEY of `set.KEY` and `term.KEY`; NULL: the key has the value */
    const char *const *choices; /**< NULL: a number from `low` to `high` */
    uint32_t choices_count;
    double low, high;
    const char *unit; /**< behind the number, may be empty */
};

enum quantity {
    QUANTITY_EFFICIENCY_FRAC,
    QUANTITY_IMAGES_PER_S, /**< samples that are images */
    QUANTITY_SAMPLES_PER_S,
    QUANTITY_ITERATION_S,
    QUANTITY_TOKENS_PER_S,
    QUANTITY_TRAIN_S,
    QUANTITY_TFLOPS_PER_GPU, /**< this and the next one as the columns of that name count them */
    QUANTITY_MFU_FRAC,
    QUANTITIES_COUNT
};

/** Their names, with units; NULL ends them. */
extern const char *const published_quantities[];

struct published {
    const char *where; /**< `path:line: row "name"`, begins error lines */
    const char *table; /**< name of the file, without .csv */
    const char *name;
    const char *title;    /**< the name, if there is none */
    const char *software; /**< the title up to its first comma; the table, if it has none */
    enum quantity quantity;
    double measured;       /**< NAN: none, a row for context only */
    double measured_error; /**< half width, 0 if none is given */
    const char *source;
    const char *how_read; /**< NULL: not in the file, also the following */
    const char *run;      /**< file of a whole run */
    const char *assume;
    const char *fitted; /**< the constant that was fitted to it, so that no family counts it */
    const char *keys[AR_KEYS_COUNT]; /**< as in the file, */
    struct ar_scenario scenario;     /**< these and the given keys: the nominal parameters */
    struct published_range *ranges;  /**< first its own; room for RANGES_MAX */
    size_t ranges_count;

    /* Results. */
    double predicted;               /**< NAN: a row for context, also those below */
    double low, high;               /**< NAN: nothing is open, there is no band */
    double error_frac;              /**< predicted / measured - 1 */
    double measured_s, predicted_s; /**< the same as times: of a step, or to train */
    const char *inside;             /**< "yes" or "no"; NULL: no band */
    const char *fits; /**< "yes" or "no": a transformer in the memory of a GPU; NULL: unknown */
    const char *gpu;  /**< the cost table of the cluster's GPU, or its cluster */
    uint64_t gpus;    /**< AR_NO_COUNT: not known */
    const char *algorithm;
    enum ar_step_class class; /**< the published steps that tell of its error */

    const char *assumptions; /**< the ranges in one line */
};

/** The errors that another tool states for the rows of a table, a line of peers.csv. */
struct published_peer {
    const char *software, *table;
    uint64_t gpus_min, gpus_max;
    const char *peer; /**< name of the tool */
    double error_frac;
    const char *statistic; /**< `mean` or `median`, of the errors of all rows that it was run on */
    const char *rows;      /**< which these are */
    const char *source;
};

/** Rows of all files, in order, and the shipped lines of peers.csv, in the arena of the request. */
struct published_rows {
    struct published *rows;
    size_t count;
    const struct published_peer *peers;
    size_t peers_count;
};

/** The rows that the command line asks for, and the parameters that it gives. */
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

/** Reads the files of a request; takes the rows that it asks for and adds the ranges of ranges.csv
 * that concern them: those with the row's cluster (`*`: any) and, if their column `given` has the
 * name of a key, for rows that have it. The range of a named cluster, or with a given key, takes
 * the place of a more general one; the row's own ranges stay. A range of a parameter that the
 * request fixes is dropped. */
enum ar_status published_read(const struct published_request *request, struct published_rows *rows,
                              struct ar_error *err);

/** Whether a shipped file, by its name, has rows of published runs: ranges and peers have none. */
bool published_has_rows(const char *name);

/** Appends the rows of a file, without the ranges of others. */
enum ar_status published_read_file(const char *path, const struct ar_scenario *given,
                                   struct published_rows *rows, struct ar_error *err);

/* --- their predictions --------------------------------------------------------------------- */

struct reproduction {
    struct ar_arena *arena; /**< of all that follows */
    bool shows_progress;    /**< ar_pool.h */
    uint32_t samples_count;
    uint32_t jobs;
    uint64_t seed;
    struct published_rows rows; /**< read before; results are filled in */
};

/** Fills in results of the rows. The first prediction that fails is the error. */
enum ar_status reproduce_run(struct reproduction *reproduction, struct ar_error *err);

/** Rows of one software, GPU and range of GPUs: how far predicted times are from measured ones. */
struct reproduce_family {
    const char *software, *gpu;
    const char *range; /**< `9-64`: GPUs of the runs */
    uint64_t rows;
    double median_frac; /**< of |predicted / measured - 1| of times, also the following */
    double mean_frac;
    double signed_frac; /**< the median with its sign: above 0 is too slow */
    double worst_frac;
    double within_frac; /**< share of rows that are off by at most 10 % */
    uint64_t misfits;   /**< rows that ran and are said not to fit */
    const char *peer;   /**< what another tool states of these rows; NULL: nothing known */
};

/** The families of rows with results, sorted by software, GPU and range, and all rows as the last
 * one, if there are several. Rows that something was fitted to are left out. */
void reproduce_families(const struct published_rows *rows, struct ar_arena *arena,
                        struct reproduce_family **families, size_t *count);

/** Their columns. */
extern const struct ar_columns reproduce_family_columns;

/** The errors of steps by rows with results: for each class by all, then without each table. */
void reproduce_errors(const struct published_rows *rows, struct ar_arena *arena,
                      struct ar_step_errors **errors, size_t *count);

/** The columns of reproduce.csv, of the rows. */
extern const struct ar_columns reproduce_columns;

/** Writes stdout's forms; write errors are left for ferror(). */
void reproduce_write(FILE *file, const struct ar_view *view,
                     const struct reproduction *reproduction);
