#include "ar_text.h"

#include <stdarg.h>
#include <string.h>

enum { NAME_MAX = 63 };

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance, two neighbours swapped as one edit; of names over NAME_MAX the start counts. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t a_length = min_of(strlen(a), NAME_MAX);
    size_t b_length = min_of(strlen(b), NAME_MAX);
    size_t rows[3][NAME_MAX + 1]; /* of a's first letters, modulo 3 */
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        const size_t *before = rows[(i - 1) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            size_t change = before[j - 1] + (a[i - 1] != b[j - 1]);
            size_t swap = is_swapped ? rows[(i - 2) % 3][j - 2] + 1 : change;
            row[j] = min_of(min_of(change, swap), min_of(row[j - 1], before[j]) + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *ar_nearest_name(const char *name, const char *const *names, size_t names_count)
{
    const char *nearest = NULL;
    size_t nearest_distance = 0;
    for (size_t i = 0; i < names_count; i++) {
        size_t distance = edit_distance(name, names[i]);
        size_t longer = strlen(name) > strlen(names[i]) ? strlen(name) : strlen(names[i]);
        longer = min_of(longer, NAME_MAX);
        size_t allowed = (longer + 1) / 3;
        if (distance <= allowed && (nearest == NULL || distance < nearest_distance)) {
            nearest = names[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}

size_t ar_utf8_size(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t size = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    bool is_bad = at[0] > 0xf4 || (at[0] == 0xe0 && at[1] < 0xa0) ||
                  (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
                  (at[0] == 0xf4 && at[1] > 0x8f);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return is_bad ? 0 : size;
}

void ar_text_to_line(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 || *at == 0x7f ? ' ' : *at;
    }
}

void ar_copy_text(char *target, size_t size, const char *source)
{
    size_t bytes = strnlen(source, size - 1);
    memcpy(target, source, bytes);
    target[bytes] = '\0';
}

void ar_append_text(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* "h100" is part of "dgx-h100". */
static bool is_part_of(const char *name, const char *whole)
{
    return strlen(name) >= 2 && strcasestr(whole, name) != NULL;
}

enum ar_status ar_error_unknown(struct ar_error *err, enum ar_status status, const char *where,
                                const char *noun, const char *name, const char *const *names,
                                size_t names_count)
{
    static const char more[] = " ...";
    char all[256] = "";
    const char *nearest = NULL;
    size_t alike = 0;
    for (size_t i = 0; i < names_count; i++) {
        if (is_part_of(name, names[i])) {
            nearest = names[i];
            alike++;
        }
    }
    nearest = alike == 0 ? ar_nearest_name(name, names, names_count) : nearest;
    AR_REFUSE(nearest != NULL && alike <= 1, err, status,
              "%s: unknown %s \"%.60s\"; did you mean \"%s\"?", where, noun, name, nearest);
    for (size_t i = 0; i < names_count; i++) {
        if (alike > 0 && !is_part_of(name, names[i])) {
            continue;
        }
        if (strlen(all) + 1 + strlen(names[i]) + sizeof more > sizeof all) {
            ar_append_text(all, sizeof all, "%s", more);
            break;
        }
        ar_append_text(all, sizeof all, " %s", names[i]);
    }
    return ar_error_set(err, status, "%s: unknown %s \"%.60s\"; expected one of%s", where, noun,
                        name, all);
}

const char *ar_list_choices(const char *const *names, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; names[i] != NULL; i++) {
        const char *joint = i == 0 ? "" : names[i + 1] == NULL ? " or " : ", ";
        ar_append_text(text, size, "%s%s", joint, names[i]);
    }
    return text;
}

enum ar_status ar_parse_choice(const char *where, const char *text, const char *const *names,
                               unsigned *place, struct ar_error *err)
{
    char list[256];
    for (unsigned i = 0; names[i] != NULL; i++) {
        if (strcmp(text, names[i]) == 0) {
            *place = i;
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_BAD_DATA, "%s: found \"%.60s\"; expected %s", where, text,
                        ar_list_choices(names, list, sizeof list));
}

void ar_copy_stem(char *target, size_t size, const char *path, const char *suffix)
{
    ar_copy_text(target, size, basename(path));
    size_t bytes = strlen(target);
    size_t suffix_bytes = strlen(suffix);
    if (bytes > suffix_bytes && strcmp(target + bytes - suffix_bytes, suffix) == 0) {
        target[bytes - suffix_bytes] = '\0';
    }
}

static const char blanks[] = " \t\r";

char *ar_trim(char *text)
{
    text += strspn(text, blanks);
    for (size_t end = strlen(text); end > 0 && strchr(blanks, text[end - 1]) != NULL; end--) {
        text[end - 1] = '\0';
    }
    return text;
}

char *ar_next_part(char **rest, char separator)
{
    const char separators[] = {separator, '\0'};
    char *part = strsep(rest, separators);
    return part != NULL ? ar_trim(part) : NULL;
}

void ar_write_shell_word(FILE *file, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "@%+=:,./_-";
    bool is_plain = text[0] != '\0' && text[strspn(text, plain)] == '\0';
    const char *quote = is_plain ? "" : "'";
    fputs(quote, file);
    for (; *text != '\0'; text++) { /* a quote ends the quotes, stands for itself, begins others */
        fputs(*text == '\'' ? "'\\''" : (const char[]){*text, '\0'}, file);
    }
    fputs(quote, file);
}

void ar_write_words(FILE *file, const char *text, size_t length, size_t at, size_t indent,
                    const char *joint)
{
    const char *end = text + length, *blank = "";
    for (const char *word = text + strspn(text, " \n"); word < end;) {
        const char *option = joint[0] != '\0' ? strstr(word, " --") : NULL;
        size_t size = joint[0] == '\0' ? strcspn(word, " \n")
                      : option != NULL ? (size_t)(option - word)
                                       : strcspn(word, "\n");
        const char *next = word + size + strspn(word + size, " \n");
        size = word + size < end ? size : (size_t)(end - word);
        if (at > indent && at + 1 + size + (next < end ? strlen(joint) : 0) > AR_HELP_WIDTH) {
            fprintf(file, "%s\n%*s", joint, (int)indent, "");
            at = indent;
            blank = "";
        }
        at += (size_t)fprintf(file, "%s%.*s", blank, (int)size, word);
        blank = " ";
        word = next;
    }
    fputc('\n', file);
}

bool ar_next_word(const char **text, char word[AR_WORD_SIZE])
{
    *text += strspn(*text, blanks);
    size_t size = strcspn(*text, blanks);
    *(char *)mempcpy(word, *text, size < AR_WORD_SIZE ? size : AR_WORD_SIZE - 1) = '\0';
    *text += size;
    return size > 0;
}

bool ar_text_has_word(const char *text, const char *word)
{
    char found[AR_WORD_SIZE];
    while (ar_next_word(&text, found)) {
        if (strcmp(found, word) == 0) {
            return true;
        }
    }
    return false;
}
