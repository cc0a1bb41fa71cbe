#include "published_range.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "key_texts.h"

static const char run_parameter[] = "run";

/* Whether any number between two ends is a value. */
static bool takes_numbers(const struct range *range)
{
    return range->setting != NULL ||
           (range->key != AR_KEYS_COUNT && ar_key_is(range->key, AR_KEY_IS_NUMBER));
}

/* `set.KEY`, `term.KEY`, a key, or `run`. */
static enum ar_status find_parameter(const char *where, struct range *range, struct ar_error *err)
{
    const char *name = range->parameter;
    const char *names[AR_KEYS_COUNT + 1] = {run_parameter};
    size_t count = 1;
    bool is_set = strncmp(name, "set.", 4) == 0 && name[4] != '\0';
    bool is_term = strncmp(name, "term.", 5) == 0 && name[5] != '\0';
    if (is_set || is_term) {
        range->key = is_set ? AR_KEY_SET : AR_KEY_TERM;
        range->setting = strchr(name, '.') + 1;
        return AR_OK;
    }
    range->key = ar_key_find(name);
    if (range->key == AR_KEYS_COUNT ? strcmp(name, run_parameter) == 0
                                    : ar_key_is(range->key, AR_KEY_IN_PUBLISHED) &&
                                          !ar_key_is(range->key, AR_KEY_REPEATS)) {
        return AR_OK;
    }
    for (int i = 0; i < AR_KEYS_COUNT; i++) {
        if (ar_key_is((enum ar_key)i, AR_KEY_IN_PUBLISHED)) {
            names[count++] = ar_key_name((enum ar_key)i);
        }
    }
    return ar_error_unknown(err, AR_BAD_DATA, where, "parameter", name, names, count);
}

static enum ar_status refuse(const char *where, const struct range *range, const char *expected,
                             struct ar_error *err)
{
    return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.80s\"; expected %s", where, range->text,
                        expected);
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
static enum ar_status parse_ends(const char *where, char *dots, const char *low,
                                 struct range *range, struct ar_error *err)
{
    const char *low_unit;
    *dots = '\0';
    if (!takes_numbers(range)) {
        return refuse(where, range, "choices KEY=a|b, since the parameter takes no fractions", err);
    }
    if (!parse_end(low, &range->low, &low_unit) ||
        !parse_end(dots + 2, &range->high, &range->unit) ||
        (low_unit[0] != '\0' && strcmp(low_unit, range->unit) != 0) || range->low > range->high) {
        return refuse(where, range,
                      "KEY=low..high, two numbers of one unit, the lower first, such as "
                      "set.net.latency=2.4us..9.6us",
                      err);
    }
    return AR_OK;
}

static enum ar_status parse_choices(struct ar_arena *arena, const char *where, char *at,
                                    struct range *range, struct ar_error *err)
{
    const char **choices = ar_arena_alloc(arena, RANGE_CHOICES_MAX, sizeof *choices);
    bool is_wrong = false;
    AR_NEED(choices, err, "a range");
    for (char *choice; !is_wrong && (choice = strsep(&at, "|")) != NULL;) {
        is_wrong = choice[0] == '\0' || range->choices_count == RANGE_CHOICES_MAX;
        if (!is_wrong) {
            choices[range->choices_count++] = choice;
        }
    }
    range->choices = choices;
    return is_wrong || range->choices_count < 2
               ? refuse(where, range, "KEY=a|b with 2 to 32 choices, or KEY=low..high", err)
               : AR_OK;
}

enum ar_status range_parse(struct ar_arena *arena, const char *where, const char *text,
                           const char *source, struct range *range, struct ar_error *err)
{
    char *pieces = ar_arena_text(arena, text);
    *range = (struct range){.text = ar_arena_text(arena, text),
                            .source = ar_arena_text(arena, source),
                            .parameter = pieces};
    AR_NEED(pieces && range->text && range->source, err, "a range");
    char *values = strchr(pieces, '=');
    if (strlen(text) >= RANGE_VALUE || values == NULL) {
        return refuse(where, range, "KEY=a|b or KEY=low..high, of less than 256 characters", err);
    }
    *values++ = '\0';
    AR_TRY(find_parameter(where, range, err));
    char *dots = strstr(values, "..");
    return dots != NULL && strchr(values, '|') == NULL
               ? parse_ends(where, dots, values, range, err)
               : parse_choices(arena, where, values, range, err);
}

struct range *range_find(struct range *ranges, size_t count, enum ar_key key, const char *setting)
{
    for (size_t i = 0; i < count; i++) {
        bool has_settings = setting != NULL && ranges[i].setting != NULL;
        if (ranges[i].key == key && (has_settings ? ar_setting_is_same(ranges[i].setting, setting)
                                                  : setting == ranges[i].setting)) {
            return &ranges[i];
        }
    }
    return NULL;
}

bool range_is_fixed(const struct range *range, const struct ar_scenario *scenario)
{
    if (range->setting == NULL) {
        return range->key != AR_KEYS_COUNT && ar_scenario_has(scenario, range->key);
    }
    return ar_settings_find(range->key == AR_KEY_SET ? &scenario->settings : &scenario->terms,
                            range->setting) != NULL;
}

static const char *print(const struct range *range, double value, struct ar_arena *arena)
{
    return ar_arena_format(arena, "%.9g%s", value, range->unit);
}

const char *range_draw(const struct range *range, struct ar_draw *draw, struct ar_arena *arena)
{
    return range->choices != NULL
               ? range->choices[ar_draw_choice(draw, range->choices_count)]
               : print(range, ar_draw_uniform(draw, range->low, range->high), arena);
}

enum ar_status range_set(const struct range *range, const char *value, struct ar_scenario *scenario,
                         struct ar_error *err)
{
    if (range->key == AR_KEYS_COUNT) {
        return AR_OK;
    }
    if (range->setting == NULL) {
        return key_text_set(scenario, range->key, value, err);
    }
    const char *text = ar_arena_format(scenario->arena, "%s=%s", range->setting, value);
    return text != NULL ? key_text_set(scenario, range->key, text, err)
                        : ar_error_no_memory(err, "a range");
}
