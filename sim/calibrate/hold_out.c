#include "hold_out.h"

#include <inttypes.h>

#include "ar_note.h"

const char *ar_measured_time_name(enum ar_measured_time time)
{
    static const char *const names[] = {[AR_TIME_OUT_OF_PLACE] = "out-of-place",
                                        [AR_TIME_IN_PLACE] = "in-place",
                                        [AR_TIME_MEAN] = "mean"};
    return names[time];
}

static enum ar_status add_asked(const struct ar_calibrate_request *request,
                                const struct ar_measured *measured,
                                struct ar_library_nodes *held_out, struct ar_error *err)
{
    const char *unit = ar_measured_unit(measured);
    for (size_t i = 0; i < request->held_out_count; i++) {
        if (!ar_library_nodes_have(ar_measured_groups(measured), (uint32_t)request->held_out[i])) {
            return ar_error_set(err, AR_USAGE,
                                "--hold-out: found %" PRIu64 " %ss, which no log has; expected %s "
                                "counts of the logs, or none",
                                request->held_out[i], unit, unit);
        }
        AR_TRY(ar_library_nodes_add(held_out, (uint32_t)request->held_out[i], err));
    }
    return AR_OK;
}

enum ar_status hold_out_split(const struct ar_calibrate_request *request,
                              const struct ar_measured *measured, struct ar_library_nodes *fitted,
                              struct ar_library_nodes *held_out, struct ar_error *err)
{
    const struct ar_library_nodes *groups = ar_measured_groups(measured);
    const char *unit = ar_measured_unit(measured);
    if (request->hold_out == AR_HOLD_OUT_COUNTS) {
        AR_TRY(add_asked(request, measured, held_out, err));
    } else if (request->hold_out == AR_HOLD_OUT_LARGEST && groups->count > 1) {
        AR_TRY(ar_library_nodes_add(held_out, groups->counts[groups->count - 1], err));
    } else if (request->hold_out == AR_HOLD_OUT_LARGEST) {
        ar_note(request->notes,
                "all rows are of one %s count: none is held out, and how well other "
                "counts are predicted cannot be said",
                unit);
    }
    for (size_t i = 0; i < groups->count; i++) {
        if (!ar_library_nodes_have(held_out, groups->counts[i])) {
            AR_TRY(ar_library_nodes_add(fitted, groups->counts[i], err));
        }
    }
    if (fitted->count == 0) {
        return ar_error_set(err, AR_USAGE,
                            "--hold-out: found all %s counts of the logs; expected some left to "
                            "fit",
                            unit);
    }
    return AR_OK;
}
