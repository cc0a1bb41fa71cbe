/** \file arguments.h
 * The command line of allreckon-validate. Lists stay text here and are parsed by cases.h.
 */
#ifndef AR_VALIDATE_ARGUMENTS_H
#define AR_VALIDATE_ARGUMENTS_H

#include "backend.h"

struct arguments {
    const char *backend;
    const char *operation; /**< list of commands, or all */
    const char *algorithms;
    const char *shapes;
    const char *ranks;    /**< NULL: the backend's choice */
    const char *payload;  /**< NULL: depends on what is measured */
    const char *channels; /**< list */
    const char *datatype;
    const char *memory; /**< NULL: the backend's default */
    const char *out;    /**< NULL: stdout */
    uint32_t root;
    uint32_t ranks_per_node; /**< 0: as the backend finds it */
    struct run_config config;
    bool check_only;
    bool probes;
    bool quiet;
    bool help;
    bool version;
};

/** Parses `argv` and fills in defaults. An option with a value may be given once. The backend and
 * its memory are looked up unless --help or --version is given. */
enum ar_status arguments_parse(int argc, char **argv, struct arguments *arguments,
                               const struct backend **backend, struct ar_error *err);

/** Writes --help, with the backends of this build. */
void help_write(FILE *file);

#endif
