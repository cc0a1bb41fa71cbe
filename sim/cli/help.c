/* What --help says, in 80 columns. */
#include <string.h>

#include "options.h"

enum { WIDTH = 80, HELP_INDENT = 21, COMMAND_INDENT = 17 };

/* Writes words, which blanks and ends of lines part, from a place of the line on. A line that goes
 * on ends with `joint`, the next one begins with `indent` blanks. With a joint the words are those
 * of a command line, in which an option stays with its value. */
static void write_words(FILE *file, const char *text, size_t length, size_t at, size_t indent,
                        const char *joint)
{
    const char *end = text + length;
    const char *blank = "";
    for (const char *word = text + strspn(text, " \n"); word < end;) {
        const char *option = joint[0] != '\0' ? strstr(word, " --") : NULL;
        size_t size = joint[0] == '\0' ? strcspn(word, " \n")
                      : option != NULL ? (size_t)(option - word)
                                       : strcspn(word, "\n");
        const char *next = word + size + strspn(word + size, " \n");
        size = word + size < end ? size : (size_t)(end - word);
        if (at > indent && at + 1 + size + (next < end ? strlen(joint) : 0) > WIDTH) {
            fprintf(file, "%s\n%*s", joint, (int)indent, "");
            at = indent;
            blank = "";
        }
        at += (size_t)fprintf(file, "%s%.*s", blank, (int)size, word);
        blank = " ";
        word = next;
    }
    fputc('\n', file);
}

/* Writes paragraphs; lines that begin with a blank are examples and stay lines. */
static void write_text(FILE *file, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        bool is_example = *text == ' ';
        while (length > 0 && !is_example && text[length] == '\n' &&
               strchr("\n ", text[length + 1]) == NULL) {
            length += 1 + strcspn(text + length + 1, "\n");
        }
        fputs(is_example ? "  " : "", file);
        write_words(file, text, length, is_example ? 2 : 0, is_example ? 4 : 0,
                    is_example ? " \\" : "");
        text += length + (text[length] == '\n');
    }
}

static void write_option(FILE *file, const struct command *command, const struct option_row *row)
{
    char left[40];
    char text[400];
    bool is_of_file = row->is_key && command->key_uses == AR_KEY_IN_RUN;
    snprintf(left, sizeof left, "--%s%s%s", row->name, row->placeholder != NULL ? " " : "",
             row->placeholder != NULL ? row->placeholder : "");
    snprintf(text, sizeof text,
             row->standard == NULL ? "%s"
             : is_of_file          ? "%s [of the file, or %s]"
                                   : "%s [%s]",
             row->help, row->standard);
    bool is_long = strlen(left) > HELP_INDENT - 3;
    fprintf(file, "  %-*s%s%*s", HELP_INDENT - 3, left, is_long ? "\n" : " ",
            is_long ? HELP_INDENT : 0, "");
    write_words(file, text, strlen(text), HELP_INDENT, HELP_INDENT, "");
}

/* Keys in the order of their list, from the first one of a section on; AR_KEYS_COUNT: what is no
 * key. */
static const struct {
    enum ar_key first;
    const char *name;
} sections[] = {
    {AR_KEY_CLUSTER, "machine"},
    {AR_KEY_OPERATION, "GPUs and collectives"},
    {AR_KEY_TRACE, "what is trained"},
    {AR_KEY_STRATEGY, "strategy, parameter servers, work units"},
    {AR_KEY_SCHEDULE, "layout of a transformer"},
    {AR_KEY_OPERATORS, "operators"},
    {AR_KEY_GRADIENTS, "gradients, compute, and what is between the layers"},
    {AR_KEY_ENGINE, "engine"},
    {AR_KEY_JITTER, "jitter"},
    {AR_KEYS_COUNT, "of this command"},
};
enum { SECTIONS = sizeof sections / sizeof sections[0], SECTIONS_FROM = 30 };

static size_t section_of(enum ar_key key)
{
    size_t section = 0;
    while (section + 1 < SECTIONS && sections[section + 1].first <= key) {
        section++;
    }
    return section;
}

/* Few options have no sections. */
static void write_options(FILE *file, const struct command *command)
{
    struct option_row rows[OPTIONS_MAX];
    size_t count = options_list(command, rows);
    size_t before = SECTIONS;
    fputs("\noptions:\n", file);
    for (size_t i = 0; i < count; i++) {
        size_t section = section_of(rows[i].key);
        if (count >= SECTIONS_FROM && section != before) {
            fprintf(file, " %s:\n", sections[section].name);
        }
        before = section;
        write_option(file, command, &rows[i]);
    }
    fputc('\n', file);
}

/* What all collectives are told of. */
static void write_collective(FILE *file, const struct ar_operation *operation)
{
    char text[600];
    snprintf(
        text, sizeof text,
        "Times one %s on a cluster, or, with --mesh, one in each group at once. The payload is "
        "%s; it, algbw and busbw are those of nccl-tests. Without --algorithm the fastest one "
        "is taken%s\n\n",
        operation->name, operation->payload,
        operation->has_root ? ", without --root rank 0." : ".");
    write_text(file, text);
}

static void command_help(FILE *file, const struct command *command)
{
    char usage[160];
    int length = snprintf(usage, sizeof usage, "usage: allreckon %s %s [options]", command->name,
                          command->arguments);
    write_words(file, usage, (size_t)length, 0, 4, "");
    fputc('\n', file);
    if (command->operation != NULL) {
        write_collective(file, command->operation);
    }
    write_text(file, command->text);
    write_options(file, command);
    write_text(file,
               "Units: sizes B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024); rates "
               "GB/s, Gbps (bits); times s, ms, us, ns; costs ps/B. A number without a unit is an "
               "error where one is expected. Exit codes follow sysexits: 0, 64 usage, 65 bad data, "
               "66 no such file, or none shipped by that name, 69 no SimGrid, 70 internal, 71 no "
               "memory or processes, 74 I/O, "
               "130 interrupted.");
}

void help_write(FILE *file, const struct command *command)
{
    if (command != NULL) {
        command_help(file, command);
        return;
    }
    fputs("usage: allreckon COMMAND [options]\n\n", file);
    write_text(file, "Predicts how long communication takes on a GPU cluster, how well training "
                     "scales on it, and which collective algorithms to use.\n\ncommands:");
    for (const struct command *row = commands; row->name != NULL; row++) {
        size_t at = (size_t)fprintf(file, "  %-*s ", COMMAND_INDENT - 3, row->name);
        write_words(file, row->summary, strlen(row->summary), at, COMMAND_INDENT, "");
    }
    fputs("\n'allreckon COMMAND --help' shows the options of a command with an example.\n", file);
}
