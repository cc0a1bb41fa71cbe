#include "ar_sendings.h"

#include <stdbool.h>
#include <stddef.h>

/* The first one that is not over, nor all before it. */
static uint32_t find_first(const struct ar_sendings *sendings, double now_s)
{
    uint32_t first = 0, end = sendings->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (sendings->list[middle].last_s <= now_s) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

double ar_sendings_advance(const struct ar_sendings *sendings, const double *speeds, uint32_t from,
                           double now_s, double time_s)
{
    bool is_before_all = sendings->count > 0 && time_s <= sendings->list[0].begin_s - now_s;
    uint32_t first =
        is_before_all || speeds == NULL ? sendings->count : find_first(sendings, now_s);
    for (uint32_t i = first; i < sendings->count; i++) {
        const struct ar_sending *other = &sendings->list[i];
        double begin_s = other->begin_s > now_s ? other->begin_s : now_s;
        double speed_frac = speeds[other->work];
        if (time_s <= begin_s - now_s) {
            break;
        }
        if (!ar_sending_shares(from, other->from) || other->end_s <= now_s || speed_frac == 0 ||
            speed_frac == 1) {
            continue;
        }
        time_s -= begin_s - now_s;
        if (time_s / speed_frac <= other->end_s - begin_s) {
            return begin_s + time_s / speed_frac;
        }
        time_s -= (other->end_s - begin_s) * speed_frac;
        now_s = other->end_s;
    }
    return now_s + time_s;
}
