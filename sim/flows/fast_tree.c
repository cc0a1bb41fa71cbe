/* Ranks of a tree that do the same at the same time are followed once, as a class. Gains 12 times
 * on 65,536 ranks of nodes of 8. The results are the same without this file, but for rounding:
 * fast_tree_run() may always return false.
 *
 * Classes are guessed, followed, and looked at again, until nothing tells the ranks of a class
 * apart: each sends over like hops, whose parts have left when those of the others have, has heard
 * of its parts when the others have, and shares its links with hops that did the same. Then what
 * the first rank of each class has done is what all of them do, since the rules of a tree
 * (flows_tree.c) leave one way only. In a first guess ranks with the same steps and like neighbours
 * are alike; the next one takes in what all of these have done.
 *
 * The hop over which a rank of class c sends in step s of the period is number c * AR_PERIOD_MAX +
 * s of the tree of classes. Receivers may be of several classes, each of which hears of it. */
#include <assert.h>
#include <string.h>

#include "flows_tree.h"

/* Fewer ranks than this are faster one by one; guesses at most; least mean ranks for each class: a
 * chain on nodes of 8 has 8, which guess after guess tells apart in vain. */
enum { RANKS_MIN = 8192, GUESSES_MAX = 64, CLASS_MEAN_MIN = 10 };

struct classes {
    struct ar_tree_rates *all;
    uint32_t *of_rank;              /* [rank]: class */
    uint32_t *firsts;               /* [class]: its first rank */
    uint32_t count;                 /* of them */
    uint64_t *did;                  /* [hop of a class]: hash of what it has done */
    uint64_t *hop_keys, *rank_keys; /* what is known of them */
    uint64_t *use_keys;             /* [shared link] */
    uint32_t *slots;                /* [slot of a table by keys]: class; and before in [rank] */
    uint32_t slots_count;
};

/* The hop of the tree of classes that stands for one. */
static uint32_t hop_of_class(const struct classes *classes, uint32_t hop)
{
    const struct hop_ends *ends = &classes->all->ends[hop];
    return classes->of_rank[ends->from] * AR_PERIOD_MAX + ends->to % AR_PERIOD_MAX;
}

/* Finds what is known of every rank: its hops, what they have done, and with whom. */
static void classes_find_keys(struct classes *classes)
{
    const struct ar_tree_rates *all = classes->all;
    for (uint32_t use = 0; use < all->uses_count; use++) {
        classes->use_keys[use] = tree_bits(all->uses[use].bandwidth_Bps);
    }
    for (uint32_t i = 0; i < all->pattern->hops_count; i++) {
        const struct ar_hop *hop = &all->pattern->hops[i];
        const struct hop_links *way = &all->ways[i];
        uint64_t key = tree_mix(all->ends[i].began, tree_bits(hop->kind->switches_s));
        key = tree_mix(tree_mix(key, hop->kind->turns * AR_TIERS_COUNT + hop->kind->tier),
                       tree_bits(way->alone_Bps));
        key = classes->hop_keys[i] = tree_mix(key, classes->did[hop_of_class(classes, i)]);
        for (uint32_t j = way->first; j < way->first + way->count; j++) {
            classes->use_keys[all->shared[j]] += tree_mix(1, key); /* whatever their order */
        }
    }
    memset(classes->rank_keys, 0, all->ranks_count * sizeof *classes->rank_keys);
    for (uint32_t i = 0; i < all->pattern->hops_count; i++) { /* whatever their order, too */
        const struct hop_links *way = &all->ways[i];
        uint64_t key = classes->hop_keys[i], links = 0;
        for (uint32_t j = way->first; j < way->first + way->count; j++) {
            links += tree_mix(1, classes->use_keys[all->shared[j]]);
        }
        classes->rank_keys[all->ends[i].from] += tree_mix(tree_mix(1, key), links);
        classes->rank_keys[all->ends[i].to / AR_PERIOD_MAX] += tree_mix(2, key);
    }
}

/* Puts ranks of the same key into one class. Returns whether any were in one and are no more; if
 * none were, classes stay as they are. */
