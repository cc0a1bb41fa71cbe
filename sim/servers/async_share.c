#include "async_share.h"
#include "ar_arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what transfers take of links ------------------------------------------------------------- */

/* A part that a transfer takes of a link of the cluster. */
struct part {
    uint32_t link, transfer;
    double s_per_byte;
};

struct parts {
    struct ar_arena *arena;
    struct part *list;
    size_t count;
    double *frac;      /* [link of the cluster]: of the transfer at hand */
    uint32_t *touched; /* links whose frac is not 0 */
    uint32_t touched_count;
};

static void add_path(struct parts *parts, const struct ar_path *path, double frac)
{
    for (uint32_t i = 0; i < path->links_count; i++) {
        uint32_t link = path->links[i];
        if (parts->frac[link] == 0) {
            parts->touched[parts->touched_count++] = link;
        }
        parts->frac[link] += frac;
    }
}

static enum ar_status end_transfer(struct parts *parts, const struct ar_cluster *cluster,
                                   uint32_t transfer, struct ar_error *err)
{
    struct part *list =
        ar_arena_grow(parts->arena, parts->list, parts->count, parts->touched_count, sizeof *list);
    AR_NEED(list, err, "the links of servers");
    parts->list = list;
    for (uint32_t i = 0; i < parts->touched_count; i++) {
        uint32_t link = parts->touched[i];
        parts->list[parts->count++] = (struct part){
            link, transfer, parts->frac[link] / ar_cluster_link_bandwidth(cluster, link)};
        parts->frac[link] = 0;
    }
    parts->touched_count = 0;
    return AR_OK;
}

/* Latency and bytes of each slice: the last message counts, and the gaps of all. */
static void add_costs(const struct ar_async *run, const struct ar_path *path, double frac,
                      double *latency_s, double *bytes)
{
    const struct ar_message_cost *cost = &ar_cluster_facts(run->cluster)->message;
    for (uint32_t i = 0; i < run->slices_count; i++) {
        double own = frac * (double)run->slices[i].bytes;
        latency_s[i] =
            fmax(latency_s[i], path->latency_s + ar_message_extra_s(cost, path->tier, own));
        bytes[i] += ar_message_gap_s(cost, path->tier) * path->bandwidth_Bps;
    }
}

/* The messages of one GPU in a transfer. */
static void add_messages(const struct ar_async *run, const struct async_plan *plan, uint32_t gpu,
                         uint32_t way, double *latency_s, double *bytes, struct async_share *share,
                         struct parts *parts)
{
    struct ar_path path;
    for (uint32_t i = 0; i < plan->shards_count; i++) {
        uint32_t place = async_plan_place(run, &plan->shards[i], gpu);
        double frac = plan->shards[i].frac / run->gpus_each;
        bool is_push = way == ASYNC_PUSH;
        if (place != gpu) {
            ar_cluster_path(run->cluster, is_push ? gpu : place, is_push ? place : gpu, &path);
            add_path(parts, &path, frac);
            add_costs(run, &path, frac, latency_s, bytes);
            share->messages++;
        }
    }
}

static enum ar_status find_parts(const struct ar_async *run, const struct async_plan *plan,
                                 struct async_share *share, struct parts *parts,
                                 struct ar_error *err)
{
    for (uint32_t transfer = 0; transfer < share->transfers_count; transfer++) {
        uint32_t way = transfer % ASYNC_WAYS;
        uint32_t first = transfer / ASYNC_WAYS * run->gpus_each;
        double *latency_s = share->latency_s + (size_t)transfer * run->slices_count;
        double *bytes = share->bytes + (size_t)transfer * run->slices_count;
        for (uint32_t i = 0; i < run->slices_count; i++) {
            bytes[i] = (double)run->slices[i].bytes;
        }
        for (uint32_t i = 0; i < run->gpus_each; i++) {
            add_messages(run, plan, first + i, way, latency_s, bytes, share, parts);
        }
        for (uint32_t i = 0; i < run->slices_count; i++) {
            latency_s[i] += way == ASYNC_PUSH ? run->slices[i].sum_s : run->slices[i].hand_s;
        }
        AR_TRY(end_transfer(parts, run->cluster, transfer, err));
    }
    return AR_OK;
}

/* --- links that are alike, and links that are never full -------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
    const struct part *first = a;
    const struct part *second = b;
    if (first->link != second->link) {
        return first->link < second->link ? -1 : 1;
    }
    return (first->transfer > second->transfer) - (first->transfer < second->transfer);
}

/* A link by its parts. */
struct column {
    const struct part *parts;
    uint32_t count;
};

