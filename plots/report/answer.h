/** \file answer.h
 * Sentences about files; each is a function that writes what it can say of one.
 */
#ifndef AR_PAGE_ANSWER_H
#define AR_PAGE_ANSWER_H

#include "page.h"

/** Of rows of `ar_row.h` (steps, or collectives alone), of the tasks of a step, and of what
 * `train`, `reproduce`, `compare`, `accuracy` and `explain` leave. */
page_sentences answer_rows, answer_tasks, answer_train, answer_results, answer_compared,
    answer_sets, answer_kinds;

/** Whether a column of such rows is a parameter: one in which rows differ before they are run. */
bool answer_is_parameter(const char *column);

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
