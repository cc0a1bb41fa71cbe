/** \file ar_step_errors.h
 * How long published steps took beside what was predicted: what is known of the error of a step.
 *
 * `allreckon reproduce` makes the shipped list (validate/data/step_errors.csv) of the rows that
 * nothing was fitted to, by ar_conformal.h: each table of published runs counts alike.
 */
#pragma once

#include <stdio.h>

#include "ar_record.h"
#include "ar_scenario.h"

/** Steps that tell of each other. */
enum ar_step_class {
    AR_STEP_LIKE_NONE,      /**< that is published */
    AR_STEP_OF_TRACE,       /**< with the terms of a framework */
    AR_STEP_OF_TRANSFORMER, /**< on GPUs after V100 */
    AR_STEP_ON_V100,        /**< of a transformer; too few for themselves: all transformers tell */
    AR_STEP_CLASSES
};

extern const char *const ar_step_class_names[AR_STEP_CLASSES];

/** The class of what a scenario asks for. */
enum ar_step_class ar_step_class(const struct ar_scenario *scenario);

/** Whether published steps of one class tell of another. */
bool ar_step_class_tells(enum ar_step_class published, enum ar_step_class of);

/** Measured times over predicted ones, of one class. */
struct ar_step_errors {
    ar_cell_string steps;               /**< name of the class */
    ar_cell_string without;             /**< the table whose rows were left out; "-": none was */
    ar_cell_count rows, tables;         /**< those that tell */
    ar_cell_number low, high;           /**< ends of a band of 95 %; NAN: the rows are too few */
    ar_cell_number half_low, half_high; /**< ends of one that holds half of them */
    ar_cell_string gpus;                /**< cost tables of their GPUs, with blanks between */
};

extern const struct ar_columns ar_step_errors_columns;

/** The shipped errors of a class, without the rows of a table if it is one of those that tell. */
enum ar_status ar_step_errors_read(enum ar_step_class class, const char *without,
                                   struct ar_arena *arena, struct ar_step_errors *errors,
                                   struct ar_error *err);

/** Notes them, for what a scenario asks. */
void ar_note_step_errors(FILE *notes, const struct ar_scenario *scenario);
