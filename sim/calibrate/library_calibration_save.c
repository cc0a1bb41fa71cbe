/* The files of a cluster with a calibrated library: a copy of the cluster file, the cost table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ar_library_calibration.h"
#include "ar_output.h"
#include "cluster_copy.h"

/* --- what is said of the fit -------------------------------------------------------------- */

static void remark_unidentified(struct remarks *remarks, const struct ar_library *library)
{
    char text[COPY_REMARK_SIZE - 80] = "";
    size_t used = 0;
    for (int i = 0; i < AR_LIBRARY_PARAMETERS_COUNT; i++) {
        if (!library->is_identified[i] && used + 40 < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "",
                                     ar_library_parameter_name((enum ar_library_parameter)i));
        }
    }
    remark(remarks, "not identified by the data, near their prior: %s", used > 0 ? text : "none");
}

static void remark_fit(const struct ar_library_calibration *calibration,
                       const struct ar_measured *measured,
                       const struct ar_calibrate_request *request, struct remarks *remarks)
{
    char text[AR_COMPARED_TEXT];
    remark_program(remarks);
    remark_measured(measured, remarks);
    remark(remarks, "times: %s; cluster: %.200s", measured->time, request->cluster);
    remark_counts(remarks, "nodes fitted", &calibration->table.fitted);
    remark_counts(remarks, "nodes held out", &calibration->table.held_out);
    for (size_t i = 0; i < calibration->errors.count; i++) {
        remark(remarks, "error, %s", ar_compared_text(&calibration->errors, i, text));
    }
    remark_unidentified(remarks, &calibration->table.library);
}

static enum ar_status write_cluster(const struct ar_library_calibration *calibration,
                                    const struct remarks *remarks,
                                    const struct ar_calibrate_request *request,
                                    const struct ar_cluster *cluster, const char *name,
                                    FILE *target, struct ar_error *err)
{
    struct cluster_copy *copy = calloc(1, sizeof *copy);
    if (copy == NULL) {
        return ar_error_no_memory(err, "the cluster file");
    }
    copy_settings(copy, request);
    copy_set(copy, "name", name, "name of this file");
    copy_set(copy, "library.cost_table", name, "'allreckon calibrate', see the head of the file");
    if (request->release != NULL) {
        copy_set(copy, "library.release", request->release, "--tuning of 'allreckon calibrate'");
    }
    copy_describe(copy, ar_cluster_facts(cluster)->description, "NCCL",
                  calibration->table.library.rows_count);
    enum ar_status status = copy_write(copy, remarks, request->source_path, target, err);
    free(copy);
    return status;
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

static enum ar_status save(const struct ar_library_calibration *calibration,
                           const struct remarks *remarks,
                           const struct ar_calibrate_request *request,
                           const struct ar_cluster *cluster, struct ar_error *err)
{
    char name[COPY_NAME_SIZE];
    char table_path[COPY_PATH_SIZE + 64];
    struct ar_output table;
    struct ar_output copy;
    enum ar_status status = copy_check_path(request->source_path, request->out, name, err);
    if (status != AR_OK) {
        return status;
    }
    snprintf(table_path, sizeof table_path, "%.*s.library.csv", (int)strlen(request->out) - 5,
             request->out);
    status = ar_output_open(table_path, &table, err);
    if (status != AR_OK) {
        return status;
    }
    status = ar_output_open(request->out, &copy, err);
    if (status != AR_OK) {
        ar_output_abort(&table);
        return status;
    }
    ar_library_table_write(&calibration->table, (const char *const *)remarks->lines, remarks->count,
                           table.file);
    status = write_cluster(calibration, remarks, request, cluster, name, copy.file, err);
    if (status != AR_OK) {
        ar_output_abort(&table);
        ar_output_abort(&copy);
        return status;
    }
    return commit_both(&table, &copy, err);
}

enum ar_status ar_library_calibration_save(const struct ar_library_calibration *calibration,
                                           const struct ar_measured *measured,
                                           const struct ar_calibrate_request *request,
                                           const struct ar_cluster *cluster, struct ar_error *err)
{
    struct remarks *remarks = calloc(1, sizeof *remarks);
    if (remarks == NULL) {
        return ar_error_no_memory(err, "the comments of a cluster");
    }
    remark_fit(calibration, measured, request, remarks);
    enum ar_status status = remarks->is_short_of_memory
                                ? ar_error_no_memory(err, "the comments of a cluster")
                                : save(calibration, remarks, request, cluster, err);
    remarks_free(remarks);
    return status;
}
