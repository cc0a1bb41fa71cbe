#include "campaign.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "plan.h"

static enum ar_status refuse(const struct ar_log *run, struct ar_error *err, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

static enum ar_status refuse(const struct ar_log *run, struct ar_error *err, const char *format,
                             ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ar_error_set(err, AR_BAD_DATA, "%.180s:%" PRIu64 ": %s", run->path, run->first_line,
                        text);
}

/* --- one run ------------------------------------------------------------------------------ */

static enum ar_status check_places(const struct ar_log *run, const struct ar_cluster_facts *facts,
                                   struct ar_error *err)
{
    if (run->nodes == 0) {
        return refuse(run, err, "the log does not say on how many nodes it ran; expected it to");
    }
    if (run->nodes > facts->nodes_count) {
        return refuse(run, err,
                      "found %" PRIu32 " nodes; expected at most %" PRIu32
                      ", all that cluster %s has",
                      run->nodes, facts->nodes_count, facts->name);
    }
    if (run->ranks % run->nodes != 0 || run->ranks / run->nodes > facts->gpus_per_node) {
        return refuse(run, err,
                      "found %" PRIu32 " ranks on %" PRIu32 " node%s; expected equally many on "
                      "each, at most %" PRIu32 ", the GPUs of a node of cluster %s",
                      run->ranks, run->nodes, run->nodes == 1 ? "" : "s", facts->gpus_per_node,
                      facts->name);
    }
    return AR_OK;
}

/* Files of the harness also have other algorithms, and probes of links; only what the library chose
 * by itself can be fitted to its choice. */
static bool is_of_library(const struct ar_log *run)
{
    return run->format != AR_LOG_HARNESS ||
           (strcmp(run->tool, "nccl") == 0 && strcmp(run->algorithm, "nccl-allreduce") == 0);
}

static enum ar_status check_run(const struct ar_log *run, const struct ar_cluster_facts *facts,
                                struct ar_error *err)
{
    enum ar_status status = ar_log_check(run, AR_LOG_ALL_REDUCE, 1, err);
    bool has_end = run->format == AR_LOG_NCCL_TEXT || run->format == AR_LOG_NCCL_JSON;
    if (status == AR_OK && has_end && !run->is_complete) {
        return refuse(run, err,
                      "found no end of the run; expected the closing lines of nccl-tests "
                      "(is the log cut off?)");
    }
    return status == AR_OK ? check_places(run, facts, err) : status;
}

/* What the runs say of the machine must be the same in all that say it. */
static enum ar_status check_same(const struct ar_log *run, const char *what, const char *found,
                                 char known[AR_LOG_TEXT], struct ar_error *err)
{
    if (found[0] == '\0' || strcmp(found, known) == 0) {
        return AR_OK;
    }
    if (known[0] == '\0') {
        ar_copy_text(known, AR_LOG_TEXT, found);
        return AR_OK;
    }
    return refuse(run, err, "found %s \"%.80s\"; expected \"%.80s\", as in the runs before", what,
                  found, known);
}

/* --- rows --------------------------------------------------------------------------------- */

static enum ar_status pick_time(const struct campaign *campaign, const struct ar_log *run,
                                const struct ar_log_row *row, double *time_s, struct ar_error *err)
{
    double out_s = row->out_of_place.time_s;
    double in_s = row->in_place.time_s;
    *time_s = strcmp(campaign->time, "in-place") == 0       ? in_s
              : strcmp(campaign->time, "out-of-place") == 0 ? out_s
                                                            : (in_s + out_s) / 2;
    if (!(*time_s > 0) || !isfinite(*time_s)) {
        return ar_error_set(err, AR_BAD_DATA,
                            "%.200s:%" PRIu64
                            ": found no time for --time %s; expected one in every "
                            "row",
                            run->path, row->line, campaign->time);
    }
    return AR_OK;
}

static enum ar_status add_rows(struct campaign *campaign, const struct ar_log *run,
                               struct ar_error *err)
{
    size_t room = campaign->rows_count + run->rows_count;
    struct ar_library_row *rows = realloc(campaign->rows, (room + 1) * sizeof *rows);
    if (rows == NULL) {
        return ar_error_no_memory(err, "the measured rows");
    }
    campaign->rows = rows;
    for (size_t i = 0; i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        struct ar_library_row *target = &rows[campaign->rows_count];
        if (row->payload_bytes == 0) {
            continue; /* nothing to reduce: only the cost of a call */
        }
        enum ar_status status = pick_time(campaign, run, row, &target->time_s, err);
        if (status != AR_OK) {
            return status;
        }
        target->run = (struct ar_library_run){
            .nodes = run->nodes, .ranks = run->ranks, .bytes = (double)row->payload_bytes};
        campaign->rows_count++;
    }
    return ar_library_nodes_add(&campaign->nodes, run->nodes, err);
}

static enum ar_status add_run(struct campaign *campaign, const struct ar_log *run, const char *path,
                              const struct ar_cluster *cluster, struct ar_error *err)
{
    size_t before = campaign->rows_count;
    enum ar_status status = check_run(run, ar_cluster_facts(cluster), err);
    if (status == AR_OK) {
        status = check_same(run, "library", run->library, campaign->library, err);
    }
    if (status == AR_OK) {
        status = check_same(run, "GPU", run->gpu, campaign->gpu, err);
    }
    if (status == AR_OK) {
        status = add_rows(campaign, run, err);
    }
    struct campaign_run *runs =
        status == AR_OK
            ? realloc(campaign->runs, (campaign->runs_count + 1) * sizeof *campaign->runs)
            : NULL;
    if (runs == NULL) {
        return status == AR_OK ? ar_error_no_memory(err, "the measured runs") : status;
    }
    campaign->runs = runs;
    runs[campaign->runs_count++] =
        (struct campaign_run){.path = path,
                              .line = run->first_line,
                              .nodes = run->nodes,
                              .ranks = run->ranks,
                              .rows_count = campaign->rows_count - before};
    return AR_OK;
}

static enum ar_status add_log(struct campaign *campaign, const struct options *options,
                              const char *path, const struct ar_cluster *cluster,
                              struct ar_error *err)
{
    struct ar_logs *logs;
    enum ar_status status = ar_logs_load(path, &logs, err);
    if (status != AR_OK) {
        return status;
    }
    for (size_t i = 0; status == AR_OK && i < logs->runs_count; i++) {
        const struct ar_log *run = &logs->runs[i];
        if (is_of_library(run)) {
            status = add_run(campaign, run, path, cluster, err);
        } else {
            plan_note(options, "%s:%" PRIu64 ": %s of backend %s not used", path, run->first_line,
                      run->algorithm, run->tool);
        }
    }
    ar_logs_destroy(logs);
    return status;
}

static enum ar_status check_options(const struct options *options, struct ar_error *err)
{
    static const char *const times[] = {"out-of-place", "in-place", "mean"};
    if (options->arguments_count == 0) {
        return ar_error_set(err, AR_USAGE,
                            "%s: no log; expected files of nccl-tests, of the harness or of "
                            "published measurements",
                            options->command->name);
    }
    for (size_t i = 0; i < options->arguments_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(options->arguments[i], options->arguments[j]) == 0) {
                return ar_error_set(err, AR_USAGE, "%s: found log \"%.200s\" twice; expected once",
                                    options->command->name, options->arguments[i]);
            }
        }
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (strcmp(options->time, times[i]) == 0) {
            return AR_OK;
        }
    }
    return ar_error_set(err, AR_USAGE,
                        "--time: found \"%s\"; expected out-of-place, in-place or "
                        "mean",
                        options->time);
}

