/** \file readers.h
 * The readers: each reads a text into `logs`, which has its path and no runs yet.
 */
#ifndef AR_LOGS_READERS_H
#define AR_LOGS_READERS_H

#include "ar_log.h"

typedef enum ar_status ar_reader(struct ar_logs *logs, const char *text, size_t bytes,
                                 struct ar_error *err);

ar_reader ar_read_text; /**< nccl-tests and OSU, also both in one file */
ar_reader ar_read_nccl_json;
ar_reader ar_read_csv; /**< harness and published measurements */

#endif
