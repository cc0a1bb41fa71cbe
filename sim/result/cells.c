#include "cells.h"

#include <csv.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

void cell_csv_text(FILE *file, const char *value)
{
    if (strpbrk(value, ",\"\n\r") != NULL) {
        csv_fwrite(file, value, strlen(value));
    } else {
        fputs(value, file);
    }
}

void cell_csv_count(FILE *file, uint64_t value)
{
    if (value != CELL_NO_COUNT) {
        fprintf(file, "%" PRIu64, value);
    }
}

void cell_csv_number(FILE *file, double value)
{
    if (isfinite(value)) {
        fprintf(file, "%.9g", value);
    }
}

/* Bytes of the UTF-8 character that begins at `at`; 0 if it is none. */
static size_t character_size(const unsigned char *at)
{
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

/* Names come from file names, which may be any bytes; JSON is UTF-8. */
void cell_json_text(FILE *file, const char *value)
{
    if (value[0] == '\0') {
        fputs("null", file);
        return;
    }
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)value; *at != '\0';) {
        size_t size = character_size(at);
        if (size == 0) {
            fputs("\\ufffd", file);
        } else if (*at == '"' || *at == '\\') {
            fprintf(file, "\\%c", *at);
        } else if (*at < 0x20) {
            fprintf(file, "\\u%04x", *at);
        } else {
            fwrite(at, 1, size, file);
        }
        at += size > 0 ? size : 1;
    }
    fputc('"', file);
}

void cell_json_count(FILE *file, uint64_t value)
{
    if (value == CELL_NO_COUNT) {
        fputs("null", file);
    } else {
        fprintf(file, "%" PRIu64, value);
    }
}

void cell_json_number(FILE *file, double value)
{
    if (!isfinite(value)) {
        fputs("null", file);
    } else {
        fprintf(file, "%.9g", value);
    }
}
