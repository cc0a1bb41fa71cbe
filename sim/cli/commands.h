/** \file commands.h
 * The commands, one source file each.
 */
#ifndef AR_COMMANDS_H
#define AR_COMMANDS_H

#include "options.h"

#define COMMAND_LIST(X)                                                                            \
    X(list)                                                                                        \
    X(allreduce)                                                                                   \
    X(predict)                                                                                     \
    X(train)                                                                                       \
    X(sweep)                                                                                       \
    X(plot)                                                                                        \
    X(explain)                                                                                     \
    X(links)                                                                                       \
    X(calibrate)                                                                                   \
    X(compare)                                                                                     \
    X(reproduce)                                                                                   \
    X(export)                                                                                      \
    X(verify)

enum command_number {
#define X(name) COMMAND_##name,
    COMMAND_LIST(X)
#undef X
        COMMANDS_COUNT
};

#define X(name) enum ar_status command_##name(const struct options *options, struct ar_error *err);
COMMAND_LIST(X)
#undef X

#endif
