/* From bytes to cells: lines, comments, directives and libcsv. */
#include "ar_csv.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct loader {
    struct ar_csv *csv;
    uint64_t line;
    size_t line_cells; /* cells of the line being read */
    bool is_out_of_memory;
    bool ends_in_line; /* the file ends in this line, without a newline */
    struct ar_error *err;
};

static bool reserve(void **items, size_t *capacity, size_t wanted, size_t item_bytes)
{
    if (wanted <= *capacity) {
        return true;
    }
    size_t larger = wanted + wanted / 2 + 64;
    void *moved = realloc(*items, larger * item_bytes);
    if (moved == NULL) {
        return false;
    }
    *items = moved;
    *capacity = larger;
    return true;
}

/* Appends a terminated copy; `offset` is where it begins. */
static bool keep_text(struct ar_csv *csv, const char *text, size_t bytes, size_t *offset)
{
    if (!reserve((void **)&csv->text, &csv->text_capacity, csv->text_bytes + bytes + 1, 1)) {
        return false;
    }
    *offset = csv->text_bytes;
    memcpy(csv->text + *offset, text, bytes);
    csv->text[*offset + bytes] = '\0';
    csv->text_bytes += bytes + 1;
    return true;
}

static void take_cell(void *text, size_t bytes, void *data)
{
    struct loader *loader = data;
    struct ar_csv *csv = loader->csv;
    size_t offset;
    loader->line_cells++;
    if (loader->line_cells > AR_CSV_COLUMNS_MAX) {
        return; /* reported by finish_line(), which sees the count */
    }
    if (!reserve((void **)&csv->cells, &csv->cells_capacity, csv->cells_count + 1,
                 sizeof *csv->cells) ||
        !keep_text(csv, text, bytes, &offset)) {
        loader->is_out_of_memory = true;
        return;
    }
    csv->cells[csv->cells_count++] = offset;
}

static enum ar_status finish_header(struct loader *loader)
{
    struct ar_csv *csv = loader->csv;
    if (loader->line_cells > AR_CSV_COLUMNS_MAX) {
        return ar_error_set(loader->err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": %zu columns; expected at most %d", csv->path,
                            loader->line, loader->line_cells, AR_CSV_COLUMNS_MAX);
    }
    csv->columns_count = loader->line_cells;
    csv->header_line = loader->line;
    return AR_OK;
}

static enum ar_status finish_line(struct loader *loader)
{
    struct ar_csv *csv = loader->csv;
    if (loader->is_out_of_memory) {
        return ar_error_no_memory(loader->err, csv->path);
    }
    if (loader->line_cells == 0) {
        return AR_OK;
    }
    if (csv->columns_count == 0) {
        return finish_header(loader);
    }
    if (loader->line_cells != csv->columns_count) {
        const char *cut = loader->ends_in_line && loader->line_cells < csv->columns_count
                              ? "; the file ends in the middle of this line"
                              : "";
        return ar_error_set(
            loader->err, AR_BAD_DATA,
            "%s:%" PRIu64 ": %zu cells; expected %zu as in the header (line %" PRIu64 ")%s",
            csv->path, loader->line, loader->line_cells, csv->columns_count, csv->header_line, cut);
    }
    if (!reserve((void **)&csv->lines, &csv->lines_capacity, csv->rows_count + 1,
                 sizeof *csv->lines)) {
        return ar_error_no_memory(loader->err, csv->path);
    }
    csv->lines[csv->rows_count++] = loader->line;
    return AR_OK;
}

/* libcsv sees one line at a time, so that the line of a cell is known and quotes cannot swallow the
 * rest of the file. */
static enum ar_status read_row(struct loader *loader, struct csv_parser *parser, const char *text,
                               size_t bytes)
{
    loader->line_cells = 0;
    bool is_parsed = csv_parse(parser, text, bytes, take_cell, NULL, loader) == bytes &&
                     csv_fini(parser, take_cell, NULL, loader) == 0;
    if (!is_parsed && csv_error(parser) == CSV_ENOMEM) {
        return ar_error_no_memory(loader->err, loader->csv->path);
    }
    if (!is_parsed) {
        return ar_error_set(loader->err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": a quote is out of place or not closed; expected cells "
                            "separated by commas",
                            loader->csv->path, loader->line);
    }
    return finish_line(loader);
}

/* Splits `# word = value`; false for an ordinary comment. */
static bool split_directive(const char *text, size_t bytes, size_t *key, size_t *key_bytes,
                            size_t *value, size_t *value_bytes)
{
    const char *letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t i = 0;
    while (i < bytes && (text[i] == '#' || text[i] == ' ' || text[i] == '\t')) {
        i++;
    }
    *key = i;
    while (i < bytes && text[i] != '\0' && strchr(letters, text[i]) != NULL) {
        i++;
    }
    *key_bytes = i - *key;
    while (i < bytes && (text[i] == ' ' || text[i] == '\t')) {
        i++;
    }
    if (*key_bytes == 0 || i == bytes || text[i] != '=') {
        return false;
    }
    i++;
    while (i < bytes && (text[i] == ' ' || text[i] == '\t')) {
        i++;
    }
    while (bytes > i && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t')) {
        bytes--;
    }
    *value = i;
    *value_bytes = bytes - i;
    return true;
}

