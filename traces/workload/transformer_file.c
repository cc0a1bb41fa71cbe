#include "ar_transformer.h"

#include "ar_csv.h"
#include "ar_text.h"

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
    struct ar_transformers *made = ar_arena_alloc(arena, 1, sizeof *made);
    void *list;
    AR_NEED(made, err, path);
    AR_TRY(ar_csv_load_rows(path, arena, AR_COLUMNS(columns), sizeof *made->list, &list,
                            &made->count, err));
    made->list = list;
    *transformers = made;
    return AR_OK;
}

enum ar_status ar_transformers_find(const struct ar_transformers *transformers, const char *where,
                                    const char *name, const struct ar_transformer **model,
                                    struct ar_error *err)
{
    size_t place =
        ar_find_named(transformers->list, transformers->count, sizeof *transformers->list, where,
                      "workload", name, AR_NO_INPUT, err);
    if (place == transformers->count) {
        return err->status;
    }
    *model = &transformers->list[place];
    return AR_OK;
}
