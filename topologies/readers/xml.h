/** \file xml.h
 * XML by expat, element by element. Documents that declare entities, or are nested deeper than any
 * machine is, are refused; nothing outside of the text is read.
 */
#ifndef AR_MACHINE_XML_H
#define AR_MACHINE_XML_H

#include "machine.h"

enum { XML_DEPTH_MAX = 128 };

/** What a kind of document makes of its elements. `depth` is 0 for the outermost one. `state` is
 * `state_bytes` zeros. */
struct xml_kind {
    const char *root;
    const char *title; /**< for messages */
    size_t state_bytes;
    enum ar_status (*begin)(void *state, const struct source *source, unsigned depth,
                            const char *name, const char *const *attributes, struct ar_error *err);
    void (*end)(void *state, unsigned depth, const char *name); /**< or NULL */
    enum ar_status (*finish)(void *state, const struct source *source, struct ar_error *err);
};

extern const struct xml_kind nccl_topology_kind;

/** The value of an attribute; NULL: there is none. */
const char *xml_attribute(const char *const *attributes, const char *name);

/** Its count; `missing` if there is none, or an empty one. */
enum ar_status xml_count(const struct source *source, const char *const *attributes,
                         const char *name, uint64_t missing, uint64_t max, uint64_t *count,
                         struct ar_error *err);

/** Reads a document of any of the kinds. */
enum ar_status xml_read(struct source *source, const char *text, size_t bytes,
                        struct ar_error *err);

#endif
