/* Rotation: W workers keep their data, and W parts of the parameters go round the ring of them, as
 * in STRADS (Kim et al., EuroSys 2016): nobody changes a parameter that another one works with. In
 * a step every part visits every worker. With D parts per worker, D of a W-th each, one is on its
 * way while another one is worked on. One at a time:
 *
 *     iteration_s = T + M / B + W alpha
 *
 * of T of computation and M bytes of parameters, over hops alpha + n / B. */
#include "ar_strategy.h"

static enum ar_status operators_of(const struct ar_parts_request *request, struct ar_arena *arena,
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

static uint32_t replicas(uint32_t devices)
{
    return devices;
}

const struct ar_strategy ar_strategy_rotate = {
    .name = "rotate",
    .title = "parts of the parameters go round a ring of workers",
    .operators = operators_of,
    .sends = "blocks",
    .replicas = replicas,
};
