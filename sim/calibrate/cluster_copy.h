/** \file cluster_copy.h
 * A copy of a cluster file with other values of some keys (ar_topo.h), and what is said of them at
 * its head.
 */
#ifndef AR_CLUSTER_COPY_H
#define AR_CLUSTER_COPY_H

#include "ar_arena.h"
#include "ar_calibrate_request.h"
#include "ar_library.h"
#include "ar_measured.h"
#include "ar_topo.h"

enum { COPY_NAME_SIZE = 128, COPY_PATH_SIZE = 3700 };

/** Lines of comment, in the memory of an arena. */
struct comments {
    struct ar_arena *arena;
    const char **lines;
    size_t count, capacity;
    bool is_short_of_memory;
};

/** Adds a line; control characters become question marks. */
void comment_add(struct comments *comments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** `nodes fitted: 1, 2, 4` */
void comment_counts(struct comments *comments, const char *what,
                    const struct ar_library_nodes *counts);

/** Program and date, which runs were measured, and on what. */
void comment_measured(struct comments *comments, const struct ar_measured *measured);

/** What a copy is made of. */
struct cluster_copy {
    const struct ar_calibrate_request *request;
    const char *description; /**< of the cluster that is calibrated */
    const char *what;        /**< was fitted: `NCCL`, `links`; said in the description */
    size_t rows_count;       /**< that it was fitted to */
};

/** Reads the file of the request, which the arena then owns, and gives it the name of --out, the
 * settings of the request, a description of its own (an earlier `WHAT fitted to ...` is replaced)
 * and the comments as a block at its head, in place of one of an earlier calibration. Checks that
 * --out is NAME.topo and another file; writes NAME. */
enum ar_status cluster_copy_make(const struct cluster_copy *copy, const struct comments *comments,
                                 struct ar_arena *arena, struct ar_topo **topo,
                                 char name[COPY_NAME_SIZE], struct ar_error *err);

#endif
