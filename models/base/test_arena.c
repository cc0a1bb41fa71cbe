#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ar_arena.h"
#include "test_outcome.h"

static char ended[8];

static void note_end(void *object)
{
    strncat(ended, object, 1);
}

Test(arena, what_was_made_last_ends_first_and_memory_is_zero_aligned_and_apart)
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

/* --- failures of memory -------------------------------------------------------------------- */

/* A guarded call makes something in `arena`. */
struct asked {
    struct ar_arena *arena;
    size_t count, size;
    void *(*make)(const struct asked *asked);
};

static void *make_alloc(const struct asked *asked)
{
    return ar_arena_alloc(asked->arena, asked->count, asked->size);
}

static void *make_grown(const struct asked *asked)
{
    uint64_t *list = ar_arena_alloc(asked->arena, 1024, sizeof *list);
    return ar_arena_grow(asked->arena, list, 1000, asked->count, asked->size);
}

static void *make_owned(const struct asked *asked)
{
    return ar_arena_own(asked->arena, NULL, note_end);
}

static enum ar_status ask(void *context, struct ar_error *err)
{
    (void)err;
    const struct asked *asked = context;
    cr_assert_not_null(asked->make(asked));
    return AR_OK;
}

Test(arena, memory_that_cannot_be_had_returns_from_the_guard)
{
    enum { MAX = 1 << 20, HALF = 1 << 19 };
    struct ar_arena endless AR_ENDS_HERE = {NULL};
    const struct {
        struct asked asked;
        enum ar_status expected;
    } cases[] = {
        {{&endless, SIZE_MAX / 2, 4, make_alloc}, AR_NO_MEMORY},
        {{&endless, SIZE_MAX / 2, 2, make_alloc}, AR_NO_MEMORY},
        {{&endless, MAX + 1, 1, make_alloc}, AR_OK},
        {{&endless, SIZE_MAX / 16, 8, make_grown}, AR_NO_MEMORY},
        {{&endless, SIZE_MAX - 8, 8, make_grown}, AR_NO_MEMORY},
        {{&endless, .make = make_owned}, AR_NO_MEMORY},
        {{NULL, MAX + 1, 1, make_alloc}, AR_NO_MEMORY},
        {{NULL, MAX, 1, make_alloc}, AR_NO_MEMORY}, /* an item needs some, too */
        {{NULL, HALF, 1, make_alloc}, AR_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_error err = {.status = AR_OK};
        struct ar_arena bounded AR_ENDS_HERE = {.bytes_max = MAX};
        struct asked asked = cases[i].asked;
        asked.arena = asked.arena != NULL ? asked.arena : &bounded;
        enum ar_status status = ar_memory_guard(ask, &asked, &err);
        cr_expect_eq(status, cases[i].expected, "case %zu", i);
        cr_expect_eq(err.status, status, "case %zu", i);
        cr_expect(status == AR_OK || strstr(err.text, "out of memory") != NULL, "%s", err.text);
    }
}

Test(arena, a_limit_that_input_passes_names_the_file)
{
    struct ar_arena arena AR_ENDS_HERE = {.bytes_max = 1000, .input = "large.csv"};
    struct asked asked = {&arena, 1000, 1, make_alloc};
    TEST_FAILS(AR_NO_MEMORY, "large.csv: out of memory: expected at most 1 kB of all that is read",
               ar_memory_guard(ask, &asked, &why));
}

/* Arenas that this makes end where memory fails, those of others do not. */
static enum ar_status fail_inside(void *context, struct ar_error *err)
{
    static char names[] = "ab";
    struct ar_arena *outer = context;
    struct ar_arena first AR_ENDS_HERE = {NULL}, second AR_ENDS_HERE = {NULL};
    struct asked asked = {&second, SIZE_MAX, 1, make_alloc};
    struct ar_arena done AR_ENDS_HERE = {NULL};
    (void)ar_arena_alloc(outer, 1, 1);
    ar_arena_own(&first, &names[0], note_end);
    (void)ar_arena_alloc(&done, 1, 1);
    ar_arena_end(&done);
    ar_arena_own(&second, &names[1], note_end);
    cr_expect_eq(ar_memory_guard(ask, &asked, err), AR_NO_MEMORY, "the inner guard");
    cr_expect_str_eq(ended, "", "its arenas are older than it");
    ar_memory_fail("a test");
}

Test(arena, what_began_under_a_guard_ends_with_it)
{
    struct ar_arena outer AR_ENDS_HERE = {NULL};
    char name = 'o';
    ended[0] = '\0';
    ar_arena_own(&outer, &name, note_end);
    TEST_FAILS(AR_NO_MEMORY, "out of memory for a test",
               ar_memory_guard(fail_inside, &outer, &why));
    cr_expect_str_eq(ended, "ba", "newest first");
    ar_arena_end(&outer);
    cr_expect_str_eq(ended, "bao");
}

/* A child of a guarded call; its stderr is a pipe. */
static enum ar_status fail_in_child(void *context, struct ar_error *err)
{
    (void)err;
    const int *end = context;
    if (fork() == 0) {
        dup2(*end, STDERR_FILENO);
        ar_memory_fail("a child");
    }
    return AR_OK;
}

Test(arena, a_child_does_not_return_to_the_guard_of_its_parent)
{
    int ends[2], status = 0;
    char line[80] = "";
    cr_assert_eq(pipe(ends), 0);
    TEST_OK(ar_memory_guard(fail_in_child, &ends[1], &why));
    cr_assert_gt(wait(&status), 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == ar_status_exit_code(AR_NO_MEMORY));
    cr_expect_gt(read(ends[0], line, sizeof line - 1), 0);
    cr_expect_str_eq(line, "out of memory for a child\n");
}

/* --- lists --------------------------------------------------------------------------------- */

Test(arena, a_list_grows_and_keeps_what_it_has)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint64_t *list = NULL;
    size_t moves = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t *larger = ar_arena_grow(&arena, list, i, 1, sizeof *list);
        moves += larger != list;
        list = larger;
        list[i] = i;
    }
    for (uint64_t i = 0; i < 1000; i++) {
        cr_expect_eq(list[i], i);
    }
    cr_expect_eq(moves, 8, "8, 16, ..., 1024");
    cr_expect_eq(ar_arena_grow(&arena, list, 1000, 24, sizeof *list), list, "there is room");
}
