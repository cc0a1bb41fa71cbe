/** \file topo_line.h
 * Private to this room: the lines of a cluster file.
 */
#ifndef AR_TOPO_LINE_H
#define AR_TOPO_LINE_H

#include "topo_values.h"

/** A line as read. */
struct ar_topo_line {
    const char *text; /**< without its newline */
    uint32_t number;  /**< from 1 on; 0: it was set */
    bool is_entry;    /**< else it is a comment or empty */
    struct ar_topo_entry entry;
};

struct ar_topo {
    struct ar_arena arena; /**< of all that is in it */
    const char *path;      /**< for messages, shortened at its start if long */
    struct ar_topo_line *lines;
    size_t lines_count, lines_capacity;
};

/** Reads a line, without its newline, into `line`. `where` begins messages on it and must live as
 * long as the arena, which holds the rest. */
enum ar_status ar_topo_read_line(const char *where, const char *text, struct ar_arena *arena,
                                 struct ar_topo_line *line, struct ar_error *err);

/** Reads `key = value` into the key and text of `entry`; `assignment` is cut in place. */
enum ar_status ar_topo_read_assignment(const char *where, char *assignment,
                                       struct ar_topo_entry *entry, struct ar_error *err);

/** Refuses bytes that do not belong into text; those of UTF-8 are allowed where `is_prose`. */
enum ar_status ar_topo_check_text(const char *where, const char *text, bool is_prose,
                                  struct ar_error *err);

#endif
