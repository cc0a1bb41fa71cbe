#include "ring_units.h"

#include <math.h>

/* A clock that counts from the first rank that is ready, and cannot run over. */
static void find_unit(struct ring_units *units)
{
    const struct bundle_run *run = units->run;
    const struct bundle *bundle = units->bundle;
    double last_s = 0, latency_s = 0, s_per_byte = 0, bytes = 0;
    units->begin_s = INFINITY;
    for (size_t i = 0; i < bundle->places_count; i++) {
        units->begin_s = fmin(units->begin_s, run->lanes->now_s[i]);
        last_s = fmax(last_s, fmax(run->lanes->now_s[i], run->lanes->free_s[i]));
        latency_s = fmax(latency_s, bundle->latency_s[i]);
        s_per_byte = fmax(s_per_byte, bundle->s_per_byte[i]);
        bytes = fmax(bytes, run->bytes[i]);
        for (uint32_t age = 1; age <= run->window; age++) {
            last_s = fmax(last_s, bundle_flights(run, -(int64_t)age)[i]);
        }
    }
    double step_s = latency_s + bytes * (s_per_byte + run->recurrence->reduce_s_per_byte);
    int exponent;
    frexp(last_s - units->begin_s + (run->phase->steps + 1.0) * step_s, &exponent);
    units->unit_s = ldexp(1, exponent - 61);
}

/* Whole units; what was over when the clock began does not matter. */
static int64_t units_of(const struct ring_units *units, double time_s)
{
    return time_s > units->begin_s ? llround((time_s - units->begin_s) / units->unit_s) : 0;
}

static double seconds_of(const struct ring_units *units, int64_t count)
{
    return units->begin_s + (double)count * units->unit_s;
}

/* Row of the arrays that stands for a row of places in a step. */
static uint32_t row_of(const struct ring_units *units, uint32_t place_row, int64_t step)
{
    int64_t rows = units->bundle->rows;
    return (uint32_t)(units->rides ? (place_row + rows - step % rows) % rows : place_row);
}

/* `by` rows further round the ring; lowers the count to what lies beside each other there. */
static size_t further(const struct ring_units *units, uint32_t by, struct ring_stretch *stretch)
{
    size_t places = units->bundle->places_count;
    size_t index = stretch->first + by % units->bundle->rows * (size_t)units->bundle->walks;
    index = index < places ? index : index - places;
    stretch->count = places - index < stretch->count ? places - index : stretch->count;
    return index;
}

struct ring_stretch ring_units_stretch(const struct ring_units *units, size_t first, uint32_t step,
                                       int age)
{
    const struct bundle_run *run = units->run;
    bool reduces = step > 0 && step - 1 < run->phase->copies_from;
    struct ring_stretch stretch = {.first = first, .count = units->bundle->places_count - first};
    stretch.track = further(units, units->rides ? 0 : units->bundle->rows - 1, &stretch);
    stretch.port = further(units, units->rides ? 1 : 0, &stretch);
    stretch.window = further(units, units->rides ? run->window : 0, &stretch);
    stretch.place = further(units, units->rides ? step : 0, &stretch);
    stretch.before = ring_units_arrivals(units, (uint32_t)(age + 1));
    stretch.oldest = ring_units_arrivals(units, (uint32_t)age + run->window);
    stretch.reduce = reduces ? run->recurrence->reduce_s_per_byte / units->unit_s : 0;
    return stretch;
}

/* Arrivals of the phase before, and those of the first messages. */
void ring_units_begin(struct ring_units *units)
{
    const struct bundle_run *run = units->run;
    const struct bundle *bundle = units->bundle;
    const struct lanes *lanes = run->lanes;
    size_t walks = bundle->walks;
    find_unit(units);
    units->newest = run->window;
    units->known = run->window + 1;
    for (uint32_t row = 0; row < bundle->rows; row++) {
        for (uint32_t age = 1; age <= run->window; age++) {
            const double *flights_s = bundle_flights(run, -(int64_t)age) + row * walks;
            int64_t *arrivals =
                ring_units_arrivals(units, age) + row_of(units, row, -(int64_t)age) * walks;
            for (size_t walk = 0; walk < walks; walk++) {
                arrivals[walk] = units_of(units, flights_s[walk]);
            }
        }
    }
    const double *oldest_s = bundle_flights(run, -(int64_t)run->window);
    for (size_t i = 0; i < bundle->places_count; i++) {
        size_t hop = i % (units->hop_rows * walks);
        double start_s = fmax(fmax(lanes->now_s[i], lanes->free_s[i]), oldest_s[i]);
        units->units_per_byte[i] = bundle->s_per_byte[hop] / units->unit_s;
        units->latency[i] = ring_units_whole(bundle->latency_s[hop] / units->unit_s);
        ring_units_arrivals(units, 0)[i] =
            units_of(units, start_s) + ring_units_whole(run->bytes[i] * units->units_per_byte[i]) +
            units->latency[i];
    }
}

void ring_units_step(struct ring_units *units, uint32_t step)
{
    units->newest = units->newest + 1 < units->slots ? units->newest + 1 : 0;
    units->known += units->known < units->slots;
    struct ring_stretch at = {.count = 0};
    int64_t *arrivals = ring_units_arrivals(units, 0);
    for (size_t first = 0; first < units->bundle->places_count; first += at.count) {
        at = ring_units_stretch(units, first, step, 0);
        for (size_t i = 0; i < at.count; i++) {
            struct ring_waits waits = ring_units_waits(units, &at, i);
            arrivals[first + i] = waits.start + waits.passes;
        }
    }
}

/* The lanes after the last step. */
void ring_units_end(const struct ring_units *units)
{
    const struct bundle_run *run = units->run;
    uint32_t steps = run->phase->steps;
    size_t walks = units->bundle->walks;
    struct ring_stretch at = {.count = 0};
    for (size_t first = 0; first < units->bundle->places_count; first += at.count) {
        at = ring_units_stretch(units, first, steps, -1);
        for (size_t i = 0; i < at.count; i++) {
            struct ring_waits waits = ring_units_waits(units, &at, i);
            run->lanes->now_s[at.place + i] = seconds_of(units, waits.now);
            run->lanes->free_s[at.place + i] = seconds_of(units, waits.left);
        }
    }
    for (uint32_t age = 0; age < run->window; age++) {
        double *flights_s = bundle_flights(run, (int64_t)steps - 1 - age);
        for (uint32_t row = 0; row < units->bundle->rows; row++) {
            const int64_t *arrivals = ring_units_arrivals(units, age) +
                                      row_of(units, row, (int64_t)steps - 1 - age) * walks;
            for (size_t walk = 0; walk < walks; walk++) {
                flights_s[row * walks + walk] = seconds_of(units, arrivals[walk]);
            }
        }
    }
}
