#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ar_scenario.h"
#include "ar_text.h"
#include "ar_units.h"
#include "option_rows.h"

enum { LONG_OPTION = 1000 };

/* The options that a command takes, also as getopt_long() reads them. */
struct taken {
    struct option_row rows[OPTIONS_MAX];
    struct option longs[2 * OPTIONS_MAX + 1]; /* former names after the others */
    size_t places[2 * OPTIONS_MAX];           /* of their rows */
    bool is_given[OPTIONS_MAX];
    size_t count;
};

enum ar_status command_find(const char *name, const struct command **command, struct ar_error *err)
{
    const char *names[COMMANDS_COUNT];
    size_t count = 0;
    for (const struct command *row = commands; row->name != NULL; row++) {
        if (strcmp(name, row->name) == 0) {
            *command = row;
            return AR_OK;
        }
        names[count++] = row->name;
    }
    return ar_error_unknown(err, AR_USAGE, "command line", "command", name, names, count);
}

/* getopt_long() does not take `text`: nobody knows it, or it has a value where none is taken. */
static enum ar_status report_option(const struct options *options, const struct taken *taken,
                                    const char *text, struct ar_error *err)
{
    const char *names[OPTIONS_MAX];
    const char *command = options->command->name;
    for (size_t i = 0; i < taken->count; i++) {
        names[i] = ar_arena_format(options->arena, "--%s", taken->rows[i].name);
        AR_NEED(names[i], err, "the options");
        if (strncmp(text, names[i], strlen(names[i])) == 0 && text[strlen(names[i])] == '=') {
            return ar_error_set(err, AR_USAGE, "%s: found \"%.60s\"; expected %s without a value",
                                command, text, names[i]);
        }
    }
    return ar_error_unknown(err, AR_USAGE, command, "option", text, names, taken->count);
}

/* Appends a text to those of a key that may be repeated. */
static enum ar_status append(const struct option_row *row, const char *text,
                             struct options *options, struct ar_error *err)
{
    struct option_values *values = &options->keys[row->key];
    if (values->count == REPEATED_MAX) {
        return ar_error_set(err, AR_USAGE, "--%s: found more than %d; expected at most %d",
                            row->name, REPEATED_MAX, REPEATED_MAX);
    }
    const char **texts = ar_arena_alloc(options->arena, values->count + 1, sizeof *texts);
    AR_NEED(texts, err, "the options");
    for (size_t i = 0; i < values->count; i++) {
        texts[i] = values->texts[i];
    }
    texts[values->count] = text;
    *values = (struct option_values){.texts = texts, .count = values->count + 1};
    return AR_OK;
}

static enum ar_status refuse_again(const struct option_row *row, const char *before,
                                   const char *text, struct ar_error *err)
{
    return ar_error_set(err, AR_USAGE, "--%s: found twice, \"%.60s\" and \"%.60s\"; expected once",
                        row->name, before, text);
}

/* Stores the value of an option; `is_again` says that it was given before. */
static enum ar_status store(const struct option_row *row, const char *text, bool is_again,
                            struct options *options, struct ar_error *err)
{
    char *place = (char *)options + row->offset;
    if (row->is_key) {
        return is_again && !ar_key_is(row->key, AR_KEY_REPEATS)
                   ? refuse_again(row, option_key(options, row->key), text, err)
                   : append(row, text, options, err);
    }
    if (row->placeholder == NULL) {
        *(bool *)place = true;
        return AR_OK;
    }
    const char *before = *(const char **)place;
    if (is_again && !row->is_joined) {
        return refuse_again(row, before, text, err);
    }
    text = is_again ? ar_arena_format(options->arena, "%s,%s", before, text) : text;
    *(const char **)place = text;
    return text != NULL ? AR_OK : ar_error_no_memory(err, "the options");
}

static enum ar_status take_arguments(const struct command *command, int argc, char **argv,
                                     struct options *options, struct ar_error *err)
{
    size_t count = (size_t)(argc - optind);
    if (count > command->arguments_max) {
        return ar_error_set(err, AR_USAGE,
                            "%s: unexpected argument \"%s\"; see 'allreckon %s "
                            "--help'",
                            command->name, argv[(size_t)optind + command->arguments_max],
                            command->name);
    }
    options->arguments = (const char *const *)argv + optind;
    options->arguments_count = count;
    return AR_OK;
}

static void take_long(struct taken *taken, size_t *count, size_t row, const char *name)
{
    int takes = taken->rows[row].placeholder != NULL ? required_argument : no_argument;
    taken->places[*count] = row;
    taken->longs[(*count)++] = (struct option){name, takes, NULL, LONG_OPTION};
}

