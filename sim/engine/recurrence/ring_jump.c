#include "ring_jump.h"

#include <math.h>

#include "ar_numbers.h"
#include "ring_units.h"

/* Arrays with a number per place besides the arrivals. */
enum { ARRAYS = 2 };

/* Steps of a round at most, and numbers in all arrays. */
enum { ROUND_MAX = 64 };
#define NUMBERS_MAX ((size_t)1 << 26)

/* A ring is walked if it has not jumped in this part of its steps. */
enum { PATIENCE = 16 };

/* Rates closer than this part of them are the same: they come from sums in different order. */
#define SAME_RATE 1e-14

struct jump {
    struct ring_units units;
    uint32_t rounds[2]; /* steps of a round to try, the longer one second */
    int64_t *gains;     /* [place or message]: in a round */
};

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool has_equal_hops(const struct bundle *bundle, uint32_t period)
{
    size_t shift = (size_t)period * bundle->walks;
    for (size_t place = shift; place < bundle->places_count; place++) {
        double s_per_byte = bundle->s_per_byte[place - shift];
        if (bundle->latency_s[place] != bundle->latency_s[place - shift] ||
            fabs(bundle->s_per_byte[place] - s_per_byte) > SAME_RATE * s_per_byte) {
            return false;
        }
    }
    return true;
}

/* Rows after which the hops repeat; all if they do not. */
static uint32_t period_of(const struct bundle *bundle)
{
    for (uint32_t period = 1; period <= ROUND_MAX && period < bundle->rows; period++) {
        if (bundle->rows % period == 0 && has_equal_hops(bundle, period)) {
            return period;
        }
    }
    return bundle->rows;
}

/* Slots that it takes to see rounds repeat. */
static uint32_t slots_for(uint32_t window, uint32_t round)
{
    return larger(window, round) + round + 1;
}

size_t ring_jump_capacity(const struct bundle *bundle, uint32_t window)
{
    if (!bundle->is_ring || !bundle->is_regular || bundle->rows < 2) {
        return 0;
    }
    size_t numbers = (slots_for(window, ROUND_MAX) + (size_t)ARRAYS) * bundle->places_count;
    return numbers < NUMBERS_MAX ? numbers : NUMBERS_MAX;
}

static bool has_equal_messages(const struct bundle_run *run)
{
    size_t walks = run->bundle->walks;
    for (size_t place = walks; place < run->bundle->places_count; place++) {
        if (run->bytes[place] != run->bytes[place - walks]) {
            return false;
        }
    }
    return true;
}

/* What repeats; false if nothing does. */
static bool find_rounds(struct jump *jump)
{
    const struct bundle *bundle = jump->units.bundle;
    uint32_t window = jump->units.run->window;
    size_t slots_max = NUMBERS_MAX / bundle->places_count;
    slots_max = slots_max > ARRAYS ? slots_max - ARRAYS : 0;
    jump->units.hop_rows = period_of(bundle);
    jump->units.rides = !has_equal_messages(jump->units.run);
    if (jump->units.rides && jump->units.hop_rows == bundle->rows && bundle->rows > ROUND_MAX) {
        return false;
    }
    jump->rounds[0] = jump->units.hop_rows <= ROUND_MAX ? jump->units.hop_rows : 1;
    jump->rounds[1] = ar_common_multiple(jump->rounds[0], window);
    if (jump->rounds[1] > ROUND_MAX || slots_for(window, jump->rounds[1]) >= slots_max) {
        jump->rounds[1] = jump->rounds[0];
    }
    jump->units.slots = slots_for(window, jump->rounds[1]);
    return jump->units.slots < slots_max &&
           jump->units.run->phase->steps / PATIENCE > 2 * jump->units.slots;
}

/* Each place, or message, gains the same in every step of the last round over the round before, and
 * so do the arrivals that a window still waits for. */
static bool are_gains_steady(const struct jump *jump, uint32_t round)
{
    uint32_t ages = larger(jump->units.run->window, round);
    for (uint32_t age = 0; age < ages; age++) {
        const int64_t *now = ring_units_arrivals(&jump->units, age);
        const int64_t *before = ring_units_arrivals(&jump->units, age + round);
        int64_t differences = 0;
        for (size_t i = 0; i < jump->units.bundle->places_count; i++) {
            int64_t gain = now[i] - before[i];
            jump->gains[i] = age == 0 ? gain : jump->gains[i];
            differences |= gain ^ jump->gains[i];
        }
        if (differences != 0) {
            return false;
        }
    }
    return true;
}

