/* One collective, and predict: rows on stdout. */

#include <math.h>
#include <string.h>

#include "ar_inputs.h"
#include "ar_kind.h"
#include "ar_operators.h"
#include "ar_row.h"
#include "ar_text.h"
#include "commands.h"
#include "exports.h"
#include "lists.h"
#include "made_by.h"

#define FILE_NAMES "trace.json trace.paje " OPTION_ROWS_FILE

#define LONG_S 1.0 /* notes appear at once if the command takes longer */

bool option_needs_no_trace(const struct options *options)
{
    const char *strategies = option_key(options, AR_KEY_STRATEGY); /* a sweep has several */
    bool is_placed = false;
    AR_EACH_PART(name, strategies != NULL ? ar_arena_text(options->arena, strategies) : NULL, ',') {
        for (size_t i = 0; i < ar_strategies_count; i++) {
            bool is_named = strcmp(ar_strategies[i]->name, name) == 0;
            is_placed = is_placed || (is_named && ar_strategies[i]->operators != NULL);
        }
    }
    return is_placed || option_key(options, AR_KEY_OPERATORS) != NULL ||
           option_key(options, AR_KEY_WORKLOAD) != NULL;
}

enum ar_status option_require_step(const struct options *options, struct ar_error *err)
{
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    AR_REFUSE(!option_needs_no_trace(options) && option_key(options, AR_KEY_TRACE) == NULL, err,
              AR_USAGE,
              "%s: found no step; expected --workload W, a transformer, or --trace T, layers "
              "(see 'allreckon list workloads' and 'traces')",
              options->command->name);
    return AR_OK;
}

enum ar_status option_require_work(const struct options *options, struct ar_error *err)
{
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    if (option_needs_no_trace(options)) {
        return AR_OK;
    }
    bool has_payload = option_key(options, AR_KEY_PAYLOAD) != NULL;
    bool has_trace = option_key(options, AR_KEY_TRACE) != NULL;
    AR_REFUSE(has_payload == has_trace, err, AR_USAGE,
              "%s: found %s; expected --payload, of one collective, or --trace or --workload, of a "
              "step",
              options->command->name,
              has_trace ? "--payload and --trace" : "neither --payload nor --trace");
    if (has_trace) {
        return AR_OK;
    }
    key_set allowed = key_bits(AR_KEY_OF_COLLECTIVE | AR_KEY_OF_BARE) | KEY_BIT(AR_KEY_PAYLOAD);
    return option_refuse_others(options, allowed, "--payload", err);
}

enum ar_status option_check_messages(const struct options *options,
                                     const struct ar_scenario *scenario, struct ar_error *err)
{
    AR_REFUSE(ar_engine_times_calls(scenario->engine), err, AR_USAGE,
              "%s: --engine: found %s, which times whole calls and no messages; expected "
              "recurrence, simgrid or closed",
              options->command->name, scenario->engine->name);
    return AR_OK;
}

enum ar_status options_load(const struct options *options, struct ar_scenario *scenario,
                            struct ar_error *err)
{
    AR_TRY(option_require_key(options, AR_KEY_CLUSTER, err));
    const char *workload = option_key(options, AR_KEY_WORKLOAD);
    bool may_say_gpus = workload != NULL && resource_is_path(RESOURCE_RECORDED, workload);
    if (option_key(options, AR_KEY_MESH) == NULL && !may_say_gpus) {
        AR_TRY(option_require_key(options, AR_KEY_GPUS, err));
    }
    AR_TRY(options_scenario(options, 0, scenario, err));
    bool is_step_of_trace = ar_scenario_kind(scenario) == &ar_kind_trace;
    if (is_step_of_trace && scenario->layout.strategy->sends_buckets &&
        option_key(options, AR_KEY_ALGORITHM) == NULL) { /* as of one collective */
        AR_TRY(ar_scenario_set(scenario, AR_KEY_ALGORITHM, NULL, "auto", err));
    }
    AR_TRY(ar_scenario_load(scenario, err));
    if (option_notes(options) != NULL) {
        ar_note_assumed(option_notes(options), scenario);
    }
    return AR_OK;
}

