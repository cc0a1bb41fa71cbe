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
#include "ar_output.h"
#include "journal_lines.h"

enum { SYNC_EVERY_S = 5 };

static enum ar_status cannot_write(const struct journal *journal, struct ar_error *err)
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
static enum ar_status append(struct journal *journal, const char *line, size_t size,
                             struct ar_error *err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t written = write(journal->file, line + done, size - done);
        if (written < 0 && errno != EINTR) {
            int cause = errno;
            if (done > 0 && ftruncate(journal->file, (off_t)journal->size) != 0) {
                journal->size += done; /* it stays, and --resume drops it */
            }
            errno = cause;
            return cannot_write(journal, err);
        }
        done += written > 0 ? (size_t)written : 0;
    }
    journal->size += size;
    return AR_OK;
}

static enum ar_status open_nameless(struct journal *journal, struct ar_error *err)
{
    const char *folder = getenv("TMPDIR");
    char path[JOURNAL_PATH];
    snprintf(path, sizeof path, "%s/allreckon-XXXXXX", folder != NULL ? folder : "/tmp");
    journal->file = mkostemp(path, O_CLOEXEC | O_APPEND);
    if (journal->file < 0) {
        return ar_error_set(err, AR_IO, "%.300s: cannot write: %s", path, strerror(errno));
    }
    unlink(path);
    return AR_OK;
}

/* Opens the file, and keeps other sweeps off it while it is open. */
static enum ar_status open_named(const char *directory, struct journal *journal,
                                 struct ar_error *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    journal->made_directory = access(directory, F_OK) != 0;
    AR_TRY(ar_make_directory(directory, err));
    snprintf(journal->path, sizeof journal->path, "%s/sweep.journal", directory);
    journal->file = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->file < 0) {
        return ar_error_set(err, AR_IO, "%s: cannot write: %s", journal->path, strerror(errno));
    }
    if (fcntl(journal->file, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN)) {
        close(journal->file);
        journal->file = -1;
        return ar_error_set(err, AR_IO, "%s: another sweep is writing it; expected one at a time",
                            journal->path);
    }
    return AR_OK;
}

static enum ar_status refuse_rows(const struct journal *journal, size_t rows, struct ar_error *err)
{
    return ar_error_set(err, AR_USAGE,
                        "%.300s: holds %zu row%s of a sweep that did not finish; expected "
                        "--resume to go on with it, or the file removed",
                        journal->path, rows, rows == 1 ? "" : "s");
}

/* Reads what is there. An empty one, or one without rows, gives way. */
static enum ar_status take_over(const struct space *space, bool resumes, struct journal *journal,
                                size_t *cut_bytes, struct ar_error *err)
{
    char header[JOURNAL_HEADER_MAX];
    size_t rows = 0;
    journal_header(space, header);
    AR_TRY(journal_count_rows(journal, &rows, err));
    if (rows > 0 && !resumes) {
        return refuse_rows(journal, rows, err);
    }
    if (rows > 0) {
        AR_TRY(journal_scan(journal, header, cut_bytes, err));
    }
    journal->is_ours = true;
    if (ftruncate(journal->file, (off_t)journal->size) != 0) {
        return cannot_write(journal, err);
    }
    return journal->size == 0 ? append(journal, header, strlen(header), err) : AR_OK;
}

enum ar_status journal_open(const char *directory, const struct space *space, bool resumes,
                            struct journal *journal, size_t *cut_bytes, struct ar_error *err)
{
    *cut_bytes = 0;
    *journal = (struct journal){.file = -1, .points_count = space->points_count};
    journal->places = calloc(space->points_count, sizeof *journal->places);
    journal->is_ok = calloc(space->points_count, sizeof *journal->is_ok);
    journal->synced_s = ar_clock_s();
    if (journal->places == NULL || journal->is_ok == NULL) {
        return ar_error_no_memory(err, "the rows of a sweep");
    }
    AR_TRY(directory != NULL ? open_named(directory, journal, err) : open_nameless(journal, err));
    return take_over(space, resumes, journal, cut_bytes, err);
}

enum ar_status journal_add(struct journal *journal, const char *line, size_t size,
                           struct ar_error *err)
{
    uint32_t point = (uint32_t)strtoul(line, NULL, 10);
    bool is_ok = strncmp(strchr(line, ' '), " ok ", 4) == 0;
    uint64_t place = journal->size;
    AR_TRY(append(journal, line, size, err));
    journal_note(journal, point, is_ok, place);
    if (journal->path[0] != '\0' && ar_clock_s() - journal->synced_s > SYNC_EVERY_S) {
        fdatasync(journal->file);
        journal->synced_s = ar_clock_s();
    }
    return AR_OK;
}

bool journal_has_row(const struct journal *journal, uint32_t point)
{
    return journal->places[point] != 0 && journal->is_ok[point];
}

enum ar_status journal_read(const struct journal *journal, uint32_t point,
                            char line[JOURNAL_LINE_MAX], const char **text, struct ar_error *err)
{
    ssize_t count = 0;
    struct journal_line found;
    if (journal->places[point] != 0) {
        count = pread(journal->file, line, JOURNAL_LINE_MAX, (off_t)journal->places[point]);
    }
    const char *end = count > 0 ? memchr(line, '\n', (size_t)count) : NULL;
    if (end == NULL || !journal_parse(line, (size_t)(end - line) + 1, &found) ||
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

void journal_close(struct journal *journal, bool is_finished)
{
    bool is_useless = is_finished || journal->rows_count == 0;
    if (journal->is_ours && journal->path[0] != '\0') {
        if (is_useless) {
            unlink(journal->path);
        } else {
            fdatasync(journal->file);
        }
    }
    if (journal->file >= 0) {
        close(journal->file);
    }
    if (journal->made_directory && journal->path[0] != '\0') {
        *strrchr(journal->path, '/') = '\0';
        rmdir(journal->path); /* does nothing if there is a file in it */
    }
    free(journal->places);
    free(journal->is_ok);
    journal->places = NULL;
    journal->is_ok = NULL;
}
