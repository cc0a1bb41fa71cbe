/* Exchanges: the messages of each step, told apart by kind, and what they do to the links. */
#include "flows.h"

#include <math.h>
#include <string.h>

/* --- users of links -------------------------------------------------------------------------- */

enum { SEVERAL_USERS = UINT32_MAX };

/* Place of a message's sender or receiver, seen from where its link lies in the first period. */
static uint32_t place_seen_from(const struct exchange_scratch *scratch, uint32_t first,
                                uint32_t position, uint32_t turns)
{
    uint32_t back = turns * scratch->period_folded;
    return first + (position >= back ? position - back : position + scratch->positions - back);
}

/* Whether all links of the present step, and of those like it, have one sender or receiver so far:
 * notes who uses them, unless that is known. */
static bool are_links_private(struct exchange_scratch *scratch)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    for (uint32_t flow = 0; flow < scratch->sent.flows_count && !scratch->has_path; flow++) {
        uint32_t position = scratch->sent.senders[flow];
        uint32_t first = scratch->sent.places[flow] - position;
        uint32_t to = scratch->sent.peers[position];
        for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
            uint32_t turns = scratch->period_folded > 0 ? paths->turns[i] : 0;
            uint32_t sender = place_seen_from(scratch, first, position, turns);
            uint32_t receiver = place_seen_from(scratch, first, to, turns);
            struct ar_link_users *users = &scratch->rates->users[paths->links[i]];
            bool has_sender = users->sender != 0 && users->sender != 1 + sender;
            bool has_receiver = users->receiver != 0 && users->receiver != 1 + receiver;
            users->sender = has_sender ? SEVERAL_USERS : 1 + sender;
            users->receiver = has_receiver ? SEVERAL_USERS : 1 + receiver;
            if (has_sender && has_receiver) {
                return false;
            }
        }
    }
    return true;
}

/* The size of a message, in buffers of a channel. */
static double flow_buffers(const struct exchange_scratch *scratch, const struct ar_phase *phase,
                           uint32_t flow)
{
    return (double)scratch->sent.pieces[scratch->sent.senders[flow]] / phase->pieces;
}

/* --- kinds of messages ----------------------------------------------------------------------- */

static bool is_same_kind(const struct ar_message_kind *a, const struct ar_message_kind *b)
{
    return a->turns == b->turns && a->rate_Bps == b->rate_Bps && a->switches_s == b->switches_s &&
           a->pieces == b->pieces && ar_tier_is_alike(a->tier, b->tier);
}

/* The number of a kind among those of the step, from `first` on; a new one if there is none. */
static uint32_t kind_find(struct ar_arena *arena, struct exchange_scratch *scratch, uint32_t first,
                          const struct ar_message_kind *kind)
{
    uint64_t bits[2];
    memcpy(&bits[0], &kind->rate_Bps, sizeof bits[0]);
    memcpy(&bits[1], &kind->switches_s, sizeof bits[1]);
    uint64_t hash = (bits[0] ^ bits[1] * 31 ^ kind->pieces) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        struct kind_slot *slot = &scratch->slots[i & scratch->slots_mask];
        if (slot->stamp != scratch->stamp) {
            *slot = (struct kind_slot){scratch->stamp, scratch->kinds_count - first};
            *AR_ARENA_ADD(arena, scratch->kinds, scratch->kinds_count) = *kind;
            return slot->kind;
        }
        if (is_same_kind(&scratch->kinds[first + slot->kind], kind)) {
            return slot->kind;
        }
    }
}

/* The rate of a message of a phase that goes at once: it leaves the busiest link of its path as the
 * last one of the phase. */
