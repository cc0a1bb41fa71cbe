#include "lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

enum { ITEM_ROOM = 64 };

/* How an item of numbers is read: a count or a size. */
typedef enum ar_status (*number_parser)(const char *where, const char *text, uint64_t *value,
                                        struct ar_error *err);

static enum ar_status parse_count(const char *where, const char *text, uint64_t *value,
                                  struct ar_error *err)
{
    return ar_parse_count(where, text, 1, UINT32_MAX, value, err);
}

static enum ar_status parse_size(const char *where, const char *text, uint64_t *value,
                                 struct ar_error *err)
{
    enum ar_status status = ar_parse_bytes(where, text, value, err);
    if (status == AR_OK && *value == 0) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected a size above zero", where,
                            text);
    }
    return status;
}

struct numbers {
    const char *where;
    number_parser parse;
    uint64_t *values;
    size_t count;
};

static enum ar_status append(struct numbers *numbers, uint64_t value, struct ar_error *err)
{
    if (numbers->count == LIST_MOST) {
        return ar_error_set(err, AR_USAGE, "%s: more than %d values", numbers->where, LIST_MOST);
    }
    numbers->values[numbers->count++] = value;
    return AR_OK;
}

/* FIRST:LAST:xF or FIRST:LAST:+D; `item` is cut at its colons. */
static enum ar_status append_range(struct numbers *numbers, char *item, struct ar_error *err)
{
    char whole[ITEM_ROOM];
    ar_copy_text(whole, sizeof whole, item);
    char *last_text = strchr(item, ':');
    *last_text++ = '\0';
    char *by_text = strchr(last_text, ':');
    if (by_text == NULL || (by_text[1] != 'x' && by_text[1] != '+')) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found \"%s\"; expected a range such as 4:4096:x2 or 4:64:+4",
                            numbers->where, whole);
    }
    *by_text++ = '\0';
    bool multiplies = *by_text++ == 'x';
    uint64_t first;
    uint64_t last;
    uint64_t by;
    enum ar_status status = numbers->parse(numbers->where, item, &first, err);
    if (status == AR_OK) {
        status = numbers->parse(numbers->where, last_text, &last, err);
    }
    if (status == AR_OK) {
        status = multiplies ? ar_parse_count(numbers->where, by_text, 2, 1u << 20, &by, err)
                            : numbers->parse(numbers->where, by_text, &by, err);
    }
    if (status == AR_OK && first > last) {
        return ar_error_set(err, AR_USAGE, "%s: range \"%s\" ends before it begins", numbers->where,
                            whole);
    }
    for (uint64_t value = first; status == AR_OK && value <= last;
         value = multiplies ? value * by : value + by) {
        status = append(numbers, value, err);
    }
    return status;
}

static enum ar_status append_item(struct numbers *numbers, char *item, struct ar_error *err)
{
    if (strchr(item, ':') != NULL) {
        return append_range(numbers, item, err);
    }
    uint64_t value;
    enum ar_status status = numbers->parse(numbers->where, item, &value, err);
    return status == AR_OK ? append(numbers, value, err) : status;
}

/* Copies the next item of a comma list; false at the end. */
static bool next_item(const char **text, char item[ITEM_ROOM])
{
    if (*text == NULL) {
        return false;
    }
    size_t length = strcspn(*text, ",");
    snprintf(item, ITEM_ROOM, "%.*s", (int)length, *text);
    *text = (*text)[length] == ',' ? *text + length + 1 : NULL;
    return true;
}

static enum ar_status list_numbers(struct numbers *numbers, const char *text, uint64_t **values,
                                   size_t *values_count, struct ar_error *err)
{
    numbers->values = malloc(LIST_MOST * sizeof *numbers->values);
    if (numbers->values == NULL) {
        return ar_error_no_memory(err, "a list");
    }
    char item[ITEM_ROOM];
    enum ar_status status = AR_OK;
    while (status == AR_OK && next_item(&text, item)) {
        status = append_item(numbers, item, err);
    }
    if (status != AR_OK) {
        free(numbers->values);
        return status;
    }
    *values = numbers->values;
    *values_count = numbers->count;
    return AR_OK;
}

