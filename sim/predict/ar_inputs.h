/** \file ar_inputs.h
 * The files that scenarios are made of, each read once.
 *
 * What is returned is borrowed: it stays, unchanged, as long as the inputs do. Errors of names that
 * are not found begin with `where`.
 */
#ifndef AR_INPUTS_H
#define AR_INPUTS_H

#include "ar_device_cost.h"
#include "ar_evoformer.h"
#include "ar_framework.h"
#include "ar_library_table.h"
#include "ar_recorded.h"
#include "ar_topo.h"
#include "ar_trace.h"
#include "ar_transformer.h"
#include "resource.h"

/** A file that was read. */
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
        struct ar_transformers *transformers;
        struct ar_recorded *recorded;
        struct ar_evoformers *evoformers;
    };
};

/** Has read nothing yet, and lies in the arena as what it reads; NULL if there is no memory. */
struct ar_inputs *ar_inputs_create(struct ar_arena *arena);

/** The file of a shipped name or a path; any kind but runs, published runs and indices. */
enum ar_status ar_inputs_find(struct ar_inputs *inputs, enum resource kind, const char *where,
                              const char *name, const struct ar_input **input,
                              struct ar_error *err);

/** The fitted table that a cluster names: it lies beside the cluster's file, or is a shipped one.
 */
enum ar_status ar_inputs_library(struct ar_inputs *inputs, const char *cluster_name,
                                 const char *name, const struct ar_library_table **table,
                                 struct ar_error *err);

#endif
