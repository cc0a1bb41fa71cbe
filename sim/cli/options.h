/** \file options.h
 * The command line: commands, their options, their help.
 *
 * One table holds all options with the commands that take them; parsing and `--help` read the same
 * table. Values stay text here and are parsed where they are used, by the parsers of their type.
 */
#ifndef AR_OPTIONS_H
#define AR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_error.h"

enum { SETTINGS_MAX = 64, ARGUMENTS_MAX = 256, GIVEN_MAX = 64 };

struct command;

/** The values of an option that may be repeated, in order. */
struct option_values {
    const char *texts[SETTINGS_MAX];
    size_t count;
};

struct options {
    const struct command *command; /**< that they are of */
    const char *cluster;
    const char *gpus;
    const char *algorithm;
    const char *shape;
    const char *payload;
    const char *trace;
    const char *batch;
    const char *precision;
    const char *bucket;
    const char *framework;
    const char *images_per_s_at;
    const char *gradient_scale;
    const char *engine;
    const char *baseline;
    const char *channels;
    const char *window;
    const char *jitter;
    const char *iterations;
    const char *seed;
    const char *format;
    const char *out;
    const char *jobs;
    const char *ranks;
    const char *top;
    const char *hold_out;
    const char *time;
    const char *tuning;
    const char *pair;
    const char *samples;
    const char *rows;
    struct option_values settings;   /**< `--set` */
    struct option_values terms;      /**< `--term` */
    struct option_values slow_links; /**< `--slow-link` */
    struct option_values down_links; /**< `--down-link` */
    struct option_values stragglers; /**< `--straggler` */
    bool check;
    bool best;
    bool resume;
    bool sensitivity;
    bool folds;
    bool quiet;
    bool ascii;
    bool help;
    const char *arguments[ARGUMENTS_MAX]; /**< what is not an option */
    size_t arguments_count;
    uint32_t jitter_steps;        /**< --iterations with jitter if it is not given; 0: 20. Not an
                                       option of the command line */
    const char *given[GIVEN_MAX]; /**< names of the options that were given */
    size_t given_count;
};

struct command {
    const char *name;
    unsigned bit;          /**< in the option table */
    const char *summary;   /**< one line */
    const char *arguments; /**< usage of the positional arguments, "" if none */
    size_t arguments_max;
    const char *text; /**< paragraphs and a worked example for --help */
    /** Runs the command; data goes to stdout, all else to stderr. */
    enum ar_status (*run)(const struct options *options, struct ar_error *err);
};

/** The table of commands, ended by a row without a name. */
extern const struct command commands[];

/** Finds a command by name; the error names the nearest one. */
enum ar_status command_find(const char *name, const struct command **command, struct ar_error *err);

/** Parses the options of a command; `argv[0]` is its name. Defaults are filled in. An option may be
 * given once, but for `--set`, `--term`, `--slow-link`, `--down-link`, `--straggler` and those
 * without a value. */
enum ar_status options_parse(const struct command *command, int argc, char **argv,
                             struct options *options, struct ar_error *err);

/** Fills what is NULL with the defaults of a command (its bit), such as for `train`, whose options
 * have theirs only behind the run file. */
void options_complete(unsigned command, struct options *options);

/** Writes the help of a command, or of the program if `command` is NULL. */
void help_write(FILE *file, const struct command *command);

/** Refuses a missing option: `value` is NULL. */
enum ar_status option_required(const struct options *options, const char *name, const char *value,
                               struct ar_error *err);

/** Refuses options of the command that do not have `bit` in the table: they are for another use of
 * it than `use`, such as "--format simgrid-xml". */
enum ar_status option_refuse_others(const struct options *options, unsigned bit, const char *use,
                                    struct ar_error *err);

/** The status of parsing an option's value, ar_error_as_usage(). */
enum ar_status option_status(enum ar_status status, struct ar_error *err);

#endif
