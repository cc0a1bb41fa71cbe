#include "ar_inputs.h"

#include <string.h>
#include <unistd.h>

#include "ar_arena.h"

struct ar_inputs {
    struct ar_arena *arena;
    struct ar_input *files; /* a handful: they are looked through */
};

struct ar_inputs *ar_inputs_create(struct ar_arena *arena)
{
    struct ar_inputs *inputs = ar_arena_alloc(arena, 1, sizeof *inputs);
    if (inputs != NULL) {
        inputs->arena = arena;
    }
    return inputs;
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
        return ar_device_cost_load(file->path, inputs->arena, &file->cost, err);
    case RESOURCE_FRAMEWORK:
        return ar_framework_load(file->path, inputs->arena, &file->framework, err);
    case RESOURCE_LIBRARY:
        file->library = ar_arena_alloc(inputs->arena, 1, sizeof *file->library);
        return ar_library_table_read(file->path, file->library, err);
    case RESOURCE_RECORDED:
        return ar_recorded_load(file->path, inputs->arena, &file->recorded, err);
    case RESOURCE_WORKLOADS:
        return ar_transformers_load(file->path, inputs->arena, &file->transformers, err);
    case RESOURCE_EVOFORMERS:
        return ar_evoformers_load(file->path, inputs->arena, &file->evoformers, err);
    default:
        return ar_error_set(err, AR_INTERNAL, "%s is no input of a scenario", file->path);
    }
}

/* The file of a path, read if it was not before. */
static enum ar_status get_file(struct ar_inputs *inputs, enum resource kind, const char *path,
                               const struct ar_input **found, struct ar_error *err)
{
    struct ar_input *file = inputs->files;
    while (file != NULL && (file->kind != kind || strcmp(file->path, path) != 0)) {
        file = file->next;
    }
    if (file == NULL) {
        file = ar_arena_alloc(inputs->arena, 1, sizeof *file);
        char *copy = ar_arena_text(inputs->arena, path);
        *file = (struct ar_input){.next = inputs->files, .kind = kind, .path = copy};
        AR_TRY(read_file(inputs, file, err));
        inputs->files = file;
    }
    *found = file;
    return AR_OK;
}

enum ar_status ar_inputs_find(struct ar_inputs *inputs, enum resource kind, const char *where,
                              const char *name, const struct ar_input **input, struct ar_error *err)
{
    char path[RESOURCE_PATH];
    AR_TRY(resource_find(kind, where, name, path, err));
    return get_file(inputs, kind, path, input, err);
}

enum ar_status ar_inputs_library(struct ar_inputs *inputs, const char *cluster_name,
                                 const char *name, const struct ar_library_table **table,
                                 struct ar_error *err)
{
    char cluster[RESOURCE_PATH], path[RESOURCE_PATH];
    const struct ar_input *input;
    AR_TRY(resource_find(RESOURCE_CLUSTER, "--cluster", cluster_name, cluster, err));
    const char *slash = strrchr(cluster, '/');
    int folder = slash != NULL ? (int)(slash - cluster) + 1 : 0;
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
