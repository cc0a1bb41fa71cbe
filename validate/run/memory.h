/** \file memory.h
 * The memory a rank's buffer and slots are in: that of the host, or of a GPU.
 *
 * copy() and reduce() have finished when they return, so that what they wrote may be sent.
 */
#ifndef AR_VALIDATE_MEMORY_H
#define AR_VALIDATE_MEMORY_H

#include "element.h"

struct memory {
    const char *name; /**< as on the command line: host, device */
    bool is_host;     /**< the processor can read and write it */
    enum ar_status (*allocate)(size_t bytes, unsigned char **memory, struct ar_error *err);
    void (*release)(unsigned char *memory);
    enum ar_status (*write)(unsigned char *to, const unsigned char *from_host, size_t bytes,
                            struct ar_error *err);
    enum ar_status (*read)(unsigned char *to_host, const unsigned char *from, size_t bytes,
                           struct ar_error *err);
    enum ar_status (*copy)(unsigned char *to, const unsigned char *from, size_t bytes,
                           struct ar_error *err);
    enum ar_status (*reduce)(const struct element_type *type, unsigned char *sum,
                             const unsigned char *addend, uint64_t count, struct ar_error *err);
};

extern const struct memory memory_host;

#endif
