/** \file ar_transformer_file.h
 * Named transformers: a CSV with a row for each (traces/workloads/transformers.csv).
 */
#ifndef AR_TRANSFORMER_FILE_H
#define AR_TRANSFORMER_FILE_H

#include "ar_transformer.h"

struct ar_transformers {
    struct ar_transformer *list; /**< as in the file: what is empty there is 0 */
    size_t count;
};

/** Reads a file into the arena. */
enum ar_status ar_transformers_load(const char *path, struct ar_arena *arena,
                                    struct ar_transformers **transformers, struct ar_error *err);

/** Finds one by name; the error (AR_NO_INPUT) names the nearest known one. */
enum ar_status ar_transformers_find(const struct ar_transformers *transformers, const char *where,
                                    const char *name, const struct ar_transformer **model,
                                    struct ar_error *err);

#endif
