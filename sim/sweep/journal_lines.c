#include "journal_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ar_hash.h"

#define TITLE "allreckon sweep journal 1: "

/* The names and kinds of the columns, since a row is read back by them. */
static uint32_t hash_columns(void)
{
    static const char columns[] =
#define X(kind, name, help) #kind " " #name ","
        AR_COLUMN_LIST(X)
#undef X
        ;
    uint64_t hash = ar_hash_begin();
    ar_hash_bytes(&hash, columns, sizeof columns);
    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t checksum(const char *text, size_t length)
{
    uint64_t hash = ar_hash_begin();
    ar_hash_bytes(&hash, text, length);
    return (uint32_t)(hash ^ hash >> 32);
}

void journal_header(const struct space *space, char header[JOURNAL_HEADER_MAX])
{
    snprintf(header, JOURNAL_HEADER_MAX,
             TITLE "version " AR_VERSION ", columns %08" PRIx32 ", sweep %016" PRIx64
                   ", points %zu\n",
             hash_columns(), space->fingerprint, space->points_count);
}

/* Writes a byte, or two for one that would end a line. */
static size_t escape(char byte, char *target)
{
    if (byte != '\n' && byte != '\\') {
        *target = byte;
        return 1;
    }
    target[0] = '\\';
    target[1] = byte == '\n' ? 'n' : '\\';
    return 2;
}

static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        bool is_escape = from[0] == '\\' && from[1] != '\0';
        from += is_escape;
        *to++ = (char)(is_escape && *from == 'n' ? '\n' : *from);
    }
    *to = '\0';
}

/* Writes the CSV line of a row as one line; returns its length, 0 without memory. */
static size_t format_row(const struct ar_row *row, char text[JOURNAL_TEXT_MAX])
{
    char csv[JOURNAL_TEXT_MAX] = "";
    size_t length = 0;
    FILE *file = fmemopen(csv, sizeof csv, "w");
    if (file == NULL) {
        return 0;
    }
    ar_record_write_line(file, ar_row_columns, row);
    fclose(file);
    for (size_t i = 0; csv[i] != '\0' && (csv[i] != '\n' || csv[i + 1] != '\0'); i++) {
        length += escape(csv[i], text + length);
    }
    return length;
}

uint32_t journal_format(uint32_t point, const struct ar_row *row, char line[JOURNAL_LINE_MAX])
{
    char *text = line + JOURNAL_LINE_MAX - JOURNAL_TEXT_MAX;
    size_t length = format_row(row, text);
    bool is_ok = length > 0 && strcmp(row->status, "ok") == 0; /* else --resume tries again */
    uint32_t sum = checksum(text, length);
    int head = snprintf(line, JOURNAL_LINE_MAX - JOURNAL_TEXT_MAX, "%" PRIu32 " %s %08" PRIx32 " ",
                        point, is_ok ? "ok" : "failed", sum);
    memmove(line + head, text, length);
    line[(size_t)head + length] = '\n';
    return (uint32_t)head + (uint32_t)length + 1;
}

bool journal_parse(char *line, size_t size, struct journal_line *found)
{
    char state[8];
    uint32_t sum;
    int length = 0;
    if (size == 0 || line[size - 1] != '\n' || memchr(line, '\0', size) != NULL) {
        return false;
    }
    line[size - 1] = '\0';
    if (sscanf(line, "%" SCNu32 " %7s %" SCNx32 "%n", &found->point, state, &sum, &length) != 3 ||
        line[length] != ' ') {
        return false;
    }
    found->is_ok = strcmp(state, "ok") == 0;
    char *text = line + length + 1;
    if ((!found->is_ok && strcmp(state, "failed") != 0) || checksum(text, strlen(text)) != sum) {
        return false;
    }
    unescape(text);
    found->text = text;
    return true;
}

void journal_note(struct journal *journal, uint32_t point, bool is_ok, uint64_t place)
{
    bool had_row = journal->places[point] != 0;
    journal->rows_count += !had_row;
    journal->failed_count -= had_row && !journal->is_ok[point];
    journal->failed_count += !is_ok;
    journal->places[point] = place;
    journal->is_ok[point] = is_ok;
}

/* The bytes of the file; NULL with size 0 if it is empty. No second descriptor is opened: closing
 * it would give up the lock. */
