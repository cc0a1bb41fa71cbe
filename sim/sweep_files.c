#include "sweep_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ar_output.h"
#include "ar_text.h"
#include "signals.h"

enum { PATH_ROOM = sizeof((struct ar_output *)0)->path };

enum ar_status sweep_files_check(const char *directory, struct ar_error *err)
{
    char part[PATH_ROOM];
    struct stat info;
    if (directory[0] == '\0' || strlen(directory) + sizeof "/payload.csv" > sizeof part) {
        return ar_error_set(err, AR_USAGE,
                            "--out: found \"%.60s\"; expected a directory, at most %d characters",
                            directory, PATH_ROOM - (int)sizeof "/payload.csv");
    }
    ar_copy_text(part, sizeof part, directory);
    while (stat(part, &info) != 0 && errno == ENOENT) { /* up to the first that is there */
        char *slash = strrchr(part, '/');
        if (slash == NULL) {
            ar_copy_text(part, sizeof part, ".");
        } else {
            slash[slash == part] = '\0'; /* "/x" becomes "/" */
        }
    }
    if (stat(part, &info) == 0 && !S_ISDIR(info.st_mode)) {
        return ar_error_set(err, AR_IO, "%s: found a file; expected a directory", part);
    }
    if (access(part, W_OK | X_OK) != 0) {
        return ar_error_set(err, AR_IO, "%s: cannot write: %s", part, strerror(errno));
    }
    return AR_OK;
}

static enum ar_status write_csv(const char *directory, const char *name, const struct ar_row *rows,
                                size_t count, struct ar_error *err)
{
    struct ar_output output;
    struct signals before;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    signals_hold(NULL, &before);
    enum ar_status status = ar_output_open(path, &output, err);
    if (status == AR_OK) {
        ar_rows_write(output.file, AR_ROW_CSV, rows, count);
        status = ar_output_commit(&output, err);
    }
    signals_restore(&before);
    return status;
}

enum ar_status sweep_files_write(const char *directory, const struct ar_row *steps,
                                 size_t steps_count, const struct ar_row *payloads,
                                 size_t payloads_count, struct ar_error *err)
{
    bool is_there = access(directory, F_OK) == 0;
    enum ar_status status = ar_make_directory(directory, err);
    if (status == AR_OK) {
        status = write_csv(directory, "sweep.csv", steps, steps_count, err);
        if (status != AR_OK && !is_there) {
            rmdir(directory);
        }
    }
    if (status == AR_OK && payloads_count > 0) {
        status = write_csv(directory, "payload.csv", payloads, payloads_count, err);
    }
    return status;
}

bool sweep_files_has_payload(const char *directory)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/payload.csv", directory);
    return access(path, F_OK) == 0;
}
