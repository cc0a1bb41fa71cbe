#include "ar_verify.h"

#include <inttypes.h>
#include <string.h>

#include "ar_arena.h"

/* The sets of contributions of all elements of all ranks, one bit per contributing rank, and where
 * the execution is. Checks return what is wrong there; NULL: nothing. */
struct proof {
    const struct ar_algorithm *algorithm;
    const struct ar_shape *shape;
    uint32_t ranks;
    uint64_t elements;
    size_t words;     /* 64-bit words of one set */
    uint64_t *now;    /* [rank][element][word] */
    uint64_t *before; /* the same, before the step */
    uint32_t *part;   /* [element]: its part of a pipeline, counted from 1; 0: not seen yet */
    uint64_t *sums;   /* [element][word]: at a switch */
    uint8_t *state;   /* [element]: at a switch */
    const struct ar_phase *phase;
    uint32_t first_step; /* of the phase */
    uint32_t step, rank;
};

#define EXPECT(condition, complaint)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return complaint;                                                                      \
        }                                                                                          \
    } while (0)

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const char *complaint_ = (call);                                                           \
        EXPECT(complaint_ == NULL, complaint_);                                                    \
    } while (0)

static const char twice[] = "adds a contribution a second time";
static const char changes_peer[] = "changes its peer within a phase";

static uint64_t *set_of(const struct proof *proof, uint64_t *all, uint32_t rank, uint64_t element)
{
    return all + (rank * proof->elements + element) * proof->words;
}

static struct ar_move move_of(const struct proof *proof, uint32_t rank, uint32_t step)
{
    return ar_algorithm_move(proof->algorithm, proof->shape, proof->elements, rank, step);
}

static struct ar_operation_place place_of(const struct proof *proof, uint32_t rank,
                                          uint64_t element)
{
    return (struct ar_operation_place){
        .shape = proof->shape, .position = rank, .elements = proof->elements, .element = element};
}

/* The same elements, whatever they are parts of. */
static bool slices_equal(const struct ar_slice *a, const struct ar_slice *b)
{
    uint32_t part_of_a = 0, part_of_b = 0;
    struct ar_span span_of_a, span_of_b;
    while (ar_slice_next(a, &part_of_a, &span_of_a)) {
        if (!ar_slice_next(b, &part_of_b, &span_of_b) || span_of_a.first != span_of_b.first ||
            span_of_a.count != span_of_b.count) {
            return false;
        }
    }
    return !ar_slice_next(b, &part_of_b, &span_of_b);
}

/* Within the buffer, and of as many elements as it says. */
static bool slice_is_sound(const struct proof *proof, const struct ar_slice *slice)
{
    uint32_t part = 0;
    uint64_t count = 0, elements = proof->elements;
    bool is_inside = true;
    for (struct ar_span span; ar_slice_next(slice, &part, &span);) {
        count += span.count;
        is_inside = is_inside && span.first <= elements && span.count <= elements - span.first;
    }
    return is_inside && count == slice->count;
}

/* --- moves between ranks --------------------------------------------------------------------- */

static const char *check_peers(const struct proof *proof, const struct ar_move *move)
{
    if (move->sends) {
        EXPECT(move->send_to < proof->ranks && move->send_to != proof->rank,
               "sends to a rank that is not there, or to itself");
        struct ar_move peer = move_of(proof, move->send_to, proof->step);
        EXPECT(peer.receive != AR_RECEIVE_NONE && peer.receive_from == proof->rank,
               "sends to a rank that does not receive from it");
        EXPECT(slices_equal(&peer.receive_span, &move->send_span),
               "sends another span than its peer receives");
    }
    if (move->receive != AR_RECEIVE_NONE) {
        EXPECT(move->receive_from < proof->ranks && move->receive_from != proof->rank,
               "receives from a rank that is not there");
        struct ar_move peer = move_of(proof, move->receive_from, proof->step);
        EXPECT(peer.sends && peer.send_to == proof->rank,
               "receives from a rank that does not send to it");
        EXPECT(slice_is_sound(proof, &move->receive_span), "receives beyond the end of the buffer");
    }
    return NULL;
}

