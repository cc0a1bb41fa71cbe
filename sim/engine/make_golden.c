/* Writes a golden file to stdout; its header says when and how. */
#include <stdio.h>

#include "ar_error.h"

/** golden_write() or golden_steps_write(), whose headers say which folder they take. */
enum ar_status GOLDEN_WRITE(const char *folder, FILE *file, struct ar_error *err);

int main(int argc, char **argv)
{
    struct ar_error err;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return ar_status_exit_code(AR_USAGE);
    }
    enum ar_status status = GOLDEN_WRITE(argv[1], stdout, &err);
    if (status != AR_OK) {
        fprintf(stderr, "%s: %s\n", argv[0], err.text);
    }
    return ar_status_exit_code(status);
}
