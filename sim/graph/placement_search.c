#include <math.h>
#include <string.h>

#include "ar_draw.h"
#include "ar_operators.h"

/* Operators and needs that are looked at in a search, all graphs together: some seconds. */
#define LOOKS_MAX 4e7

/* Costs that annealing takes to begin with and in the end, as a part of the time it began with. */
#define HOT_FRAC  0.03
#define COLD_FRAC 1e-4

struct search {
    const struct ar_operators *operators;
    const struct ar_placement_search *request;
    uint32_t *devices;  /* [operator]: the placement */
    double *used_bytes; /* [device] */
    double end_s;       /* of the placement */
    uint64_t tries_left;
    struct ar_draw *draw;
};

static enum ar_status search_end(const struct search *search, double *end_s, struct ar_error *err)
{
    struct ar_arena scratch AR_ENDS_HERE = {NULL};
    struct ar_graph *graph =
        ar_operators_graph(search->operators, search->devices, search->request->devices_count,
                           search->request->hops, &scratch);
    AR_TRY(ar_graph_schedule(graph, err));
    *end_s = ar_graph_end_s(graph);
    return AR_OK;
}

static bool has_room(const struct search *search, uint32_t op, uint32_t device)
{
    double more = (double)search->operators->list[op].memory_bytes;
    return search->request->room_bytes == 0 ||
           search->used_bytes[device] + more <= search->request->room_bytes;
}

static void put_operator(struct search *search, uint32_t op, uint32_t device)
{
    double bytes = (double)search->operators->list[op].memory_bytes;
    search->used_bytes[search->devices[op]] -= bytes;
    search->used_bytes[device] += bytes;
    search->devices[op] = device;
}

/* --- where it begins -------------------------------------------------------------------------- */

static enum ar_status place_first(struct search *search, struct ar_error *err)
{
    const struct ar_operators *operators = search->operators;
    for (uint32_t i = 0; i < operators->count; i++) {
        uint32_t number = operators->order[i], device = 0;
        while (device < search->request->devices_count && !has_room(search, number, device)) {
            device++;
        }
        AR_REFUSE(device == search->request->devices_count, err, AR_USAGE,
                  "%s: operator \"%.60s\" with %.4g bytes of memory has no room on %u GPUs of %.4g "
                  "bytes; expected more GPUs, or a placement",
                  operators->path, operators->list[number].name,
                  (double)operators->list[number].memory_bytes, search->request->devices_count,
                  search->request->room_bytes);
        search->devices[number] = device;
        search->used_bytes[device] += (double)operators->list[number].memory_bytes;
    }
    return search_end(search, &search->end_s, err);
}

/* When an operator would end on a device, after those that are placed. */
static double end_on(const struct search *search, const double *ends_s, const double *free_s,
                     uint32_t number, uint32_t device)
{
    const struct ar_operators *operators = search->operators;
    const struct ar_hops *hops = search->request->hops;
    const struct ar_operator *op = &operators->list[number];
    double start_s = free_s[device];
    AR_EACH(const uint32_t, other, operators->needs + op->needs_first, op->needs_count) {
        double there_s = ends_s[*other];
        if (search->devices[*other] != device) {
            struct ar_hop_time hop = hops->find(hops->context, search->devices[*other], device,
                                                operators->list[*other].output_bytes);
            there_s += hop.time_s + hop.latency_s;
        }
        start_s = fmax(start_s, there_s);
    }
    return start_s + op->time_s;
}

/* Puts each operator where it would end first; takes that placement if it ends earlier, and no
 * operator is left without room. */
static enum ar_status construct_placement(struct search *search, struct ar_arena *arena,
                                          struct ar_error *err)
{
    uint32_t count = search->operators->count, devices = search->request->devices_count;
    double *ends_s = ar_arena_alloc(arena, count + 1u, sizeof *ends_s);
    double *free_s = ar_arena_alloc(arena, devices, sizeof *free_s);
    double *used = ar_arena_copy(arena, search->used_bytes, devices, sizeof *used);
    uint32_t *before = ar_arena_copy(arena, search->devices, count, sizeof *before);
    double end_s = INFINITY;
    memset(search->used_bytes, 0, devices * sizeof *search->used_bytes);
    bool has_room_for_all = true;
    for (uint32_t i = 0; i < count && has_room_for_all; i++) {
        uint32_t number = search->operators->order[i], best = UINT32_MAX;
        for (uint32_t device = 0; device < devices; device++) {
            double own_s = end_on(search, ends_s, free_s, number, device);
            if (has_room(search, number, device) &&
                (best == UINT32_MAX || own_s < ends_s[number])) {
                best = device;
                ends_s[number] = own_s;
            }
        }
        has_room_for_all = best != UINT32_MAX;
        if (has_room_for_all) {
            search->devices[number] = best;
            search->used_bytes[best] += (double)search->operators->list[number].memory_bytes;
            free_s[best] = ends_s[number];
        }
    }
    if (has_room_for_all) {
        AR_TRY(search_end(search, &end_s, err));
    }
    if (end_s < search->end_s) {
        search->end_s = end_s;
    } else {
        memcpy(search->devices, before, count * sizeof *before);
        memcpy(search->used_bytes, used, devices * sizeof *used);
    }
    return AR_OK;
}

