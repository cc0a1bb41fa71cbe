#include "spans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct ar_span ar_span_of(const char *text)
{
    return (struct ar_span){text, strlen(text)};
}

struct ar_lines ar_lines_of(const char *text, size_t bytes)
{
    size_t mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return (struct ar_lines){.rest = {text + mark, bytes - mark}};
}

bool ar_lines_next(struct ar_lines *lines, struct ar_span *line)
{
    if (lines->rest.bytes == 0) {
        return false;
    }
    const char *end = memchr(lines->rest.at, '\n', lines->rest.bytes);
    size_t bytes = end == NULL ? lines->rest.bytes : (size_t)(end - lines->rest.at);
    *line = ar_span_trim((struct ar_span){lines->rest.at, bytes});
    lines->rest = ar_span_after(lines->rest, end == NULL ? bytes : bytes + 1);
    lines->line++;
    return true;
}

struct ar_span ar_span_trim(struct ar_span span)
{
    while (span.bytes > 0 && is_blank(span.at[0])) {
        span = ar_span_after(span, 1);
    }
    while (span.bytes > 0 && is_blank(span.at[span.bytes - 1])) {
        span.bytes--;
    }
    return span;
}

struct ar_span ar_span_unmarked(struct ar_span line)
{
    while (line.bytes > 0 && line.at[0] == '#') {
        line = ar_span_trim(ar_span_after(line, 1));
    }
    return line;
}

size_t ar_span_digits(struct ar_span span, size_t start)
{
    size_t end = start;
    while (end < span.bytes && is_digit(span.at[end])) {
        end++;
    }
    return end - start;
}

bool ar_span_is(struct ar_span span, const char *text)
{
    return span.bytes == strlen(text) && memcmp(span.at, text, span.bytes) == 0;
}

bool ar_span_starts(struct ar_span span, const char *text)
{
    size_t bytes = strlen(text);
    return span.bytes >= bytes && memcmp(span.at, text, bytes) == 0;
}

size_t ar_span_find(struct ar_span span, const char *text)
{
    const char *place = memmem(span.at, span.bytes, text, strlen(text));
    return place == NULL ? span.bytes : (size_t)(place - span.at);
}

bool ar_span_has(struct ar_span span, const char *text)
{
    return ar_span_find(span, text) < span.bytes;
}

bool ar_span_behind(struct ar_span span, const char *text, struct ar_span *rest)
{
    size_t place = ar_span_find(span, text);
    *rest = ar_span_after(span, place + strlen(text));
    return place < span.bytes;
}

struct ar_span ar_span_after(struct ar_span span, size_t bytes)
{
    size_t skipped = bytes < span.bytes ? bytes : span.bytes;
    return (struct ar_span){span.at + skipped, span.bytes - skipped};
}

struct ar_span ar_span_word(struct ar_span *span)
{
    struct ar_span rest = *span;
    while (rest.bytes > 0 && is_blank(rest.at[0])) {
        rest = ar_span_after(rest, 1);
    }
    size_t bytes = 0;
    while (bytes < rest.bytes && !is_blank(rest.at[bytes])) {
        bytes++;
    }
    *span = ar_span_after(rest, bytes);
    return (struct ar_span){rest.at, bytes};
}

size_t ar_span_words(struct ar_span span, struct ar_span *words, size_t max)
{
    size_t count = 0;
    for (struct ar_span word = ar_span_word(&span); word.bytes > 0; word = ar_span_word(&span)) {
        if (count < max) {
            words[count] = word;
        }
        count++;
    }
    return count;
}

/* Digits of a number: how many before the exponent, how many of them behind the point. */
static size_t scan_digits(const char *text, size_t *decimals)
{
    size_t digits = 0;
    bool is_behind = false;
    *decimals = 0;
    for (; is_digit(*text) || (*text == '.' && !is_behind); text++) {
        if (*text == '.') {
            is_behind = true;
        } else {
            digits++;
            *decimals += is_behind;
        }
    }
    return digits;
}

bool ar_span_number(struct ar_span span, double *value, double *half_digit)
{
    char text[64];
    if (span.bytes == 0 || span.bytes >= sizeof text) {
        return false;
    }
    memcpy(text, span.at, span.bytes);
    text[span.bytes] = '\0';
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    size_t decimals;
    if (scan_digits(digits, &decimals) == 0 || strpbrk(text, "xX") != NULL) {
        return false;
    }
    char *end;
    double number = strtod(text, &end);
    if (end != text + span.bytes || !isfinite(number)) {
        return false;
    }
    const char *exponent = strpbrk(text, "eE");
    long power = exponent == NULL ? 0 : strtol(exponent + 1, NULL, 10);
    *value = number;
    *half_digit = 0.5 * pow(10, (double)power - (double)decimals);
    return true;
}

bool ar_span_count(struct ar_span span, uint64_t *count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < span.bytes; i++) {
        uint64_t digit = (uint64_t)(unsigned char)span.at[i] - '0';
        if (!is_digit(span.at[i]) || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *count = value;
    return span.bytes > 0;
}

void ar_span_copy(struct ar_span span, char *target, size_t size)
{
    size_t bytes = span.bytes < size - 1 ? span.bytes : size - 1;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)span.at[i];
        target[i] = c < 0x20 || c == 0x7f ? '?' : span.at[i];
    }
    target[bytes] = '\0';
}

const char *ar_span_quote(struct ar_span span, char text[AR_QUOTE])
{
    ar_span_copy(span, text, AR_QUOTE);
    for (char *c = text; *c != '\0'; c++) {
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    }
    if (span.bytes >= AR_QUOTE) {
        memcpy(text + AR_QUOTE - 4, "...", 4);
    }
    return text;
}
