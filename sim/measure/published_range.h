/** \file published_range.h
 * What is not known about a published run: a parameter and the values that it may have.
 *
 * `batch=16|32` are choices, all equally likely; `set.net.latency=2.4us..9.6us` is any number
 * between two ends, all equally likely. A parameter is a key of a scenario that published runs have
 * as a column, `set.KEY` or `term.KEY` for what those two take, or `run`.
 */
#ifndef AR_PUBLISHED_RANGE_H
#define AR_PUBLISHED_RANGE_H

#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_draw.h"
#include "ar_scenario.h"

enum { RANGE_VALUE = 256, RANGE_CHOICES_MAX = 32 };

struct range {
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

/** Parses `PARAMETER=a|b` or `PARAMETER=low..high`; `where` begins the error line. Refused are
 * parameters that are none, one choice only, ends that are no numbers, that have different units or
 * are in the wrong order, and a number between two ends for a parameter that takes no fractions.
 * The texts lie in the arena. */
enum ar_status range_parse(struct ar_arena *arena, const char *where, const char *text,
                           const char *source, struct range *range, struct ar_error *err);

/** The range of the same parameter among others, or of a key without a setting; NULL: none. */
struct range *range_find(struct range *ranges, size_t count, enum ar_key key, const char *setting);

/** Whether a scenario says what the parameter is. */
bool range_is_fixed(const struct range *range, const struct ar_scenario *scenario);

/** A value as the parameter takes it, drawn, in the arena. NULL if there is no memory. */
const char *range_draw(const struct range *range, struct ar_draw *draw, struct ar_arena *arena);

/** Sets the parameter of a scenario; nothing for the run file. */
enum ar_status range_set(const struct range *range, const char *value, struct ar_scenario *scenario,
                         struct ar_error *err);

#endif
