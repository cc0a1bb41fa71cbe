#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_clock.h"
#include "ar_hash.h"

#define TITLE "allreckon sweep journal 1: "

enum { SYNC_EVERY_S = 5, HEADER_MAX = 256, NEWLINE_IN_ROW = 0x1e };

/* --- lines ------------------------------------------------------------------------------------ */

static uint32_t line_checksum(const char *text, size_t length)
{
    uint64_t hash = AR_HASH_BEGIN;
    ar_hash_bytes(&hash, text, length);
    return (uint32_t)(hash ^ hash >> 32);
}

/* With the names and kinds of the columns, since a row is read back by them. */
static void header_format(uint64_t fingerprint, size_t points_count, char header[HEADER_MAX])
{
    static const char columns[] =
#define X(kind, name, ...) #kind " " #name ","
        AR_COLUMN_LIST(X)
#undef X
        ;
    snprintf(header, HEADER_MAX,
             TITLE "version " AR_VERSION ", columns %08" PRIx32 ", sweep %016" PRIx64
                   ", points %zu\n",
             line_checksum(columns, sizeof columns), fingerprint, points_count);
}

static void bytes_replace(char *text, size_t length, char from, char to)
{
    for (size_t i = 0; i < length; i++) {
        text[i] = text[i] == from ? to : text[i];
    }
}

uint32_t journal_format(uint32_t point, const struct ar_row *row, char line[JOURNAL_LINE_MAX])
{
    char sum[] = "00000000";
    FILE *file = fmemopen(line, JOURNAL_LINE_MAX, "w");
    bool is_ok = file != NULL && strcmp(row->status, "ok") == 0; /* else --resume tries again */
    int head = snprintf(line, JOURNAL_LINE_MAX, "%" PRIu32 " %s %s \n", point,
                        is_ok ? "ok" : "failed", sum) -
               1;
    char *text = line + head;
    if (file != NULL) {
        fseek(file, head, SEEK_SET);
        ar_record_write_line(file, ar_row_columns, row);
        fclose(file);
    }
    size_t length = strlen(text) - 1;
    bytes_replace(text, length, '\n', NEWLINE_IN_ROW);
    snprintf(sum, sizeof sum, "%08" PRIx32, line_checksum(text, length));
    memcpy(text - sizeof sum, sum, sizeof sum - 1);
    return (uint32_t)(head + (int)length + 1);
}

/* A row's line, taken apart; the text is its CSV line and points into it. */
struct found_line {
    uint32_t point;
    bool is_ok;
    const char *text;
};

/* Takes a line of so many bytes apart, its newline included, in place; false if it is damaged. */
static bool line_parse(char *line, size_t size, struct found_line *found)
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
    char *text = line + length + 1;
    size_t text_length = strlen(text);
    found->is_ok = strcmp(state, "ok") == 0;
    found->text = text;
    if ((!found->is_ok && strcmp(state, "failed") != 0) ||
        line_checksum(text, text_length) != sum) {
        return false;
    }
    bytes_replace(text, text_length, NEWLINE_IN_ROW, '\n');
    return true;
}

/* Keeps in mind where the row of a point is. */
static void line_remember(struct journal *journal, const struct found_line *line, uint64_t place)
{
    uint64_t *known = &journal->places[line->point];
    uint8_t *is_ok = &journal->is_ok[line->point];
    journal->rows_count += *known == 0;
    journal->failed_count -= *known != 0 && !*is_ok;
    journal->failed_count += !line->is_ok;
    *known = place;
    *is_ok = line->is_ok;
}

/* --- appending -------------------------------------------------------------------------------- */

static enum ar_status write_failure_report(const struct journal *journal, struct ar_error *err)
{
    const char *cause = strerror(errno);
    if (journal->path[0] == '\0') {
        return ar_error_set(err, AR_IO, "the temporary file of the sweep: cannot write: %s", cause);
    }
    if (journal->rows_count == 0) {
        return ar_error_set(err, AR_IO, "%s: cannot write: %s", journal->path, cause);
    }
    return ar_error_set(err, AR_IO,
                        "%.300s: cannot write: %s; %zu of %zu rows are kept, --resume goes on",
                        journal->path, cause, journal->rows_count, journal->points_count);
}

/* Appends a line by one write(); a second one only finds out why the first was cut short. What a
 * full disk took of the line is taken back. */
static enum ar_status line_append(struct journal *journal, const char *line, size_t size,
                                  struct ar_error *err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t written = write(fileno(journal->file), line + done, size - done);
        if (written < 0 && errno != EINTR) {
            int cause = errno;
            if (done > 0 && ftruncate(fileno(journal->file), (off_t)journal->size) != 0) {
                journal->size += done; /* it stays, and --resume drops it */
            }
            errno = cause;
            return write_failure_report(journal, err);
        }
        done += written > 0 ? (size_t)written : 0;
    }
    journal->size += size;
    return AR_OK;
}