static int compare_columns(const void *a, const void *b)
{
    const struct column *first = a;
    const struct column *second = b;
    if (first->count != second->count) {
        return first->count < second->count ? 1 : -1;
    }
    for (uint32_t i = 0; i < first->count; i++) {
        const struct part *left = &first->parts[i];
        const struct part *right = &second->parts[i];
        if (left->transfer != right->transfer) {
            return left->transfer < right->transfer ? -1 : 1;
        }
        if (left->s_per_byte != right->s_per_byte) {
            return left->s_per_byte < right->s_per_byte ? 1 : -1;
        }
    }
    return 0;
}

/* Is a link never full before another one, with as many parts or more? */
static bool is_covered(const struct column *column, const struct column *by)
{
    uint32_t j = 0;
    for (uint32_t i = 0; i < column->count; i++) {
        while (j < by->count && by->parts[j].transfer < column->parts[i].transfer) {
            j++;
        }
        if (j == by->count || by->parts[j].transfer != column->parts[i].transfer ||
            column->parts[i].s_per_byte > by->parts[j].s_per_byte * (1 + 1e-9)) {
            return false;
        }
    }
    return true;
}

/* Sorts the columns, those with most parts first, and keeps those that matter. */
static uint32_t keep_columns(struct column *columns, uint32_t count)
{
    uint32_t kept = 0;
    qsort(columns, count, sizeof *columns, compare_columns);
    for (uint32_t i = 0; i < count; i++) {
        bool is_needed = true;
        for (uint32_t j = 0; j < kept && is_needed; j++) {
            is_needed = !is_covered(&columns[i], &columns[j]);
        }
        if (is_needed) {
            columns[kept++] = columns[i];
        }
    }
    return kept;
}

