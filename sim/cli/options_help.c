/* What --help says, in 80 columns. */
#include <string.h>

#include "option_rows.h"

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
    size_t at = (size_t)fprintf(file, "  %-*s ", HELP_INDENT - 3, left);
    write_words(file, text, strlen(text), at, HELP_INDENT, "");
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
    struct option_row rows[OPTIONS_MAX];
    size_t count = option_rows_of(command, rows);
    char usage[160];
    int length = snprintf(usage, sizeof usage, "usage: allreckon %s %s [options]", command->name,
                          command->arguments);
    write_words(file, usage, (size_t)length, 0, 4, "");
    fputc('\n', file);
    if (command->operation != NULL) {
        write_collective(file, command->operation);
    }
    write_text(file, command->text);
    fputs("\noptions:\n", file);
    for (size_t i = 0; i < count; i++) {
        write_option(file, command, &rows[i]);
    }
    fputc('\n', file);
    write_text(file,
               "Units: sizes B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024); rates "
               "GB/s, Gbps (bits); times s, ms, us, ns; costs ps/B. A number without a unit is an "
               "error where one is expected. Exit codes follow sysexits: 0, 64 usage, 65 bad data, "
               "66 no such input, 69 no SimGrid, 70 internal, 71 no memory or processes, 74 I/O, "
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