enum ar_status journal_add(struct journal *journal, const char *line, size_t size,
                           struct ar_error *err)
{
    struct found_line found = {.point = (uint32_t)strtoul(line, NULL, 10),
                               .is_ok = strncmp(strchr(line, ' '), " ok ", 4) == 0};
    uint64_t place = journal->size;
    AR_TRY(line_append(journal, line, size, err));
    line_remember(journal, &found, place);
    if (journal->path[0] != '\0' && ar_clock_s() - journal->synced_s > SYNC_EVERY_S) {
        fdatasync(fileno(journal->file));
        journal->synced_s = ar_clock_s();
    }
    return AR_OK;
}

/* --- opening ---------------------------------------------------------------------------------- */

static enum ar_status file_open_nameless(struct journal *journal, struct ar_error *err)
{
    const char *folder = getenv("TMPDIR");
    char path[JOURNAL_PATH];
    snprintf(path, sizeof path, "%s/allreckon-XXXXXX", folder != NULL ? folder : "/tmp");
    int file = mkostemp(path, O_CLOEXEC | O_APPEND);
    if (file < 0) {
        return ar_error_set(err, AR_IO, "%.300s: cannot write: %s", path, strerror(errno));
    }
    unlink(path);
    journal->file = fdopen(file, "a+");
    if (journal->file == NULL) {
        close(file);
        ar_memory_fail("the rows of a sweep");
    }
    return AR_OK;
}

/* Opens the file, and keeps other sweeps off it while it is open. */
static enum ar_status file_open(const char *directory, struct journal *journal,
                                struct ar_error *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    snprintf(journal->path, sizeof journal->path, "%s/sweep.journal", directory);
    int file = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    struct stat info;
    if (file >= 0 && fstat(file, &info) == 0 && !S_ISREG(info.st_mode)) {
        close(file);
        return ar_error_set(err, AR_IO, "%s: cannot write: it is no regular file", journal->path);
    }
    journal->file = file >= 0 ? fdopen(file, "a+") : NULL;
    if (journal->file == NULL) {
        (void)ar_error_set(err, AR_IO, "%s: cannot write: %s", journal->path, strerror(errno));
        if (file >= 0) {
            close(file);
        }
        return err->status;
    }
    if (fcntl(fileno(journal->file), F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN)) {
        return ar_error_set(err, AR_IO, "%s: another sweep is writing it; expected one at a time",
                            journal->path);
    }
    return AR_OK;
}

/* The header must be that of this sweep; else its first part that differs is said. */
static enum ar_status header_check(const struct journal *journal, const char *line,
                                   const char *header, struct ar_error *err)
{
    static const char *const whose[] = {
        "no journal of a sweep", "the journal of another version", "the journal of another version",
        "the journal of another sweep", "the journal of another sweep"};
    size_t begin = 0;
    size_t parts = 0; /* that are there: the title, version, columns, sweep, points */
    for (size_t i = 0; line[i] != '\0' && line[i] == header[i]; i++) {
        if (header[i] == (parts == 0 ? ':' : ',')) {
            begin = i + 2;
            parts++;
        }
    }
    size_t found = strcspn(line, "\n") < begin ? 0 : strcspn(line + begin, ",\n");
    return strcmp(line, header) == 0
               ? AR_OK
               : ar_error_set(err, AR_BAD_DATA,
                              "%.150s:1: found \"%.*s\", %s; expected \"%.*s\", or the file "
                              "removed",
                              journal->path, found < 100 ? (int)found : 100, line + begin,
                              whose[parts], (int)strcspn(header + begin, ",\n"), header + begin);
}

/* Takes a line of the file, the first of which is the header. One that is cut short is dropped if
 * it is the last. */
static enum ar_status line_take(struct journal *journal, char *line, size_t length, size_t number,
                                const char *header, struct ar_error *err)
{
    struct found_line found;
    if (number == 1) {
        AR_TRY(header_check(journal, line, header, err));
    } else if (length <= JOURNAL_LINE_MAX && line_parse(line, length, &found) &&
               found.point < journal->points_count) {
        line_remember(journal, &found, journal->size);
    } else if (getc(journal->file) == EOF) {
        journal->cut_bytes = length;
        return AR_OK;
    } else {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.300s:%zu: found a damaged line before the last one; expected the "
                            "journal as it was written",
                            journal->path, number);
    }
    journal->size += length;
    return AR_OK;
}

