/* What was measured, as an engine: the fitted model of the communication library, with its error.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ar_text.h"
#include "library_engine.h"

extern const struct ar_engine ar_engine_library;

static enum ar_status run(struct ar_trial *trial, struct ar_error *err)
{
    char head[AR_OPTIONS_TEXT];
    (void)err;
    snprintf(head, sizeof head, "library %s, fitted to %" PRIu32 " rows",
             trial->library->tuning.release->name, trial->library->rows_count);
    library_engine_run(trial, &ar_engine_library, head);
    ar_copy_text(trial->note, sizeof trial->note, "a model fitted to measurements");
    return AR_OK;
}

const struct ar_engine ar_engine_library = {
    .name = "library",
    .title = "measured: what 'calibrate' fitted to the communication library, with its error",
    .needs_library = true,
    .cost = LIBRARY_ENGINE_COST,
    .check = library_engine_check,
    .is_fitted = true,
    .predict = ar_library_predict,
    .run = run,
};
