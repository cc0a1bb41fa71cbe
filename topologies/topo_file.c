#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ar_text.h"
#include "topo.h"

enum { FILE_MAX = 1 << 20, LINE_MAX = 4000 };

void ar_topo_free(struct ar_topo *topo)
{
    for (size_t i = 0; i < topo->entries_count; i++) {
        free(topo->entries[i].text);
        free(topo->entries[i].source);
    }
    topo->entries_count = 0;
}

const struct ar_topo_entry *ar_topo_find(const struct ar_topo *topo, enum ar_topo_key key)
{
    for (size_t i = 0; i < topo->entries_count; i++) {
        if (topo->entries[i].key == key) {
            return &topo->entries[i];
        }
    }
    return NULL;
}

const char *ar_topo_where(const struct ar_topo *topo, const struct ar_topo_entry *entry,
                          char where[AR_TOPO_WHERE_SIZE])
{
    const char *name = ar_topo_key_name(entry->key);
    if (entry->line == 0) {
        snprintf(where, AR_TOPO_WHERE_SIZE, "--set: key \"%s\"", name);
    } else {
        snprintf(where, AR_TOPO_WHERE_SIZE, "%s:%u: key \"%s\"", topo->path, entry->line, name);
    }
    return where;
}

/* Keeps the end of a long path, which tells more than its start. */
static void copy_path(char target[AR_TOPO_PATH_SIZE], const char *path)
{
    size_t length = strlen(path);
    if (length < AR_TOPO_PATH_SIZE) {
        ar_copy_text(target, AR_TOPO_PATH_SIZE, path);
    } else {
        snprintf(target, AR_TOPO_PATH_SIZE, "...%s", path + length - (AR_TOPO_PATH_SIZE - 4));
    }
}

/* Reads the whole file into a new terminated buffer. */
static enum ar_status read_file(const char *path, char **content, size_t *size,
                                struct ar_error *err)
{
    struct stat info;
    FILE *file = fopen(path, "re");
    if (file == NULL || fstat(fileno(file), &info) != 0) {
        int cause = errno;
        if (file != NULL) {
            fclose(file);
        }
        return ar_error_set(err, AR_NO_INPUT, "%.400s: cannot read: %s", path, strerror(cause));
    }
    if (S_ISDIR(info.st_mode)) {
        fclose(file);
        return ar_error_set(err, AR_NO_INPUT, "%.400s: found a directory; expected a cluster file",
                            path);
    }
    char *buffer = malloc(FILE_MAX + 1);
    if (buffer == NULL) {
        fclose(file);
        return ar_error_no_memory(err, "the cluster file");
    }
    *size = fread(buffer, 1, FILE_MAX + 1, file);
    bool has_failed = ferror(file) != 0;
    int cause = errno;
    fclose(file);
    if (has_failed || *size > FILE_MAX) {
        free(buffer);
        return has_failed
                   ? ar_error_set(err, AR_NO_INPUT, "%.400s: cannot read: %s", path,
                                  strerror(cause))
                   : ar_error_set(err, AR_BAD_DATA,
                                  "%.400s: found more than 1 MiB; expected a cluster file", path);
    }
    buffer[*size] = '\0';
    *content = buffer;
    return AR_OK;
}

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

/* Refuses bytes that do not belong into text; those of UTF-8 are allowed where `is_prose`. */
static enum ar_status check_text(const char *where, const char *text, bool is_prose,
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

enum ar_status ar_topo_store(struct ar_topo *topo, enum ar_topo_key key, uint32_t line,
                             const char *text, const char *source, struct ar_error *err)
{
    char *own_text = strdup(text);
    char *own_source = strdup(source);
    if (own_text == NULL || own_source == NULL) {
        free(own_text);
        free(own_source);
        return ar_error_no_memory(err, "a value of the cluster");
    }
    struct ar_topo_entry *entry = NULL;
    for (size_t i = 0; i < topo->entries_count && entry == NULL; i++) {
        if (topo->entries[i].key == key) {
            entry = &topo->entries[i];
            free(entry->text);
            free(entry->source);
        }
    }
    if (entry == NULL) {
        entry = &topo->entries[topo->entries_count++];
    }
    *entry = (struct ar_topo_entry){key, line, own_text, own_source};
    return AR_OK;
}

/* Finds the key of `assignment` ("key = value", cut in place) and where its value starts. */
static enum ar_status split_assignment(const char *where, char *assignment, enum ar_topo_key *key,
                                       char **text, struct ar_error *err)
{
    enum ar_status status = check_text(where, assignment, false, err);
    if (status != AR_OK) {
        return status;
    }
    char *equals = strchr(assignment, '=');
    if (equals == NULL) {
        return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected key = value", where,
                            trim(assignment));
    }
    *equals = '\0';
    status = ar_topo_key_find(where, trim(assignment), key, err);
    if (status != AR_OK) {
        return status;
    }
    *text = trim(equals + 1);
    size_t length = strlen(*text);
    if (length == 0) {
        return ar_error_set(err, AR_BAD_DATA, "%s: key \"%s\": found no value; expected one", where,
                            ar_topo_key_name(*key));
    }
    if (length > AR_TOPO_TEXT_MAX && *key != TOPO_NVLINK_PAIRS) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: key \"%s\": found a value of %zu characters; expected at most %d",
                            where, ar_topo_key_name(*key), length, AR_TOPO_TEXT_MAX);
    }
    return AR_OK;
}