static double rate_at_once(const struct exchange_scratch *scratch, uint32_t flow, double buffers)
{
    const struct ar_paths *paths = &scratch->rates->paths;
    double longest_s = 0;
    for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
        double busy_s = scratch->rates->loads[paths->links[i]];
        longest_s = busy_s > longest_s ? busy_s : longest_s;
    }
    double rate_Bps = longest_s > 0 ? buffers / longest_s : HUGE_VAL;
    return rate_Bps < paths->bandwidth_Bps[flow] ? rate_Bps : paths->bandwidth_Bps[flow];
}

/* Finds the kinds of the messages of the present step, whose shares of the links are known. */
static void step_find_kinds(struct ar_arena *arena, struct exchange_scratch *scratch,
                            const struct ar_phase *phase, struct ar_exchange_step *step)
{
    const struct ar_maxmin *rates = scratch->rates;
    step->first_kind = scratch->kinds_count;
    scratch->stamp++;
    for (uint32_t flow = 0; flow < scratch->sent.flows_count; flow++) {
        struct ar_message_kind kind = {
            .switches_s = rates->paths.switches_s[flow],
            .rate_Bps = phase->is_at_once
                            ? rate_at_once(scratch, flow, flow_buffers(scratch, phase, flow))
                            : rates->rates_Bps[flow],
            .turns = scratch->sent.turns[flow],
            .pieces = (uint32_t)scratch->sent.pieces[scratch->sent.senders[flow]],
            .tier = rates->paths.tiers[flow],
        };
        uint32_t before = scratch->kinds_count;
        uint32_t last = flow > 0 ? scratch->kind_of[flow - 1] : 0;
        bool is_last = flow > 0 && is_same_kind(&scratch->kinds[step->first_kind + last], &kind);
        scratch->kind_of[flow] =
            is_last ? last : kind_find(arena, scratch, step->first_kind, &kind);
        if (scratch->kinds_count > before) {
            struct ar_message_kind *made = &scratch->kinds[before];
            made->link = ar_maxmin_narrowest(rates, flow, &made->flows);
            step->is_shared |= kind.rate_Bps < rates->paths.bandwidth_Bps[flow] * (1 - 1e-9);
        }
    }
    step->kinds_count = scratch->kinds_count - step->first_kind;
    /* The one kind of a step before is kept once, unless the list has just been moved. */
    const struct ar_message_kind *own = &scratch->kinds[step->first_kind];
    if (step->kinds_count == 1 && (step->first_kind & (step->first_kind - 1)) != 0 &&
        is_same_kind(own, own - 1) && own->tier == own[-1].tier && own->link == own[-1].link &&
        own->flows == own[-1].flows) {
        scratch->kinds_count = step->first_kind--;
    }
}

/* Keeps peers and kinds of the present step in the arena. */
static void exchange_keep_step(struct ar_arena *arena, struct exchange_scratch *scratch,
                               bool is_shift, struct ar_exchange_step *step)
{
    step->stride = 1;
    if (is_shift) {
        step->ahead = scratch->sent.peers[0];
        step->count = scratch->positions;
    } else {
        uint32_t senders = scratch->sent.flows_count / scratch->lanes, *peers;
        bool is_even = true; /* all senders lie as far apart as the first two */
        step->first = senders > 0 ? scratch->sent.senders[0] : 0;
        step->stride = senders > 1 ? scratch->sent.senders[1] - step->first : 1;
        for (uint32_t i = 0; i < senders && step->stride > 1; i++) {
            is_even = is_even && (scratch->sent.senders[i] - step->first) % step->stride == 0;
        }
        step->stride = is_even ? step->stride : 1;
        step->count =
            senders > 0 ? (scratch->sent.senders[senders - 1] - step->first) / step->stride + 1 : 0;
        peers = ar_arena_room(arena, step->count, sizeof *peers);
        for (uint32_t i = 0; i < step->count; i++) {
            peers[i] = scratch->sent.peers[step->first + i * step->stride];
            peers[i] = peers[i] != AR_NEVER ? peers[i] % scratch->sending : AR_NEVER;
        }
        step->peers = peers;
    }
    step->period = is_shift ? scratch->folded : step->count;
    if (step->kinds_count <= 1) {
        return;
    }
    uint32_t *kind_of =
        ar_arena_alloc(arena, (size_t)scratch->lanes * step->period, sizeof *kind_of);
    step->kind_of = kind_of;
    for (uint32_t flow = 0; flow < scratch->sent.flows_count; flow++) {
        uint32_t lane = scratch->sent.places[flow] / scratch->positions;
        uint32_t place = (scratch->sent.senders[flow] - step->first) / step->stride;
        uint32_t *of_flow = kind_of + lane * step->period + place;
        for (uint32_t node = 0; node < scratch->sent.repeats[flow]; node++) {
            of_flow[node * scratch->node] = scratch->kind_of[flow];
        }
    }
    for (uint32_t lane = 1; lane < scratch->lanes; lane++) {
        scratch->has_lanes_alike &=
            memcmp(kind_of, kind_of + lane * step->period, step->period * sizeof *kind_of) == 0;
    }
}

