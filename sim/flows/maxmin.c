#include "flows.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Shares closer than this are one level: they come from sums in different order. */
#define SAME_SHARE 1e-12

void ar_maxmin_create(struct ar_arena *arena, const struct ar_cluster *cluster, size_t links_count,
                      size_t taken_max, struct ar_maxmin *maxmin)
{
    *maxmin = (struct ar_maxmin){
        .cluster = cluster,
        .arena = arena,
        .numbers = ar_arena_alloc(arena, links_count, sizeof *maxmin->numbers),
        .bandwidth_Bps = ar_arena_room(arena, taken_max, sizeof *maxmin->bandwidth_Bps),
        .known = ar_arena_room(arena, taken_max, sizeof *maxmin->known),
        .carried = ar_arena_room(arena, taken_max, sizeof *maxmin->carried),
        .folded = ar_arena_room(arena, taken_max, sizeof *maxmin->folded),
        .loads = ar_arena_room(arena, taken_max, sizeof *maxmin->loads),
        .messages = ar_arena_room(arena, taken_max, sizeof *maxmin->messages),
        .users = ar_arena_room(arena, taken_max, sizeof *maxmin->users),
        .flows = ar_arena_room(arena, taken_max, sizeof *maxmin->flows),
        .used = ar_arena_room(arena, taken_max, sizeof *maxmin->used),
        .tight_of = ar_arena_room(arena, taken_max, sizeof *maxmin->tight_of),
        .waiting = ar_arena_room(arena, taken_max, sizeof *maxmin->waiting),
        .lowest_Bps = ar_arena_room(arena, taken_max, sizeof *maxmin->lowest_Bps),
        .left_Bps = ar_arena_room(arena, taken_max, sizeof *maxmin->left_Bps),
        .share_Bps = ar_arena_room(arena, taken_max, sizeof *maxmin->share_Bps),
        .final_Bps = ar_arena_room(arena, taken_max, sizeof *maxmin->final_Bps),
    };
}

/* --- paths ---------------------------------------------------------------------------------- */

void paths_make_links_room(struct ar_arena *arena, size_t used, size_t more, struct ar_paths *paths)
{
    ar_memory_require(used + more < UINT32_MAX, "the links of all paths");
    if (used + more > paths->links_room) {
        size_t before = paths->links_room, added = used + more + 2 * paths->flows_room - before;
        paths->links = ar_arena_grow(arena, paths->links, before, added, sizeof *paths->links);
        paths->turns = ar_arena_grow(arena, paths->turns, before, added, sizeof *paths->turns);
        paths->links_room = before + added;
    }
}

void paths_make_flows_room(struct ar_arena *arena, size_t count, struct ar_paths *paths)
{
    if (count > paths->flows_room) {
        paths->flows_room = count;
        paths->begin = ar_arena_room(arena, count + 1, sizeof *paths->begin);
        paths->switches_s = ar_arena_room(arena, count, sizeof *paths->switches_s);
        paths->bandwidth_Bps = ar_arena_room(arena, count, sizeof *paths->bandwidth_Bps);
        paths->tiers = ar_arena_room(arena, count, sizeof *paths->tiers);
    }
}

/* The number of a link, which gets one the first time. */
static uint32_t link_number(struct ar_maxmin *maxmin, uint32_t link)
{
    if (maxmin->numbers[link] == 0) {
        uint32_t number = maxmin->known_count++;
        maxmin->known[number] = link;
        maxmin->bandwidth_Bps[number] = ar_cluster_link_bandwidth(maxmin->cluster, link);
        maxmin->carried[number] = maxmin->folded[number] = maxmin->loads[number] = 0;
        maxmin->messages[number] = maxmin->flows[number] = 0;
        maxmin->users[number] = (struct ar_link_users){0, 0};
        maxmin->numbers[link] = number + 1;
    }
    return maxmin->numbers[link] - 1;
}

void ar_maxmin_find_paths(struct ar_maxmin *maxmin, const struct ar_flow *flows, size_t count,
                          uint32_t period)
{
    struct ar_paths *paths = &maxmin->paths;
    struct ar_arena *arena = maxmin->arena;
    paths_make_flows_room(arena, count, paths);
    paths->count = count;
    paths->begin[0] = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t used = paths->begin[i];
        struct ar_path path;
        ar_cluster_path(maxmin->cluster, flows[i].source, flows[i].destination, &path);
        paths_make_links_room(arena, used, path.links_count, paths);
        paths->switches_s[i] = path.switches_s;
        paths->bandwidth_Bps[i] = path.bandwidth_Bps;
        paths->tiers[i] = path.tier;
        for (uint32_t j = 0; j < path.links_count; j++, used++) {
            uint32_t link = path.links[j];
            if (maxmin->has_equal_gpus) {
                link = ar_cluster_link_of_first_gpu(maxmin->cluster, link);
            }
            if (maxmin->like_ranks > 0) {
                link = ar_cluster_like_link(maxmin->cluster, maxmin->like_ranks, link,
                                            &paths->turns[used]);
            } else if (period > 0) {
                link = ar_cluster_first_link(maxmin->cluster, period, link, &paths->turns[used]);
            }
            paths->links[used] = link_number(maxmin, link);
        }
        paths->begin[i + 1] = used;
    }
}