static enum ar_status map(const struct journal *journal, const char **bytes, size_t *size,
                          struct ar_error *err)
{
    struct stat info;
    *bytes = NULL;
    *size = 0;
    if (fstat(journal->file, &info) != 0) {
        return ar_error_set(err, AR_IO, "%s: cannot read: %s", journal->path, strerror(errno));
    }
    if (info.st_size > 0) {
        void *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, journal->file, 0);
        if (at == MAP_FAILED) {
            return ar_error_set(err, AR_IO, "%s: cannot read: %s", journal->path, strerror(errno));
        }
        *bytes = at;
        *size = (size_t)info.st_size;
    }
    return AR_OK;
}

static void unmap(const char *bytes, size_t size)
{
    if (size > 0) {
        munmap((void *)bytes, size);
    }
}

/* Length of the line that begins at `at`, its newline included if it has one. */
static size_t line_length(const char *at, size_t left)
{
    const char *end = memchr(at, '\n', left);
    return end != NULL ? (size_t)(end - at) + 1 : left;
}

enum ar_status journal_count_rows(const struct journal *journal, size_t *rows, struct ar_error *err)
{
    const char *bytes;
    size_t size;
    size_t lines = 0;
    enum ar_status status = map(journal, &bytes, &size, err);
    if (status != AR_OK) {
        return status;
    }
    for (size_t at = 0; at < size; at += line_length(bytes + at, size - at)) {
        lines++;
    }
    unmap(bytes, size);
    *rows = lines > 0 ? lines - 1 : 0;
    return AR_OK;
}

/* The header must be that of this sweep; says in what it differs. */
static enum ar_status check_header(const struct journal *journal, const char *line, size_t length,
                                   const char *header, struct ar_error *err)
{
    size_t title = sizeof TITLE - 1;
    if (length == strlen(header) && memcmp(line, header, length) == 0) {
        return AR_OK;
    }
    if (length <= title || length >= JOURNAL_HEADER_MAX || memcmp(line, TITLE, title) != 0) {
        return ar_error_set(err, AR_BAD_DATA, "%.300s:1: found no journal of a sweep",
                            journal->path);
    }
    size_t same = (size_t)(strstr(header, ", sweep ") - header);
    bool is_same_program = same < length && memcmp(line, header, same) == 0;
    return ar_error_set(
        err, AR_BAD_DATA,
        "%.150s:1: found a journal of another %s (%.*s); expected %.*s, or the file removed",
        journal->path, is_same_program ? "sweep" : "version", (int)(length - title - 1),
        line + title, (int)(strlen(header) - title - 1), header + title);
}

/* Takes a line of the file; false if it is damaged. */
static bool take_line(struct journal *journal, const char *bytes, size_t length)
{
    char line[JOURNAL_LINE_MAX];
    struct journal_line found;
    if (length > sizeof line) {
        return false;
    }
    memcpy(line, bytes, length);
    if (!journal_parse(line, length, &found) || found.point >= journal->points_count) {
        return false;
    }
    journal_note(journal, found.point, found.is_ok, journal->size);
    return true;
}

static enum ar_status scan_lines(struct journal *journal, const char *bytes, size_t size,
                                 const char *header, size_t *cut_bytes, struct ar_error *err)
{
    size_t number = 2;
    size_t length = line_length(bytes, size);
    enum ar_status status = check_header(journal, bytes, length, header, err);
    while (status == AR_OK && (journal->size += length) < size) {
        const char *line = bytes + journal->size;
        length = line_length(line, size - journal->size);
        if (take_line(journal, line, length)) {
            number++;
        } else if (journal->size + length == size) {
            *cut_bytes = length;
            return AR_OK;
        } else {
            status = ar_error_set(err, AR_BAD_DATA,
                                  "%.300s:%zu: found a damaged line before the last one; expected "
                                  "the journal as it was written",
                                  journal->path, number);
        }
    }
    return status;
}

enum ar_status journal_scan(struct journal *journal, const char *header, size_t *cut_bytes,
                            struct ar_error *err)
{
    const char *bytes;
    size_t size;
    enum ar_status status = map(journal, &bytes, &size, err);
    if (status == AR_OK) {
        status = scan_lines(journal, bytes, size, header, cut_bytes, err);
        unmap(bytes, size);
    }
    return status;
}
