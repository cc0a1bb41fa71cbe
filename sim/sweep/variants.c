#include "variants.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"

enum { VARIANTS_MAX = 1 << 24 };

bool keys_have(const enum ar_key *keys, enum ar_key key)
{
    while (*keys != AR_KEYS_COUNT && *keys != key) {
        keys++;
    }
    return *keys != AR_KEYS_COUNT;
}

/* Ranges begin with a number; groups:4 of --bucket is none. */
bool key_is_list(enum ar_key key, const char *text)
{
    return strchr(text, ',') != NULL ||
           (ar_keys[key].list != AR_LIST_OF_TEXTS && strchr("0123456789", text[0]) != NULL &&
            strchr(text, ':') != NULL);
}

void axis_append(struct ar_arena *arena, struct axis *axis, const char *value)
{
    *AR_ARENA_ADD(arena, axis->values, axis->count) = value;
}

/* Adds a value; one that is there counts once. */
static enum ar_status add_value(struct ar_arena *arena, struct axis *axis, const char *value,
                                struct ar_error *err)
{
    for (size_t i = 0; i < axis->count; i++) {
        if (strcmp(axis->values[i], value) == 0) {
            return AR_OK;
        }
    }
    AR_REFUSE(axis->count == LIST_MAX, err, AR_USAGE,
              "--%s: found more than %d values; expected at most %d", axis->name, LIST_MAX,
              LIST_MAX);
    axis_append(arena, axis, value);
    return AR_OK;
}

static enum ar_status add_range(struct ar_arena *arena, struct axis *axis, const char *item,
                                struct ar_error *err)
{
    static const char *const units[] = {"", "B", "KiB", "MiB", "GiB"};
    const char *where = ar_keys[axis->key].option;
    bool is_count = ar_keys[axis->key].list == AR_LIST_OF_COUNTS;
    uint64_t *numbers;
    size_t count;
    AR_TRY(is_count ? list_counts(arena, where, item, UINT32_MAX, &numbers, &count, err)
                    : list_sizes(arena, where, item, &numbers, &count, err));
    for (size_t i = 0; i < count; i++) { /* sizes as a user would write them */
        size_t unit = is_count ? 0 : 1;
        uint64_t number = numbers[i];
        for (; unit > 0 && unit < 4 && number % 1024 == 0; unit++) {
            number /= 1024;
        }
        const char *value = ar_arena_format(arena, "%" PRIu64 "%s", number, units[unit]);
        AR_TRY(add_value(arena, axis, value, err));
    }
    return AR_OK;
}

