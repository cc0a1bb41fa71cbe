#include "ar_arena.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ar_units.h"

/* --- failures of memory ----------------------------------------------------------------------- */

/* A call of ar_memory_guard() that has not returned. */
struct guard {
    jmp_buf begin;
    struct guard *outer;
    struct ar_error *err;
    uint64_t number; /* of the newest arena before it */
    pid_t process;   /* a forked child must not return from a call of its parent */
};

/* A failure deep in a call has to find the way out, so the thread remembers it: its innermost
 * guard, and the arenas that hold something and began under one. */
static _Thread_local struct guard *guard;
static _Thread_local struct ar_arena *newest;
static _Thread_local uint64_t numbers;

static void unlist_arena(struct ar_arena *arena)
{
    if (arena->older != NULL) {
        arena->older->newer = arena->newer;
    }
    *(arena->newer != NULL ? &arena->newer->older : &newest) = arena->older;
    arena->older = arena->newer = NULL;
    arena->number = 0;
}

enum ar_status ar_memory_guard(enum ar_status (*call)(void *context, struct ar_error *err),
                               void *context, struct ar_error *err)
{
    struct guard own = {.outer = guard, .err = err, .number = numbers, .process = getpid()};
    if (setjmp(own.begin) != 0) {
        return AR_NO_MEMORY;
    }
    guard = &own;
    enum ar_status status = call(context, err);
    guard = own.outer;
    while (guard == NULL && newest != NULL) { /* what is left may end in another thread */
        unlist_arena(newest);
    }
    return status;
}

/* Leaves the innermost guard with the text in `err`. */
_Noreturn static void leave_guard(const struct ar_error *err)
{
    struct guard *left = guard;
    if (left == NULL || left->process != getpid()) {
        fprintf(stderr, "%s\n", err->text);
        _exit(ar_status_exit_code(AR_NO_MEMORY));
    }
    guard = left->outer;
    while (newest != NULL && newest->number > left->number) {
        ar_arena_end(newest);
    }
    *left->err = *err;
    longjmp(left->begin, 1);
}

_Noreturn void ar_memory_fail(const char *what)
{
    struct ar_error err;
    (void)ar_error_set(&err, AR_NO_MEMORY, "out of memory for %s", what);
    leave_guard(&err);
}

void ar_memory_require(bool is_there, const char *what)
{
    if (!is_there) {
        ar_memory_fail(what);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Allocated memory lies behind its item. */
struct ar_arena_item {
    struct ar_arena_item *before;
    void *object; /* NULL: memory only */
    void (*destroy)(void *object);
    alignas(max_align_t) char bytes[];
};

enum { PAGE = 4096, LARGE_FROM = 4 << 20 };

/* Lists an item of so many bytes; without memory ends its object, if any, and leaves the guard. */
static struct ar_arena_item *take_item(struct ar_arena *arena, size_t count, size_t size,
                                       bool is_clear, void *object, void (*destroy)(void *object))
{
    struct ar_arena_item *item;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        bytes = SIZE_MAX; /* nobody has that many */
    }
    size_t left = (arena->bytes_max > 0 ? arena->bytes_max : SIZE_MAX) - arena->bytes;
    bool is_allowed = left >= sizeof *item && bytes <= left - sizeof *item;
    size_t all = sizeof *item + bytes;
    item = !is_allowed ? NULL : is_clear ? calloc(1, all) : malloc(all);
    if (item == NULL) {
        struct ar_error err;
        if (object != NULL) {
            destroy(object);
        }
        if (is_allowed || arena->bytes_max == 0) {
            ar_memory_fail(AR_SHOW_BYTES(bytes));
        }
        (void)ar_error_set(&err, AR_NO_MEMORY,
                           "%.300s%sout of memory: expected at most %s of all that is read",
                           arena->input != NULL ? arena->input : "",
                           arena->input != NULL ? ": " : "", AR_SHOW_BYTES(arena->bytes_max));
        leave_guard(&err);
    }
    if (arena->last == NULL && guard != NULL) {
        arena->number = ++numbers;
        arena->older = newest;
        if (newest != NULL) {
            newest->newer = arena;
        }
        newest = arena;
    }
    /* Memory of a million ranks lies on pages of 2 MiB where the system has them: on a virtual
     * machine the first touch of small ones was half of the time of such a run. */
    size_t skipped = (PAGE - (uintptr_t)item % PAGE) % PAGE;
    if (all >= LARGE_FROM) {
        (void)madvise((char *)item + skipped, (all - skipped) / PAGE * PAGE, MADV_HUGEPAGE);
    }
    item->before = arena->last;
    item->object = object;
    item->destroy = destroy;
    arena->last = item;
    arena->bytes += all;
    return item;
}

void *ar_arena_alloc(struct ar_arena *arena, size_t count, size_t size)
{
    return take_item(arena, count, size, true, NULL, NULL)->bytes;
}

void *ar_arena_room(struct ar_arena *arena, size_t count, size_t size)
{
    return take_item(arena, count, size, false, NULL, NULL)->bytes;
}

void *ar_arena_copy(struct ar_arena *arena, const void *objects, size_t count, size_t size)
{
    void *copy = ar_arena_room(arena, count, size);
    return count > 0 ? memcpy(copy, objects, count * size) : copy;
}

char *ar_arena_text(struct ar_arena *arena, const char *text)
{
    return ar_arena_copy(arena, text, strlen(text) + 1, 1);
}

char *ar_arena_format(struct ar_arena *arena, const char *format, ...)
{
    char most[512]; /* longer texts are formatted twice */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(most, sizeof most, format, arguments);
    va_end(arguments);
    ar_memory_require(length >= 0, "a text");
    size_t bytes = (size_t)length + 1;
    char *text = ar_arena_room(arena, bytes, 1);
    if (bytes <= sizeof most) {
        return memcpy(text, most, bytes);
    }
    va_start(arguments, format);
    vsnprintf(text, bytes, format, arguments);
    va_end(arguments);
    return text;
}

void *ar_arena_own(struct ar_arena *arena, void *object, void (*destroy)(void *object))
{
    ar_memory_require(object != NULL, "an object");
    return take_item(arena, 0, 0, true, object, destroy)->object;
}

void ar_arena_end(struct ar_arena *arena)
{
    while (arena->last != NULL) {
        struct ar_arena_item *item = arena->last;
        arena->last = item->before;
        if (item->object != NULL) {
            item->destroy(item->object);
        }
        free(item);
    }
    if (arena->number > 0) {
        unlist_arena(arena);
    }
    *arena = (struct ar_arena){.bytes_max = arena->bytes_max};
}

/* Elements that a list of `count` has room for: a power of two. */
static size_t room_of(size_t count)
{
    enum { FIRST_ROOM = 8, BITS = 64 };
    return count == 0             ? 0
           : count <= FIRST_ROOM  ? FIRST_ROOM
           : count > SIZE_MAX / 2 ? count
                                  : (size_t)1 << (BITS - __builtin_clzl(count - 1));
}

void *ar_arena_grow(struct ar_arena *arena, void *list, size_t count, size_t more, size_t size)
{
    size_t wanted = count + more;
    if (more > PTRDIFF_MAX - count) {
        ar_memory_fail("a list"); /* nobody has that many */
    }
    if (wanted <= room_of(count)) {
        return list;
    }
    void *larger = ar_arena_alloc(arena, room_of(wanted), size);
    if (count > 0) {
        memcpy(larger, list, count * size);
    }
    return larger;
}
