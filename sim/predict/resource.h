/** \file resource.h
 * Where shipped files lie: a name such as `abci-v100` becomes a path.
 *
 * A text with a slash or the ending of its kind is a path and taken as it is. A name is looked for
 * in `../share/allreckon` beside the program's directory (after an install), then in the source
 * tree the program was built from.
 */
#ifndef AR_RESOURCE_H
#define AR_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "ar_error.h"

enum resource {
    RESOURCE_CLUSTER,
    RESOURCE_TRACE,
    RESOURCE_COST,
    RESOURCE_LIBRARY,
    RESOURCE_FRAMEWORK,
    RESOURCE_RUN,
    RESOURCE_PUBLISHED,
    RESOURCE_WORKLOADS, /**< only `transformers` */
    RESOURCE_RECORDED,  /**< paths alone */
    RESOURCE_OPERATORS,
    RESOURCE_EVOFORMERS, /**< only `evoformers` */
    RESOURCE_SETS        /**< only `index` */
};

enum { RESOURCE_PATH = 3800, RESOURCE_NAMES_MAX = 64 };

/** Whether a text is a path of a kind. */
bool resource_is_path(enum resource kind, const char *name);

/** Adds to the error of an unknown name how a path would look; returns its status. */
enum ar_status resource_add_path(enum resource kind, struct ar_error *err);

/** Turns a name or path into a path; an unknown name is an error that names the nearest known one.
 */
enum ar_status resource_find(enum resource kind, const char *where, const char *name,
                             char path[RESOURCE_PATH], struct ar_error *err);

/** Lists the shipped names of a kind, sorted; returns how many. */
size_t resource_names(enum resource kind, char names[RESOURCE_NAMES_MAX][64]);

/** A directory of what pictures and pages are made with, such as `plots/templates`. */
enum ar_status resource_plots(const char *folder, char path[RESOURCE_PATH], struct ar_error *err);

#endif