/* Rounds until a wait that gains `more` than the latest one, and is `behind` it, overtakes it. */
static inline int64_t rounds_until(int64_t behind, int64_t more, int64_t rounds)
{
    return more > 0 && behind / more < rounds ? behind / more : rounds;
}

/* Rounds in which what a step has waited for stays the latest. */
static int64_t steady_rounds(const struct jump *jump, uint32_t step, int age, int64_t rounds)
{
    const int64_t *gains = jump->gains;
    struct ring_stretch at = {.count = 0};
    for (size_t first = 0; first < jump->units.bundle->places_count; first += at.count) {
        at = ring_units_stretch(&jump->units, first, step, age);
        for (size_t i = 0; i < at.count; i++) {
            struct ring_waits waits = ring_units_waits(&jump->units, &at, i);
            int64_t start = waits.start;
            int64_t gain = gains[first + i];
            int64_t track = gains[at.track + i] - gain;
            int64_t port = gains[at.port + i] - gain;
            int64_t window = gains[at.window + i] - gain;
            bool goes_on = (start == waits.track && track == 0) ||
                           (start == waits.port && port == 0) ||
                           (start == waits.window && window == 0);
            rounds = goes_on ? rounds_until(start - waits.track, track, rounds) : 0;
            rounds = rounds_until(start - waits.port, port, rounds);
            rounds = rounds_until(start - waits.window, window, rounds);
        }
    }
    return rounds;
}

static bool are_gains_equal(const struct jump *jump)
{
    int64_t differences = 0;
    for (size_t i = 1; i < jump->units.bundle->places_count; i++) {
        differences |= jump->gains[i] ^ jump->gains[0];
    }
    return differences == 0;
}

/* Jumps after a step, not beyond `last`; returns the steps that it was. */
static uint32_t try_jump(struct jump *jump, uint32_t step, uint32_t last, uint32_t round)
{
    uint32_t seen = slots_for(jump->units.run->window, round) - 1;
    int64_t rounds = (last - step) / round;
    if (jump->units.known < seen || !are_gains_steady(jump, round)) {
        return 0;
    }
    /* With equal gains nothing overtakes. */
    bool can_overtake = !are_gains_equal(jump);
    for (int age = 0; can_overtake && age < (int)round && rounds > 0; age++) {
        rounds = steady_rounds(jump, step - (uint32_t)age, age, rounds);
    }
    for (uint32_t age = 0; age < seen && rounds > 0; age++) {
        int64_t *arrivals = ring_units_arrivals(&jump->units, age);
        for (size_t i = 0; i < jump->units.bundle->places_count; i++) {
            arrivals[i] += rounds * jump->gains[i];
        }
    }
    jump->units.known = rounds > 0 ? seen : jump->units.known;
    return (uint32_t)rounds * round;
}

/* Walks and jumps to the last step; false if there was no jump early. */
static bool run_steps(struct jump *jump)
{
    uint32_t steps = jump->units.run->phase->steps;
    uint32_t copies_from = jump->units.run->phase->copies_from;
    uint32_t begun = 0; /* step after which nothing has changed, nor jumped */
    uint32_t attempt = jump->rounds[1];
    bool has_jumped = false;
    for (uint32_t step = 1; step < steps; step++) {
        ring_units_step(&jump->units, step);
        begun = step == copies_from + 1 ? step : begun;
        attempt = begun == step ? step + jump->rounds[1] : attempt;
        if (step < attempt || (begun > 0 && step - begun < jump->rounds[1])) {
            continue;
        }
        uint32_t last = step <= copies_from && copies_from < steps ? copies_from : steps - 1;
        uint32_t jumped = try_jump(jump, step, last, jump->rounds[0]);
        if (jumped == 0 && jump->rounds[1] > jump->rounds[0]) {
            jumped = try_jump(jump, step, last, jump->rounds[1]);
        }
        step += jumped;
        has_jumped = has_jumped || jumped > 0;
        begun = jumped > 0 ? step : begun;
        attempt = step + 4 + (step - begun) / 4;
        if (!has_jumped && step > steps / PATIENCE) {
            return false;
        }
    }
    return true;
}

bool ring_jump_run(const struct bundle_run *run, int64_t *room)
{
    size_t places = run->bundle->places_count;
    struct jump jump = {
        .units = {.run = run,
                  .bundle = run->bundle,
                  .units_per_byte = run->lanes->start_s, /* free before the first step */
                  .latency = room + places,
                  .arrivals = room + 2 * places},
        .gains = room,
    };
    if (!find_rounds(&jump)) {
        return false;
    }
    ring_units_begin(&jump.units);
    if (!run_steps(&jump)) {
        return false;
    }
    ring_units_end(&jump.units);
    return true;
}
