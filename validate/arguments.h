/** \file arguments.h
 * The command line of allreckon-validate. Values stay text here and are parsed by cases.h.
 */
#ifndef AR_VALIDATE_ARGUMENTS_H
#define AR_VALIDATE_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

#include "ar_error.h"

struct arguments {
    const char *backend;
    const char *algorithms;
    const char *shapes;
    const char *ranks;    /**< NULL: the backend's choice */
    const char *payload;  /**< NULL: depends on what is measured */
    const char *channels; /**< list */
    const char *datatype;
    const char *repetitions;
    const char *warmup;
    const char *window;
    const char *slot;
    const char *ranks_per_node; /**< NULL: what the backend finds */
    const char *memory;         /**< NULL: the backend's default */
    const char *timeout;
    const char *out; /**< NULL: stdout */
    bool graph;
    bool check_only;
    bool probes;
    bool quiet;
    bool help;
    bool version;
};

/** Parses `argv`; defaults are filled in. An option with a value may be given once. */
enum ar_status arguments_parse(int argc, char **argv, struct arguments *arguments,
                               struct ar_error *err);

/** Writes --help, with the backends of this build. */
void help_write(FILE *file);

#endif
