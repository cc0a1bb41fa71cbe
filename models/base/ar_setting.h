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

/** Settings of the command line option `where`, written to `list`, which has room for them. */
static inline struct ar_settings ar_settings_of_option(const char *where, const char *const *texts,
                                                       size_t count, struct ar_setting *list)
{
    for (size_t i = 0; i < count; i++) {
        list[i] = (struct ar_setting){texts[i], where, AR_USAGE};
    }
    return (struct ar_settings){list, count};
}

#endif
