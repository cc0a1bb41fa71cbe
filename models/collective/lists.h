/** \file lists.h
 * Lists on the command line: counts, sizes, algorithms, shapes.
 *
 * A list is made of items separated by commas; an item of numbers may be a range FIRST:LAST:xF
 * (multiplied by F) or FIRST:LAST:+D (increased by D), both ends included where they are met. What
 * is there twice counts once. Errors are AR_USAGE and name the item. Lists lie in the arena.
 */
#pragma once

#include "ar_algorithm.h"
#include "ar_arena.h"

enum { LIST_MAX = 4096 };

/** Parses counts from 1 to `max`. */
enum ar_status list_counts(struct ar_arena *arena, const char *where, const char *text,
                           uint64_t max, uint64_t **values, size_t *values_count,
                           struct ar_error *err);

/** Parses sizes in bytes, above zero. */
enum ar_status list_sizes(struct ar_arena *arena, const char *where, const char *text,
                          uint64_t **values, size_t *values_count, struct ar_error *err);

/** Parses commands of operations (`alltoall`), `all` among them. */
enum ar_status list_operations(struct ar_arena *arena, const char *where, const char *text,
                               const struct ar_operation ***operations, size_t *count,
                               struct ar_error *err);

/** Parses names of algorithms of an operation (NULL: of all of them, where a name means each
 * algorithm that has it), `all` and libraries (ar_runnable.h: `nccl-2.23`) among them, and
 * `auto` if it may be there, which is NULL and comes last. */
enum ar_status list_algorithms(struct ar_arena *arena, const char *where,
                               const struct ar_operation *operation, const char *text,
                               bool may_be_auto, const struct ar_algorithm ***algorithms,
                               size_t *count, struct ar_error *err);

/** The shapes of `ranks` ranks that `--shapes` text asks for. May be none. `all` means every
 * X * Y = ranks, `square` the squarest of them, `node` that with X = gpus_per_node if there is one;
 * of a list of grids those with X * Y = ranks are taken. */
enum ar_status list_shapes(struct ar_arena *arena, const char *text, uint32_t ranks,
                           uint32_t gpus_per_node, struct ar_shape **shapes, size_t *count,
                           struct ar_error *err);

/** Refuses a grid of `--shapes` that has as many places as none of the counts. */
enum ar_status list_shapes_check(const char *text, const uint64_t *counts, size_t counts_count,
                                 struct ar_error *err);
