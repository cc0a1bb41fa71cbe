/* sweep: all combinations of GPU counts, algorithms, grids and the axes of axes.h, in parallel
 * processes. */
#include <inttypes.h>
#include <stdlib.h>

#include "ar_units.h"
#include "commands.h"
#include "sweep.h"
#include "sweep_files.h"

static enum ar_status read_request(const struct options *options, struct sweep_request *request,
                                   struct ar_error *err)
{
    uint64_t jobs = request->launcher.local_ranks > 1 ? 1 : ar_pool_processors();
    if (options->jobs != NULL) {
        AR_TRY(option_status(
            ar_parse_count("--jobs", options->jobs, 1, AR_POOL_JOBS_MAX, &jobs, err), err));
    }
    request->jobs = (uint32_t)jobs;
    AR_TRY(ar_format_parse("--format", options->format, &request->format, err));
    if (request->resumes && request->directory == NULL) {
        return ar_error_set(err, AR_USAGE,
                            "sweep: found --resume without --out; expected --out DIR, the "
                            "directory of the sweep to go on with");
    }
    bool writes = request->directory != NULL && request->launcher.rank == 0;
    return writes ? sweep_files_check(request->directory, err) : AR_OK;
}

/* What all rows have in common; what varies is in the rows. */
static void describe(const struct options *options, const struct space *space)
{
    plan_note_framework(&space->variants.plan, options);
    if (space->variants.axes.variants_count == 1) {
        plan_describe(&space->variants.plan, options, space->points_count);
    } else {
        plan_note(options,
                  "%zu points, %" PRIu32 " combinations of options and settings; efficiency: 100 "
                  "%% is one %s (--baseline %s)",
                  space->points_count, space->variants.axes.variants_count,
                  space->variants.plan.baseline == AR_BASELINE_GPU ? "GPU" : "node",
                  ar_baseline_name(space->variants.plan.baseline));
    }
}

static enum ar_status prepare(const struct options *options, struct sweep_request *request,
                              struct space *space, struct ar_error *err)
{
    AR_TRY(read_request(options, request, err));
    AR_TRY(space_create(options, space, err));
    describe(options, space);
    return AR_OK;
}

enum ar_status command_sweep(const struct options *options, struct ar_error *err)
{
    struct options own = *options;
    struct sweep_request request = {.options = &own,
                                    .directory = options->out,
                                    .resumes = options->resume,
                                    .is_best = options->best,
                                    .launcher = launcher_find()};
    struct space *space = calloc(1, sizeof *space);
    if (space == NULL) {
        return ar_error_no_memory(err, "a sweep");
    }
    own.quiet = request.is_quiet = options->quiet || request.launcher.rank > 0; /* one talks */
    enum ar_status status = prepare(&own, &request, space, err);
    status = sweep_run(&request, space, status, err);
    space_destroy(space);
    free(space);
    return status;
}
