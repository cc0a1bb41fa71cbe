/** \file cmd_export.h
 * The formats of `export`.
 */
#ifndef AR_CMD_EXPORT_H
#define AR_CMD_EXPORT_H

#include "options.h"

enum ar_status export_goal(const struct options *options, struct ar_error *err);
enum ar_status export_astra(const struct options *options, struct ar_error *err);
enum ar_status export_msccl(const struct options *options, struct ar_error *err);
enum ar_status export_tuner(const struct options *options, struct ar_error *err);

#endif