/* --- shares --------------------------------------------------------------------------------- */

/* Counts the flows on all links; returns how many the fullest has. */
static uint32_t count_flows(struct ar_maxmin *maxmin, const struct ar_paths *paths)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < maxmin->used_count; i++) {
        maxmin->flows[maxmin->used[i]] = 0;
    }
    maxmin->used_count = 0;
    for (size_t i = 0; i < paths->begin[paths->count]; i++) {
        uint32_t flows = ++maxmin->flows[paths->links[i]];
        if (flows == 1) {
            maxmin->used[maxmin->used_count++] = paths->links[i];
        }
        most = flows > most ? flows : most;
    }
    for (size_t flow = 0; flow < paths->count && maxmin->like_ranks > 0; flow++) {
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            maxmin->flows[paths->links[i]] += maxmin->repeats[flow] - 1;
        }
    }
    for (uint32_t i = 0, like; i < maxmin->used_count && maxmin->like_ranks > 0; i++) {
        uint32_t link = maxmin->used[i];
        ar_cluster_like_link(maxmin->cluster, maxmin->like_ranks, maxmin->known[link], &like);
        maxmin->flows[link] /= like;
        most = maxmin->flows[link] > most ? maxmin->flows[link] : most;
    }
    return most;
}

bool ar_maxmin_is_overfull(struct ar_maxmin *maxmin)
{
    const struct ar_paths *paths = &maxmin->paths;
    bool is_overfull = false;
    count_flows(maxmin, paths);
    for (uint32_t i = 0; i < maxmin->used_count; i++) {
        maxmin->left_Bps[maxmin->used[i]] = maxmin->bandwidth_Bps[maxmin->used[i]] * (1 + 1e-9);
    }
    for (size_t flow = 0; flow < paths->count; flow++) {
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            maxmin->left_Bps[paths->links[i]] -= paths->bandwidth_Bps[flow];
            is_overfull = is_overfull || maxmin->left_Bps[paths->links[i]] < 0;
        }
    }
    return is_overfull;
}

/* The least of what the links of a path have. */
static double least_of_links(const double *of_links, const uint32_t *links, size_t count)
{
    double least_Bps = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        double Bps = of_links[links[i]];
        least_Bps = Bps < least_Bps ? Bps : least_Bps;
    }
    return least_Bps;
}

/* One round: settles whom it can of the open flows; returns how many are left. A flow is settled
 * where a link of its path gives to all of its flows the least that they get anywhere: then no
 * other link leaves anything of it to them. */
static size_t flows_settle(struct ar_maxmin *maxmin, size_t open_count, double *rates_Bps)
{
    size_t left = 0, settled = 0;
    /* Finds the share that each link would give, and the least one of each open flow. */
    for (uint32_t i = 0; i < maxmin->tight_count; i++) {
        uint32_t waiting = maxmin->waiting[i];
        maxmin->share_Bps[i] = waiting > 0 ? maxmin->left_Bps[i] / waiting : HUGE_VAL;
        maxmin->lowest_Bps[i] = HUGE_VAL;
    }
    for (size_t i = 0; i < open_count; i++) {
        uint32_t flow = maxmin->open[i], count = maxmin->begin[flow + 1] - maxmin->begin[flow];
        const uint32_t *links = maxmin->links_left + maxmin->begin[flow];
        double level = least_of_links(maxmin->share_Bps, links, count);
        level = level < maxmin->bounds_Bps[flow] ? level : maxmin->bounds_Bps[flow];
        maxmin->levels[flow] = level;
        for (size_t j = 0; j < count; j++) {
            double lowest_Bps = maxmin->lowest_Bps[links[j]];
            maxmin->lowest_Bps[links[j]] = level < lowest_Bps ? level : lowest_Bps;
        }
    }
    for (uint32_t i = 0; i < maxmin->tight_count; i++) {
        bool is_final = maxmin->share_Bps[i] <= maxmin->lowest_Bps[i] * (1 + SAME_SHARE);
        maxmin->final_Bps[i] = is_final ? maxmin->share_Bps[i] : HUGE_VAL;
    }
    for (size_t i = 0; i < open_count; i++) {
        uint32_t flow = maxmin->open[i], first = maxmin->begin[flow];
        double level = maxmin->levels[flow];
        double final_Bps = least_of_links(maxmin->final_Bps, maxmin->links_left + first,
                                          maxmin->begin[flow + 1] - first);
        bool is_final = level >= maxmin->bounds_Bps[flow] || final_Bps <= level * (1 + SAME_SHARE);
        rates_Bps[flow] = is_final ? level : -1;
        settled += is_final;
    }
    for (size_t i = 0; settled < open_count && i < open_count; i++) {
        uint32_t flow = maxmin->open[i];
        if (rates_Bps[flow] < 0) {
            maxmin->open[left++] = flow;
            continue;
        }
        for (size_t j = maxmin->begin[flow]; j < maxmin->begin[flow + 1]; j++) {
            maxmin->waiting[maxmin->links_left[j]]--;
            maxmin->left_Bps[maxmin->links_left[j]] -= rates_Bps[flow];
        }
    }
    return left;
}

