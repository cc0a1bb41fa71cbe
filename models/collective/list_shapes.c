/* The grids of --shapes. */
#include <inttypes.h>
#include <string.h>

#include "lists.h"

/* A word that stands for grids of any number of ranks. */
static bool is_rule(const char *text)
{
    return strcmp(text, "all") == 0 || strcmp(text, "square") == 0 || strcmp(text, "node") == 0;
}

/* Reads the next grid of a comma list and moves `text` on. */
static enum ar_status take_grid(const char *where, const char **text, struct ar_shape *shape,
                                struct ar_error *err)
{
    char item[64] = ""; /* too long for a grid: refused as the empty text is */
    size_t length = strcspn(*text, ",");
    struct ar_error ignored;
    if (length < sizeof item) {
        memcpy(item, *text, length);
    }
    if (ar_shape_parse(where, item, shape, &ignored) != AR_OK) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found \"%.*s\"; expected all, square, node or grids such as "
                            "4x8,32x32",
                            where, length < 60 ? (int)length : 60, *text);
    }
    *text = (*text)[length] == ',' ? *text + length + 1 : NULL;
    return AR_OK;
}

static void add_shape(struct ar_shape *shapes, size_t *count, struct ar_shape shape)
{
    for (size_t i = 0; i < *count; i++) {
        if (ar_shape_equal(&shapes[i], &shape)) {
            return;
        }
    }
    shapes[(*count)++] = shape;
}

static void shapes_by_rule(const char *text, uint32_t ranks, uint32_t gpus_per_node,
                           struct ar_shape *shapes, size_t *count)
{
    if (strcmp(text, "square") == 0) {
        add_shape(shapes, count, ar_shape_squarest(ranks));
        return;
    }
    bool is_all = strcmp(text, "all") == 0;
    for (uint32_t x = 1; x <= ranks; x++) {
        if (ranks % x == 0 && (is_all || x == gpus_per_node)) {
            add_shape(shapes, count, (struct ar_shape){.x = x, .y = ranks / x});
        }
    }
}

enum ar_status list_shapes(struct ar_arena *arena, const char *where, const char *text,
                           uint32_t ranks, uint32_t gpus_per_node, struct ar_shape **shapes,
                           size_t *count, struct ar_error *err)
{
    size_t root = 1;
    while (root * root < ranks) {
        root++;
    }
    struct ar_shape *found = ar_arena_alloc(arena, 2 * root, sizeof *found); /* for all divisors */
    size_t found_count = 0;
    AR_NEED(found, err, "a list");
    if (is_rule(text)) {
        shapes_by_rule(text, ranks, gpus_per_node, found, &found_count);
        text = NULL;
    }
    while (text != NULL) {
        struct ar_shape shape;
        AR_TRY(take_grid(where, &text, &shape, err));
        if (ar_shape_ranks(&shape) == ranks) {
            add_shape(found, &found_count, shape);
        }
    }
    *shapes = found;
    *count = found_count;
    return AR_OK;
}

enum ar_status list_shapes_check(const char *where, const char *text, const uint64_t *counts,
                                 size_t counts_count, struct ar_error *err)
{
    text = is_rule(text) ? NULL : text;
    while (text != NULL) {
        struct ar_shape shape;
        bool is_met = false;
        AR_TRY(take_grid(where, &text, &shape, err));
        for (size_t i = 0; i < counts_count; i++) {
            is_met = is_met || counts[i] == ar_shape_ranks(&shape);
        }
        if (!is_met) {
            char grid[AR_SHAPE_TEXT];
            return ar_error_set(err, AR_USAGE,
                                "%s: %s has %" PRIu32
                                " places; expected X*Y to be one of the GPU counts",
                                where, ar_shape_format(&shape, grid), ar_shape_ranks(&shape));
        }
    }
    return AR_OK;
}
