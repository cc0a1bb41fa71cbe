#include "ar_trial.h"

#include <assert.h>
#include <math.h>

#include "ar_graph_trial.h"

double ar_trial_ready_on_all(const struct ar_trial *trial, uint32_t call, bool *is_even)
{
    uint32_t ranks = ar_collective_ranks(&trial->collective);
    double first_s = ar_trial_ready(trial, call, 0);
    double last_s = first_s;
    bool has_vectors = trial->rank_start_s != NULL || trial->rank_factor != NULL;
    for (uint32_t rank = 1; has_vectors && rank < ranks; rank++) {
        double ready_s = ar_trial_ready(trial, call, rank);
        first_s = ready_s < first_s ? ready_s : first_s;
        last_s = ready_s > last_s ? ready_s : last_s;
    }
    *is_even = first_s == last_s;
    return last_s;
}

enum ar_status ar_trial_flows(struct ar_trial *trial, const struct ar_flows **flows,
                              struct ar_error *err)
{
    if (trial->flows == NULL) {
        AR_TRY(ar_flows_create(&trial->collective, &trial->own_flows, err));
    }
    *flows = trial->flows != NULL ? trial->flows : trial->own_flows;
    return AR_OK;
}

enum ar_status ar_engine_make_flows(const struct ar_engine *engine,
                                    const struct ar_collective *collective, struct ar_flows **flows,
                                    struct ar_error *err)
{
    bool takes_flows = engine->predict_call == NULL && engine->run_graph == NULL &&
                       ar_shape_ranks(&collective->shape) > 1;
    *flows = NULL;
    AR_TRY(ar_collective_check(collective, err));
    return takes_flows ? ar_flows_create(collective, flows, err) : AR_OK;
}

enum ar_status ar_engine_check(const struct ar_engine *engine,
                               const struct ar_collective *collective,
                               const struct ar_library *library, struct ar_error *err)
{
    if (engine->check != NULL) {
        return engine->check(engine, collective, library, err);
    }
    AR_REFUSE(collective->algorithm == NULL, err, AR_USAGE,
              "algorithm auto: engine %s makes no choice; expected an algorithm by name, or "
              "--engine library or nccl",
              engine->name);
    return AR_OK;
}

enum ar_status ar_trial_run(struct ar_trial *trial, const struct ar_engine *engine,
                            struct ar_error *err)
{
    assert(trial->calls_count > 0 && (trial->timeline == NULL || ar_engine_has_timeline(engine)));
    AR_TRY(ar_collective_check(&trial->collective, err));
    AR_TRY(ar_engine_check(engine, &trial->collective, trial->library, err));
    trial->note[0] = '\0';
    trial->options[0] = '\0';
    if (ar_shape_ranks(&trial->collective.shape) == 1) {
        /* One rank has nothing to reduce: a call starts when it is ready and finishes at once. */
        for (uint32_t i = 0; i < trial->calls_count; i++) {
            double ready_s = ar_trial_ready(trial, i, 0);
            trial->times[i] = (struct ar_call_time){.start_s = ready_s, .finish_s = ready_s};
        }
        for (size_t i = 0; trial->timeline != NULL && i < ar_timeline_size(trial); i++) {
            size_t each = (size_t)trial->collective.channels * AR_MARKS_COUNT;
            trial->timeline->marks_s[i] =
                trial->times[i / (each * trial->timeline->ranks_count)].start_s;
        }
        for (uint32_t i = 0;
             trial->rank_finish_s != NULL && i < ar_collective_ranks(&trial->collective); i++) {
            trial->rank_finish_s[i] = trial->times[trial->calls_count - 1].finish_s;
        }
        trial->messages_count = 0;
        trial->exact = true;
        return AR_OK;
    }
    enum ar_status status = engine->run(trial, err);
    ar_flows_destroy(trial->own_flows);
    trial->own_flows = NULL;
    return status;
}

uint64_t ar_graph_trial_messages(const struct ar_graph_trial *trial, uint32_t exchange_weight)
{
    const struct ar_graph *graph = trial->graph;
    uint64_t messages = 0;
    for (uint32_t i = 0; i < graph->tasks_count; i++) {
        const struct ar_task *task = &graph->tasks[i];
        const struct ar_collective *collective = &trial->sendings[task->work].collective;
        enum ar_task_kind kind = graph->works[task->work].kind;
        uint64_t all = kind == AR_TASK_COMPUTE   ? 0
                       : kind == AR_TASK_MESSAGE ? (uint64_t)trial->ranks * collective->channels
                                                 : ar_collective_messages(collective);
        struct ar_phase phases[AR_PHASES_MAX] = {{.kind = AR_PHASE_WALK}};
        if (kind == AR_TASK_COLLECTIVE) {
            ar_algorithm_phases(collective->algorithm, &collective->shape, phases);
        }
        all *= phases[0].kind == AR_PHASE_EXCHANGE ? exchange_weight : 1;
        if (__builtin_mul_overflow(all, task->count, &all) ||
            __builtin_mul_overflow(all, (uint64_t)ar_task_times(graph, i), &all) ||
            __builtin_add_overflow(messages, all / graph->roles_count, &messages)) {
            return UINT64_MAX;
        }
    }
    return messages;
}

double ar_engine_cost_s(const struct ar_engine *engine, double ranks, double channels,
                        double collectives, double messages, bool is_even)
{
    const struct ar_engine_cost *cost = &engine->cost;
    double computed = collectives * ranks * channels * cost->messages;
    messages = is_even && cost->messages > 0 && messages > computed ? computed : messages;
    double growth = cost->ranks > 0 && ranks > cost->ranks ? sqrt(ranks / cost->ranks) : 1;
    return cost->trial_s + messages * cost->message_s * growth +
           collectives * ranks * channels * cost->rank_s;
}
