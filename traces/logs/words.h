/** \file words.h
 * Lines, words and numbers of a log.
 */
#ifndef AR_LOGS_WORDS_H
#define AR_LOGS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_BLANKS " \t\r\v\f"
#define AR_DIGITS "0123456789"

/** Makes `bytes` bytes a text: blanks become spaces, other control characters `?`. */
void ar_clean(char *text, size_t bytes);

/** Copies a text, cut if too long, and cleans the copy. */
void ar_copy_clean(char *target, size_t size, const char *source);

/** A text without the spaces around it; those behind it are cut off. */
char *ar_trim(char *text);

/** The line behind the `#` that may begin it. */
char *ar_unmarked(char *line);

/** What follows `part` in a text; NULL when it is not there. */
char *ar_behind(char *text, const char *part);

/** Splits a text into words; returns how many there are, of which at most `max` are stored. */
size_t ar_split(char *text, const char **words, size_t max);

bool ar_is_number(const char *word);
bool ar_is_count(const char *word);

/** Reads a key and the number behind it at the beginning of `*rest`, which is then what follows.
 * Numbers too large become the largest. */
bool ar_take_count(const char **rest, const char *key, uint64_t *count);

#endif
