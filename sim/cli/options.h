/** \file options.h
 * The options of the command line, their parser and their help.
 *
 * A command takes keys of a scenario (ar_key.h) and options of its own (the table in options.c).
 * Parsing, `--help`, the man page, completions and the nearest name of a wrong option all come from
 * these two tables. options_scenario() turns the texts of keys into a scenario; no function below
 * sim/cli parses texts of the command line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_arena.h"
#include "ar_key.h"
#include "ar_operation.h"
#include "ar_record.h"

enum { ARGUMENTS_MAX = 256, COMMANDS_MAX = 40, OPTIONS_MAX = AR_KEYS_COUNT + 32 };

struct ar_inputs;
struct ar_scenario;

/** The texts of a key, in order. */
struct option_values {
    const char **texts;
    size_t count;
};

/** A parsed command line. Texts are NULL, and counts 0, where an option was not given and has no
 * default. Some commands have an own option of a key's name; the key is then none of theirs. */
struct options {
    const struct command *command;
    struct ar_arena *arena;   /**< ends with the command */
    struct ar_inputs *inputs; /**< files that the command reads */
    FILE *notes;              /**< where notes are written; commands use option_notes() */
    char *const *notes_text;  /**< all notes that were flushed so far */
    struct option_values keys[AR_KEYS_COUNT];
    const char *algorithm, *algorithms, *batch, *columns, *draws_seed, *engine, *fabric, *format;
    const char *gpus_list, *hold_out, *jobs, *nodes, *operation, *out, *payloads, *precision;
    const char *checkpoint, *mtbf, *power, *price, *tokens;
    const char *mfu, *require, *rows, *samples, *shapes, *step_s, *tflops, *times, *tokens_per_s;
    const char *to_gpus, *top;
    const char *where; /**< several are joined by commas */
    bool best, check, folds, force, help, quiet, resume;
    const char *const *arguments; /**< words that are no options */
    size_t arguments_count;
};

/** One option of a command: a key of the scenario, or an option of its own. */
struct option_row {
    const char *name;
    const char *placeholder; /**< NULL: it takes no value */
    unsigned commands;       /**< bits of the commands that take it */
    size_t offset;           /**< of its text in struct options; of its bool if it has no value */
    const char *standard;    /**< the default; NULL: none */
    const char *help;
    bool is_joined;     /**< it may be repeated: values are joined by commas */
    bool is_shown_only; /**< files that the command writes do not depend on it */
    bool is_key;
    enum ar_key key;
};

/** A set of keys: bit KEY_BIT(key) for each. */
__extension__ typedef unsigned __int128 key_set;
#define KEY_BIT(key) ((key_set)1 << (key))
_Static_assert(AR_KEYS_COUNT <= 128, "each key has a bit");

struct command {
    const char *name;
    /** Runs the command; data goes to stdout, all else to stderr. */
    enum ar_status (*run)(const struct options *options, struct ar_error *err);
    unsigned bit;                         /**< of the command in option_row.commands */
    const struct ar_operation *operation; /**< of a command for one collective, else NULL */
    unsigned key_uses;                    /**< it takes the keys with one of these uses, */
    key_set keys_more;                    /**< and these, */
    key_set keys_less;                    /**< but not these */
    const char *summary;                  /**< one line */
    const char *arguments;                /**< usage of the arguments, NULL if there are none */
    size_t arguments_min, arguments_max;
    const char *text; /**< paragraphs and worked examples for --help */
};

/** Finds a command by name; the error names the nearest one. */
enum ar_status command_find(const char *name, struct command *command, struct ar_error *err);

/** Lists the options of a command, keys first; returns how many there are. */
size_t options_list(const struct command *command, struct option_row rows[OPTIONS_MAX]);

/** The texts that an option was given, counted from 0; NULL: no more, or it has its default. */
const char *option_given(const struct options *options, const struct option_row *row, size_t i);

/** Parses the options of a command; `argv[0]` is its name. An option may be given once, but for
 * keys that repeat, options that are joined, and those without a value. */
enum ar_status options_parse(const struct command *command, struct ar_arena *arena, int argc,
                             char **argv, struct options *options, struct ar_error *err);

/** Writes the help of a command, or of the program if `command` is NULL, in 80 columns. */
void help_write(FILE *file, const struct command *command);

/** The text of a key, NULL if it was not given. */
const char *option_key(const struct options *options, enum ar_key key);

/** Where notes go (ar_row.h): NULL with --quiet. */
static inline FILE *option_notes(const struct options *options)
{
    return options->quiet ? NULL : options->notes;
}

/** Begins a scenario with all keys that were given, but those in `without`. */
enum ar_status options_scenario(const struct options *options, key_set without,
                                struct ar_scenario *scenario, struct ar_error *err);

/** How records are shown: --format, --columns, and in a table the width of the terminal, at least
 * 80 characters. --columns is checked against `columns` unless there are none. */
enum ar_status option_view(const struct options *options, struct ar_columns columns,
                           struct ar_view *view, struct ar_error *err);

/** Reads a count, or a number, from the text of an option; NULL leaves it as it is. */
enum ar_status option_count(const char *where, const char *text, uint64_t min, uint64_t max,
                            uint64_t *count, struct ar_error *err);
enum ar_status option_number(const char *where, const char *text, double min, double max,
                             double *number, struct ar_error *err);

/** Refuses a missing option (`value` is NULL), or a missing key. */
enum ar_status option_required(const struct options *options, const char *name, const char *value,
                               struct ar_error *err);
enum ar_status option_require_key(const struct options *options, enum ar_key key,
                                  struct ar_error *err);

/** Refuses keys that were given and are not in `allowed`; `use` says for the message what does not
 * take them, such as "--format simgrid-xml". */
enum ar_status option_refuse_others(const struct options *options, key_set allowed, const char *use,
                                    struct ar_error *err);

/** The keys that have one of these uses (enum ar_key_use). */
key_set key_bits(unsigned uses);