enum ar_status option_save_rows(const struct options *options, const struct ar_scenario *scenario,
                                const struct ar_row *rows, size_t count, struct ar_error *err)
{
    struct parameters parameters = {.arena = options->arena};
    struct ar_row *saved = ar_arena_alloc(options->arena, count, sizeof *saved);
    for (size_t i = 0; i < count; i++) {
        saved[i] = rows[i];
        saved[i].wall_s = NAN; /* the same command gives the same file */
    }
    AR_TRY(ar_records_save(options->out, OPTION_ROWS_FILE, ar_row_columns, saved, count, err));
    parameters_add_scenario(&parameters, scenario);
    return made_by_sign(options, NULL, &parameters, err);
}

/* Simulates a step and leaves its traces in --out. */
static enum ar_status run_traced(const struct options *options, const struct ar_scenario *scenario,
                                 struct ar_row *row, struct ar_error *err)
{
    struct ar_timing timing;
    struct ar_output *json, *paje;
    struct usage_shown shown;
    const char *mark = made_by(options);
    struct ar_job job = ar_scenario_job(scenario);
    job.usage = ar_usage_create(scenario->cluster, ar_job_ranks(&job), options->arena);
    AR_TRY(options_run_timeline(options, scenario, &job, &timing, row, err));
    struct ar_row same = *row;
    same.wall_s = NAN; /* the same step gives the same file */
    AR_TRY(ar_output_begin_in(options->out, "trace.json", options->arena, &json, err));
    AR_TRY(ar_output_begin_in(options->out, "trace.paje", options->arena, &paje, err));
    timeline_write_trace(json->file, &timing, &same, mark);
    usage_write_paje(paje->file, &timing, mark);
    AR_TRY(ar_output_commit(json, err));
    AR_TRY(ar_output_commit(paje, err));
    usage_choose(&timing, &shown);
    ar_note(option_notes(options),
            "%s/trace.json (for ui.perfetto.dev) and trace.paje show %u of %u links that are used, "
            "the busiest ones, and %u of %u GPUs, in intervals of %s",
            options->out, shown.links_count, shown.links_used, shown.count - shown.links_count,
            job.usage->ranks_count, AR_SHOW_SECONDS(job.usage->bin_s));
    return AR_OK;
}

/* Runs a scenario by what is known of the one before (NULL: there is none), if both send by the
 * same algorithm on the same ranks. */
static enum ar_status run_after(const struct ar_scenario *scenario, const struct ar_scenario *last,
                                struct ar_known *known, struct ar_row *row, struct ar_error *err)
{
    struct ar_arena arena AR_ENDS_HERE = {NULL};
    struct ar_timing timing;
    struct ar_job job = ar_scenario_job(scenario);
    bool is_like = last != NULL && last->algorithm == scenario->algorithm &&
                   ar_shape_equal(&last->shape, &scenario->shape);
    if (!is_like) {
        ar_arena_end(known->arena);
        *known = (struct ar_known){.arena = known->arena};
    }
    job.known = known;
    job.is_row_alone = true;
    return ar_run_job(scenario, &job, &arena, &timing, row, err);
}

/* Runs scenarios one after the other and writes their rows; with --out there, too, unless that is
 * where operators lie. */
