/** \file topo_values.h
 * For the rooms of topologies/: the values of a cluster, first as texts (entries), then parsed.
 *
 * Texts come from a cluster file and settings (topo_entries.c), are parsed one by one
 * (topo_values.c, topo_pairs.c) and checked against each other (topo_check.c).
 */
#ifndef AR_TOPO_VALUES_H
#define AR_TOPO_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "ar_arena.h"
#include "ar_topo.h"
#include "topo_keys.h"

enum {
    AR_TOPO_WHERE_SIZE = 320, /**< of the beginning of a message */
    AR_TOPO_TEXT_MAX = 200,   /**< characters of a value; a list of pairs may be longer */
    AR_TOPO_LINE_MAX = 4000   /**< characters of a line or a setting */
};

/** One value as written; the texts are somebody's arena's. */
struct ar_topo_entry {
    enum ar_topo_key key;
    const char *text;
    const char *source;    /**< where the number is from; of a setting, where the setting stood */
    const char *where;     /**< begins error lines: `x.topo:3`, `--set` */
    enum ar_status status; /**< of errors of its value */
};

/** The values of a cluster: those of a file in its order, settings applied. */
struct ar_topo_entries {
    const char *path; /**< file name for messages, shortened at its start if long */
    size_t count;
    struct ar_topo_entry list[AR_TOPO_KEYS_COUNT];
};

/** Takes the entries of a file, whose texts are copied to the arena, and applies the settings. */
enum ar_status ar_topo_entries_take(const struct ar_topo *topo, struct ar_settings settings,
                                    struct ar_arena *arena, struct ar_topo_entries *entries,
                                    struct ar_error *err);

/** Applies settings, the last one of a key wins. */
enum ar_status ar_topo_entries_apply(struct ar_settings settings, struct ar_arena *arena,
                                     struct ar_topo_entries *entries, struct ar_error *err);

/** Adds an entry, its texts copied to the arena, or replaces it if its key is there. */
enum ar_status ar_topo_entries_store(struct ar_topo_entry entry, struct ar_arena *arena,
                                     struct ar_topo_entries *entries, struct ar_error *err);

/** The entry of a key, or NULL. */
const struct ar_topo_entry *ar_topo_entries_find(const struct ar_topo_entries *entries,
                                                 enum ar_topo_key key);

/** Writes the beginning of a message on an entry (`x.topo:3: key "hcas"`, `--set: key "hcas"`). */
const char *ar_topo_where(const struct ar_topo_entry *entry, char where[AR_TOPO_WHERE_SIZE]);

/** Turns AR_BAD_DATA of reading a value into the status of errors of that value. */
enum ar_status ar_topo_blame(enum ar_status status, enum ar_status wanted, struct ar_error *err);

/** Reports that the value of a key that is given contradicts others; returns its status. */
enum ar_status ar_topo_refuse(const struct ar_topo_entries *entries, enum ar_topo_key key,
                              const char *expected, struct ar_error *err);

/** The parsed values; a key that was not given has the default of its field. */
struct ar_topo_values {
    bool is_given[AR_TOPO_KEYS_COUNT];
    double number[AR_TOPO_KEYS_COUNT];  /**< SI value of a rate, time or cost; default 0 */
    uint32_t count[AR_TOPO_KEYS_COUNT]; /**< value of a count; default 0 */
    bool is_switched;                   /**< `nvlink.pairs = switch` */
    bool has_hcas_on_switches;          /**< `hca.attached = switch` */
    /** NVLink weight of each directed pair, 0: none. */
    uint8_t weight[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX];
};

/** Parses the texts of all entries. `values` must be all zeros. */
enum ar_status ar_topo_values_parse(const struct ar_topo_entries *entries,
                                    struct ar_topo_values *values, struct ar_error *err);

/** Parses the text of `nvlink.pairs` for nodes of `gpus_count` GPUs. */
enum ar_status ar_topo_parse_pairs(const char *where, const char *text, uint32_t gpus_count,
                                   struct ar_topo_values *values, struct ar_error *err);

/** Has a pair of GPUs of a node an NVLink or a switch; is there one without? */
bool ar_topo_has_nvlink(const struct ar_topo_values *values);
bool ar_topo_needs_pcie(const struct ar_topo_values *values);

/** Are there several racks? */
bool ar_topo_has_racks(const struct ar_topo_values *values);

/** Checks the values of a cluster file against each other; some keys must be there, and all that
 * are missing are named in one line. */
enum ar_status ar_topo_values_check(const struct ar_topo_entries *entries,
                                    const struct ar_topo_values *values, struct ar_error *err);

#endif
