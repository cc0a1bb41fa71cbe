/** \file ar_hash.h
 * A hash that says whether two runs are of the same thing (FNV-1a, 64 bits).
 */
#ifndef AR_BASE_HASH_H
#define AR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define AR_HASH_BEGIN 0xcbf29ce484222325u /* FNV's offset basis */

void ar_hash_bytes(uint64_t *hash, const void *bytes, size_t size);

/** With its end, so that "ab" and "c" are not "a" and "bc". */
void ar_hash_text(uint64_t *hash, const char *text);

#endif
