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
    uint32_t *part;   /* [element]: of a pipeline that it is in, counted from 1; 0: not seen yet */
    uint64_t *sums;   /* [element][word]: of a switch */
    uint8_t *state;   /* [element]: of a switch */
};

static inline uint64_t *set_of(const struct sets *sets, uint64_t *all, uint32_t rank,
                               uint64_t element)
{
    return all + (rank * sets->elements + element) * sets->words;
}

static inline struct ar_move move_of(const struct sets *sets, uint32_t rank, uint32_t step)
{
    return ar_algorithm_move(sets->algorithm, sets->shape, sets->elements, rank, step);
}

static struct ar_operation_place place_of(const struct sets *sets, uint32_t rank, uint64_t element)
{
    return (struct ar_operation_place){
        .shape = sets->shape, .position = rank, .elements = sets->elements, .element = element};
}

static enum ar_status verify_broken(const struct sets *sets, uint32_t step, uint32_t rank,
                                    const char *what, struct ar_error *err)
{
    char shape[AR_SHAPE_TEXT];
    return ar_error_set(err, AR_INTERNAL,
                        "%s, algorithm %s, shape %s, %" PRIu64 " elements, step %" PRIu32
                        ", rank %" PRIu32 ": %s",
                        sets->algorithm->operation->name, sets->algorithm->name,
                        ar_shape_format(sets->shape, shape), sets->elements, step, rank, what);
}

/* The same elements, whatever they are parts of. */
static bool slices_equal(const struct ar_slice *a, const struct ar_slice *b)
{
    uint32_t part_of_a = 0;
    uint32_t part_of_b = 0;
    struct ar_span span_of_a;
    struct ar_span span_of_b;
    while (ar_slice_next(a, &part_of_a, &span_of_a)) {
        if (!ar_slice_next(b, &part_of_b, &span_of_b) || span_of_a.first != span_of_b.first ||
            span_of_a.count != span_of_b.count) {
            return false;
        }
    }
    return !ar_slice_next(b, &part_of_b, &span_of_b);
}

static bool verify_is_sound(const struct sets *sets, const struct ar_slice *slice)
{
    uint32_t part = 0;
    uint64_t count = 0;
    struct ar_span span;
    bool is_inside = true;
    while (ar_slice_next(slice, &part, &span)) {
        count += span.count;
        is_inside =
            is_inside && span.first <= sets->elements && span.count <= sets->elements - span.first;
    }
    return is_inside && count == slice->count;
}

static enum ar_status check_peers(const struct sets *sets, uint32_t step, uint32_t rank,
                                  const struct ar_move *move, struct ar_error *err)
{
    if (move->sends) {
        if (move->send_to >= sets->ranks || move->send_to == rank) {
            return verify_broken(sets, step, rank,
                                 "sends to a rank that is not there, or to itself", err);
        }
        struct ar_move peer = move_of(sets, move->send_to, step);
        if (peer.receive == AR_RECEIVE_NONE || peer.receive_from != rank) {
            return verify_broken(sets, step, rank, "sends to a rank that does not receive from it",
                                 err);
        }
        if (!slices_equal(&peer.receive_span, &move->send_span)) {
            return verify_broken(sets, step, rank, "sends another span than its peer receives",
                                 err);
        }
    }
    if (move->receive != AR_RECEIVE_NONE) {
        if (move->receive_from >= sets->ranks || move->receive_from == rank) {
            return verify_broken(sets, step, rank, "receives from a rank that is not there", err);
        }
        struct ar_move peer = move_of(sets, move->receive_from, step);
        if (!peer.sends || peer.send_to != rank) {
            return verify_broken(sets, step, rank, "receives from a rank that does not send to it",
                                 err);
        }
        if (!verify_is_sound(sets, &move->receive_span)) {
            return verify_broken(sets, step, rank, "receives beyond the end of the buffer", err);
        }
    }
    return AR_OK;
}

