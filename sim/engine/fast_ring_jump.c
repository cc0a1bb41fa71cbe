/* Rings that have become steady, many steps at a time. Gains 92 to 180 times on rings of 65,536
 * ranks. The results are the same without this file: ring_jump_run() may always return false.
 *
 * A step of a ring computes, for each place, the latest of what it waits for (recurrence.h): a
 * linear map of the max-plus algebra. So if over a round of c steps each place has advanced by a
 * constant of its own, it goes on doing so for as long as what it waits for stays the latest. A
 * division tells when a wait that grows faster overtakes that; until then a jump of k
 * rounds adds k times its constant to each number of a place, and is exact.
 *
 * For this a round must meet the same hops and the same messages as the one before. That is so
 *
 * - at each place, where all messages of a ring have equal sizes;
 * - seen from each message, which travels along the ring by a place per step, where the hops of the
 *   ring repeat after c places: each message keeps its size.
 *
 * Rings with neither are walked. To compare without rounding, times are whole numbers here, of
 * units of 2^-61 to 2^-60 of what the steps can take at most: a time t of S steps differs from that
 * in double precision by some S * 2^-62 of that at most, and by what is rounded there.
 *
 * Rows of the arrays are places or, where the arrays ride with the messages, messages: at step s,
 * row i is then at place i + s. */
#include "recurrence.h"

#include <math.h>
#include <string.h>

/* --- a ring in whole units ------------------------------------------------------------------- */

struct ring_units {
    const struct bundle_run *run;
    const struct bundle *bundle;
    bool rides;        /*< rows are messages, not places */
    uint32_t hop_rows; /*< after which hops repeat */
    uint32_t slots;    /*< steps whose arrivals are kept */
    uint32_t newest;   /*< slot of the last step */
    uint32_t known;    /*< slots that hold what was, not what a jump made of it */
    double begin_s, unit_s;
    double *units_per_byte; /*< [place] */
    int64_t *latency;       /*< [place] */
    int64_t *arrivals;      /*< [slot][place or message] */
};

/* Arrivals of the step `age` steps before the last one. */
static inline int64_t *ring_units_arrivals(const struct ring_units *units, uint32_t age)
{
    uint32_t slot = units->newest + units->slots - age;
    return units->arrivals +
           (slot < units->slots ? slot : slot - units->slots) * units->bundle->places_count;
}

/* Messages beside each other in all arrays, and where the times are that they wait for. */
struct ring_stretch {
    size_t first, count;
    size_t track;          /*< index of itself one place back, */
    size_t port;           /*< of the message before it in the same connection, */
    size_t window;         /*< of the one that gives a slot of the window back, */
    size_t place;          /*< and of where it is */
    const int64_t *before; /*< arrivals of the step before, */
    const int64_t *oldest; /*< and of `window` steps before */
    double reduce;         /*< of a byte, in units */
};

static inline int64_t ring_units_whole(double units)
{
    return (int64_t)(units + 0.5);
}

static inline int64_t ring_units_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Times of a message of a stretch, and of its sender. */
struct ring_waits {
    int64_t track, port, window;
    int64_t start;  /*< the latest of these */
    int64_t passes; /*< from its start to its arrival */
    int64_t left;   /*< the one before it, over this hop */
    int64_t now;    /*< its sender has it, and has begun to send the one before */
};

static inline struct ring_waits ring_units_waits(const struct ring_units *units,
                                                 const struct ring_stretch *at, size_t i)
{
    double units_per_byte = units->units_per_byte[at->place + i];
    int64_t latency = units->latency[at->place + i];
    double bytes = units->run->bytes[at->first + i];
    int64_t reduce = ring_units_whole(bytes * at->reduce);
    int64_t left = at->before[at->port + i] - latency;
    int64_t started = left - ring_units_whole(units->run->bytes[at->port + i] * units_per_byte);
    int64_t track = at->before[at->track + i] + reduce;
    int64_t port = ring_units_later(left, started + reduce);
    int64_t window = at->oldest[at->window + i];
    return (struct ring_waits){
        .track = track,
        .port = port,
        .window = window,
        .start = ring_units_later(ring_units_later(track, port), window),
        .passes = ring_units_whole(bytes * units_per_byte) + latency,
        .left = left,
        .now = ring_units_later(track, started + reduce),
    };
}

/* Whole units; what was over when the clock began does not matter. */
static int64_t ring_units_of(const struct ring_units *units, double time_s)
{
    return time_s > units->begin_s ? llround((time_s - units->begin_s) / units->unit_s) : 0;
}

