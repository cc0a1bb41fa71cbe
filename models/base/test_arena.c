#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "ar_arena.h"

static char ended[8];

static void note_end(void *object)
{
    strncat(ended, object, 1);
}

Test(arena, what_was_made_last_ends_first)
{
    struct ar_arena arena = {NULL};
    char names[] = "abc";
    ended[0] = '\0';
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(ar_arena_own(&arena, &names[i], note_end), &names[i]);
    }
    ar_arena_end(&arena);
    cr_expect_str_eq(ended, "cba");
    ar_arena_end(&arena);
    cr_expect_str_eq(ended, "cba", "an arena ends once");
}

Test(arena, memory_is_zero_aligned_and_apart)
{
    struct ar_arena arena = {NULL};
    unsigned char *first = ar_arena_alloc(&arena, 3, 5);
    unsigned char *second = ar_arena_alloc(&arena, 1, 1);
    cr_assert(first != NULL && second != NULL);
    for (int i = 0; i < 15; i++) {
        cr_expect_eq(first[i], 0);
    }
    memset(first, 255, 15);
    cr_expect_eq(*second, 0);
    cr_expect_eq((uintptr_t)second % _Alignof(max_align_t), 0);
    cr_expect_str_eq(ar_arena_format(&arena, "%s-%d", "gpu", 7), "gpu-7");
    ar_arena_end(&arena);
}

Test(arena, sizes_beyond_memory_are_no_memory)
{
    enum { MAX = 1 << 20 };
    struct ar_arena arena = {.bytes_max = MAX}, endless AR_ENDS_HERE = {NULL};
    volatile size_t many = SIZE_MAX / 2;
    cr_expect_null(ar_arena_alloc(&endless, many, 4));
    cr_expect_null(ar_arena_alloc(&endless, many, 2));
    cr_expect_not_null(ar_arena_alloc(&endless, MAX + 1, 1), "none has set a limit");
    cr_expect_null(ar_arena_alloc(&arena, MAX + 1, 1));
    cr_expect_not_null(ar_arena_alloc(&arena, 1 << 10, 1));
    cr_expect_null(ar_arena_alloc(&arena, MAX - (1 << 10) + 1, 1), "in sum");
    ar_arena_end(&arena);
    cr_expect_eq(arena.bytes, 0, "begins anew");
    cr_expect_null(ar_arena_alloc(&arena, MAX, 1), "no more than before");
    ar_arena_end(&arena);
}

Test(arena, a_list_is_extended_wherever_it_stands)
{
    struct ar_arena arena AR_ENDS_HERE = {.bytes_max = 1 << 20};
    uint64_t *lists[3] = {NULL};
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t **list = &lists[i % 3];
        *list = ar_arena_extend(&arena, *list, i / 3, 1, sizeof **list);
        (*list)[i / 3] = i;
    }
    for (uint64_t i = 0; i < 3000; i++) {
        cr_assert_eq(lists[i % 3][i / 3], i);
    }
    cr_expect_leq(arena.bytes, 3 * (1024 * sizeof(uint64_t) + 256), "old lists do not stay");
    cr_expect_null(ar_arena_extend(&arena, lists[1], 1000, SIZE_MAX / 16, sizeof *lists[1]));
    cr_expect_null(ar_arena_extend(&arena, lists[1], 1000, 1 << 20, 1), "beyond the limit");
    cr_expect(arena.is_broken);
}

Test(arena, a_list_grows_and_keeps_what_it_has)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint64_t *list = NULL;
    size_t moves = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t *larger = ar_arena_grow(&arena, list, i, 1, sizeof *list);
        cr_assert_not_null(larger);
        moves += larger != list;
        list = larger;
        list[i] = i;
    }
    for (uint64_t i = 0; i < 1000; i++) {
        cr_expect_eq(list[i], i);
    }
    cr_expect_eq(moves, 8, "8, 16, ..., 1024");
    cr_expect_eq(ar_arena_grow(&arena, list, 1000, 24, sizeof *list), list, "there is room");
    cr_expect_null(ar_arena_grow(&arena, list, 1000, SIZE_MAX / 16, sizeof *list));
}
