/* Writes a golden file to stdout; its header says when and how. */
#include <stdio.h>

#include "ar_error.h"

/** The cases of the file, of this folder or of sim/step/; `root` is the folder of their sources. */
enum ar_status GOLDEN_WRITE(const char *root, FILE *file, struct ar_error *err);

int main(int argc, char **argv)
{
    struct ar_error err;
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden FOLDER\n");
        return ar_status_exit_code(AR_USAGE);
    }
    enum ar_status status = GOLDEN_WRITE(argv[1], stdout, &err);
    if (status != AR_OK) {
        fprintf(stderr, "make_golden: %s\n", err.text);
    }
    return ar_status_exit_code(status);
}
