#include "walks.h"

#include <assert.h>

const struct ar_walks *ar_cluster_walks(const struct ar_cluster *cluster)
{
    return cluster->walks.count > 0 ? &cluster->walks : NULL;
}

uint32_t ar_walks_gpu(const struct ar_walks *walks, uint32_t channel, uint32_t present,
                      uint32_t place)
{
    const uint8_t *walk = walks->gpu[channel % walks->count];
    if (present == walks->gpus_count) {
        return walk[place];
    }
    assert(place < present && present < walks->gpus_count);
    for (uint32_t i = 0;; i++) {
        if (walk[i] < present && place-- == 0) {
            return walk[i];
        }
    }
}

uint32_t ar_walks_place(const struct ar_walks *walks, uint32_t channel, uint32_t present,
                        uint32_t gpu)
{
    uint32_t full = walks->place[channel % walks->count][gpu];
    if (present == walks->gpus_count) {
        return full;
    }
    const uint8_t *walk = walks->gpu[channel % walks->count];
    uint32_t place = 0;
    for (uint32_t i = 0; i < full; i++) {
        place += walk[i] < present;
    }
    return place;
}

static bool are_all_alike(const struct ar_topo_values *values)
{
    uint32_t gpus = values->count[TOPO_GPUS];
    for (uint32_t a = 0; a < gpus; a++) {
        for (uint32_t b = 0; b < gpus; b++) {
            if (a != b && values->weight[a][b] != values->weight[0][1]) {
                return false;
            }
        }
    }
    return true;
}

/* How far the zigzag of a channel is shifted. The zigzag of g GPUs ends g/2 behind its start. So
 * with an even number C of HCAs, C/2 shifts by the GPUs of an HCA and their ways back begin and end
 * at each HCA once; with an odd one, C shifts do. Then all of them are shifted by one GPU more. */
static uint32_t shift_of(uint32_t gpus, uint32_t hcas, uint32_t channel, bool *is_backwards)
{
    uint32_t round = channel / hcas;
    uint32_t within = channel % hcas;
    *is_backwards = (hcas % 2 == 0 ? within : round) % 2 == 1;
    uint32_t turn = hcas % 2 == 0 ? within / 2 : within;
    return (turn * (gpus / hcas) + (hcas % 2 == 0 ? round : round / 2)) % gpus;
}

static void shift_zigzags(uint32_t gpus, uint32_t hcas, struct ar_walks *walks)
{
    walks->count = gpus * (hcas % 2 == 0 ? 1 : 2);
    walks->count = walks->count <= AR_WALKS_MAX ? walks->count : AR_WALKS_MAX / hcas * hcas;
    for (uint32_t channel = 0; channel < walks->count; channel++) {
        bool is_backwards;
        uint32_t shift = shift_of(gpus, hcas, channel, &is_backwards);
        for (uint32_t i = 0; i < gpus; i++) {
            uint32_t index = is_backwards ? gpus - 1 - i : i;
            walks->gpu[channel][i] = (uint8_t)((ar_zigzag(gpus, index) + shift) % gpus);
        }
    }
}

static void fill_inverse(struct ar_walks *walks)
{
    for (uint32_t channel = 0; channel < walks->count; channel++) {
        for (uint32_t i = 0; i < walks->gpus_count; i++) {
            walks->place[channel][walks->gpu[channel][i]] = (uint8_t)i;
        }
    }
}

void ar_topo_find_walks(const struct ar_topo_values *values, struct ar_walks *walks)
{
    uint32_t gpus = values->count[TOPO_GPUS];
    uint32_t hcas = values->count[TOPO_HCAS];
    walks->gpus_count = gpus;
    walks->count = 0;
    bool is_found = !are_all_alike(values) && ar_topo_search_walks(values, walks);
    if (!is_found && hcas > 2) {
        shift_zigzags(gpus, hcas, walks);
    }
    fill_inverse(walks);
}
