/* Scenarios run: from a scenario to a row. */
#include "ar_text.h"
#include "kinds.h"

void ar_run_describe(const struct ar_scenario *scenario, struct ar_row *row)
{
    const struct ar_cluster_facts *facts = ar_cluster_facts(scenario->cluster);
    const struct ar_kind *kind = ar_scenario_kind(scenario);
    uint32_t ranks = kind->has_layout ? scenario->gpus : ar_scenario_ranks(scenario);
    char strategy[AR_STRATEGY_TEXT];
    ar_row_clear(row);
    ar_copy_text(row->cluster, sizeof row->cluster, facts->name);
    ar_copy_text(row->precision, sizeof row->precision, ar_precision_names[scenario->precision]);
    row->gpus = ranks;
    row->nodes = (ranks + facts->gpus_per_node - 1) / facts->gpus_per_node;
    ar_copy_text(row->engine, sizeof row->engine, scenario->engine->name);
    ar_copy_text(row->version, sizeof row->version, AR_VERSION);
    ar_copy_text(row->settings, sizeof row->settings, scenario->settings_text);
    if (kind->is_collective) {
        row->payload_bytes = scenario->payload_bytes;
    } else {
        ar_copy_text(
            row->strategy, sizeof row->strategy,
            ar_strategy_format(scenario->layout.strategy, scenario->async.staleness, strategy));
    }
    if ((kind->keys & AR_KEY_OF_BARE) != 0) {
        describe_groups(scenario, row);
    }
    if (kind->graph != NULL) {
        describe_algorithm(scenario, kind->has_layout, row);
    }
    if (kind->describe != NULL) {
        kind->describe(scenario, row);
    }
}

enum ar_status ar_run_job(const struct ar_scenario *scenario, const struct ar_job *job,
                          struct ar_arena *arena, struct ar_timing *timing, struct ar_row *row,
                          struct ar_error *err)
{
    ar_run_describe(scenario, row);
    enum ar_status status = ar_predict(job, arena, timing, err);
    if (status == AR_OK) {
        row->messages_count = job->library == NULL ? timing->messages_count : AR_ROW_NO_COUNT;
        row->exact = job->library == NULL ? timing->exact : AR_NO_FLAG;
        row->wall_s = timing->wall_s;
        job->kind->fill(scenario, timing, row);
    }
    ar_copy_text(row->status, sizeof row->status, status == AR_OK ? "ok" : err->text);
    return status;
}

enum ar_status ar_run_kept(const struct ar_scenario *scenario, struct ar_flows **kept,
                           struct ar_row *row, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    struct ar_job job = ar_scenario_job(scenario);
    if (job.kind->is_collective && !ar_engine_times_calls(job.engine) && *kept == NULL &&
        ar_flows_create(&job.collective, kept, err) != AR_OK) {
        ar_run_describe(scenario, row);
        ar_copy_text(row->status, sizeof row->status, err->text);
        return err->status;
    }
    job.flows = job.kind->is_collective ? *kept : NULL;
    return ar_run_job(scenario, &job, &arena, &timing, row, err);
}

enum ar_status ar_run(const struct ar_scenario *scenario, struct ar_row *row, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    const struct ar_job job = ar_scenario_job(scenario);
    return ar_run_job(scenario, &job, &arena, &timing, row, err);
}
