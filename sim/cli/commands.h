/** \file commands.h
 * The commands: a name here, a row of help in commands.c, a function in a source file cmd_*.c.
 * `collective` is the command of every operation, by its name.
 */
#ifndef AR_COMMANDS_H
#define AR_COMMANDS_H

#include "options.h"

#define COMMAND_LIST(X)                                                                            \
    X(list)                                                                                        \
    X(collective)                                                                                  \
    X(predict)                                                                                     \
    X(boxing)                                                                                      \
    X(train)                                                                                       \
    X(sweep)                                                                                       \
    X(plot)                                                                                        \
    X(report)                                                                                      \
    X(explain)                                                                                     \
    X(links)                                                                                       \
    X(calibrate)                                                                                   \
    X(compare)                                                                                     \
    X(accuracy)                                                                                    \
    X(reproduce)                                                                                   \
    X(trace)                                                                                       \
    X(discover)                                                                                    \
    X(export)                                                                                      \
    X(verify)

enum command_number {
#define X(name) COMMAND_##name,
    COMMAND_LIST(X)
#undef X
};

#define X(name) enum ar_status command_##name(const struct options *options, struct ar_error *err);
COMMAND_LIST(X)
#undef X
/** Whether the only argument of compare is a trace of measured times; compares its layers. */
bool command_layers_takes(const struct options *options);
enum ar_status command_layers(const struct options *options, struct ar_error *err);

#endif
