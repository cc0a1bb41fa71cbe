/* What --help says. */
#include "option_rows.h"

static void command_help(FILE *file, const struct command *command)
{
    struct option_row rows[OPTIONS_MAX];
    size_t count = option_rows_of(command, rows);
    fprintf(file, "usage: allreckon %s %s%s[options]\n\n%s\n\noptions:\n", command->name,
            command->arguments, command->arguments[0] != '\0' ? " " : "", command->text);
    for (size_t i = 0; i < count; i++) {
        const struct option_row *row = &rows[i];
        char left[40];
        snprintf(left, sizeof left, "--%s%s%s", row->name, row->placeholder != NULL ? " " : "",
                 row->placeholder != NULL ? row->placeholder : "");
        fprintf(file, "  %-18s %s", left, row->help);
        if (row->standard != NULL) {
            bool is_of_file = row->is_key && command->key_uses == AR_KEY_IN_RUN;
            fprintf(file, is_of_file ? " [of the file, or %s]" : " [%s]", row->standard);
        }
        fputc('\n', file);
    }
    fputs(
        "\nUnits: sizes B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024); rates\n"
        "GB/s, Gbps (bits); times s, ms, us, ns; costs ps/B. A number without a unit is an error\n"
        "where one is expected. Exit codes follow sysexits: 0, 64 usage, 65 bad data, 66 no such\n"
        "input, 70 internal, 71 no memory or processes, 74 I/O, 130 interrupted.\n",
        file);
}

void help_write(FILE *file, const struct command *command)
{
    if (command != NULL) {
        command_help(file, command);
        return;
    }
    fputs("usage: allreckon COMMAND [options]\n\n"
          "Predicts how well data-parallel training scales on a GPU cluster, and which all-reduce\n"
          "to use.\n\ncommands:\n",
          file);
    for (const struct command *row = commands; row->name != NULL; row++) {
        fprintf(file, "  %-11s %s\n", row->name, row->summary);
    }
    fputs("\n'allreckon COMMAND --help' shows the options of a command with an example.\n", file);
}
