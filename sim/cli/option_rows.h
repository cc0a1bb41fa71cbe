/** \file option_rows.h
 * The options of commands that are no keys of a scenario, for parsing and `--help`.
 */
#ifndef AR_OPTION_ROWS_H
#define AR_OPTION_ROWS_H

#include "commands.h"

enum { OPTIONS_MAX = AR_KEYS_COUNT + 32 };

/* One option of a command, a key or its own. */
struct option_row {
    const char *name;
    const char *placeholder; /* NULL: it takes no value */
    unsigned commands;
    size_t offset; /* of its `const char *` in struct options, of its bool if it takes none */
    const char *standard; /* default; NULL: none */
    const char *help;
    bool is_joined;     /* may be repeated: values are joined by commas */
    bool is_shown_only; /* files that the command writes do not depend on it */
    bool is_key;
    enum ar_key key;
};

/** Writes the options of a command, keys first; returns how many there are. */
size_t option_rows_of(const struct command *command, struct option_row rows[OPTIONS_MAX]);

#endif
