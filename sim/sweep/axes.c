#include "axes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_topo.h"
#include "ar_units.h"
#include "lists.h"

enum { VARIANTS_MAX = 1 << 24 };

/* The keys that are axes, after the settings; those of the trace come first. */
static const enum ar_key axis_keys[] = {AR_KEY_PRECISION, AR_KEY_BATCH,    AR_KEY_GRADIENT_SCALE,
                                        AR_KEY_JITTER,    AR_KEY_SEED,     AR_KEY_ENGINE,
                                        AR_KEY_BUCKET,    AR_KEY_CHANNELS, AR_KEY_WINDOW};

/* Adds a value; one that is there counts once. */
static enum ar_status add_value(struct axis *axis, const char *value, struct ar_error *err)
{
    if (value == NULL) {
        return ar_error_no_memory(err, "the values of a sweep");
    }
    for (size_t i = 0; i < axis->count; i++) {
        if (strcmp(axis->values[i], value) == 0) {
            return AR_OK;
        }
    }
    if (axis->count == LIST_MAX) {
        return ar_error_set(err, AR_USAGE, "--%s: found more than %d values; expected at most %d",
                            axis->name, LIST_MAX, LIST_MAX);
    }
    axis->values[axis->count++] = value;
    return AR_OK;
}

/* A size of a range as a user would write it. */
static char *write_size(struct ar_arena *arena, uint64_t value)
{
    static const struct {
        uint64_t size;
        const char *unit;
    } units[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}};
    size_t unit = 0;
    while (value % units[unit].size != 0) {
        unit++;
    }
    return ar_arena_format(arena, "%" PRIu64 "%s", value / units[unit].size, units[unit].unit);
}

static enum ar_status add_range(struct ar_arena *arena, struct axis *axis, const char *item,
                                struct ar_error *err)
{
    const char *where = ar_keys[axis->key].option;
    bool is_count = ar_keys[axis->key].list == AR_LIST_OF_COUNTS;
    uint64_t *numbers;
    size_t count;
    AR_TRY(is_count ? list_counts(arena, where, item, UINT32_MAX, &numbers, &count, err)
                    : list_sizes(arena, where, item, &numbers, &count, err));
    for (size_t i = 0; i < count; i++) {
        AR_TRY(add_value(axis,
                         is_count ? ar_arena_format(arena, "%" PRIu64, numbers[i])
                                  : write_size(arena, numbers[i]),
                         err));
    }
    return AR_OK;
}