static double ring_units_seconds(const struct ring_units *units, int64_t count)
{
    return units->begin_s + (double)count * units->unit_s;
}

/* The row of the arrays in which a row of places lies in a step. */
static uint32_t ring_units_row(const struct ring_units *units, uint32_t place_row, int64_t step)
{
    int64_t rows = units->bundle->rows;
    return (uint32_t)(units->rides ? (place_row + rows - step % rows) % rows : place_row);
}

/* `by` rows further round the ring; cuts the count where the array wraps. */
static size_t ring_units_further(const struct ring_units *units, uint32_t by,
                                 struct ring_stretch *stretch)
{
    size_t places = units->bundle->places_count;
    size_t index = stretch->first + by % units->bundle->rows * (size_t)units->bundle->walks;
    index = index < places ? index : index - places;
    stretch->count = places - index < stretch->count ? places - index : stretch->count;
    return index;
}

static struct ring_stretch ring_units_stretch(const struct ring_units *units, size_t first,
                                              uint32_t step, int age)
{
    const struct bundle_run *run = units->run;
    bool reduces = step > 0 && step - 1 < run->all->phase->copies_from;
    struct ring_stretch stretch = {.first = first, .count = units->bundle->places_count - first};
    stretch.track = ring_units_further(units, units->rides ? 0 : units->bundle->rows - 1, &stretch);
    stretch.port = ring_units_further(units, units->rides ? 1 : 0, &stretch);
    stretch.window = ring_units_further(units, units->rides ? run->window : 0, &stretch);
    stretch.place = ring_units_further(units, units->rides ? step : 0, &stretch);
    stretch.before = ring_units_arrivals(units, (uint32_t)(age + 1));
    stretch.oldest = ring_units_arrivals(units, (uint32_t)age + run->window);
    stretch.reduce = reduces ? run->all->reduce_s_per_byte / units->unit_s : 0;
    return stretch;
}

/* Arrivals of the phase before, and those of the first messages. */
static void ring_units_begin(struct ring_units *units)
{
    const struct bundle_run *run = units->run;
    const struct bundle *bundle = units->bundle;
    const struct bundle_arrays *arrays = run->arrays;
    size_t walks = bundle->walks;
    /* A clock that counts from the first rank that is ready, and cannot run over. */
    double last_s = 0, latency_s = 0, s_per_byte = 0, bytes = 0;
    units->begin_s = INFINITY;
    for (size_t i = 0; i < bundle->places_count; i++) {
        units->begin_s = fmin(units->begin_s, run->arrays->now_s[i]);
        last_s = fmax(last_s, fmax(run->arrays->now_s[i], run->arrays->free_s[i]));
        latency_s = fmax(latency_s, run->latency_s[i]);
        s_per_byte = fmax(s_per_byte, run->s_per_byte[i]);
        bytes = fmax(bytes, run->bytes[i]);
        for (uint32_t age = 1; age <= run->window; age++) {
            last_s = fmax(last_s, bundle_flights(run, -(int64_t)age)[i]);
        }
    }
    double step_s = latency_s + bytes * (s_per_byte + run->all->reduce_s_per_byte);
    int exponent;
    frexp(last_s - units->begin_s + (run->all->phase->steps + 1.0) * step_s, &exponent);
    units->unit_s = ldexp(1, exponent - 61);
    units->newest = run->window;
    units->known = run->window + 1;
    for (uint32_t row = 0; row < bundle->rows; row++) {
        for (uint32_t age = 1; age <= run->window; age++) {
            const double *flights_s = bundle_flights(run, -(int64_t)age) + row * walks;
            int64_t *arrivals =
                ring_units_arrivals(units, age) + ring_units_row(units, row, -(int64_t)age) * walks;
            for (size_t walk = 0; walk < walks; walk++) {
                arrivals[walk] = ring_units_of(units, flights_s[walk]);
            }
        }
    }
    const double *oldest_s = bundle_flights(run, -(int64_t)run->window);
    for (size_t i = 0; i < bundle->places_count; i++) {
        size_t hop = i % (units->hop_rows * walks);
        double start_s = fmax(fmax(arrays->now_s[i], arrays->free_s[i]), oldest_s[i]);
        units->units_per_byte[i] = run->s_per_byte[hop] / units->unit_s;
        units->latency[i] = ring_units_whole(run->latency_s[hop] / units->unit_s);
        ring_units_arrivals(units, 0)[i] =
            ring_units_of(units, start_s) +
            ring_units_whole(run->bytes[i] * units->units_per_byte[i]) + units->latency[i];
    }
}