static enum ar_status receive(const struct sets *sets, uint32_t step, uint32_t rank,
                              const struct ar_move *move, uint64_t element, struct ar_error *err)
{
    const uint64_t *sent = set_of(sets, sets->before, move->receive_from, element);
    uint64_t *own = set_of(sets, sets->now, rank, element);
    for (size_t word = 0; word < sets->words; word++) {
        if (move->receive == AR_RECEIVE_COPY) {
            own[word] = sent[word];
            continue;
        }
        if ((own[word] & sent[word]) != 0) {
            return verify_broken(sets, step, rank, "adds a contribution a second time", err);
        }
        own[word] |= sent[word];
    }
    return AR_OK;
}

/* Executes the receive of one rank: `before` holds what its peer sent. */
static enum ar_status apply(const struct sets *sets, uint32_t step, uint32_t rank,
                            const struct ar_move *move, struct ar_error *err)
{
    uint32_t part = 0;
    struct ar_span span;
    while (ar_slice_next(&move->receive_span, &part, &span)) {
        for (uint64_t i = 0; i < span.count; i++) {
            AR_TRY(receive(sets, step, rank, move, span.first + i, err));
        }
    }
    return AR_OK;
}

/* What is sent in a step is what was there before it, or, at once, before the phase. */
static void keep(const struct sets *sets)
{
    memcpy(sets->before, sets->now, sets->ranks * sets->elements * sets->words * sizeof *sets->now);
}

static enum ar_status execute_step(const struct sets *sets, uint32_t step, uint64_t *messages,
                                   struct ar_error *err)
{
    for (uint32_t rank = 0; rank < sets->ranks; rank++) {
        struct ar_move move = move_of(sets, rank, step);
        if (move.line.count > 0) {
            return verify_broken(sets, step, rank, "is in the line of a switch in a phase without",
                                 err);
        }
        AR_TRY(check_peers(sets, step, rank, &move, err));
        if (move.receive != AR_RECEIVE_NONE) {
            AR_TRY(apply(sets, step, rank, &move, err));
        }
        *messages += move.sends;
    }
    return AR_OK;
}

/* --- phases in which switches sum ------------------------------------------------------------ */

/* What became of an element at a switch. */
enum { NOBODYS, SENT, ASKED_FOR };

static bool is_member(const struct ar_line *line, uint32_t rank)
{
    uint32_t ahead = rank - line->first;
    return rank >= line->first && ahead % line->stride == 0 && ahead / line->stride < line->count;
}

/* The line is within the ranks, and its first member is in the same one. */
static bool is_line(const struct sets *sets, uint32_t step, uint32_t rank,
                    const struct ar_line *line)
{
    if (line->count < 2 || line->stride < 1 ||
        line->first + (uint64_t)(line->count - 1) * line->stride >= sets->ranks ||
        !is_member(line, rank)) {
        return false;
    }
    struct ar_move first = move_of(sets, line->first, step);
    return first.line.first == line->first && first.line.count == line->count &&
           first.line.stride == line->stride;
}

/* Notes which part of its pipeline an element is in. */
static enum ar_status note_part(const struct sets *sets, uint32_t step, uint32_t rank,
                                uint32_t part, uint64_t element, struct ar_error *err)
{
    if (sets->part[element] != 0 && sets->part[element] != part + 1) {
        return verify_broken(sets, step, rank, "touches what is in another part of the pipeline",
                             err);
    }
    sets->part[element] = part + 1;
    return AR_OK;
}

/* An element that a rank sends: its switch adds it up. */
static enum ar_status sum_up(const struct sets *sets, uint32_t step, uint32_t rank,
                             uint64_t element, struct ar_error *err)
{
    const uint64_t *sent = set_of(sets, sets->before, rank, element);
    uint64_t *sum = set_of(sets, sets->sums, 0, element);
    for (size_t word = 0; word < sets->words; word++) {
        if ((sum[word] & sent[word]) != 0) {
            return verify_broken(sets, step, rank, "adds a contribution a second time", err);
        }
        sum[word] |= sent[word];
    }
    sets->state[element] = SENT;
    return AR_OK;
}