static const char *execute_step(struct proof *proof, uint64_t *messages)
{
    for (proof->rank = 0; proof->rank < proof->ranks; proof->rank++) {
        struct ar_move move = move_of(proof, proof->rank, proof->step);
        EXPECT(move.line.count == 0, "is in the line of a switch in a phase without");
        CHECK(check_peers(proof, &move));
        /* Receives what the peer sent, which `before` holds. */
        uint32_t part = 0;
        bool adds = move.receive == AR_RECEIVE_REDUCE;
        for (struct ar_span span;
             move.receive != AR_RECEIVE_NONE && ar_slice_next(&move.receive_span, &part, &span);) {
            for (uint64_t i = span.first; i < span.first + span.count; i++) {
                const uint64_t *sent = set_of(proof, proof->before, move.receive_from, i);
                uint64_t *own = set_of(proof, proof->now, proof->rank, i);
                for (size_t word = 0; word < proof->words; word++) {
                    EXPECT(!adds || (own[word] & sent[word]) == 0, twice);
                    own[word] = (adds ? own[word] : 0) | sent[word];
                }
            }
        }
        *messages += move.sends;
    }
    return NULL;
}

/* --- phases in which switches sum ------------------------------------------------------------ */

/* States of an element at a switch. */
enum { NOBODYS, SENT, ASKED_FOR };

/* An element that a member sends is added up by its switch; one that it gets is the sum. */
static const char *sum_element(const struct proof *proof, uint32_t part, uint64_t element,
                               bool sends)
{
    uint64_t *sum = set_of(proof, proof->sums, 0, element);
    EXPECT(proof->part[element] == 0 || proof->part[element] == part + 1,
           "touches what is in another part of the pipeline");
    proof->part[element] = part + 1;
    if (!sends) {
        EXPECT(proof->state[element] != NOBODYS, "asks a switch for what nobody has sent");
        proof->state[element] = ASKED_FOR;
        memcpy(set_of(proof, proof->now, proof->rank, element), sum, proof->words * sizeof *sum);
        return NULL;
    }
    const uint64_t *sent = set_of(proof, proof->before, proof->rank, element);
    for (size_t word = 0; word < proof->words; word++) {
        EXPECT((sum[word] & sent[word]) == 0, twice);
        sum[word] |= sent[word];
    }
    proof->state[element] = SENT;
    return NULL;
}

/* Executes all sends of the members of a line, then all receives. */
static const char *sum_line(struct proof *proof, uint32_t part, const struct ar_line *line)
{
    memset(proof->sums, 0, proof->elements * proof->words * sizeof *proof->sums);
    memset(proof->state, NOBODYS, proof->elements * sizeof *proof->state);
    for (uint32_t i = 0; i < 2 * line->count; i++) {
        proof->rank = line->first + i % line->count * line->stride;
        bool sends = i < line->count;
        struct ar_move move = move_of(proof, proof->rank, proof->step);
        const struct ar_slice *slice = sends ? &move.send_span : &move.receive_span;
        uint32_t at = 0;
        if (!(sends ? move.sends : move.receive != AR_RECEIVE_NONE)) {
            continue;
        }
        EXPECT(slice_is_sound(proof, slice), "sends or receives beyond the end of the buffer");
        for (struct ar_span span; ar_slice_next(slice, &at, &span);) {
            for (uint64_t j = span.first; j < span.first + span.count; j++) {
                CHECK(sum_element(proof, part, j, sends));
            }
        }
    }
    proof->rank = line->first;
    for (uint64_t i = 0; i < proof->elements; i++) {
        EXPECT(proof->state[i] != SENT, "is in the line of who sends what nobody gets");
    }
    return NULL;
}

static const char *execute_sums(struct proof *proof, uint64_t *messages)
{
    uint32_t part = (proof->step - proof->first_step) / proof->phase->period;
    for (uint32_t rank = 0; rank < proof->ranks; rank++) {
        struct ar_move move = move_of(proof, rank, proof->step);
        proof->rank = rank;
        /* The line is within the ranks, has this one, and its first member is in the same one. */
        const struct ar_line *line = &move.line;
        uint32_t ahead = rank - line->first;
        bool is_line = line->count >= 2 && line->stride >= 1 &&
                       line->first + (uint64_t)(line->count - 1) * line->stride < proof->ranks &&
                       rank >= line->first && ahead % line->stride == 0 &&
                       ahead / line->stride < line->count;
        struct ar_line same = is_line ? move_of(proof, line->first, proof->step).line : *line;
        EXPECT(is_line && same.first == line->first && same.count == line->count &&
                   same.stride == line->stride,
               "is in no line of a switch that knows it");
        if (rank == line->first) {
            CHECK(sum_line(proof, part, line));
        }
        *messages += move.sends;
    }
    return NULL;
}

/* --- what phases promise --------------------------------------------------------------------- */

/* The move of the rank a number of periods later (or earlier); none beyond the phase. */
static struct ar_move move_after(const struct proof *proof, int64_t periods)
{
    int64_t at = proof->step + periods * ar_phase_period(proof->phase);
    int64_t end = (int64_t)proof->first_step + proof->phase->steps;
    if (at < proof->first_step || at >= end) {
        return (struct ar_move){.sends = false, .receive = AR_RECEIVE_NONE};
    }
    return move_of(proof, proof->rank, (uint32_t)at);
}

