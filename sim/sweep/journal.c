#include "journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_file.h"

static FILE *text_open(char text[JOURNAL_LINE_MAX])
{
    FILE *file = fmemopen(text, JOURNAL_LINE_MAX, "w");
    ar_memory_require(file != NULL, "the rows of a sweep");
    return file;
}

/* One line, whatever the cells hold. */
uint32_t journal_format(const struct ar_row *row, char line[JOURNAL_LINE_MAX])
{
    FILE *file = text_open(line);
    ar_record_write_line(file, ar_row_columns, row);
    fclose(file);
    size_t length = strlen(line);
    for (size_t i = 0; i + 1 < length; i++) {
        line[i] = line[i] == '\n' ? ' ' : line[i];
    }
    return (uint32_t)length;
}

size_t journal_rows(const struct journal *journal)
{
    size_t count = 0;
    for (size_t i = 0; i < journal->points_count; i++) {
        count += journal->rows[i] != NULL;
    }
    return count;
}

void journal_read_row(const struct journal *journal, uint32_t point, struct ar_row *row)
{
    enum ar_status status =
        ar_record_read_line(ar_row_columns, journal->rows[point], row, AR_IGNORED);
    assert(status == AR_OK);
}

static enum ar_status text_append(const struct journal *journal, const char *text,
                                  struct ar_error *err)
{
    size_t left = journal->file != NULL ? strlen(text) : 0;
    while (left > 0) {
        ssize_t written = TEMP_FAILURE_RETRY(write(fileno(journal->file), text, left));
        AR_REFUSE(written < 0, err, AR_IO,
                  "%.300s: cannot write: %s; %zu of %zu rows are kept, --resume goes on",
                  journal->path, strerror(errno), journal_rows(journal), journal->points_count);
        text += written;
        left -= (size_t)written;
    }
    return AR_OK;
}

enum ar_status journal_add(struct journal *journal, uint32_t point, const char *line,
                           enum ar_status how, struct ar_error *err)
{
    char numbered[JOURNAL_LINE_MAX + 16];
    snprintf(numbered, sizeof numbered, "%" PRIu32 ",%s", point, line);
    AR_TRY(text_append(journal, numbered, err));
    journal->rows[point] = ar_arena_text(journal->arena, line);
    journal->statuses[point] = how;
    return AR_OK;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Keeps the row of a line of the file; false if the line is damaged. */
static bool line_take(struct journal *journal, const char *line, size_t length)
{
    char *rest;
    struct ar_row row;
    uint64_t point = strtoull(line, &rest, 10);
    if (rest == line || *rest != ',' || point >= journal->points_count ||
        line[length - 1] != '\n' || strlen(line) != length ||
        ar_record_read_line(ar_row_columns, rest + 1, &row, AR_IGNORED) != AR_OK) {
        return false;
    }
    journal->rows[point] = ar_arena_text(journal->arena, rest + 1);
    journal->statuses[point] = strcmp(row.status, "ok") == 0 ? AR_OK : AR_INTERNAL;
    return true;
}

/* Reads the rows behind the head, which must be this sweep's, and cuts off a damaged last line. */
static enum ar_status lines_read(struct journal *journal, const char *head, struct ar_error *err)
{
    char found[JOURNAL_LINE_MAX] = "", *line = NULL;
    size_t room = 0, size = strlen(head);
    ssize_t length;
    enum ar_status status = AR_OK;
    if (fread(found, 1, size, journal->file) < size || strcmp(found, head) != 0) {
        found[strcspn(found, "\n")] = '\0';
        return ar_error_set(err, AR_BAD_DATA,
                            "%.150s:1: found \"%.100s\", the journal of another sweep or version; "
                            "expected \"%.*s\", or the file removed",
                            journal->path, found, (int)strcspn(head, "\n"), head);
    }
    for (size_t number = 3; (length = getline(&line, &room, journal->file)) > 0; number++) {
        if (line_take(journal, line, (size_t)length)) {
            size += (size_t)length;
            continue;
        }
        journal->cut_bytes = (size_t)length;
        if (getc(journal->file) != EOF) {
            status = ar_error_set(err, AR_BAD_DATA,
                                  "%.300s:%zu: found a damaged line before the last one; expected "
                                  "the journal as it was written",
                                  journal->path, number);
        } else if (ftruncate(fileno(journal->file), (off_t)size) != 0) {
            status = ar_error_set(err, AR_IO, "%.300s: cannot write: %s", journal->path,
                                  strerror(errno));
        }
        break;
    }
    free(line);
    return status;
}

/* Opens the file, and keeps other sweeps off it while it is open. */
static enum ar_status file_open(const struct journal_request *request, struct journal *journal,
                                struct ar_error *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char head[JOURNAL_LINE_MAX];
    struct stat info;
    FILE *text = text_open(head);
    struct ar_records records;
    fprintf(text, "# allreckon %s\npoint,", request->mark);
    ar_records_begin(&records, text, AR_VIEW(AR_FORMAT_CSV), ar_row_columns);
    ar_records_end(&records);
    fclose(text);
    journal->path = ar_arena_format(journal->arena, "%s/sweep.journal", request->directory);
    AR_TRY(ar_make_directory(request->directory, err));
    journal->file = fopen(journal->path, "a+e");
    AR_REFUSE(journal->file == NULL || fstat(fileno(journal->file), &info) != 0, err, AR_IO,
              "%s: cannot write: %s", journal->path, strerror(errno));
    AR_REFUSE(fcntl(fileno(journal->file), F_SETLK, &lock) != 0 &&
                  (errno == EACCES || errno == EAGAIN),
              err, AR_IO, "%s: another sweep is writing it; expected one at a time", journal->path);
    bool has_rows = info.st_size > (off_t)strlen(head);
    if (has_rows && request->resumes) {
        return lines_read(journal, head, err);
    }
    AR_REFUSE(has_rows && !request->forces, err, AR_USAGE,
              "%.300s: holds rows of a sweep that did not finish; expected --resume to go on with "
              "it, or --force to begin anew",
              journal->path);
    AR_REFUSE(ftruncate(fileno(journal->file), 0) != 0, err, AR_IO, "%s: cannot write: %s",
              journal->path, strerror(errno));
    return text_append(journal, head, err);
}

enum ar_status journal_open(const struct journal_request *request, struct ar_arena *arena,
                            struct journal *journal, struct ar_error *err)
{
    size_t count = request->points_count;
    *journal =
        (struct journal){.arena = arena,
                         .points_count = count,
                         .rows = ar_arena_alloc(arena, count, sizeof *journal->rows),
                         .statuses = ar_arena_alloc(arena, count, sizeof *journal->statuses)};
    for (size_t i = 0; i < count; i++) {
        journal->statuses[i] = AR_INTERNAL;
    }
    enum ar_status status = request->directory != NULL ? file_open(request, journal, err) : AR_OK;
    if (status != AR_OK && journal->file != NULL) {
        fclose(journal->file); /* its lines stay */
        journal->file = NULL;
    }
    return status;
}

void journal_close(struct journal *journal, bool is_finished)
{
    if (journal->file != NULL && (is_finished || journal_rows(journal) == 0)) {
        unlink(journal->path);
    }
    if (journal->file != NULL) {
        fclose(journal->file);
    }
    journal->file = NULL;
}