static bool classes_split(struct classes *classes)
{
    uint32_t ranks = classes->all->ranks_count, mask = classes->slots_count - 1;
    uint32_t *firsts = classes->firsts, *of_rank = classes->of_rank;
    const uint64_t *keys = classes->rank_keys;
    bool are_split = false;
    for (uint32_t rank = 0; rank < ranks && !are_split; rank++) {
        are_split = keys[rank] != keys[firsts[of_rank[rank]]];
    }
    classes->count = are_split ? 0 : classes->count;
    memset(classes->slots, 0xff, classes->slots_count * sizeof *classes->slots); /* AR_NEVER */
    for (uint32_t rank = 0; rank < ranks && are_split; rank++) {
        uint32_t *slot = &classes->slots[keys[rank] >> 20 & mask];
        while (*slot != AR_NEVER && keys[firsts[*slot]] != keys[rank]) {
            slot = slot < classes->slots + mask ? slot + 1 : classes->slots;
        }
        if (*slot == AR_NEVER) {
            *slot = classes->count;
            firsts[classes->count++] = rank;
        }
        of_rank[rank] = *slot;
    }
    return are_split;
}

/* The links of a tree of classes: those of the first ranks, with the hops of all on them. */
static void tree_share_links(struct ar_arena *arena, const struct classes *classes,
                             struct ar_tree_rates *made)
{
    const struct ar_tree_rates *all = classes->all;
    uint32_t hops = made->pattern->hops_count;
    uint32_t *numbers = ar_arena_alloc(arena, all->uses_count, sizeof *numbers); /* 0: none */
    made->uses = ar_arena_room(arena, all->uses_count, sizeof *made->uses);
    made->uses_count = 0;
    for (uint32_t hop = 0; hop < hops; hop++) {
        for (uint32_t j = 0; j < made->ways[hop].count; j++) {
            uint32_t use = all->shared[made->ways[hop].first + j];
            if (numbers[use] == 0) {
                made->uses[made->uses_count++] = all->uses[use];
                numbers[use] = made->uses_count;
            }
        }
        made->ways[hop].count = 0;
    }
    made->shared_count = 0;
    for (int pass = 0; pass < 2; pass++) { /* counts the links of each hop, then writes them */
        for (uint32_t hop = 0; hop < all->pattern->hops_count; hop++) {
            for (uint32_t j = 0; j < all->ways[hop].count; j++) {
                uint32_t number = numbers[all->shared[all->ways[hop].first + j]];
                if (number > 0) {
                    struct hop_links *way = &made->ways[hop_of_class(classes, hop)];
                    if (pass == 1) {
                        made->shared[way->first + way->count] = number - 1;
                    }
                    way->count++;
                }
            }
        }
        for (uint32_t hop = 0; hop < hops && pass == 0; hop++) {
            made->ways[hop].first = made->shared_count;
            made->shared_count += made->ways[hop].count;
            made->ways[hop].count = 0;
        }
        if (pass == 0) {
            made->shared = ar_arena_room(arena, made->shared_count, sizeof(uint32_t));
        }
    }
}

