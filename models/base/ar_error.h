/** \file ar_error.h
 * How every fallible function of Allreckon reports failure.
 *
 * A fallible function returns an ::ar_status and takes a `struct ar_error *err` as its last
 * parameter. On AR_OK the outputs are written and `err` is untouched; otherwise the outputs are
 * untouched and `err` holds one line that says where, what was found and what was expected. The
 * first function that knows the cause writes the line; callers pass it on. `err` must not be NULL.
 *
 * Libraries never print and never exit: only the command line turns a status into an exit code
 * (sysexits.h values, see ar_status_exit_code()).
 */
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "ar_list.h"

/** The list of statuses: symbol, exit code of the command line. */
#define AR_STATUS_LIST(X)                                                                          \
    X(AR_OK, 0)                                                                                    \
    X(AR_NOT_MET, 1)       /* what the user requires of the data is not met */                     \
    X(AR_USAGE, 64)        /* wrong usage of the command line */                                   \
    X(AR_BAD_DATA, 65)     /* input data is wrong */                                               \
    X(AR_NO_INPUT, 66)     /* an input file is missing or unreadable */                            \
    X(AR_UNAVAILABLE, 69)  /* a device or library is not there */                                  \
    X(AR_INTERNAL, 70)     /* an error of Allreckon */                                             \
    X(AR_NO_MEMORY, 71)    /* out of memory or processes */                                        \
    X(AR_IO, 74)           /* input or output failed */                                            \
    X(AR_INTERRUPTED, 130) /* by a signal */

enum ar_status { AR_STATUS_LIST(AR_LIST_FIRST) };

struct ar_error {
    enum ar_status status;
    char text[512]; /**< one line, no trailing newline */
};

/** For an error that nobody reads. */
#define AR_IGNORED (&(struct ar_error){.status = AR_OK})

/** Exit code of a status, after sysexits.h. */
int ar_status_exit_code(enum ar_status status);

/** Prints the arguments behind `format`, the last parameter that has a name, into an array. */
#define AR_PRINT_ARGUMENTS(text, format)                                                           \
    do {                                                                                           \
        va_list ar_arguments_;                                                                     \
        va_start(ar_arguments_, format);                                                           \
        vsnprintf((text), sizeof(text), (format), ar_arguments_);                                  \
        va_end(ar_arguments_);                                                                     \
    } while (0)

/** Fills `err` and returns `status`, so that callers can `return ar_error_set(...)`. */
enum ar_status ar_error_set(struct ar_error *err, enum ar_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** AR_BAD_DATA of a line of a file: `path:line: ` and the text. */
enum ar_status ar_error_in_line(struct ar_error *err, const char *path, uint64_t line,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));
#define AR_REFUSE_LINE(found, ...) AR_REFUSE_BY(found, ar_error_in_line(__VA_ARGS__))

/** The status of an error of a value by where the value stood: AR_USAGE and AR_BAD_DATA become
 * `origin`. Others, AR_OK too, pass. */
enum ar_status ar_error_blame(enum ar_status status, enum ar_status origin, struct ar_error *err);

/** Leaves the function with what `refusal`, a call that fills its `err`, returns, if something is
 * found that must not be. What the function owns must be as for AR_TRY(). */
#define AR_REFUSE_BY(found, refusal)                                                               \
    do {                                                                                           \
        if (found) {                                                                               \
            return refusal;                                                                        \
        }                                                                                          \
    } while (0)

/** The same with an error as ar_error_set() writes it. */
#define AR_REFUSE(found, ...) AR_REFUSE_BY(found, ar_error_set(__VA_ARGS__))

/** Leaves the function with the status of `call`, unless that is AR_OK. What the function owns must
 * be in an arena (ar_arena.h) or the caller's. */
#define AR_TRY(call)                                                                               \
    do {                                                                                           \
        enum ar_status ar_try_status_ = (call);                                                    \
        if (ar_try_status_ != AR_OK) {                                                             \
            return ar_try_status_;                                                                 \
        }                                                                                          \
    } while (0)
