#include "ar_hash.h"

#include <string.h>

void ar_hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *hash = (*hash ^ at[i]) * 0x100000001b3u;
    }
}

void ar_hash_text(uint64_t *hash, const char *text)
{
    ar_hash_bytes(hash, text, strlen(text) + 1);
}
