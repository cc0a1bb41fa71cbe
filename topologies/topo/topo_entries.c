/* The values of a cluster as texts. */
#include <string.h>

#include "ar_text.h"
#include "topo_values.h"

const struct ar_topo_key_row ar_topo_keys[AR_TOPO_KEYS_COUNT] = {
#define X(symbol, name, kind, need, min, max) {name, kind, need, min, max},
    AR_TOPO_KEY_LIST(X)
#undef X
};

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

void ar_topo_entries_store(struct ar_topo_entry entry, struct ar_topo_entries *entries)
{
    size_t place = 0;
    while (place < entries->count && entries->list[place].key != entry.key) {
        place++;
    }
    entries->count += place == entries->count;
    entries->list[place] = entry;
}

/* --- reading --------------------------------------------------------------------------------- */

char *ar_topo_trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL) {
        length--;
    }
    text[length] = '\0';
    return text;
}

enum ar_status ar_topo_check_text(const char *where, const char *text, bool is_prose,
                                  struct ar_error *err)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        bool is_control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
        if (is_control || (byte >= 0x80 && !is_prose)) {
            return ar_error_set(err, AR_BAD_DATA, "%s: found the byte 0x%02x; expected plain text",
                                where, byte);
        }
    }
    return AR_OK;
}

static enum ar_status find_key(const char *where, const char *name, enum ar_topo_key *key,
                               struct ar_error *err)
{
    const char *names[AR_TOPO_KEYS_COUNT];
    for (size_t i = 0; i < AR_TOPO_KEYS_COUNT; i++) {
        names[i] = ar_topo_keys[i].name;
        if (strcmp(name, names[i]) == 0) {
            *key = (enum ar_topo_key)i;
            return AR_OK;
        }
    }
    return ar_error_unknown(err, AR_BAD_DATA, where, "key", name, names, AR_TOPO_KEYS_COUNT);
}

enum ar_status ar_topo_read_assignment(char *assignment, struct ar_arena *arena,
                                       struct ar_topo_entry *entry, struct ar_error *err)
{
    AR_TRY(ar_topo_check_text(entry->where, assignment, false, err));
    char *equals = strchr(assignment, '=');
    if (equals == NULL) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected key = value",
                            entry->where, ar_topo_trim(assignment));
    }
    *equals = '\0';
    AR_TRY(find_key(entry->where, ar_topo_trim(assignment), &entry->key, err));
    entry->text = ar_topo_trim(equals + 1);
    entry->where =
        ar_arena_format(arena, "%s: key \"%s\"", entry->where, ar_topo_keys[entry->key].name);
    AR_NEED(entry->where, err, "a value of the cluster");
    size_t length = strlen(entry->text);
    if (length == 0) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found no value; expected one", entry->where);
    }
    if (length > AR_TOPO_TEXT_MAX && entry->key != TOPO_NVLINK_PAIRS) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found a value of %zu characters; expected at most %d",
                            entry->where, length, AR_TOPO_TEXT_MAX);
    }
    return AR_OK;
}

/* Wraps belong to the lengths beside them: lengths that are set leave those of a file behind. */
static void drop_wraps(struct ar_topo_entries *entries)
{
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++) {
        if (entries->list[i].key != TOPO_TORUS_WRAPS) {
            entries->list[kept++] = entries->list[i];
        }
    }
    entries->count = kept;
}

enum ar_status ar_topo_entries_apply(struct ar_settings settings, struct ar_arena *arena,
                                     struct ar_topo_entries *entries, struct ar_error *err)
{
    bool is_set[AR_TOPO_KEYS_COUNT] = {false};
    for (size_t i = 0; i < settings.count; i++) {
        const struct ar_setting *setting = &settings.list[i];
        struct ar_topo_entry entry = {
            .source = setting->where, .where = setting->where, .status = setting->status};
        char *text = ar_arena_text(arena, setting->text);
        AR_NEED(text, err, "a value of the cluster");
        if (strlen(text) > AR_TOPO_LINE_MAX) {
            return ar_error_set(err, setting->status,
                                "%s: found %zu characters; expected key=value", setting->where,
                                strlen(text));
        }
        enum ar_status status = ar_topo_read_assignment(text, arena, &entry, err);
        AR_TRY(ar_error_blame(status, setting->status, err));
        ar_topo_entries_store(entry, entries);
        is_set[entry.key] = true;
    }
    if (is_set[TOPO_TORUS_LENGTHS] && !is_set[TOPO_TORUS_WRAPS]) {
        drop_wraps(entries);
    }
    return AR_OK;
}

bool ar_topo_setting_is_prose(const char *setting)
{
    size_t length = strcspn(setting, "= \t");
    for (size_t i = 0; i < AR_TOPO_KEYS_COUNT; i++) {
        if (strncmp(ar_topo_keys[i].name, setting, length) == 0 &&
            ar_topo_keys[i].name[length] == '\0') {
            return ar_topo_keys[i].kind == KIND_TEXT;
        }
    }
    return false;
}

enum ar_status ar_topo_refuse(const struct ar_topo_entries *entries, enum ar_topo_key key,
                              const char *expected, struct ar_error *err)
{
    const struct ar_topo_entry *entry = ar_topo_entries_find(entries, key);
    return entry == NULL
               ? ar_error_set(err, AR_BAD_DATA, "%.200s: key \"%s\": found nowhere; expected %s",
                              entries->path, ar_topo_keys[key].name, expected)
               : ar_error_set(err, entry->status, "%s: found \"%.60s\"; expected %s", entry->where,
                              entry->text, expected);
}
