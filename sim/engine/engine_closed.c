/* The closed form as an engine: jobs one after the other, each as long as its copies and
 * ar_closed_evaluate() from the time at which it is ready on all ranks. */
#include "ar_engines.h"
#include "ar_text.h"

static enum ar_status run(struct ar_trial *trial, struct ar_error *err)
{
    (void)err;
    double free_s = 0;
    trial->exact = true;
    for (uint32_t i = 0; i < trial->jobs_count; i++) {
        struct ar_closed_time time;
        ar_closed_evaluate(trial->plan, trial->jobs[i].elements, &time);
        bool is_even;
        double ready_s = ar_trial_ready_on_all(trial, i, &is_even);
        bool is_queued = i > 0 && free_s > ready_s;
        double start_s = ready_s > free_s ? ready_s : free_s;
        free_s = start_s + trial->jobs[i].copy_s + time.time_s;
        trial->times[i] = (struct ar_call_time){.start_s = start_s, .finish_s = free_s};
        if (!time.exact || !is_even || (is_queued && !time.exact_in_queue)) {
            trial->exact = false;
            ar_copy_text(trial->note, sizeof trial->note,
                         !time.exact ? time.why
                         : is_even   ? "queued all-reduces overlap"
                                     : "all ranks wait for the last to start");
        }
    }
    if (trial->rank_finish_s != NULL) {
        for (uint32_t rank = 0; rank < ar_collective_ranks(&trial->collective); rank++) {
            trial->rank_finish_s[rank] = free_s;
        }
    }
    trial->messages_count = trial->jobs_count * ar_collective_messages(&trial->collective);
    ar_copy_text(trial->options, sizeof trial->options,
                 trial->exact ? "closed exact" : "closed approximate");
    return AR_OK;
}

const struct ar_engine ar_engine_closed = {
    .name = "closed",
    .title = "closed form: instant; exact where it says so, an estimate elsewhere",
    .has_messages = true,
    .needs_plan = true,
    .cost = {.trial_s = 30e-6, .rank_s = 100e-9},
    .run = run,
};
