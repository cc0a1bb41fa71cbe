/** \file key_texts.h
 * Keys of a scenario as files have them: columns or directives, one text for each key.
 */
#pragma once

#include "ar_csv.h"
#include "ar_scenario.h"

/** Room for a list of columns that ends with those of keys. */
enum { KEY_COLUMNS_MAX = 16 + AR_KEYS_COUNT };
struct key_columns {
    struct ar_column list[KEY_COLUMNS_MAX];
    char names[AR_KEYS_COUNT][AR_KEY_TEXT];
};

/** The columns `first`, and behind them one for each key with a `use`: its text goes to the place
 * of the key in an array of texts at `offset` of the record, NULL where a file has none. */
struct ar_columns key_columns(struct key_columns *room, struct ar_columns first,
                              enum ar_key_use use, size_t offset);

/** Sets the keys that the scenario does not have, and settings and terms, separated by `;`, unless
 * it has one of the same KEY. The texts are borrowed. Error lines begin with the directive
 * of a run file, beside which relative paths lie; without a file, with the option. */
enum ar_status key_texts_add(const char *const texts[AR_KEYS_COUNT], const struct ar_csv *file,
                             struct ar_scenario *scenario, struct ar_error *err);
