/** \file flows_tree.h
 * Private to sim/flows: a tree that is followed from event to event (flows_tree.c).
 */
#pragma once

#include "flows.h"

/* The links of a hop. */
struct hop_links {
    double alone_Bps;    /* while no other hop is under way */
    uint32_t alone_link; /* the one that gives it no more then */
    bool is_shared;      /* that one is among those that other hops of the phase use, too: */
    uint32_t first;      /* in `shared` */
    uint32_t count;
};

/* A link that several hops use, and those under way on it. */
struct use {
    double bandwidth_Bps;
    uint32_t link, flows;
    uint32_t head; /* of the list of these flows, by their places in `shared`; AR_NEVER ends it */
    bool is_found; /* among those whose shares are found anew */
};

/* Who sends over a hop, and who hears that a part has left. */
struct hop_ends {
    uint32_t from;  /* rank */
    uint32_t to;    /* rank * AR_PERIOD_MAX + step of the period */
    uint32_t began; /* step in which the first part comes */
};

/* The messages of a hop, one after the other. */
struct hop_run {
    double start_s;    /* of the message under way, or of the one before */
    double since_s;    /* it has its rate since then, */
    double left_bytes; /* with so many bytes to go */
    double rate_Bps;
    uint64_t trace; /* of its shares and when they changed */
    uint32_t parts; /* that have left */
    bool is_busy;
    bool is_listed; /* on its links, as under way */
    bool is_met;    /* among those that began or left at this time, */
    bool is_found;  /* or whose shares are found anew */
};

/* The hops of a position on one lane. */
struct rank_hops {
    uint32_t out[AR_PERIOD_MAX]; /* [step of the period]: hop; AR_NEVER: none */
    uint32_t in[AR_PERIOD_MAX];
};

/* Goes through its steps as a rank does. */
struct rank_run {
    double now_s;
    uint32_t step, end; /* of those in which it does anything */
    bool has_sent;      /* in this step */
};

/* When something happens to hops and ranks: a heap in which each has its place. */
struct dues {
    double *time_s;   /* [number] */
    uint32_t *places; /* [number]: in the heap; AR_NEVER: it waits for nothing */
    uint32_t *heap;
    uint32_t count;
};

/* Sizes of messages, and rates in all, that are kept: the buckets of a step come in each step. The
 * links of hops are kept for the next size, too, unless there are more ranks than that. */
enum { KNOWN_MAX = 32, KNOWN_RATES = 1 << 23, KEPT_RANKS_MAX = 1 << 15 };

struct ar_tree_rates {
    struct ar_arena *arena; /* for the results; */
    struct ar_arena *room;  /* for what is needed until then, or until those of a size are found */
    const struct ar_flows *flows;
    const struct ar_collective *collective; /* that is resolved */
    const struct ar_phase *phase;
    const struct ar_pattern *pattern;
    const struct ar_message_cost *cost;
    uint32_t parts, period;
    double bytes; /* of a message, at present */
    double reduce_s;
    struct hop_links *ways; /* [hop]; NULL: links are not found */
    uint32_t *shared;       /* [place]: numbers of the shared links of a hop, one after the other */
    uint32_t *place_hops;   /* [place] */
    uint32_t *next_to; /* [rank * AR_PERIOD_MAX + step]: who hears of the same hop, too; AR_NEVER:
                          nobody; NULL: nobody of any hop */
    uint32_t *next, *before; /* [place]: on the link; AR_NEVER: the last, or the first, one */
    uint32_t shared_count;
    struct use *uses; /* [shared link], in the order in which hops come to them */
    uint32_t uses_count;
    struct hop_ends *ends;       /* [hop] */
    struct hop_run *runs;        /* [hop] */
    struct rank_hops *rank_hops; /* [lane][position] */
    struct rank_run *ranks;      /* [lane][position] */
    uint32_t ranks_count;
    struct dues dues; /* hops, and behind them ranks */
    struct ar_maxmin maxmin;
    uint32_t *met, *found_hops, *found_uses; /* lists of hops and of shared links */
    uint32_t met_count, found_hops_count, found_uses_count;
    double *frees_s;              /* [part][hop]: the connection is free behind it */
    double *rates_Bps;            /* as in `shares`, */
    uint32_t *like;               /* and this */
    struct ar_tree_shares shares; /* at present */
    struct ar_tree_shares known[KNOWN_MAX];
    uint32_t known_count;
};

/** Follows the phase for messages of `bytes`, from event to event; those of one time are one. */
void tree_run(struct ar_tree_rates *rates);

/** The same with ranks that do the same followed once (fast_tree.c); false: nothing is known. */
bool fast_tree_run(struct ar_tree_rates *rates);

/** Mixes the bits of one more number into a hash. */
static inline uint64_t tree_mix(uint64_t hash, uint64_t bits)
{
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/** The bits of a time or a rate but for the last ones, in which sums in another order differ. */
static inline uint64_t tree_bits(double value)
{
    union {
        double value;
        uint64_t bits;
    } sum = {.value = value};
    return (sum.bits + 0x8000) >> 16;
}
