#include <math.h>

#include "ar_actors.h"
#include "ar_draw.h"
#include "ar_work_units.h"
#include "test_outcome.h"
#include "test_support.h"

static struct ar_arena arena; /* of a test, which is a process */

enum { UNITS = 400, WORKERS_MAX = 64 };

static double ends_s[WORKERS_MAX];
static double factors[UNITS * AR_UNIT_COPIES];

static double deal(struct ar_work_units *pass)
{
    pass->end_s = ends_s;
    ar_work_units_deal(pass);
    return pass->all_s;
}

Test(work_units, alike_take_as_many_rounds_as_there_are_units_for_each_worker)
{
    for (uint32_t workers = 1; workers <= WORKERS_MAX; workers++) {
        struct ar_work_units pass = {
            .workers = workers, .units = UNITS, .unit_s = 1e-3, .deal_s = 1e-4};
        SUPPORT_NEAR(deal(&pass), ((UNITS + workers - 1) / workers) * 1.1e-3, 1e-9);
    }
}

Test(work_units, take_at_least_their_sum_over_the_workers_and_at_most_one_unit_more)
{
    struct ar_draw *draw = ar_draw_create(3, NULL, &arena);
    ar_jitter_factors(draw, 0.3, UNITS * AR_UNIT_COPIES, factors);
    double sum_s = 0, largest_s = 0;
    for (uint32_t i = 0; i < UNITS; i++) {
        sum_s += 1e-3 * factors[i * AR_UNIT_COPIES];
        largest_s = fmax(largest_s, 1e-3 * factors[i * AR_UNIT_COPIES]);
    }
    for (uint32_t workers = 1; workers <= WORKERS_MAX; workers += 7) {
        struct ar_work_units pass = {
            .workers = workers, .units = UNITS, .unit_s = 1e-3, .factors = factors};
        double all_s = deal(&pass);
        cr_assert(all_s >= sum_s / workers * (1 - 1e-9));
        cr_assert(all_s <= sum_s / workers + largest_s);
        pass.has_backups = true;
        cr_assert(deal(&pass) <= all_s);
    }
}

Test(work_units, with_heavy_tails_are_done_sooner_if_the_slowest_are_done_twice)
{
    /* A unit in a hundred takes a hundred times as long, unless it is done again. */
    for (uint32_t i = 0; i < UNITS; i++) {
        factors[i * AR_UNIT_COPIES] = i % 100 == 99 ? 100 : 1;
        factors[i * AR_UNIT_COPIES + 1] = 1;
    }
    struct ar_work_units pass = {.workers = 32, .units = UNITS, .unit_s = 1e-3, .factors = factors};
    double without_s = deal(&pass);
    cr_assert(pass.backups_count == 0);
    pass.has_backups = true;
    cr_assert(deal(&pass) < without_s / 5);
    cr_assert(pass.won_count == 4); /* the slow ones, and none besides */
}

Test(work_units, of_a_slow_worker_are_done_by_others)
{
    double speeds[4] = {1, 1, 1, 50};
    struct ar_work_units pass = {
        .workers = 4, .units = 31, .unit_s = 1, .speeds = speeds, .has_backups = true};
    cr_assert_float_eq(deal(&pass), 11, 1e-12); /* 30 by three workers, then its one again */
}

/* The same with messages: workers ask a coordinator, which answers each with a unit. */
struct dealing {
    const struct ar_work_units *pass;
    uint32_t dealt;
    double *end_s;
};

static void act(const struct ar_actor_calls *calls, uint32_t actor, void *data)
{
    struct dealing *dealing = data;
    const struct ar_work_units *pass = dealing->pass;
    static uint32_t numbers[WORKERS_MAX], units[WORKERS_MAX];
    if (actor == pass->workers) { /* the coordinator */
        for (uint32_t i = 0; i < pass->units + pass->workers; i++) {
            uint32_t worker = *(uint32_t *)calls->receive(0);
            units[worker] = dealing->dealt++;
            calls->send(worker, 0, 0, &units[worker]);
        }
        return;
    }
    numbers[actor] = actor;
    for (uint32_t unit = 0; unit < pass->units;) {
        calls->send(pass->workers, 0, 0, &numbers[actor]);
        unit = *(uint32_t *)calls->receive(0);
        if (unit < pass->units) {
            calls->sleep_for(pass->unit_s * pass->factors[unit * AR_UNIT_COPIES]);
            dealing->end_s[actor] = calls->now_s();
        }
    }
}

Test(work_units, are_dealt_as_a_coordinator_and_workers_of_simgrid_do)
{
    enum { WORKERS = 12 };
    double simulated_s[WORKERS];
    uint32_t gpus[WORKERS + 1];
    struct ar_path path;
    const struct ar_cluster *cluster =
        support_cluster("v100-8gpu-1edr", "gpus_per_node=1 pcie.switches=0 nvlink.pairs=none");
    struct ar_draw *draw = ar_draw_create(3, NULL, &arena);
    ar_jitter_factors(draw, 0.3, UNITS * AR_UNIT_COPIES, factors);
    for (uint32_t i = 0; i <= WORKERS; i++) {
        gpus[i] = i;
    }
    ar_cluster_path(cluster, 0, WORKERS, &path);
    struct ar_work_units pass = {.workers = WORKERS,
                                 .units = UNITS,
                                 .unit_s = 1e-3,
                                 .deal_s = 2 * path.latency_s,
                                 .factors = factors};
    struct dealing dealing = {.pass = &pass, .end_s = simulated_s};
    struct ar_actors actors = {.cluster = cluster,
                               .count = WORKERS + 1,
                               .gpus = gpus,
                               .tags_count = 1,
                               .run = act,
                               .data = &dealing,
                               .results = simulated_s,
                               .results_size = sizeof simulated_s};
    deal(&pass);
    TEST_OK(ar_actors_run(&actors, &why));
    for (uint32_t i = 0; i < WORKERS; i++) {
        SUPPORT_NEAR(pass.end_s[i], simulated_s[i], 1e-6, "worker %u", i);
    }
}
