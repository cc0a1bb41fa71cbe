/* Writes golden_steps.csv to stdout; its header says when and how. */
#include <stdio.h>

#include "test_golden_steps_cases.h"

int main(int argc, char **argv)
{
    struct ar_error err;
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden_steps FOLDER_OF_SOURCES\n");
        return ar_status_exit_code(AR_USAGE);
    }
    enum ar_status status = golden_steps_write(argv[1], stdout, &err);
    if (status != AR_OK) {
        fprintf(stderr, "make_golden_steps: %s\n", err.text);
    }
    return ar_status_exit_code(status);
}