/* Adds an axis and the items of a comma list, each after the prefix (`KEY=` of a setting). */
static enum ar_status add_axis(struct variants *variants, struct axis shape, int prefix_length,
                               const char *text, struct ar_error *err)
{
    struct ar_arena *arena = &variants->arena;
    struct axis *axis = &variants->axes[variants->axes_count++];
    *axis = shape;
    for (const char *at = text + prefix_length; at != NULL;) {
        int length = (int)strcspn(at, ",");
        char *item = ar_arena_format(arena, "%.*s%.*s", prefix_length, text, length, at);
        AR_TRY(key_is_list(shape.key, item) ? add_range(arena, axis, item, err)
                                            : add_value(arena, axis, item, err));
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return AR_OK;
}

/* A setting that is a list. */
static enum ar_status add_setting(struct variants *variants, size_t index, struct ar_error *err)
{
    struct ar_setting setting = variants->request->settings.list[index];
    int key_length = (int)strcspn(setting.text, "= \t");
    int prefix_length = (int)strcspn(setting.text, "=");
    prefix_length += setting.text[prefix_length] == '=';
    if (strchr(setting.text, ',') == NULL) {
        return AR_OK;
    }
    struct axis axis = {.name = ar_arena_format(&variants->arena, "%.*s", key_length, setting.text),
                        .key = AR_KEY_SET,
                        .setting = index};
    return add_axis(variants, axis, prefix_length, setting.text, err);
}

static void slot_clear(struct variant_slot *slot)
{
    ar_arena_end(&slot->arena);
    slot->number = UINT32_MAX;
}

enum ar_status variants_create(const struct space_request *request, struct variants *variants,
                               struct ar_error *err)
{
    variants->request = request;
    slot_clear(&variants->loaded);
    slot_clear(&variants->cluster);
    if (request->first.count > 0) {
        variants->axes[variants->axes_count++] = request->first;
    }
    for (size_t i = 0; i < request->settings.count; i++) {
        AR_TRY(add_setting(variants, i, err));
    }
    for (const enum ar_key *key = request->kind->axes; *key != AR_KEYS_COUNT; key++) {
        if (request->lists[*key] != NULL) {
            struct axis axis = {.name = ar_key_name(*key), .key = *key};
            AR_TRY(add_axis(variants, axis, 0, request->lists[*key], err));
        }
    }
    variants->count = 1;
    for (size_t i = 0; i < variants->axes_count; i++) {
        uint64_t count = variants->count * (uint64_t)variants->axes[i].count;
        AR_REFUSE(count > VARIANTS_MAX, err, AR_USAGE,
                  "sweep: found more than %d combinations of the values of --set, --batch and the "
                  "like; expected fewer",
                  VARIANTS_MAX);
        variants->count = (uint32_t)count;
    }
    return AR_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

static size_t index_of(const struct variants *variants, size_t axis, uint32_t variant)
{
    for (size_t i = variants->axes_count - 1; i > axis; i--) {
        variant /= (uint32_t)variants->axes[i].count;
    }
    return variant % variants->axes[axis].count;
}

const char *variants_value(const struct variants *variants, size_t axis, uint32_t variant)
{
    return variants->axes[axis].values[index_of(variants, axis, variant)];
}

/* The settings as they are in a variant, in the scenario's arena. */
static void apply_settings(const struct variants *variants, uint32_t variant,
                           struct ar_scenario *scenario)
{
    const struct ar_settings *settings = &variants->request->settings;
    size_t count = settings->count;
    if (count == 0) {
        return; /* they are in the base */
    }
    struct ar_setting *list = ar_arena_copy(scenario->arena, settings->list, count, sizeof *list);
    for (size_t i = 0; i < variants->axes_count; i++) {
        const struct axis *axis = &variants->axes[i];
        if (axis->key == AR_KEY_SET) {
            list[axis->setting].text = variants_value(variants, i, variant);
        }
    }
    scenario->settings = (struct ar_settings){.list = list, .count = count};
    scenario->origins[AR_KEY_SET] =
        (struct ar_origin){.where = list[0].where, .status = list[0].status};
}

bool variants_repeats_bare(const struct variants *variants, uint32_t variant)
{
    for (size_t i = 0; i < variants->axes_count; i++) {
        if (index_of(variants, i, variant) > 0 &&
            ar_key_is(variants->axes[i].key, AR_KEY_OF_STEP)) {
            return true;
        }
    }
    return false;
}

size_t variants_seed(const struct variants *variants, uint32_t variant)
{
    size_t axis = 0;
    while (axis < variants->axes_count && variants->axes[axis].key != AR_KEY_SEED) {
        axis++;
    }
    return axis < variants->axes_count ? index_of(variants, axis, variant) : 0;
}

static bool is_condition(const struct variants *variants, enum ar_key axis)
{
    return variants->request->kind->is_ranked ? keys_have(layout_conditions, axis)
                                              : !ar_key_is(axis, AR_KEY_IS_CHOICE);
}

static bool is_of_cluster(const struct variants *variants, enum ar_key axis)
{
    (void)variants;
    return axis == AR_KEY_CLUSTER || axis == AR_KEY_SET;
}

/* Numbers the combinations of the values of some axes. */
static uint32_t values_number(const struct variants *variants, uint32_t variant,
                              bool (*is_counted)(const struct variants *variants, enum ar_key axis))
{
    uint32_t number = 0;
    for (size_t i = 0; i < variants->axes_count; i++) {
        if (is_counted(variants, variants->axes[i].key)) {
            number = number * (uint32_t)variants->axes[i].count +
                     (uint32_t)index_of(variants, i, variant);
        }
    }
    return number;
}

uint32_t variants_condition(const struct variants *variants, uint32_t variant)
{
    return values_number(variants, variant, is_condition);
}

/* --- scenarios -------------------------------------------------------------------------------- */

void variants_destroy(struct variants *variants)
{
    slot_clear(&variants->loaded);
    slot_clear(&variants->cluster);
    ar_arena_end(&variants->arena);
}

/* Loads the cluster of a variant or, if it is there, all of it, unless the slot has it already. */
static enum ar_status slot_load(struct variants *variants, uint32_t variant, uint32_t number,
                                const struct variant_slot *cluster, struct variant_slot *slot,
                                struct ar_error *err)
{
    struct ar_scenario *scenario = &slot->scenario;
    if (slot->number == number) {
        return AR_OK;
    }
    slot_clear(slot);
    slot->arena.bytes_max = AR_ARENA_BYTES_MAX;
    *scenario = variants->request->base;
    scenario->arena = &slot->arena;
    apply_settings(variants, variant, scenario);
    for (size_t i = 0; i < variants->axes_count; i++) {
        const struct axis *axis = &variants->axes[i];
        const char *value = variants_value(variants, i, variant);
        if (axis->key != AR_KEY_SET) {
            AR_TRY(ar_scenario_set(scenario, axis->key, NULL, value, err));
        }
        char *end;
        if (axis->key == AR_KEY_JITTER && axis->count > 1 && strtod(value, &end) == 0 &&
            end != value && *end == '\0') {
            /* iterations are given for the values that have jitter */
            scenario->origins[AR_KEY_ITERATIONS] = (struct ar_origin){.where = NULL};
        }
    }
    if (cluster == NULL) { /* with the library, for the engines of all variants */
        AR_TRY(ar_scenario_load_cluster(scenario, err));
        AR_TRY(ar_scenario_load_library(scenario, err));
    } else {
        scenario->cluster = cluster->scenario.cluster;
        scenario->table = cluster->scenario.table;
        scenario->constants = cluster->scenario.constants;
        AR_TRY(ar_scenario_load(scenario, err));
    }
    slot->number = number;
    return AR_OK;
}

enum ar_status variants_cluster(struct variants *variants, uint32_t variant,
                                const struct ar_scenario **scenario, struct ar_error *err)
{
    uint32_t number = values_number(variants, variant, is_of_cluster);
    *scenario = &variants->cluster.scenario;
    if (variants->cluster.number != number) {
        slot_clear(&variants->loaded); /* it is of the cluster that goes */
    }
    return slot_load(variants, variant, number, NULL, &variants->cluster, err);
}

enum ar_status variants_scenario(struct variants *variants, uint32_t variant,
                                 const struct ar_scenario **scenario, struct ar_error *err)
{
    AR_TRY(variants_cluster(variants, variant, scenario, err));
    *scenario = &variants->loaded.scenario;
    return slot_load(variants, variant, variant, &variants->cluster, &variants->loaded, err);
}