bool ar_maxmin_share(struct ar_maxmin *maxmin)
{
    const struct ar_paths *paths = &maxmin->paths;
    struct ar_arena *arena = maxmin->arena;
    size_t count = paths->count;
    if (count > maxmin->flows_room) {
        size_t flows = maxmin->flows_room = paths->flows_room;
        maxmin->rates_Bps = ar_arena_room(arena, flows, sizeof *maxmin->rates_Bps);
        maxmin->begin = ar_arena_room(arena, flows + 1, sizeof *maxmin->begin);
        maxmin->bounds_Bps = ar_arena_room(arena, flows, sizeof *maxmin->bounds_Bps);
        maxmin->open = ar_arena_room(arena, flows, sizeof *maxmin->open);
        maxmin->levels = ar_arena_room(arena, flows, sizeof *maxmin->levels);
    }
    if (maxmin->links_left == NULL || paths->begin[count] > maxmin->links_room) {
        maxmin->links_room = paths->links_room;
        maxmin->links_left = /* one more than all may be written */
            ar_arena_room(arena, paths->links_room + 1, sizeof *maxmin->links_left);
    }
    if (count_flows(maxmin, paths) == 1) { /* no link has two */
        memcpy(maxmin->rates_Bps, paths->bandwidth_Bps, paths->count * sizeof *maxmin->rates_Bps);
        return true;
    }
    /* All flows wait on the links that they share. A link with one flow bounds it. */
    maxmin->tight_count = 0;
    for (uint32_t i = 0; i < maxmin->used_count; i++) {
        uint32_t link = maxmin->used[i];
        if (maxmin->flows[link] > 1) {
            maxmin->waiting[maxmin->tight_count] = maxmin->flows[link];
            maxmin->left_Bps[maxmin->tight_count] = maxmin->bandwidth_Bps[link];
            maxmin->tight_of[link] = maxmin->tight_count++;
        }
    }
    uint32_t left = 0;
    for (uint32_t flow = 0; flow < paths->count; flow++) {
        double bound_Bps = HUGE_VAL;
        maxmin->open[flow] = flow;
        maxmin->begin[flow] = left;
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            uint32_t link = paths->links[i];
            bool is_alone = maxmin->flows[link] == 1;
            double Bps = is_alone ? maxmin->bandwidth_Bps[link] : HUGE_VAL;
            bound_Bps = Bps < bound_Bps ? Bps : bound_Bps;
            maxmin->links_left[left] = maxmin->tight_of[link]; /* any, where it is alone */
            left += !is_alone;
        }
        maxmin->bounds_Bps[flow] = bound_Bps;
    }
    maxmin->begin[paths->count] = left;
    size_t open = flows_settle(maxmin, paths->count, maxmin->rates_Bps);
    while (open > 0 && maxmin->like_ranks == 0) {
        open = flows_settle(maxmin, open, maxmin->rates_Bps);
    }
    return open == 0;
}

uint32_t ar_maxmin_narrowest(const struct ar_maxmin *maxmin, size_t flow, uint32_t *flows)
{
    const struct ar_paths *paths = &maxmin->paths;
    uint32_t narrowest = 0;
    double min_Bps = -1;
    for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
        uint32_t link = paths->links[i], on_link = maxmin->flows[link];
        double each_Bps = maxmin->bandwidth_Bps[link] / on_link;
        if (min_Bps < 0 || each_Bps < min_Bps) {
            min_Bps = each_Bps;
            narrowest = maxmin->known[link];
            *flows = on_link;
        }
    }
    return narrowest;
}
