#include "ar_transformer_file.h"

#include <string.h>

#include "ar_csv.h"
#include "ar_text.h"

enum { NAMES_MAX = 256 };

#define CELL(kind, field, name, ...)                                                               \
    AR_COLUMN(kind, struct ar_transformer, field, name, __VA_ARGS__)
#define SIZE(field) CELL(count, field, #field, "a count", .max = 1e8, .may_be_empty = true)
static const struct ar_column columns[] = {
    CELL(string, name, "name", "a name"),
    SIZE(layers),
    SIZE(hidden),
    SIZE(heads),
    SIZE(kv_heads),
    SIZE(head_dim),
    SIZE(ffn),
    SIZE(seq),
    SIZE(vocab),
    CELL(flag, is_gated, "gated", ""),
    CELL(flag, is_untied, "untied", ""),
    CELL(flag, has_positions, "positions", ""),
    CELL(flag, has_dropout, "dropout", ""),
    SIZE(experts),
    SIZE(top_k),
    CELL(string, source, "source", "where the shape was published"),
};

enum ar_status ar_transformers_load(const char *path, struct ar_arena *arena,
                                    struct ar_transformers **transformers, struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    struct ar_transformers *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct ar_transformer *list = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *list);
    if (made == NULL || list == NULL) {
        return ar_error_no_memory(err, path);
    }
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(columns), list, sizeof *list, err));
    *made = (struct ar_transformers){.list = list, .count = csv->rows_count};
    *transformers = made;
    return AR_OK;
}

enum ar_status ar_transformers_find(const struct ar_transformers *transformers, const char *where,
                                    const char *name, const struct ar_transformer **model,
                                    struct ar_error *err)
{
    const char *names[NAMES_MAX];
    size_t count = transformers->count < NAMES_MAX ? transformers->count : NAMES_MAX;
    for (size_t i = 0; i < count; i++) {
        names[i] = transformers->list[i].name;
        if (strcmp(names[i], name) == 0) {
            *model = &transformers->list[i];
            return AR_OK;
        }
    }
    return ar_error_unknown(err, AR_NO_INPUT, where, "workload", name, names, count);
}
