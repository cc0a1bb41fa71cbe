/* The files of a cluster with a calibrated library: a copy of the cluster file, the cost table. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ar_library_calibration.h"
#include "ar_output.h"
#include "cluster_copy.h"

/* --- what is said of the fit -------------------------------------------------------------- */

static void comment_unidentified(struct comments *comments, const struct ar_library *library)
{
    char text[320] = "";
    size_t used = 0;
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        if (!library->is_identified[i] && used + 40 < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "",
                                     ar_library_parameters[i].name);
        }
    }
    comment_add(comments, "not identified by the data, near their prior: %s",
                used > 0 ? text : "none");
}

static void comment_fit(const struct ar_library_calibration *calibration,
                        const struct ar_measured *measured,
                        const struct ar_calibrate_request *request, struct comments *comments)
{
    char text[AR_COMPARED_TEXT];
    comment_measured(comments, measured);
    comment_add(comments, "times: %s; cluster: %.200s", measured->time, request->cluster);
    comment_counts(comments, "nodes fitted", &calibration->table.fitted);
    comment_counts(comments, "nodes held out", &calibration->table.held_out);
    for (size_t i = 0; i < calibration->errors.count; i++) {
        comment_add(comments, "error, %s", ar_compared_text(&calibration->errors, i, text));
    }
    comment_unidentified(comments, &calibration->table.library);
}

static enum ar_status make_cluster(const struct ar_library_calibration *calibration,
                                   const struct comments *comments,
                                   const struct ar_calibrate_request *request,
                                   const struct ar_cluster *cluster, struct ar_arena *arena,
                                   struct ar_topo **topo, struct ar_error *err)
{
    char name[COPY_NAME_SIZE];
    const struct cluster_copy copy = {.request = request,
                                      .description = ar_cluster_facts(cluster)->description,
                                      .what = "NCCL",
                                      .rows_count = calibration->table.library.rows_count};
    AR_TRY(cluster_copy_make(&copy, comments, arena, topo, name, err));
    AR_TRY(ar_topo_set(*topo, "library.cost_table", name,
                       "'allreckon calibrate', see the head of the file", err));
    return request->release == NULL ? AR_OK
                                    : ar_topo_set(*topo, "library.release", request->release,
                                                  "--tuning of 'allreckon calibrate'", err);
}

/* --- both files --------------------------------------------------------------------------- */

/* The table first: a cluster file never names one that is not there. */
static enum ar_status commit_both(struct ar_output *table, struct ar_output *cluster,
                                  struct ar_error *err)
{
    bool was_there = access(table->path, F_OK) == 0;
    enum ar_status status = ar_output_commit(table, err);
    if (status != AR_OK) {
        ar_output_abort(cluster);
        return status;
    }
    status = ar_output_commit(cluster, err);
    if (status != AR_OK && !was_there) {
        unlink(table->path);
    }
    return status;
}

enum ar_status ar_library_calibration_save(const struct ar_library_calibration *calibration,
                                           const struct ar_measured *measured,
                                           const struct ar_calibrate_request *request,
                                           const struct ar_cluster *cluster, struct ar_arena *arena,
                                           struct ar_error *err)
{
    char table_path[COPY_PATH_SIZE + 64];
    struct comments comments = {.arena = arena};
    struct ar_topo *topo;
    struct ar_output table;
    struct ar_output copy;
    comment_fit(calibration, measured, request, &comments);
    AR_TRY(make_cluster(calibration, &comments, request, cluster, arena, &topo, err));
    snprintf(table_path, sizeof table_path, "%.*s.library.csv", (int)strlen(request->out) - 5,
             request->out);
    AR_TRY(ar_output_open(table_path, &table, err));
    enum ar_status status = ar_output_open(request->out, &copy, err);
    if (status != AR_OK) {
        ar_output_abort(&table);
        return status;
    }
    ar_library_table_write(&calibration->table, comments.lines, comments.count, table.file);
    ar_topo_write(topo, copy.file);
    return commit_both(&table, &copy, err);
}