/* --- steps ----------------------------------------------------------------------------------- */

static void exchange_scratch_create(struct flows_scratch *all)
{
    struct ar_arena *room = all->room;
    const struct ar_collective *collective = all->collective;
    struct exchange_scratch *made = ar_arena_alloc(room, 1, sizeof *made);
    struct ar_order order = ar_collective_order(collective);
    uint32_t lanes = ar_collective_lanes(collective);
    uint32_t sending = all->flows->period;
    size_t places = (size_t)lanes * sending;
    uint32_t steps = ar_algorithm_steps(collective->algorithm, &collective->shape);
    uint32_t slots = 16;
    while (slots < 2 * places) {
        slots *= 2;
    }
    *made = (struct exchange_scratch){
        .collective = collective,
        .channels = all->flows->collective.channels,
        .rates = &all->rates,
        .positions = order.ranks,
        .lanes = lanes,
        .period = order.ranks,
        .sending = sending,
        .steps = steps,
        .ranks = ar_arena_room(room, places, sizeof *made->ranks),
        .like = ar_arena_alloc(room, steps, sizeof *made->like),
        .kind_of = ar_arena_room(room, places, sizeof *made->kind_of),
        .is_private = true,
        .has_lanes_alike = true,
        .slots = ar_arena_alloc(room, slots, sizeof *made->slots),
        .slots_mask = slots - 1,
    };
    for (size_t i = 0; i < places; i++) {
        made->ranks[i] = ar_order_rank(&order, (uint32_t)(i / sending), (uint32_t)(i % sending));
    }
    if (all->flows->is_plain) {
        for (uint32_t step = 0; step < steps; step++) {
            made->like[step] = (struct like_steps){.first = step, .count = 1};
        }
    } else {
        made->period =
            fast_steps_period(collective, ar_cluster_period(collective->cluster, order.ranks));
        made->node =
            fast_steps_period(collective, ar_cluster_facts(collective->cluster)->gpus_per_node);
        fast_steps_find(made, steps);
    }
    all->exchange = made;
}

/* Finds who sends how many pieces to whom in a step, and the messages that stand for all. Of a
 * buffer with one element to a piece, elements are pieces. */
