/** \file exchange_scratch.h
 * Private to exchange*.c: a step of an exchange while it is resolved.
 */
#ifndef AR_EXCHANGE_SCRATCH_H
#define AR_EXCHANGE_SCRATCH_H

#include "ar_exchange.h"

/* Who uses a link, in all exchanges so far: one more than their place; 0: nobody yet. */
struct users {
    uint32_t sender, receiver;
};

/* Steps of a collective with the same messages, or each of them the other way round where the
 * cluster is reversible. One is resolved. */
struct like_steps {
    uint32_t first; /* of the step: the one that is resolved */
    bool is_mirror; /* of the step: its messages are those of the first one the other way round */
    bool goes_both_ways; /* of the first one: for each that is like it there is one that is not, or
                            which is its own mirror */
    uint32_t count;      /* of the first one: so many have it for theirs */
    const struct ar_exchange *exchange; /* of the first one: where it is, once resolved */
    const struct ar_exchange_step *made;
};

/* A place of the table that finds a kind again. */
struct slot {
    uint32_t stamp; /* of the step that has filled it */
    uint32_t kind;
};

struct exchange_scratch {
    const struct ar_collective *collective;
    struct ar_maxmin *rates;
    uint32_t positions, lanes;
    uint32_t period;         /* positions after which the ranks and their paths repeat */
    uint32_t folded;         /* those that stand for all, if all do the same: `period`; else all */
    uint32_t *ranks;         /* [lane][position] */
    uint32_t *peers;         /* [position]: the present step */
    uint64_t *pieces;        /* [position] */
    struct like_steps *like; /* [step of the collective] */
    const struct like_steps *present; /* step, and those that it stands for */
    struct ar_flow *flows;
    uint32_t *places;  /* [flow]: who sends it */
    uint32_t *senders; /* [flow]: its position */
    uint32_t flows_count;
    uint32_t *kind_of;   /* [place] */
    double *loads;       /* [link]: buffers of a channel, in the phase */
    struct users *users; /* [link] */
    bool is_private;     /* so far */
    bool is_even;        /* all messages of the present step have as many pieces */
    struct slot *slots;
    uint32_t slots_mask;
    uint32_t stamp;
    uint32_t kinds_room;
};

/** Adds what the messages of the present step, whose rates are known, do to the links. */
void exchange_add_loads(struct exchange_scratch *scratch, const struct ar_phase *phase,
                        struct link_sums *sums);

/** Adds a step of a phase that goes at once, whose paths are known, `count` times to what its phase
 * does; and, after all of them, that of so many such phases to the sums: `loads` are then
 * how long each link takes, for each byte of a buffer. */
void exchange_add_loads_at_once(struct exchange_scratch *scratch, const struct ar_phase *phase,
                                double count);
void exchange_end_loads(struct exchange_scratch *scratch, uint32_t phases, struct link_sums *sums);

/** Makes room for some more kinds. */
enum ar_status exchange_make_kinds_room(struct ar_arena *arena, struct exchange_scratch *scratch,
                                        struct ar_exchange *exchange, uint32_t count,
                                        struct ar_error *err);

/** Finds the kinds of the messages of the present step, whose rates are known. */
void exchange_find_kinds(struct exchange_scratch *scratch, const struct ar_phase *phase,
                         struct ar_exchange *exchange, struct ar_exchange_step *step);

/** Adds what is known of a step to what is of all. */
void exchange_add_step(struct ar_exchange *exchange, const struct ar_exchange_step *step);

/** Keeps what the present step cannot do without, in the arena. */
enum ar_status exchange_keep(struct ar_arena *arena, const struct exchange_scratch *scratch,
                             bool is_shift, struct ar_exchange_step *step, struct ar_error *err);

#endif
