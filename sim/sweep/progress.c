#include "ar_progress.h"

#include <stdio.h>

#include "ar_clock.h"
#include "ar_units.h"

/* Costs are good to a factor of two; what was seen is believed when this much of them is done. */
static const double believed_frac = 0.02;

void ar_progress_draw(struct ar_progress *progress)
{
    static const double every_s = 0.2;
    char left[AR_UNIT_TEXT];
    double now_s = ar_clock_s();
    if (!progress->is_shown || now_s - progress->drawn_s < every_s) {
        return;
    }
    double left_s = progress->cost_s - progress->finished_cost_s;
    left_s *= progress->finished_cost_s > believed_frac * progress->cost_s
                  ? (progress->finished_s - progress->began_s) / progress->finished_cost_s
                  : 1.0 / progress->processes;
    left_s -= now_s - progress->finished_s;
    left_s = left_s > 0 ? left_s : 0;
    progress->drawn_s = now_s;
    fprintf(stderr, "\r%zu of %zu %s, about %s left    ", progress->finished, progress->count,
            progress->items_name, ar_format_duration(left_s, left));
}

void ar_progress_begin(struct ar_progress *progress)
{
    progress->began_s = progress->finished_s = ar_clock_s();
    ar_progress_draw(progress);
}

void ar_progress_add(struct ar_progress *progress, double cost_s)
{
    progress->finished++;
    progress->finished_cost_s += cost_s;
    progress->finished_s = ar_clock_s();
    ar_progress_draw(progress);
}

void ar_progress_end(const struct ar_progress *progress)
{
    if (progress->is_shown && progress->drawn_s > 0) {
        fprintf(stderr, "\r%70s\r", "");
    }
}