/* A walk keeps its peers and passes on what it gets. */
static const char *check_walk(const struct proof *proof, const struct ar_move *move)
{
    struct ar_move before = move_after(proof, -1);
    if (!move->sends) {
        return NULL;
    }
    EXPECT(!before.sends || move->send_to == before.send_to, changes_peer);
    EXPECT(before.receive == AR_RECEIVE_NONE ||
               slices_equal(&move->send_span, &before.receive_span),
           "does not send what it received in the step before");
    bool at_first = move_of(proof, proof->rank, proof->first_step).sends;
    uint32_t end = proof->first_step + (at_first ? 0 : proof->phase->steps - 1);
    EXPECT(proof->step == end || move_after(proof, at_first ? -1 : 1).sends,
           "sends, but not in one run from the first or to the last step of its phase");
    return NULL;
}

/* Every hop of a tree carries all parts, in order, one in every period, and only once. */
static const char *check_tree(const struct proof *proof, const struct ar_move *move)
{
    const struct ar_phase *phase = proof->phase;
    uint32_t part = 0;
    struct ar_span whole = {.first = 0, .count = proof->elements};
    if (!move->sends) {
        return NULL;
    }
    for (struct ar_move before = move_after(proof, -1); before.sends;
         before = move_after(proof, -1 - (int64_t)part)) {
        EXPECT(before.send_to == move->send_to, changes_peer);
        part++;
    }
    bool goes_on = move_after(proof, 1).sends;
    struct ar_slice expected = ar_slice_all(ar_span_part(whole, phase->parts, part));
    EXPECT(part < phase->parts && goes_on == (part + 1 < phase->parts) &&
               slices_equal(&move->send_span, &expected),
           "does not send all parts one after the other");
    for (uint32_t i = 0; i < phase->steps && part == 0; i++) {
        struct ar_move other = move_of(proof, proof->rank, proof->first_step + i);
        bool is_same_place = (proof->step - proof->first_step) % phase->period == i % phase->period;
        EXPECT(!other.sends || !is_same_place || proof->first_step + i >= proof->step,
               "sends the buffer twice over a hop");
        EXPECT(!other.sends || is_same_place || other.send_to != move->send_to,
               "sends to the same rank at two places of a period");
    }
    return NULL;
}

/* In every step all positions send as many pieces, as far ahead. */
static bool is_shift(const struct proof *proof)
{
    uint64_t pieces = proof->phase->pieces;
    struct ar_move first =
        ar_algorithm_move(proof->algorithm, proof->shape, pieces, 0, proof->step);
    struct ar_move move =
        ar_algorithm_move(proof->algorithm, proof->shape, pieces, proof->rank, proof->step);
    return first.sends && move.sends && first.send_span.count == move.send_span.count &&
           move.send_to == (proof->rank + first.send_to) % proof->ranks;
}

/* Checks the promises of a phase in one of its steps. */
static const char *check_phase_step(struct proof *proof)
{
    const struct ar_phase *phase = proof->phase;
    bool adds = proof->step - proof->first_step < phase->copies_from;
    enum ar_receive expected = adds ? AR_RECEIVE_REDUCE : AR_RECEIVE_COPY;
    uint64_t max = (proof->elements + phase->parts - 1) / phase->parts;
    for (proof->rank = 0; proof->rank < proof->ranks; proof->rank++) {
        struct ar_move move = move_of(proof, proof->rank, proof->step);
        EXPECT(move.receive == AR_RECEIVE_NONE || move.receive == expected,
               "receive is not of the kind its phase says");
        EXPECT(!move.sends || move.send_span.count <= max,
               "sends more than the share its phase says");
        EXPECT(!phase->is_shift || is_shift(proof), "does not send as far ahead as the others");
        CHECK(phase->kind == AR_PHASE_TREE   ? check_tree(proof, &move)
              : phase->kind == AR_PHASE_WALK ? check_walk(proof, &move)
                                             : NULL);
    }
    return NULL;
}