/* --- moves ------------------------------------------------------------------------------------ */

/* Moves an operator if it then ends at most `allowed_s` later than before. */
static enum ar_status try_move(struct search *search, uint32_t op, uint32_t device,
                               double allowed_s, bool *is_moved, struct ar_error *err)
{
    uint32_t before = search->devices[op];
    double end_s;
    *is_moved = false;
    if (device == before || !has_room(search, op, device) || search->tries_left == 0) {
        return AR_OK;
    }
    search->tries_left--;
    put_operator(search, op, device);
    AR_TRY(search_end(search, &end_s, err));
    *is_moved = end_s < search->end_s + allowed_s;
    if (*is_moved) {
        search->end_s = end_s;
    } else {
        put_operator(search, op, before);
    }
    return AR_OK;
}

/* A random device, or, every other time, that of something that the operator needs. */
static uint32_t draw_device(const struct search *search, uint32_t op)
{
    const struct ar_operator *at = &search->operators->list[op];
    if (at->needs_count > 0 && ar_draw_choice(search->draw, 2) == 0) {
        uint32_t need = at->needs_first + ar_draw_choice(search->draw, at->needs_count);
        return search->devices[search->operators->needs[need]];
    }
    return ar_draw_choice(search->draw, search->request->devices_count);
}

static enum ar_status anneal_by_moves(struct search *search, uint32_t *best, struct ar_error *err)
{
    uint32_t count = search->operators->count;
    double best_s = search->end_s, began_s = search->end_s;
    uint64_t moves = search->tries_left;
    memcpy(best, search->devices, count * sizeof *best);
    for (uint64_t move = 0; move < moves; move++) {
        double cost_s =
            began_s * HOT_FRAC * pow(COLD_FRAC / HOT_FRAC, (double)move / (double)moves);
        uint32_t op = ar_draw_choice(search->draw, count);
        double allowed_s = -cost_s * log(ar_draw_uniform(search->draw, 1e-12, 1));
        bool is_moved;
        AR_TRY(try_move(search, op, draw_device(search, op), allowed_s, &is_moved, err));
        if (search->end_s < best_s) {
            best_s = search->end_s;
            memcpy(best, search->devices, count * sizeof *best);
        }
    }
    memcpy(search->devices, best, count * sizeof *best);
    return AR_OK;
}

enum ar_status ar_placement_find(const struct ar_operators *operators,
                                 const struct ar_placement_search *request, struct ar_arena *arena,
                                 uint32_t **devices, struct ar_error *err)
{
    struct search search = {
        .operators = operators,
        .request = request,
        .devices = ar_arena_alloc(arena, operators->count + 1u, sizeof *search.devices),
        .used_bytes = ar_arena_alloc(arena, request->devices_count, sizeof *search.used_bytes)};
    uint32_t *best = ar_arena_alloc(arena, operators->count + 1u, sizeof *best);
    search.draw = ar_draw_create(request->seed, "placement", arena);
    double looks = LOOKS_MAX / (operators->count + (double)operators->needs_count);
    uint64_t tries = (uint64_t)fmax(looks / 4, 1);
    search.tries_left = tries;
    AR_TRY(place_first(&search, err));
    AR_TRY(construct_placement(&search, arena, err));
    bool has_moved = true;
    while (has_moved && search.tries_left > 0) {
        has_moved = false;
        for (uint32_t i = 0; i < search.operators->count; i++) {
            for (uint32_t device = 0; device < search.request->devices_count; device++) {
                bool is_moved;
                AR_TRY(try_move(&search, search.operators->order[i], device, 0, &is_moved, err));
                has_moved = has_moved || is_moved;
            }
        }
    }
    search.tries_left = tries < 20000 ? tries : 20000;
    AR_TRY(request->is_annealed ? anneal_by_moves(&search, best, err) : AR_OK);
    *devices = search.devices;
    return AR_OK;
}
