/* What the messages of an exchange do to the links: what these carry, and for how many. */
#include <math.h>

#include "exchange_scratch.h"

enum { SEVERAL = UINT32_MAX }; /* users of a link */

static void use(uint32_t *user, uint32_t who)
{
    *user = *user == 0 || *user == who ? who : SEVERAL;
}

/* The place that a message comes to or goes to, seen from where its link stands in the first
 * period. */
static uint32_t seen_from(const struct exchange_scratch *scratch, uint32_t first, uint32_t position,
                          uint32_t turns)
{
    uint32_t back = turns * scratch->folded;
    return first + (position >= back ? position - back : position + scratch->positions - back);
}

/* Whether a link is still used by one sender or one receiver only. */
static bool use_link(const struct exchange_scratch *scratch, uint32_t link, uint32_t sender,
                     uint32_t receiver)
{
    struct users *users = &scratch->users[link];
    use(&users->sender, 1 + sender);
    use(&users->receiver, 1 + receiver);
    return users->sender != SEVERAL || users->receiver != SEVERAL;
}

/* Whether all are. */
static bool stays_private(struct exchange_scratch *scratch)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    bool is_folded = scratch->folded < scratch->positions;
    for (uint32_t flow = 0; flow < scratch->flows_count; flow++) {
        uint32_t position = scratch->senders[flow];
        uint32_t first = scratch->places[flow] - position;
        uint32_t to = scratch->peers[position];
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            uint32_t link = paths->links[i], turns = is_folded ? paths->turns[i] : 0;
            uint32_t sender = seen_from(scratch, first, position, turns);
            uint32_t receiver = seen_from(scratch, first, to, turns);
            if (!use_link(scratch, link, sender, receiver) ||
                (scratch->present->goes_both_ways &&
                 !use_link(scratch, ar_cluster_reverse_link(link), receiver, sender))) {
                return false;
            }
        }
    }
    return true;
}

static double buffers_of(const struct exchange_scratch *scratch, const struct ar_phase *phase,
                         uint32_t flow)
{
    return (double)scratch->pieces[scratch->senders[flow]] / phase->pieces;
}

/* What the links carry, some steps together. */
static double *carried_by_links(const struct exchange_scratch *scratch, struct link_sums *sums)
{
    bool is_folded = scratch->folded < scratch->positions;
    sums->period = is_folded ? scratch->period : sums->period;
    return is_folded ? sums->folded : sums->carried;
}

/* To what a link carries, in the present step and those that it stands for: each has a mirror, or
 * half of it is that of the other half. */
static void add_to_link(const struct exchange_scratch *scratch, uint32_t link, double buffers,
                        double *carried)
{
    if (scratch->present->goes_both_ways) {
        carried[link] += buffers / 2;
        carried[ar_cluster_reverse_link(link)] += buffers / 2;
    } else {
        carried[link] += buffers;
    }
}

void exchange_add_loads(struct exchange_scratch *scratch, const struct ar_phase *phase,
                        struct link_sums *sums)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    const struct ar_maxmin *maxmin = scratch->rates;
    double *carried = carried_by_links(scratch, sums);
    uint32_t count = scratch->present->count;
    double each = scratch->flows_count > 0 ? buffers_of(scratch, phase, 0) * count : 0;
    for (uint32_t i = 0; i < maxmin->used_count && scratch->is_even; i++) {
        add_to_link(scratch, maxmin->used[i], each * maxmin->flows[maxmin->used[i]], carried);
    }
    for (uint32_t flow = 0; flow < scratch->flows_count && !scratch->is_even; flow++) {
        double buffers = buffers_of(scratch, phase, flow) * count;
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            add_to_link(scratch, paths->links[i], buffers, carried);
        }
    }
    scratch->is_private = scratch->is_private && stays_private(scratch);
}

void exchange_add_loads_at_once(struct exchange_scratch *scratch, const struct ar_phase *phase,
                                double count)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    for (uint32_t flow = 0; flow < scratch->flows_count; flow++) {
        double buffers = buffers_of(scratch, phase, flow) * count;
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            uint32_t link = paths->links[i];
            if (scratch->loads[link] == 0) {
                ar_maxmin_know(scratch->rates, link);
            }
            scratch->loads[link] += buffers;
        }
    }
    scratch->is_private = scratch->is_private && stays_private(scratch);
}

/* Half of what goes over a link goes the other way. */
static void share_both_ways(struct exchange_scratch *scratch)
{
    struct ar_maxmin *maxmin = scratch->rates;
    for (uint32_t i = 0; i < maxmin->known_count; i++) { /* which grows */
        ar_maxmin_know(maxmin, ar_cluster_reverse_link(maxmin->known[i]));
    }
    for (uint32_t i = 0; i < maxmin->known_count; i++) {
        uint32_t link = maxmin->known[i], back = ar_cluster_reverse_link(link);
        if (link < back) {
            scratch->loads[link] = scratch->loads[back] =
                (scratch->loads[link] + scratch->loads[back]) / 2;
        }
    }
}

void exchange_end_loads(struct exchange_scratch *scratch, uint32_t phases, struct link_sums *sums)
{
    const struct ar_maxmin *maxmin = scratch->rates;
    double *carried = carried_by_links(scratch, sums);
    if (scratch->present->goes_both_ways) {
        share_both_ways(scratch);
    }
    for (uint32_t i = 0; i < maxmin->known_count; i++) {
        uint32_t link = maxmin->known[i];
        double Bps = maxmin->links[link].bandwidth_Bps;
        carried[link] += scratch->loads[link] * phases;
        scratch->loads[link] /= Bps;
    }
}
