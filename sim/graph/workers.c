/* Strategies that put parts of one model on workers, which send them to each other. */
#include "ar_strategy.h"

/* --- star ---------------------------------------------------------------------------------------
 *
 * Star: a scheduler on GPU 0 and P workers, as the engine of STRADS (Lee et al., NIPS 2014; Kim et
 * al., EuroSys 2016). A step has K rounds. In each the scheduler sends every worker the b bytes of
 * parameters that are to be updated, each computes on its data and answers with as many. With D
 * rounds under way a round begins when the one D before has ended. One at a time, over hops
 * alpha + n / B:
 *
 *     round_s = 2 alpha + P b / B + t + b / B
 *
 * where b / B is the answer of the worker that was served last; without it 2 alpha + P b / B. */

static enum ar_status make_star(const struct ar_parts_request *request, struct ar_arena *arena,
                                struct ar_operators **operators, struct ar_error *err)
{
    uint64_t rounds = request->rounds;
    uint32_t workers = request->devices - 1, each = workers + 2;
    struct ar_operators *made;
    if (request->devices < 2) {
        return ar_error_set(err, AR_USAGE,
                            "%s: found star on 1 GPU; expected a scheduler and at least one worker",
                            request->where);
    }
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

static uint32_t star_replicas(uint32_t devices)
{
    return devices - 1;
}

const struct ar_strategy ar_strategy_star = {
    .name = "star",
    .title = "a scheduler sends workers what to update, round by round",
    .operators = make_star,
    .sends = "updates",
    .replicas = star_replicas,
};

/* --- rotate -------------------------------------------------------------------------------------
 *
 * Rotation: W workers keep their data, and W parts of the parameters go round the ring of them, as
 * in STRADS (Kim et al., EuroSys 2016): nobody changes a parameter that another one works with. In
 * a step every part visits every worker. With D parts per worker, D of a W-th each, one is on its
 * way while another one is worked on. One at a time:
 *
 *     iteration_s = T + M / B + W alpha
 *
 * of T of computation and M bytes of parameters, over hops alpha + n / B. */

static enum ar_status make_rotation(const struct ar_parts_request *request, struct ar_arena *arena,
                                    struct ar_operators **operators, struct ar_error *err)
{
    uint64_t workers = request->devices, parts = workers * request->depth;
    uint64_t rounds = workers > 1 ? workers + 1 : 1; /* in the last one parts are home again */
    struct ar_operators *made;
    AR_TRY(ar_operators_create(request->where, rounds * parts, rounds * parts, arena, &made, err));
    struct ar_operator visit = {.time_s = ar_trace_compute_s(request->trace) / (double)parts,
                                .output_bytes = ar_trace_gradient_elements(request->trace) *
                                                request->element_bytes / parts,
                                .duty = AR_DUTY_BACKWARD};
    for (uint64_t i = 0; i < rounds * parts; i++) {
        uint64_t round = i / parts, worker = i % workers;
        visit.device = (uint32_t)worker;
        visit.time_s = round < workers ? visit.time_s : 0;
        ar_operators_add(made, &visit);
        if (round > 0) { /* the part comes from the next worker */
            ar_operators_need(made, (uint32_t)(i - worker + (worker + 1) % workers - parts));
        }
    }
    *operators = made;
    return AR_OK;
}

static uint32_t rotate_replicas(uint32_t devices)
{
    return devices;
}

const struct ar_strategy ar_strategy_rotate = {
    .name = "rotate",
    .title = "parts of the parameters go round a ring of workers",
    .operators = make_rotation,
    .sends = "blocks",
    .replicas = rotate_replicas,
};
