#include "topo_line.h"

#include <string.h>

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
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

enum ar_status ar_topo_read_assignment(const char *where, char *assignment,
                                       struct ar_topo_entry *entry, struct ar_error *err)
{
    AR_TRY(ar_topo_check_text(where, assignment, false, err));
    char *equals = strchr(assignment, '=');
    if (equals == NULL) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected key = value", where,
                            trim(assignment));
    }
    *equals = '\0';
    AR_TRY(ar_topo_key_find(where, trim(assignment), &entry->key, err));
    entry->text = trim(equals + 1);
    size_t length = strlen(entry->text);
    const char *key = ar_topo_key_name(entry->key);
    if (length == 0) {
        return ar_error_set(err, AR_BAD_DATA, "%s: key \"%s\": found no value; expected one", where,
                            key);
    }
    if (length > AR_TOPO_TEXT_MAX && entry->key != TOPO_NVLINK_PAIRS) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: key \"%s\": found a value of %zu characters; expected at most %d",
                            where, key, length, AR_TOPO_TEXT_MAX);
    }
    return AR_OK;
}

enum ar_status ar_topo_read_line(const char *where, const char *text, struct ar_arena *arena,
                                 struct ar_topo_line *line, struct ar_error *err)
{
    char *copy = ar_arena_text(arena, text);
    if (copy == NULL) {
        return ar_error_no_memory(err, "a value of the cluster");
    }
    line->text = text;
    char *assignment = trim(copy);
    AR_TRY(ar_topo_check_text(where, assignment, true, err));
    line->is_entry = *assignment != '#' && *assignment != '\0';
    if (!line->is_entry) {
        return AR_OK;
    }
    line->entry = (struct ar_topo_entry){.source = "", .where = where, .status = AR_BAD_DATA};
    char *semicolon = strchr(assignment, ';');
    if (semicolon != NULL) {
        *semicolon = '\0';
        line->entry.source = trim(semicolon + 1);
    }
    return ar_topo_read_assignment(where, assignment, &line->entry, err);
}