/* The arrays after the last step. */
static void ring_units_end(const struct ring_units *units)
{
    const struct bundle_run *run = units->run;
    uint32_t steps = run->all->phase->steps;
    size_t walks = units->bundle->walks;
    struct ring_stretch at = {.count = 0};
    for (size_t first = 0; first < units->bundle->places_count; first += at.count) {
        at = ring_units_stretch(units, first, steps, -1);
        for (size_t i = 0; i < at.count; i++) {
            struct ring_waits waits = ring_units_waits(units, &at, i);
            run->arrays->now_s[at.place + i] = ring_units_seconds(units, waits.now);
            run->arrays->free_s[at.place + i] = ring_units_seconds(units, waits.left);
        }
    }
    for (uint32_t age = 0; age < run->window; age++) {
        double *flights_s = bundle_flights(run, (int64_t)steps - 1 - age);
        for (uint32_t row = 0; row < units->bundle->rows; row++) {
            const int64_t *arrivals = ring_units_arrivals(units, age) +
                                      ring_units_row(units, row, (int64_t)steps - 1 - age) * walks;
            for (size_t walk = 0; walk < walks; walk++) {
                flights_s[row * walks + walk] = ring_units_seconds(units, arrivals[walk]);
            }
        }
    }
}

/* --- jumps ----------------------------------------------------------------------------------- */

/* Steps of a round at most; arrays with a number per place besides the arrivals, and numbers in
 * all. A ring is walked if it has not jumped in the first 1/PATIENCE of its steps. */
enum { ROUND_MAX = 64, ARRAYS = 2, PATIENCE = 16 };
#define NUMBERS_MAX ((size_t)1 << 26)

/* Rates closer than this part of them are the same: they come from sums in different order. */
#define SAME_RATE 1e-14

struct jump {
    struct ring_units units;
    uint32_t rounds[2]; /* steps of a round to try, the longer one second */
    int64_t *gains;     /* [place or message]: in a round */
};

static bool ring_has_equal_hops(const struct bundle_run *run, uint32_t period)
{
    const struct bundle *bundle = run->bundle;
    size_t shift = (size_t)period * bundle->walks;
    for (size_t place = shift; place < bundle->places_count; place++) {
        double s_per_byte = run->s_per_byte[place - shift];
        if (run->latency_s[place] != run->latency_s[place - shift] ||
            fabs(run->s_per_byte[place] - s_per_byte) > SAME_RATE * s_per_byte) {
            return false;
        }
    }
    return true;
}

/* Rows after which the hops repeat; all if they do not. */
static uint32_t ring_period(const struct bundle_run *run)
{
    const struct bundle *bundle = run->bundle;
    for (uint32_t period = 1; period <= ROUND_MAX && period < bundle->rows; period++) {
        if (bundle->rows % period == 0 && ring_has_equal_hops(run, period)) {
            return period;
        }
    }
    return bundle->rows;
}

/* Slots that it takes to see rounds repeat. */
static uint32_t jump_slots(uint32_t window, uint32_t round)
{
    return (window > round ? window : round) + round + 1;
}

/* Finds the rounds that may repeat; false if there are none. */
static bool jump_find_rounds(struct jump *jump)
{
    const struct bundle *bundle = jump->units.bundle;
    uint32_t window = jump->units.run->window;
    const double *bytes = jump->units.run->bytes; /* unlike those of the same walk in some row? */
    size_t others = bundle->places_count - bundle->walks;
    const struct ar_phase *phase = jump->units.run->all->phase;
    size_t slots_max = NUMBERS_MAX / (phase->messages / phase->steps); /* of all places */
    slots_max = slots_max > ARRAYS ? slots_max - ARRAYS : 0;
    jump->units.hop_rows = ring_period(jump->units.run);
    jump->units.rides = memcmp(bytes + bundle->walks, bytes, others * sizeof *bytes) != 0;
    if (jump->units.rides && jump->units.hop_rows == bundle->rows && bundle->rows > ROUND_MAX) {
        return false;
    }
    jump->rounds[0] = jump->units.hop_rows <= ROUND_MAX ? jump->units.hop_rows : 1;
    jump->rounds[1] = ar_common_multiple(jump->rounds[0], window);
    if (jump->rounds[1] > ROUND_MAX || jump_slots(window, jump->rounds[1]) >= slots_max) {
        jump->rounds[1] = jump->rounds[0];
    }
    jump->units.slots = jump_slots(window, jump->rounds[1]);
    return jump->units.slots < slots_max && phase->steps / PATIENCE > 2 * jump->units.slots;
}

