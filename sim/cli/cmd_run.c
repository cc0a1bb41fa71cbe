/* allreduce and predict: rows on stdout. */
#include <stdlib.h>

#include "commands.h"
#include "plan.h"

/* Runs points one after the other and writes their rows. */
static enum ar_status run_points(const struct options *options, const struct plan *plan,
                                 struct point *points, size_t count, struct ar_error *err)
{
    enum ar_format format;
    enum ar_status status = ar_format_parse("--format", options->format, &format, err);
    if (status != AR_OK) {
        return status;
    }
    struct ar_row *rows = malloc(PLAN_CHECKED_ROWS * count * sizeof *rows);
    size_t rows_count = 0;
    if (rows == NULL) {
        return ar_error_no_memory(err, "the rows");
    }
    plan_begin(plan, options, points, count);
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        status = plan_run_checked(options, plan, points[i], rows, &rows_count, err);
    }
    if (status == AR_OK) {
        plan_note_estimates(options, rows, rows_count);
        status = ar_rows_write(stdout, format, rows, rows_count, err);
    }
    free(rows);
    return status;
}

enum ar_status command_predict(const struct options *options, struct ar_error *err)
{
    struct plan plan;
    struct point point;
    enum ar_status status = plan_create(options, true, &plan, err);
    if (status != AR_OK) {
        return status;
    }
    status = plan_point(&plan, options, &point, err);
    if (status == AR_OK) {
        plan_describe(&plan, options, 1);
        status = run_points(options, &plan, &point, 1, err);
    }
    plan_destroy(&plan);
    return status;
}

enum ar_status command_allreduce(const struct options *options, struct ar_error *err)
{
    struct plan plan;
    struct point point;
    uint64_t *sizes = NULL;
    size_t count = 0;
    struct point *points = NULL;
    enum ar_status status = plan_create(options, false, &plan, err);
    if (status != AR_OK) {
        return status;
    }
    status = option_required(options, "payload", options->payload, err);
    if (status == AR_OK) {
        status = plan_point(&plan, options, &point, err);
    }
    if (status == AR_OK) {
        status = plan_payloads(&plan, options->payload, &sizes, &count, err);
    }
    if (status == AR_OK) {
        points = malloc(count * sizeof *points);
        status = points == NULL ? ar_error_no_memory(err, "the points") : AR_OK;
    }
    for (size_t i = 0; status == AR_OK && i < count; i++) {
        points[i] = point;
        points[i].payload_bytes = sizes[i];
    }
    if (status == AR_OK) {
        status = run_points(options, &plan, points, count, err);
    }
    free(sizes);
    free(points);
    plan_destroy(&plan);
    return status;
}