static void step_find_flows(struct flows_scratch *all, const struct ar_phase *phase, uint32_t step)
{
    struct exchange_scratch *scratch = all->exchange;
    const struct ar_collective *collective = scratch->collective;
    uint32_t flow = 0, positions = scratch->positions, sending = scratch->sending;
    struct ar_order order = ar_collective_order(collective);
    bool is_alone = phase->messages == phase->steps && !all->flows->is_plain;
    uint32_t begin = is_alone ? fast_steps_sender(scratch, phase, step) : 0;
    uint32_t end = is_alone ? begin + 1 : scratch->folded;
    struct ar_sends sends = {.first = begin,
                             .end = phase->is_shift ? 1 : end,
                             .peers = scratch->sent.peers,
                             .counts = scratch->sent.pieces};
    ar_algorithm_sends(collective->algorithm, &collective->shape, phase->pieces, step, &sends);
    uint32_t ahead = scratch->sent.peers[0], to_end = positions - ahead;
    for (; begin < end && scratch->sent.peers[begin] == AR_NEVER; begin++) {
    }
    for (; end > begin && !phase->is_shift && scratch->sent.peers[end - 1] == AR_NEVER; end--) {
    }
    for (uint32_t lane = 0; lane < scratch->lanes; lane++) {
        const uint32_t *ranks = scratch->ranks + (size_t)lane * sending;
        uint32_t repeats = 1, node = scratch->has_repeats ? scratch->node : 1;
        for (uint32_t position = begin; position < end; position++) {
            for (uint32_t i = position;
                 phase->is_shift && position % node == 0 && i < position + node; i++) {
                scratch->sent.peers[i] = i < to_end ? i + ahead : i - to_end;
                scratch->sent.pieces[i] = scratch->sent.pieces[0];
            }
            if (scratch->has_repeats && position % node == 0) {
                repeats = fast_steps_repeats(scratch, position);
            }
            uint32_t peer = scratch->sent.peers[position];
            if (peer != AR_NEVER) {
                scratch->sent.places[flow] = lane * scratch->positions + position;
                scratch->sent.senders[flow] = position;
                scratch->sent.repeats[flow] = repeats;
                scratch->sent.flows[flow++] = (struct ar_flow){
                    ranks[position],
                    peer < sending ? ranks[peer] : ar_order_rank(&order, lane, peer)};
            }
            position += position % node == node - 1 ? (repeats - 1) * node : 0;
        }
    }
    scratch->sent.flows_count = flow;
}

static void step_find_paths(struct flows_scratch *all, const struct ar_phase *phase, uint32_t step)
{
    struct exchange_scratch *scratch = all->exchange;
    struct step_flows *sent = &scratch->sent;
    size_t places = (size_t)scratch->lanes * scratch->sending;
    if (!fast_paths_take(all, step)) {
        if (sent->peers == NULL) {
            *sent = (struct step_flows){
                .peers = ar_arena_room(all->room, scratch->sending, sizeof *sent->peers),
                .pieces = ar_arena_room(all->room, scratch->sending, sizeof *sent->pieces),
                .flows = ar_arena_room(all->room, places, sizeof *sent->flows),
                .places = ar_arena_room(all->room, places, sizeof *sent->places),
                .senders = ar_arena_room(all->room, places, sizeof *sent->senders),
                .repeats = ar_arena_room(all->room, places, sizeof *sent->repeats),
                .turns = ar_arena_room(all->room, places, sizeof *sent->turns)};
        }
        step_find_flows(all, phase, step);
        scratch->has_path = fast_steps_have_path(all, phase);
        if (!scratch->has_path) {
            paths_make_flows_room(all->room, (size_t)scratch->lanes * scratch->folded,
                                  &scratch->rates->paths); /* for all steps at once */
            ar_maxmin_find_paths(scratch->rates, scratch->sent.flows, scratch->sent.flows_count,
                                 scratch->period_folded);
        }
        sent->paths = scratch->rates->paths;
        if (all->kept != NULL) {
            all->kept[step] = *sent;
        }
    }
    scratch->rates->repeats = sent->repeats;
}

/* --- messages of a step that end at different times --- */

/* Messages of a step that have unlike times end one after the other, and leave their links to those
 * that go on: the rate of each becomes the mean one, of its size over the time until it has left.
 * After so many times the rest goes on as it is then. */
