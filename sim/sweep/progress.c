#include "progress.h"

#include <stdio.h>

#include "ar_clock.h"

const char *progress_time(double time_s, char text[PROGRESS_TEXT])
{
    if (time_s < 100) {
        snprintf(text, PROGRESS_TEXT, "%.0f s", time_s);
    } else if (time_s < 6000) {
        snprintf(text, PROGRESS_TEXT, "%.0f min", time_s / 60);
    } else {
        snprintf(text, PROGRESS_TEXT, "%.3g h", time_s / 3600);
    }
    return text;
}

void progress_begin(bool is_shown, struct progress *progress)
{
    *progress = (struct progress){.is_shown = is_shown, .began_s = ar_clock_s()};
}

void progress_draw(struct progress *progress, const struct dealer *dealer)
{
    static const double every_s = 0.2;
    char left[PROGRESS_TEXT];
    double now_s = ar_clock_s();
    if (!progress->is_shown || now_s - progress->drawn_s < every_s) {
        return;
    }
    double spent_s = now_s - progress->began_s;
    double rate = spent_s > 0 ? (double)dealer->finished / spent_s : 0;
    double left_s = 0;
    if (dealer->finished_cost_s > 0) {
        left_s = spent_s * (dealer->cost_s - dealer->finished_cost_s) / dealer->finished_cost_s;
    }
    progress->drawn_s = now_s;
    fprintf(stderr, "\r%zu of %zu points, %.3g per second, %s left    ", dealer->finished,
            dealer->count, rate, dealer->finished > 0 ? progress_time(left_s, left) : "?");
}

void progress_end(const struct progress *progress)
{
    if (progress->is_shown && progress->drawn_s > 0) {
        fprintf(stderr, "\r%70s\r", "");
    }
}
