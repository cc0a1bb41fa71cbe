#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

void ar_clean(char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char letter = (unsigned char)text[i];
        if (letter < 0x20 || letter == 0x7f) {
            text[i] = letter != '\0' && strchr(AR_BLANKS, letter) != NULL ? ' ' : '?';
        }
    }
}

void ar_copy_clean(char *target, size_t size, const char *source)
{
    ar_copy_text(target, size, source);
    ar_clean(target, strlen(target));
}

char *ar_trim(char *text)
{
    text += strspn(text, " ");
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' '; end--) {
        text[end - 1] = '\0';
    }
    return text;
}

char *ar_unmarked(char *line)
{
    return line[0] == '#' ? line + strspn(line, "# ") : line;
}

char *ar_behind(char *text, const char *part)
{
    char *place = strstr(text, part);
    return place == NULL ? NULL : place + strlen(part);
}

size_t ar_split(char *text, const char **words, size_t max)
{
    size_t count = 0;
    char *rest;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (count < max) {
            words[count] = word;
        }
        count++;
    }
    return count;
}

bool ar_is_number(const char *word)
{
    struct ar_error ignored;
    double number;
    return ar_parse_number("", word, -HUGE_VAL, HUGE_VAL, &number, &ignored) == AR_OK;
}

bool ar_is_count(const char *word)
{
    return word[0] != '\0' && word[strspn(word, AR_DIGITS)] == '\0';
}

bool ar_take_count(const char **rest, const char *key, uint64_t *count)
{
    const char *at = *rest + strspn(*rest, " ");
    if (strncmp(at, key, strlen(key)) != 0) {
        return false;
    }
    at += strlen(key);
    at += strspn(at, " ");
    if (strspn(at, AR_DIGITS) == 0) {
        return false;
    }
    char *end;
    *count = strtoull(at, &end, 10);
    *rest = end;
    return true;
}
