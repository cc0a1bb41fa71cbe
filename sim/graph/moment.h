/** \file moment.h
 * When something happens on the ranks of a role.
 */
#ifndef AR_MOMENT_H
#define AR_MOMENT_H

#include "ar_graph.h"

/** On a rank at base_s[rank] + factor[rank] * elapsed_s. Computations since the base are one number
 * for all ranks. */
struct moment {
    const double *base_s; /**< [rank of the role]; NULL: 0 */
    double elapsed_s;
    double offset_s; /**< on an even rank the base stands there since the step began */
};

/** The ranks of a request, and the arena of moments. */
struct moments {
    const struct ar_graph_request *request;
    struct ar_arena *memory; /**< broken where there was none */
    double *last_s;          /**< scratch: [rank of a role]; NULL: not needed yet */
};

/** When a role begins. */
struct moment moment_begin(const struct moments *moments, uint32_t role);

double moment_at(const struct moments *moments, uint32_t role, const struct moment *moment,
                 uint32_t rank);

/** Whether all ranks of the request are at the same time at this moment. */
static inline bool moment_is_even(const struct moments *moments, const struct moment *moment)
{
    return moment->base_s == NULL && moments->request->factor == NULL;
}

/** On the last rank. */
double moment_last_of(const struct moments *moments, uint32_t role, const struct moment *moment);

static inline double moment_last(const struct moments *moments, uint32_t role,
                                 const struct moment *moment)
{
    return moment_is_even(moments, moment) ? moment->elapsed_s
                                           : moment_last_of(moments, role, moment);
}

/** No earlier than `other`, a moment of the role `from`, on its ranks of the same number. */
void moment_meet(struct moments *moments, uint32_t role, struct moment *moment, uint32_t from,
                 const struct moment *other);

/** Later by a time that is the same on all ranks; with `axes` (else 0) from when the last rank of a
 * group along them is there. */
void moment_add(struct moments *moments, uint32_t role, struct moment *moment, uint32_t axes,
                double time_s);

#endif