/* Adds the items of a comma list, each after the prefix (`KEY=` of a setting). */
static enum ar_status add_items(struct ar_arena *arena, struct axis *axis, int prefix_length,
                                const char *text, struct ar_error *err)
{
    bool has_ranges = ar_keys[axis->key].list != AR_LIST_OF_TEXTS;
    for (const char *at = text + prefix_length; at != NULL;) {
        int length = (int)strcspn(at, ",");
        char *item = ar_arena_format(arena, "%.*s%.*s", prefix_length, text, length, at);
        AR_TRY(item != NULL && has_ranges && strchr(item, ':') != NULL
                   ? add_range(arena, axis, item, err)
                   : add_value(axis, item, err));
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return AR_OK;
}

static enum ar_status add_axis(struct axes *axes, struct ar_arena *arena, struct axis shape,
                               int prefix_length, const char *text, struct ar_error *err)
{
    struct axis *axis = &axes->list[axes->count];
    *axis = shape;
    axis->values = ar_arena_alloc(arena, LIST_MAX, sizeof *axis->values);
    if (axis->name == NULL || axis->values == NULL) {
        return ar_error_no_memory(err, "the axes of a sweep");
    }
    axes->count++;
    return add_items(arena, axis, prefix_length, text, err);
}

/* The last setting of a key wins; with a list the others would be lost in silence. */
static enum ar_status refuse_second(const struct ar_settings *settings, size_t index,
                                    struct ar_error *err)
{
    const char *text = settings->list[index].text;
    for (size_t i = 0; i < settings->count; i++) {
        if (i != index && ar_setting_is_same(settings->list[i].text, text)) {
            return ar_error_set(err, AR_USAGE,
                                "--set: found \"%.60s\" and \"%.60s\"; expected one list", text,
                                settings->list[i].text);
        }
    }
    return AR_OK;
}

/* A setting that is a list. One that the cluster takes as it is, commas and all, is none; so is one
 * that cannot be read, which is said elsewhere. */
static enum ar_status add_setting(struct axes *axes, struct ar_arena *arena, size_t index,
                                  struct ar_error *err)
{
    struct ar_setting setting = axes->settings.list[index];
    struct ar_error ignored;
    int key_length = (int)strcspn(setting.text, "= \t");
    int prefix_length = (int)strcspn(setting.text, "=");
    prefix_length += setting.text[prefix_length] == '=';
    if (strchr(setting.text, ',') == NULL || ar_topo_check_setting(setting, &ignored) == AR_OK) {
        return AR_OK;
    }
    AR_TRY(refuse_second(&axes->settings, index, err));
    struct axis axis = {.name = ar_arena_format(arena, "%.*s", key_length, setting.text),
                        .key = AR_KEY_SET,
                        .setting = index};
    return add_axis(axes, arena, axis, prefix_length, setting.text, err);
}

static const struct axis *find_axis(const struct axes *axes, enum ar_key key)
{
    for (size_t i = 0; i < axes->count; i++) {
        if (axes->list[i].key == key) {
            return &axes->list[i];
        }
    }
    return NULL;
}

static bool is_zero(const char *number)
{
    char *end;
    return strtod(number, &end) == 0 && end != number && *end == '\0';
}

/* Values that nothing reacts to are a mistake. */
static enum ar_status check_seeds(const struct axes_request *request, const struct axes *axes,
                                  struct ar_error *err)
{
    const struct axis *jitter = find_axis(axes, AR_KEY_JITTER);
    const struct axis *seed = find_axis(axes, AR_KEY_SEED);
    bool is_used = jitter == NULL && request->has_jitter;
    for (size_t i = 0; jitter != NULL && i < jitter->count; i++) {
        is_used = is_used || !is_zero(jitter->values[i]);
    }
    if (seed != NULL && seed->count > 1 && !is_used) {
        return ar_error_set(err, AR_USAGE,
                            "--seed: found %zu seeds without --jitter; expected one, since all "
                            "would give the same",
                            seed->count);
    }
    return AR_OK;
}

static enum ar_status count_variants(struct axes *axes, struct ar_error *err)
{
    uint64_t variants = 1;
    uint64_t per_cluster = 1;
    for (size_t i = 0; i < axes->count; i++) {
        variants *= axes->list[i].count;
        per_cluster *= axes->list[i].key == AR_KEY_SET ? 1 : axes->list[i].count;
        if (variants > VARIANTS_MAX) {
            return ar_error_set(err, AR_USAGE,
                                "sweep: found more than %d combinations of the values of --set, "
                                "--batch and the like; expected fewer",
                                VARIANTS_MAX);
        }
    }
    axes->variants_count = (uint32_t)variants;
    axes->per_cluster = (uint32_t)per_cluster;
    return AR_OK;
}

enum ar_status axes_create(const struct axes_request *request, struct ar_arena *arena,
                           struct axes *axes, struct ar_error *err)
{
    *axes = (struct axes){.settings = request->settings};
    for (size_t i = 0; i < request->settings.count; i++) {
        AR_TRY(add_setting(axes, arena, i, err));
    }
    for (size_t i = 0; i < sizeof axis_keys / sizeof axis_keys[0]; i++) {
        enum ar_key key = axis_keys[i];
        if (request->lists[key] != NULL) {
            struct axis axis = {.name = ar_key_name(key), .key = key};
            AR_TRY(add_axis(axes, arena, axis, 0, request->lists[key], err));
        }
    }
    AR_TRY(count_variants(axes, err));
    return check_seeds(request, axes, err);
}

static size_t index_of(const struct axes *axes, size_t axis, uint32_t variant)
{
    for (size_t i = axes->count - 1; i > axis; i--) {
        variant /= (uint32_t)axes->list[i].count;
    }
    return variant % axes->list[axis].count;
}

const char *axes_value(const struct axes *axes, size_t axis, uint32_t variant)
{
    return axes->list[axis].values[index_of(axes, axis, variant)];
}

/* The settings as they are in a variant, in the scenario's arena. */
static enum ar_status apply_settings(const struct axes *axes, uint32_t variant,
                                     struct ar_scenario *scenario, struct ar_error *err)
{
    size_t count = axes->settings.count;
    struct ar_setting *list = ar_arena_alloc(scenario->arena, count + 1, sizeof *list);
    if (list == NULL) {
        return ar_error_no_memory(err, "the settings");
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = axes->settings.list[i];
    }
    for (size_t i = 0; i < axes->count; i++) {
        const struct axis *axis = &axes->list[i];
        if (axis->key == AR_KEY_SET) {
            list[axis->setting].text = axes_value(axes, i, variant);
        }
    }
    scenario->settings = (struct ar_settings){.list = list, .count = count};
    if (count > 0) {
        scenario->origins[AR_KEY_SET] =
            (struct ar_origin){.where = list[0].where, .status = list[0].status};
    }
    return AR_OK;
}

enum ar_status axes_apply(const struct axes *axes, uint32_t variant, struct ar_scenario *scenario,
                          struct ar_error *err)
{
    AR_TRY(apply_settings(axes, variant, scenario, err));
    for (size_t i = 0; i < axes->count; i++) {
        const struct axis *axis = &axes->list[i];
        const char *value = axes_value(axes, i, variant);
        struct ar_origin origin = {.where = ar_keys[axis->key].option, .status = AR_USAGE};
        if (axis->key != AR_KEY_SET) {
            AR_TRY(ar_scenario_set(scenario, axis->key, &origin, value, err));
        }
        if (axis->key == AR_KEY_JITTER && axis->count > 1 && is_zero(value)) {
            ar_scenario_unset(scenario, AR_KEY_ITERATIONS); /* those of values that have jitter */
        }
    }
    return AR_OK;
}

bool axes_repeats(const struct axes *axes, uint32_t variant, bool is_bare)
{
    bool has_jitter = true;
    for (size_t i = 0; i < axes->count; i++) {
        const struct axis *axis = &axes->list[i];
        size_t index = index_of(axes, i, variant);
        if (axis->key == AR_KEY_JITTER) {
            has_jitter = !is_zero(axis->values[index]);
        } else if (index > 0 && !has_jitter && axis->key == AR_KEY_SEED) {
            return true;
        }
        if (index > 0 && is_bare && ar_key_is(axis->key, AR_KEY_OF_STEP)) {
            return true;
        }
    }
    return false;
}

uint32_t axes_condition(const struct axes *axes, uint32_t variant)
{
    uint32_t number = 0;
    for (size_t i = 0; i < axes->count; i++) {
        if (!ar_key_is(axes->list[i].key, AR_KEY_IS_CHOICE)) {
            number = number * (uint32_t)axes->list[i].count + (uint32_t)index_of(axes, i, variant);
        }
    }
    return number;
}
