#include "reproduce_range.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"

/* Columns that may be unknown, and whether any number between two is one of their values. */
static const struct {
    const char *name;
    bool is_number;
} keys[] = {
    {"cluster", false},         {"gpus", false},   {"algorithm", false}, {"shape", false},
    {"trace", false},           {"batch", false},  {"precision", false}, {"framework", false},
    {"images_per_s_at", false}, {"bucket", false}, {"channels", false},  {"window", false},
    {"engine", false},          {"jitter", true},  {"baseline", false},  {"run", false},
};

enum { KEYS_COUNT = sizeof keys / sizeof keys[0] };

const char *range_key(const struct range *range)
{
    return range->pieces;
}

/* A text with a key behind a dot is a key of a cluster or of a framework. */
static bool is_setting(const char *key)
{
    return (strncmp(key, "set.", 4) == 0 && key[4] != '\0') ||
           (strncmp(key, "term.", 5) == 0 && key[5] != '\0');
}

static enum ar_status check_key(const char *where, const char *key, bool is_between,
                                struct ar_error *err)
{
    const char *names[KEYS_COUNT];
    if (is_setting(key)) {
        return AR_OK;
    }
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        names[i] = keys[i].name;
        if (strcmp(key, keys[i].name) == 0) {
            return !is_between || keys[i].is_number
                       ? AR_OK
                       : ar_error_set(err, AR_BAD_DATA,
                                      "%s: found a number between two ends for %s; expected "
                                      "choices, such as %s=A|B",
                                      where, key, key);
        }
    }
    const char *nearest = ar_nearest_name(key, names, KEYS_COUNT);
    return ar_error_set(err, AR_BAD_DATA,
                        "%s: found \"%.40s\"; expected a parameter, %s%s%s or set.KEY or term.KEY",
                        where, key, nearest != NULL ? "perhaps \"" : "such as \"batch",
                        nearest != NULL ? nearest : "", "\",");
}

/* Parses an end: a number and what is behind it. */
static bool parse_end(const char *text, double *number, const char **unit)
{
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    *unit = end + strspn(end, " ");
    return end != text && errno == 0 && isfinite(*number);
}

/* `low..high`, cut at the dots; a unit behind the first end may be left out. */
static enum ar_status parse_ends(const char *where, char *dots, char *low, struct range *range,
                                 struct ar_error *err)
{
    const char *low_unit;
    const char *high_unit;
    *dots = '\0';
    if (!parse_end(low, &range->low, &low_unit) || !parse_end(dots + 2, &range->high, &high_unit) ||
        (low_unit[0] != '\0' && strcmp(low_unit, high_unit) != 0)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%.80s\"; expected KEY=low..high, two numbers of one unit, "
                            "such as set.net.latency=2.4us..9.6us",
                            where, range->text);
    }
    if (range->low > range->high) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.80s\"; expected the lower end first",
                            where, range->text);
    }
    range->unit = (size_t)(high_unit - range->pieces);
    return AR_OK;
}

static enum ar_status parse_choices(const char *where, char *at, struct range *range,
                                    struct ar_error *err)
{
    bool is_empty = false;
    for (bool is_last = false; !is_last && range->choices_count < RANGE_CHOICES_MAX;) {
        size_t length = strcspn(at, "|");
        is_last = at[length] == '\0';
        is_empty = is_empty || length == 0;
        at[length] = '\0';
        range->choices[range->choices_count++] = (size_t)(at - range->pieces);
        at += length + 1;
    }
    if (is_empty || range->choices_count < 2 || range->choices_count == RANGE_CHOICES_MAX) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%.80s\"; expected KEY=a|b with 2 to %d choices, or "
                            "KEY=low..high",
                            where, range->text, RANGE_CHOICES_MAX - 1);
    }
    return AR_OK;
}

enum ar_status range_parse(const char *where, const char *text, const char *source,
                           struct range *range, struct ar_error *err)
{
    *range = (struct range){.choices_count = 0};
    ar_copy_text(range->text, sizeof range->text, text);
    ar_copy_text(range->pieces, sizeof range->pieces, text);
    ar_copy_text(range->source, sizeof range->source, source);
    char *equals = strchr(range->pieces, '=');
    if (strlen(text) >= RANGE_TEXT || equals == NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%.80s\"; expected KEY=a|b or KEY=low..high, of less than "
                            "%d characters",
                            where, text, RANGE_TEXT);
    }
    *equals = '\0';
    char *dots = strstr(equals + 1, "..");
    bool is_between = dots != NULL && strchr(equals + 1, '|') == NULL;
    enum ar_status status = check_key(where, range->pieces, is_between, err);
    if (status != AR_OK) {
        return status;
    }
    return is_between ? parse_ends(where, dots, equals + 1, range, err)
                      : parse_choices(where, equals + 1, range, err);
}

pick range_draw(const struct range *range, struct ar_draw *draw)
{
    return range->choices_count > 0 ? ar_draw_choice(draw, (uint32_t)range->choices_count)
                                    : ar_draw_uniform(draw, range->low, range->high);
}

uint32_t range_ends_count(const struct range *range)
{
    return range->choices_count > 0 ? (uint32_t)range->choices_count : 2;
}

pick range_end(const struct range *range, uint32_t index)
{
    if (range->choices_count > 0) {
        return index;
    }
    return index == 0 ? range->low : range->high;
}

void range_value(const struct range *range, pick value, char text[RANGE_VALUE])
{
    if (range->choices_count > 0) {
        ar_copy_text(text, RANGE_VALUE, range->pieces + range->choices[(size_t)value]);
    } else {
        snprintf(text, RANGE_VALUE, "%.9g%.60s", value, range->pieces + range->unit);
    }
}
