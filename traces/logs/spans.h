/** \file spans.h
 * Pieces of a file in memory: lines, words and numbers in it. A span need not be terminated and may
 * hold any bytes.
 */
#ifndef AR_LOGS_SPANS_H
#define AR_LOGS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ar_span {
    const char *at;
    size_t bytes;
};

/** A terminated text. */
struct ar_span ar_span_of(const char *text);

/** The lines of a text. */
struct ar_lines {
    struct ar_span rest;
    uint64_t line; /**< number of the last line returned */
};

/** Begins before the first line, after a UTF-8 mark if there is one. */
struct ar_lines ar_lines_of(const char *text, size_t bytes);

/** The next line without its end (LF or CRLF) and without blanks around it. */
bool ar_lines_next(struct ar_lines *lines, struct ar_span *line);

struct ar_span ar_span_trim(struct ar_span span);

/** A line without the `#` that may begin it, and trimmed. */
struct ar_span ar_span_unmarked(struct ar_span line);

/** How many digits stand at `start`. */
size_t ar_span_digits(struct ar_span span, size_t start);

bool ar_span_is(struct ar_span span, const char *text);
bool ar_span_starts(struct ar_span span, const char *text);

/** Place of `text` in the span, or `span.bytes` when it is not there. */
size_t ar_span_find(struct ar_span span, const char *text);

bool ar_span_has(struct ar_span span, const char *text);

/** Whether `text` is in the span; `rest` is what follows it then. */
bool ar_span_behind(struct ar_span span, const char *text, struct ar_span *rest);

/** What follows the first `bytes` bytes. */
struct ar_span ar_span_after(struct ar_span span, size_t bytes);

/** The first word, removed from the span; empty at the end. */
struct ar_span ar_span_word(struct ar_span *span);

/** Splits into words; returns how many there are, of which at most `max` are stored. */
size_t ar_span_words(struct ar_span span, struct ar_span *words, size_t max);

/** A decimal number as programs print it, the whole span; no hexadecimal, no infinity. `half_digit`
 * is half a unit of its last digit: the true value lies that far around. */
bool ar_span_number(struct ar_span span, double *value, double *half_digit);

/** A whole number >= 0, the whole span. */
bool ar_span_count(struct ar_span span, uint64_t *count);

/** Copies at most `size` - 1 bytes, terminated; control characters become `?`. */
void ar_span_copy(struct ar_span span, char *target, size_t size);

/** Room for a quotation in a message. */
enum { AR_QUOTE = 48 };

/** Copies the beginning for a message, in printable ASCII; returns `text`. */
const char *ar_span_quote(struct ar_span span, char text[AR_QUOTE]);

#endif
