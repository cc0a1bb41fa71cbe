/** \file option_rows.h
 * The table of options, for parsing and `--help`.
 */
#ifndef AR_OPTION_ROWS_H
#define AR_OPTION_ROWS_H

#include "commands.h"

/* One option; `offset` leads to its `const char *` in struct options, or to its bool if it has no
 * placeholder. */
struct option_row {
    const char *name;
    const char *placeholder;
    unsigned commands;
    size_t offset;
    bool repeats;         /* `offset` leads to its struct option_values */
    const char *standard; /* default; NULL: none */
    const char *help;
};

extern const struct option_row option_rows[];
extern const size_t option_rows_count;

/** Whether a run file may set an option of `train`, so that its default comes after the file
 * (options_complete()). */
static inline bool option_is_of_file(const struct command *command, const struct option_row *row)
{
    return command->bit == COMMAND_TRAIN && (row->commands & COMMAND_PREDICT) != 0;
}

#endif
