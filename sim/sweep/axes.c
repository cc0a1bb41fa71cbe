#include "axes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_topo.h"
#include "lists.h"

enum { VARIANTS_MAX = 1 << 24 };

/* How the items of an axis may be written in short. */
enum kind { KIND_TEXT, KIND_COUNTS, KIND_SIZES };

/* The options that are axes, after the settings; those that decide what is read come first. */
static const struct option_axis {
    const char *name;
    size_t place;
    enum kind kind;
    bool is_read; /* with the files */
    bool is_choice;
    bool is_of_steps;
} option_axes[] = {
    {"precision", offsetof(struct options, precision), KIND_TEXT, true, false, false},
    {"batch", offsetof(struct options, batch), KIND_COUNTS, true, false, true},
    {"gradient-scale", offsetof(struct options, gradient_scale), KIND_TEXT, true, false, true},
    {"jitter", offsetof(struct options, jitter), KIND_TEXT, false, false, true},
    {"seed", offsetof(struct options, seed), KIND_COUNTS, false, false, true},
    {"engine", offsetof(struct options, engine), KIND_TEXT, false, false, false},
    {"bucket", offsetof(struct options, bucket), KIND_SIZES, false, true, true},
    {"channels", offsetof(struct options, channels), KIND_COUNTS, false, true, false},
    {"window", offsetof(struct options, window), KIND_COUNTS, false, true, false},
};

static const char **text_at(const struct options *options, size_t place)
{
    return (const char **)((char *)options + place);
}

/* Adds a value, which becomes the axis's own; one that is there counts once. */
static enum ar_status add_value(struct axis *axis, char *value, struct ar_error *err)
{
    if (value == NULL) {
        return ar_error_no_memory(err, "the values of a sweep");
    }
    for (size_t i = 0; i < axis->count; i++) {
        if (strcmp(axis->values[i], value) == 0) {
            free(value);
            return AR_OK;
        }
    }
    if (axis->count == LIST_MAX) {
        free(value);
        return ar_error_set(err, AR_USAGE, "--%s: found more than %d values; expected at most %d",
                            axis->name, LIST_MAX, LIST_MAX);
    }
    axis->values[axis->count++] = value;
    return AR_OK;
}

/* A number of a range as a user would write it. */
static char *write_number(uint64_t value, enum kind kind)
{
    static const struct {
        uint64_t size;
        const char *unit;
    } units[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}};
    char text[40];
    size_t unit = 0;
    if (kind == KIND_COUNTS) {
        snprintf(text, sizeof text, "%" PRIu64, value);
        return strdup(text);
    }
    while (value % units[unit].size != 0) {
        unit++;
    }
    snprintf(text, sizeof text, "%" PRIu64 "%s", value / units[unit].size, units[unit].unit);
    return strdup(text);
}

static enum ar_status add_range(struct axis *axis, const char *item, enum kind kind,
                                struct ar_error *err)
{
    char where[32];
    uint64_t *numbers = NULL;
    size_t count = 0;
    snprintf(where, sizeof where, "--%s", axis->name);
    enum ar_status status = kind == KIND_COUNTS
                                ? list_counts(where, item, UINT32_MAX, &numbers, &count, err)
                                : list_sizes(where, item, &numbers, &count, err);
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        status = add_value(axis, write_number(numbers[i], kind), err);
    }
    free(numbers);
    return status;
}