enum ar_status campaign_read(const struct options *options, const struct ar_cluster *cluster,
                             struct campaign *campaign, struct ar_error *err)
{
    struct campaign read = {.time = options->time};
    enum ar_status status = check_options(options, err);
    for (size_t i = 0; status == AR_OK && i < options->arguments_count; i++) {
        status = add_log(&read, options, options->arguments[i], cluster, err);
    }
    if (status == AR_OK && read.rows_count == 0) {
        status = ar_error_set(err, AR_BAD_DATA,
                              "%s: found no all-reduce by NCCL's own choice in the logs; expected "
                              "some (of the harness: backend nccl, algorithm nccl-allreduce)",
                              options->command->name);
    }
    if (status != AR_OK) {
        campaign_destroy(&read);
        return status;
    }
    *campaign = read;
    return AR_OK;
}

void campaign_destroy(struct campaign *campaign)
{
    free(campaign->rows);
    free(campaign->runs);
    campaign->rows = NULL;
    campaign->runs = NULL;
}

void campaign_note(const struct campaign *campaign, const struct options *options)
{
    for (size_t i = 0; i < campaign->runs_count; i++) {
        const struct campaign_run *run = &campaign->runs[i];
        plan_note(options,
                  "%s:%" PRIu64 ": %zu all-reduces of %" PRIu32 " GPUs on %" PRIu32 " node%s used",
                  run->path, run->line, run->rows_count, run->ranks, run->nodes,
                  run->nodes == 1 ? "" : "s");
    }
    if (campaign->library[0] != '\0' && strstr(campaign->library, "2.8.4") == NULL) {
        plan_note(options, "the logs are of %s; choices and priors are those of NCCL 2.8.4",
                  campaign->library);
    }
}
