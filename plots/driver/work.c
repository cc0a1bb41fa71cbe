#include "work.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_output.h"

enum ar_status ar_plot_work_make(const char *output_dir, char work_dir[AR_PLOT_WORK_SIZE],
                                 struct ar_error *err)
{
    work_dir[0] = '\0';
    enum ar_status status = ar_make_directory(output_dir, err);
    if (status != AR_OK) {
        return status;
    }
    snprintf(work_dir, AR_PLOT_WORK_SIZE, "%s/.plot-XXXXXX", output_dir);
    if (mkdtemp(work_dir) == NULL) {
        work_dir[0] = '\0';
        return ar_error_set(err, AR_IO, "%s: cannot write pictures there: %s", output_dir,
                            strerror(errno));
    }
    return AR_OK;
}

void ar_plot_work_remove(const char *work_dir)
{
    DIR *directory = work_dir[0] == '\0' ? NULL : opendir(work_dir);
    if (directory == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            unlinkat(dirfd(directory), entry->d_name, 0);
        }
    }
    closedir(directory);
    rmdir(work_dir);
}

enum ar_status ar_plot_copy_template(const char *template_dir, const char *name, FILE *target,
                                     struct ar_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.gp", template_dir, name);
    FILE *source = fopen(path, "re");
    if (source == NULL) {
        return ar_error_set(err, AR_NO_INPUT, "%s: cannot read this template of a picture: %s",
                            path, strerror(errno));
    }
    char block[4096];
    size_t size;
    fputc('\n', target);
    while ((size = fread(block, 1, sizeof block, source)) > 0) {
        fwrite(block, 1, size, target);
    }
    bool failed = ferror(source) != 0;
    fclose(source);
    if (failed) {
        return ar_error_set(err, AR_NO_INPUT, "%s: cannot read: %s", path, strerror(errno));
    }
    return AR_OK;
}
