/** \file reproduce_range.h
 * What is not known about a published run: a parameter and the values that it may have.
 *
 * `batch=16|32` are choices, all equally likely; `set.net.latency=2.4us..9.6us` is any number
 * between two ends, all equally likely. A parameter is a column of the row that an option of
 * `predict` is named after, or `set.KEY` or `term.KEY` for what `--set` and `--term` take.
 */
#ifndef AR_REPRODUCE_RANGE_H
#define AR_REPRODUCE_RANGE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_draw.h"

enum { RANGE_TEXT = 256, RANGE_VALUE = RANGE_TEXT, RANGE_CHOICES_MAX = 32 };

struct range {
    char text[RANGE_TEXT];   /**< as written, `KEY=VALUES` */
    char source[RANGE_TEXT]; /**< where the ends are from; "row": assumed by the row */
    char pieces[RANGE_TEXT]; /**< the text, cut into texts at the offsets below */
    size_t choices[RANGE_CHOICES_MAX];
    size_t choices_count; /**< 0: a number from `low` to `high` */
    double low, high;
    size_t unit; /**< behind the number, may be empty */
};

/** What a range is set to: a number, the place of a choice, or NAN for the row's own value. */
typedef double pick;
#define PICK_NOMINAL ((pick)NAN)

/** The parameter of a range. */
const char *range_key(const struct range *range);

/** Parses `KEY=a|b` or `KEY=low..high`; `where` begins the error line. Refused are keys that are
 * none, one choice only, ends that are no numbers, that have different units or are in the wrong
 * order, and a number between two ends for a parameter that takes no fractions. */
enum ar_status range_parse(const char *where, const char *text, const char *source,
                           struct range *range, struct ar_error *err);

/** Draws a value. */
pick range_draw(const struct range *range, struct ar_draw *draw);

/** The ends, or all choices: how many there are, and number `index` of them. */
uint32_t range_ends_count(const struct range *range);
pick range_end(const struct range *range, uint32_t index);

/** Writes a value as the option takes it. */
void range_value(const struct range *range, pick value, char text[RANGE_VALUE]);

#endif
