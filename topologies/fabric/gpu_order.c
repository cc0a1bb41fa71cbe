#include "fabric.h"

const struct ar_gpu_orders *ar_cluster_gpu_orders(const struct ar_cluster *cluster)
{
    return cluster->orders.count > 0 ? &cluster->orders : NULL;
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

static void shift_zigzags(uint32_t gpus, uint32_t hcas, struct ar_gpu_orders *orders)
{
    orders->count = gpus * (hcas % 2 == 0 ? 1 : 2);
    orders->count =
        orders->count <= AR_GPU_ORDERS_MAX ? orders->count : AR_GPU_ORDERS_MAX / hcas * hcas;
    for (uint32_t channel = 0; channel < orders->count; channel++) {
        bool is_backwards;
        uint32_t shift = shift_of(gpus, hcas, channel, &is_backwards);
        for (uint32_t i = 0; i < gpus; i++) {
            uint32_t index = is_backwards ? gpus - 1 - i : i;
            orders->gpu[channel][i] = (uint8_t)((ar_zigzag(gpus, index) + shift) % gpus);
        }
    }
}

static void fill_inverse(struct ar_gpu_orders *orders)
{
    for (uint32_t channel = 0; channel < orders->count; channel++) {
        for (uint32_t i = 0; i < orders->gpus_count; i++) {
            orders->place[channel][orders->gpu[channel][i]] = (uint8_t)i;
        }
    }
}

enum ar_status ar_gpu_orders_find(const struct ar_topo_values *values, struct ar_gpu_orders *orders,
                                  struct ar_error *err)
{
    uint32_t gpus = values->count[TOPO_GPUS];
    uint32_t hcas = values->count[TOPO_HCAS];
    orders->gpus_count = gpus;
    orders->count = 0;
    if (!are_all_alike(values)) {
        AR_TRY(ar_gpu_orders_search(values, orders, err));
    }
    if (orders->count == 0 && hcas > 2) {
        shift_zigzags(gpus, hcas, orders);
    }
    fill_inverse(orders);
    return AR_OK;
}
