/* make_resnet50 [FILE]: writes traces/resnet50-v1.5.csv, to standard output by default. */
#include <stdio.h>

#include "ar_output.h"
#include "resnet50.h"

int main(int argc, char **argv)
{
    struct ar_output output;
    struct ar_error err;
    if (argc == 1) {
        ar_resnet50_write(stdout);
        return fflush(stdout) == 0 ? 0 : ar_status_exit_code(AR_IO);
    }
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: make_resnet50 [FILE]\n");
        return ar_status_exit_code(AR_USAGE);
    }
    enum ar_status status = ar_output_open(argv[1], &output, &err);
    if (status == AR_OK) {
        ar_resnet50_write(output.file);
        status = ar_output_commit(&output, &err);
    }
    if (status != AR_OK) {
        fprintf(stderr, "make_resnet50: %s\n", err.text);
    }
    return ar_status_exit_code(status);
}
