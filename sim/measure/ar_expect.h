/** \file ar_expect.h
 * Is a machine as fast as it should be? Measured calls beside what is expected of it, and what is
 * most likely wrong where they differ.
 *
 * Expected times are those of ar_comparison_run(). For a machine that nothing is fitted to they
 * have the factors and the bands that other machines tell (ar_machine_factors_read()), if the
 * caller asks for them. Suspects (suspects.h) are predictions of the same rows by the same pass;
 * they are ranked by the likelihood of all logarithms of measured over predicted. A residual has
 * scatter of its own, an error of the model that rows of like sizes share (a Gaussian process: its
 * correlation falls with the logarithm of sizes, and is less between operations and node counts),
 * both together as wide as the band of the row, and an error of the change that the suspect makes,
 * larger where no row of the fit near it made the choice that the suspect leads to. The likelihood
 * is that of measured rows together with those that the cost table was fitted to, which no suspect
 * changes: they tell the model's errors. Half of the prior is that nothing is wrong; suspects, and
 * the values of each, share the rest. One that messages of NCCL in the logs rule out is left out;
 * one that they name and that explains a fifth or more comes first, at least as likely as the
 * likeliest other one.
 */
#pragma once

#include "ar_comparison.h"

/* Scatter of machines that nothing was fitted to, as a standard deviation: medians of errors,
 * 17.4 % from 1 MiB on and 24.6 % from 1 KiB on (accuracy, column of nothing fitted, 39 sets), over
 * 0.6745. A row without a narrower band has it. */
#define AR_EXPECT_SPREAD_LARGE 0.258
#define AR_EXPECT_SPREAD_SMALL 0.365
#define AR_EXPECT_LARGE_BYTES  1048576
/* The same of messages that no library prices: 40 %, the median error of all-to-alls. */
#define AR_EXPECT_SPREAD_MESSAGES 0.6

enum ar_verdict {
    AR_AS_EXPECTED,
    AR_SLOW,
    AR_FAST /**< the units of the log may be others than were assumed */
};

/** A row, as it is written. */
struct ar_expected {
    struct ar_compared compared; /**< its choice and its band are those that are expected */
    ar_cell_number ratio_frac;   /**< measured rate over expected one */
    enum ar_verdict verdict;
    ar_cell_number suspect_s; /**< time that the first suspect has */
    ar_cell_string suspect;   /**< its name; empty: suspects are not ranked */
};

/** A suspect, as it is written. */
struct ar_suspicion {
    ar_cell_string name, sentence;
    ar_cell_number factor;         /**< by which it changes its number; NAN: it has none */
    ar_cell_number likely_frac;    /**< probability among the suspects */
    ar_cell_number explained_frac; /**< share of the squared residuals that it explains */
    ar_cell_flag is_equal;         /**< in the likeliest 95 %, or of the first one's times */
    ar_cell_string look, source;
    ar_cell_string log; /**< the message of a log that says so, with its line; empty: none does */
    bool is_named;      /**< it does, and explains a fifth or more */
    double score;
    const struct ar_library_prediction *predictions; /**< of all rows. [measured row] */
};

struct ar_expectation {
    struct ar_comparison comparison;
    struct ar_expected *rows;
    size_t rows_count;
    struct ar_suspicion *suspicions; /**< the likeliest first; those that change something here */
    size_t suspicions_count;
    ar_cell_string answer; /**< one sentence, or some */
    ar_cell_string alike;  /**< names that the rows do not tell from the first suspect */
    ar_cell_string unseen; /**< names that change no row by more than its scatter */
    ar_cell_string log;    /**< suspects that logs name or rule out, with their lines */
    ar_cell_string basis;  /**< what expected times come from, and how little they rest on */
};

/** Asks all this of measured rows. The scenario of the request is as for ar_comparison_run(). */
enum ar_status ar_expect_run(const struct ar_measured *measured, struct ar_arena *arena,
                             struct ar_expectation *expectation, struct ar_error *err);

/** Refuses, with AR_NOT_MET, rows from 1 MiB on whose rate is below a share of what is expected;
 * the line names the worst one. AR_BAD_DATA without such rows. */
enum ar_status ar_expect_require(const struct ar_expectation *expectation, double least_frac,
                                 struct ar_error *err);

extern const struct ar_columns ar_expect_columns;

/** Writes the rows; a table has the answer above and the first three suspects below it, JSON is an
 * object of the answer, all rows and all suspects. */
void ar_expect_write(FILE *file, const struct ar_view *view,
                     const struct ar_expectation *expectation);

/** Writes `directory`/answer.csv, expect.csv and suspects.csv, and the files of the comparison. */
enum ar_status ar_expect_save(const struct ar_expectation *expectation, const char *directory,
                              struct ar_error *err);
