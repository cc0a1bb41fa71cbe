#include "ar_inputs.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_arena.h"
#include "ar_file.h"
#include "ar_kineto.h"
#include "ar_numbers.h"
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
    [RESOURCE_MODEL] = {"workload", "traces/workloads", ".json", ".json"},
    [RESOURCE_RECORDED] = {"workload", "traces/workloads", ".et", ".et"},
    [RESOURCE_OPERATORS] = {"graph of operators", "traces/operators", ".operators.csv", ".csv"},
    [RESOURCE_EVOFORMERS] = {"table of Evoformers", "traces/operators", ".csv", ".csv"},
    [RESOURCE_PICTURE] = {"picture", "plots/templates", ".gp", ".gp"},
    [RESOURCE_SETS] = {"index of measured sets", "validate/data", ".csv", ".csv"},
};

static bool ends_with(const char *text, const char *ending)
{
    size_t text_length = strlen(text);
    size_t length = strlen(ending);
    return text_length > length && strcmp(text + text_length - length, ending) == 0;
}

/* Files of the PyTorch profiler, as its handler names them, or packed. */
static bool is_profile(const char *path)
{
    return ends_with(path, "trace.json") || ends_with(path, ".json.gz");
}

/* Writes the path of a shipped file or folder; false if there is none. */
static bool find_shipped(const char *name, char path[RESOURCE_PATH])
{
    static const char *const installed[] = {AR_DATA_FROM_PROGRAM, AR_DATA_FROM_LIBRARY};
    for (int i = 0; i < 2; i++) {
        int length = snprintf(path, RESOURCE_PATH, "%s/%s/%s", ar_own_folder(), installed[i], name);
        if (length < RESOURCE_PATH && access(path, R_OK) == 0) {
            return true;
        }
    }
    snprintf(path, RESOURCE_PATH, "%s/%s", AR_DATA_DIR, name);
    return access(path, R_OK) == 0;
}

AR_ORDER(compare_names, char, strcmp(a, b))

