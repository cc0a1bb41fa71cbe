#include "ar_verify.h"

#include <inttypes.h>
#include <string.h>

#include "ar_arena.h"

/* The sets of contributions of all elements of all ranks, one bit per contributing rank. */
struct sets {
    const struct ar_algorithm *algorithm;
    const struct ar_shape *shape;
    uint32_t ranks;
    uint64_t elements;
    size_t words;     /* 64-bit words of one set */
    uint64_t *now;    /* [rank][element][word] */
    uint64_t *before; /* the same, before the step */
};

static uint64_t *set_of(const struct sets *sets, uint64_t *all, uint32_t rank, uint64_t element)
{
    return all + (rank * sets->elements + element) * sets->words;
}

static struct ar_operation_place place_of(const struct sets *sets, uint32_t rank, uint64_t element)
{
    return (struct ar_operation_place){
        .ranks = sets->ranks, .rank = rank, .elements = sets->elements, .element = element};
}

static enum ar_status broken(const struct sets *sets, uint32_t step, uint32_t rank,
                             const char *what, struct ar_error *err)
{
    return ar_error_set(err, AR_INTERNAL,
                        "algorithm %s, shape %" PRIu32 "x%" PRIu32 ", %" PRIu64
                        " elements, step %" PRIu32 ", rank %" PRIu32 ": %s",
                        sets->algorithm->name, sets->shape->x, sets->shape->y, sets->elements, step,
                        rank, what);
}

static bool spans_equal(struct ar_span a, struct ar_span b)
{
    return a.first == b.first && a.count == b.count;
}

static enum ar_status check_peers(const struct sets *sets, uint32_t step, uint32_t rank,
                                  const struct ar_move *move, struct ar_error *err)
{
    if (move->sends) {
        if (move->send_to >= sets->ranks || move->send_to == rank) {
            return broken(sets, step, rank, "sends to a rank that is not there, or to itself", err);
        }
        struct ar_move peer =
            sets->algorithm->move(sets->shape, sets->elements, move->send_to, step);
        if (peer.receive == AR_RECEIVE_NONE || peer.receive_from != rank) {
            return broken(sets, step, rank, "sends to a rank that does not receive from it", err);
        }
        if (!spans_equal(peer.receive_span, move->send_span)) {
            return broken(sets, step, rank, "sends another span than its peer receives", err);
        }
    }
    if (move->receive != AR_RECEIVE_NONE) {
        if (move->receive_from >= sets->ranks || move->receive_from == rank) {
            return broken(sets, step, rank, "receives from a rank that is not there", err);
        }
        struct ar_move peer =
            sets->algorithm->move(sets->shape, sets->elements, move->receive_from, step);
        if (!peer.sends || peer.send_to != rank) {
            return broken(sets, step, rank, "receives from a rank that does not send to it", err);
        }
        if (move->receive_span.first + move->receive_span.count > sets->elements) {
            return broken(sets, step, rank, "receives beyond the end of the buffer", err);
        }
    }
    return AR_OK;
}

/* Executes the receive of one rank: `before` holds what its peer sent. */
static enum ar_status apply(const struct sets *sets, uint32_t step, uint32_t rank,
                            const struct ar_move *move, struct ar_error *err)
{
    for (uint64_t i = 0; i < move->receive_span.count; i++) {
        uint64_t element = move->receive_span.first + i;
        const uint64_t *sent = set_of(sets, sets->before, move->receive_from, element);
        uint64_t *own = set_of(sets, sets->now, rank, element);
        for (size_t word = 0; word < sets->words; word++) {
            if (move->receive == AR_RECEIVE_COPY) {
                own[word] = sent[word];
                continue;
            }
            if ((own[word] & sent[word]) != 0) {
                return broken(sets, step, rank, "adds a contribution a second time", err);
            }
            own[word] |= sent[word];
        }
    }
    return AR_OK;
}

static enum ar_status execute_step(const struct sets *sets, uint32_t step, uint64_t *messages,
                                   struct ar_error *err)
{
    size_t all = sets->ranks * sets->elements * sets->words;
    memcpy(sets->before, sets->now, all * sizeof *sets->now);
    for (uint32_t rank = 0; rank < sets->ranks; rank++) {
        struct ar_move move = sets->algorithm->move(sets->shape, sets->elements, rank, step);
        AR_TRY(check_peers(sets, step, rank, &move, err));
        if (move.receive != AR_RECEIVE_NONE) {
            AR_TRY(apply(sets, step, rank, &move, err));
        }
        *messages += move.sends;
    }
    return AR_OK;
}

