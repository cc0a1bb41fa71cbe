/** \file cases.h
 * The command line of allreckon-validate, the measurements that it asks for, and their file.
 */
#pragma once

#include <stdio.h>

#include "backend.h"

/** The command line. Lists stay text here and are parsed by cases_create(). */
struct arguments {
    const char *backend;
    const char *operation; /**< list of commands, or all */
    const char *algorithms;
    const char *shapes;
    const char *ranks;    /**< NULL: the backend's choice */
    const char *payload;  /**< NULL: depends on what is measured */
    const char *channels; /**< list */
    const char *datatype;
    const char *slot, *timeout; /**< as given; read into `config` */
    const char *memory;         /**< NULL: the backend's default */
    const char *out;            /**< NULL: stdout */
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
void usage_write(FILE *file);

/** All measurements, in the order they are run. The same on all processes of a run. */
struct cases {
    struct measurement *rows;
    size_t count;
    struct ar_arena *arena; /**< holds them, their times, and the lists they are made from */
};

/** Lays out the measurements on a machine. */
enum ar_status cases_create(const struct arguments *arguments, const struct backend *backend,
                            const struct machine *machine, struct ar_arena *arena,
                            struct cases *cases, struct ar_error *err);

/** Writes machine, system, versions, date, command, what the backend says, and names of columns. */
void result_write_head(FILE *file, const struct backend *backend, const struct run_config *config,
                       int argc, char *const *argv);

/** Writes one row; columns of times stay empty if only the result was checked. Sorts the times. */
void result_write_row(FILE *file, const struct backend *backend, struct measurement *measurement);
