#include "topo_values.h"

#include <string.h>

#include "ar_units.h"

static enum ar_status parse_name(const char *where, const char *text, struct ar_error *err)
{
    size_t plain =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    if (text[plain] != '\0') {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%s\"; expected letters, digits, '-', '_' and '.' only",
                            where, text);
    }
    return AR_OK;
}

/* Bounds that no machine reaches keep sums and quotients of values finite. */
static enum ar_status check_bounds(const char *where, const char *text, enum ar_topo_key key,
                                   double number, struct ar_error *err)
{
    const char *expected = NULL;
    enum ar_topo_kind kind = ar_topo_keys[key].kind;
    if (kind == KIND_RATE && !(number >= 1 && number <= 1e18)) {
        expected = "a rate from 1B/s to 1000000TB/s";
    } else if (kind == KIND_SECONDS && !(number >= 0 && number <= 1000)) {
        expected = "a time of at most 1000s";
    } else if (kind == KIND_COST && !(number >= 0 && number <= 1)) {
        expected = "a cost of at most 1s/B";
    }
    return expected == NULL ? AR_OK
                            : ar_error_set(err, AR_BAD_DATA, "%s: found \"%s\"; expected %s", where,
                                           text, expected);
}

static enum ar_status parse_count(const char *where, const struct ar_topo_entry *entry,
                                  struct ar_topo_values *values, struct ar_error *err)
{
    const struct ar_topo_key_row *key = &ar_topo_keys[entry->key];
    uint64_t count = 0;
    AR_TRY(ar_parse_count(where, entry->text, key->min, key->max, &count, err));
    values->count[entry->key] = (uint32_t)count;
    return AR_OK;
}

static enum ar_status parse_attached(const char *where, const char *text,
                                     struct ar_topo_values *values, struct ar_error *err)
{
    values->has_hcas_on_switches = strcmp(text, "switch") == 0;
    if (!values->has_hcas_on_switches && strcmp(text, "host") != 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found \"%s\"; expected switch (the PCIe switch of its GPUs) or "
                            "host (behind the uplinks of the switches)",
                            where, text);
    }
    return AR_OK;
}

/* Parses one entry; pairs wait until the number of GPUs is known. */
static enum ar_status parse_text(const char *where, const struct ar_topo_entry *entry,
                                 struct ar_topo_values *values, struct ar_error *err)
{
    double *number = &values->number[entry->key];
    values->is_given[entry->key] = true;
    switch (ar_topo_keys[entry->key].kind) {
    case KIND_NAME:
        return parse_name(where, entry->text, err);
    case KIND_COUNT:
        return parse_count(where, entry, values, err);
    case KIND_RATE:
        AR_TRY(ar_parse_rate(where, entry->text, number, err));
        break;
    case KIND_SECONDS:
        AR_TRY(ar_parse_seconds(where, entry->text, number, err));
        break;
    case KIND_COST:
        AR_TRY(ar_parse_cost(where, entry->text, number, err));
        break;
    case KIND_ATTACHED:
        return parse_attached(where, entry->text, values, err);
    case KIND_TEXT:
    case KIND_PAIRS:
        break;
    }
    return check_bounds(where, entry->text, entry->key, *number, err);
}

enum ar_status ar_topo_values_parse(const struct ar_topo_entries *entries,
                                    struct ar_topo_values *values, struct ar_error *err)
{
    char where[AR_TOPO_WHERE_SIZE];
    for (size_t i = 0; i < entries->count; i++) {
        const struct ar_topo_entry *entry = &entries->list[i];
        enum ar_status status = parse_text(ar_topo_where(entry, where), entry, values, err);
        AR_TRY(ar_topo_blame(status, entry->status, err));
    }
    const struct ar_topo_entry *pairs = ar_topo_entries_find(entries, TOPO_NVLINK_PAIRS);
    uint32_t gpus = values->count[TOPO_GPUS];
    if (pairs == NULL || gpus == 0) {
        return AR_OK;
    }
    ar_topo_where(pairs, where);
    return ar_topo_blame(ar_topo_parse_pairs(where, pairs->text, gpus, values, err), pairs->status,
                         err);
}

static enum ar_status check_setting(struct ar_setting setting, struct ar_arena *arena,
                                    struct ar_error *err)
{
    struct ar_topo_entries entries = {.path = setting.where};
    struct ar_topo_values *values = ar_arena_alloc(arena, 1, sizeof *values);
    if (values == NULL) {
        return ar_error_no_memory(err, "a setting");
    }
    AR_TRY(ar_topo_entries_apply((struct ar_settings){&setting, 1}, arena, &entries, err));
    if (entries.list[0].key == TOPO_NVLINK_PAIRS) {
        values->count[TOPO_GPUS] = AR_TOPO_GPUS_MAX;
    }
    return ar_topo_values_parse(&entries, values, err);
}

enum ar_status ar_topo_check_setting(struct ar_setting setting, struct ar_error *err)
{
    struct ar_arena arena = {.last = NULL};
    enum ar_status status = check_setting(setting, &arena, err);
    ar_arena_end(&arena);
    return status;
}
