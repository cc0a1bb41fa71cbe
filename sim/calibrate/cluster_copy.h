/** \file cluster_copy.h
 * A copy of a cluster file with other values of some keys, and what is said of them at its head.
 */
#ifndef AR_CLUSTER_COPY_H
#define AR_CLUSTER_COPY_H

#include <stdbool.h>
#include <stdio.h>

#include "ar_measured.h"

enum {
    COPY_NAME_SIZE = 128,
    COPY_REMARK_SIZE = 400,
    COPY_LINE_SIZE = 8192,
    COPY_PATH_SIZE = 3700,
    COPY_REMARKS_MAX = AR_LIBRARY_NODES_MAX * 4 + 512,
    COPY_SETTINGS_MAX = 64,
    COPY_ENTRIES_MAX = COPY_SETTINGS_MAX + AR_LINK_COSTS_COUNT + 4
};

/** Lines of comment; freed with remarks_free(). */
struct remarks {
    char *lines[COPY_REMARKS_MAX];
    size_t count;
    bool is_short_of_memory;
};

/** Adds a line; control characters become question marks, what is too much is left out. */
void remark(struct remarks *remarks, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** `nodes fitted: 1, 2, 4` */
void remark_counts(struct remarks *remarks, const char *what,
                   const struct ar_library_nodes *counts);

/** Program and date. */
void remark_program(struct remarks *remarks);

/** Which runs were measured, and on what. */
void remark_measured(const struct ar_measured *measured, struct remarks *remarks);

void remarks_free(struct remarks *remarks);

struct copy_entry {
    char key[COPY_NAME_SIZE];
    char line[COPY_LINE_SIZE / 2]; /**< `key = value ; source` */
    bool is_written;
};

/** What differs in the copy. */
struct cluster_copy {
    struct copy_entry entries[COPY_ENTRIES_MAX];
    size_t entries_count;
};

/** Sets a value; a later one of a key takes the place of an earlier one, as with --set. */
void copy_set(struct cluster_copy *copy, const char *key, const char *value, const char *source);

/** Sets what `--set` says. */
void copy_settings(struct cluster_copy *copy, const struct ar_calibrate_request *request);

/** The description of the cluster, and what is different here (`NCCL fitted to 24 rows`); an
 * earlier `WHAT fitted to ...` is replaced. */
void copy_describe(struct cluster_copy *copy, const char *description, const char *what,
                   size_t rows_count);

/** Copies the lines of `source_path` with the values set and a block of remarks at the head, which
 * takes the place of one of an earlier calibration. */
enum ar_status copy_write(struct cluster_copy *copy, const struct remarks *remarks,
                          const char *source_path, FILE *target, struct ar_error *err);

/** Checks that `path` (--out) is NAME.topo and not the file `source`; writes NAME. */
enum ar_status copy_check_path(const char *source, const char *path, char name[COPY_NAME_SIZE],
                               struct ar_error *err);

#endif