static void step_drain(struct exchange_scratch *scratch)
{
    enum { ROUNDS_MAX = 64 };
    struct ar_arena room AR_ENDS_HERE = {NULL};
    struct ar_maxmin *all = scratch->rates, rest = *all; /* still under way; in the room of all */
    size_t count = scratch->sent.flows_count;
    double *left = ar_arena_room(&room, count, sizeof *left);
    uint32_t *flows = ar_arena_room(&room, count, sizeof *flows);
    rest.paths = (struct ar_paths){.count = 0};
    rest.rates_Bps = ar_arena_room(&room, count, sizeof *rest.rates_Bps);
    rest.flows = ar_arena_alloc(&room, all->known_count, sizeof *rest.flows);
    rest.used = ar_arena_room(&room, all->known_count, sizeof *rest.used);
    rest.used_count = 0;
    paths_make_flows_room(&room, count, &rest.paths);
    paths_make_links_room(&room, 0, all->paths.begin[count], &rest.paths);
    for (uint32_t flow = 0; flow < count; flow++) {
        left[flow] = (double)scratch->sent.pieces[scratch->sent.senders[flow]];
        flows[flow] = flow;
    }
    double time = 0, *rates_Bps = all->rates_Bps;
    for (int round = 0; round < ROUNDS_MAX && count > 0; round++) {
        double first = HUGE_VAL;
        for (size_t i = 0; i < count; i++) {
            first = fmin(first, left[flows[i]] / rates_Bps[i]);
        }
        time += first;
        for (size_t i = 0; i < count; i++) {
            double size = (double)scratch->sent.pieces[scratch->sent.senders[flows[i]]];
            left[flows[i]] -= first * rates_Bps[i];
            left[flows[i]] = left[flows[i]] > 1e-9 * size ? left[flows[i]] : 0;
            all->rates_Bps[flows[i]] = size / (time + left[flows[i]] / rates_Bps[i]);
        }
        /* Takes the paths of the flows that have something left. */
        struct ar_paths *paths = &rest.paths;
        uint32_t used = 0;
        paths->count = 0;
        for (size_t i = 0; i < count; i++) {
            uint32_t flow = flows[i], begin = all->paths.begin[flow];
            uint32_t links = all->paths.begin[flow + 1] - begin;
            if (left[flow] > 0) {
                memcpy(paths->links + used, all->paths.links + begin, links * sizeof *paths->links);
                paths->begin[paths->count] = used;
                paths->bandwidth_Bps[paths->count] = all->paths.bandwidth_Bps[flow];
                flows[paths->count++] = flow;
                used += links;
            }
        }
        paths->begin[paths->count] = used;
        ar_maxmin_share(&rest);
        rates_Bps = rest.rates_Bps;
        count = paths->count;
    }
}

/* Whether all messages of the present step take as long as each other on their links. */
static bool step_ends_at_once(const struct exchange_scratch *scratch)
{
    const double *rates_Bps = scratch->rates->rates_Bps;
    for (uint32_t flow = 1; flow < scratch->sent.flows_count; flow++) {
        double all = rates_Bps[0] * (double)scratch->sent.pieces[scratch->sent.senders[flow]];
        double own = rates_Bps[flow] * (double)scratch->sent.pieces[scratch->sent.senders[0]];
        if (fabs(own - all) > 1e-9 * all) {
            return false;
        }
    }
    return true;
}

/* Says whether nodes stand for others in what is resolved next. */
static void exchange_set_repeats(struct flows_scratch *all, bool has_repeats)
{
    struct exchange_scratch *scratch = all->exchange;
    uint32_t period = has_repeats ? scratch->node : scratch->folded;
    scratch->has_repeats = has_repeats;
    scratch->rates->like_ranks = has_repeats ? scratch->positions : 0;
    scratch->period_folded = period < scratch->positions ? period : 0;
    all->period = scratch->period_folded > 0 ? scratch->period_folded : all->period;
}

