/** \file ar_topo.h
 * A cluster file as it was read: lines of `key = value ; source`, comments and empty lines.
 *
 * The one reader and writer of the format (topologies/README.md). Reading touches the disk once and
 * keeps every line, so that the file can be written again with some values changed: lines that
 * nobody changed come out byte for byte. Values are texts here; ar_cluster_create() (ar_cluster.h)
 * gives them their meaning, as often as wanted and with other settings each time.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "ar_arena.h"
#include "ar_text.h"

struct ar_topo;

/** Reads a cluster file into an arena. Errors are AR_NO_INPUT for a file that cannot be read and
 * AR_BAD_DATA for lines that are none of a cluster file: no text, no `key = value`, an unknown key
 * (the line names the nearest known one), a key that is there twice. */
enum ar_status ar_topo_load(const char *path, struct ar_arena *arena, struct ar_topo **topo,
                            struct ar_error *err);

/** An empty file, to be filled by ar_topo_set(), with room for so many lines and for all keys more;
 * `path` names it in messages. */
struct ar_topo *ar_topo_create(const char *path, size_t lines, struct ar_arena *arena);

/** Gives a key another value and source: its line is replaced, or one added at the end. On AR_USAGE
 * (no such key, not one line of text) the file is as before. The value is not read. */
enum ar_status ar_topo_set(struct ar_topo *topo, const char *key, const char *value,
                           const char *source, struct ar_error *err);

/** Puts a block at the head: the line of comment `begin`, a comment for each text, the line `end`.
 * A block with the same begin and end that is there from earlier goes. `begin` and `end` are whole
 * lines and start with '#'; texts are borrowed. AR_USAGE, without a change: a text of two lines. */
enum ar_status ar_topo_set_head(struct ar_topo *topo, const char *begin, const char *const *texts,
                                size_t texts_count, const char *end, struct ar_error *err);

/** Writes the file; write errors are left in `file` for ferror(). */
void ar_topo_write(const struct ar_topo *topo, FILE *file);
