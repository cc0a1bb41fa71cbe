/* Reading a row back from its CSV line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_row.h"

/* Copies the next cell without its quotes and moves behind it; false if there is none, it is too
 * long or its quotes do not match. */
static bool take_cell(const char **at, bool is_first, char *cell, size_t size)
{
    const char *from = *at;
    if (!is_first && *from++ != ',') {
        return false;
    }
    size_t used = 0;
    bool is_quoted = *from == '"';
    from += is_quoted;
    for (; *from != '\0'; from++) {
        if (is_quoted && from[0] == '"' && from[1] == '"') {
            from++;
        } else if (is_quoted ? *from == '"' : *from == ',' || *from == '\n') {
            break;
        }
        if (used + 1 == size) {
            return false;
        }
        cell[used++] = *from;
    }
    if (is_quoted && *from++ != '"') {
        return false;
    }
    cell[used] = '\0';
    *at = from;
    return *from == ',' || *from == '\n' || *from == '\0';
}

static bool read_text(const char *cell, ar_row_text *value)
{
    memcpy(*value, cell, strlen(cell) + 1);
    return true;
}

static bool read_count(const char *cell, ar_row_count *value)
{
    char *end;
    *value = cell[0] == '\0' ? AR_ROW_NO_COUNT : strtoull(cell, &end, 10);
    return cell[0] == '\0' || *end == '\0';
}

static bool read_number(const char *cell, ar_row_number *value)
{
    char *end = NULL;
    *value = cell[0] == '\0' ? *value : strtod(cell, &end);
    return cell[0] == '\0' || *end == '\0';
}

enum ar_status ar_row_read(const char *line, struct ar_row *row, struct ar_error *err)
{
    char cell[AR_ROW_TEXT];
    struct ar_row found = ar_row_empty();
    bool is_first = true;
#define X(kind, name, help)                                                                        \
    if (!take_cell(&line, is_first, cell, sizeof cell) || !read_##kind(cell, &found.name)) {       \
        return ar_error_set(err, AR_BAD_DATA, "column \"%s\": found \"%.40s\"; expected a %s",     \
                            #name, line, #kind);                                                   \
    }                                                                                              \
    is_first = false;
    AR_COLUMN_LIST(X)
#undef X
    if (line[0] != '\0' && line[0] != '\n') {
        return ar_error_set(err, AR_BAD_DATA, "found \"%.40s\"; expected the end of the row", line);
    }
    *row = found;
    return AR_OK;
}
