/* Orders of the GPUs of a node: zigzags where all pairs are alike, else searched along NVLinks, and
 * from one PCIe switch to the next where NVLinks do not join all GPUs. */
#include <string.h>

#include "ar_numbers.h"
#include "fabric.h"

/* --- search ----------------------------------------------------------------------------------- */

/* Searches orders along NVLinks alone, by backtracking: depth first, order after order, GPU after
 * GPU, wide NVLinks first.
 *
 * - From the last GPU back to the first there is an NVLink, too, if such orders are found.
 * - Begins and ends are spread evenly over the HCAs (ar_order.h).
 * - With 1 HCA or an even number of them, each odd order is the one before it backwards, if such
 *   orders are found.
 * - The largest load of an NVLink (orders over weight) is least for all orders together, then for
 *   the first ones among such sets: bounds on it are tried from the smallest up, and each is given
 *   up after a fixed number of steps.
 *
 * There are as many orders as could fill all NVLinks of a GPU and serve all HCAs evenly, 64 at
 * most; if these are not found, the least number that serves the HCAs evenly, or none. */
/* A step takes about 20 ns, so that a cluster is loaded in a few milliseconds. */
enum { STEPS_OF_AN_ATTEMPT = 20000, STEPS_OF_ALL = 50000 };

struct search {
    const struct ar_topo_values *values;
    struct ar_gpu_orders *orders; /* the last ones that were found */
    uint32_t gpus, hcas;
    uint32_t count;
    uint32_t stride; /* 2: the order after each is the same backwards */
    bool are_cycles; /* NVLink from the last GPU to the first */
    uint32_t widest; /* weight of the heaviest pair */
    uint8_t neighbours[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX]; /* of each GPU, heaviest first */
    uint32_t degree[AR_TOPO_GPUS_MAX];
    uint32_t bounds[AR_GPU_ORDERS_MAX]; /* of each order: NVLink load may be this over `widest` */
    uint32_t steps_left, steps_of_all_left;
    uint8_t gpu[AR_GPU_ORDERS_MAX][AR_TOPO_GPUS_MAX]; /* the orders so far */
    uint32_t uses[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX];
    uint32_t starts[AR_TOPO_GPUS_MAX], ends[AR_TOPO_GPUS_MAX]; /* of orders so far, per HCA */
};

static bool extend_gpu_order(struct search *search, uint32_t order, uint32_t place,
                             uint64_t visited);

static bool nvlink_fits(const struct search *search, uint32_t order, uint32_t a, uint32_t b)
{
    uint32_t weight = search->values->weight[a][b];
    return (search->uses[a][b] + 1) * search->widest <= search->bounds[order] * weight;
}

static void use_nvlink(struct search *search, uint32_t a, uint32_t b, int change)
{
    search->uses[a][b] += (uint32_t)change;
    if (search->stride == 2) {
        search->uses[b][a] += (uint32_t)change;
    }
}

static uint32_t hca_of(const struct search *search, uint32_t gpu)
{
    return gpu * search->hcas / search->gpus;
}

/* Notes that an order begins and ends at its HCAs and is closed, if a cycle; or forgets it. */
static void close_order(struct search *search, uint32_t first, uint32_t last, int change)
{
    uint32_t start = hca_of(search, first), end = hca_of(search, last);
    search->starts[start] += (uint32_t)change;
    search->ends[end] += (uint32_t)change;
    if (search->stride == 2) {
        search->starts[end] += (uint32_t)change;
        search->ends[start] += (uint32_t)change;
    }
    if (search->are_cycles) {
        use_nvlink(search, last, first, change);
    }
}

/* All GPUs have a place: on to the next order. Each `hcas` orders in turn serve each HCA once. */
static bool finish_order(struct search *search, uint32_t order)
{
    uint32_t first = search->gpu[order][0], last = search->gpu[order][search->gpus - 1];
    uint32_t start = hca_of(search, first), end = hca_of(search, last);
    bool is_free = search->ends[end] == order / search->hcas &&
                   (search->stride == 1 || search->hcas == 1 || start != end);
    if (!is_free || (search->are_cycles && !nvlink_fits(search, order, last, first))) {
        return false;
    }
    close_order(search, first, last, 1);
    bool is_found = order + search->stride >= search->count ||
                    extend_gpu_order(search, order + search->stride, 0, 0);
    if (!is_found) {
        close_order(search, first, last, -1);
    }
    return is_found;
}

