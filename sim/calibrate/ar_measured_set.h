/** \file ar_measured_set.h
 * The index of measured sets (validate/data/index.csv).
 */
#ifndef AR_MEASURED_SET_H
#define AR_MEASURED_SET_H

#include <stddef.h>

#include "ar_arena.h"
#include "ar_error.h"

struct ar_measured_set {
    const char *name; /**< the stem of its file */
    const char *file;
    const char *cluster;   /**< shipped, that is compared with it */
    const char *engine;    /**< whose subject the rows are */
    const char *algorithm; /**< what its rows are called here */
    const char *source;
};

/** Reads an index; all of it is the arena's. */
enum ar_status ar_measured_sets_read(const char *path, struct ar_arena *arena,
                                     struct ar_measured_set **sets, size_t *count,
                                     struct ar_error *err);

/** The set of a measured file; NULL if there is none of its name. */
const struct ar_measured_set *ar_measured_set_of(const struct ar_measured_set *sets, size_t count,
                                                 const char *path);

#endif
