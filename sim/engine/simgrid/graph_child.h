/** \file graph_child.h
 * Private to the module: a task graph whose ranks are run one by one.
 *
 * Each rank has an actor for each of its streams and channels. That of channel 0 leads: it waits
 * for what a task needs, and computes. The others come in where what is sent has more channels.
 */
#ifndef AR_GRAPH_CHILD_H
#define AR_GRAPH_CHILD_H

#include "ar_graph_trial.h"
#include "simgrid_actor.h"

struct graph_run;

/* What a rank does on a stream, on one channel. */
struct stream {
    struct graph_run *run;
    uint32_t role, place, channel;
    enum ar_stream stream;
    uint32_t waits_for; /* the task whose needs it waits for; AR_NO_TASK: none */
    sg_sem_t wake;      /* of a leader: nothing is missing any more */
    sg_bar_t *together; /* [channels] of its rank and stream, for those of more than one */
    bool is_busy;       /* a leader: with a task */
    bool is_slowed;     /* a leader: it computes, and the second stream may slow it down */
};

struct graph_run {
    const struct ar_graph_trial *trial;
    const struct ar_graph *graph;
    uint32_t places;         /* ranks of a role */
    uint32_t channels_max;   /* of all that is sent */
    struct stream *streams;  /* [role][stream][place][channel] */
    uint32_t *needed_first;  /* [task + 1]: begin of its list in needed_by */
    uint32_t *needed_by;     /* tasks that need another one */
    uint32_t *missing;       /* [task][place]: how many needs have not ended */
    double *begin_s, *end_s; /* [task][place] */
    double *there_s;         /* [task][place]: what it needs has arrived; NULL: when it has left */
    struct simulation **simulations; /* [work][stream]: collectives; NULL: there is none */
    uint32_t simulations_count;
    sg_bar_t all_know; /* of all mailboxes who receives from them */
};

static inline struct stream *graph_stream(const struct graph_run *run, uint32_t role,
                                          enum ar_stream stream, uint32_t place, uint32_t channel)
{
    size_t row = (size_t)role * AR_STREAMS_COUNT + stream;
    return &run->streams[(row * run->places + place) * run->channels_max + channel];
}

static inline struct simulation *graph_simulation(const struct graph_run *run, uint32_t work,
                                                  enum ar_stream stream)
{
    return run->simulations[(size_t)work * AR_STREAMS_COUNT + stream];
}

/* Makes the tables of a graph and its collectives; actors are not started. */
void graph_create(struct graph_run *run, const struct ar_graph_trial *trial);

#endif
