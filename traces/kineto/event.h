/** \file event.h
 * One event of a Kineto trace as its JSON says it, before it is known whether it is kept.
 */
#ifndef AR_KINETO_EVENT_H
#define AR_KINETO_EVENT_H

#include "kineto.h"

enum { KINETO_TEXT = 128, KINETO_DIMS = 2 };

/** The shape of one input: of a list of tensors the first one's. */
struct kineto_dims {
    uint64_t elements; /**< 0: none */
    uint64_t first;
    unsigned count;
    bool is_whole; /**< what follows is of the list's other tensors */
};

/** Numbers that are not given are -1, texts empty. Texts are cut. */
struct kineto_event {
    char phase[KINETO_TEXT]; /**< "X": begin and duration */
    char category[KINETO_TEXT];
    char name[KINETO_TEXT];
    char collective[KINETO_TEXT];
    char dtype[KINETO_TEXT];
    char ranks[KINETO_TEXT];
    char input_type[KINETO_TEXT]; /**< of the first input */
    long double start_us, duration_us;
    int64_t pid, tid;
    int64_t id, correlation, device;
    int64_t sequence, forward_thread;
    int64_t in_elements, out_elements, group_size;
    struct kineto_dims dims[KINETO_DIMS]; /**< of the first inputs */
};

/** Keeps what is needed of an event that is complete. `*origin_us` is that of the first one. */
enum ar_status kineto_event_keep(struct ar_kineto *kineto, const struct kineto_event *event,
                                 long double *origin_us, struct ar_error *err);

#endif
