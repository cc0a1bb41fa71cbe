/** \file options.h
 * The command line: commands, their options, their help.
 *
 * A command takes keys of a scenario (ar_key.h) and options of its own; parsing, `--help` and the
 * nearest name of a wrong one read the same tables. Texts of the command line are known here only:
 * options_scenario() turns those of keys into a scenario.
 */
#ifndef AR_OPTIONS_H
#define AR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "ar_arena.h"
#include "ar_key.h"
#include "ar_operation.h"
#include "ar_record.h"

enum { ARGUMENTS_MAX = 256, REPEATED_MAX = 64 };

struct command;
struct ar_inputs;

/** The texts of a key, in order. */
struct option_values {
    const char *const *texts;
    size_t count;
};

struct options {
    const struct command *command; /**< that they are of */
    struct ar_arena *arena;        /**< ends with the command */
    struct ar_inputs *inputs;      /**< files that it reads */
    FILE *notes;                   /**< main()'s; see option_notes() */
    char *const *said;             /**< all that was flushed from there so far */
    struct option_values keys[AR_KEYS_COUNT];
    const char *gpus_list;
    const char *operation; /**< of a sweep and a proof a list; of others it is a key */
    const char *algorithms;
    const char *algorithm; /**< that a comparison predicts; of others it is a key */
    const char *engine;    /**< of a comparison and of published rows; of others it is a key */
    const char *shapes;
    const char *payloads;
    const char *format;
    const char *columns;
    const char *out;
    const char *jobs;
    const char *ranks;
    const char *to_gpus;
    const char *top;
    const char *hold_out;
    const char *time;
    const char *pair;
    const char *samples;
    const char *draws_seed;
    const char *rows;
    const char *nodes; /**< of a discovered cluster, as the one below */
    const char *fabric;
    const char *times;      /**< of an imported trace, as the four below */
    const char *parameters; /**< the trace that has them */
    const char *cost_table; /**< of its GPU */
    const char *batch;      /**< of others it is a key */
    const char *precision;  /**< the same */
    const char *where;      /**< of several, joined by commas */
    bool check;
    bool best;
    bool resume;
    bool force;
    bool sensitivity;
    bool folds;
    bool quiet;
    bool ascii;
    bool help;
    const char *const *arguments; /**< what is not an option */
    size_t arguments_count;
};

/** A bit for each key: KEY_BIT(). */
__extension__ typedef unsigned __int128 key_set;
#define KEY_BIT(key) ((key_set)1 << (key))
_Static_assert(AR_KEYS_COUNT <= 128, "each key has a bit");

struct command {
    const char *name;
    /** Runs the command; data goes to stdout, all else to stderr. */
    enum ar_status (*run)(const struct options *options, struct ar_error *err);
    unsigned bit;                         /**< in the table of options */
    const struct ar_operation *operation; /**< of one collective, else NULL */
    unsigned key_uses;     /**< it takes the keys with one of these uses (enum ar_key_use), */
    key_set keys_more;     /**< those of these bits, */
    key_set keys_less;     /**< and not those of these */
    const char *summary;   /**< one line */
    const char *arguments; /**< usage of the positional arguments, "" if none */
    size_t arguments_max;
    const char *text; /**< paragraphs and a worked example for --help */
};

/** The table of commands, ended by a row without a name. */
extern const struct command commands[];

/** Finds a command by name; the error names the nearest one. */
enum ar_status command_find(const char *name, const struct command **command, struct ar_error *err);

/** Parses the options of a command; `argv[0]` is its name. Defaults of options that are no keys are
 * filled in. An option may be given once, but for keys that repeat and those without a value. */
enum ar_status options_parse(const struct command *command, struct ar_arena *arena, int argc,
                             char **argv, struct options *options, struct ar_error *err);

/** Writes the help of a command, or of the program if `command` is NULL. */
void help_write(FILE *file, const struct command *command);

/** The text of a key, NULL if it was not given. */
static inline const char *option_key(const struct options *options, enum ar_key key)
{
    return options->keys[key].count > 0 ? options->keys[key].texts[0] : NULL;
}

/** Where notes go (ar_note.h): NULL with --quiet. */
static inline FILE *option_notes(const struct options *options)
{
    return options->quiet ? NULL : options->notes;
}

/** Whether progress is drawn: notes go to a terminal. */
static inline bool option_shows_progress(const struct options *options)
{
    return option_notes(options) != NULL && isatty(STDERR_FILENO);
}

struct ar_scenario;
/** Begins a scenario with all keys that were given but those of the bits `without`. */
enum ar_status options_scenario(const struct options *options, key_set without,
                                struct ar_scenario *scenario, struct ar_error *err);

/** How records are shown: --format, --columns of these columns (if there are none, they are not
 * checked), and in a table no wider than the terminal, or 80 characters. */
enum ar_status option_view(const struct options *options, struct ar_columns columns,
                           struct ar_view *view, struct ar_error *err);

/** Refuses a missing option: `value` is NULL. */
enum ar_status option_required(const struct options *options, const char *name, const char *value,
                               struct ar_error *err);

/** Refuses the keys that were given but those of the bits `allowed`: they are for another use of
 * the command than `use`, such as "--format simgrid-xml". */
enum ar_status option_refuse_others(const struct options *options, key_set allowed, const char *use,
                                    struct ar_error *err);

/** Bits of the keys that have one of these uses. */
key_set key_bits(unsigned uses);
#endif
