/** \file ar_hash.h
 * A hash that tells whether two runs are about the same thing (FNV-1a, 64 bits).
 */
#ifndef AR_BASE_HASH_H
#define AR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AR_HASH_BEGIN 0xcbf29ce484222325u /* FNV's offset basis */

static inline void ar_hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *hash = (*hash ^ at[i]) * 0x100000001b3u;
    }
}

/** Hashes a text with its end, so that "ab" and "c" differ from "a" and "bc". */
static inline void ar_hash_text(uint64_t *hash, const char *text)
{
    ar_hash_bytes(hash, text, strlen(text) + 1);
}

#endif
