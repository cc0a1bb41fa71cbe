#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "ar_failures.h"

/* No interval leaves more useful time than Daly's, as far as its series goes. */
Test(failures, daly_s_interval_is_the_best_one)
{
    static const double checkpoints_s[] = {1, 60, 600};
    for (size_t i = 0; i < 3; i++) {
        double mtbf_s = 8 * 3600, checkpoint_s = checkpoints_s[i];
        double daly_s = ar_daly_interval_s(mtbf_s, checkpoint_s);
        double best = ar_useful_frac(mtbf_s, checkpoint_s, daly_s);
        for (double factor = 0.5; factor < 2; factor *= 1.05) {
            cr_expect_leq(ar_useful_frac(mtbf_s, checkpoint_s, factor * daly_s), best + 1e-6);
        }
        cr_expect_lt(ar_useful_frac(mtbf_s, checkpoint_s, 1.3 * daly_s), best);
        cr_expect_lt(ar_useful_frac(mtbf_s, checkpoint_s, daly_s / 1.3), best);
    }
}

/* Young's is that of short checkpoints, whose loss is half for writing and half for repeating. */
Test(failures, short_checkpoints_cost_the_root_of_twice_their_time_over_the_mtbf)
{
    double mtbf_s = 1e6, checkpoint_s = 1;
    cr_expect_float_eq(ar_young_interval_s(mtbf_s, checkpoint_s), sqrt(2e6), 1e-9);
    cr_expect_float_eq(ar_daly_interval_s(mtbf_s, checkpoint_s), sqrt(2e6), 1);
    cr_expect_float_eq(1 - ar_useful_frac(mtbf_s, checkpoint_s, sqrt(2e6)), sqrt(2e-6), 1e-5);
    cr_expect_eq(ar_daly_interval_s(10, 30), 10);
}

/* The same by playing: work is lost back to the last checkpoint. */
Test(failures, the_useful_share_is_that_of_a_run_that_is_played)
{
    double mtbf_s = 1000, checkpoint_s = 50, interval_s = 300, time_s = 0, work_s = 0;
    uint64_t state = 1;
    bool has_to_read = false;
    while (time_s < 4e7) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double fails_s = -mtbf_s * log(((double)(state >> 11) + 0.5) / 9007199254740992.0);
        double needed_s = (has_to_read ? checkpoint_s : 0) + interval_s + checkpoint_s;
        double pieces = floor((fails_s - needed_s) / (interval_s + checkpoint_s)) + 1;
        work_s += interval_s * fmax(pieces, 0);
        time_s += fails_s;
        has_to_read = true;
    }
    cr_expect_float_eq(work_s / time_s, ar_useful_frac(mtbf_s, checkpoint_s, interval_s), 0.01);
}
