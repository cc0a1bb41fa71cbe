#include "ar_arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What the arena allocated lies behind its item. */
struct ar_arena_item {
    struct ar_arena_item *before;
    void *object; /* NULL: memory only */
    void (*destroy)(void *object);
    alignas(max_align_t) char bytes[];
};

static struct ar_arena_item *add_item(struct ar_arena *arena, size_t bytes)
{
    struct ar_arena_item *item = calloc(1, sizeof *item + bytes);
    if (item != NULL) {
        item->before = arena->last;
        arena->last = item;
    }
    return item;
}

void *ar_arena_alloc(struct ar_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - sizeof(max_align_t)) {
        return NULL;
    }
    struct ar_arena_item *item = add_item(arena, bytes);
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
}

void *ar_grow(void *list, size_t wanted, size_t *room, size_t size)
{
    enum { FIRST_ROOM = 64 };
    if (wanted <= *room) {
        return list;
    }
    size_t more = *room < FIRST_ROOM / 2 ? FIRST_ROOM : 2 * *room;
    more = more < wanted ? wanted : more;
    void *larger = reallocarray(list, more, size);
    *room = larger != NULL ? more : *room;
    return larger;
}