static void take_rows(const struct command *command, struct options *options, struct taken *taken)
{
    size_t longs_count = 0;
    taken->count = option_rows_of(command, taken->rows);
    for (size_t i = 0; i < taken->count; i++) {
        const struct option_row *row = &taken->rows[i];
        if (!row->is_key && row->standard != NULL) {
            *(const char **)((char *)options + row->offset) = row->standard;
        }
        take_long(taken, &longs_count, i, row->name);
    }
    for (size_t i = 0; i < taken->count; i++) {
        const struct option_row *row = &taken->rows[i];
        if (row->is_key && ar_key_former(row->key) != NULL) {
            take_long(taken, &longs_count, i, ar_key_former(row->key));
        }
    }
}

/* What no CSV file may hold, and terminals obey. */
static enum ar_status check_text(const struct command *command, const char *text,
                                 struct ar_error *err)
{
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == 0x7f || (byte < 0x20 && strchr("\t\r\n", byte) == NULL)) {
            return ar_error_set(err, AR_USAGE,
                                "%s: found byte 0x%02x in \"%.60s\"; expected names and paths "
                                "without control characters",
                                command->name, byte, text);
        }
    }
    return AR_OK;
}

enum ar_status options_parse(const struct command *command, struct ar_arena *arena, int argc,
                             char **argv, struct options *options, struct ar_error *err)
{
    struct taken *taken = ar_arena_alloc(arena, 1, sizeof *taken);
    *options =
        (struct options){.command = command, .arena = arena, .inputs = ar_inputs_create(arena)};
    AR_NEED(taken && options->inputs, err, "the options");
    for (int i = 1; i < argc; i++) {
        AR_TRY(check_text(command, argv[i], err));
    }
    take_rows(command, options, taken);
    opterr = 0;
    optind = 1;
    for (;;) {
        int index = -1;
        int found = getopt_long(argc, argv, ":h", taken->longs, &index);
        const char *text = argv[optind > 1 ? optind - 1 : 0];
        char letter[] = {'-', (char)optopt, '\0'};
        if (found == -1) {
            return take_arguments(command, argc, argv, options, err);
        }
        if (found == LONG_OPTION) {
            size_t row = taken->places[index];
            AR_TRY(store(&taken->rows[row], optarg, taken->is_given[row], options, err));
            taken->is_given[row] = true;
        } else if (found == 'h') {
            options->help = true;
        } else if (found == ':') {
            return ar_error_set(err, AR_USAGE,
                                "%s: option \"%.60s\" needs a value; see 'allreckon %s --help'",
                                command->name, text, command->name);
        } else { /* optopt is that of a known option, a letter, or 0 for an unknown name */
            bool is_letter = optopt != 0 && optopt != LONG_OPTION;
            return report_option(options, taken, is_letter ? letter : text, err);
        }
    }
}

enum ar_status options_scenario(const struct options *options, key_set without,
                                struct ar_scenario *scenario, struct ar_error *err)
{
    *scenario = ar_scenario_begin(options->arena);
    if (options->command->operation != NULL) {
        scenario->operation = options->command->operation;
    }
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        const struct option_values *values = &options->keys[i];
        for (size_t j = 0; j < values->count && (without & KEY_BIT(i)) == 0; j++) {
            AR_TRY(ar_scenario_set(scenario, (enum ar_key)i, NULL, values->texts[j], err));
        }
    }
    return AR_OK;
}

enum ar_status option_required(const struct options *options, const char *name, const char *value,
                               struct ar_error *err)
{
    struct option_row rows[OPTIONS_MAX];
    size_t count = option_rows_of(options->command, rows);
    for (size_t i = 0; i < count && value == NULL; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return ar_error_set(err, AR_USAGE, "%s: option --%s is missing; expected --%s %s, %s",
                                options->command->name, name, name, rows[i].placeholder,
                                rows[i].help);
        }
    }
    return AR_OK;
}

enum ar_status option_refuse_others(const struct options *options, key_set allowed, const char *use,
                                    struct ar_error *err)
{
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        if (options->keys[i].count > 0 && (allowed & KEY_BIT(i)) == 0) {
            return ar_error_set(
                err, AR_USAGE, "%s: found %s; expected none with %s, see 'allreckon %s --help'",
                options->command->name, ar_keys[i].option, use, options->command->name);
        }
    }
    return AR_OK;
}

/* --- how records are shown ------------------------------------------------------------------- */

enum { WIDTH_MIN = 80, WIDTH_MAX = 10000 };

static size_t table_width(void)
{
    struct winsize size;
    uint64_t width;
    struct ar_error ignored;
    const char *columns = getenv("COLUMNS");
    if (columns == NULL ||
        ar_parse_count("COLUMNS", columns, 1, WIDTH_MAX, &width, &ignored) != AR_OK) {
        width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    }
    return width > WIDTH_MIN ? (size_t)width : WIDTH_MIN;
}

enum ar_status option_view(const struct options *options, struct ar_columns columns,
                           struct ar_view *view, struct ar_error *err)
{
    *view = (struct ar_view){.width = table_width(), .columns = options->columns};
    AR_TRY(ar_format_parse("--format", options->format, &view->format, err));
    return columns.count > 0 ? ar_view_check("--columns", view, columns, err) : AR_OK;
}