static bool extend_gpu_order(struct search *search, uint32_t order, uint32_t place,
                             uint64_t visited)
{
    if (place == search->gpus) {
        return finish_order(search, order);
    }
    if (search->steps_left == 0) {
        return false;
    }
    search->steps_left--;
    uint32_t here = place > 0 ? search->gpu[order][place - 1] : 0;
    uint32_t choices = place > 0 ? search->degree[here] : search->gpus;
    for (uint32_t i = 0; i < choices; i++) {
        uint32_t next = place > 0 ? search->neighbours[here][i] : i;
        bool is_free = place > 0
                           ? (visited >> next & 1) == 0 && nvlink_fits(search, order, here, next)
                           : search->starts[hca_of(search, next)] == order / search->hcas;
        if (!is_free) {
            continue;
        }
        search->gpu[order][place] = (uint8_t)next;
        if (place > 0) {
            use_nvlink(search, here, next, 1);
        }
        if (extend_gpu_order(search, order, place + 1, visited | 1ull << next)) {
            return true;
        }
        if (place > 0) {
            use_nvlink(search, here, next, -1);
        }
    }
    return false;
}

/* Every GPU sends on each order that is a cycle, and must have NVLinks for them. An order that is
 * none leaves one GPU out; it is bounded as if it did not. */
static bool can_hold(const struct search *search, uint32_t orders, uint32_t bound)
{
    for (uint32_t a = 0; a < search->gpus; a++) {
        uint32_t capacity = 0;
        for (uint32_t b = 0; b < search->gpus; b++) {
            capacity += bound * search->values->weight[a][b] / search->widest;
        }
        if (search->are_cycles && capacity < orders) {
            return false;
        }
    }
    return true;
}

static bool attempt_search(struct search *search)
{
    uint32_t steps = search->steps_of_all_left < STEPS_OF_AN_ATTEMPT ? search->steps_of_all_left
                                                                     : STEPS_OF_AN_ATTEMPT;
    memset(search->uses, 0, sizeof search->uses);
    memset(search->starts, 0, sizeof search->starts);
    memset(search->ends, 0, sizeof search->ends);
    search->steps_left = steps;
    bool is_found = extend_gpu_order(search, 0, 0, 0);
    search->steps_of_all_left -= steps - search->steps_left;
    if (is_found) {
        memcpy(search->orders->gpu, search->gpu, sizeof search->gpu);
    }
    return is_found;
}

/* The least bound for all orders. */
static bool find_all(struct search *search)
{
    uint32_t max = search->widest * search->count;
    for (uint32_t bound = 1; bound <= max && search->steps_of_all_left > 0; bound++) {
        for (uint32_t order = 0; order < search->count; order++) {
            search->bounds[order] = bound;
        }
        if (can_hold(search, search->count, bound) && attempt_search(search)) {
            return true;
        }
    }
    return false;
}

/* Neighbours in the order of weight; returns the most NVLinks that a GPU has. */
static uint32_t list_neighbours(struct search *search)
{
    uint32_t max = 0;
    for (uint32_t a = 0; a < search->gpus; a++) {
        uint32_t nvlinks = 0;
        for (uint32_t weight = search->widest; weight > 0; weight--) {
            for (uint32_t b = 0; b < search->gpus; b++) {
                if (search->values->weight[a][b] == weight) {
                    search->neighbours[a][search->degree[a]++] = (uint8_t)b;
                    nvlinks += weight;
                }
            }
        }
        max = nvlinks > max ? nvlinks : max;
    }
    return max;
}

/* Cycles first, then paths; pairs of an order and the same backwards before single ones. Of each,
 * as many orders as could fill all NVLinks of a GPU, else as many as serve the HCAs. */
