#include "ar_calibrate.h"

#include "ar_library_calibration.h"
#include "ar_link_calibration.h"
#include "ar_pair_calibration.h"
#include "ar_platform.h"

static enum ar_status report_library(const struct ar_calibrate_request *request,
                                     const struct ar_cluster *cluster,
                                     const struct ar_measured *measured, enum ar_format format,
                                     struct ar_arena *arena, struct ar_error *err)
{
    struct ar_library_calibration *calibration;
    AR_TRY(ar_library_calibration_run(request, cluster, measured, arena, &calibration, err));
    if (request->out != NULL) {
        AR_TRY(ar_library_calibration_save(calibration, measured, request, cluster, arena, err));
    }
    ar_measured_note(measured, calibration->table.library.tuning.release->release, request->notes);
    ar_library_calibration_note(calibration, request->notes);
    return ar_library_calibration_print(calibration, measured, format, arena, err);
}

static enum ar_status
report_links(const struct ar_calibrate_request *request, const struct ar_cluster *cluster,
             const struct ar_measured *measured, const struct ar_link_calibration *calibration,
             enum ar_format format, struct ar_arena *arena, struct ar_error *err)
{
    if (request->out != NULL) {
        AR_TRY(ar_link_calibration_save(calibration, measured, request, cluster, arena, err));
    }
    ar_measured_note(measured, NULL, request->notes);
    ar_link_calibration_note(calibration, request->notes);
    return ar_link_calibration_print(calibration, measured, format, arena, err);
}

static enum ar_status calibrate(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, enum ar_format format,
                                struct ar_arena *arena, struct ar_error *err)
{
    struct ar_measured *measured;
    bool is_pair;
    struct ar_link_calibration *links = ar_arena_alloc(arena, 1, sizeof *links);
    if (links == NULL) {
        return ar_error_no_memory(err, "a fit");
    }
    AR_TRY(ar_pair_calibration_is_meant(request, &is_pair, err));
    if (is_pair) {
        AR_TRY(ar_pair_calibration_run(request, cluster, arena, &measured, links, err));
        return report_links(request, cluster, measured, links, format, arena, err);
    }
    AR_TRY(ar_measured_read(request, cluster, arena, &measured, err));
    if (measured->is_own) {
        AR_TRY(ar_link_calibration_run(request, cluster, measured, arena, links, err));
        return report_links(request, cluster, measured, links, format, arena, err);
    }
    return report_library(request, cluster, measured, format, arena, err);
}

enum ar_status ar_calibrate_run(const struct ar_calibrate_request *request,
                                struct ar_cluster *cluster, enum ar_format format,
                                struct ar_error *err)
{
    struct ar_arena arena = {0};
    if (ar_cluster_platform_path(cluster) != NULL) {
        return ar_error_set(err, AR_USAGE,
                            "--cluster: found the platform file \"%.200s\"; expected a cluster "
                            "file, which can name a cost table",
                            request->cluster);
    }
    enum ar_status status = calibrate(request, cluster, format, &arena, err);
    ar_arena_end(&arena);
    return status;
}
