#include "campaign.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "cells.h"
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

/* The backend nccl also runs algorithms composed of its calls, and probes of links; only what the
 * library chose by itself can be fitted to its choice. */
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

static enum ar_status reserve(struct campaign *campaign, size_t more, struct ar_error *err)
{
    size_t capacity = campaign->rows_count + more + 1;
    struct ar_library_row *rows = realloc(campaign->rows, capacity * sizeof *rows);
    if (rows == NULL) {
        return ar_error_no_memory(err, "the measured rows");
    }
    campaign->rows = rows;
    struct ar_link_row *own =
        campaign->is_own ? realloc(campaign->own, capacity * sizeof *own) : NULL;
    if (campaign->is_own && own == NULL) {
        return ar_error_no_memory(err, "the measured rows");
    }
    campaign->own = own;
    return AR_OK;
}

/* `collective` is what a run of our own algorithms ran, NULL for one of a library. */
static enum ar_status add_rows(struct campaign *campaign, const struct ar_log *run,
                               const struct ar_collective *collective, struct ar_error *err)
{
    enum ar_status capacity = reserve(campaign, run->rows_count, err);
    if (capacity != AR_OK) {
        return capacity;
    }
    for (size_t i = 0; i < run->rows_count; i++) {
        const struct ar_log_row *row = &run->rows[i];
        struct ar_library_row *target = &campaign->rows[campaign->rows_count];
        if (row->payload_bytes == 0) {
            continue; /* nothing to reduce: only the cost of a call */
        }
        enum ar_status status = pick_time(campaign, run, row, &target->time_s, err);
        if (status != AR_OK) {
            return status;
        }
        target->run = (struct ar_library_run){
            .nodes = run->nodes, .ranks = run->ranks, .bytes = (double)row->payload_bytes};
        if (collective != NULL) {
            campaign->own[campaign->rows_count] = (struct ar_link_row){
                .collective = *collective, .elements = row->count, .time_s = target->time_s};
        }
        campaign->rows_count++;
    }
    enum ar_status status = ar_library_nodes_add(&campaign->nodes, run->nodes, err);
    return status == AR_OK && collective != NULL
               ? ar_library_nodes_add(&campaign->gpus, run->ranks, err)
               : status;
}

/* A campaign is of one kind: what is fitted to it differs. */
static enum ar_status check_kind(struct campaign *campaign, const struct ar_log *run,
                                 struct ar_error *err)
{
    bool is_own = campaign_run_is_own(run);
    if (campaign->runs_count > 0 && is_own != campaign->is_own) {
        return refuse(run, err,
                      "found all-reduces of %s beside some of %s (%.80s:%" PRIu64
                      "); expected one kind: a library is fitted to the one, links to the other",
                      is_own ? "our own algorithms" : "NCCL",
                      is_own ? "NCCL" : "our own algorithms", campaign->runs[0].path,
                      campaign->runs[0].line);
    }
    campaign->is_own = is_own;
    return is_own ? check_same(run, "backend", run->tool, campaign->backend, err) : AR_OK;
}

/* Runs of one file on the same GPUs that follow each other count as one. */
static enum ar_status note_run(struct campaign *campaign, const struct ar_log *run,
                               const char *path, size_t rows_count, struct ar_error *err)
{
    struct campaign_run *last =
        campaign->runs_count > 0 ? &campaign->runs[campaign->runs_count - 1] : NULL;
    if (campaign->is_own && last != NULL && last->path == path && last->ranks == run->ranks &&
        last->nodes == run->nodes) {
        last->rows_count += rows_count;
        return AR_OK;
    }
    struct campaign_run *runs =
        realloc(campaign->runs, (campaign->runs_count + 1) * sizeof *campaign->runs);
    if (runs == NULL) {
        return ar_error_no_memory(err, "the measured runs");
    }
    campaign->runs = runs;
    runs[campaign->runs_count++] = (struct campaign_run){.path = path,
                                                         .line = run->first_line,
                                                         .nodes = run->nodes,
                                                         .ranks = run->ranks,
                                                         .rows_count = rows_count};
    return AR_OK;
}

