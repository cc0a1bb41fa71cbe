/* Walks of a node along its NVLinks: depth first, walk after walk, GPU after GPU, wide NVLinks
 * first. A bound on the load of NVLinks prunes it; bounds are tried from the smallest up. */
#include <string.h>

#include "walks.h"

/* Takes about 20 ns each: a cluster is loaded in a few milliseconds. */
enum { STEPS_OF_AN_ATTEMPT = 20000, STEPS_OF_ALL = 50000 };

struct search {
    const struct ar_topo_values *values;
    struct ar_walks *walks; /* the last ones that were found */
    uint32_t gpus, hcas;
    uint32_t count;
    uint32_t stride; /* 2: the walk after each is the same backwards */
    bool are_cycles; /* NVLink from the last GPU to the first */
    uint32_t widest; /* weight of the heaviest pair */
    uint8_t neighbours[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX]; /* of each GPU, heaviest first */
    uint32_t degree[AR_TOPO_GPUS_MAX];
    uint32_t bounds[AR_WALKS_MAX]; /* of each walk: NVLink load may be this over `widest` */
    uint32_t steps_left, steps_of_all_left;
    uint8_t gpu[AR_WALKS_MAX][AR_TOPO_GPUS_MAX]; /* the walks so far */
    uint32_t uses[AR_TOPO_GPUS_MAX][AR_TOPO_GPUS_MAX];
    uint32_t starts[AR_TOPO_GPUS_MAX], ends[AR_TOPO_GPUS_MAX]; /* of walks so far, per HCA */
};

static bool extend(struct search *search, uint32_t walk, uint32_t place, uint64_t visited);

static bool fits(const struct search *search, uint32_t walk, uint32_t a, uint32_t b)
{
    uint32_t weight = search->values->weight[a][b];
    return (search->uses[a][b] + 1) * search->widest <= search->bounds[walk] * weight;
}

static void use(struct search *search, uint32_t a, uint32_t b, int change)
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

/* Each HCA is served once by each `hcas` walks in turn. */
static bool may_start(const struct search *search, uint32_t walk, uint32_t gpu)
{
    return search->starts[hca_of(search, gpu)] == walk / search->hcas;
}

static bool may_end(const struct search *search, uint32_t walk)
{
    uint32_t start = hca_of(search, search->gpu[walk][0]);
    uint32_t end = hca_of(search, search->gpu[walk][search->gpus - 1]);
    bool is_free = search->ends[end] == walk / search->hcas;
    return is_free && (search->stride == 1 || search->hcas == 1 || start != end);
}

static void serve(struct search *search, uint32_t walk, int change)
{
    uint32_t start = hca_of(search, search->gpu[walk][0]);
    uint32_t end = hca_of(search, search->gpu[walk][search->gpus - 1]);
    search->starts[start] += (uint32_t)change;
    search->ends[end] += (uint32_t)change;
    if (search->stride == 2) {
        search->starts[end] += (uint32_t)change;
        search->ends[start] += (uint32_t)change;
    }
}

/* All GPUs stand in the walk: on to the next one. */
static bool finish(struct search *search, uint32_t walk)
{
    uint32_t first = search->gpu[walk][0];
    uint32_t last = search->gpu[walk][search->gpus - 1];
    if (!may_end(search, walk) || (search->are_cycles && !fits(search, walk, last, first))) {
        return false;
    }
    if (search->are_cycles) {
        use(search, last, first, 1);
    }
    serve(search, walk, 1);
    bool is_found =
        walk + search->stride >= search->count || extend(search, walk + search->stride, 0, 0);
    if (!is_found) {
        serve(search, walk, -1);
        if (search->are_cycles) {
            use(search, last, first, -1);
        }
    }
    return is_found;
}

static bool begin(struct search *search, uint32_t walk)
{
    for (uint32_t gpu = 0; gpu < search->gpus; gpu++) {
        search->gpu[walk][0] = (uint8_t)gpu;
        if (may_start(search, walk, gpu) && extend(search, walk, 1, 1ull << gpu)) {
            return true;
        }
    }
    return false;
}

static bool extend(struct search *search, uint32_t walk, uint32_t place, uint64_t visited)
{
    if (place == search->gpus) {
        return finish(search, walk);
    }
    if (search->steps_left == 0) {
        return false;
    }
    search->steps_left--;
    if (place == 0) {
        return begin(search, walk);
    }
    uint32_t here = search->gpu[walk][place - 1];
    for (uint32_t i = 0; i < search->degree[here]; i++) {
        uint32_t next = search->neighbours[here][i];
        if ((visited >> next & 1) != 0 || !fits(search, walk, here, next)) {
            continue;
        }
        search->gpu[walk][place] = (uint8_t)next;
        use(search, here, next, 1);
        if (extend(search, walk, place + 1, visited | 1ull << next)) {
            return true;
        }
        use(search, here, next, -1);
    }
    return false;
}

