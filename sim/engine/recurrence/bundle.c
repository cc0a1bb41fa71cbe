#include "bundle.h"

#include <string.h>

double *bundle_lane(struct ar_arena *arena, size_t count)
{
    double *numbers = ar_arena_alloc(arena, count + BUNDLE_LINE_NUMBERS, sizeof *numbers);
    size_t beyond = (uintptr_t)numbers / sizeof *numbers % BUNDLE_LINE_NUMBERS;
    return numbers != NULL ? numbers + (BUNDLE_LINE_NUMBERS - beyond) : NULL;
}

static double bytes_at(const struct ar_collective *collective, uint64_t elements, uint32_t position,
                       uint32_t step)
{
    struct ar_move move =
        ar_algorithm_move(collective->algorithm, &collective->shape, elements, position, step);
    return (double)(move.send_span.count * collective->element_bytes);
}

/* All sends of the phase are those of the rows, and each row passes on what it has just got. */
static bool are_rows_whole(const struct bundle *bundle, const struct ar_phase *phase)
{
    uint64_t messages = 0;
    for (uint32_t row = 0; row < bundle->rows; row++) {
        const struct bundle_row *send = &bundle->send[row];
        messages += (uint64_t)(send->end - send->first) * bundle->walks;
        uint32_t passes_from = send->first > 0 ? send->first : 1;
        if (row > 0 && send->end > passes_from &&
            (passes_from - 1 < bundle->send[row - 1].first ||
             send->end - 1 > bundle->send[row - 1].end)) {
            return false;
        }
    }
    return messages == phase->messages;
}

/* Walks stand lane after lane: the first of a lane. */
static uint32_t first_walk(const struct ar_pattern *pattern, uint32_t lane)
{
    uint32_t low = 0, high = pattern->walks_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pattern->walks[middle].lane < lane) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Counts the walks of a lane; false if they are not all alike. */
static bool count_walks(const struct ar_pattern *pattern, uint32_t lane, struct bundle *bundle)
{
    for (uint32_t i = first_walk(pattern, lane);
         i < pattern->walks_count && pattern->walks[i].lane == lane; i++) {
        const struct ar_walk *walk = &pattern->walks[i];
        if (bundle->walks == 0) {
            bundle->rows = walk->count;
            bundle->is_ring = walk->is_ring;
        }
        if (walk->count != bundle->rows || walk->is_ring != bundle->is_ring) {
            return false;
        }
        bundle->walks++;
    }
    return bundle->walks > 0;
}

static void lay_out_walks(const struct ar_pattern *pattern, uint32_t lane, struct bundle *bundle)
{
    uint32_t index = 0;
    for (uint32_t i = first_walk(pattern, lane);
         i < pattern->walks_count && pattern->walks[i].lane == lane; i++) {
        const struct ar_walk *walk = &pattern->walks[i];
        const struct ar_hop *hops = pattern->hops + walk->first;
        for (uint32_t row = 0; row < walk->count; row++) {
            size_t place = (size_t)row * bundle->walks + index;
            bundle->positions[place] = hops[row].from;
            bundle->latency_s[place] = hops[row].latency_s;
            bundle->s_per_byte[place] = 1 / hops[row].rate_Bps;
            bundle->tiers[place] = hops[row].tier;
            bundle->send[row].first = hops[row].first_step;
            bundle->send[row].end = hops[row].first_step + hops[row].sends;
        }
        if (!walk->is_ring) {
            bundle->positions[(size_t)walk->count * bundle->walks + index] =
                hops[walk->count - 1].to;
        }
        index++;
    }
}

