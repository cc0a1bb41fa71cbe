#include "resource.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_file.h"
#include "ar_text.h"

struct kind {
    const char *noun;
    const char *folder;
    const char *ending;
    const char *path_ending; /* of a text that is a path */
};

static const struct kind kinds[] = {
    [RESOURCE_CLUSTER] = {"cluster", "topologies/machines", ".topo", ".topo"},
    [RESOURCE_TRACE] = {"trace", "traces", ".csv", ".csv"},
    [RESOURCE_COST] = {"device cost table", "traces/device", ".cost.csv", ".cost.csv"},
    [RESOURCE_LIBRARY] = {"library cost table", "topologies/machines", ".library.csv",
                          ".library.csv"},
    [RESOURCE_FRAMEWORK] = {"framework", "traces/frameworks", ".framework.csv", ".csv"},
    [RESOURCE_RUN] = {"run", "traces/runs", ".run.csv", ".run.csv"},
    [RESOURCE_PUBLISHED] = {"table of published runs", "validate/data/published", ".csv", ".csv"},
    [RESOURCE_WORKLOADS] = {"table of workloads", "traces/workloads", ".csv", ".csv"},
    [RESOURCE_RECORDED] = {"workload", "traces/workloads", ".et", ".et"},
    [RESOURCE_OPERATORS] = {"graph of operators", "traces/operators", ".operators.csv", ".csv"},
    [RESOURCE_EVOFORMERS] = {"table of Evoformers", "traces/operators", ".csv", ".csv"},
    [RESOURCE_SETS] = {"index of measured sets", "validate/data", ".csv", ".csv"},
};

static bool ends_with(const char *text, const char *ending)
{
    size_t text_length = strlen(text);
    size_t length = strlen(ending);
    return text_length > length && strcmp(text + text_length - length, ending) == 0;
}

static bool is_of_kind(const struct kind *kind, const char *file)
{
    return file[0] != '.' && ends_with(file, kind->ending);
}

/* Writes the directory of a folder of shipped files; false if there is none. */
static bool find_folder(const char *folder, char path[RESOURCE_PATH])
{
    static const char *const installed[] = {AR_DATA_FROM_PROGRAM, AR_DATA_FROM_LIBRARY};
    char own[AR_OWN_FOLDER];
    ar_own_folder(own);
    for (int i = 0; i < 2; i++) {
        int length = snprintf(path, RESOURCE_PATH, "%s/%s/%s", own, installed[i], folder);
        if (length < RESOURCE_PATH && access(path, R_OK | X_OK) == 0) {
            return true;
        }
    }
    snprintf(path, RESOURCE_PATH, "%s/%s", AR_DATA_DIR, folder);
    return access(path, R_OK | X_OK) == 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

size_t resource_names(enum resource kind, char names[RESOURCE_NAMES_MAX][64])
{
    char path[RESOURCE_PATH];
    struct dirent **entries = NULL;
    int entries_count =
        find_folder(kinds[kind].folder, path) ? scandir(path, &entries, NULL, NULL) : 0;
    size_t count = 0;
    for (int i = 0; i < entries_count; i++) {
        if (count < RESOURCE_NAMES_MAX && is_of_kind(&kinds[kind], entries[i]->d_name)) {
            ar_copy_stem(names[count++], sizeof names[0], entries[i]->d_name, kinds[kind].ending);
        }
        free(entries[i]);
    }
    free(entries);
    qsort(names, count, sizeof names[0], compare_names);
    return count;
}

enum ar_status resource_add_path(enum resource kind, struct ar_error *err)
{
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used,
             "; a file needs its path, with a slash or the ending %s", kinds[kind].path_ending);
    return err->status;
}

static enum ar_status report_unknown(enum resource kind, const char *where, const char *name,
                                     struct ar_error *err)
{
    char names[RESOURCE_NAMES_MAX][64];
    const char *pointers[RESOURCE_NAMES_MAX];
    size_t count = resource_names(kind, names);
    for (size_t i = 0; i < count; i++) {
        pointers[i] = names[i];
    }
    if (count == 0) {
        return ar_error_set(err, AR_NO_INPUT,
                            "%s: unknown %s \"%.100s\"; the shipped files are neither beside the "
                            "program nor in %s",
                            where, kinds[kind].noun, name, AR_DATA_DIR);
    }
    ar_error_unknown(err, AR_NO_INPUT, where, kinds[kind].noun, name, pointers, count);
    return resource_add_path(kind, err);
}

bool resource_is_path(enum resource kind, const char *name)
{
    return strchr(name, '/') != NULL || ends_with(name, kinds[kind].path_ending);
}

enum ar_status resource_find(enum resource kind, const char *where, const char *name,
                             char path[RESOURCE_PATH], struct ar_error *err)
{
    if (resource_is_path(kind, name)) {
        ar_copy_text(path, RESOURCE_PATH, name);
        return AR_OK;
    }
    char folder[RESOURCE_PATH];
    char file[80];
    if (name[0] != '\0' && strlen(name) < 64 && find_folder(kinds[kind].folder, folder)) {
        snprintf(file, sizeof file, "%s%s", name, kinds[kind].ending);
        int length = snprintf(path, RESOURCE_PATH, "%s/%s", folder, file);
        if (length < RESOURCE_PATH && access(path, R_OK) == 0 && is_of_kind(&kinds[kind], file)) {
            return AR_OK;
        }
    }
    return report_unknown(kind, where, name, err);
}

enum ar_status resource_plots(const char *folder, char path[RESOURCE_PATH], struct ar_error *err)
{
    return find_folder(folder, path)
               ? AR_OK
               : ar_error_set(err, AR_NO_INPUT, "%s is neither beside the program nor in %s",
                              folder, AR_DATA_DIR);
}
