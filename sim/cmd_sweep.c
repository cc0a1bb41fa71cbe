/* sweep: all GPU counts x algorithms x grids, in parallel processes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_units.h"
#include "commands.h"
#include "lists.h"
#include "pool.h"
#include "sweep_files.h"

/* The axes of a sweep and the points they give. */
struct sweep {
    struct plan plan;
    uint64_t *gpus;
    size_t gpus_count;
    const struct ar_algorithm **algorithms;
    size_t algorithms_count;
    uint64_t *payloads;
    size_t payloads_count;
    struct point *points; /* steps first, then bare all-reduces */
    size_t points_count;
    size_t steps_count;
    uint32_t jobs;
    enum ar_row_format format;
};

static enum ar_status add_point(struct sweep *sweep, struct point point, struct ar_error *err)
{
    struct ar_collective collective = plan_collective(&sweep->plan, &point);
    enum ar_status status = ar_collective_check(&collective, err);
    if (status != AR_OK) {
        return status;
    }
    size_t count = sweep->points_count;
    if ((count & (count - 1)) == 0) { /* room doubles at every power of two */
        size_t room = count == 0 ? 1 : 2 * count;
        struct point *points = realloc(sweep->points, room * sizeof *points);
        if (points == NULL) {
            return ar_error_no_memory(err, "the points of a sweep");
        }
        sweep->points = points;
    }
    sweep->points[sweep->points_count++] = point;
    return AR_OK;
}

/* Grids are an axis of the torus; other algorithms have one shape for a number of ranks. */
static bool has_grids(const struct ar_algorithm *algorithm)
{
    return strcmp(algorithm->name, "torus2d") == 0;
}

static enum ar_status add_points_of(struct sweep *sweep, const struct options *options,
                                    uint32_t ranks, const struct ar_algorithm *algorithm,
                                    struct ar_error *err)
{
    uint32_t gpus_per_node = ar_cluster_facts(sweep->plan.cluster)->gpus_per_node;
    struct point point = {.algorithm = algorithm};
    if (!has_grids(algorithm)) {
        point.shape = algorithm->default_shape(ranks, gpus_per_node);
        return add_point(sweep, point, err);
    }
    struct ar_shape *shapes;
    size_t count;
    enum ar_status status =
        list_shapes("--shapes", options->shape, ranks, gpus_per_node, &shapes, &count, err);
    if (status != AR_OK) {
        return status;
    }
    if (count == 0) {
        plan_note(options,
                  "%s left out at %" PRIu32 " GPUs: none of --shapes %s has so many places",
                  algorithm->name, ranks, options->shape);
    }
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        point.shape = shapes[i];
        status = add_point(sweep, point, err);
    }
    free(shapes);
    return status;
}

/* A choice of grids that nothing reacts to is a mistake. */
static enum ar_status check_shapes(const struct sweep *sweep, const struct options *options,
                                   struct ar_error *err)
{
    bool is_used = strcmp(options->shape, "all") == 0;
    for (size_t i = 0; i < sweep->algorithms_count; i++) {
        is_used = is_used || has_grids(sweep->algorithms[i]);
    }
    if (!is_used) {
        return ar_error_set(
            err, AR_USAGE,
            "--shapes: found \"%.100s\", which --algorithms %.100s do not react to; "
            "expected torus2d among them",
            options->shape, options->algorithm);
    }
    return list_shapes_check("--shapes", options->shape, sweep->gpus, sweep->gpus_count, err);
}

static enum ar_status add_steps(struct sweep *sweep, const struct options *options,
                                struct ar_error *err)
{
    for (size_t i = 0; i < sweep->gpus_count; i++) {
        for (size_t j = 0; j < sweep->algorithms_count; j++) {
            enum ar_status status =
                add_points_of(sweep, options, (uint32_t)sweep->gpus[i], sweep->algorithms[j], err);
            if (status != AR_OK) {
                return status;
            }
        }
    }
    if (sweep->points_count == 0) {
        return ar_error_set(
            err, AR_USAGE,
            "--shapes: found \"%.100s\"; expected as many places as one of --gpus %s",
            options->shape, options->gpus);
    }
    sweep->steps_count = sweep->points_count;
    return AR_OK;
}

/* The bare all-reduces: every algorithm in its standard shape at the largest GPU count. */
static enum ar_status add_payloads(struct sweep *sweep, struct ar_error *err)
{
    uint64_t most = 0;
    for (size_t i = 0; i < sweep->gpus_count; i++) {
        most = sweep->gpus[i] > most ? sweep->gpus[i] : most;
    }
    for (size_t i = 0; i < sweep->payloads_count; i++) {
        for (size_t j = 0; j < sweep->algorithms_count; j++) {
            const struct ar_algorithm *algorithm = sweep->algorithms[j];
            struct point point = {
                .algorithm = algorithm,
                .shape = algorithm->default_shape(
                    (uint32_t)most, ar_cluster_facts(sweep->plan.cluster)->gpus_per_node),
                .payload_bytes = sweep->payloads[i],
            };
            enum ar_status status = add_point(sweep, point, err);
            if (status != AR_OK) {
                return status;
            }
        }
    }
    return AR_OK;
}