enum ar_status bundle_create(struct ar_arena *arena, const struct ar_phase *phase,
                             const struct ar_pattern *pattern, uint32_t lane, struct bundle *bundle,
                             struct ar_error *err)
{
    *bundle = (struct bundle){.is_regular = false};
    if (phase->steps == 0 || !count_walks(pattern, lane, bundle)) {
        return AR_OK;
    }
    bundle->places_count = bundle->walks * (bundle->rows + !bundle->is_ring);
    /* One piece for all, since there may be many thousands of lanes. */
    size_t places = bundle->places_count;
    size_t line = (places + BUNDLE_LINE_NUMBERS - 1) / BUNDLE_LINE_NUMBERS * BUNDLE_LINE_NUMBERS;
    size_t each = sizeof *bundle->positions + sizeof *bundle->tiers;
    size_t rest = places * each + bundle->rows * sizeof *bundle->send;
    bundle->latency_s = bundle_lane(arena, 2 * line + rest / sizeof(double) + 1);
    AR_NEED(bundle->latency_s, err, "the hops of a phase");
    bundle->s_per_byte = bundle->latency_s + line;
    bundle->send = (void *)(bundle->s_per_byte + line);
    bundle->positions = (void *)(bundle->send + bundle->rows);
    bundle->tiers = (void *)(bundle->positions + places);
    lay_out_walks(pattern, lane, bundle);
    bundle->is_regular = bundle->is_ring
                             ? phase->messages == (uint64_t)phase->steps * bundle->places_count
                             : are_rows_whole(bundle, phase);
    return AR_OK;
}

bool bundle_is_alike(const struct bundle *one, const struct bundle *other)
{
    size_t places = one->places_count;
    return one->is_regular && other->is_regular && one->is_ring == other->is_ring &&
           one->rows == other->rows && one->walks == other->walks &&
           memcmp(one->positions, other->positions, places * sizeof *one->positions) == 0 &&
           memcmp(one->latency_s, other->latency_s, places * sizeof *one->latency_s) == 0 &&
           memcmp(one->s_per_byte, other->s_per_byte, places * sizeof *one->s_per_byte) == 0 &&
           memcmp(one->tiers, other->tiers, places * sizeof *one->tiers) == 0 &&
           memcmp(one->send, other->send, one->rows * sizeof *one->send) == 0;
}

size_t bundle_bytes_capacity(const struct bundle *bundle, const struct ar_phase *phase)
{
    /* A ring is written twice; into a chain come the messages of its first row. */
    size_t rows =
        bundle->is_ring ? 2 * (size_t)bundle->rows : bundle->rows + 1 + (size_t)phase->steps;
    return rows * bundle->walks;
}

/* What a place receives the one before it sends, so every other row tells of two. */
static void fill_ring(const struct ar_collective *collective, const struct bundle *bundle,
                      uint32_t first_step, uint64_t elements, double *bytes)
{
    size_t walks = bundle->walks;
    size_t places = bundle->places_count;
    for (uint32_t row = 0; row < bundle->rows; row += 2) {
        for (size_t place = row * walks; place < (row + 1) * walks; place++) {
            size_t sender = (row > 0 ? place : place + places) - walks;
            struct ar_move move = ar_algorithm_move(collective->algorithm, &collective->shape,
                                                    elements, bundle->positions[place], first_step);
            bytes[place] = (double)(move.send_span.count * collective->element_bytes);
            bytes[sender] = (double)(move.receive_span.count * collective->element_bytes);
        }
    }
    memcpy(bytes + places, bytes, places * sizeof *bytes);
}

size_t bundle_bytes(const struct ar_collective *collective, const struct bundle *bundle,
                    const struct ar_phase *phase, uint32_t first_step, uint64_t elements,
                    double *bytes)
{
    size_t walks = bundle->walks;
    if (bundle->is_ring) {
        fill_ring(collective, bundle, first_step, elements, bytes);
        return bundle->places_count;
    }
    size_t origin = phase->steps * walks;
    for (size_t place = 0; place < bundle->rows * walks; place++) {
        bytes[origin + place] =
            bytes_at(collective, elements, bundle->positions[place], first_step);
    }
    for (uint32_t step = 1; step < bundle->send[0].end; step++) {
        for (size_t index = 0; index < walks; index++) {
            bytes[origin - step * walks + index] =
                bytes_at(collective, elements, bundle->positions[index], first_step + step);
        }
    }
    return origin;
}

void bundle_price(const struct bundle *bundle, const struct ar_message_cost *cost, double bytes,
                  double *latency_s, double *s_per_byte)
{
    for (size_t place = 0; place < bundle->places_count; place++) {
        enum ar_tier tier = bundle->tiers[place];
        latency_s[place] = bundle->latency_s[place] + ar_message_extra_s(cost, tier, bytes);
        s_per_byte[place] = bundle->s_per_byte[place] + ar_message_gap_s(cost, tier) / bytes;
    }
}
