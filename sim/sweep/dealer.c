#include "dealer.h"

#include <stdlib.h>

#include "pool.h"

static int compare(const void *a, const void *b)
{
    const struct deal *left = a;
    const struct deal *right = b;
    if (left->cost_s != right->cost_s) {
        return left->cost_s < right->cost_s ? 1 : -1;
    }
    return (left->point > right->point) - (left->point < right->point);
}

enum ar_status dealer_create(const struct space *space, const struct journal *journal,
                             struct dealer *dealer, struct ar_error *err)
{
    *dealer = (struct dealer){.deals = calloc(space->points_count, sizeof *dealer->deals)};
    if (dealer->deals == NULL) {
        return ar_error_no_memory(err, "the points of a sweep");
    }
    for (uint32_t i = 0; i < space->points_count; i++) {
        float cost_s = space->points[i].cost_s;
        if (journal->places[i] == 0 || !journal->is_ok[i]) {
            dealer->deals[dealer->count++] =
                (struct deal){cost_s < (float)POOL_CHEAP_S ? 0 : cost_s, i};
            dealer->cost_s += cost_s;
        }
    }
    qsort(dealer->deals, dealer->count, sizeof *dealer->deals, compare);
    return AR_OK;
}

void dealer_destroy(struct dealer *dealer)
{
    free(dealer->deals);
    dealer->deals = NULL;
}

double dealer_next_s(const struct dealer *dealer)
{
    return dealer->next < dealer->count ? dealer->deals[dealer->next].cost_s : 0;
}

uint32_t dealer_deal(struct dealer *dealer, uint32_t capacity, struct request *request)
{
    request->count = 0;
    while (request->count < capacity && request->count < CHUNK_MAX &&
           dealer->next < dealer->count) {
        request->points[request->count++] = dealer->deals[dealer->next++].point;
    }
    return request->count;
}

void dealer_finish(struct dealer *dealer, const struct space *space, uint32_t point)
{
    dealer->finished++;
    dealer->finished_cost_s += space->points[point].cost_s;
}
