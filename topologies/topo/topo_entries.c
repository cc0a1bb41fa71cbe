#include <assert.h>
#include <string.h>

#include "topo_line.h"

const struct ar_topo_entry *ar_topo_entries_find(const struct ar_topo_entries *entries,
                                                 enum ar_topo_key key)
{
    for (size_t i = 0; i < entries->count; i++) {
        if (entries->list[i].key == key) {
            return &entries->list[i];
        }
    }
    return NULL;
}

enum ar_status ar_topo_entries_store(struct ar_topo_entry entry, struct ar_arena *arena,
                                     struct ar_topo_entries *entries, struct ar_error *err)
{
    entry.text = ar_arena_text(arena, entry.text);
    entry.source = ar_arena_text(arena, entry.source);
    entry.where = ar_arena_text(arena, entry.where);
    if (entry.text == NULL || entry.source == NULL || entry.where == NULL) {
        return ar_error_no_memory(err, "a value of the cluster");
    }
    size_t place = 0;
    while (place < entries->count && entries->list[place].key != entry.key) {
        place++;
    }
    entries->count += place == entries->count;
    entries->list[place] = entry;
    return AR_OK;
}

static enum ar_status apply_setting(struct ar_setting setting, struct ar_arena *arena,
                                    struct ar_topo_entries *entries, struct ar_error *err)
{
    struct ar_topo_entry entry = {
        .source = setting.where, .where = setting.where, .status = setting.status};
    if (strlen(setting.text) > AR_TOPO_LINE_MAX) {
        return ar_error_set(err, setting.status, "%s: found %zu characters; expected key=value",
                            setting.where, strlen(setting.text));
    }
    char *text = ar_arena_text(arena, setting.text);
    if (text == NULL) {
        return ar_error_no_memory(err, "a value of the cluster");
    }
    enum ar_status status = ar_topo_read_assignment(setting.where, text, &entry, err);
    AR_TRY(ar_topo_blame(status, setting.status, err));
    return ar_topo_entries_store(entry, arena, entries, err);
}

enum ar_status ar_topo_entries_apply(struct ar_settings settings, struct ar_arena *arena,
                                     struct ar_topo_entries *entries, struct ar_error *err)
{
    for (size_t i = 0; i < settings.count; i++) {
        AR_TRY(apply_setting(settings.list[i], arena, entries, err));
    }
    return AR_OK;
}

enum ar_status ar_topo_entries_take(const struct ar_topo *topo, struct ar_settings settings,
                                    struct ar_arena *arena, struct ar_topo_entries *entries,
                                    struct ar_error *err)
{
    entries->path = ar_arena_text(arena, topo->path);
    if (entries->path == NULL) {
        return ar_error_no_memory(err, "the cluster");
    }
    for (size_t i = 0; i < topo->lines_count; i++) {
        if (topo->lines[i].is_entry) {
            AR_TRY(ar_topo_entries_store(topo->lines[i].entry, arena, entries, err));
        }
    }
    return ar_topo_entries_apply(settings, arena, entries, err);
}

/* --- messages -------------------------------------------------------------------------------- */

enum ar_status ar_topo_blame(enum ar_status status, enum ar_status wanted, struct ar_error *err)
{
    if (status == AR_BAD_DATA) {
        err->status = status = wanted;
    }
    return status;
}

const char *ar_topo_where(const struct ar_topo_entry *entry, char where[AR_TOPO_WHERE_SIZE])
{
    snprintf(where, AR_TOPO_WHERE_SIZE, "%s: key \"%s\"", entry->where,
             ar_topo_key_name(entry->key));
    return where;
}

enum ar_status ar_topo_refuse(const struct ar_topo_entries *entries, enum ar_topo_key key,
                              const char *expected, struct ar_error *err)
{
    const struct ar_topo_entry *entry = ar_topo_entries_find(entries, key);
    char where[AR_TOPO_WHERE_SIZE];
    assert(entry != NULL);
    return ar_error_set(err, entry->status, "%s: found \"%.60s\"; expected %s",
                        ar_topo_where(entry, where), entry->text, expected);
}
