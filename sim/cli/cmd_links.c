/* links: the load of every link, to answer which one is the bottleneck. */

#include "ar_note.h"
#include "ar_units.h"
#include "cmd_run.h"
#include "commands.h"
#include "link_table.h"

enum { TOP_MAX = 1000000 };

/* What is asked for, read before anything runs. */
struct request {
    struct ar_view view;
    uint64_t top;
};

static enum ar_status read_request(const struct options *options, struct request *request,
                                   struct ar_error *err)
{
    AR_TRY(option_require_work(options, err));
    AR_TRY(option_view(options, (struct ar_columns){0}, &request->view, err));
    return option_count("--top", options->top, 1, TOP_MAX, &request->top, err);
}

/* The load of all buckets of a step. */
static enum ar_status add_step(const struct ar_scenario *scenario, struct ar_link_load *loads,
                               struct ar_error *err)
{
    struct ar_collective collective = ar_scenario_collective(scenario);
    struct ar_workload *workload;
    AR_TRY(ar_scenario_workload(scenario, scenario->arena, &workload, err));
    uint32_t count = workload->buckets_count;
    uint64_t *elements = ar_arena_alloc(scenario->arena, count, sizeof *elements);
    AR_NEED(elements, err, "the buckets");
    for (uint32_t i = 0; i < count; i++) {
        elements[i] = workload->buckets[i].elements;
    }
    return ar_link_load_add(&collective, elements, count, loads, err);
}

static enum ar_status run(const struct options *options, const struct ar_scenario *scenario,
                          const struct request *request, struct ar_error *err)
{
    struct ar_row rows[CHECKED_ROWS];
    size_t rows_count = 0;
    FILE *notes = option_notes(options);
    struct ar_collective collective = ar_scenario_collective(scenario);
    uint64_t bare = scenario->payload_bytes / collective.element_bytes;
    struct ar_link_load *loads =
        ar_arena_alloc(scenario->arena, ar_cluster_links_count(scenario->cluster), sizeof *loads);
    AR_NEED(loads, err, "the loads of links");
    ar_note_before(notes, scenario, NULL, ar_run_cost_s(scenario));
    AR_TRY(run_checked(options, scenario, rows, &rows_count, err));
    AR_TRY(ar_scenario_is_bare(scenario) ? ar_link_load_add(&collective, &bare, 1, loads, err)
                                         : add_step(scenario, loads, err));
    ar_note_estimates(notes, ar_rows_estimates(rows, rows_count), rows_count);
    ar_note_flush(notes);
    link_table_write(stdout, &request->view, scenario->cluster, loads, rows, rows_count,
                     request->top, scenario->arena);
    return AR_OK;
}

enum ar_status command_links(const struct options *options, struct ar_error *err)
{
    struct request request;
    struct ar_scenario scenario;
    AR_TRY(read_request(options, &request, err));
    AR_TRY(options_load(options, &scenario, err));
    scenario.baseline = AR_BASELINE_GPU; /* efficiency is not asked for; this one costs nothing */
    AR_TRY(option_check_messages(options, &scenario, err));
    if (scenario.trace == NULL) {
        AR_TRY(ar_scenario_check_payload(&scenario, err));
    }
    return run(options, &scenario, &request, err);
}
