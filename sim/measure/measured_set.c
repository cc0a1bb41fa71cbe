#include "ar_measured_set.h"

#include <fnmatch.h>
#include <string.h>

#include "ar_csv.h"
#include "ar_text.h"

/* --- the index ----------------------------------------------------------------------------- */

#define SET(kind, field, name, ...)                                                                \
    AR_COLUMN(kind, struct ar_measured_set, field, name, __VA_ARGS__)
#define MAY_BE_EMPTY .may_be_empty = true

static const struct ar_column set_columns[] = {
    SET(string, name, "set", "a name"),
    SET(string, files, "files", "file names"),
    SET(string, system, "system", "a name", MAY_BE_EMPTY),
    SET(count, ranks_per_node, "ranks_per_node", "", MAY_BE_EMPTY),
    SET(string, cluster, "cluster", "a cluster"),
    SET(string, settings, "settings", "KEY=VALUE ...", MAY_BE_EMPTY),
    SET(string, engine, "engine", "an engine"),
    SET(string, algorithm, "algorithm", "a name"),
    SET(count, fitted_nodes_max, "fitted_nodes_max", "", MAY_BE_EMPTY),
    SET(string, seen, "seen", "what was chosen", MAY_BE_EMPTY),
    SET(string, source, "source", "a source"),
    SET(string, machine, "machine", "a name", MAY_BE_EMPTY),
};

#define CALLED(kind, field, ...) AR_COLUMN(kind, struct ar_called, field, #field, __VA_ARGS__)
static const struct ar_column called_columns[] = {
    CALLED(string, operation, "a command"),
    CALLED(string, called, "a name"),
    CALLED(string, algorithm, "a name"),
    CALLED(string, shape, "a shape", MAY_BE_EMPTY),
    CALLED(count, channels, "", .min = 1, MAY_BE_EMPTY),
    AR_COLUMN_OTHERS, /* notes how messages may differ */
};

enum ar_status ar_measured_index_read(const char *path, struct ar_arena *arena,
                                      struct ar_measured_index *index, struct ar_error *err)
{
    struct ar_called_list *called = &index->called;
    struct ar_csv *csv;
    index->folder = ar_arena_format(arena, "%.*s", (int)(basename(path) - path), path);
    AR_TRY(ar_csv_load(path, arena, &csv, err));
    index->sets_count = csv->rows_count;
    const struct ar_measured_set set = {.system = "", .settings = "", .seen = "", .machine = ""};
    AR_TRY(ar_csv_read_rows(csv, AR_COLUMNS(set_columns), &set, &index->sets, err));
    AR_TRY(ar_csv_load(ar_arena_format(arena, "%scalled.csv", index->folder), arena, &csv, err));
    called->count = csv->rows_count;
    const struct ar_called call = {.shape = "", .channels = 1};
    return ar_csv_read_rows(csv, AR_COLUMNS(called_columns), &call, &called->list, err);
}

const struct ar_called *ar_called_find(const struct ar_called_list *called, const char *operation,
                                       const char *name)
{
    AR_EACH(const struct ar_called, one, called->list, called->count) {
        if (fnmatch(one->called, name, 0) == 0 && strcmp(one->operation, operation) == 0) {
            return one;
        }
    }
    return NULL;
}

bool ar_measured_set_has(const struct ar_measured_set *set, const char *path)
{
    char stem[256], known[AR_WORD_SIZE];
    ar_copy_stem(stem, sizeof stem, path, ".csv");
    AR_EACH_WORD(file, set->files) {
        ar_copy_stem(known, sizeof known, file, ".csv");
        if (strcmp(known, stem) == 0) {
            return true;
        }
    }
    return strcmp(stem, set->name) == 0;
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
    AR_EACH(const struct ar_measured_set, set, index->sets, index->sets_count) {
        if (set->system[0] != '\0' && strcmp(set->cluster, cluster) == 0) {
            return set->system;
        }
    }
    return NULL;
}

const char *const *ar_measured_set_paths(const struct ar_measured_index *index,
                                         const struct ar_measured_set *set, const char *const *more,
                                         size_t more_count, struct ar_arena *arena,
                                         size_t *paths_count)
{
    size_t count = 0;
    const char **paths =
        ar_arena_alloc(arena, strlen(set->files) / 2 + more_count + 2, sizeof *paths);
    AR_EACH_WORD(file, set->files) {
        paths[count++] = ar_arena_format(arena, "%s%s", index->folder, file);
    }
    for (size_t i = 0; i < more_count; i++) {
        paths[count++] = more[i];
    }
    *paths_count = count;
    return paths;
}

/* --- rows of a set ------------------------------------------------------------------------- */

enum ar_status ar_set_scenario(const struct ar_measured_set *set, struct ar_arena *arena,
                               struct ar_scenario *scenario, struct ar_error *err)
{
    static const struct ar_origin origin = {.where = "validate/data/index.csv",
                                            .status = AR_BAD_DATA};
    struct ar_settings asked = scenario->settings;
    AR_TRY(ar_scenario_set(scenario, AR_KEY_CLUSTER, &origin, set->cluster, err));
    AR_TRY(ar_scenario_set(scenario, AR_KEY_ENGINE, &origin, set->engine, err));
    AR_EACH_WORD(setting, set->settings) {
        if (ar_settings_find(&asked, setting) == NULL) {
            AR_TRY(ar_scenario_replace(scenario, AR_KEY_SET, &origin, ar_arena_text(arena, setting),
                                       err));
        }
    }
    return AR_OK;
}

void ar_set_ask_algorithm(const struct ar_measured_set *set, struct ar_measured_request *request)
{
    bool is_named = strcmp(set->algorithm, "named") == 0 || strcmp(set->algorithm, "auto") == 0;
    request->algorithm_name = is_named ? NULL : set->algorithm;
    request->is_messages = !ar_engine_times_calls(request->scenario->engine);
}

void ar_set_ask_rows(const struct ar_measured_set *set, struct ar_measured_request *request)
{
    request->system = set->system[0] != '\0' ? set->system : NULL;
    request->ranks_per_node = set->ranks_per_node;
    request->fitted_nodes_max = set->fitted_nodes_max;
}

enum ar_status ar_set_load(const struct ar_measured_index *index, const struct ar_measured_set *set,
                           const struct ar_scenario *scenario, const char *const *more,
                           size_t more_count, FILE *notes, struct ar_arena *arena,
                           struct ar_set_rows **rows, struct ar_error *err)
{
    struct ar_cluster *cluster = NULL;
    struct ar_set_rows *made = ar_arena_alloc(arena, 1, sizeof *made);
    struct ar_measured_request *request = &made->request;
    made->set = set;
    made->scenario = *scenario;
    AR_TRY(ar_set_scenario(set, arena, &made->scenario, err));
    AR_TRY(ar_scenario_make_cluster(&made->scenario, &cluster, err));
    made->scenario.cluster = cluster;
    *request = (struct ar_measured_request){.command = set->name,
                                            .notes = notes,
                                            .scenario = &made->scenario,
                                            .called = &index->called};
    request->paths =
        ar_measured_set_paths(index, set, more, more_count, arena, &request->paths_count);
    request->known_count = request->paths_count - more_count;
    ar_set_ask_algorithm(set, request);
    ar_set_ask_rows(set, request);
    AR_TRY(ar_measured_load(request, cluster, arena, &made->measured, err));
    *rows = made;
    return AR_OK;
}
