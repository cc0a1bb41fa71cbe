#include "lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_runnable.h"
#include "ar_text.h"
#include "ar_units.h"

enum { WHERE_SIZE = 128 };

/* Numbers of one kind that a list has so far. */
struct numbers {
    const char *where;
    bool are_sizes; /* else counts */
    uint64_t max;
    uint64_t *values;
    size_t count;
};

static enum ar_status parse_number(const struct numbers *numbers, const char *where,
                                   const char *text, uint64_t *value, struct ar_error *err)
{
    if (!numbers->are_sizes) {
        return ar_parse_count(where, text, 1, numbers->max, value, err);
    }
    AR_TRY(ar_parse_bytes(where, text, value, err));
    AR_REFUSE(*value == 0, err, AR_USAGE, "%s: found \"%s\"; expected a size above zero", where,
              text);
    return AR_OK;
}

static enum ar_status append_number(struct numbers *numbers, uint64_t value, struct ar_error *err)
{
    for (size_t i = 0; i < numbers->count; i++) {
        if (numbers->values[i] == value) {
            return AR_OK;
        }
    }
    AR_REFUSE(numbers->count == LIST_MAX, err, AR_USAGE,
              "%s: found more than %d values; expected at most %d", numbers->where, LIST_MAX,
              LIST_MAX);
    numbers->values[numbers->count++] = value;
    return AR_OK;
}

/* A range as written: first, last and how to get from one to the other. */
struct range {
    uint64_t first, last;
    uint64_t by;
    bool multiplies;
};

static enum ar_status append_range(struct numbers *numbers, char *item, struct ar_error *err)
{
    char where[WHERE_SIZE];
    struct range range = {.first = 0};
    snprintf(where, sizeof where, "%s: range \"%s\"", numbers->where, item);
    /* Reads FIRST:LAST:xF or FIRST:LAST:+D; `item` is cut at its colons. LAST need not be met, so a
     * count may be above the most that is allowed. */
    struct numbers last = *numbers;
    char *last_text = strchr(item, ':');
    *last_text++ = '\0';
    char *by_text = strchr(last_text, ':');
    AR_REFUSE(by_text == NULL || (by_text[1] != 'x' && by_text[1] != '+'), err, AR_USAGE,
              "%s has no step; expected a range such as %s", where,
              numbers->are_sizes ? "4KiB:1GiB:x4 or 1MB:8MB:+1MB" : "4:4096:x2 or 4:64:+4");
    *by_text++ = '\0';
    range.multiplies = *by_text++ == 'x';
    last.max = UINT32_MAX;
    AR_TRY(parse_number(numbers, where, item, &range.first, err));
    AR_TRY(parse_number(&last, where, last_text, &range.last, err));
    AR_TRY(range.multiplies ? ar_parse_count(where, by_text, 2, 1u << 20, &range.by, err)
                            : parse_number(&last, where, by_text, &range.by, err));
    AR_REFUSE(range.first > range.last, err, AR_USAGE,
              "%s ends before it begins; expected it to ascend", where);
    uint64_t value = range.first;
    for (;;) {
        AR_REFUSE(value > numbers->max, err, AR_USAGE,
                  "%s: found %" PRIu64 "; expected at most %" PRIu64, where, value, numbers->max);
        AR_TRY(append_number(numbers, value, err));
        /* Asked before the step, which could overflow. */
        if (range.multiplies ? value > range.last / range.by : range.by > range.last - value) {
            return AR_OK;
        }
        value = range.multiplies ? value * range.by : value + range.by;
    }
}

static enum ar_status list_numbers(struct ar_arena *arena, struct numbers *numbers,
                                   const char *text, uint64_t **values, size_t *values_count,
                                   struct ar_error *err)
{
    numbers->values = ar_arena_alloc(arena, LIST_MAX, sizeof *numbers->values);
    AR_EACH_PART(item, ar_arena_text(arena, text), ',') {
        uint64_t value;
        if (strchr(item, ':') != NULL) {
            AR_TRY(ar_error_blame(append_range(numbers, item, err), AR_USAGE, err));
        } else {
            AR_TRY(ar_error_blame(parse_number(numbers, numbers->where, item, &value, err),
                                  AR_USAGE, err));
            AR_TRY(append_number(numbers, value, err));
        }
    }
    *values = numbers->values;
    *values_count = numbers->count;
    return AR_OK;
}

enum ar_status list_counts(struct ar_arena *arena, const char *where, const char *text,
                           uint64_t max, uint64_t **values, size_t *values_count,
                           struct ar_error *err)
{
    struct numbers numbers = {.where = where, .max = max};
    return list_numbers(arena, &numbers, text, values, values_count, err);
}

enum ar_status list_sizes(struct ar_arena *arena, const char *where, const char *text,
                          uint64_t **values, size_t *values_count, struct ar_error *err)
{
    struct numbers numbers = {.where = where, .are_sizes = true, .max = UINT64_MAX};
    return list_numbers(arena, &numbers, text, values, values_count, err);
}