static void step_resolve(struct flows_scratch *all, const struct ar_phase *phase, uint32_t step,
                         struct ar_exchange_step *made)
{
    struct exchange_scratch *scratch = all->exchange;
    if (phase->is_at_once) { /* what messages do to links is added (phase_add_loads()) */
        step_find_paths(all, phase, step);
    } else {
        bool has_repeats = scratch->can_repeat && !scratch->is_private;
        do {
            exchange_set_repeats(all, has_repeats);
            step_find_paths(all, phase, step);
            has_repeats = false;
        } while (!ar_maxmin_share(scratch->rates));
        /* The links carry the messages of the present step and of those that it stands for. */
        const struct ar_paths *paths = &scratch->rates->paths;
        double *carried = scratch->period_folded > 0 ? all->rates.folded : all->rates.carried;
        uint32_t count = scratch->like[step].count;
        for (uint32_t flow = 0; flow < scratch->sent.flows_count && !all->is_again; flow++) {
            double buffers =
                flow_buffers(scratch, phase, flow) * count * scratch->sent.repeats[flow];
            for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
                uint32_t like = scratch->has_repeats ? paths->turns[i] : 1;
                carried[paths->links[i]] += buffers / like;
            }
        }
        scratch->is_private = scratch->is_private && (all->is_again || are_links_private(scratch));
        /* Where all send alike, the next step waits for the slowest ones anyway. */
        if (!phase->is_shift && !step_ends_at_once(scratch)) {
            step_drain(scratch);
        }
    }
    const struct ar_exchange_step *before = scratch->before;
    if (before != NULL && scratch->kinds[before->first_kind].pieces == scratch->sent.pieces[0]) {
        *made = *before;
        made->ahead = scratch->sent.peers[0];
    } else {
        for (uint32_t flow = 0; flow < scratch->sent.flows_count && !all->is_again; flow++) {
            const struct ar_maxmin *rates = scratch->rates;
            scratch->sent.turns[flow] =
                flow_turns(rates, flow, phase->is_at_once ? rates->messages : rates->flows,
                           scratch->channels * (phase->is_at_once ? phase->steps : 1));
        }
        step_find_kinds(all->arena, scratch, phase, made);
        exchange_keep_step(all->arena, scratch, phase->is_shift, made);
    }
    scratch->before = scratch->has_path ? made : NULL;
    struct like_steps *like = &scratch->like[step];
    like->is_private = scratch->is_private = all->is_again ? like->is_private : scratch->is_private;
    like->made = made;
}

/* --- phases ---------------------------------------------------------------------------------- */

/* All messages of a phase that goes at once, on the links together: `loads` are then how long each
 * link takes, for each byte of a buffer. */
static void phase_add_loads(struct flows_scratch *all, const struct ar_phase *phase,
                            uint32_t first_step)
{
    struct exchange_scratch *scratch = all->exchange;
    struct ar_maxmin *maxmin = scratch->rates;
    uint32_t phases = 0; /* that are like this one */
    memset(maxmin->loads, 0, maxmin->known_count * sizeof *maxmin->loads);
    memset(maxmin->messages, 0, maxmin->known_count * sizeof *maxmin->messages);
    for (uint32_t step = 0; step < phase->steps; step++) {
        const struct like_steps *like = &scratch->like[first_step + step];
        if (like->first == first_step + step) {
            phases = like->count;
            step_find_paths(all, phase, first_step + step);
            const struct ar_paths *paths = &maxmin->paths;
            for (uint32_t flow = 0; flow < scratch->sent.flows_count; flow++) {
                double buffers = flow_buffers(scratch, phase, flow);
                for (size_t i = paths->begin[flow]; i < paths->begin[flow + 1]; i++) {
                    uint32_t link = paths->links[i];
                    maxmin->loads[link] += buffers * scratch->sent.repeats[flow];
                    maxmin->messages[link] += scratch->sent.repeats[flow];
                }
            }
            scratch->is_private = scratch->is_private && !scratch->has_repeats &&
                                  (all->is_again || are_links_private(scratch));
        }
    }
    double *carried = scratch->period_folded > 0 ? all->rates.folded : all->rates.carried;
    for (uint32_t link = 0; link < maxmin->known_count; link++) {
        if (scratch->has_repeats) { /* of all links like it so far */
            uint32_t like;
            ar_cluster_like_link(maxmin->cluster, scratch->positions, maxmin->known[link], &like);
            maxmin->loads[link] /= like;
            maxmin->messages[link] /= like;
        }
        carried[link] += all->is_again ? 0 : maxmin->loads[link] * phases;
        maxmin->loads[link] /= maxmin->bandwidth_Bps[link];
    }
}