static enum ar_status read_axes(struct sweep *sweep, const struct options *options,
                                struct ar_error *err)
{
    uint64_t most = ar_cluster_gpus_count(sweep->plan.cluster);
    enum ar_status status = option_required(options, "gpus", options->gpus, err);
    if (status == AR_OK) {
        status = list_counts("--gpus", options->gpus, most, &sweep->gpus, &sweep->gpus_count, err);
    }
    if (status == AR_OK) {
        status = list_algorithms("--algorithms", options->algorithm, &sweep->algorithms,
                                 &sweep->algorithms_count, err);
    }
    if (status == AR_OK && options->payload != NULL) {
        status = plan_payloads(&sweep->plan, options->payload, &sweep->payloads,
                               &sweep->payloads_count, err);
    }
    uint64_t jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (status == AR_OK && options->jobs != NULL) {
        status = option_status(ar_parse_count("--jobs", options->jobs, 1, 256, &jobs, err), err);
    }
    sweep->jobs = (uint32_t)jobs;
    if (status == AR_OK) {
        status = ar_row_format_parse("--format", options->format, &sweep->format, err);
    }
    if (status == AR_OK) {
        status = check_shapes(sweep, options, err);
    }
    if (status == AR_OK) {
        status = add_steps(sweep, options, err);
    }
    return status == AR_OK ? add_payloads(sweep, err) : status;
}

/* Copies the fastest row of each GPU count, in the order of the counts; returns how many. */
static size_t best_rows(const struct ar_row *rows, size_t count, struct ar_row *best)
{
    size_t best_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t place = 0;
        if (strcmp(rows[i].status, "ok") != 0) {
            continue;
        }
        while (place < best_count && best[place].gpus != rows[i].gpus) {
            place++;
        }
        if (place == best_count || rows[i].iteration_s < best[place].iteration_s) {
            best[place] = rows[i];
            best_count += place == best_count;
        }
    }
    return best_count;
}

static enum ar_status print_best(const struct sweep *sweep, const struct ar_row *rows,
                                 struct ar_error *err)
{
    struct ar_row *best = malloc(sweep->steps_count * sizeof *best);
    if (best == NULL) {
        return ar_error_no_memory(err, "the best rows");
    }
    ar_rows_write(stdout, sweep->format, best, best_rows(rows, sweep->steps_count, best));
    free(best);
    return AR_OK;
}

static enum ar_status write_rows(const struct sweep *sweep, const struct options *options,
                                 const struct ar_row *rows, struct ar_error *err)
{
    size_t payload_rows = sweep->points_count - sweep->steps_count;
    if (options->out != NULL) {
        enum ar_status status = sweep_files_write(options->out, rows, sweep->steps_count,
                                                  rows + sweep->steps_count, payload_rows, err);
        if (status != AR_OK) {
            return status;
        }
        if (payload_rows == 0 && sweep_files_has_payload(options->out)) {
            plan_note(options,
                      "%s/payload.csv is of an earlier sweep and stays; --payload renews it",
                      options->out);
        }
    }
    if (options->best) {
        return print_best(sweep, rows, err);
    }
    if (sweep->format == AR_ROW_TABLE && payload_rows > 0) {
        ar_rows_write(stdout, sweep->format, rows, sweep->steps_count);
        fputc('\n', stdout);
        ar_rows_write(stdout, sweep->format, rows + sweep->steps_count, payload_rows);
    } else {
        ar_rows_write(stdout, sweep->format, rows, sweep->points_count);
    }
    return AR_OK;
}

static enum ar_status report_failures(const struct ar_row *rows, size_t count, struct ar_error *err)
{
    size_t failed = 0;
    size_t first = 0;
    for (size_t i = count; i-- > 0;) {
        if (strcmp(rows[i].status, "ok") != 0) {
            failed++;
            first = i;
        }
    }
    if (failed == 0) {
        return AR_OK;
    }
    return ar_error_set(err, AR_INTERNAL,
                        "%zu of %zu points failed; the first, %s on %" PRIu64 " GPUs: %s", failed,
                        count, rows[first].algorithm, rows[first].gpus, rows[first].status);
}

static void describe(const struct sweep *sweep, const struct options *options, size_t not_simulated)
{
    plan_describe(&sweep->plan, options, sweep->points_count);
    if (not_simulated > 0) {
        plan_note(options,
                  "%zu points by engine recurrence, where simgrid would need more than 2 million "
                  "messages at that GPU count",
                  not_simulated);
    }
}

static enum ar_status run(struct sweep *sweep, const struct options *options, struct ar_error *err)
{
    size_t not_simulated = plan_choose_engines(&sweep->plan, sweep->points, sweep->steps_count);
    not_simulated += plan_choose_engines(&sweep->plan, sweep->points + sweep->steps_count,
                                         sweep->points_count - sweep->steps_count);
    describe(sweep, options, not_simulated);
    struct ar_row *rows = calloc(sweep->points_count, sizeof *rows);
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows of a sweep");
    }
    /* Not after an hour of simulations. */
    enum ar_status status = options->out != NULL ? sweep_files_check(options->out, err) : AR_OK;
    if (status == AR_OK) {
        status = pool_run(&sweep->plan, sweep->points, sweep->points_count, sweep->jobs,
                          !options->quiet && isatty(STDERR_FILENO), rows, err);
    }
    if (status == AR_OK) {
        plan_note_estimates(options, rows, sweep->points_count);
        status = write_rows(sweep, options, rows, err);
    }
    if (status == AR_OK) {
        status = report_failures(rows, sweep->points_count, err);
    }
    free(rows);
    return status;
}

enum ar_status command_sweep(const struct options *options, struct ar_error *err)
{
    struct sweep sweep = {.points_count = 0};
    enum ar_status status = plan_create(options, true, &sweep.plan, err);
    if (status != AR_OK) {
        return status;
    }
    status = read_axes(&sweep, options, err);
    if (status == AR_OK) {
        status = run(&sweep, options, err);
    }
    free(sweep.gpus);
    free(sweep.algorithms);
    free(sweep.payloads);
    free(sweep.points);
    plan_destroy(&sweep.plan);
    return status;
}
