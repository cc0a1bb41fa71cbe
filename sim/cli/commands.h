/** \file commands.h
 * The commands, one source file each.
 */
#ifndef AR_COMMANDS_H
#define AR_COMMANDS_H

#include "options.h"

/** Bits of commands in the table of options. */
enum {
    COMMAND_LIST = 1,
    COMMAND_ALLREDUCE = 2,
    COMMAND_PREDICT = 4,
    COMMAND_SWEEP = 8,
    COMMAND_PLOT = 16,
    COMMAND_EXPLAIN = 32,
    COMMAND_EXPORT = 64,
    COMMAND_VERIFY = 128,
    COMMAND_LINKS = 256,
    COMMAND_CALIBRATE = 512,
    COMMAND_COMPARE = 1024,
    COMMAND_TRAIN = 2048,
    COMMAND_REPRODUCE = 4096,
};

enum ar_status command_list(const struct options *options, struct ar_error *err);
enum ar_status command_allreduce(const struct options *options, struct ar_error *err);
enum ar_status command_predict(const struct options *options, struct ar_error *err);
enum ar_status command_train(const struct options *options, struct ar_error *err);
enum ar_status command_sweep(const struct options *options, struct ar_error *err);
enum ar_status command_plot(const struct options *options, struct ar_error *err);
enum ar_status command_explain(const struct options *options, struct ar_error *err);
enum ar_status command_links(const struct options *options, struct ar_error *err);
enum ar_status command_export(const struct options *options, struct ar_error *err);
enum ar_status command_calibrate(const struct options *options, struct ar_error *err);
enum ar_status command_compare(const struct options *options, struct ar_error *err);
enum ar_status command_verify(const struct options *options, struct ar_error *err);
enum ar_status command_reproduce(const struct options *options, struct ar_error *err);

#endif
