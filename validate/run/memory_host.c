#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { ALIGNMENT = 4096 };

static enum ar_status allocate(size_t bytes, unsigned char **memory, struct ar_error *err)
{
    size_t pages = (bytes + ALIGNMENT) / ALIGNMENT; /* never none */
    *memory = aligned_alloc(ALIGNMENT, pages * ALIGNMENT);
    return *memory != NULL ? AR_OK : ar_error_no_memory(err, "a buffer");
}

static void release(unsigned char *memory)
{
    free(memory);
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
    .release = release,
    .write = copy,
    .read = copy,
    .copy = copy,
    .reduce = reduce,
};
