/** \file axes.h
 * The axes of a sweep besides GPU counts, algorithms, shapes and payloads: options with several
 * values.
 *
 * `--batch`, `--precision`, `--gradient-scale`, `--bucket`, `--channels`, `--window`, `--engine`,
 * `--jitter`, `--seed` and `--set KEY=` take a list (lists.h; ranges where the values are counts or
 * sizes). Every combination is a variant: a number that says which value of which axis. The last
 * axis varies fastest; settings of the cluster come first.
 *
 * A value of `--set` is split at its commas unless the cluster takes it as it is: a description may
 * hold commas, a rate may not.
 */
#ifndef AR_AXES_H
#define AR_AXES_H

#include <stdint.h>

#include "ar_scenario.h"

enum { AXES_MAX = 64 + AR_KEYS_COUNT };

/** What a sweep varies: texts that may be lists. */
struct axes_request {
    const char *lists[AR_KEYS_COUNT]; /**< of keys that are axes; NULL: not given */
    struct ar_settings settings;      /**< of the cluster */
    bool has_jitter;                  /**< also without that axis, by a framework or a term */
};

struct axis {
    const char *name; /**< `batch`, `hca.bandwidth` */
    enum ar_key key;
    size_t setting; /**< of AR_KEY_SET: which of the settings */
    const char **values;
    size_t count;
};

struct axes {
    struct ar_settings settings; /**< as asked for, lists among them */
    struct axis list[AXES_MAX];
    size_t count;
    uint32_t variants_count;
    uint32_t per_cluster; /**< this many variants in a row have the same cluster */
};

/** Reads the axes; errors are AR_USAGE. Texts lie in the arena or are those of the request. */
enum ar_status axes_create(const struct axes_request *request, struct ar_arena *arena,
                           struct axes *axes, struct ar_error *err);

/** The value of an axis in a variant. */
const char *axes_value(const struct axes *axes, size_t axis, uint32_t variant);

/** Sets the values of a variant, single ones among them, in a scenario that has none of these keys.
 */
enum ar_status axes_apply(const struct axes *axes, uint32_t variant, struct ar_scenario *scenario,
                          struct ar_error *err);

/** Says whether a variant only repeats another one: another seed without jitter; and, if
 * `is_bare`, another value of an axis that bare all-reduces do not react to. */
bool axes_repeats(const struct axes *axes, uint32_t variant, bool is_bare);

/** Numbers the combinations of conditions: two variants have the same number if they differ only in
 * choices. At most the number of variants. */
uint32_t axes_condition(const struct axes *axes, uint32_t variant);

#endif
