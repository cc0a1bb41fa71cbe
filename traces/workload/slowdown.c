#include "ar_slowdown.h"

#include <math.h>

double ar_slowdown_advance(const struct ar_slowdown *slowdown, double now_s, double work_s,
                           uint32_t *next)
{
    for (; *next < slowdown->intervals_count; (*next)++) {
        const struct ar_interval *busy = &slowdown->intervals[*next];
        double free_s = fmax(0, busy->begin_s - now_s);
        if (work_s <= free_s) {
            break;
        }
        if (busy->end_s <= now_s) {
            continue;
        }
        double begin_s = fmax(now_s, busy->begin_s);
        double slow_s = (work_s - free_s) / slowdown->speed_frac;
        if (begin_s + slow_s <= busy->end_s) {
            return begin_s + slow_s;
        }
        work_s -= free_s + (busy->end_s - begin_s) * slowdown->speed_frac;
        now_s = busy->end_s;
    }
    return now_s + work_s;
}
