/** \file memory.h
 * The memory a rank's buffer and slots are in: that of the host, or of a GPU.
 *
 * copy() and reduce() have finished when they return, so that what they wrote may be sent.
 */
#ifndef AR_VALIDATE_MEMORY_H
#define AR_VALIDATE_MEMORY_H

#include "ar_arena.h"
#include "element.h"

struct memory {
    const char *name; /**< as on the command line: host, device */
    bool is_host;     /**< the processor can read and write it */

    /** Chooses that of this process, the `local_rank`-th of its node; NULL: there is no choice. */
    enum ar_status (*select)(uint32_t local_rank, struct ar_error *err);

    /** Some, even of no bytes; it ends with the arena. */
    enum ar_status (*allocate)(struct ar_arena *arena, size_t bytes, unsigned char **memory,
                               struct ar_error *err);

    /** Either place may be in host memory. */
    enum ar_status (*copy)(unsigned char *to, const unsigned char *from, size_t bytes,
                           struct ar_error *err);
    enum ar_status (*reduce)(const struct element_type *type, unsigned char *sum,
                             const unsigned char *addend, uint64_t count, struct ar_error *err);
};

extern const struct memory memory_host;
extern const struct memory memory_device; /**< of programs built with CUDA */

#endif
