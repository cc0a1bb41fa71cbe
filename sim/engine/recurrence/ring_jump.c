#include "ring_jump.h"

#include <math.h>
#include <string.h>

/* Steps of a round at most, and numbers in all arrays. */
enum { ROUND_MAX = 64 };
#define NUMBERS_MAX ((size_t)1 << 27)

/* A ring is walked if it has not jumped in this part of its steps. */
enum { PATIENCE = 16 };

/* Rates closer than this part of them are the same: they come from sums in different order. */
#define SAME_RATE 1e-14

/* Rows of the arrays are places, or messages where `rides`: at step s, row i is at place i + s. */
struct jump {
    const struct bundle_run *run;
    const struct bundle *bundle;
    bool rides;
    uint32_t hop_rows;  /* after which hops repeat */
    uint32_t rounds[2]; /* steps of a round to try, the longer one second */
    uint32_t slots;
    uint32_t known;  /* slots that hold what was, not what a jump made of it */
    uint32_t newest; /* slot of the last step */
    double begin_s;
    double unit_s;
    int64_t *arrivals; /* [slot][place or message] */
    int64_t *gains;    /* [place or message]: in a round */
};

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t common_multiple(uint32_t a, uint32_t b)
{
    uint32_t multiple = a;
    while (multiple % b != 0) {
        multiple += a;
    }
    return multiple;
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
    size_t numbers = (slots_for(window, ROUND_MAX) + (size_t)1) * bundle->places_count;
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
    const struct bundle *bundle = jump->bundle;
    uint32_t window = jump->run->window;
    size_t slots_max = NUMBERS_MAX / bundle->places_count;
    jump->hop_rows = period_of(bundle);
    jump->rides = !has_equal_messages(jump->run);
    if (jump->rides && jump->hop_rows == bundle->rows && bundle->rows > ROUND_MAX) {
        return false;
    }
    jump->rounds[0] = jump->hop_rows <= ROUND_MAX ? jump->hop_rows : 1;
    jump->rounds[1] = common_multiple(jump->rounds[0], window);
    if (jump->rounds[1] > ROUND_MAX || slots_for(window, jump->rounds[1]) >= slots_max) {
        jump->rounds[1] = jump->rounds[0];
    }
    jump->slots = slots_for(window, jump->rounds[1]);
    return jump->slots < slots_max && jump->run->phase->steps / PATIENCE > 2 * jump->slots;
}

