#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { ALIGNMENT = 4096 };

static enum ar_status allocate(struct ar_arena *arena, size_t bytes, unsigned char **memory,
                               struct ar_error *err)
{
    size_t pages = (bytes + ALIGNMENT) / ALIGNMENT; /* never none */
    void *allocated = aligned_alloc(ALIGNMENT, pages * ALIGNMENT);
    *memory = allocated != NULL ? ar_arena_own(arena, allocated, free) : NULL;
    return *memory != NULL ? AR_OK : ar_error_no_memory(err, "a buffer");
}

static enum ar_status copy(unsigned char *to, const unsigned char *from, size_t bytes,
                           struct ar_error *err)
{
    (void)err;
    memcpy(to, from, bytes);
    return AR_OK;
}

static enum ar_status reduce(const struct element_type *type, unsigned char *sum,
                             const unsigned char *addend, uint64_t count, struct ar_error *err)
{
    (void)err;
    type->reduce(sum, addend, count);
    return AR_OK;
}

const struct memory memory_host = {
    .name = "host",
    .is_host = true,
    .allocate = allocate,
    .copy = copy,
    .reduce = reduce,
};
