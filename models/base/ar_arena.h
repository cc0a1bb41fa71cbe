/** \file ar_arena.h
 * Memory and objects that end together: an arena per command, file or trial.
 *
 * No function here returns without the memory that it was asked for, so callers ask neither an
 * arena nor an allocation whether it failed. A failure of memory is handled in one place: it
 * returns from ar_memory_guard(), which programs, workers and the C library call once, around
 * everything else. Where nothing guards, the process says so in one line on stderr and exits with
 * the code of AR_NO_MEMORY.
 *
 * Functions that take an arena return early on errors; whoever began the arena ends it once, and
 * all that was made in it ends in the reverse order in which it was made.
 *
 * An arena that keeps what is read from files begins with `.bytes_max = AR_ARENA_BYTES_MAX`, so
 * that a made-up file does not take all memory of a machine; more is a failure of memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_error.h"

#define AR_ARENA_BYTES_MAX ((size_t)4 << 30)

/** Begins as all zeros, or with bytes_max alone. It stays where it is while it holds something. */
struct ar_arena {
    struct ar_arena_item *last;
    size_t bytes;                   /**< taken so far */
    size_t bytes_max;               /**< that may be taken; 0: no limit */
    const char *input;              /**< file read last, named if bytes_max is passed; NULL: none */
    uint64_t number;                /**< counts the arenas of a guarded thread; 0: not guarded */
    struct ar_arena *older, *newer; /**< of the same thread, if guarded */
};

/** `count` objects of `size` bytes, all zero, aligned for any type. */
void *ar_arena_alloc(struct ar_arena *arena, size_t count, size_t size)
    __attribute__((alloc_size(2, 3)));

/** The same with any bytes in it, for large arrays of which a part is written before it is read. */
void *ar_arena_room(struct ar_arena *arena, size_t count, size_t size)
    __attribute__((alloc_size(2, 3)));

/** A copy of `count` objects of `size` bytes. */
void *ar_arena_copy(struct ar_arena *arena, const void *objects, size_t count, size_t size);

/** A copy of a text, or a text made as by printf(). */
char *ar_arena_text(struct ar_arena *arena, const char *text);
char *ar_arena_format(struct ar_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Hands `object` over: `destroy` is called with it when the arena ends. Returns `object`. NULL,
 * such as from malloc(), is a failure of memory. */
void *ar_arena_own(struct ar_arena *arena, void *object, void (*destroy)(void *object));

/** Defines `name`, to be given to it, which calls `destroy`, a function of one type of object. */
#define AR_DESTROYER(name, destroy)                                                                \
    static void name(void *object)                                                                 \
    {                                                                                              \
        (void)destroy(object);                                                                     \
    }

/** A list of `count` elements of `size` bytes, NULL if that is 0, with room for `more` behind them:
 * as it is, or moved to at least twice the room (the old list stays until the arena ends). All of
 * its elements must have come this way. */
void *ar_arena_grow(struct ar_arena *arena, void *list, size_t count, size_t more, size_t size);

/** Adds an element to such a list, whose pointer and count are variables; returns its place. */
#define AR_ARENA_ADD(arena, list, count)                                                           \
    ((list) = ar_arena_grow(arena, list, count, 1, sizeof *(list)), &(list)[(count)++])

/** Ends all that was made in the arena, which is as it began, with its bytes_max. */
void ar_arena_end(struct ar_arena *arena);

/** Ends an arena with its block, however that is left:
 * `struct ar_arena scratch AR_ENDS_HERE = {NULL};` */
#define AR_ENDS_HERE __attribute__((cleanup(ar_arena_end)))

/** Calls `call` with `context`. If memory runs out meanwhile in this thread, all arenas that began
 * in the call end, newest first, and AR_NO_MEMORY is returned with one line in `err`; memory that
 * the call took elsewhere is lost. Otherwise returns what `call` returns. Guards may be nested; a
 * child process needs its own. An arena that begins under a guard ends in the same thread. */
enum ar_status ar_memory_guard(enum ar_status (*call)(void *context, struct ar_error *err),
                               void *context, struct ar_error *err);

/** Reports that memory of no arena, for `what`, could not be had: leaves ar_memory_guard(). */
_Noreturn void ar_memory_fail(const char *what);

/** The same unless the memory `is_there`. */
void ar_memory_require(bool is_there, const char *what);