/* A clock that counts from the first rank that is ready, and cannot run over. */
static void find_unit(struct jump *jump)
{
    const struct bundle_run *run = jump->run;
    const struct bundle *bundle = jump->bundle;
    double last_s = 0, latency_s = 0, s_per_byte = 0, bytes = 0;
    jump->begin_s = INFINITY;
    for (size_t i = 0; i < bundle->places_count; i++) {
        jump->begin_s = fmin(jump->begin_s, run->lanes->now_s[i]);
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
    frexp(last_s - jump->begin_s + (run->phase->steps + 1.0) * step_s, &exponent);
    jump->unit_s = ldexp(1, exponent - 61);
}

/* Whole units; what was over when the clock began does not matter. */
static int64_t units_of(const struct jump *jump, double time_s)
{
    return time_s > jump->begin_s ? llround((time_s - jump->begin_s) / jump->unit_s) : 0;
}

static double seconds_of(const struct jump *jump, int64_t units)
{
    return jump->begin_s + (double)units * jump->unit_s;
}

/* The arrivals of the step `age` steps before the last one. */
static int64_t *arrivals_of(const struct jump *jump, uint32_t age)
{
    uint32_t slot = jump->newest + jump->slots - age;
    return jump->arrivals +
           (slot < jump->slots ? slot : slot - jump->slots) * jump->bundle->places_count;
}

/* Row of the arrays that stands for a row of places in a step. */
static uint32_t row_of(const struct jump *jump, uint32_t place_row, int64_t step)
{
    int64_t rows = jump->bundle->rows;
    return (uint32_t)(jump->rides ? (place_row + rows - step % rows) % rows : place_row);
}

/* What one row of the arrays waits for in a step. */
struct row {
    size_t first; /* of the row, of those that its messages come from, ... */
    size_t track;
    size_t port; /* that its places sent the message before */
    size_t window;
    size_t place; /* where it is */
    const double *latency_s;
    const double *s_per_byte;
};

/* Both below `rows`. */
static size_t further(const struct jump *jump, uint32_t row, uint32_t by)
{
    uint32_t rows = jump->bundle->rows;
    return (row >= rows - by ? row - (rows - by) : row + by) * (size_t)jump->bundle->walks;
}

static struct row row_at(const struct jump *jump, uint32_t index, uint32_t step)
{
    uint32_t rows = jump->bundle->rows;
    size_t walks = jump->bundle->walks;
    size_t place = further(jump, index, jump->rides ? step % rows : 0);
    size_t hop = jump->hop_rows == rows ? place : place % (jump->hop_rows * walks);
    return (struct row){
        .first = index * walks,
        .track = further(jump, index, jump->rides ? 0 : rows - 1),
        .port = further(jump, index, jump->rides ? 1 : 0),
        .window = further(jump, index, jump->rides ? jump->run->window % rows : 0),
        .place = place,
        .latency_s = jump->bundle->latency_s + hop,
        .s_per_byte = jump->bundle->s_per_byte + hop,
    };
}

/* What a message waits for, in units: itself at the place before, reduced; the one before it in the
 * same connection; a slot of the window. */
struct waits {
    int64_t track;
    int64_t port;
    int64_t window;
    int64_t passes; /* from its start to its arrival */
    int64_t now;    /* when the place could send it if the connection were free */
};

struct sources {
    const int64_t *before; /* arrivals of the step before */
    const int64_t *oldest; /* of `window` steps before */
    double units_per_s;
    double reduce_s_per_byte;
};

static struct sources sources_of(const struct jump *jump, uint32_t step, uint32_t age)
{
    const struct bundle_run *run = jump->run;
    bool reduces = step > 0 && step - 1 < run->phase->copies_from;
    return (struct sources){
        .before = arrivals_of(jump, age),
        .oldest = arrivals_of(jump, age + run->window - 1),
        .units_per_s = 1 / jump->unit_s,
        .reduce_s_per_byte = reduces ? run->recurrence->reduce_s_per_byte : 0,
    };
}

static inline int64_t whole(double units)
{
    return (int64_t)(units + 0.5);
}

static inline struct waits waits_of(const struct sources *from, const double *bytes,
                                    const struct row *row, size_t walk)
{
    double s_per_byte = row->s_per_byte[walk] * from->units_per_s;
    double message = bytes[row->first + walk];
    int64_t latency = whole(row->latency_s[walk] * from->units_per_s);
    int64_t reduce = whole(message * from->reduce_s_per_byte * from->units_per_s);
    int64_t left = from->before[row->port + walk] - latency;
    int64_t started = left - whole(bytes[row->port + walk] * s_per_byte);
    int64_t arrived = from->before[row->track + walk];
    return (struct waits){
        .track = arrived + reduce,
        .port = left > started + reduce ? left : started + reduce,
        .window = from->oldest[row->window + walk],
        .passes = whole(message * s_per_byte) + latency,
        .now = (arrived > started ? arrived : started) + reduce,
    };
}

static inline int64_t latest(const struct waits *waits)
{
    int64_t start = waits->track > waits->port ? waits->track : waits->port;
    return start > waits->window ? start : waits->window;
}

/* Arrivals of the phase before, and those of the first messages. */
static void begin(struct jump *jump)
{
    const struct bundle_run *run = jump->run;
    const struct lanes *lanes = run->lanes;
    size_t walks = jump->bundle->walks;
    jump->newest = run->window;
    jump->known = run->window + 1;
    for (uint32_t row = 0; row < jump->bundle->rows; row++) {
        for (uint32_t age = 1; age <= run->window; age++) {
            const double *flights_s = bundle_flights(run, -(int64_t)age) + row * walks;
            int64_t *arrivals = arrivals_of(jump, age) + row_of(jump, row, -(int64_t)age) * walks;
            for (size_t walk = 0; walk < walks; walk++) {
                arrivals[walk] = units_of(jump, flights_s[walk]);
            }
        }
        struct row at = row_at(jump, row, 0);
        for (size_t i = row * walks; i < (row + 1) * walks; i++) {
            double start_s = fmax(fmax(lanes->now_s[i], lanes->free_s[i]),
                                  bundle_flights(run, -(int64_t)run->window)[i]);
            double passes_s = run->bytes[i] * at.s_per_byte[i - at.first];
            arrivals_of(jump, 0)[i] = units_of(jump, start_s) + whole(passes_s / jump->unit_s) +
                                      whole(at.latency_s[i - at.first] / jump->unit_s);
        }
    }
}

static void walk_step(struct jump *jump, uint32_t step)
{
    struct sources from = sources_of(jump, step, 0);
    jump->newest = jump->newest + 1 < jump->slots ? jump->newest + 1 : 0;
    jump->known += jump->known < jump->slots;
    int64_t *arrivals = arrivals_of(jump, 0);
    for (uint32_t index = 0; index < jump->bundle->rows; index++) {
        struct row row = row_at(jump, index, step);
        for (size_t walk = 0; walk < jump->bundle->walks; walk++) {
            struct waits waits = waits_of(&from, jump->run->bytes, &row, walk);
            arrivals[row.first + walk] = latest(&waits) + waits.passes;
        }
    }
}

/* Each place, or message, gains the same in every step of the last round over the round before, and
 * so do the arrivals that a window still waits for. */
static bool are_gains_steady(const struct jump *jump, uint32_t round)
{
    uint32_t ages = larger(jump->run->window, round);
    for (uint32_t age = 0; age < ages; age++) {
        const int64_t *now = arrivals_of(jump, age);
        const int64_t *before = arrivals_of(jump, age + round);
        for (size_t i = 0; i < jump->bundle->places_count; i++) {
            int64_t gain = now[i] - before[i];
            if (age == 0) {
                jump->gains[i] = gain;
            } else if (gain != jump->gains[i]) {
                return false;
            }
        }
    }
    return true;
}

/* Rounds until a wait that gains `more` than the latest one, and is `behind` it, overtakes it. */
static inline int64_t rounds_until(int64_t behind, int64_t more, int64_t rounds)
{
    return more > 0 && behind / more < rounds ? behind / more : rounds;
}

/* Rounds in which all that is waited for in a step stays the same; 0 if it is not steady. */
static int64_t steady_rounds(const struct jump *jump, uint32_t step, uint32_t age, int64_t rounds)
{
    struct sources from = sources_of(jump, step, age + 1);
    const int64_t *arrivals = arrivals_of(jump, age);
    const int64_t *gains = jump->gains;
    for (uint32_t index = 0; index < jump->bundle->rows; index++) {
        struct row row = row_at(jump, index, step);
        for (size_t walk = 0; walk < jump->bundle->walks; walk++) {
            struct waits waits = waits_of(&from, jump->run->bytes, &row, walk);
            int64_t start = arrivals[row.first + walk] - waits.passes;
            int64_t track = gains[row.track + walk] - gains[row.first + walk];
            int64_t port = gains[row.port + walk] - gains[row.first + walk];
            int64_t window = gains[row.window + walk] - gains[row.first + walk];
            if (!((start == waits.track && track == 0) || (start == waits.port && port == 0) ||
                  (start == waits.window && window == 0))) {
                return 0;
            }
            rounds = rounds_until(start - waits.track, track, rounds);
            rounds = rounds_until(start - waits.port, port, rounds);
            rounds = rounds_until(start - waits.window, window, rounds);
        }
    }
    return rounds;
}

/* Jumps after a step, not beyond `last`; returns the steps that it was. */
static uint32_t try_jump(struct jump *jump, uint32_t step, uint32_t last, uint32_t round)
{
    int64_t rounds = (last - step) / round;
    if (jump->known + 1 < slots_for(jump->run->window, round) || !are_gains_steady(jump, round)) {
        return 0;
    }
    for (uint32_t age = 0; age < round && rounds > 0; age++) {
        rounds = steady_rounds(jump, step - age, age, rounds);
    }
    for (uint32_t age = 0; age < jump->slots && rounds > 0; age++) {
        int64_t *arrivals = arrivals_of(jump, age);
        for (size_t i = 0; i < jump->bundle->places_count; i++) {
            arrivals[i] += rounds * jump->gains[i];
        }
    }
    jump->known = rounds > 0 ? slots_for(jump->run->window, round) - 1 : jump->known;
    return (uint32_t)rounds * round;
}

/* Walks and jumps to the last step; false if there was no jump early. */
static bool run_steps(struct jump *jump)
{
    uint32_t steps = jump->run->phase->steps;
    uint32_t copies_from = jump->run->phase->copies_from;
    uint32_t begun = 0; /* step after which nothing has changed, nor jumped */
    uint32_t attempt = jump->rounds[1];
    bool has_jumped = false;
    for (uint32_t step = 1; step < steps; step++) {
        walk_step(jump, step);
        begun = step == copies_from + 1 ? step : begun;
        attempt = begun == step ? step + jump->rounds[1] : attempt;
        if (step < attempt || (begun > 0 && step - begun < jump->rounds[1])) {
            continue;
        }
        uint32_t last = step <= copies_from && copies_from < steps ? copies_from : steps - 1;
        uint32_t jumped = try_jump(jump, step, last, jump->rounds[0]);
        jumped = jumped > 0 ? jumped : try_jump(jump, step, last, jump->rounds[1]);
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

/* The lanes after the last step. */
static void end(const struct jump *jump)
{
    const struct bundle_run *run = jump->run;
    uint32_t steps = run->phase->steps;
    size_t walks = jump->bundle->walks;
    struct sources from = sources_of(jump, steps, 0);
    for (uint32_t index = 0; index < jump->bundle->rows; index++) {
        struct row row = row_at(jump, index, steps);
        for (size_t walk = 0; walk < walks; walk++) {
            struct waits waits = waits_of(&from, run->bytes, &row, walk);
            int64_t arrival = arrivals_of(jump, 0)[row.port + walk];
            run->lanes->now_s[row.place + walk] = seconds_of(jump, waits.now);
            run->lanes->free_s[row.place + walk] = seconds_of(jump, arrival) - row.latency_s[walk];
        }
    }
    for (uint32_t age = 0; age < run->window; age++) {
        double *flights_s = bundle_flights(run, (int64_t)steps - 1 - age);
        for (uint32_t row = 0; row < jump->bundle->rows; row++) {
            const int64_t *arrivals =
                arrivals_of(jump, age) + row_of(jump, row, (int64_t)steps - 1 - age) * walks;
            for (size_t walk = 0; walk < walks; walk++) {
                flights_s[row * walks + walk] = seconds_of(jump, arrivals[walk]);
            }
        }
    }
}

bool ring_jump_run(const struct bundle_run *run, int64_t *room)
{
    struct jump jump = {.run = run, .bundle = run->bundle};
    if (!find_rounds(&jump)) {
        return false;
    }
    find_unit(&jump);
    jump.gains = room;
    jump.arrivals = room + run->bundle->places_count;
    begin(&jump);
    if (!run_steps(&jump)) {
        return false;
    }
    end(&jump);
    return true;
}
