#include "ar_operation.h"

static bool holds_own(const struct ar_operation_place *place, uint32_t contributor)
{
    return place->rank == contributor;
}

static bool wants_all(const struct ar_operation_place *place, uint32_t contributor)
{
    (void)place;
    (void)contributor;
    return true;
}

/* Every rank sends 2 (N-1)/N of the payload. */
static double all_reduce_busbw(double algbw_Bps, uint32_t ranks)
{
    return algbw_Bps * 2 * ((double)ranks - 1) / (double)ranks;
}

const struct ar_operation ar_operation_all_reduce = {
    .name = "all-reduce",
    .payload = "the buffer of one rank",
    .busbw_Bps = all_reduce_busbw,
    .holds = holds_own,
    .wants = wants_all,
};