static bool are_kinds_alike(const struct ar_message_cost *cost, const struct ar_message_kind *first,
                            const struct ar_exchange_step *step)
{
    for (uint32_t i = 1; i < step->kinds_count; i++) {
        if (first[i].switches_s != first->switches_s || first[i].pieces != first->pieces ||
            !ar_tier_is_alike(first[i].tier, first->tier) ||
            (cost->gap_s > 0 && first[i].turns != first->turns) ||
            fabs(first[i].rate_Bps - first->rate_Bps) > 1e-9 * first->rate_Bps) {
            return false;
        }
    }
    return true;
}

void flows_resolve_exchange(struct flows_scratch *all, const struct ar_phase *phase,
                            uint32_t first_step, struct ar_pattern *pattern)
{
    struct ar_exchange *made = ar_arena_alloc(all->arena, 1, sizeof *made);
    if (all->exchange == NULL) {
        exchange_scratch_create(all);
    }
    struct exchange_scratch *scratch = all->exchange;
    *made = (struct ar_exchange){
        .steps = ar_arena_alloc(all->arena, phase->steps, sizeof *made->steps),
        .smallest = UINT32_MAX,
        .is_uniform = true,
        .is_full = phase->messages == (uint64_t)phase->steps * scratch->positions,
    };
    scratch->folded = phase->is_shift ? scratch->period : scratch->sending;
    scratch->aheads[0] = scratch->aheads[1] = 0;
    scratch->before = NULL;
    scratch->can_repeat =
        phase->is_shift && (phase->is_at_once || all->kept == NULL) &&
        scratch->node < scratch->folded && scratch->folded == scratch->positions &&
        scratch->node > 1 &&
        ar_cluster_path_repeats(scratch->collective->cluster, scratch->positions, 0, 0) > 1;
    exchange_set_repeats(all, scratch->can_repeat && phase->is_at_once &&
                                  scratch->folded == phase->steps + 1);
    bool is_new = scratch->like[first_step].first >= first_step;
    if (phase->is_at_once && is_new) { /* all steps are new, or all are like those of one phase */
        phase_add_loads(all, phase, first_step);
    }
    for (uint32_t i = 0; i < phase->steps; i++) {
        const struct like_steps *own = &scratch->like[first_step + i];
        struct like_steps *first = &scratch->like[own->first];
        struct ar_exchange_step *step = &made->steps[i];
        if (first->made == NULL) {
            step_resolve(all, phase, own->first, &made->steps[own->first - first_step]);
        }
        *step = *first->made;
        made->is_uniform &= are_kinds_alike(all->cost, &scratch->kinds[step->first_kind], step);
        made->is_shared |= step->is_shared;
        for (uint32_t k = 0; k < step->kinds_count; k++) {
            uint32_t pieces = scratch->kinds[step->first_kind + k].pieces;
            made->smallest = pieces < made->smallest ? pieces : made->smallest;
            made->largest = pieces > made->largest ? pieces : made->largest;
        }
    }
    scratch->is_private &= !phase->is_at_once || phase->steps == 1;
    made->kinds = scratch->kinds;
    made->is_private = scratch->is_private;
    made->has_lanes_alike = scratch->has_lanes_alike;
    pattern->exchange = made;
    pattern->is_uniform = made->is_uniform;
    pattern->is_shared = made->is_shared;
    exchange_set_repeats(all, false);
}
