/** \file commands.h
 * The commands: a name here, a row of help in commands.c, a function in a source file cmd_*.c.
 */
#ifndef AR_COMMANDS_H
#define AR_COMMANDS_H

#include "options.h"

/** Commands that time one collective: command, and operation (ar_operation.h). */
#define COLLECTIVE_LIST(X)                                                                         \
    X(allreduce, all_reduce)                                                                       \
    X(allgather, all_gather)                                                                       \
    X(reducescatter, reduce_scatter)                                                               \
    X(broadcast, broadcast)                                                                        \
    X(reduce, reduce)                                                                              \
    X(gather, gather)                                                                              \
    X(scatter, scatter)                                                                            \
    X(alltoall, all_to_all)                                                                        \
    X(send, send)

#define COMMAND_LIST(X)                                                                            \
    X(list)                                                                                        \
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
#define X(name, operation) COMMAND_##name,
        COLLECTIVE_LIST(X)
#undef X
            COMMANDS_COUNT
};

enum {
    COLLECTIVE_COMMANDS = 0
#define X(name, operation) | 1u << COMMAND_##name
    COLLECTIVE_LIST(X)
#undef X
};

#define X(name) enum ar_status command_##name(const struct options *options, struct ar_error *err);
COMMAND_LIST(X)
#undef X
/** Whether the only argument of compare is a trace of measured times; compares its layers. */
bool command_layers_takes(const struct options *options);
enum ar_status command_layers(const struct options *options, struct ar_error *err);
enum ar_status command_collective(const struct options *options, struct ar_error *err);

#endif
