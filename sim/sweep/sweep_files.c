#include "sweep_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_output.h"

enum { PATH_SIZE = sizeof((struct ar_output *)0)->path };

/* Writes the rows of places `first` to `end` of an order as they are in the journal. */
static enum ar_status write_rows(const struct journal *journal, const struct sweep_order *order,
                                 size_t first, size_t end, FILE *file, struct ar_error *err)
{
    char line[JOURNAL_LINE_MAX];
    const char *text;
    struct ar_records records;
    ar_records_begin(&records, file, AR_VIEW(AR_FORMAT_CSV), ar_row_columns);
    for (size_t i = first; i < end; i++) {
        uint32_t point = order->points != NULL ? order->points[i] : (uint32_t)i;
        AR_TRY(journal_read(journal, point, line, &text, err));
        fprintf(file, "%s\n", text);
    }
    ar_records_end(&records);
    return AR_OK;
}

static enum ar_status write_csv(const char *directory, const char *name,
                                const struct journal *journal, const struct sweep_order *order,
                                size_t first, size_t end, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_output *output;
    AR_TRY(ar_output_begin_in(directory, name, &arena, &output, err));
    AR_TRY(write_rows(journal, order, first, end, output->file, err));
    /* On the disk before the journal goes; commit finds what fails here. */
    (void)(fflush(output->file) == 0 && fsync(fileno(output->file)) == 0);
    return ar_output_commit(output, err);
}

/* Removes what is not of this sweep; plot and report would draw it. */
static enum ar_status remove_csv(const char *directory, const char *name, struct ar_error *err)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (unlink(path) != 0 && errno != ENOENT) {
        return ar_error_set(err, AR_IO, "%s: cannot remove it: %s", path, strerror(errno));
    }
    return AR_OK;
}

enum ar_status sweep_files_write(const char *directory, const struct space *space,
                                 const struct journal *journal, const struct sweep_order *all,
                                 struct ar_error *err)
{
    bool is_laid_out = space->request->variants.is_laid_out;
    size_t steps = space->has_steps ? space->steps_count : space->points_count;
    AR_TRY(write_csv(directory, is_laid_out ? "layouts.csv" : "sweep.csv", journal, all, 0, steps,
                     err));
    AR_TRY(remove_csv(directory, is_laid_out ? "sweep.csv" : "layouts.csv", err));
    if (!is_laid_out && space->points_count > steps) {
        return write_csv(directory, "payload.csv", journal, all, steps, space->points_count, err);
    }
    return remove_csv(directory, "payload.csv", err);
}

/* The rows of a file, none if there is none; SIZE_MAX: one is not whole. */
static size_t count_rows(const char *directory, const char *name)
{
    char path[PATH_SIZE], *line = NULL;
    size_t capacity = 0, count = 0;
    struct ar_row row;
    struct ar_error ignored;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    ssize_t length = getline(&line, &capacity, file); /* the header */
    while (count != SIZE_MAX && (length = getline(&line, &capacity, file)) > 0) {
        bool is_whole = line[length - 1] == '\n' &&
                        ar_record_read_line(ar_row_columns, line, &row, &ignored) == AR_OK &&
                        strcmp(row.status, "ok") == 0;
        count = is_whole ? count + 1 : SIZE_MAX;
    }
    free(line);
    fclose(file);
    return count;
}

bool sweep_files_are_whole(const char *directory, const struct space *space)
{
    bool is_laid_out = space->request->variants.is_laid_out;
    size_t steps = space->has_steps || is_laid_out ? space->steps_count : space->points_count;
    return count_rows(directory, is_laid_out ? "layouts.csv" : "sweep.csv") == steps &&
           (is_laid_out || count_rows(directory, "payload.csv") == space->points_count - steps);
}
