/** \file axes.h
 * The axes of a sweep besides GPU counts, algorithms, shapes and payloads: options with several
 * values.
 *
 * `--batch`, `--precision`, `--gradient-scale`, `--bucket`, `--channels`, `--window`, `--engine`,
 * `--jitter`, `--seed` and `--set KEY=` take a list (lists.h; ranges where the values are counts or
 * sizes). Every combination is a variant: a number that says which value of which axis. The last
 * axis varies fastest; those that decide what is read from files come first.
 *
 * A value of `--set` is split at its commas unless the cluster takes it as it is: a description may
 * hold commas, a rate may not.
 */
#ifndef AR_AXES_H
#define AR_AXES_H

#include <stdint.h>

#include "options.h"

enum { AXES_MAX = SETTINGS_MAX + 9 };

struct axis {
    char *name; /**< `batch`, `hca.bandwidth` */
    char **values;
    size_t count;
    size_t place;     /**< offset of its text in struct options */
    bool is_choice;   /**< a way to tune, not a condition: --best takes the best of its values */
    bool is_of_steps; /**< a bare all-reduce does not react to it */
};

struct axes {
    struct axis list[AXES_MAX];
    size_t count;
    uint32_t variants_count;
    uint32_t per_cluster; /**< this many variants in a row have the same cluster */
    uint32_t per_files;   /**< and so many the same trace, too */
};

/** Reads the axes of a command line; errors are AR_USAGE. Freed with axes_destroy(). */
enum ar_status axes_create(const struct options *options, struct axes *axes, struct ar_error *err);
void axes_destroy(struct axes *axes);

/** The value of an axis in a variant. */
const char *axes_value(const struct axes *axes, size_t axis, uint32_t variant);

/** Puts the values of a variant into a copy of the command line. */
void axes_apply(const struct axes *axes, uint32_t variant, struct options *options);

/** Says whether a variant only repeats another one: another seed without jitter; and, if
 * `is_bare`, another value of an axis that bare all-reduces do not react to. */
bool axes_repeats(const struct axes *axes, uint32_t variant, bool is_bare);

/** Numbers the combinations of conditions: two variants have the same number if they differ only in
 * choices. At most the number of variants. */
uint32_t axes_condition(const struct axes *axes, uint32_t variant);

#endif