static enum ar_status read_comment(struct loader *loader, const char *text, size_t bytes)
{
    struct ar_csv *csv = loader->csv;
    size_t key, key_bytes, value, value_bytes;
    if (!split_directive(text, bytes, &key, &key_bytes, &value, &value_bytes)) {
        return AR_OK;
    }
    if (csv->columns_count > 0) {
        return ar_error_set(loader->err, AR_BAD_DATA,
                            "%s:%" PRIu64 ": directive after the header (line %" PRIu64
                            "), where it would be ignored; expected it before",
                            csv->path, loader->line, csv->header_line);
    }
    struct ar_csv_directive directive = {.line = loader->line};
    if (!reserve((void **)&csv->directives, &csv->directives_capacity, csv->directives_count + 1,
                 sizeof *csv->directives) ||
        !keep_text(csv, text + key, key_bytes, &directive.key) ||
        !keep_text(csv, text + value, value_bytes, &directive.value)) {
        return ar_error_no_memory(loader->err, csv->path);
    }
    csv->directives[csv->directives_count++] = directive;
    return AR_OK;
}

static enum ar_status check_is_text(struct loader *loader, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
            return ar_error_set(loader->err, AR_BAD_DATA,
                                "%s:%" PRIu64 ": byte 0x%02x is not text; expected a CSV file",
                                loader->csv->path, loader->line, byte);
        }
    }
    return AR_OK;
}

static enum ar_status read_lines(struct loader *loader, struct csv_parser *parser, const char *text,
                                 size_t bytes)
{
    size_t start = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* UTF-8 mark */
    while (start < bytes) {
        size_t end = start;
        while (end < bytes && text[end] != '\n' && text[end] != '\r') {
            end++;
        }
        const char *line = text + start;
        size_t line_bytes = end - start;
        loader->line++;
        loader->ends_in_line = end == bytes;
        enum ar_status status = check_is_text(loader, line, line_bytes);
        size_t blanks = 0;
        while (blanks < line_bytes && (line[blanks] == ' ' || line[blanks] == '\t')) {
            blanks++;
        }
        if (status == AR_OK && blanks < line_bytes) {
            status = line[blanks] == '#' ? read_comment(loader, line, line_bytes)
                                         : read_row(loader, parser, line, line_bytes);
        }
        if (status != AR_OK) {
            return status;
        }
        bool is_crlf = end + 1 < bytes && text[end] == '\r' && text[end + 1] == '\n';
        start = end + (is_crlf ? 2 : 1);
    }
    return AR_OK;
}

static enum ar_status parse_bytes(struct ar_csv *csv, const char *text, size_t bytes,
                                  struct ar_error *err)
{
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        return ar_error_no_memory(err, csv->path);
    }
    struct loader loader = {.csv = csv, .err = err};
    enum ar_status status = read_lines(&loader, &parser, text, bytes);
    csv_free(&parser);
    if (status == AR_OK && csv->columns_count == 0) {
        status =
            ar_error_set(err, AR_BAD_DATA, "%s: no header line in %zu bytes; expected a CSV file",
                         csv->path, bytes);
    }
    return status;
}

static enum ar_status open_file(const char *path, FILE **file, struct ar_error *err)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (descriptor < 0 || fstat(descriptor, &facts) != 0) {
        ar_error_set(err, AR_NO_INPUT, "%s: %s; expected a CSV file", path, strerror(errno));
    } else if (S_ISDIR(facts.st_mode)) {
        ar_error_set(err, AR_NO_INPUT, "%s: is a directory; expected a CSV file", path);
    } else if ((*file = fdopen(descriptor, "rb")) == NULL) {
        ar_error_no_memory(err, path);
    } else {
        return AR_OK;
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return err->status;
}

/* Reads until the end or one byte past the limit. */
static enum ar_status read_bytes(FILE *file, const char *path, char **text, size_t *bytes,
                                 struct ar_error *err)
{
    size_t capacity = 0;
    *text = NULL;
    *bytes = 0;
    do {
        if (!reserve((void **)text, &capacity, *bytes + 65536, 1)) {
            return ar_error_no_memory(err, path);
        }
        size_t got = fread(*text + *bytes, 1, capacity - *bytes, file);
        *bytes += got;
        if (ferror(file)) {
            return ar_error_set(err, AR_NO_INPUT, "%s: %s; expected a CSV file", path,
                                strerror(errno));
        }
        if (got == 0) {
            return AR_OK;
        }
    } while (*bytes <= AR_CSV_BYTES_MAX);
    return ar_error_set(err, AR_BAD_DATA, "%s: larger than %d bytes; expected a CSV file", path,
                        AR_CSV_BYTES_MAX);
}

enum ar_status ar_csv_load(const char *path, struct ar_csv **csv, struct ar_error *err)
{
    FILE *file;
    enum ar_status status = open_file(path, &file, err);
    if (status != AR_OK) {
        return status;
    }
    char *text;
    size_t bytes;
    status = read_bytes(file, path, &text, &bytes, err);
    fclose(file);
    struct ar_csv *loaded = status == AR_OK ? calloc(1, sizeof *loaded) : NULL;
    if (loaded != NULL) {
        loaded->path = strdup(path);
    }
    if (status == AR_OK && (loaded == NULL || loaded->path == NULL)) {
        status = ar_error_no_memory(err, path);
    }
    if (status == AR_OK) {
        status = parse_bytes(loaded, text, bytes, err);
    }
    free(text);
    if (status != AR_OK) {
        ar_csv_destroy(loaded);
        return status;
    }
    *csv = loaded;
    return AR_OK;
}

void ar_csv_destroy(struct ar_csv *csv)
{
    if (csv == NULL) {
        return;
    }
    free(csv->path);
    free(csv->text);
    free(csv->directives);
    free(csv->cells);
    free(csv->lines);
    free(csv);
}