/* An element that a rank gets. */
static enum ar_status take_sum(const struct sets *sets, uint32_t step, uint32_t rank,
                               uint64_t element, struct ar_error *err)
{
    if (sets->state[element] == NOBODYS) {
        return verify_broken(sets, step, rank, "asks a switch for what nobody has sent", err);
    }
    sets->state[element] = ASKED_FOR;
    memcpy(set_of(sets, sets->now, rank, element), set_of(sets, sets->sums, 0, element),
           sets->words * sizeof *sets->sums);
    return AR_OK;
}

/* All elements that a member sends, or receives. */
static enum ar_status sum_member(const struct sets *sets, uint32_t step, uint32_t part,
                                 uint32_t rank, bool sends, struct ar_error *err)
{
    struct ar_move move = move_of(sets, rank, step);
    const struct ar_slice *slice = sends ? &move.send_span : &move.receive_span;
    uint32_t at = 0;
    struct ar_span span;
    if (!(sends ? move.sends : move.receive != AR_RECEIVE_NONE)) {
        return AR_OK;
    }
    if (!verify_is_sound(sets, slice)) {
        return verify_broken(sets, step, rank, "sends or receives beyond the end of the buffer",
                             err);
    }
    while (ar_slice_next(slice, &at, &span)) {
        for (uint64_t i = span.first; i < span.first + span.count; i++) {
            AR_TRY(note_part(sets, step, rank, part, i, err));
            AR_TRY((sends ? sum_up : take_sum)(sets, step, rank, i, err));
        }
    }
    return AR_OK;
}

/* What all members of a line send and receive. */
static enum ar_status sum_line(const struct sets *sets, uint32_t step, uint32_t part,
                               const struct ar_line *line, struct ar_error *err)
{
    memset(sets->sums, 0, sets->elements * sets->words * sizeof *sets->sums);
    memset(sets->state, NOBODYS, sets->elements * sizeof *sets->state);
    for (uint32_t i = 0; i < 2 * line->count; i++) {
        uint32_t member = line->first + i % line->count * line->stride;
        AR_TRY(sum_member(sets, step, part, member, i < line->count, err));
    }
    for (uint64_t i = 0; i < sets->elements; i++) {
        if (sets->state[i] == SENT) {
            return verify_broken(sets, step, line->first,
                                 "is in the line of who sends what nobody gets", err);
        }
    }
    return AR_OK;
}

static enum ar_status verify_sums(const struct sets *sets, uint32_t step, uint32_t part,
                                  uint64_t *messages, struct ar_error *err)
{
    for (uint32_t rank = 0; rank < sets->ranks; rank++) {
        struct ar_move move = move_of(sets, rank, step);
        if (!is_line(sets, step, rank, &move.line)) {
            return verify_broken(sets, step, rank, "is in no line of a switch that knows it", err);
        }
        if (rank == move.line.first) {
            AR_TRY(sum_line(sets, step, part, &move.line, err));
        }
        *messages += move.sends;
    }
    return AR_OK;
}

/* --- what phases promise --------------------------------------------------------------------- */

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
    return move_of(sets, rank, (uint32_t)at);
}

/* A walk keeps its peers and passes on what it gets. */
static enum ar_status check_walk(const struct sets *sets, const struct stretch *stretch,
                                 uint32_t step, uint32_t rank, const struct ar_move *move,
                                 struct ar_error *err)
{
    struct ar_move before = move_after(sets, stretch, step, -1, rank);
    if (move->sends && before.sends && move->send_to != before.send_to) {
        return verify_broken(sets, step, rank, "changes its peer within a phase", err);
    }
    if (move->sends && before.receive != AR_RECEIVE_NONE &&
        !slices_equal(&move->send_span, &before.receive_span)) {
        return verify_broken(sets, step, rank, "does not send what it received in the step before",
                             err);
    }
    bool at_first = move_of(sets, rank, stretch->first_step).sends;
    uint32_t end = stretch->first_step + (at_first ? 0 : stretch->phase->steps - 1);
    if (move->sends && step != end &&
        !move_after(sets, stretch, step, at_first ? -1 : 1, rank).sends) {
        return verify_broken(
            sets, step, rank,
            "sends, but not in one run from the first or to the last step of its phase", err);
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
        struct ar_move earlier = move_of(sets, rank, other);
        bool is_same_place =
            (step - stretch->first_step) % period == (other - stretch->first_step) % period;
        if (earlier.sends && is_same_place && other < step) {
            return verify_broken(sets, step, rank, "sends the buffer twice over a hop", err);
        }
        if (earlier.sends && !is_same_place && earlier.send_to == move->send_to) {
            return verify_broken(sets, step, rank,
                                 "sends to the same rank at two places of a period", err);
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
            return verify_broken(sets, step, rank, "changes its peer within a phase", err);
        }
        part++;
    }
    bool goes_on = move_after(sets, stretch, step, 1, rank).sends;
    struct ar_slice expected = ar_slice_all(ar_span_part(whole, stretch->phase->parts, part));
    if (part >= stretch->phase->parts || goes_on != (part + 1 < stretch->phase->parts) ||
        !slices_equal(&move->send_span, &expected)) {
        return verify_broken(sets, step, rank, "does not send all parts one after the other", err);
    }
    return part > 0 ? AR_OK : check_first_part(sets, stretch, step, rank, move, err);
}

