/* sweep: all combinations of GPU counts, algorithms, grids and the axes of axes.h, in parallel
 * processes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_units.h"
#include "commands.h"
#include "pool.h"
#include "ranks.h"
#include "sweep_files.h"

enum { LONG_S = 30 };

/* The only state outside a command: set by the handler of the signals that end a sweep. */
static volatile sig_atomic_t is_interrupted;

void sweep_interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
}

bool sweep_is_interrupted(void)
{
    return is_interrupted != 0;
}

static enum ar_status read_options(struct sweep *sweep, struct ar_error *err)
{
    const struct options *options = sweep->options;
    uint64_t jobs = sweep->launch.local_ranks > 1 ? 1 : pool_processors();
    enum ar_status status = AR_OK;
    if (options->jobs != NULL) {
        status =
            option_status(ar_parse_count("--jobs", options->jobs, 1, JOBS_MAX, &jobs, err), err);
    }
    sweep->jobs = jobs < JOBS_MAX ? (uint32_t)jobs : JOBS_MAX;
    if (status == AR_OK) {
        status = ar_row_format_parse("--format", options->format, &sweep->format, err);
    }
    if (status == AR_OK && options->resume && options->out == NULL) {
        return ar_error_set(err, AR_USAGE,
                            "sweep: found --resume without --out; expected --out DIR, the "
                            "directory of the sweep to go on with");
    }
    bool writes = options->out != NULL && sweep->launch.rank == 0;
    return status == AR_OK && writes ? sweep_files_check(options->out, err) : status;
}