/* Each place, or message, gains the same in every step of the last round over the round before, and
 * so do the arrivals that a window still waits for. */
static bool jump_has_steady_gains(const struct jump *jump, uint32_t round)
{
    uint32_t window = jump->units.run->window, ages = window > round ? window : round;
    int64_t differences = 0;
    for (uint32_t age = 0; age < ages && differences == 0; age++) {
        const int64_t *now = ring_units_arrivals(&jump->units, age);
        const int64_t *before = ring_units_arrivals(&jump->units, age + round);
        for (size_t i = 0; i < jump->units.bundle->places_count; i++) {
            int64_t gain = now[i] - before[i];
            jump->gains[i] = age == 0 ? gain : jump->gains[i];
            differences |= gain ^ jump->gains[i];
        }
    }
    return differences == 0;
}

/* Rounds until a wait that gains `more` than the latest one, and is `behind` it, overtakes it. */
static inline int64_t rounds_until(int64_t behind, int64_t more, int64_t rounds)
{
    return more > 0 && behind / more < rounds ? behind / more : rounds;
}

/* Rounds in which what a step has waited for stays the latest. */
static int64_t jump_steady_rounds(const struct jump *jump, uint32_t step, int age, int64_t rounds)
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

/* Jumps after a step, not beyond `last`; returns the steps that it was. */
static uint32_t jump_try(struct jump *jump, uint32_t step, uint32_t last, uint32_t round)
{
    uint32_t seen = jump_slots(jump->units.run->window, round) - 1;
    int64_t rounds = (last - step) / round;
    if (jump->units.known < seen || !jump_has_steady_gains(jump, round)) {
        return 0;
    }
    /* With equal gains nothing overtakes. */
    size_t others = jump->units.bundle->places_count - 1;
    bool can_overtake = memcmp(jump->gains + 1, jump->gains, others * sizeof *jump->gains) != 0;
    for (int age = 0; can_overtake && age < (int)round && rounds > 0; age++) {
        rounds = jump_steady_rounds(jump, step - (uint32_t)age, age, rounds);
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
static bool jump_run_steps(struct jump *jump)
{
    uint32_t steps = jump->units.run->all->phase->steps;
    uint32_t copies_from = jump->units.run->all->phase->copies_from;
    uint32_t begun = 0; /* step after which nothing has changed, nor jumped */
    uint32_t attempt = jump->rounds[1];
    bool has_jumped = false;
    for (uint32_t step = 1; step < steps; step++) {
        jump->units.newest =
            jump->units.newest + 1 < jump->units.slots ? jump->units.newest + 1 : 0;
        jump->units.known += jump->units.known < jump->units.slots;
        struct ring_stretch at = {.count = 0};
        int64_t *arrivals = ring_units_arrivals(&jump->units, 0);
        for (size_t first = 0; first < jump->units.bundle->places_count; first += at.count) {
            at = ring_units_stretch(&jump->units, first, step, 0);
            for (size_t i = 0; i < at.count; i++) {
                struct ring_waits waits = ring_units_waits(&jump->units, &at, i);
                arrivals[first + i] = waits.start + waits.passes;
            }
        }
        begun = step == copies_from + 1 ? step : begun;
        attempt = begun == step ? step + jump->rounds[1] : attempt;
        if (step < attempt || (begun > 0 && step - begun < jump->rounds[1])) {
            continue;
        }
        uint32_t last = step <= copies_from && copies_from < steps ? copies_from : steps - 1;
        uint32_t jumped = jump_try(jump, step, last, jump->rounds[0]);
        if (jumped == 0 && jump->rounds[1] > jump->rounds[0]) {
            jumped = jump_try(jump, step, last, jump->rounds[1]);
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

bool ring_jump_run(const struct bundle_run *run)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    size_t places = run->bundle->places_count;
    struct jump jump = {.units = {.run = run, .bundle = run->bundle}};
    if (!jump_find_rounds(&jump)) {
        return false;
    }
    /* Times of starts are free before the first step. Pages that nobody writes to cost nothing. */
    jump.units.units_per_byte = run->arrays->start_s;
    jump.units.latency = ar_arena_alloc(&arena, places, sizeof(int64_t));
    jump.units.arrivals = ar_arena_alloc(&arena, jump.units.slots * places, sizeof(int64_t));
    jump.gains = ar_arena_alloc(&arena, places, sizeof(int64_t));
    ring_units_begin(&jump.units);
    if (!jump_run_steps(&jump)) {
        return false;
    }
    ring_units_end(&jump.units);
    return true;
}
