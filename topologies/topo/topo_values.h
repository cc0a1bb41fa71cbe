/** \file topo_values.h
 * For the rooms of topologies/: the values of a cluster, first as texts (entries), then parsed.
 *
 * Texts come from a cluster file and settings (topo_entries.c), are parsed one by one
 * (topo_values.c) and checked against each other (topo_check.c).
 */
#ifndef AR_TOPO_VALUES_H
#define AR_TOPO_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "ar_arena.h"
#include "ar_topo.h"
#include "topo_keys.h"

enum {
    AR_TOPO_TEXT_MAX = 200, /**< characters of a value; a list of pairs may be longer */
    AR_TOPO_LINE_MAX = 4000 /**< characters of a line or a setting */
};

/** One value as written; the texts are borrowed from a file, a setting or an arena. */
struct ar_topo_entry {
    enum ar_topo_key key;
    const char *text;
    const char *source;    /**< where the number is from; of a setting, where the setting stood */
    const char *where;     /**< begins error lines: `x.topo:3: key "hcas"`, `--set: key "hcas"` */
    enum ar_status status; /**< of errors of its value */
};

/** The values of a cluster: those of a file in its order, settings applied. */
struct ar_topo_entries {
    const char *path; /**< file name for messages, shortened at its start if long */
    size_t count;
    struct ar_topo_entry list[AR_TOPO_KEYS_COUNT];
};

/** Takes the entries of a file. */
void ar_topo_take(const struct ar_topo *topo, struct ar_topo_entries *entries);

/** Applies settings, the last one of a key wins. Set `torus.lengths` have the default wraps, not
 * those of the file, unless `torus.wraps` is set, too. */
enum ar_status ar_topo_entries_apply(struct ar_settings settings, struct ar_arena *arena,
                                     struct ar_topo_entries *entries, struct ar_error *err);

/** Adds an entry, or replaces that of its key. */
void ar_topo_entries_store(struct ar_topo_entry entry, struct ar_topo_entries *entries);

/** The entry of a key, or NULL. */
const struct ar_topo_entry *ar_topo_entries_find(const struct ar_topo_entries *entries,
                                                 enum ar_topo_key key);

/** Reads `key = value` into an entry whose `where` says where it stood; the text is cut in place.
 */
enum ar_status ar_topo_read_assignment(char *assignment, struct ar_arena *arena,
                                       struct ar_topo_entry *entry, struct ar_error *err);

/** Cuts blanks off both ends, in place. */
char *ar_topo_trim(char *text);

/** Refuses bytes that do not belong into text; those of UTF-8 are allowed where `is_prose`. */
enum ar_status ar_topo_check_text(const char *where, const char *text, bool is_prose,
                                  struct ar_error *err);

/** Reports that the value of a key contradicts others, or that it is missing; returns its status.
 */
enum ar_status ar_topo_refuse(const struct ar_topo_entries *entries, enum ar_topo_key key,
                              const char *expected, struct ar_error *err);

/** The parsed values; a key that was not given has the default of its field. */
struct ar_topo_values {
    bool is_given[AR_TOPO_KEYS_COUNT];
    /** SI value of a rate, time, cost or size, seed of routes; default 0. */
    double number[AR_TOPO_KEYS_COUNT];
    /** Value of a count, items of a list, number of a choice's or routes' word; default 0. */
    uint32_t count[AR_TOPO_KEYS_COUNT];
    double list[AR_TOPO_KEYS_COUNT][AR_TOPO_LIST_MAX]; /**< items of a list: counts or rates */
    bool is_switched;                                  /**< `nvlink.pairs = switch` */
    /** NVLink weight of each directed pair, 0: none. */
    uint8_t weight[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX];
};

/** Parses the texts of all entries. `values` must be all zeros. Without `nodes` a torus, mesh or
 * dragonfly has as many as its routers hold. */
enum ar_status ar_topo_values_parse(const struct ar_topo_entries *entries,
                                    struct ar_topo_values *values, struct ar_error *err);

/** Has a pair of GPUs of a node an NVLink or a switch; is there one without? */
bool ar_topo_has_nvlink(const struct ar_topo_values *values);
bool ar_topo_needs_pcie(const struct ar_topo_values *values);

/** Checks the values of a cluster file against each other; some keys must be there, and all that
 * are missing are named in one line. */
enum ar_status ar_topo_values_check(const struct ar_topo_entries *entries,
                                    const struct ar_topo_values *values, struct ar_error *err);

#endif
