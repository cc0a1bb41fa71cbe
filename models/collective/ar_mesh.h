/** \file ar_mesh.h
 * The mesh of a job: named axes, along which its collectives run.
 *
 * `pp=4,dp=16,tp=8` has 512 GPUs; the axes are listed outermost first, so neighbours along `tp` are
 * neighbouring GPUs. A collective along `dp` runs in 32 groups at once: one for each pair of places
 * along `pp` and `tp`. A mesh without axes is one group of all GPUs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ar_error.h"

enum { AR_MESH_AXES_MAX = 8, AR_MESH_NAME = 12, AR_MESH_TEXT = 192 };

struct ar_mesh {
    uint32_t axes_count; /**< 0: one group */
    struct ar_mesh_axis {
        char name[AR_MESH_NAME];
        uint32_t size;
        bool is_along;        /**< the collective runs along it */
    } axes[AR_MESH_AXES_MAX]; /**< outermost first */
};

/** Parses `pp=4,dp=16,tp=8`: names of letters and digits, each once, sizes at least 1 with a
 * product below 2^32. The collective runs along none yet. `where` begins the error line. */
enum ar_status ar_mesh_parse(const char *where, const char *text, struct ar_mesh *mesh,
                             struct ar_error *err);

/** Lets the collective run along the axes of a comma list, and along no others. */
enum ar_status ar_mesh_set_along(const char *where, const char *text, struct ar_mesh *mesh,
                                 struct ar_error *err);

/** Writes `pp=4,dp=16,tp=8`, and the axes along which it runs as a list; returns `text`. */
const char *ar_mesh_format(const struct ar_mesh *mesh, char text[AR_MESH_TEXT]);
const char *ar_mesh_format_along(const struct ar_mesh *mesh, char text[AR_MESH_TEXT]);
#define AR_SHOW_MESH(mesh)  ar_mesh_format((mesh), (char[AR_MESH_TEXT]){""})
#define AR_SHOW_ALONG(mesh) ar_mesh_format_along((mesh), (char[AR_MESH_TEXT]){""})

/** GPUs of the mesh, 1 without axes; groups in which the collective runs; GPUs of such a group. */
uint64_t ar_mesh_ranks(const struct ar_mesh *mesh);
uint32_t ar_mesh_groups(const struct ar_mesh *mesh);
uint32_t ar_mesh_group_ranks(const struct ar_mesh *mesh);

/** How many copies there are of the first groups if the GPUs of every `period` ranks are like those
 * before: groups that differ in their places along outer axes, by whole periods. */
uint32_t ar_mesh_copies(const struct ar_mesh *mesh, uint32_t period);

/** The rank at a place of a group. Places of a group count in the order of ranks. */
uint32_t ar_mesh_rank(const struct ar_mesh *mesh, uint32_t group, uint32_t place);

/** The inverse. */
void ar_mesh_place(const struct ar_mesh *mesh, uint32_t rank, uint32_t *group, uint32_t *place);

/** The number of GPUs of a group on each node of `gpus_per_node` on which it has any, where that
 * is the same everywhere and those of a node follow each other; else 1. */
uint32_t ar_mesh_node_members(const struct ar_mesh *mesh, uint32_t gpus_per_node);
