#include "ar_measured_set.h"

#include <string.h>

#include "ar_csv.h"
#include "ar_text.h"

static const struct ar_column columns[] = {
    AR_COLUMN(string, struct ar_measured_set, name, "set", "a name"),
    AR_COLUMN(string, struct ar_measured_set, files, "files", "file names"),
    AR_COLUMN(string, struct ar_measured_set, system, "system", "a name", .may_be_empty = true),
    AR_COLUMN(count, struct ar_measured_set, ranks_per_node, "ranks_per_node", "",
              .may_be_empty = true),
    AR_COLUMN(string, struct ar_measured_set, cluster, "cluster", "a cluster"),
    AR_COLUMN(string, struct ar_measured_set, settings, "settings", "KEY=VALUE ...",
              .may_be_empty = true),
    AR_COLUMN(string, struct ar_measured_set, engine, "engine", "an engine"),
    AR_COLUMN(string, struct ar_measured_set, algorithm, "algorithm", "a name"),
    AR_COLUMN(count, struct ar_measured_set, fitted_nodes_max, "fitted_nodes_max", "",
              .may_be_empty = true),
    AR_COLUMN(string, struct ar_measured_set, seen, "seen", "what was chosen",
              .may_be_empty = true),
    AR_COLUMN(string, struct ar_measured_set, source, "source", "a source"),
};

static enum ar_status read_sets(const char *path, struct ar_arena *arena,
                                struct ar_measured_index *index, struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    index->sets_count = csv->rows_count;
    index->sets = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *index->sets);
    AR_NEED(index->sets, err, "measured sets");
    for (size_t i = 0; i < csv->rows_count; i++) {
        index->sets[i] = (struct ar_measured_set){.system = "", .settings = "", .seen = ""};
    }
    return ar_csv_read_rows(csv, AR_COLUMNS(columns), index->sets, sizeof *index->sets, err);
}

bool ar_measured_set_has(const struct ar_measured_set *set, const char *path)
{
    char stem[256];
    ar_copy_stem(stem, sizeof stem, path, ".csv");
    size_t length = strlen(stem);
    if (strcmp(stem, set->name) == 0) {
        return true;
    }
    for (const char *at = set->files; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " ")) {
        const char *slash = memchr(at, '/', strcspn(at, " "));
        const char *name = slash != NULL ? slash + 1 : at;
        if (strncmp(name, stem, length) == 0 && strncmp(name + length, ".csv", 4) == 0) {
            return true;
        }
    }
    return false;
}

const struct ar_measured_set *ar_measured_index_find(const struct ar_measured_index *index,
                                                     const char *path, size_t *count)
{
    const struct ar_measured_set *found = NULL;
    *count = 0;
    for (size_t i = 0; i < index->sets_count; i++) {
        if (ar_measured_set_has(&index->sets[i], path)) {
            found = &index->sets[i];
            (*count)++;
        }
    }
    return *count == 1 ? found : NULL;
}

const char *ar_measured_index_system(const struct ar_measured_index *index, const char *cluster)
{
    for (size_t i = 0; i < index->sets_count; i++) {
        const struct ar_measured_set *set = &index->sets[i];
        if (set->system[0] != '\0' && strcmp(set->cluster, cluster) == 0) {
            return set->system;
        }
    }
    return NULL;
}

enum ar_status ar_measured_set_paths(const struct ar_measured_index *index,
                                     const struct ar_measured_set *set, const char *const *more,
                                     size_t more_count, struct ar_arena *arena, const char ***paths,
                                     size_t *paths_count, struct ar_error *err)
{
    size_t count = 0;
    *paths = ar_arena_alloc(arena, strlen(set->files) / 2 + more_count + 2, sizeof **paths);
    for (const char *at = set->files; *paths != NULL && *at != '\0'; at += strspn(at, " ")) {
        int length = (int)strcspn(at, " ");
        (*paths)[count] = ar_arena_format(arena, "%s%.*s", index->folder, length, at);
        at += length;
        AR_NEED((*paths)[count++], err, "a measured set");
    }
    for (size_t i = 0; *paths != NULL && i < more_count; i++) {
        (*paths)[count++] = more[i];
    }
    *paths_count = count;
    return *paths != NULL ? AR_OK : ar_error_no_memory(err, "a measured set");
}

/* --- names of algorithms ------------------------------------------------------------------ */

static const struct ar_column called_columns[] = {
    AR_COLUMN(string, struct ar_called, operation, "operation", "a command"),
    AR_COLUMN(string, struct ar_called, called, "called", "a name"),
    AR_COLUMN(string, struct ar_called, algorithm, "algorithm", "a name"),
    AR_COLUMN(string, struct ar_called, shape, "shape", "a shape", .may_be_empty = true),
    AR_COLUMN(count, struct ar_called, channels, "channels", "", .min = 1, .may_be_empty = true),
    AR_COLUMN(string, struct ar_called, note, "note", "a text", .may_be_empty = true),
};

static enum ar_status read_called(const char *path, struct ar_arena *arena,
                                  struct ar_called_list *called, struct ar_error *err)
{
    struct ar_csv *csv;
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    called->count = csv->rows_count;
    called->list = ar_arena_alloc(arena, csv->rows_count + 1, sizeof *called->list);
    AR_NEED(called->list, err, "names of algorithms");
    for (size_t i = 0; i < csv->rows_count; i++) {
        called->list[i] = (struct ar_called){.shape = "", .channels = 1, .note = ""};
    }
    return ar_csv_read_rows(csv, AR_COLUMNS(called_columns), called->list, sizeof *called->list,
                            err);
}

const struct ar_called *ar_called_find(const struct ar_called_list *called, const char *operation,
                                       const char *name)
{
    for (size_t i = 0; i < called->count; i++) {
        const struct ar_called *one = &called->list[i];
        size_t length = strlen(one->called);
        bool has_star = length > 0 && one->called[length - 1] == '*';
        bool is_it =
            has_star ? strncmp(one->called, name, length - 1) == 0 : strcmp(one->called, name) == 0;
        if (is_it && strcmp(one->operation, operation) == 0) {
            return one;
        }
    }
    return NULL;
}

enum ar_status ar_measured_index_read(const char *path, struct ar_arena *arena,
                                      struct ar_measured_index *index, struct ar_error *err)
{
    const char *slash = strrchr(path, '/');
    int length = slash != NULL ? (int)(slash - path) + 1 : 0;
    char *called = ar_arena_format(arena, "%.*scalled.csv", length, path);
    index->folder = ar_arena_format(arena, "%.*s", length, path);
    AR_NEED(index->folder && called, err, "measured sets");
    AR_TRY(read_sets(path, arena, index, err));
    return read_called(called, arena, &index->called, err);
}