/* A tree with a rank for each class, which does what its first one does. */
static void tree_of_classes(struct ar_arena *arena, const struct classes *classes,
                            struct ar_tree_rates *made)
{
    const struct ar_tree_rates *all = classes->all;
    uint32_t entries = classes->count * AR_PERIOD_MAX;
    struct ar_pattern *pattern = ar_arena_alloc(arena, 1, sizeof *pattern);
    assert(entries <= all->pattern->hops_count); /* rates of classes take the room of all */
    *made = *all;
    made->room = arena;
    made->pattern = pattern;
    made->ranks_count = classes->count;
    made->ends = ar_arena_alloc(arena, entries, sizeof *made->ends);
    made->runs = ar_arena_alloc(arena, entries, sizeof *made->runs);
    made->ways = ar_arena_alloc(arena, entries, sizeof *made->ways);
    made->rank_hops = ar_arena_room(arena, classes->count, sizeof *made->rank_hops);
    memset(made->rank_hops, 0xff, classes->count * sizeof *made->rank_hops); /* AR_NEVER */
    for (uint32_t hop = 0; hop < all->pattern->hops_count; hop++) {
        uint32_t from = all->ends[hop].from, to = all->ends[hop].to / AR_PERIOD_MAX;
        uint32_t step = all->ends[hop].to % AR_PERIOD_MAX;
        if (classes->firsts[classes->of_rank[from]] == from) {
            made->rank_hops[classes->of_rank[from]].out[step] = hop;
        }
        if (classes->firsts[classes->of_rank[to]] == to) {
            made->rank_hops[classes->of_rank[to]].in[step] = hop;
        }
    }
    made->next_to = ar_arena_alloc(arena, entries, sizeof *made->next_to);
    *pattern = (struct ar_pattern){.hops = ar_arena_alloc(arena, entries, sizeof *pattern->hops),
                                   .hops_count = entries};
    for (uint32_t i = 0; i < entries; i++) {
        uint32_t class = i / AR_PERIOD_MAX, step = i % AR_PERIOD_MAX;
        struct rank_hops *rank = &made->rank_hops[class];
        uint32_t out = rank->out[step];
        made->ends[i] = (struct hop_ends){.from = class, .to = AR_NEVER};
        if (out != AR_NEVER) {
            made->ends[i].began = all->ends[out].began;
            made->ways[i] = all->ways[out];
            pattern->hops[i] = all->pattern->hops[out];
            rank->out[step] = i;
        }
    }
    for (uint32_t i = 0; i < entries; i++) {
        uint32_t *in = &made->rank_hops[i / AR_PERIOD_MAX].in[i % AR_PERIOD_MAX];
        if (*in != AR_NEVER) {
            *in = hop_of_class(classes, *in);
            made->next_to[i] = made->ends[*in].to;
            made->ends[*in].to = i;
        }
    }
    tree_share_links(arena, classes, made);
}

/* Notes what the hops of classes have done; says whether all parts have left. */
static bool classes_note(struct classes *classes, const struct ar_tree_rates *made)
{
    size_t hops = made->pattern->hops_count;
    bool have_left = true;
    for (size_t hop = 0; hop < hops; hop++) {
        bool is_used = made->rank_hops[hop / AR_PERIOD_MAX].out[hop % AR_PERIOD_MAX] != AR_NEVER;
        have_left &= !is_used || made->runs[hop].parts == made->parts;
        classes->did[hop] = made->runs[hop].trace;
        for (size_t at = hop; at < hops * made->parts; at += hops) {
            classes->did[hop] = tree_mix(tree_mix(classes->did[hop], tree_bits(made->frees_s[at])),
                                         tree_bits(made->rates_Bps[at]));
        }
    }
    return have_left;
}

bool fast_tree_run(struct ar_tree_rates *all)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    uint32_t ranks = all->ranks_count, hops = all->pattern->hops_count;
    struct classes classes = {
        .all = all,
        .of_rank = ar_arena_alloc(&arena, ranks, sizeof *classes.of_rank),
        .firsts = ar_arena_alloc(&arena, ranks, sizeof *classes.firsts),
        .did = ar_arena_alloc(&arena, (size_t)ranks * AR_PERIOD_MAX, sizeof *classes.did),
        .hop_keys = ar_arena_alloc(&arena, hops, sizeof *classes.hop_keys),
        .rank_keys = ar_arena_alloc(&arena, ranks, sizeof *classes.rank_keys),
        .use_keys = ar_arena_alloc(&arena, all->uses_count, sizeof *classes.use_keys),
        .slots_count = 1,
    };
    while (classes.slots_count < 2 * ranks) {
        classes.slots_count *= 2;
    }
    classes.slots = ar_arena_alloc(&arena, classes.slots_count, sizeof *classes.slots);
    classes_find_keys(&classes);
    classes_split(&classes);
    for (int guess = 0; guess < GUESSES_MAX; guess++) {
        struct ar_arena room AR_ENDS_HERE = {NULL};
        struct ar_tree_rates made;
        if (ranks < RANKS_MIN || classes.count > ranks / CLASS_MEAN_MIN) {
            return false;
        }
        tree_of_classes(&room, &classes, &made);
        tree_run(&made);
        if (!classes_note(&classes, &made)) {
            return false;
        }
        classes_find_keys(&classes);
        if (classes_split(&classes)) {
            continue;
        }
        for (uint32_t hop = 0; hop < hops; hop++) {
            all->like[hop] = hop_of_class(&classes, hop);
        }
        all->shares = made.shares;
        return true;
    }
    return false;
}