/* Counts the lines behind the first one; a part of a line counts too. */
static size_t rows_count_in(FILE *file)
{
    size_t lines = 0;
    int last = '\n';
    for (int at = getc(file); at != EOF; at = getc(file)) {
        lines += last == '\n';
        last = at;
    }
    rewind(file);
    return lines > 0 ? lines - 1 : 0;
}

static enum ar_status lines_read(struct journal *journal, const char *header, struct ar_error *err)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    enum ar_status status = AR_OK;
    for (size_t number = 1;
         status == AR_OK && (length = getline(&line, &capacity, journal->file)) > 0; number++) {
        status = line_take(journal, line, (size_t)length, number, header, err);
    }
    free(line);
    return status;
}

/* Opens the file and reads its rows, if it has some and they are wanted. */
static enum ar_status file_read(const struct journal_request *request, const char *header,
                                struct journal *journal, struct ar_error *err)
{
    AR_TRY(request->directory != NULL ? file_open(request->directory, journal, err)
                                      : file_open_nameless(journal, err));
    size_t rows = rows_count_in(journal->file);
    if (rows > 0 && !request->resumes && !request->forces) {
        return ar_error_set(err, AR_USAGE,
                            "%.300s: holds %zu row%s of a sweep that did not finish; expected "
                            "--resume to go on with it, or --force to begin anew",
                            journal->path, rows, rows == 1 ? "" : "s");
    }
    return rows > 0 && request->resumes ? lines_read(journal, header, err) : AR_OK;
}

enum ar_status journal_open(const struct journal_request *request, struct ar_arena *arena,
                            struct journal *journal, struct ar_error *err)
{
    char header[HEADER_MAX];
    *journal = (struct journal){.points_count = request->points_count, .synced_s = ar_clock_s()};
    journal->places = ar_arena_alloc(arena, request->points_count, sizeof *journal->places);
    journal->is_ok = ar_arena_alloc(arena, request->points_count, sizeof *journal->is_ok);
    header_format(request->fingerprint, request->points_count, header);
    enum ar_status status = file_read(request, header, journal, err);
    if (status != AR_OK) {
        if (journal->file != NULL) {
            fclose(journal->file); /* its lines stay */
            journal->file = NULL;
        }
        return status;
    }
    if (ftruncate(fileno(journal->file), (off_t)journal->size) != 0) {
        return write_failure_report(journal, err);
    }
    return journal->size == 0 ? line_append(journal, header, strlen(header), err) : AR_OK;
}

/* --- reading, closing ------------------------------------------------------------------------- */

bool journal_has_row(const struct journal *journal, uint32_t point)
{
    return journal->places[point] != 0 && journal->is_ok[point];
}

enum ar_status journal_read(const struct journal *journal, uint32_t point,
                            char line[JOURNAL_LINE_MAX], const char **text, struct ar_error *err)
{
    ssize_t count = 0;
    struct found_line found;
    if (journal->places[point] != 0) {
        count = pread(fileno(journal->file), line, JOURNAL_LINE_MAX, (off_t)journal->places[point]);
    }
    const char *end = count > 0 ? memchr(line, '\n', (size_t)count) : NULL;
    if (end == NULL || !line_parse(line, (size_t)(end - line) + 1, &found) ||
        found.point != point) {
        return ar_error_set(err, AR_IO, "%.300s: the row of point %" PRIu32 " is gone",
                            journal->path[0] != '\0' ? journal->path : "the temporary file", point);
    }
    *text = found.text;
    return AR_OK;
}

enum ar_status journal_read_row(const struct journal *journal, uint32_t point, struct ar_row *row,
                                struct ar_error *err)
{
    char line[JOURNAL_LINE_MAX];
    const char *text = line;
    AR_TRY(journal_read(journal, point, line, &text, err));
    return ar_record_read_line(ar_row_columns, text, row, err);
}

void journal_unlink(struct journal *journal)
{
    if (journal->path[0] != '\0') {
        unlink(journal->path);
    }
    journal->path[0] = '\0';
}

void journal_close(struct journal *journal, bool is_finished)
{
    bool is_named = journal->path[0] != '\0';
    if (journal->file != NULL) {
        if (is_named && (is_finished || journal->rows_count == 0)) {
            journal_unlink(journal);
        } else if (is_named) {
            fdatasync(fileno(journal->file));
        }
        fclose(journal->file);
    }
}

enum ar_status journal_report_interrupt(const struct journal *journal, const char *what,
                                        struct ar_error *err)
{
    bool is_kept = journal->path[0] != '\0' && journal->rows_count > 0;
    return ar_error_set(err, AR_INTERRUPTED, "interrupted after %zu of %zu %s%s%.300s%s",
                        journal->rows_count, journal->points_count, what, is_kept ? "; " : "",
                        is_kept ? journal->path : "", is_kept ? " keeps them for --resume" : "");
}
