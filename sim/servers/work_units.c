#include "ar_work_units.h"

#include <math.h>

/* The unit that a worker is at. */
struct copy {
    double begin_s, end_s;
    uint32_t unit;
    uint32_t other; /* worker that is at it, too; the worker itself if nobody is */
    bool is_last;   /* it asks for nothing more */
};

static double find_unit_time(const struct ar_work_units *pass, uint32_t unit, uint32_t copy,
                             uint32_t worker)
{
    double factor = pass->factors != NULL ? pass->factors[(size_t)unit * AR_UNIT_COPIES + copy] : 1;
    return pass->deal_s + pass->unit_s * factor * (pass->speeds != NULL ? pass->speeds[worker] : 1);
}

/* The worker that asks next; `workers` if nobody does. */
static uint32_t next_to_ask(const struct ar_work_units *pass, const struct copy *copies)
{
    uint32_t next = pass->workers;
    for (uint32_t i = 0; i < pass->workers; i++) {
        bool is_next = next == pass->workers || copies[i].end_s < copies[next].end_s;
        next = !copies[i].is_last && is_next ? i : next;
    }
    return next;
}

/* A worker without a unit repeats one that another is at; both are free when one has done it. */
static void back_up(struct ar_work_units *pass, struct copy *copies, uint32_t asks)
{
    /* This worker has been at its unit for longest, alone and for some time to come. */
    uint32_t other = asks;
    struct copy *own = &copies[asks];
    for (uint32_t i = 0; i < pass->workers; i++) {
        bool is_at_it = copies[i].end_s > own->end_s && copies[i].other == i;
        if (is_at_it && (other == asks || copies[i].begin_s < copies[other].begin_s)) {
            other = i;
        }
    }
    if (!pass->has_backups || other == asks) {
        own->is_last = true;
        return;
    }
    double end_s = own->end_s + find_unit_time(pass, copies[other].unit, 1, asks);
    pass->backups_count++;
    pass->won_count += end_s < copies[other].end_s;
    copies[other].end_s = fmin(end_s, copies[other].end_s);
    copies[other].other = asks;
    *own = (struct copy){own->end_s, copies[other].end_s, copies[other].unit, other, false};
}

void ar_work_units_deal(struct ar_work_units *pass)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct copy *copies = ar_arena_alloc(&arena, pass->workers, sizeof *copies);
    pass->backups_count = pass->won_count = 0;
    for (uint32_t unit = 0; unit < pass->units; unit++) {
        uint32_t worker = next_to_ask(pass, copies);
        double begin_s = copies[worker].end_s;
        copies[worker] = (struct copy){begin_s, begin_s + find_unit_time(pass, unit, 0, worker),
                                       unit, worker, false};
    }
    for (uint32_t asks; (asks = next_to_ask(pass, copies)) < pass->workers;) {
        back_up(pass, copies, asks);
    }
    pass->all_s = 0;
    for (uint32_t i = 0; i < pass->workers; i++) {
        pass->end_s[i] = copies[i].end_s;
        pass->all_s = fmax(pass->all_s, copies[i].end_s);
    }
}