static const char *execute_phase(struct proof *proof)
{
    const struct ar_phase *phase = proof->phase;
    uint64_t messages = 0;
    bool has_sums = phase->kind == AR_PHASE_SUMS && phase->steps > 0;
    bool has_period = has_sums || phase->kind == AR_PHASE_TREE;
    proof->step = proof->first_step;
    proof->rank = 0;
    EXPECT(phase->period <= AR_PERIOD_MAX && (phase->period > 0) == has_period &&
               (!has_sums || phase->steps == phase->parts * phase->period),
           "phase has a period that it may not have");
    memset(proof->part, 0, proof->elements * sizeof *proof->part);
    for (uint32_t i = 0; i < phase->steps; i++) {
        proof->step = proof->first_step + i;
        CHECK(check_phase_step(proof));
        if (i == 0 || !phase->is_at_once) { /* what is sent was there before the step, or phase */
            memcpy(proof->before, proof->now,
                   proof->ranks * proof->elements * proof->words * sizeof *proof->now);
        }
        CHECK(has_sums ? execute_sums(proof, &messages) : execute_step(proof, &messages));
    }
    EXPECT(messages == phase->messages, "phase has another number of messages than it says");
    return NULL;
}

/* --- proofs ---------------------------------------------------------------------------------- */

static const char *run_moves(struct proof *proof)
{
    struct ar_phase phases[AR_PHASES_MAX];
    uint32_t phases_count = ar_algorithm_phases(proof->algorithm, proof->shape, phases);
    for (uint32_t rank = 0; rank < proof->ranks; rank++) {
        for (uint64_t element = 0; element < proof->elements; element++) {
            struct ar_operation_place place = place_of(proof, rank, element);
            uint64_t *set = set_of(proof, proof->now, rank, element);
            bool is_held = ar_operation_holds(proof->algorithm->operation, &place, rank);
            set[rank / 64] = (uint64_t)is_held << rank % 64;
        }
    }
    for (uint32_t i = 0; i < phases_count; i++) {
        proof->phase = &phases[i];
        CHECK(execute_phase(proof));
        proof->first_step += phases[i].steps;
    }
    proof->step = proof->first_step;
    for (proof->rank = 0; proof->rank < proof->ranks; proof->rank++) {
        for (uint64_t element = 0; element < proof->elements; element++) {
            /* An element must hold what the operation wants there and, if any, nothing else. */
            struct ar_operation_place place = place_of(proof, proof->rank, element);
            const uint64_t *set = set_of(proof, proof->now, proof->rank, element);
            bool wants_any = false, has_more = false;
            for (uint32_t from = 0; from < proof->ranks; from++) {
                bool has = (set[from / 64] >> from % 64 & 1) != 0;
                bool wants = ar_operation_wants(proof->algorithm->operation, &place, from);
                wants_any = wants_any || wants;
                has_more = has_more || (has && !wants);
                EXPECT(has || !wants, "lacks a contribution at the end");
            }
            EXPECT(!wants_any || !has_more, "has a contribution at the end that is not wanted");
        }
    }
    return NULL;
}

enum ar_status ar_verify(const struct ar_algorithm *algorithm, const struct ar_shape *shape,
                         uint64_t elements, struct ar_error *err)
{
    AR_TRY(ar_algorithm_check_shape(algorithm, shape, err));
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t ranks = ar_shape_ranks(shape);
    size_t words = (ranks + 63) / 64, all = ranks * elements * words;
    struct proof proof = {.algorithm = algorithm,
                          .shape = shape,
                          .ranks = ranks,
                          .elements = elements,
                          .words = words,
                          .now = ar_arena_alloc(&arena, all, sizeof *proof.now),
                          .before = ar_arena_alloc(&arena, all, sizeof *proof.before),
                          .part = ar_arena_alloc(&arena, elements, sizeof *proof.part),
                          .sums = ar_arena_alloc(&arena, elements * words, sizeof *proof.sums),
                          .state = ar_arena_alloc(&arena, elements, sizeof *proof.state)};
    const char *complaint = run_moves(&proof);
    AR_REFUSE(complaint != NULL, err, AR_INTERNAL,
              "%s, algorithm %s, shape %s, %" PRIu64 " elements, step %" PRIu32 ", rank %" PRIu32
              ": %s",
              algorithm->operation->name, algorithm->name, AR_SHOW_SHAPE(shape), elements,
              proof.step, proof.rank, complaint);
    return AR_OK;
}

static enum ar_status verify_shape(const struct ar_algorithm *algorithm,
                                   const struct ar_shape *shape, uint64_t *cases,
                                   struct ar_error *err)
{
    enum { PRIME = 101 };
    uint32_t ranks = ar_shape_ranks(shape);
    const uint64_t counts[] = {0, 1, ranks - 1, ranks, ranks + 1, PRIME};
    if (ar_algorithm_check_shape(algorithm, shape, AR_IGNORED) != AR_OK) {
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
        AR_TRY(verify_shape(algorithm, &(struct ar_shape){.x = x, .y = y}, cases, err));
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
