#include "ar_arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the arena allocated lies behind its item. */
struct ar_arena_item {
    struct ar_arena_item *before, *after;
    void *object; /* NULL: memory only */
    void (*destroy)(void *object);
    alignas(max_align_t) char bytes[];
};

static size_t bytes_left(const struct ar_arena *arena)
{
    return (arena->bytes_max > 0 ? arena->bytes_max : SIZE_MAX) - arena->bytes;
}

static struct ar_arena_item *add_item(struct ar_arena *arena, size_t bytes)
{
    size_t left = bytes_left(arena);
    if (left < sizeof(struct ar_arena_item) || bytes > left - sizeof(struct ar_arena_item)) {
        arena->is_broken = true;
        return NULL;
    }
    struct ar_arena_item *item = calloc(1, sizeof *item + bytes);
    arena->is_broken = arena->is_broken || item == NULL;
    if (item != NULL) {
        item->before = arena->last;
        if (arena->last != NULL) {
            arena->last->after = item;
        }
        arena->last = item;
        arena->bytes += sizeof *item + bytes;
    }
    return item;
}

void *ar_arena_alloc(struct ar_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    bool is_too_large = __builtin_mul_overflow(count, size, &bytes);
    struct ar_arena_item *item = add_item(arena, is_too_large ? SIZE_MAX : bytes);
    return item != NULL ? item->bytes : NULL;
}

char *ar_arena_text(struct ar_arena *arena, const char *text)
{
    return ar_arena_format(arena, "%s", text);
}

char *ar_arena_format(struct ar_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : ar_arena_alloc(arena, (size_t)length + 1, 1);
    if (text != NULL) {
        va_start(arguments, format);
        vsnprintf(text, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    return text;
}

void *ar_arena_own(struct ar_arena *arena, void *object, void (*destroy)(void *object))
{
    struct ar_arena_item *item = add_item(arena, 0);
    if (item == NULL) {
        destroy(object);
        return NULL;
    }
    item->object = object;
    item->destroy = destroy;
    return object;
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
    if (count + more <= room_of(count)) {
        return list;
    }
    void *larger = ar_arena_alloc(arena, room_of(count + more), size);
    if (larger != NULL && count > 0) {
        memcpy(larger, list, count * size);
    }
    return larger;
}

void *ar_arena_extend(struct ar_arena *arena, void *list, size_t count, size_t more, size_t size)
{
    size_t room = room_of(count), bytes = 0;
    if (count + more <= room || count == 0) {
        return ar_arena_grow(arena, list, count, more, size);
    }
    struct ar_arena_item *item =
        (struct ar_arena_item *)(void *)((char *)list - offsetof(struct ar_arena_item, bytes));
    bool is_too_large = __builtin_mul_overflow(room_of(count + more), size, &bytes) ||
                        bytes - room * size > bytes_left(arena);
    struct ar_arena_item *moved = is_too_large ? NULL : realloc(item, sizeof *item + bytes);
    if (moved == NULL) {
        arena->is_broken = true;
        return NULL;
    }
    arena->bytes += bytes - room * size;
    *(moved->after != NULL ? &moved->after->before : &arena->last) = moved;
    if (moved->before != NULL) {
        moved->before->after = moved;
    }
    return moved->bytes;
}
