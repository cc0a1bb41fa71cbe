/** \file ar_setting.h
 * A text `KEY=VALUE` that changes a value of something, and where it stood.
 */
#ifndef AR_BASE_SETTING_H
#define AR_BASE_SETTING_H

#include <stddef.h>

#include "ar_error.h"

struct ar_setting {
    const char *text;      /**< `net.latency=2.4us` */
    const char *where;     /**< begins error lines: `--set`, `sony.run.csv:12: set` */
    enum ar_status status; /**< of errors of its value: AR_USAGE for the command line, AR_BAD_DATA
                                for a file */
};

/** Settings in order; none of a KEY wins over another unless the user of them says so. The list is
 * borrowed. */
struct ar_settings {
    const struct ar_setting *list;
    size_t count;
};

#endif