/* A phase and where it begins. */
struct stretch {
    const struct ar_phase *phase;
    uint32_t first_step;
};

/* The move of a rank a number of periods later (or earlier); none beyond the phase. */
static struct ar_move move_after(const struct sets *sets, const struct stretch *stretch,
                                 uint32_t step, int64_t periods, uint32_t rank)
{
    int64_t at = step + periods * ar_phase_period(stretch->phase);
    int64_t end = (int64_t)stretch->first_step + stretch->phase->steps;
    if (at < stretch->first_step || at >= end) {
        return (struct ar_move){.sends = false, .receive = AR_RECEIVE_NONE};
    }
    return sets->algorithm->move(sets->shape, sets->elements, rank, (uint32_t)at);
}

/* A walk keeps its peers and passes on what it gets. */
static enum ar_status check_walk(const struct sets *sets, const struct stretch *stretch,
                                 uint32_t step, uint32_t rank, const struct ar_move *move,
                                 struct ar_error *err)
{
    struct ar_move before = move_after(sets, stretch, step, -1, rank);
    if (move->sends && before.sends && move->send_to != before.send_to) {
        return broken(sets, step, rank, "changes its peer within a phase", err);
    }
    if (move->sends && before.receive != AR_RECEIVE_NONE &&
        !spans_equal(move->send_span, before.receive_span)) {
        return broken(sets, step, rank, "does not send what it received in the step before", err);
    }
    bool at_first =
        sets->algorithm->move(sets->shape, sets->elements, rank, stretch->first_step).sends;
    uint32_t end = stretch->first_step + (at_first ? 0 : stretch->phase->steps - 1);
    if (move->sends && step != end &&
        !move_after(sets, stretch, step, at_first ? -1 : 1, rank).sends) {
        return broken(sets, step, rank,
                      "sends, but not in one run from the first or to the last step of its phase",
                      err);
    }
    return AR_OK;
}

/* The first part goes over a hop: nothing went over it in an earlier step of the phase, and it is
 * not the way of another hop at another place of the period. */
static enum ar_status check_first_part(const struct sets *sets, const struct stretch *stretch,
                                       uint32_t step, uint32_t rank, const struct ar_move *move,
                                       struct ar_error *err)
{
    uint32_t period = stretch->phase->period;
    for (uint32_t other = stretch->first_step; other < stretch->first_step + stretch->phase->steps;
         other++) {
        struct ar_move earlier = sets->algorithm->move(sets->shape, sets->elements, rank, other);
        bool is_same_place =
            (step - stretch->first_step) % period == (other - stretch->first_step) % period;
        if (earlier.sends && is_same_place && other < step) {
            return broken(sets, step, rank, "sends the buffer twice over a hop", err);
        }
        if (earlier.sends && !is_same_place && earlier.send_to == move->send_to) {
            return broken(sets, step, rank, "sends to the same rank at two places of a period",
                          err);
        }
    }
    return AR_OK;
}

/* Every hop of a tree carries all parts, in order, one in every period. */
static enum ar_status check_tree(const struct sets *sets, const struct stretch *stretch,
                                 uint32_t step, uint32_t rank, const struct ar_move *move,
                                 struct ar_error *err)
{
    uint32_t part = 0;
    struct ar_span whole = {.first = 0, .count = sets->elements};
    if (!move->sends) {
        return AR_OK;
    }
    for (struct ar_move before = move_after(sets, stretch, step, -1, rank); before.sends;
         before = move_after(sets, stretch, step, -1 - (int64_t)part, rank)) {
        if (before.send_to != move->send_to) {
            return broken(sets, step, rank, "changes its peer within a phase", err);
        }
        part++;
    }
    bool goes_on = move_after(sets, stretch, step, 1, rank).sends;
    if (part >= stretch->phase->parts || goes_on != (part + 1 < stretch->phase->parts) ||
        !spans_equal(move->send_span, ar_span_part(whole, stretch->phase->parts, part))) {
        return broken(sets, step, rank, "does not send all parts one after the other", err);
    }
    return part > 0 ? AR_OK : check_first_part(sets, stretch, step, rank, move, err);
}