/* In every step all positions send as many pieces, as far ahead. */
static bool is_shift(const struct sets *sets, const struct ar_phase *phase, uint32_t step,
                     uint32_t rank)
{
    struct ar_move first = ar_algorithm_move(sets->algorithm, sets->shape, phase->pieces, 0, step);
    struct ar_move move =
        ar_algorithm_move(sets->algorithm, sets->shape, phase->pieces, rank, step);
    return first.sends && move.sends && first.send_span.count == move.send_span.count &&
           move.send_to == (rank + first.send_to) % sets->ranks;
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
        struct ar_move move = move_of(sets, rank, step);
        if (move.receive != AR_RECEIVE_NONE && move.receive != expected) {
            return verify_broken(sets, step, rank, "receive is not of the kind its phase says",
                                 err);
        }
        if (move.sends && move.send_span.count > max) {
            return verify_broken(sets, step, rank, "sends more than the share its phase says", err);
        }
        if (phase->is_shift && !is_shift(sets, phase, step, rank)) {
            return verify_broken(sets, step, rank, "does not send as far ahead as the others", err);
        }
        if (phase->kind == AR_PHASE_WALK || phase->kind == AR_PHASE_TREE) {
            AR_TRY((phase->kind == AR_PHASE_TREE ? check_tree : check_walk)(sets, stretch, step,
                                                                            rank, &move, err));
        }
    }
    return AR_OK;
}

static enum ar_status execute(const struct sets *sets, struct ar_error *err)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count = ar_algorithm_phases(sets->algorithm, sets->shape, phases);
    uint32_t first_step = 0;
    for (uint32_t i = 0; i < phases_count; i++) {
        uint64_t messages = 0;
        struct stretch stretch = {.phase = &phases[i], .first_step = first_step};
        bool has_sums = phases[i].kind == AR_PHASE_SUMS && phases[i].steps > 0;
        bool has_period = has_sums || phases[i].kind == AR_PHASE_TREE;
        if (phases[i].period > AR_PERIOD_MAX || (phases[i].period > 0) != has_period ||
            (has_sums && phases[i].steps != phases[i].parts * phases[i].period)) {
            return verify_broken(sets, first_step, 0, "phase has a period that it may not have",
                                 err);
        }
        memset(sets->part, 0, sets->elements * sizeof *sets->part);
        for (uint32_t step = first_step; step < first_step + phases[i].steps; step++) {
            AR_TRY(check_phase_step(sets, &stretch, step, err));
            if (step == first_step || !phases[i].is_at_once) {
                keep(sets);
            }
            AR_TRY(has_sums ? verify_sums(sets, step, (step - first_step) / phases[i].period,
                                          &messages, err)
                            : execute_step(sets, step, &messages, err));
        }
        if (messages != phases[i].messages) {
            return verify_broken(sets, first_step, 0,
                                 "phase has another number of messages than it says", err);
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
                bool is_held = ar_operation_holds(sets->algorithm->operation, &place, from);
                set[from / 64] |= (uint64_t)is_held << from % 64;
            }
        }
    }
}

