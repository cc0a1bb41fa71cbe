/* Star: a scheduler on GPU 0 and P workers, as the engine of STRADS (Lee et al., NIPS 2014; Kim et
 * al., EuroSys 2016). A step has K rounds. In each the scheduler sends every worker the b bytes of
 * parameters that are to be updated, each computes on its data and answers with as many. With D
 * rounds under way a round begins when the one D before has ended. One at a time, over hops
 * alpha + n / B:
 *
 *     round_s = 2 alpha + P b / B + t + b / B
 *
 * where b / B is the answer of the worker that was served last; without it 2 alpha + P b / B. */
#include "ar_strategy.h"

static enum ar_status check(const struct ar_parts_request *request, struct ar_error *err)
{
    return request->devices > 1 ? AR_OK
                                : ar_error_set(err, AR_USAGE,
                                               "%s: found star on 1 GPU; expected a scheduler and "
                                               "at least one worker",
                                               request->where);
}

static enum ar_status operators_of(const struct ar_parts_request *request, struct ar_arena *arena,
                                   struct ar_operators **operators, struct ar_error *err)
{
    uint64_t rounds = request->rounds;
    uint32_t workers = request->devices - 1, each = workers + 2;
    struct ar_operators *made;
    AR_TRY(check(request, err));
    AR_TRY(ar_operators_create(request->where, rounds * each, rounds * (2 * workers + 1u), arena,
                               &made, err));
    const struct ar_operator end = {.duty = AR_DUTY_OPTIMIZER};
    struct ar_operator begin = {.output_bytes = ar_trace_gradient_elements(request->trace) *
                                                request->element_bytes / rounds};
    struct ar_operator work = {.time_s = ar_trace_compute_s(request->trace) / (double)rounds,
                               .output_bytes = begin.output_bytes,
                               .duty = AR_DUTY_BACKWARD};
    for (uint64_t round = 0; round < rounds; round++) {
        uint32_t first = ar_operators_add(made, &begin);
        if (round >= request->depth) {
            ar_operators_need(made, first - request->depth * each + each - 1);
        }
        for (uint32_t i = 1; i <= workers; i++) {
            work.device = i;
            ar_operators_add(made, &work);
            ar_operators_need(made, first);
        }
        ar_operators_add(made, &end);
        for (uint32_t i = 1; i <= workers; i++) {
            ar_operators_need(made, first + i);
        }
    }
    *operators = made;
    return AR_OK;
}

static uint32_t replicas(uint32_t devices)
{
    return devices - 1;
}

const struct ar_strategy ar_strategy_star = {
    .name = "star",
    .title = "a scheduler sends workers what to update, round by round",
    .operators = operators_of,
    .sends = "updates",
    .replicas = replicas,
};