static enum ar_status read_line(struct ar_topo *topo, uint32_t line, char *text,
                                struct ar_error *err)
{
    char where[AR_TOPO_WHERE_SIZE];
    snprintf(where, sizeof where, "%s:%u", topo->path, line);
    char *assignment = trim(text);
    enum ar_status status = check_text(where, assignment, true, err);
    if (status != AR_OK || *assignment == '#' || *assignment == '\0') {
        return status;
    }
    char *semicolon = strchr(assignment, ';');
    const char *source = "";
    if (semicolon != NULL) {
        *semicolon = '\0';
        source = trim(semicolon + 1);
    }
    enum ar_topo_key key;
    char *value;
    status = split_assignment(where, assignment, &key, &value, err);
    if (status != AR_OK) {
        return status;
    }
    const struct ar_topo_entry *earlier = ar_topo_find(topo, key);
    if (earlier != NULL) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: key \"%s\": found a second time; expected once (first in line %u)",
                            where, ar_topo_key_name(key), earlier->line);
    }
    return ar_topo_store(topo, key, line, value, source, err);
}

static enum ar_status read_lines(struct ar_topo *topo, char *content, size_t size,
                                 struct ar_error *err)
{
    uint32_t line = 0;
    for (char *start = content; start < content + size;) {
        line++;
        char *end = memchr(start, '\n', (size_t)(content + size - start));
        if (end == NULL) {
            return ar_error_set(err, AR_BAD_DATA,
                                "%s:%u: found the end of the file within a line; expected a "
                                "newline (is the file cut off?)",
                                topo->path, line);
        }
        *end = '\0';
        if (end - start > LINE_MAX || strlen(start) != (size_t)(end - start)) {
            return ar_error_set(
                err, AR_BAD_DATA, "%s:%u: found %s; expected plain text lines", topo->path, line,
                end - start > LINE_MAX ? "more than 4000 characters in a line" : "the byte 0x00");
        }
        enum ar_status status = read_line(topo, line, start, err);
        if (status != AR_OK) {
            return status;
        }
        start = end + 1;
    }
    if (topo->entries_count == 0) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%s: found no values; expected lines such as \"nodes = 4 ; source\"",
                            topo->path);
    }
    return AR_OK;
}

static enum ar_status apply_setting(struct ar_topo *topo, const char *setting, struct ar_error *err)
{
    char text[LINE_MAX + 1];
    if (strlen(setting) > LINE_MAX) {
        return ar_error_set(err, AR_USAGE, "--set: found %zu characters; expected key=value",
                            strlen(setting));
    }
    ar_copy_text(text, sizeof text, setting);
    enum ar_topo_key key;
    char *value;
    enum ar_status status = split_assignment("--set", text, &key, &value, err);
    if (status != AR_OK) {
        err->status = AR_USAGE;
        return AR_USAGE;
    }
    return ar_topo_store(topo, key, 0, value, "--set", err);
}

enum ar_status ar_topo_apply(struct ar_topo *topo, const char *const *settings,
                             size_t settings_count, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    for (size_t i = 0; i < settings_count && status == AR_OK; i++) {
        status = apply_setting(topo, settings[i], err);
    }
    return status;
}

enum ar_status ar_topo_read(const char *path, const char *const *settings, size_t settings_count,
                            struct ar_topo *topo, struct ar_error *err)
{
    copy_path(topo->path, path);
    topo->entries_count = 0;
    char *content = NULL;
    size_t size = 0;
    enum ar_status status = read_file(path, &content, &size, err);
    if (status != AR_OK) {
        return status;
    }
    status = read_lines(topo, content, size, err);
    free(content);
    if (status == AR_OK) {
        status = ar_topo_apply(topo, settings, settings_count, err);
    }
    if (status != AR_OK) {
        ar_topo_free(topo);
    }
    return status;
}