enum ar_status list_operations(struct ar_arena *arena, const char *where, const char *text,
                               const struct ar_operation ***operations, size_t *count,
                               struct ar_error *err)
{
    const struct ar_operation **rows = ar_arena_alloc(arena, ar_operations_count, sizeof *rows);
    bool *is_listed = ar_arena_alloc(arena, ar_operations_count, sizeof *is_listed);
    size_t found = 0;
    AR_EACH_PART(item, ar_arena_text(arena, text), ',') {
        const struct ar_operation *operation = NULL;
        if (strcmp(item, "all") != 0) {
            AR_TRY(ar_operation_find(where, item, &operation, err));
        }
        for (size_t i = 0; i < ar_operations_count; i++) {
            if (!is_listed[i] && (operation == NULL || operation == ar_operations[i])) {
                is_listed[i] = true;
                rows[found++] = ar_operations[i];
            }
        }
    }
    *operations = rows;
    *count = found;
    return AR_OK;
}

enum ar_status list_algorithms(struct ar_arena *arena, const char *where,
                               const struct ar_operation *operation, const char *text,
                               bool may_be_auto, const struct ar_algorithm ***algorithms,
                               size_t *count, struct ar_error *err)
{
    const struct ar_algorithm **rows = ar_arena_alloc(arena, ar_algorithms_count + 1, sizeof *rows);
    bool *is_listed = ar_arena_alloc(arena, ar_algorithms_count, sizeof *is_listed);
    size_t found = 0;
    bool has_auto = false;
    AR_EACH_PART(item, ar_arena_text(arena, text), ',') {
        bool is_all = strcmp(item, "all") == 0;
        bool is_auto = may_be_auto && strcmp(item, "auto") == 0;
        struct ar_runner runner; /* of a library all that it runs */
        bool is_library = ar_runner_parse(where, item, &runner, AR_IGNORED) == AR_OK;
        bool is_known = is_all || is_auto || is_library;
        has_auto = has_auto || is_auto;
        for (size_t i = 0; i < ar_algorithms_count; i++) {
            bool is_meant = is_all || strcmp(ar_algorithms[i]->name, item) == 0 ||
                            (is_library && ar_runner_runs(&runner, ar_algorithms[i], AR_NODES));
            is_meant = is_meant && (operation == NULL || ar_algorithms[i]->operation == operation);
            is_known = is_known || is_meant;
            if (is_meant && !is_listed[i]) {
                is_listed[i] = true;
                rows[found++] = ar_algorithms[i];
            }
        }
        if (!is_known) { /* the error is that of the first operation */
            return ar_algorithm_find(where, operation != NULL ? operation : ar_operations[0], item,
                                     rows, err);
        }
    }
    rows[found] = NULL;
    *algorithms = rows;
    *count = found + has_auto;
    return *count > 0 ? AR_OK : ar_algorithm_find(where, operation, text, rows, err);
}

/* --- grids of --shapes ----------------------------------------------------------------------- */

/* Is it a word for grids of any number of ranks? */
static bool is_rule(const char *text)
{
    return ar_text_has_word("all square node", text);
}

static enum ar_status parse_grid(const char *item, struct ar_shape *shape, struct ar_error *err)
{
    AR_REFUSE(ar_shape_parse("", item, shape, AR_IGNORED) != AR_OK, err, AR_USAGE,
              "--shapes: found \"%.60s\"; expected all, square, node or grids such as 4x8,32x32",
              item);
    return AR_OK;
}

enum ar_status list_shapes(struct ar_arena *arena, const char *text, uint32_t ranks,
                           uint32_t gpus_per_node, struct ar_shape **shapes, size_t *count,
                           struct ar_error *err)
{
    const struct ar_shape squarest = ar_shape_squarest(ranks);
    size_t root = 1, found_count = 0;
    while (root * root < ranks) {
        root++;
    }
    struct ar_shape *found = ar_arena_alloc(arena, 2 * root, sizeof *found); /* for all divisors */
    for (uint32_t x = 1; x <= ranks && is_rule(text); x++) {
        if (ranks % x == 0 && (strcmp(text, "all") == 0 ||
                               x == (strcmp(text, "node") == 0 ? gpus_per_node : squarest.x))) {
            found[found_count++] = (struct ar_shape){.x = x, .y = ranks / x};
        }
    }
    AR_EACH_PART(item, is_rule(text) ? NULL : ar_arena_text(arena, text), ',') {
        struct ar_shape shape;
        AR_TRY(parse_grid(item, &shape, err));
        bool is_listed = ar_shape_ranks(&shape) != ranks;
        for (size_t i = 0; i < found_count; i++) {
            is_listed = is_listed || ar_shape_equal(&found[i], &shape);
        }
        if (!is_listed) {
            found[found_count++] = shape;
        }
    }
    *shapes = found;
    *count = found_count;
    return AR_OK;
}

enum ar_status list_shapes_check(const char *text, const uint64_t *counts, size_t counts_count,
                                 struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    AR_EACH_PART(item, is_rule(text) ? NULL : ar_arena_text(&arena, text), ',') {
        struct ar_shape shape;
        bool is_met = false;
        AR_TRY(parse_grid(item, &shape, err));
        for (size_t i = 0; i < counts_count; i++) {
            is_met = is_met || counts[i] == ar_shape_ranks(&shape);
        }
        AR_REFUSE(!is_met, err, AR_USAGE,
                  "--shapes: %s has %" PRIu32 " places; expected X*Y to be one of the GPU counts",
                  item, ar_shape_ranks(&shape));
    }
    return AR_OK;
}