/* An element must hold what the operation wants there and, if it wants any, nothing else. */
static enum ar_status check_element(const struct sets *sets, uint32_t rank, uint64_t element,
                                    struct ar_error *err)
{
    struct ar_operation_place place = place_of(sets, rank, element);
    const uint64_t *set = set_of(sets, sets->now, rank, element);
    uint32_t steps = ar_algorithm_steps(sets->algorithm, sets->shape);
    bool wants_any = false;
    bool has_more = false;
    for (uint32_t from = 0; from < sets->ranks; from++) {
        bool has = (set[from / 64] >> from % 64 & 1) != 0;
        bool wants = ar_operation_wants(sets->algorithm->operation, &place, from);
        wants_any = wants_any || wants;
        has_more = has_more || (has && !wants);
        if (wants && !has) {
            return verify_broken(sets, steps, rank, "lacks a contribution at the end", err);
        }
    }
    return wants_any && has_more
               ? verify_broken(sets, steps, rank,
                               "has a contribution at the end that is not wanted", err)
               : AR_OK;
}

static enum ar_status check_complete(const struct sets *sets, struct ar_error *err)
{
    for (uint32_t rank = 0; rank < sets->ranks; rank++) {
        for (uint64_t element = 0; element < sets->elements; element++) {
            AR_TRY(check_element(sets, rank, element, err));
        }
    }
    return AR_OK;
}

enum ar_status ar_verify(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                         uint64_t elements, struct ar_error *err)
{
    AR_TRY(ar_algorithm_check_shape(algorithm, shape, err));
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t ranks = ar_shape_ranks(shape);
    size_t words = (ranks + 63) / 64, all = ranks * elements * words;
    struct sets sets = {.algorithm = algorithm,
                        .shape = shape,
                        .ranks = ranks,
                        .elements = elements,
                        .words = words,
                        .now = ar_arena_alloc(&arena, all, sizeof *sets.now),
                        .before = ar_arena_alloc(&arena, all, sizeof *sets.before),
                        .part = ar_arena_alloc(&arena, elements, sizeof *sets.part),
                        .sums = ar_arena_alloc(&arena, elements * words, sizeof *sets.sums),
                        .state = ar_arena_alloc(&arena, elements, sizeof *sets.state)};
    AR_NEED(!arena.is_broken, err, "the verification");
    fill(&sets);
    AR_TRY(execute(&sets, err));
    return check_complete(&sets, err);
}

static enum ar_status verify_shape(const struct ar_algorithm *algorithm,
                                   const struct ar_shape *shape, uint64_t *cases,
                                   struct ar_error *err)
{
    enum { PRIME = 101 };
    uint32_t ranks = ar_shape_ranks(shape);
    const uint64_t counts[] = {0, 1, ranks - 1, ranks, ranks + 1, PRIME};
    struct ar_error refused;
    if (ar_algorithm_check_shape(algorithm, shape, &refused) != AR_OK) {
        return AR_OK;
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        AR_TRY(ar_verify(algorithm, shape, counts[i], err));
        (*cases)++;
    }
    return AR_OK;
}

enum ar_status ar_verify_ranks(const struct ar_algorithm *algorithm, uint32_t ranks,
                               uint64_t *cases, struct ar_error *err)
{
    for (uint32_t x = 1; x <= ranks; x++) {
        uint32_t y = ranks / x;
        if (ranks % x != 0) {
            continue;
        }
        struct ar_shape grid = {.x = x, .y = y};
        AR_TRY(verify_shape(algorithm, &grid, cases, err));
        for (uint32_t z = 2; z <= y && ar_algorithm_shapes(algorithm) == AR_SHAPES_LEVELS; z++) {
            struct ar_shape levels = {.x = x, .y = y / z, .z = z};
            struct ar_shape four = {.x = x, .y = 1, .z = y / z, .w = z};
            if (y % z == 0) {
                AR_TRY(verify_shape(algorithm, &levels, cases, err));
                AR_TRY(verify_shape(algorithm, &four, cases, err));
            }
        }
    }
    return AR_OK;
}