size_t resource_names(enum resource kind, char names[RESOURCE_NAMES_MAX][64])
{
    char path[RESOURCE_PATH];
    struct dirent **entries = NULL;
    int entries_count =
        find_shipped(kinds[kind].folder, path) ? scandir(path, &entries, NULL, NULL) : 0;
    size_t count = 0;
    for (int i = 0; i < entries_count; i++) {
        if (count < RESOURCE_NAMES_MAX && entries[i]->d_name[0] != '.' &&
            ends_with(entries[i]->d_name, kinds[kind].ending)) {
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
    ar_append_text(err->text, sizeof err->text,
                   "; a file needs its path, with a slash or the ending %s%s",
                   kind == RESOURCE_RECORDED ? ".json or " : "", kinds[kind].path_ending);
    return err->status;
}

bool resource_is_path(enum resource kind, const char *name)
{
    bool is_model = ends_with(name, kinds[RESOURCE_MODEL].path_ending) && !is_profile(name);
    if (kind == RESOURCE_MODEL || (kind == RESOURCE_RECORDED && is_model)) {
        return is_model == (kind == RESOURCE_MODEL);
    }
    return strchr(name, '/') != NULL || ends_with(name, kinds[kind].path_ending);
}

enum ar_status resource_find(enum resource kind, const char *where, const char *name,
                             char path[RESOURCE_PATH], struct ar_error *err)
{
    if (resource_is_path(kind, name)) {
        ar_copy_text(path, RESOURCE_PATH, name);
        return AR_OK;
    }
    char file[160];
    snprintf(file, sizeof file, "%s/%.64s%s", kinds[kind].folder, name, kinds[kind].ending);
    if (name[0] != '\0' && name[0] != '.' && strlen(name) < 64 && find_shipped(file, path)) {
        return AR_OK;
    }
    char names[RESOURCE_NAMES_MAX][64];
    const char *pointers[RESOURCE_NAMES_MAX];
    size_t count = resource_names(kind, names);
    for (size_t i = 0; i < count; i++) {
        pointers[i] = names[i];
    }
    AR_REFUSE(
        count == 0, err, AR_NO_INPUT,
        "%s: unknown %s \"%.100s\"; the shipped files are neither beside the program nor in %s",
        where, kinds[kind].noun, name, AR_DATA_DIR);
    ar_error_unknown(err, AR_NO_INPUT, where, kinds[kind].noun, name, pointers, count);
    return resource_add_path(kind, err);
}

enum ar_status resource_plots(const char *folder, char path[RESOURCE_PATH], struct ar_error *err)
{
    AR_REFUSE(!find_shipped(folder, path), err, AR_NO_INPUT,
              "%s is neither beside the program nor in %s", folder, AR_DATA_DIR);
    return AR_OK;
}

/* --- files that were read --------------------------------------------------------------------- */

struct ar_inputs {
    struct ar_arena *arena;
    struct ar_input *files; /* a handful: they are looked through */
    struct found_name {     /* shipped names that were found: sweeps ask for them again and again */
        struct found_name *next;
        enum resource kind;
        const char *name;
        const struct ar_input *input;
    } * names;
};

struct ar_inputs *ar_inputs_create(struct ar_arena *arena)
{
    struct ar_inputs *inputs = ar_arena_alloc(arena, 1, sizeof *inputs);
    inputs->arena = arena;
    return inputs;
}

/* The times of kernels alone where those that were recorded say little about the GPU. */
static enum ar_status read_profile(const char *path, struct ar_arena *arena,
                                   struct ar_recorded **recorded, struct ar_error *err)
{
    struct ar_kineto_request request = {.is_rank = true};
    struct ar_kineto_step *step;
    if (ar_kineto_load(path, &request, arena, &step, err) != AR_OK) {
        request.times = AR_KINETO_KERNELS;
        AR_TRY(ar_kineto_load(path, &request, arena, &step, err));
    }
    *recorded = step->recorded;
    return AR_OK;
}

/* A file that was read before; NULL: it was not. */
static const struct ar_input *find_file(const struct ar_inputs *inputs, enum resource kind,
                                        const char *path)
{
    const struct ar_input *file = inputs->files;
    while (file != NULL && (file->kind != kind || strcmp(file->path, path) != 0)) {
        file = file->next;
    }
    return file;
}

/* Reads a device cost table, and the one that it is based on. */
static enum ar_status read_cost(const struct ar_inputs *inputs, const char *path,
                                struct ar_device_cost **cost, struct ar_error *err)
{
    char base_path[RESOURCE_PATH];
    struct ar_arena *arena = inputs->arena;
    struct ar_device_cost *base;
    AR_TRY(ar_device_cost_load(path, arena, cost, err));
    if ((*cost)->base == NULL) {
        return AR_OK;
    }
    const char *where = ar_arena_format(arena, "%s: base", path);
    AR_TRY(resource_find(RESOURCE_COST, where, (*cost)->base, base_path, err));
    const struct ar_input *known = find_file(inputs, RESOURCE_COST, base_path);
    if (known != NULL) {
        base = known->cost;
    } else {
        AR_TRY(ar_device_cost_load(base_path, arena, &base, err));
    }
    AR_REFUSE(base->base != NULL, err, AR_BAD_DATA, "%s: found %s; expected a table without a base",
              where, (*cost)->base);
    return ar_device_cost_complete(path, base, *cost, err);
}

static enum ar_status read_file(struct ar_inputs *inputs, struct ar_input *file,
                                struct ar_error *err)
{
    switch (file->kind) {
    case RESOURCE_CLUSTER:
        return ar_topo_load(file->path, inputs->arena, &file->topo, err);
    case RESOURCE_TRACE:
        return ar_trace_file_load(file->path, inputs->arena, &file->trace, err);
    case RESOURCE_COST:
        return read_cost(inputs, file->path, &file->cost, err);
    case RESOURCE_FRAMEWORK:
        return ar_framework_load(file->path, inputs->arena, &file->framework, err);
    case RESOURCE_LIBRARY:
        file->library = ar_arena_alloc(inputs->arena, 1, sizeof *file->library);
        return ar_library_table_read(file->path, inputs->arena, file->library, err);
    case RESOURCE_MODEL:
        return ar_model_config_load(file->path, inputs->arena, &file->model, err);
    case RESOURCE_RECORDED:
        return is_profile(file->path)
                   ? read_profile(file->path, inputs->arena, &file->recorded, err)
                   : ar_recorded_load(file->path, inputs->arena, &file->recorded, err);
    case RESOURCE_WORKLOADS:
        return ar_csv_load_list(file->path, inputs->arena, ar_transformer_columns, &file->list,
                                err);
    case RESOURCE_EVOFORMERS:
        return ar_csv_load_list(file->path, inputs->arena, ar_evoformer_columns, &file->list, err);
    default:
        return ar_error_set(err, AR_INTERNAL, "%s is no input of a scenario", file->path);
    }
}

/* The file of a path, read if it was not before. */
static enum ar_status get_file(struct ar_inputs *inputs, enum resource kind, const char *path,
                               const struct ar_input **found, struct ar_error *err)
{
    *found = find_file(inputs, kind, path);
    if (*found == NULL) {
        struct ar_input *file = ar_arena_alloc(inputs->arena, 1, sizeof *file);
        char *copy = ar_arena_text(inputs->arena, path);
        *file = (struct ar_input){.next = inputs->files, .kind = kind, .path = copy};
        AR_TRY(read_file(inputs, file, err));
        *found = inputs->files = file;
    }
    return AR_OK;
}

enum ar_status ar_inputs_find(struct ar_inputs *inputs, enum resource kind, const char *where,
                              const char *name, const struct ar_input **input, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    for (const struct found_name *found = inputs->names; found != NULL; found = found->next) {
        if (found->kind == kind && strcmp(found->name, name) == 0) {
            *input = found->input;
            return AR_OK;
        }
    }
    AR_TRY(resource_find(kind, where, name, path, err));
    AR_TRY(get_file(inputs, kind, path, input, err));
    struct found_name *found = ar_arena_alloc(inputs->arena, 1, sizeof *found);
    *found = (struct found_name){.next = inputs->names,
                                 .kind = kind,
                                 .name = ar_arena_text(inputs->arena, name),
                                 .input = *input};
    inputs->names = found;
    return AR_OK;
}

enum ar_status ar_inputs_device_cost(struct ar_inputs *inputs, const char *cluster_name,
                                     const char *name, const struct ar_input **input,
                                     struct ar_error *err)
{
    const char *folder = cluster_name != NULL ? strrchr(cluster_name, '/') : NULL;
    if (folder != NULL && resource_is_path(RESOURCE_COST, name) && access(name, F_OK) != 0) {
        const char *beside = ar_arena_format(inputs->arena, "%.*s%s",
                                             (int)(folder + 1 - cluster_name), cluster_name, name);
        name = access(beside, F_OK) == 0 ? beside : name;
    }
    return ar_inputs_find(inputs, RESOURCE_COST, "gpu.cost_table", name, input, err);
}

enum ar_status ar_inputs_library(struct ar_inputs *inputs, const char *cluster_name,
                                 const char *name, const struct ar_library_table **table,
                                 struct ar_error *err)
{
    char cluster[RESOURCE_PATH], path[RESOURCE_PATH];
    const struct ar_input *input;
    AR_TRY(resource_find(RESOURCE_CLUSTER, "--cluster", cluster_name, cluster, err));
    int folder = (int)(basename(cluster) - cluster);
    int length = snprintf(path, sizeof path, "%.*s%s.library.csv", folder, cluster, name);
    if (length >= RESOURCE_PATH || access(path, F_OK) != 0) {
        char where[RESOURCE_PATH];
        snprintf(where, sizeof where, "cluster %.200s: library.cost_table", cluster_name);
        AR_TRY(resource_find(RESOURCE_LIBRARY, where, name, path, err));
    }
    AR_TRY(get_file(inputs, RESOURCE_LIBRARY, path, &input, err));
    *table = input->library;
    return AR_OK;
}