static enum ar_status find_columns(const struct parts *parts, struct ar_arena *arena,
                                   struct column **columns, uint32_t *count, struct ar_error *err)
{
    *count = 0;
    for (size_t i = 0; i < parts->count; i++) {
        *count += i == 0 || parts->list[i].link != parts->list[i - 1].link;
    }
    *columns = ar_arena_alloc(arena, *count + 1, sizeof **columns);
    AR_NEED(*columns, err, "the links of servers");
    struct column *at = *columns - 1;
    for (size_t i = 0; i < parts->count; i++) {
        if (i == 0 || parts->list[i].link != parts->list[i - 1].link) {
            *++at = (struct column){.parts = &parts->list[i]};
        }
        at->count++;
    }
    *count = keep_columns(*columns, *count);
    return AR_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static enum ar_status make_room(struct ar_arena *arena, size_t uses, struct async_share *share,
                                struct ar_error *err)
{
    size_t links = (size_t)share->links_count + 1;
    share->of_links = ar_arena_alloc(arena, uses + 1, sizeof *share->of_links);
    share->of_transfers = ar_arena_alloc(arena, uses + 1, sizeof *share->of_transfers);
    share->link_begin = ar_arena_alloc(arena, links, sizeof *share->link_begin);
    share->left = ar_arena_alloc(arena, links, sizeof *share->left);
    share->load = ar_arena_alloc(arena, links, sizeof *share->load);
    share->waiting = ar_arena_alloc(arena, links, sizeof *share->waiting);
    share->busy = ar_arena_alloc(arena, links, sizeof *share->busy);
    bool is_made = share->of_links != NULL && share->of_transfers != NULL &&
                   share->link_begin != NULL && share->left != NULL && share->load != NULL &&
                   share->waiting != NULL && share->busy != NULL;
    return is_made ? AR_OK : ar_error_no_memory(err, "the links of servers");
}

static enum ar_status make_table(const struct column *columns, struct ar_arena *arena,
                                 struct async_share *share, struct ar_error *err)
{
    size_t uses = 0;
    for (uint32_t i = 0; i < share->links_count; i++) {
        uses += columns[i].count;
    }
    AR_TRY(make_room(arena, uses, share, err));
    uint32_t *next = ar_arena_alloc(arena, share->transfers_count, sizeof *next);
    AR_NEED(next, err, "the links of servers");
    uses = 0;
    for (uint32_t i = 0; i < share->links_count; i++) {
        share->link_begin[i] = (uint32_t)uses;
        for (uint32_t j = 0; j < columns[i].count; j++) {
            const struct part *part = &columns[i].parts[j];
            share->of_links[uses++] = (struct async_use){part->transfer, part->s_per_byte};
            share->transfer_begin[part->transfer + 1]++;
        }
    }
    share->link_begin[share->links_count] = (uint32_t)uses;
    for (uint32_t i = 0; i < share->transfers_count; i++) {
        share->transfer_begin[i + 1] += share->transfer_begin[i];
        next[i] = share->transfer_begin[i];
    }
    for (uint32_t i = 0; i < share->links_count; i++) {
        for (uint32_t j = share->link_begin[i]; j < share->link_begin[i + 1]; j++) {
            const struct async_use *use = &share->of_links[j];
            share->of_transfers[next[use->other]++] = (struct async_use){i, use->s_per_byte};
        }
    }
    return AR_OK;
}

static enum ar_status make(const struct ar_async *run, const struct async_plan *plan,
                           struct parts *parts, struct ar_arena *arena, struct async_share *share,
                           struct ar_error *err)
{
    struct column *columns;
    AR_TRY(find_parts(run, plan, share, parts, err));
    qsort(parts->list, parts->count, sizeof *parts->list, compare_parts);
    AR_TRY(find_columns(parts, arena, &columns, &share->links_count, err));
    return make_table(columns, arena, share, err);
}

enum ar_status async_share_make(const struct ar_async *run, const struct async_plan *plan,
                                struct ar_arena *arena, struct async_share *share,
                                struct ar_error *err)
{
    size_t count = (size_t)run->workers * ASYNC_WAYS;
    size_t links = ar_cluster_links_count(run->cluster);
    struct parts parts = {.arena = arena,
                          .frac = ar_arena_alloc(arena, links, sizeof *parts.frac),
                          .touched = ar_arena_alloc(arena, links, sizeof *parts.touched)};
    *share = (struct async_share){
        .transfers_count = (uint32_t)count,
        .transfer_begin = ar_arena_alloc(arena, count + 1, sizeof *share->transfer_begin),
        .latency_s = ar_arena_alloc(arena, count * run->slices_count, sizeof(double)),
        .bytes = ar_arena_alloc(arena, count * run->slices_count, sizeof(double)),
        .rate_Bps = ar_arena_alloc(arena, count, sizeof(double))};
    AR_NEED(parts.frac && parts.touched && share->transfer_begin && share->latency_s &&
                share->bytes && share->rate_Bps,
            err, "the links of servers");
    return make(run, plan, &parts, arena, share, err);
}

/* --- rates ------------------------------------------------------------------------------------ */

/* Links that the active transfers use, with what they would take; their number. */
static uint32_t begin(struct async_share *share, const uint32_t *active, uint32_t active_count)
{
    uint32_t busy_count = 0;
    for (uint32_t i = 0; i < active_count; i++) {
        uint32_t transfer = active[i];
        uint32_t end = share->transfer_begin[transfer + 1];
        share->rate_Bps[transfer] = share->transfer_begin[transfer] == end ? INFINITY : -1;
        for (uint32_t j = share->transfer_begin[transfer]; j < end; j++) {
            const struct async_use *use = &share->of_transfers[j];
            if (share->waiting[use->other] == 0) {
                share->busy[busy_count++] = use->other;
                share->left[use->other] = 1;
                share->load[use->other] = 0;
            }
            share->waiting[use->other]++;
            share->load[use->other] += use->s_per_byte;
        }
    }
    return busy_count;
}

static void settle(struct async_share *share, uint32_t transfer, double rate_Bps)
{
    share->rate_Bps[transfer] = rate_Bps;
    for (uint32_t i = share->transfer_begin[transfer]; i < share->transfer_begin[transfer + 1];
         i++) {
        const struct async_use *use = &share->of_transfers[i];
        share->waiting[use->other]--;
        share->left[use->other] -= rate_Bps * use->s_per_byte;
        share->load[use->other] -= use->s_per_byte;
    }
}

/* Settles the transfers of the links that are full first. */
static void fill(struct async_share *share, uint32_t busy_count, double level_Bps)
{
    for (uint32_t i = 0; i < busy_count; i++) {
        uint32_t link = share->busy[i];
        if (share->waiting[link] == 0 ||
            share->left[link] > share->load[link] * level_Bps * (1 + 1e-12)) {
            continue;
        }
        for (uint32_t j = share->link_begin[link]; j < share->link_begin[link + 1]; j++) {
            if (share->rate_Bps[share->of_links[j].other] < 0) {
                settle(share, share->of_links[j].other, level_Bps);
            }
        }
    }
}

void async_share_rates(struct async_share *share, const uint32_t *active, uint32_t active_count)
{
    uint32_t busy_count = begin(share, active, active_count);
    while (busy_count > 0) {
        double level_Bps = INFINITY;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < busy_count; i++) {
            uint32_t link = share->busy[i];
            if (share->waiting[link] > 0) {
                level_Bps = fmin(level_Bps, share->left[link] / share->load[link]);
                share->busy[kept++] = link;
            }
        }
        busy_count = kept;
        fill(share, busy_count, fmax(level_Bps, 1)); /* rounding leaves nobody without a rate */
    }
}
