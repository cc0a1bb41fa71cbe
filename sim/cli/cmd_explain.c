/* explain: all terms of a prediction, parameters with sources. links: the load of each link. */
#include <inttypes.h>

#include "ar_file.h"
#include "ar_kind.h"
#include "ar_row.h"
#include "commands.h"
#include "exports.h"
#include "made_by.h"

#define FILE_NAMES "pipeline.csv sent.csv " OPTION_ROWS_FILE

/* Leaves what 'allreckon report' reads: the row, the tasks, the parameters; of a workload also a
 * picture of its stages. */
static enum ar_status save_step(const struct options *options, const struct ar_scenario *scenario,
                                const struct ar_timing *timing, const struct ar_row *row,
                                struct ar_error *err)
{
    struct ar_output *tasks, *sent;
    AR_TRY(ar_output_begin_in(options->out, "pipeline.csv", options->arena, &tasks, err));
    AR_TRY(ar_output_begin_in(options->out, "sent.csv", options->arena, &sent, err));
    AR_TRY(timeline_write_tasks(tasks->file, timing, options->arena, err));
    explain_sent(sent->file, AR_VIEW(AR_FORMAT_CSV), timing);
    AR_TRY(ar_output_commit(tasks, err));
    AR_TRY(ar_output_commit(sent, err));
    AR_TRY(option_save_rows(options, scenario, row, 1, err));
    if (scenario->trace == NULL) {
        bool is_recorded = row->schedule[0] == '\0'; /* which has no micro-batches either */
        const char *how = is_recorded
                              ? ""
                              : ar_arena_format(options->arena, ", %s, micro-batch %" PRIu64,
                                                row->schedule, row->micro_batch);
        const char *subject = ar_arena_format(options->arena, "%s, %s%s, %s", row->trace, row->mesh,
                                              how, row->cluster);
        AR_TRY(option_draw(options, AR_PLOT_PIPELINE, subject, err));
    }
    return AR_OK;
}

enum ar_status command_explain(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    struct ar_timing timing;
    struct ar_row row;
    struct ar_view view;
    AR_TRY(option_require_work(options, err));
    AR_TRY(option_view(options, (struct ar_columns){0}, &view, err));
    AR_TRY(options_load(options, &scenario, err));
    AR_REFUSE(options->out != NULL && option_key(options, AR_KEY_PAYLOAD) != NULL, err, AR_USAGE,
              "--out: found with --payload; expected it with the trace or the workload of a step");
    AR_TRY(made_by_check_directory(options, FILE_NAMES, NULL, err));
    struct ar_job job = ar_scenario_job(&scenario);
    bool is_step = !job.kind->is_collective;
    bool has_servers = job.kind->graph == NULL;
    bool has_times = !has_servers && !job.kind->has_layout; /* of messages */
    bool has_terms = is_step && has_times &&
                     (option_key(options, AR_KEY_FRAMEWORK) != NULL || scenario.terms.count > 0 ||
                      scenario.rate.batch > 0);
    AR_REFUSE(has_servers && options->out != NULL, err, AR_USAGE,
              "--out: found with strategy %s, whose steps have no tasks; expected none",
              scenario.layout.strategy->name);
    AR_REFUSE((has_servers || !is_step) && view.format != AR_FORMAT_TABLE, err, AR_USAGE,
              "--format: found %s, for what a step sends; expected a step without servers",
              options->format);
    int steps = has_times; /* without one of its terms a step takes about as long as with them */
    for (int i = 0; i < AR_TERMS_COUNT; i++) {
        steps += has_terms && ar_framework_is_on(scenario.framework, (enum ar_term)i);
    }
    ar_note_before(option_notes(options), &scenario, steps * ar_run_cost_s(&scenario));
    ar_note_flush(option_notes(options));
    AR_TRY(ar_run_job(&scenario, &job, options->arena, &timing, &row, err));
    if (options->out != NULL) {
        AR_TRY(save_step(options, &scenario, &timing, &row, err));
    }
    if (view.format != AR_FORMAT_TABLE) {
        explain_sent(stdout, &view, &timing);
        return AR_OK;
    }
    AR_TRY(explain_timing(&scenario, &timing, &row, err));
    return has_terms ? explain_terms(&scenario, timing.iteration_s, err) : AR_OK;
}

/* --- links ------------------------------------------------------------------------------------ */

enum { TOP_MAX = 1000000 };

/* links counts the all-reduces of a step. Steps that send other messages are rejected. */
static enum ar_status links_check_step(const struct ar_scenario *scenario, struct ar_error *err)
{
    const struct ar_strategy *strategy = scenario->layout.strategy;
    if (ar_scenario_kind(scenario)->is_collective) {
        return AR_OK;
    }
    AR_SCENARIO_REFUSE(scenario->layout.sparse_frac > 0, scenario, AR_KEY_SPARSE, err,
                       "found with links, which counts the messages of all-reduces; expected none");
    AR_SCENARIO_REFUSE(!strategy->sends_buckets, scenario, AR_KEY_STRATEGY, err,
                       "found %s; expected data: links counts messages of all-reduces",
                       strategy->name);
    return AR_OK;
}

enum ar_status command_links(const struct options *options, struct ar_error *err)
{
    struct ar_view view;
    struct ar_scenario scenario;
    struct ar_row row;
    uint64_t top;
    FILE *notes = option_notes(options);
    AR_TRY(option_require_work(options, err));
    AR_TRY(option_view(options, (struct ar_columns){0}, &view, err));
    AR_TRY(option_count("--top", options->top, 1, TOP_MAX, &top, err));
    AR_TRY(options_load(options, &scenario, err));
    scenario.baseline = AR_BASELINE_GPU; /* efficiency is not asked for; this one costs nothing */
    AR_TRY(option_check_messages(options, &scenario, err));
    AR_TRY(links_check_step(&scenario, err));
    struct ar_collective collective = ar_scenario_collective(&scenario);
    uint64_t bare = scenario.payload_bytes / collective.element_bytes;
    struct ar_link_load *loads =
        ar_arena_alloc(options->arena, ar_cluster_links_count(scenario.cluster), sizeof *loads);
    ar_note_before(notes, &scenario, ar_run_cost_s(&scenario));
    AR_TRY(ar_run(&scenario, &row, err));
    const struct ar_job job = ar_scenario_job(&scenario);
    struct ar_flows *flows;
    AR_TRY(ar_flows_create(&collective, &flows, err));
    ar_arena_own(options->arena, flows, ar_flows_destroy);
    if (job.kind->is_collective) {
        ar_link_load_add_flows(flows, bare, loads);
    } else { /* all buckets of the step */
        struct ar_workload *workload;
        AR_TRY(ar_job_workload(&job, NULL, scenario.arena, &workload, err));
        for (uint32_t i = 0; i < workload->buckets_count; i++) {
            uint64_t bytes = ar_precision_fill(scenario.wire, workload->buckets[i].elements);
            ar_link_load_add_flows(flows, bytes / collective.element_bytes, loads);
        }
    }
    ar_note_flush(notes);
    link_table_write(stdout, &view, scenario.cluster, loads, &row, top, options->arena);
    return AR_OK;
}