/* Where a run comes from, and what it is compared with. */
struct origin {
    const char *path;
    const struct options *options;
    const struct ar_cluster *cluster;
    uint32_t window; /* of the head of the file; 0: not said */
};

static enum ar_status add_run(struct campaign *campaign, const struct ar_log *run,
                              const struct origin *origin, struct ar_error *err)
{
    size_t before = campaign->rows_count;
    struct ar_collective collective;
    enum ar_status status = check_kind(campaign, run, err);
    if (status == AR_OK) {
        status = check_run(run, ar_cluster_facts(origin->cluster), err);
    }
    if (status == AR_OK) {
        status = check_same(run, "library", run->library, campaign->library, err);
    }
    if (status == AR_OK) {
        status = check_same(run, "GPU", run->gpu, campaign->gpu, err);
    }
    if (status == AR_OK && campaign->is_own) {
        status = campaign_own_collective(run, origin->window, origin->options, origin->cluster,
                                         &collective, err);
    }
    if (status == AR_OK) {
        status = add_rows(campaign, run, campaign->is_own ? &collective : NULL, err);
    }
    return status == AR_OK
               ? note_run(campaign, run, origin->path, campaign->rows_count - before, err)
               : status;
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
    struct origin origin = {
        .path = path, .options = options, .cluster = cluster, .window = campaign_own_window(logs)};
    for (size_t i = 0; status == AR_OK && i < logs->runs_count; i++) {
        const struct ar_log *run = &logs->runs[i];
        if (is_of_library(run) || campaign_run_is_own(run)) {
            status = add_run(campaign, run, &origin, err);
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

bool campaign_is_by_gpus(const struct campaign *campaign)
{
    return campaign->is_own && campaign->nodes.count == 1;
}

const struct ar_library_nodes *campaign_groups(const struct campaign *campaign)
{
    return campaign_is_by_gpus(campaign) ? &campaign->gpus : &campaign->nodes;
}

uint32_t campaign_group(const struct campaign *campaign, const struct ar_library_run *run)
{
    return campaign_is_by_gpus(campaign) ? run->ranks : run->nodes;
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
        status =
            ar_error_set(err, AR_BAD_DATA,
                         "%s: found no all-reduce by NCCL's own choice in the logs; expected "
                         "some (of the harness: backend nccl, algorithm nccl-allreduce), or our "
                         "own algorithms by another backend of the harness",
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
    free(campaign->own);
    campaign->own = NULL;
    campaign->rows = NULL;
    campaign->runs = NULL;
}

void campaign_note(const struct campaign *campaign, const char *release,
                   const struct options *options)
{
    for (size_t i = 0; i < campaign->runs_count; i++) {
        const struct campaign_run *run = &campaign->runs[i];
        plan_note(options, "%s:%" PRIu64 ": %zu %s of %" PRIu32 " GPUs on %" PRIu32 " node%s used",
                  run->path, run->line, run->rows_count,
                  campaign->rows_count > 0 ? "all-reduces" : "sizes", run->ranks, run->nodes,
                  run->nodes == 1 ? "" : "s");
    }
    if (release != NULL && campaign->library[0] != '\0' &&
        strstr(campaign->library, release) == NULL) {
        plan_note(options, "the logs are of %s; choices and priors are those of NCCL %s",
                  campaign->library, release);
    }
}

void campaign_write_json(const struct campaign *campaign)
{
    printf(",\n  \"runs\": [");
    for (size_t i = 0; i < campaign->runs_count; i++) {
        const struct campaign_run *run = &campaign->runs[i];
        printf("%s\n    {\"path\": ", i > 0 ? "," : "");
        cell_json_text(stdout, run->path);
        printf(", \"line\": %" PRIu64 ", \"nodes\": %" PRIu32 ", \"gpus\": %" PRIu32
               ", \"rows\": %zu}",
               run->line, run->nodes, run->ranks, run->rows_count);
    }
    printf("\n  ]");
}