/* Every GPU sends on each walk that is a cycle, and must have NVLinks for them. A walk that is none
 * leaves one GPU out; it is bounded as if it did not. */
static bool can_hold(const struct search *search, uint32_t walks, uint32_t bound)
{
    for (uint32_t a = 0; a < search->gpus; a++) {
        uint32_t capacity = 0;
        for (uint32_t b = 0; b < search->gpus; b++) {
            capacity += bound * search->values->weight[a][b] / search->widest;
        }
        if (search->are_cycles && capacity < walks) {
            return false;
        }
    }
    return true;
}

static bool attempt(struct search *search)
{
    uint32_t steps = search->steps_of_all_left < STEPS_OF_AN_ATTEMPT ? search->steps_of_all_left
                                                                     : STEPS_OF_AN_ATTEMPT;
    memset(search->uses, 0, sizeof search->uses);
    memset(search->starts, 0, sizeof search->starts);
    memset(search->ends, 0, sizeof search->ends);
    search->steps_left = steps;
    bool is_found = extend(search, 0, 0, 0);
    search->steps_of_all_left -= steps - search->steps_left;
    if (is_found) {
        memcpy(search->walks->gpu, search->gpu, sizeof search->gpu);
    }
    return is_found;
}

/* The least bound for all walks. */
static bool find_all(struct search *search)
{
    uint32_t max = search->widest * search->count;
    for (uint32_t bound = 1; bound <= max && search->steps_of_all_left > 0; bound++) {
        for (uint32_t walk = 0; walk < search->count; walk++) {
            search->bounds[walk] = bound;
        }
        if (can_hold(search, search->count, bound) && attempt(search)) {
            return true;
        }
    }
    return false;
}

/* The least bound for each walk in turn, so that fewer channels than walks are served well. */
static void lower_bounds(struct search *search)
{
    uint32_t min = 1;
    for (uint32_t walk = 0; walk < search->count; walk += search->stride) {
        uint32_t max = search->bounds[walk];
        for (uint32_t bound = min; bound <= max; bound++) {
            search->bounds[walk] = bound;
            if (bound == max ||
                (can_hold(search, walk + search->stride, bound) && attempt(search))) {
                break;
            }
        }
        min = search->bounds[walk];
    }
}

static uint32_t common_multiple(uint32_t a, uint32_t b)
{
    uint32_t multiple = a;
    while (multiple % b != 0) {
        multiple += a;
    }
    return multiple;
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

static void prepare(const struct ar_topo_values *values, bool are_cycles, uint32_t stride,
                    struct search *search)
{
    *search = (struct search){
        .values = values,
        .walks = search->walks,
        .gpus = values->count[TOPO_GPUS],
        .hcas = values->count[TOPO_HCAS] > 0 ? values->count[TOPO_HCAS] : 1,
        .stride = stride,
        .are_cycles = are_cycles,
        .steps_of_all_left = STEPS_OF_ALL,
    };
    for (uint32_t a = 0; a < search->gpus; a++) {
        for (uint32_t b = 0; b < search->gpus; b++) {
            uint32_t weight = values->weight[a][b];
            search->widest = weight > search->widest ? weight : search->widest;
        }
    }
    uint32_t block = common_multiple(search->hcas, stride);
    uint32_t count = common_multiple(block, list_neighbours(search));
    search->count = count <= AR_WALKS_MAX ? count : AR_WALKS_MAX / block * block;
}

/* As many walks as could fill all NVLinks of a GPU, else just those that serve each HCA once. */
static bool find_max(struct search *search)
{
    if (find_all(search)) {
        return true;
    }
    search->count = common_multiple(search->hcas, search->stride);
    search->steps_of_all_left = STEPS_OF_ALL;
    return find_all(search);
}

/* Turns every walk that the search left out into the one before it backwards. */
static void add_ways_back(const struct search *search)
{
    for (uint32_t walk = 1; search->stride == 2 && walk < search->count; walk += 2) {
        for (uint32_t i = 0; i < search->gpus; i++) {
            search->walks->gpu[walk][i] = search->walks->gpu[walk - 1][search->gpus - 1 - i];
        }
    }
}

bool ar_topo_search_walks(const struct ar_topo_values *values, struct ar_walks *walks)
{
    struct search search = {.walks = walks};
    for (uint32_t kind = 0; kind < 4; kind++) {
        bool are_cycles = kind < 2;
        uint32_t stride = 2 - kind % 2;
        prepare(values, are_cycles, stride, &search);
        bool can_pair = search.hcas == 1 || search.hcas % 2 == 0;
        if ((stride == 1 || can_pair) && find_max(&search)) {
            lower_bounds(&search);
            walks->count = search.count;
            add_ways_back(&search);
            return true;
        }
    }
    return false;
}
