/** \file ar_arena.h
 * Memory and objects that end together: an arena per command, file or trial.
 *
 * An arena in which files are read begins with `.bytes_max = AR_ARENA_BYTES_MAX`, so that one that
 * somebody made up does not take all memory of a machine; beyond it there is none, as where the
 * machine has none. What models take is theirs: arenas of theirs have no such end.
 *
 * Functions that take an arena return early on errors; whoever began the arena ends it once, and
 * all that was made in it ends in the reverse order in which it was made.
 */
#ifndef AR_BASE_ARENA_H
#define AR_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#define AR_ARENA_BYTES_MAX ((size_t)4 << 30)

/** Begins as all zeros, or with bytes_max alone. */
struct ar_arena {
    struct ar_arena_item *last;
    size_t bytes;     /**< that it has taken, */
    size_t bytes_max; /**< and may; 0: as much as there is */
    bool is_broken;   /**< some memory was not to be had since it began: asked once, after several
                         allocations */
};

/** `count` objects of `size` bytes, all zero, aligned for any type; NULL if there is no memory. */
void *ar_arena_alloc(struct ar_arena *arena, size_t count, size_t size)
    __attribute__((alloc_size(2, 3)));

/** A copy of a text, or a text made as by printf(); NULL if there is no memory. */
char *ar_arena_text(struct ar_arena *arena, const char *text);
char *ar_arena_format(struct ar_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Hands `object` over: `destroy` is called with it when the arena ends. Returns `object`; without
 * memory for that the object is destroyed at once and NULL returned. */
void *ar_arena_own(struct ar_arena *arena, void *object, void (*destroy)(void *object));

/** A list of `count` elements of `size` bytes, NULL if that is 0, with room for `more` behind them:
 * as it is, or moved to at least twice the room (the old list stays until the arena ends). All of
 * its elements must have come this way. NULL, with the list as it was, if there is no memory. */
void *ar_arena_grow(struct ar_arena *arena, void *list, size_t count, size_t more, size_t size);

/** The same of a long list to which nobody else points: the old one does not stay, and what is
 * added may have any value. */
void *ar_arena_extend(struct ar_arena *arena, void *list, size_t count, size_t more, size_t size);

/** Ends all that was made in the arena, which is as it began, with its bytes_max. */
void ar_arena_end(struct ar_arena *arena);

/** Of an arena that ends with its block, however that is left:
 * `struct ar_arena scratch AR_ENDS_HERE = {NULL};` */
#define AR_ENDS_HERE __attribute__((cleanup(ar_arena_end)))

#endif