/* Adds the items of a comma list, each after the prefix (`KEY=` of a setting). */
static enum ar_status add_items(struct axis *axis, const char *prefix, const char *text,
                                enum kind kind, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    for (const char *at = text; status == AR_OK && at != NULL;) {
        int length = (int)strcspn(at, ",");
        char *item = NULL;
        if (asprintf(&item, "%s%.*s", prefix, length, at) < 0) {
            item = NULL;
        }
        if (item != NULL && kind != KIND_TEXT && strchr(item, ':') != NULL) {
            status = add_range(axis, item, kind, err);
            free(item);
        } else {
            status = add_value(axis, item, err);
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return status;
}

static enum ar_status new_axis(struct axes *axes, char *name, struct axis shape, struct axis **axis,
                               struct ar_error *err)
{
    *axis = &axes->list[axes->count];
    **axis = shape;
    (*axis)->name = name;
    (*axis)->values = calloc(LIST_MAX, sizeof *(*axis)->values);
    axes->count++;
    if (name == NULL || (*axis)->values == NULL) {
        return ar_error_no_memory(err, "the axes of a sweep");
    }
    return AR_OK;
}

static size_t key_length(const char *setting)
{
    size_t length = strcspn(setting, "=");
    while (length > 0 && strchr(" \t", setting[length - 1]) != NULL) {
        length--;
    }
    return length;
}

static bool has_same_key(const char *setting, const char *other)
{
    size_t length = key_length(setting);
    return key_length(other) == length && strncmp(other, setting, length) == 0;
}

/* Is a setting one value though it has a comma? So is a text that a cluster has room for. */
static bool is_one_value(const struct options *options, const char *text)
{
    struct ar_error ignored;
    const struct ar_setting setting = {text, "--set", AR_USAGE};
    return strchr(text, ',') == NULL || options->cluster == NULL ||
           ar_topo_check_setting(setting, &ignored) == AR_OK;
}

/* The last setting of a key wins; with a list the others would be lost in silence. */
static enum ar_status refuse_second(const struct options *options, size_t index,
                                    struct ar_error *err)
{
    for (size_t i = 0; i < options->settings.count; i++) {
        const char *other = options->settings.texts[i];
        if (i != index && has_same_key(other, options->settings.texts[index])) {
            return ar_error_set(err, AR_USAGE,
                                "--set: found \"%.60s\" and \"%.60s\"; expected one list",
                                options->settings.texts[index], other);
        }
    }
    return AR_OK;
}

static enum ar_status add_setting(struct axes *axes, const struct options *options, size_t index,
                                  struct ar_error *err)
{
    const char *text = options->settings.texts[index];
    struct axis *axis;
    if (is_one_value(options, text)) {
        return AR_OK;
    }
    size_t prefix_length = strcspn(text, "=");
    prefix_length += text[prefix_length] == '=';
    char *prefix = strndup(text, prefix_length);
    enum ar_status status =
        new_axis(axes, strndup(text, key_length(text)),
                 (struct axis){.place = offsetof(struct options, settings) + index * sizeof text},
                 &axis, err);
    if (status == AR_OK) {
        status = refuse_second(options, index, err);
    }
    if (status == AR_OK) {
        status = prefix == NULL ? ar_error_no_memory(err, "the axes of a sweep")
                                : add_items(axis, prefix, text + prefix_length, KIND_TEXT, err);
    }
    free(prefix);
    return status;
}

static enum ar_status add_option(struct axes *axes, const struct options *options,
                                 const struct option_axis *row, struct ar_error *err)
{
    const char *text = *text_at(options, row->place);
    struct axis *axis;
    if (text == NULL) {
        return AR_OK;
    }
    struct axis shape = {
        .place = row->place, .is_choice = row->is_choice, .is_of_steps = row->is_of_steps};
    enum ar_status status = new_axis(axes, strdup(row->name), shape, &axis, err);
    return status == AR_OK ? add_items(axis, "", text, row->kind, err) : status;
}

static const struct axis *find_axis(const struct axes *axes, const char *name)
{
    for (size_t i = 0; i < axes->count; i++) {
        if (strcmp(axes->list[i].name, name) == 0) {
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
static enum ar_status check_seeds(const struct options *options, const struct axes *axes,
                                  struct ar_error *err)
{
    const struct axis *jitter = find_axis(axes, "jitter");
    const struct axis *seed = find_axis(axes, "seed");
    /* A framework may have jitter. */
    bool is_used = jitter == NULL && (options->framework != NULL || options->terms.count > 0);
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

static enum ar_status count_variants(const struct options *options, struct axes *axes,
                                     struct ar_error *err)
{
    uint64_t variants = 1;
    for (size_t i = 0; i < axes->count; i++) {
        variants *= axes->list[i].count;
        if (variants > VARIANTS_MAX) {
            return ar_error_set(err, AR_USAGE,
                                "sweep: found more than %d combinations of the values of --set, "
                                "--batch and the like; expected fewer",
                                VARIANTS_MAX);
        }
    }
    axes->variants_count = (uint32_t)variants;
    return check_seeds(options, axes, err);
}

/* More than VARIANTS_MAX are refused in the end. */
static uint32_t multiply(uint32_t variants, size_t values)
{
    uint64_t product = (uint64_t)variants * values;
    return product > VARIANTS_MAX ? VARIANTS_MAX : (uint32_t)product;
}

enum ar_status axes_create(const struct options *options, struct axes *axes, struct ar_error *err)
{
    enum { ROWS_COUNT = sizeof option_axes / sizeof option_axes[0] };
    enum ar_status status = AR_OK;
    *axes = (struct axes){.per_cluster = 1, .per_files = 1};
    for (size_t i = 0; status == AR_OK && i < options->settings.count; i++) {
        status = add_setting(axes, options, i, err);
    }
    for (size_t i = 0; status == AR_OK && i < ROWS_COUNT; i++) {
        size_t before = axes->count;
        status = add_option(axes, options, &option_axes[i], err);
        if (status == AR_OK && axes->count > before) {
            size_t values = axes->list[before].count;
            axes->per_cluster = multiply(axes->per_cluster, values);
            axes->per_files = multiply(axes->per_files, option_axes[i].is_read ? 1 : values);
        }
    }
    if (status == AR_OK) {
        status = count_variants(options, axes, err);
    }
    if (status != AR_OK) {
        axes_destroy(axes);
    }
    return status;
}

void axes_destroy(struct axes *axes)
{
    for (size_t i = 0; i < axes->count; i++) {
        for (size_t j = 0; j < axes->list[i].count; j++) {
            free(axes->list[i].values[j]);
        }
        free(axes->list[i].values);
        free(axes->list[i].name);
    }
    axes->count = 0;
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

void axes_apply(const struct axes *axes, uint32_t variant, struct options *options)
{
    for (size_t i = 0; i < axes->count; i++) {
        const struct axis *axis = &axes->list[i];
        const char *value = axes_value(axes, i, variant);
        *text_at(options, axis->place) = value;
        if (axis->count > 1 && axis == find_axis(axes, "jitter") && is_zero(value)) {
            options->iterations = NULL; /* those are of the values that have jitter */
        }
    }
}

bool axes_repeats(const struct axes *axes, uint32_t variant, bool is_bare)
{
    bool has_jitter = true;
    for (size_t i = 0; i < axes->count; i++) {
        const struct axis *axis = &axes->list[i];
        size_t index = index_of(axes, i, variant);
        if (strcmp(axis->name, "jitter") == 0) {
            has_jitter = !is_zero(axis->values[index]);
        } else if (index > 0 && !has_jitter && strcmp(axis->name, "seed") == 0) {
            return true;
        }
        if (index > 0 && is_bare && axis->is_of_steps) {
            return true;
        }
    }
    return false;
}

uint32_t axes_condition(const struct axes *axes, uint32_t variant)
{
    uint32_t number = 0;
    for (size_t i = 0; i < axes->count; i++) {
        if (!axes->list[i].is_choice) {
            number = number * (uint32_t)axes->list[i].count + (uint32_t)index_of(axes, i, variant);
        }
    }
    return number;
}
