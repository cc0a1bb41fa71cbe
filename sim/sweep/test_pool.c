/* Work shared by processes: answers, order, deaths, signals. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "ar_pool.h"
#include "test_outcome.h"

enum { ITEMS_COUNT = 1000, NONE = ITEMS_COUNT };

struct squares {
    uint32_t values[ITEMS_COUNT];
    uint32_t taken[ITEMS_COUNT]; /* how often */
    uint32_t order[ITEMS_COUNT]; /* in which they were taken */
    uint32_t count;
    uint32_t deadly; /* item whose worker dies */
    uint32_t last;   /* item that is not taken */
    uint32_t raises; /* item at whose answer a signal comes */
    char reason[AR_POOL_REASON_MAX];
};

static uint32_t compute(void *context, uint32_t item, char *bytes)
{
    const struct squares *squares = context;
    uint32_t value = item * item;
    if (item == squares->deadly) {
        raise(SIGKILL);
    }
    memcpy(bytes, &value, sizeof value);
    return sizeof value;
}

static enum ar_status take(void *context, const struct ar_pool_answer *answer, struct ar_error *err)
{
    struct squares *squares = context;
    if (answer->item == squares->last) {
        return ar_error_set(err, AR_IO, "a full disk");
    }
    if (answer->item == squares->raises) {
        raise(SIGTERM);
    }
    squares->taken[answer->item]++;
    squares->order[squares->count++] = answer->item;
    if (answer->is_lost) {
        memcpy(squares->reason, answer->bytes, answer->bytes_count);
    } else {
        memcpy(&squares->values[answer->item], answer->bytes, answer->bytes_count);
    }
    return AR_OK;
}

/* Items are short; from 500 on they are long, more so the later they come. */
static double cost_s(const void *context, uint32_t item)
{
    (void)context;
    return item < 500 ? 1e-6 : 1e-2 * item;
}

static struct squares squares;

static enum ar_status run(uint32_t jobs, size_t count, bool has_costs, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_pool_work work = {.context = &squares,
                                .items_name = "squares",
                                .bytes_max = sizeof(uint32_t),
                                .compute = compute,
                                .take = take,
                                .cost_s = has_costs ? cost_s : NULL};
    struct ar_pool_queue queue = ar_pool_queue_create(&arena, &work, NULL, count);
    return ar_pool_run(&work, jobs, &queue, err);
}

static void begin(void)
{
    squares = (struct squares){.deadly = NONE, .last = NONE, .raises = NONE};
}

TestSuite(pool, .init = begin);

Test(pool, every_item_is_answered_once_whatever_the_workers)
{
    cr_expect_eq(run(2, 0, true, AR_IGNORED), AR_OK, "no items are no work");
    static const uint32_t jobs[] = {1, 2, 7, 1000 / AR_TEST_STRIDE};
    for (size_t i = 0; i < 2 * sizeof jobs / sizeof jobs[0]; i++) {
        begin();
        TEST_OK(run(jobs[i / 2], ITEMS_COUNT, i % 2, &why));
        for (uint32_t j = 0; j < ITEMS_COUNT; j++) {
            cr_assert_eq(squares.taken[j], 1);
            cr_assert_eq(squares.values[j], j * j);
        }
    }
}

Test(pool, long_items_come_first_the_longest_before_the_others)
{
    TEST_OK(run(1, ITEMS_COUNT, true, &why));
    for (uint32_t i = 0; i < 500; i++) {
        cr_assert_eq(squares.order[i], ITEMS_COUNT - 1 - i);
        cr_assert_eq(squares.order[500 + i], i, "short ones in their own order");
    }
}

Test(pool, fewer_processes_than_asked_for_will_do)
{
    struct rlimit limit = {16, 16}; /* descriptors */
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    TEST_OK(run(64, ITEMS_COUNT, false, &why));
    cr_expect_eq(squares.count, ITEMS_COUNT);
}

Test(pool, a_worker_that_dies_costs_its_item)
{
    squares.deadly = 77;
    TEST_OK(run(2, ITEMS_COUNT, true, &why));
    cr_expect_eq(squares.count, ITEMS_COUNT);
    cr_expect_eq(squares.taken[77], 1);
    cr_expect_str_eq(squares.reason, "the worker process ended with signal 9");
    cr_expect_eq(squares.values[78], 78 * 78, "what it had not begun is computed by another");
}

Test(pool, an_answer_that_is_not_taken_ends_it)
{
    struct ar_error err;
    squares.last = 900;
    cr_assert_eq(run(2, ITEMS_COUNT, true, &err), AR_IO);
    cr_expect_str_eq(err.text, "a full disk");
    cr_expect_lt(squares.count, ITEMS_COUNT);
}

Test(pool, a_signal_ends_it)
{
    struct ar_error err;
    squares.raises = 900;
    cr_assert_eq(run(2, ITEMS_COUNT, true, &err), AR_INTERRUPTED);
    char text[80];
    snprintf(text, sizeof text, "interrupted after %u of 1000 squares", squares.count);
    cr_expect_str_eq(err.text, text);
}