static enum ar_status run_scenarios(const struct options *options,
                                    const struct ar_scenario *scenarios, size_t count,
                                    struct ar_error *err)
{
    bool wants_rows = options->out != NULL && option_key(options, AR_KEY_OPERATORS) == NULL;
    struct ar_view view;
    size_t rows_count = 0;
    double cost_s = 0, check_s = 0; /* for notes */
    struct ar_arena room AR_ENDS_HERE = {NULL}, check_room AR_ENDS_HERE = {NULL};
    struct ar_known known = {.arena = &room}, checked = {.arena = &check_room};
    FILE *notes = option_notes(options);
    AR_TRY(option_view(options, ar_row_columns, &view, err));
    AR_TRY(wants_rows ? made_by_check_directory(options, FILE_NAMES, NULL, err) : AR_OK);
    struct ar_row *rows = ar_arena_alloc(options->arena, 2 * count, sizeof *rows);
    struct ar_scenario *checkers = ar_arena_alloc(options->arena, count, sizeof *checkers);
    for (size_t i = 0; i < count; i++) {
        cost_s += notes != NULL ? ar_run_cost_s(&scenarios[i]) : 0;
        if (options->check) {
            checkers[i] = scenarios[i];
            checkers[i].engine = ar_engine_checker(scenarios[i].engine);
            check_s += notes != NULL ? ar_run_cost_s(&checkers[i]) : 0;
        }
    }
    if (notes != NULL) {
        ar_note_before(notes, &scenarios[0], cost_s);
    }
    if (options->check) {
        ar_note_duration(notes, &checkers[0], check_s);
    }
    for (size_t i = 1; i < count; i++) {
        ar_note_choice(notes, &scenarios[i]);
    }
    if (cost_s + check_s > LONG_S) {
        ar_note_flush(notes);
    }
    for (size_t i = 0; i < count; i++) {
        struct ar_row *row = &rows[rows_count++];
        /* Steps that are simulated leave traces beside their rows, but for those with servers. */
        const struct ar_kind *kind = ar_scenario_kind(&scenarios[i]);
        AR_TRY(wants_rows && ar_engine_simulates(scenarios[i].engine) && kind->graph != NULL &&
                       !kind->is_collective
                   ? run_traced(options, &scenarios[i], row, err)
                   : run_after(&scenarios[i], i > 0 ? &scenarios[i - 1] : NULL, &known, row, err));
        if (options->check) {
            AR_TRY(run_after(&checkers[i], i > 0 ? &checkers[i - 1] : NULL, &checked,
                             &rows[rows_count++], err));
        }
    }
    AR_TRY(wants_rows ? option_save_rows(options, scenarios, rows, rows_count, err) : AR_OK);
    if (notes != NULL) {
        ar_note_flush(notes);
    }
    ar_rows_write(stdout, &view, rows, rows_count);
    return AR_OK;
}

enum ar_status command_predict(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    AR_TRY(option_require_step(options, err));
    bool places = options->out != NULL && option_key(options, AR_KEY_OPERATORS) != NULL;
    AR_TRY(places ? made_by_check_file(options, options->out, err) : AR_OK);
    AR_TRY(options_load(options, &scenario, err));
    if (option_notes(options) != NULL && !ar_scenario_kind(&scenario)->has_layout) {
        ar_note_points(option_notes(options), &scenario, 1);
    }
    if (places) { /* where the operators lie, as --placement reads it */
        const struct ar_placed *placed = scenario.layout.placed;
        struct ar_output *output;
        const char *mark;
        AR_TRY(made_by_begin(options, &output, &mark, err));
        fprintf(output->file, "# %s\n", mark);
        ar_placement_write(output->file, placed->operators, placed->devices);
        AR_TRY(made_by_end(output, err));
    }
    return run_scenarios(options, &scenario, 1, err);
}

enum ar_status command_collective(const struct options *options, struct ar_error *err)
{
    struct ar_scenario scenario;
    uint64_t *sizes;
    size_t count;
    AR_TRY(option_required(options, "payload", options->payloads, err));
    AR_TRY(options_load(options, &scenario, err));
    AR_TRY(list_sizes(options->arena, "--payload", options->payloads, &sizes, &count, err));
    struct ar_scenario *scenarios = ar_arena_alloc(options->arena, count, sizeof *scenarios);
    for (size_t i = 0; i < count; i++) {
        scenarios[i] = scenario;
        scenarios[i].payload_bytes = sizes[i];
        AR_TRY(ar_scenario_check_payload(&scenarios[i], err));
        AR_TRY(ar_scenario_settle(&scenarios[i], err));
    }
    return run_scenarios(options, scenarios, count, err);
}
