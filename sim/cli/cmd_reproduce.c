/* reproduce: published training runs, predicted beside measured. */
#include <inttypes.h>

#include "ar_pool.h"
#include "ar_row.h"
#include "commands.h"
#include "made_by.h"
#include "reproduce.h"

enum { SAMPLES_MAX = 100000 };

enum ar_status command_reproduce(const struct options *options, struct ar_error *err)
{
    struct reproduction reproduction = {.arena = options->arena};
    struct ar_view view;
    AR_TRY(option_view(options, (struct ar_columns){0}, &view, err));
    struct published_request request = {.files = options->arguments,
                                        .files_count = options->arguments_count,
                                        .pattern = options->rows};
    uint64_t samples;
    uint64_t jobs = ar_pool_processors();
    AR_TRY(option_count("--samples", options->samples, 1, SAMPLES_MAX, &samples, err));
    AR_TRY(option_count("--seed", options->draws_seed, 0, UINT32_MAX, &reproduction.seed, err));
    AR_TRY(option_count("--jobs", options->jobs, 1, AR_POOL_JOBS_MAX, &jobs, err));
    reproduction.samples_count = (uint32_t)samples;
    reproduction.jobs = (uint32_t)jobs;
    reproduction.shows_progress = option_notes(options) != NULL;
    AR_TRY(options_scenario(options, 0, &request.given, err));
    if (options->engine != NULL) {
        AR_TRY(ar_scenario_set(&request.given, AR_KEY_ENGINE, NULL, options->engine, err));
    }
    AR_TRY(published_read(&request, &reproduction.rows, err));
    AR_TRY(
        made_by_check_directory(options, "reproduce.csv families.csv step_errors.csv", NULL, err));
    ar_note(option_notes(options), "%zu row%s; bands of %" PRIu32 " draws, seed %" PRIu64,
            reproduction.rows.count, reproduction.rows.count == 1 ? "" : "s",
            reproduction.samples_count, reproduction.seed);
    ar_note_flush(option_notes(options));
    AR_TRY(reproduce_run(&reproduction, err));
    if (options->out != NULL) {
        AR_TRY(ar_records_save(options->out, "reproduce.csv", reproduce_columns,
                               reproduction.rows.rows, reproduction.rows.count, err));
        struct reproduce_family *families;
        size_t count;
        reproduce_families(&reproduction.rows, options->arena, &families, &count);
        AR_TRY(ar_records_save(options->out, "families.csv", reproduce_family_columns, families,
                               count, err));
        struct ar_step_errors *errors;
        reproduce_errors(&reproduction.rows, options->arena, &errors, &count);
        AR_TRY(ar_records_save(options->out, "step_errors.csv", ar_step_errors_columns, errors,
                               count, err));
        AR_TRY(made_by_sign(options, NULL, NULL, err));
        AR_TRY(option_draw(options, AR_PLOT_PUBLISHED, NULL, err));
    }
    ar_note_flush(option_notes(options));
    reproduce_write(stdout, &view, &reproduction);
    return AR_OK;
}