/* What all rows have in common; what varies is in the rows. */
static void describe(const struct sweep *sweep)
{
    const struct options *options = sweep->options;
    const struct space *space = &sweep->space;
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

/* Says how long it will take, and what is there already. */
static void announce(const struct sweep *sweep, uint32_t processes, size_t cut_bytes)
{
    const struct options *options = sweep->options;
    char text[PROGRESS_TEXT];
    double time_s = sweep->dealer.cost_s / processes;
    if (cut_bytes > 0) {
        plan_note(options,
                  "%s: the last line was cut short, %zu bytes; its point is computed again",
                  sweep->journal.path, cut_bytes);
    }
    if (options->resume) {
        plan_note(options, "%zu of %zu rows are there, %zu to compute",
                  sweep->space.points_count - sweep->dealer.count, sweep->space.points_count,
                  sweep->dealer.count);
    }
    if (time_s > LONG_S) {
        plan_note(options, "about %s on %" PRIu32 " process%s, estimated from messages per point",
                  progress_time(time_s, text), processes, processes == 1 ? "" : "es");
    }
}

enum ar_status sweep_open(struct sweep *sweep, uint32_t processes, struct ar_error *err)
{
    const struct options *options = sweep->options;
    size_t cut_bytes;
    enum ar_status status = journal_open(options->out, &sweep->space, options->resume,
                                         &sweep->journal, &cut_bytes, err);
    if (status == AR_OK) {
        status = dealer_create(&sweep->space, &sweep->journal, &sweep->dealer, err);
    }
    if (status == AR_OK) {
        announce(sweep, processes, cut_bytes);
        progress_begin(!options->quiet && isatty(STDERR_FILENO), &sweep->progress);
        progress_draw(&sweep->progress, &sweep->dealer);
    }
    return status;
}

void sweep_close(struct sweep *sweep, bool is_finished)
{
    journal_close(&sweep->journal, is_finished);
    dealer_destroy(&sweep->dealer);
}

enum ar_status sweep_take(struct sweep *sweep, const struct answer *answer, struct ar_error *err)
{
    enum ar_status status = journal_add(&sweep->journal, answer, err);
    dealer_finish(&sweep->dealer, &sweep->space, answer->point);
    progress_draw(&sweep->progress, &sweep->dealer);
    return status;
}

enum ar_status sweep_report_interrupt(const struct sweep *sweep, struct ar_error *err)
{
    const struct journal *journal = &sweep->journal;
    bool is_kept = journal->path[0] != '\0' && journal->rows_count > 0;
    return ar_error_set(err, AR_INTERRUPTED, "interrupted after %zu of %zu points%s%.300s%s",
                        journal->rows_count, journal->points_count, is_kept ? "; " : "",
                        is_kept ? journal->path : "", is_kept ? " keeps them for --resume" : "");
}

static enum ar_status compute_with(struct sweep *sweep, struct pool *pool, struct ar_error *err)
{
    enum ar_status status = AR_OK;
    struct dealer *dealer = &sweep->dealer;
    struct request request;
    struct answer answer;
    while (status == AR_OK && dealer->finished < dealer->count) {
        while (dealer_deal(dealer, pool_capacity(pool, dealer_next_s(dealer)), &request) > 0) {
            pool_add(pool, request.points, request.count);
        }
        status = pool_wait(pool, -1, err);
        while (status == AR_OK && pool_take(pool, &answer)) {
            status = sweep_take(sweep, &answer, err);
        }
        if (status == AR_OK && is_interrupted) {
            status = sweep_report_interrupt(sweep, err);
        }
    }
    return status;
}

/* Computes the points that have no row. */
static enum ar_status compute(struct sweep *sweep, struct ar_error *err)
{
    struct pool *pool = NULL;
    struct signals before;
    signals_hold(sweep_interrupt, &before);
    enum ar_status status = pool_create(&sweep->space, sweep->jobs, &before, &pool, err);
    if (status == AR_OK) {
        status = compute_with(sweep, pool, err);
    }
    progress_end(&sweep->progress);
    pool_destroy(pool);
    if (status != AR_INTERRUPTED) { /* else another signal would end it before it says so */
        signals_restore(&before);
    }
    return status;
}

static enum ar_status write_rows(struct sweep *sweep, struct ar_error *err)
{
    const struct options *options = sweep->options;
    const struct space *space = &sweep->space;
    size_t estimates = 0;
    enum ar_status status = AR_OK;
    if (options->out != NULL) {
        status = sweep_files_write(options->out, space, &sweep->journal, err);
        if (status == AR_OK && space->points_count == space->steps_count &&
            sweep_files_has_payload(options->out)) {
            plan_note(options,
                      "%s/payload.csv is of an earlier sweep and stays; --payload renews it",
                      options->out);
        }
    }
    if (status == AR_OK && options->best) {
        return sweep_print_best(space, &sweep->journal, sweep->format, err);
    }
    if (status == AR_OK) {
        status = sweep_print(space, &sweep->journal, sweep->format, &estimates, err);
        plan_note_estimates_count(options, estimates, space->points_count);
    }
    return status;
}

static enum ar_status report_failures(const struct sweep *sweep, struct ar_error *err)
{
    const struct journal *journal = &sweep->journal;
    char text[ANSWER_TEXT_MAX + 1];
    struct ar_row row = ar_row_empty();
    uint32_t first = 0;
    if (journal->failed_count == 0) {
        return AR_OK;
    }
    while (journal->is_ok[first]) {
        first++;
    }
    const struct point *point = &sweep->space.points[first];
    enum ar_status status = journal_read(journal, first, text, err);
    if (status == AR_OK) {
        status = ar_row_read(text, &row, err);
    }
    if (status != AR_OK) {
        return status;
    }
    return ar_error_set(err, AR_INTERNAL,
                        "%zu of %zu points failed; the first, %s on %" PRIu32 " GPUs: %s%s",
                        journal->failed_count, journal->points_count,
                        ar_algorithm_name(point->algorithm), ar_shape_ranks(&point->shape),
                        row.status, journal->path[0] != '\0' ? "; --resume tries them again" : "");
}

enum ar_status sweep_finish(struct sweep *sweep, struct ar_error *err)
{
    enum ar_status status = write_rows(sweep, err);
    return status == AR_OK ? report_failures(sweep, err) : status;
}

static enum ar_status run_alone(struct sweep *sweep, struct ar_error *err)
{
    enum ar_status status = sweep_open(sweep, sweep->jobs, err);
    if (status == AR_OK) {
        status = compute(sweep, err);
    }
    if (status == AR_OK) {
        status = sweep_finish(sweep, err);
    }
    sweep_close(sweep, status == AR_OK);
    return status;
}

enum ar_status command_sweep(const struct options *options, struct ar_error *err)
{
    struct options own = *options;
    struct sweep *sweep = calloc(1, sizeof *sweep);
    if (sweep == NULL) {
        return ar_error_no_memory(err, "a sweep");
    }
    sweep->options = &own;
    sweep->launch = launch_find();
    own.quiet = options->quiet || sweep->launch.rank > 0; /* one of them talks */
    enum ar_status status = read_options(sweep, err);
    if (status == AR_OK) {
        status = space_create(&own, &sweep->space, err);
    }
    if (status == AR_OK) {
        describe(sweep);
    }
    if (sweep->launch.ranks > 1) {
        status = ranks_run(sweep, status, err);
    } else if (status == AR_OK) {
        status = run_alone(sweep, err);
    }
    space_destroy(&sweep->space);
    free(sweep);
    return status;
}