static void search_orders(const struct ar_topo_values *values, struct ar_gpu_orders *orders)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct search *search = ar_arena_alloc(&arena, 1, sizeof *search);
    bool is_found = false;
    for (uint32_t kind = 0; kind < 4 && !is_found; kind++) {
        uint32_t stride = 2 - kind % 2;
        memset(search, 0, sizeof *search);
        search->values = values;
        search->orders = orders;
        search->gpus = values->count[TOPO_GPUS];
        search->hcas = values->count[TOPO_HCAS] > 0 ? values->count[TOPO_HCAS] : 1;
        search->stride = stride;
        search->are_cycles = kind < 2;
        search->steps_of_all_left = STEPS_OF_ALL;
        for (uint32_t a = 0; a < search->gpus; a++) {
            for (uint32_t b = 0; b < search->gpus; b++) {
                uint32_t weight = values->weight[a][b];
                search->widest = weight > search->widest ? weight : search->widest;
            }
        }
        uint32_t block = ar_common_multiple(search->hcas, stride);
        uint32_t count = ar_common_multiple(block, list_neighbours(search));
        search->count = count <= AR_GPU_ORDERS_MAX ? count : AR_GPU_ORDERS_MAX / block * block;
        bool can_pair = search->hcas == 1 || search->hcas % 2 == 0;
        is_found = (search->stride == 1 || can_pair) && find_all(search);
        if (!is_found && (search->stride == 1 || can_pair)) { /* those that serve each HCA once */
            search->count = ar_common_multiple(search->hcas, search->stride);
            search->steps_of_all_left = STEPS_OF_ALL;
            is_found = find_all(search);
        }
    }
    if (!is_found) {
        return;
    }
    /* The least bound for each order in turn: fewer channels than orders are served well. */
    uint32_t min = 1;
    for (uint32_t order = 0; order < search->count; order += search->stride) {
        uint32_t max = search->bounds[order];
        for (uint32_t bound = min; bound <= max; bound++) {
            search->bounds[order] = bound;
            if (bound == max ||
                (can_hold(search, order + search->stride, bound) && attempt_search(search))) {
                break;
            }
        }
        min = search->bounds[order];
    }
    orders->count = search->count;
    /* Every order that the search left out is the one before it backwards. */
    for (uint32_t order = 1; search->stride == 2 && order < search->count; order += 2) {
        for (uint32_t i = 0; i < search->gpus; i++) {
            orders->gpu[order][i] = orders->gpu[order - 1][search->gpus - 1 - i];
        }
    }
}

/* --- orders ----------------------------------------------------------------------------------- */

/* A pure function of the links and HCAs of a node; `count` 0: plain zigzags. */
static void find_orders(const struct ar_topo_values *values, struct ar_gpu_orders *orders)
{
    uint32_t gpus = values->count[TOPO_GPUS];
    uint32_t hcas = values->count[TOPO_HCAS];
    orders->gpus_count = gpus;
    orders->count = 0;
    bool are_all_alike = true;
    for (uint32_t a = 0; a < gpus; a++) {
        for (uint32_t b = 0; b < gpus; b++) {
            are_all_alike &= a == b || values->weight[a][b] == values->weight[0][1];
        }
    }
    if (!are_all_alike) {
        search_orders(values, orders);
    }
    uint32_t switches = values->count[TOPO_PCIE_SWITCHES];
    bool is_plain = values->needs_pcie && switches > 1 && switches < gpus;
    bool has_pairs = hcas % 2 == 0 && !is_plain; /* of an order and the same backwards */
    hcas = is_plain && hcas == 0 ? 1 : hcas;
    if (orders->count == 0 && (hcas > 2 || is_plain)) {
        orders->count = gpus * (has_pairs ? 1 : 2);
        orders->count =
            orders->count <= AR_GPU_ORDERS_MAX ? orders->count : AR_GPU_ORDERS_MAX / hcas * hcas;
        for (uint32_t channel = 0; channel < orders->count; channel++) {
            /* How far the zigzag of a channel is shifted. The zigzag of g GPUs ends g/2 behind its
             * start. So with an even number C of HCAs, C/2 shifts by the GPUs of an HCA and their
             * ways back begin and end at each HCA once; with an odd one, or of plain orders, C
             * shifts do. Then all of them are shifted by one GPU more. */
            uint32_t round = channel / hcas, within = channel % hcas;
            bool is_backwards = (has_pairs ? within : round) % 2 == 1;
            uint32_t turn = has_pairs ? within / 2 : within;
            uint32_t shift = (turn * (gpus / hcas) + (has_pairs ? round : round / 2)) % gpus;
            for (uint32_t i = 0; i < gpus; i++) {
                uint32_t index = is_backwards ? gpus - 1 - i : i;
                uint32_t place = is_plain ? index : ar_zigzag(gpus, index);
                orders->gpu[channel][i] = (uint8_t)((place + shift) % gpus);
            }
        }
    }
}

const struct ar_gpu_orders *ar_cluster_gpu_orders(const struct ar_cluster *cluster)
{
    if (cluster->orders->gpus_count == 0) { /* clusters that are only listed are not searched */
        find_orders(&cluster->values, cluster->orders);
    }
    return cluster->orders->count > 0 ? cluster->orders : NULL;
}
