/** \file published_range.h
 * What is not known about a published run: a parameter and the values that it may have.
 *
 * `batch=16|32` are choices, all equally likely; `set.net.latency=2.4us..9.6us` is any number
 * between two ends, all equally likely. A parameter is a key of a scenario that published runs have
 * as a column, `set.KEY` or `term.KEY` for what those two take, or `run`.
 */
#ifndef AR_PUBLISHED_RANGE_H
#define AR_PUBLISHED_RANGE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_draw.h"
#include "ar_key.h"

enum { RANGE_VALUE = 256, RANGE_CHOICES_MAX = 32 };

struct range {
    const char *text;   /**< as written, `PARAMETER=VALUES` */
    const char *source; /**< where the ends are from; "row": assumed by the row */
    const char *parameter;
    enum ar_key key;            /**< AR_KEYS_COUNT: the run file */
    const char *setting;        /**< KEY of `set.KEY` and `term.KEY`; NULL: the key has the value */
    const char *const *choices; /**< NULL: a number from `low` to `high` */
    size_t choices_count;
    double low, high;
    const char *unit; /**< behind the number, may be empty */
};

/** What a range is set to: a number, the place of a choice, or NAN for the row's own value. */
typedef double pick;
#define PICK_NOMINAL ((pick)NAN)

/** Parses `PARAMETER=a|b` or `PARAMETER=low..high`; `where` begins the error line. Refused are
 * parameters that are none, one choice only, ends that are no numbers, that have different units or
 * are in the wrong order, and a number between two ends for a parameter that takes no fractions.
 * The texts lie in the arena. */
enum ar_status range_parse(struct ar_arena *arena, const char *where, const char *text,
                           const char *source, struct range *range, struct ar_error *err);

/** Whether a range is of the same parameter as another, or is one of a key without a setting. */
bool range_is_same(const struct range *range, const struct range *other);
bool range_is_of(const struct range *range, enum ar_key key);

/** Draws a value. */
pick range_draw(const struct range *range, struct ar_draw *draw);

/** The ends, or all choices: how many there are, and number `index` of them. */
uint32_t range_ends_count(const struct range *range);
pick range_end(const struct range *range, uint32_t index);

/** Writes a value as the parameter takes it. */
void range_value(const struct range *range, pick value, char text[RANGE_VALUE]);

#endif
