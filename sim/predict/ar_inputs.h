/** \file ar_inputs.h
 * The files that scenarios are made of: where shipped ones lie, and each of them read once.
 *
 * A name such as `abci-v100` becomes a path: it is looked for in `../share/allreckon` beside the
 * program's directory (after an install), then in the source tree the program was built from. A
 * text with a slash or the ending of its kind is a path and taken as it is. Errors of names that
 * are not found begin with `where`.
 */
#pragma once

#include "ar_device_cost.h"
#include "ar_evoformer.h"
#include "ar_framework.h"
#include "ar_library_table.h"
#include "ar_recorded.h"
#include "ar_topo.h"
#include "ar_trace.h"
#include "ar_transformer.h"

enum resource {
    RESOURCE_CLUSTER,
    RESOURCE_TRACE,
    RESOURCE_COST,
    RESOURCE_LIBRARY,
    RESOURCE_FRAMEWORK,
    RESOURCE_RUN,
    RESOURCE_PUBLISHED,
    RESOURCE_WORKLOADS, /**< only `transformers` */
    RESOURCE_MODEL,     /**< paths alone, those that end in .json */
    RESOURCE_RECORDED,  /**< other paths alone */
    RESOURCE_OPERATORS,
    RESOURCE_EVOFORMERS, /**< only `evoformers` */
    RESOURCE_PICTURE,    /**< templates */
    RESOURCE_SETS        /**< only `index`, `systems`, `options` */
};

enum { RESOURCE_PATH = 3800, RESOURCE_NAMES_MAX = 64 };

/** Whether a text is a path of a kind. A path of a workload is a model where it ends in .json, but
 * not in trace.json, else a recorded step. */
bool resource_is_path(enum resource kind, const char *name);

/** Adds to the error of an unknown name how a path would look; returns its status. */
enum ar_status resource_add_path(enum resource kind, struct ar_error *err);

/** Turns a name or path into a path; the error of an unknown name has the nearest known one. */
enum ar_status resource_find(enum resource kind, const char *where, const char *name,
                             char path[RESOURCE_PATH], struct ar_error *err);

/** Lists the shipped names of a kind, sorted; returns how many. */
size_t resource_names(enum resource kind, char names[RESOURCE_NAMES_MAX][64]);

/** A directory of what pictures and pages are made with, such as `plots/templates`. */
enum ar_status resource_plots(const char *folder, char path[RESOURCE_PATH], struct ar_error *err);

/* --- files that were read --------------------------------------------------------------------- */

/** A file that was read; it stays, unchanged, as long as the inputs do. */
struct ar_input {
    struct ar_input *next;
    enum resource kind;
    const char *path;
    union { /* by kind */
        struct ar_topo *topo;
        struct ar_trace_file *trace;
        struct ar_device_cost *cost;
        struct ar_framework *framework;
        struct ar_library_table *library;
        struct ar_csv_list *list; /**< of workloads, Evoformers */
        struct ar_transformer *model;
        struct ar_recorded *recorded;
    };
};

/** Has read nothing yet, and lies in the arena as what it reads. */
struct ar_inputs *ar_inputs_create(struct ar_arena *arena);

/** The file of a shipped name or a path; any kind but runs, published runs and indices. */
enum ar_status ar_inputs_find(struct ar_inputs *inputs, enum resource kind, const char *where,
                              const char *name, const struct ar_input **input,
                              struct ar_error *err);

/** The device cost table that a cluster names: a shipped one, or the path of a file, from the
 * working directory or else that of the cluster's file (`cluster_name` may be NULL). */
enum ar_status ar_inputs_device_cost(struct ar_inputs *inputs, const char *cluster_name,
                                     const char *name, const struct ar_input **input,
                                     struct ar_error *err);

/** The fitted table that a cluster names: beside the cluster's file, or a shipped one. */
enum ar_status ar_inputs_library(struct ar_inputs *inputs, const char *cluster_name,
                                 const char *name, const struct ar_library_table **table,
                                 struct ar_error *err);
