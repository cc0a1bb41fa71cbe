/** \file cmd_export.h
 * The formats of `export`.
 */
#ifndef AR_CMD_EXPORT_H
#define AR_CMD_EXPORT_H

#include "options.h"

/** Writes `what`, with a mark (made_by.h) if the format has comments. */
typedef enum ar_status export_writer(FILE *file, const void *what, const char *mark,
                                     struct ar_error *err);

/** Writes to --out, a file that appears whole or not at all, or to stdout. */
enum ar_status export_write(const struct options *options, export_writer *write, const void *what,
                            struct ar_error *err);

enum ar_status export_goal(const struct options *options, struct ar_error *err);
enum ar_status export_astra(const struct options *options, struct ar_error *err);
enum ar_status export_msccl(const struct options *options, struct ar_error *err);
enum ar_status export_tuner(const struct options *options, struct ar_error *err);

#endif