enum ar_status list_counts(const char *where, const char *text, uint64_t most, uint64_t **values,
                           size_t *values_count, struct ar_error *err)
{
    struct numbers numbers = {.where = where, .parse = parse_count};
    enum ar_status status = list_numbers(&numbers, text, values, values_count, err);
    for (size_t i = 0; status == AR_OK && i < *values_count; i++) {
        if ((*values)[i] > most) {
            status = ar_error_set(err, AR_USAGE, "%s: found %" PRIu64 "; expected at most %" PRIu64,
                                  where, (*values)[i], most);
            free(*values);
        }
    }
    return status;
}

enum ar_status list_sizes(const char *where, const char *text, uint64_t **values,
                          size_t *values_count, struct ar_error *err)
{
    struct numbers numbers = {.where = where, .parse = parse_size};
    return list_numbers(&numbers, text, values, values_count, err);
}

enum ar_status list_algorithms(const char *where, const char *text,
                               const struct ar_algorithm ***algorithms, size_t *count,
                               struct ar_error *err)
{
    const struct ar_algorithm **found = malloc(LIST_MOST * sizeof *found);
    size_t found_count = 0;
    enum ar_status status = AR_OK;
    char item[ITEM_ROOM];
    if (found == NULL) {
        return ar_error_no_memory(err, "a list");
    }
    if (strcmp(text, "all") == 0) {
        memcpy(found, ar_algorithms, ar_algorithms_count * sizeof *found);
        found_count = ar_algorithms_count;
        text = NULL;
    }
    while (status == AR_OK && next_item(&text, item)) {
        if (found_count == LIST_MOST) {
            status = ar_error_set(err, AR_USAGE, "%s: more than %d values", where, LIST_MOST);
            break;
        }
        status = ar_algorithm_find(where, item, &found[found_count], err);
        found_count++;
    }
    if (status != AR_OK) {
        free(found);
        return status;
    }
    *algorithms = found;
    *count = found_count;
    return AR_OK;
}

/* Writes the grids of a list that fit `ranks`. */
static enum ar_status named_grids(const char *where, const char *text, uint32_t ranks,
                                  struct ar_shape *shapes, size_t *count, struct ar_error *err)
{
    char item[ITEM_ROOM];
    while (next_item(&text, item)) {
        struct ar_shape shape;
        enum ar_status status = ar_shape_parse(where, item, &shape, err);
        if (status != AR_OK) {
            return status;
        }
        if ((uint64_t)shape.x * shape.y == ranks && *count < LIST_MOST) {
            shapes[(*count)++] = shape;
        }
    }
    return AR_OK;
}

enum ar_status list_shapes(const char *where, const char *text, uint32_t ranks,
                           uint32_t gpus_per_node, struct ar_shape **shapes, size_t *count,
                           struct ar_error *err)
{
    struct ar_shape *found = malloc(LIST_MOST * sizeof *found);
    size_t found_count = 0;
    enum ar_status status = AR_OK;
    if (found == NULL) {
        return ar_error_no_memory(err, "a list");
    }
    if (strcmp(text, "square") == 0) {
        found[found_count++] = ar_shape_squarest(ranks);
    } else if (strcmp(text, "node") == 0) {
        uint32_t x = ranks % gpus_per_node == 0 ? gpus_per_node : 1;
        found[found_count++] = (struct ar_shape){.x = x, .y = ranks / x};
    } else if (strcmp(text, "all") == 0) {
        for (uint32_t x = 1; x <= ranks && found_count < LIST_MOST; x++) {
            if (ranks % x == 0) {
                found[found_count++] = (struct ar_shape){.x = x, .y = ranks / x};
            }
        }
    } else {
        status = named_grids(where, text, ranks, found, &found_count, err);
    }
    if (status != AR_OK) {
        free(found);
        return status;
    }
    *shapes = found;
    *count = found_count;
    return AR_OK;
}