/* What a phase promises, in one of its steps. */
static enum ar_status check_phase_step(const struct sets *sets, const struct stretch *stretch,
                                       uint32_t step, struct ar_error *err)
{
    const struct ar_phase *phase = stretch->phase;
    enum ar_receive expected =
        step - stretch->first_step < phase->copies_from ? AR_RECEIVE_REDUCE : AR_RECEIVE_COPY;
    uint64_t max = (sets->elements + phase->parts - 1) / phase->parts;
    for (uint32_t rank = 0; rank < sets->ranks; rank++) {
        struct ar_move move = sets->algorithm->move(sets->shape, sets->elements, rank, step);
        if (move.receive != AR_RECEIVE_NONE && move.receive != expected) {
            return broken(sets, step, rank, "receive is not of the kind its phase says", err);
        }
        if (move.sends && move.send_span.count > max) {
            return broken(sets, step, rank, "sends more than the share its phase says", err);
        }
        AR_TRY(
            (phase->period > 0 ? check_tree : check_walk)(sets, stretch, step, rank, &move, err));
    }
    return AR_OK;
}

static enum ar_status execute(const struct sets *sets, struct ar_error *err)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count = sets->algorithm->phases(sets->shape, phases);
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < phases_count; i++) {
        uint64_t messages = 0;
        struct stretch stretch = {.phase = &phases[i], .first_step = first_step};
        if (phases[i].period > AR_PERIOD_MAX) {
            return broken(sets, first_step, 0, "phase has a longer period than there may be", err);
        }
        for (uint32_t step = first_step; step < first_step + phases[i].steps; step++) {
            AR_TRY(check_phase_step(sets, &stretch, step, err));
            AR_TRY(execute_step(sets, step, &messages, err));
        }
        if (messages != phases[i].messages) {
            return broken(sets, first_step, 0, "phase has another number of messages than it says",
                          err);
        }
        first_step += phases[i].steps;
    }
    return AR_OK;
}

static void fill(const struct sets *sets)
{
    for (uint32_t rank = 0; rank < sets->ranks; rank++) {
        for (uint64_t element = 0; element < sets->elements; element++) {
            struct ar_operation_place place = place_of(sets, rank, element);
            uint64_t *set = set_of(sets, sets->now, rank, element);
            for (uint32_t from = 0; from < sets->ranks; from++) {
                bool is_held = sets->algorithm->operation->holds(&place, from);
                set[from / 64] |= (uint64_t)is_held << from % 64;
            }
        }
    }
}

static enum ar_status check_complete(const struct sets *sets, struct ar_error *err)
{
    for (uint32_t rank = 0; rank < sets->ranks; rank++) {
        for (uint64_t element = 0; element < sets->elements; element++) {
            struct ar_operation_place place = place_of(sets, rank, element);
            const uint64_t *set = set_of(sets, sets->now, rank, element);
            for (uint32_t from = 0; from < sets->ranks; from++) {
                if ((set[from / 64] >> from % 64 & 1) == 0 &&
                    sets->algorithm->operation->wants(&place, from)) {
                    return broken(sets, ar_algorithm_steps(sets->algorithm, sets->shape), rank,
                                  "lacks a contribution at the end", err);
                }
            }
        }
    }
    return AR_OK;
}

static enum ar_status verify(struct ar_arena *arena, struct sets *sets, struct ar_error *err)
{
    size_t all = sets->ranks * sets->elements * sets->words;
    sets->now = ar_arena_alloc(arena, all, sizeof *sets->now);
    sets->before = ar_arena_alloc(arena, all, sizeof *sets->before);
    if (sets->now == NULL || sets->before == NULL) {
        return ar_error_no_memory(err, "the verification");
    }
    fill(sets);
    AR_TRY(execute(sets, err));
    return check_complete(sets, err);
}

enum ar_status ar_verify(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                         uint64_t elements, struct ar_error *err)
{
    AR_TRY(ar_algorithm_check_shape(algorithm, shape, err));
    uint32_t ranks = ar_shape_ranks(shape);
    struct sets sets = {.algorithm = algorithm,
                        .shape = shape,
                        .ranks = ranks,
                        .elements = elements,
                        .words = (ranks + 63) / 64};
    struct ar_arena arena = {NULL};
    enum ar_status status = verify(&arena, &sets, err);
    ar_arena_end(&arena);
    return status;
}

enum ar_status ar_verify_ranks(const struct ar_algorithm *algorithm, uint32_t ranks,
                               uint64_t *cases, struct ar_error *err)
{
    enum { PRIME = 101 };
    const uint64_t counts[] = {0, 1, ranks - 1, ranks, ranks + 1, PRIME};
    struct ar_error refused;
    for (uint32_t x = 1; x <= ranks; x++) {
        struct ar_shape shape = {.x = x, .y = ranks / x};
        if (ranks % x != 0 || ar_algorithm_check_shape(algorithm, &shape, &refused) != AR_OK) {
            continue;
        }
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            AR_TRY(ar_verify(algorithm, &shape, counts[i], err));
            (*cases)++;
        }
    }
    return AR_OK;
}
