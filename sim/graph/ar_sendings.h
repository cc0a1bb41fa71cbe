/** \file ar_sendings.h
 * What a role of a task graph sends and gets on its streams, and how much slower something is sent
 * beside that.
 */
#ifndef AR_SENDINGS_H
#define AR_SENDINGS_H

#include <stdint.h>

/** The streams of a role. */
enum ar_stream {
    AR_STREAM_COMPUTE,
    AR_STREAM_GRADIENTS,
    AR_STREAM_PARTS, /**< collectives of parts of samples beside computations */
    AR_STREAMS_COUNT
};

/** When something is sent. */
struct ar_sending {
    double begin_s, end_s;
    double last_s; /**< latest end of all up to here */
    uint32_t work; /**< its number among those that are sent */
    uint32_t task; /**< of those that begin at once the first comes first */
    uint32_t role; /**< that sends or gets it */
    uint32_t from; /**< role * AR_STREAMS_COUNT + stream of the one that sends it */
};

/** What a role sends and gets, in the order of begins. */
struct ar_sendings {
    const struct ar_sending *list;
    uint32_t count;
};

/** Whether two streams share: not one with itself, nor the compute streams of two roles. */
static inline int ar_sending_shares(uint32_t from, uint32_t other)
{
    return from != other && (from % AR_STREAMS_COUNT != AR_STREAM_COMPUTE ||
                             other % AR_STREAMS_COUNT != AR_STREAM_COMPUTE);
}

/** When something has been sent that begins at `now_s` and takes `time_s` alone, at `speeds` [work]
 * (0, NULL: 1) beside what is on the list and shares with it. Where several are under way the first
 * one counts.
 */
double ar_sendings_advance(const struct ar_sendings *sendings, const double *speeds, uint32_t from,
                           double now_s, double time_s);

#endif
