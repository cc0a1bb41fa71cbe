#include "ar_mesh.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

static struct ar_mesh_axis *find_axis(struct ar_mesh *mesh, const char *name, size_t length)
{
    for (uint32_t i = 0; i < mesh->axes_count; i++) {
        if (strlen(mesh->axes[i].name) == length && memcmp(mesh->axes[i].name, name, length) == 0) {
            return &mesh->axes[i];
        }
    }
    return NULL;
}

static bool is_name(const char *text, size_t length)
{
    bool is_good = length > 0 && length < AR_MESH_NAME && isalpha((unsigned char)text[0]);
    for (size_t i = 0; is_good && i < length; i++) {
        is_good = isalnum((unsigned char)text[i]);
    }
    return is_good;
}

enum ar_status ar_mesh_parse(const char *where, const char *text, struct ar_mesh *mesh,
                             struct ar_error *err)
{
    char copy[AR_MESH_TEXT];
    char *rest = copy;
    uint64_t ranks = 1;
    *mesh = (struct ar_mesh){.axes_count = 0};
    ar_copy_text(copy, sizeof copy, text);
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        uint64_t size;
        char *number = strchr(name, '=');
        size_t length = number != NULL ? (size_t)(number - name) : 0;
        AR_REFUSE(strlen(text) >= sizeof copy || mesh->axes_count == AR_MESH_AXES_MAX ||
                      !is_name(name, length) || find_axis(mesh, name, length) != NULL ||
                      ar_parse_count(where, number + 1, 1, UINT32_MAX, &size, AR_IGNORED) !=
                          AR_OK ||
                      ranks * size > UINT32_MAX,
                  err, AR_USAGE,
                  "%s: found \"%.80s\"; expected up to %d axes, each once, such as pp=4,dp=16,tp=8",
                  where, text, AR_MESH_AXES_MAX);
        ranks *= size;
        struct ar_mesh_axis *axis = &mesh->axes[mesh->axes_count++];
        memcpy(axis->name, name, length);
        axis->size = (uint32_t)size;
    }
    return AR_OK;
}

enum ar_status ar_mesh_set_along(const char *where, const char *text, struct ar_mesh *mesh,
                                 struct ar_error *err)
{
    for (uint32_t i = 0; i < mesh->axes_count; i++) {
        mesh->axes[i].is_along = false;
    }
    for (const char *item = text; item != NULL;) {
        size_t length = strcspn(item, ",");
        struct ar_mesh_axis *axis = find_axis(mesh, item, length);
        AR_REFUSE(axis == NULL, err, AR_USAGE, "%s: found \"%.80s\"; expected axes of the mesh %s",
                  where, text, mesh->axes_count > 0 ? AR_SHOW_MESH(mesh) : "(none)");
        axis->is_along = true;
        item = item[length] == ',' ? item + length + 1 : NULL;
    }
    return AR_OK;
}

const char *ar_mesh_format(const struct ar_mesh *mesh, char text[AR_MESH_TEXT])
{
    text[0] = '\0';
    for (uint32_t i = 0; i < mesh->axes_count; i++) {
        ar_append_text(text, AR_MESH_TEXT, "%s%s=%" PRIu32, i > 0 ? "," : "", mesh->axes[i].name,
                       mesh->axes[i].size);
    }
    return text;
}

const char *ar_mesh_format_along(const struct ar_mesh *mesh, char text[AR_MESH_TEXT])
{
    text[0] = '\0';
    for (uint32_t i = 0; i < mesh->axes_count; i++) {
        if (mesh->axes[i].is_along) {
            ar_append_text(text, AR_MESH_TEXT, "%s%s", text[0] != '\0' ? "," : "",
                           mesh->axes[i].name);
        }
    }
    return text;
}

static uint32_t axes_product(const struct ar_mesh *mesh, bool is_along)
{
    uint32_t size = 1;
    for (uint32_t i = 0; i < mesh->axes_count; i++) {
        size *= mesh->axes[i].is_along == is_along ? mesh->axes[i].size : 1;
    }
    return size;
}

uint64_t ar_mesh_ranks(const struct ar_mesh *mesh)
{
    return (uint64_t)axes_product(mesh, true) * axes_product(mesh, false);
}

uint32_t ar_mesh_groups(const struct ar_mesh *mesh)
{
    return axes_product(mesh, false);
}

uint32_t ar_mesh_group_ranks(const struct ar_mesh *mesh)
{
    return axes_product(mesh, true);
}

uint32_t ar_mesh_copies(const struct ar_mesh *mesh, uint32_t period)
{
    uint32_t copies = 1, inner = 1;
    for (uint32_t i = mesh->axes_count; i-- > 0;) {
        copies *= !mesh->axes[i].is_along && inner % period == 0 ? mesh->axes[i].size : 1;
        inner *= mesh->axes[i].size;
    }
    return copies;
}

uint32_t ar_mesh_rank(const struct ar_mesh *mesh, uint32_t group, uint32_t place)
{
    uint32_t rank = 0, stride = 1;
    for (uint32_t i = mesh->axes_count; i-- > 0;) {
        const struct ar_mesh_axis *axis = &mesh->axes[i];
        uint32_t *from = axis->is_along ? &place : &group;
        uint32_t outer = *from < axis->size ? 0 : *from / axis->size; /* a division is slow */
        rank += (*from - outer * axis->size) * stride;
        *from = outer;
        stride *= axis->size;
    }
    return rank;
}

void ar_mesh_place(const struct ar_mesh *mesh, uint32_t rank, uint32_t *group, uint32_t *place)
{
    uint32_t strides[2] = {1, 1};
    uint32_t to[2] = {0, 0};
    for (uint32_t i = mesh->axes_count; i-- > 0;) {
        const struct ar_mesh_axis *axis = &mesh->axes[i];
        to[axis->is_along] += rank % axis->size * strides[axis->is_along];
        strides[axis->is_along] *= axis->size;
        rank /= axis->size;
    }
    *group = to[false];
    *place = to[true];
}

/* Counts the places in a row that share a node with the first, and whether all rows are as long. */
uint32_t ar_mesh_node_members(const struct ar_mesh *mesh, uint32_t gpus_per_node)
{
    uint32_t ranks = ar_mesh_group_ranks(mesh);
    uint32_t groups = ar_mesh_groups(mesh) / ar_mesh_copies(mesh, gpus_per_node);
    uint32_t members = 0;
    while (members < ranks && ar_mesh_rank(mesh, 0, members) / gpus_per_node == 0) {
        members++;
    }
    for (uint32_t group = 0; group < groups && members > 1; group++) {
        for (uint32_t place = 0; place < ranks; place++) {
            uint32_t node = ar_mesh_rank(mesh, group, place) / gpus_per_node;
            uint32_t before = place > 0 ? ar_mesh_rank(mesh, group, place - 1) / gpus_per_node : 0;
            if (place > 0 && (node == before) != (place % members != 0)) {
                return 1;
            }
        }
    }
    return members > 0 ? members : 1;
}
