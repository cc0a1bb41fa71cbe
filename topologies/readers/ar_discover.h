/** \file ar_discover.h
 * A cluster file from what machines and tools say of themselves.
 *
 * Files are read one after the other into one discovery. Their format is recognised by content;
 * they complete each other, and where two of them say different things of one key the second one
 * is refused with a line that names both. ar_discover_finish() makes a cluster file of it: each
 * value has `FILE:LINE` and what stood there as its source. What no file says comes from settings,
 * which win over files, or is asked for by name. Constants of communication
 * libraries and chips that files name but do not describe are those of the shipped clusters, with
 * their source.
 *
 * Formats: NCCL's and RCCL's topology files, `nvidia-smi topo -m`, `ibstat`.
 */
#pragma once

#include <stddef.h>

#include "ar_arena.h"
#include "ar_text.h"
#include "ar_topo.h"

/** Largest file that is read. */
#define AR_DISCOVER_BYTES_MAX ((size_t)64 * 1024 * 1024)

struct ar_discovery;

/** Begins with nothing known but the settings, which are borrowed; it is the arena's. A setting of
 * no key, or with no value of it, is refused. */
enum ar_status ar_discover_begin(struct ar_settings settings, struct ar_arena *arena,
                                 struct ar_discovery **discovery, struct ar_error *err);

/** Reads a file, or a text that `path` names in messages (it is changed). AR_NO_INPUT; AR_BAD_DATA
 * with `path:line` for what is none of the formats, broken, or contradicts an earlier file in a key
 * that no setting has. */
enum ar_status ar_discover_read(struct ar_discovery *discovery, const char *path,
                                struct ar_error *err);
enum ar_status ar_discover_parse(struct ar_discovery *discovery, const char *path, char *text,
                                 size_t bytes, struct ar_error *err);

/** Makes the cluster file `name`, once; ar_cluster_create() takes it. AR_USAGE if something is
 * missing that settings would have to say. */
enum ar_status ar_discover_finish(struct ar_discovery *discovery, const char *name,
                                  struct ar_topo **topo, struct ar_error *err);

/** Notes on values that were left out or assumed; NULL ends the list. The texts are the arena's. */
const char *const *ar_discover_notes(const struct ar_discovery *discovery);

enum { AR_DISCOVER_FABRICS_COUNT = 7 };

/** Words for what joins the nodes, and the setting `KEY=VALUE` that each stands for. */
struct ar_discover_fabric {
    const char *word, *setting;
};
extern const struct ar_discover_fabric ar_discover_fabrics[AR_DISCOVER_FABRICS_COUNT];
